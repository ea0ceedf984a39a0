"""The report's section on task types: what was counted for them."""

import re

from kith.metrics import Analysis
from kith.report.page import page
from made import diamond


def test_counts_of_task_types(tmp_path):
    m = diamond()
    for task, enabled in ((1, 4000), (2, 4000), (3, 9000)):
        m.add("counts", task=task, instructions=3000, cycles=2000, cache_misses=6, stalled_cycles=1500, page_faults=11,
              enabled_ns=enabled, running_ns=4000)
    text = page(Analysis(m.read(tmp_path)), replayed=False)
    row = next(line for line in text.splitlines() if "data-v" in line and "</i>a</th>" in line)
    assert re.findall(r'data-v="([^"]*)">', row)[-4:] == ["1.5", "2.0", "0.75", "22.0"]
    assert "Counts of 1 tasks are estimates" in text and "context switches" not in text
    assert '<td><code>mem_hier_util &gt; 0.5</code></td><td class="num">3</td>' in text
    assert "instr./cycle" not in page(Analysis(diamond().read(tmp_path)), replayed=False)


def test_the_instruction_mix_of_task_types(tmp_path):
    m = diamond()
    m.add("counts", task=1, instructions=3000, load_instructions=600, store_instructions=300, branch_instructions=150,
          fp_instructions=1500, vector_instructions=0)
    m.add("counts", task=2, instructions=1000, load_instructions=400, store_instructions=100, branch_instructions=50,
          fp_instructions=500, vector_instructions=0)
    text = page(Analysis(m.read(tmp_path)), replayed=False)
    mix = text[text.index("<h3>Instruction mix</h3>"):]
    row = next(line for line in mix.splitlines() if "data-v" in line and "</i>a</th>" in line)
    assert re.findall(r'data-v="([^"]*)">', row) == ["4000", "0.25", "0.1", "0.05", "0.5", "0.0"]
    assert "Instruction mix" not in page(Analysis(diamond().read(tmp_path)), replayed=False)
