"""The example that makes figures (examples/figures), run on a recording made by hand."""

import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from made import diamond

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "figures" / "figures.py"


def test_figures(tmp_path):
    m = diamond()
    for i, task in enumerate((1, 2)):
        m.add("access", task=task, region=m.add("region", address=i << 20, bytes=4096, home=0), mode=2, bytes=4096, touched=4096)
    done = subprocess.run([sys.executable, str(EXAMPLE), m.save(tmp_path), str(tmp_path / "figures")], capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the longest tasks: [0, 1, 2, 3]\n"
    made = {f.stem: f.read_text(encoding="utf-8") for f in (tmp_path / "figures").iterdir()}
    assert set(made) == {"durations", "parallelism", "homes"}
    for text in made.values():
        assert xml.fromstring(text).tag.endswith("svg")
    comments = {name: re.findall(r"<!-- (.*?) -->", text) for name, text in made.items()}  # Matplotlib's texts
    assert {"a (2)", "b (1)", "task (1)", "work of a task, µs"} <= set(comments["durations"])
    assert {"working", "idle", "work over span", "at most 3 tasks could run at once"} <= set(comments["parallelism"])
    assert {"home", "used on node", "MB"} <= set(comments["homes"])
