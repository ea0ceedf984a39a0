"""Filters: conditions, subtrees and the greatest values, in Python and by the verbs."""

import csv
import json
import re
import xml.etree.ElementTree as xml

import pytest

from kith import lineage
from kith.command_line import main, parser_of
from kith.conditions import column_of
from kith.errors import KithError
from kith.metrics import METRICS, Analysis
from kith.select import select
from made import Made, diamond

US = 1e-6


def nested():
    """A root with two tasks f, each with two tasks g: 0; 1, 2; 3 and 4 of 1; 5 and 6 of 2."""
    m = Made(workers=(0, 0))
    f, g = m.type("f"), m.type("g")
    m.task(0, 90, flags=1, work=10)
    for i, (creator, kind) in enumerate(((0, f), (0, f), (1, g), (1, g), (2, g), (2, g))):
        m.task(10 * i, 10 * i + 10, i % 2, creator=creator, created=10 * i, type=kind, work=i + 1)
        m.add("access", task=i + 1, region=m.add("region", address=i << 12, bytes=100), bytes=100, touched=10 * i, mode=2)
    m.add("dependence", task=4, before=3, bytes=5)
    m.add("dependence", task=5, before=3, bytes=7)
    return m


def numbers(a, **filters):
    return select(a, **filters).recording.numbers.tolist()


def test_what_filters_choose(tmp_path):
    a = Analysis(nested().read(tmp_path))
    assert numbers(a, below="g:2") == [5] and numbers(a, below="f:1") == [2, 5, 6]
    assert select(a) is a
    assert numbers(a, where="name == 'g' and work > 3.5e-6") == [4, 5, 6]
    assert numbers(a, where="on_critical_path or task == 6") == [0, 6]  # the root's 10 are more than 10/9 + 2 + 6
    assert numbers(a, below="R-0-1") == numbers(a, below="2") == [2, 5, 6]
    assert numbers(a, top="3:work") == [0, 5, 6]
    assert numbers(a, top="2:footprint", where="name == 'g'", below="1") == [3, 4]
    assert numbers(a, top="1:started_s") == [6]
    keyed = Made()
    keyed.task(0, 9, flags=1)
    keyed.task(1, 2, creator=0, flags=2, key=-5)
    keyed.task(1, 2, creator=1, scope=1)
    r = keyed.read(tmp_path)
    name = lineage.paths(r.tasks, [2])[0]
    assert name == f"R-key:{2 ** 64 - 5}-0" and numbers(Analysis(r), below=name) == [2]


def test_the_examples_of_the_help(tmp_path):
    """What the help names exists in every recording, and its examples choose something."""
    _, parser = parser_of("graph")
    helps = {option: action.help for action in parser._actions for option in action.option_strings}
    example = re.search(r"such as '([^']+)'", helps["--where"])[1]
    a = Analysis(nested().read(tmp_path))
    assert 0 < len(numbers(a, where=example)) < 7
    assert numbers(a, top=re.search(r"such as (\S+)", helps["--top"])[1])
    named = re.findall(r"\w+", re.sub(r"\(.*?\)", "", re.search(r"of use are (.*?);", helps["--where"])[1]).replace(" and ", " "))
    assert len(named) > 4
    for name in named:
        assert column_of(a)(name) is not None, name


@pytest.mark.parametrize("filters, says", [
    ({"where": "no_such > 1"}, "no column 'no_such'"), ({"where": "remote_bytes > 1"}, "no column 'remote_bytes'"),
    ({"where": "__import__('os')"}, "is not allowed"), ({"where": "work > 5"}, "no task is left"),
    ({"where": "name = 'g'"}, "= compares nothing, == does"), ({"where": "name == g"}, "a text is in quotes: 'g'"),
    ({"where": "wrok > 1"}, r"is it work\?"), ({"where": "ipc > 1"}, "lacks the data.*record --counters"),
    ({"where": "fp_instructions > 1"}, "counters=mix"), ({"where": "loads > 1"}, "record --addresses"),
    ({"where": "work_deviation > 1"}, "--reference"), ({"where": "ran_at_home > 0"}, "kith sim FILE -o"),
    ({"where": "name == 'h'"}, r"types here: g, f, task\)"), ({"below": "g:4"}, "there are 4 tasks of this type"),
    ({"below": "h:0"}, "such as gemm:12"),
    ({"below": "99"}, "there is no such task"), ({"below": "R-0-7"}, "there is no such task"), ({"below": "R"}, "names no task"),
    ({"below": "R-key:x"}, "names no task"), ({"below": "R--1"}, "names no task"),
    ({"top": "work"}, "expected a number of tasks and a metric"), ({"top": "0:work"}, "expected a number"),
    ({"top": "9" * 5000 + ":work"}, "expected a number"),
    ({"top": "3:name"}, "no column of numbers"), ({"top": "3:cores"}, "no column of numbers"), ({"top": "3:x"}, "no column 'x'")])
def test_filters_that_cannot_be_used(tmp_path, filters, says):
    with pytest.raises(KithError, match=says):
        select(Analysis(nested().read(tmp_path)), **filters)


def test_metrics_are_those_of_the_whole_run(tmp_path):
    a = Analysis(nested().read(tmp_path))
    part = select(a, where="name == 'g'")
    assert part.recording.tasks.creator.tolist() == [-1] * 4 and part.recording.dependences.task.tolist() == [1, 2]
    assert set(part.table) == set(a.table) <= {m.name for m in METRICS}
    for name in a.table:
        assert part.table[name].tolist() == pytest.approx(a.table[name][3:].tolist(), nan_ok=True), name
    assert part.recording.makespan_s == a.recording.makespan_s == pytest.approx(90 * US)
    assert part.graph.total_s == pytest.approx(18 * US) and part.siblings.tolist() == [0, 0, 1, 1]
    working = part.states[part.states.state == "working"]
    assert set(working.task) == {0, 1, 2, 3} and (part.states.state == "idle").any()


def test_graph(tmp_path, capsys):
    path = nested().save(tmp_path)
    assert main(["graph", path, "--json", "--top", "2:work", "--where", "name == 'g'"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tasks"] == 2 and found["work_s"] == pytest.approx(11 * US)
    assert [(t["task"], t["lineage"]) for t in found["selected"]] == [(6, "R-0-1-1"), (5, "R-0-1-0")]
    assert [t["work"] for t in found["selected"]] == pytest.approx([6 * US, 5 * US])
    assert sum(s["seconds"] for s in found["critical_path"]) == pytest.approx(found["span_s"])
    assert main(["graph", path, "--below", "2"]) == 0
    said = capsys.readouterr().out
    assert "R-0-1-0" in said and "tasks         3" in said
    assert main(["graph", path, "--where", "("]) == 2 and "condition" in capsys.readouterr().err


def test_graph_with_a_reference_of_another_program(tmp_path, capsys):
    path, other = nested().save(tmp_path), Made()
    other.task(0, 10, flags=1)
    for i in range(5):
        other.task(i, i + 1, creator=0, type=other.type(f"other{i}"))
    for reference, wrong in ((path, False), (other.save(tmp_path, "other.rec"), True)):
        assert main(["graph", path, "--reference", reference]) == 0
        assert ("the reference looks like a run of another program" in capsys.readouterr().out) == wrong
        assert main(["graph", path, "--reference", reference, "--json", "--top", "1:work"]) == 0
        assert ("another program" in " ".join(json.loads(capsys.readouterr().out)["notes"])) == wrong


def test_export(tmp_path):
    path = nested().save(tmp_path)
    for to in ("csv", "graphml", "dot", "wfformat", "perfetto", "paje", "paraver"):
        assert main(["export", path, "--to", to, "--where", "name == 'g'", "-o", str(tmp_path / to)]) == 0
    assert ":90000_ns:" in (tmp_path / "paraver" / "trace.prv").read_text().split("\n")[0]
    rows = list(csv.DictReader((tmp_path / "csv" / "tasks.csv").open()))
    assert [r["number"] for r in rows] == ["3", "4", "5", "6"] and {r["name"] for r in rows} == {"g"}
    metrics = list(csv.DictReader((tmp_path / "csv" / "metrics.csv").open()))
    assert [float(r["depth"]) for r in metrics] == [2] * 4
    graph = xml.parse(tmp_path / "graphml").getroot()
    assert len(graph.findall(".//{*}node")) == 4 and len(graph.findall(".//{*}edge")) == 2
    assert [d.text for d in graph.findall(".//{*}data[@key='number']")] == ["3", "4", "5", "6"]
    assert [f"label=\"g {n}," in (tmp_path / "dot").read_text() for n in range(2, 8)] == [False, True, True, True, True, False]
    assert len(json.loads((tmp_path / "wfformat").read_text())["workflow"]["specification"]["tasks"]) == 4


def test_report(tmp_path):
    path = diamond().save(tmp_path)
    assert main(["report", path, "-o", str(tmp_path / "x.html"), "--no-replay", "--where", "name == 'a' and work > 0"]) == 0
    text = (tmp_path / "x.html").read_text()
    assert "<b>Filtered:</b> tasks with name == &#39;a&#39; and work &gt; 0. That is 2 of 4 tasks, with 50\u202f% of the work." in text
    types = text.split('<section id="types"')[1].split("</section>")[0]
    assert types.count('<th scope="row">') == 1 and "</i>b</th>" not in types
    assert main(["report", path, "-o", str(tmp_path / "y.html"), "--no-replay", "--top", "0:work"]) == 2
    assert not (tmp_path / "y.html").exists()
