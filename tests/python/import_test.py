"""Imports of WfFormat: round trips, what `kith sim` makes of them, and what is refused. KITH_TOOL names the tool."""

import json
import os
import subprocess

import numpy as np
import pytest

import kith
from kith.errors import KithError
from kith.export import export
from kith.importing import FORMATS
from kith.metrics import Analysis
from kith.writer import write
from kith_tool import TOOL
from made import diamond



def workflow():
    """a (1 s, writes 100 bytes) -> b (2 s) and c (4 s) -> d (8 s)."""
    def task(name, parents, children, inputs, outputs):
        return {"name": name.upper(), "id": name, "parents": parents, "children": children, "inputFiles": inputs, "outputFiles": outputs}
    tasks = [task("d", ["b", "c"], [], ["g"], []), task("a", [], ["b", "c"], ["given"], ["f"]), task("b", ["a"], ["d"], ["f"], ["g"]),
             task("c", ["a"], [], ["f"], [])]
    files = [{"id": "given", "sizeInBytes": 7}, {"id": "f", "sizeInBytes": 100}, {"id": "g", "sizeInBytes": 5000}]
    runs = [{"id": n, "runtimeInSeconds": s} for n, s in (("a", 1), ("b", 2.0), ("c", 4), ("d", 8))]
    return {"name": "x", "schemaVersion": "1.5", "workflow": {"specification": {"tasks": tasks, "files": files},
            "execution": {"makespanInSeconds": 13, "executedAt": "2026-01-01T00:00:00Z", "tasks": runs}}}


def imported(document, folder):
    path = folder / "in.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    meta, tables, notes = FORMATS["wfformat"](str(path))
    write(str(folder / "out.rec"), meta, tables)
    return kith.read(folder / "out.rec"), notes


def edges(recording):
    d = recording.dependences
    name = recording.tasks["name"].astype(str).tolist()
    return sorted((name[a], name[b], s) for a, b, s in zip(d.before, d.task, d.bytes))


def test_a_workflow(tmp_path):
    r, notes = imported(workflow(), tmp_path)
    assert not r.notes and "as soon as their parents have ended" in notes[0]
    assert edges(r) == [("A", "B", 100), ("A", "C", 100), ("B", "D", 5000), ("C", "D", 0)]
    t = r.tasks.set_index(r.tasks["name"].astype(str))
    assert t.started_s[["A", "B", "C", "D"]].tolist() == pytest.approx([0, 1, 1, 5])
    assert t.work_s[["A", "B", "C", "D"]].tolist() == pytest.approx([1, 2, 4, 8])
    a = Analysis(r)
    assert a.graph.span_s == pytest.approx(13) and a.graph.total_s == pytest.approx(15) and r.makespan_s == pytest.approx(13)
    assert len(r.regions) == 3 and len(r.accesses) == 6


def test_types_of_tasks_that_are_named_by_their_ids(tmp_path):
    w = workflow()
    text = json.dumps(w)
    for a, b in (("a", "sifting_ID0000001"), ("b", "sifting_ID0000002"), ("c", "17"), ("d", "frequency3")):
        text = text.replace(f'"{a}"', f'"{b}"').replace(f'"{a.upper()}"', f'"{b}"')
    r, _ = imported(text, tmp_path)
    assert r.tasks["name"].astype(str).tolist() == ["task", "sifting", "sifting", "17", "frequency"]


def test_times_and_machines(tmp_path):
    w = workflow()
    for run, at in zip(w["workflow"]["execution"]["tasks"], ("10:00:00Z", "12:00:01.5+02:00", "10:00:01.25Z", "10:00:10Z")):
        run |= {"executedAt": "2026-01-01T" + at, "machines": ["m1" if run["id"] == "c" else "m0"]}
    r, notes = imported(w, tmp_path)
    t = r.tasks.set_index(r.tasks["name"].astype(str))
    assert not notes and t.started_s[["A", "B", "C", "D"]].tolist() == pytest.approx([0, 1.5, 1.25, 10])
    assert t.node[["A", "B", "C", "D"]].tolist() == [0, 0, 1, 0] and r.machine["nodes"] == 2
    w["workflow"]["execution"]["tasks"][2]["machines"] = ["m0"]  # two at a time on one core
    r, notes = imported(w, tmp_path)
    assert len(r.workers) == 2 and "1 more worker" in notes[0]


def round_trip(recording, folder):
    export(Analysis(recording), "wfformat", str(folder / "out.json"))
    return imported((folder / "out.json").read_text(), folder)[0]


def test_round_trip(tmp_path):
    before = diamond().read(tmp_path)
    after = round_trip(before, tmp_path)
    for r in (before, after):
        assert edges(r) == [("a", "b", 64), ("a", "b", 64)]
    # Tasks keep their times, worker's node and work; the root is a new one.
    assert after.tasks["name"].astype(str).tolist()[1:] == before.tasks["name"].astype(str).tolist()[1:]
    for column in ("work_s", "node"):
        assert after.tasks[column].to_numpy()[1:] == pytest.approx(before.tasks[column].to_numpy()[1:]), column
    begun = before.tasks.started_s.to_numpy()[1:]
    assert after.tasks.started_s.to_numpy()[1:] == pytest.approx(begun - begun.min())
    again = round_trip(after, tmp_path)
    assert edges(again) == edges(after) and np.allclose(again.tasks.work_s, after.tasks.work_s)


@pytest.mark.skipif(not TOOL, reason="KITH_TOOL names no kith program")
def test_the_simulator_takes_it(tmp_path):
    imported(workflow(), tmp_path)
    done = subprocess.run([TOOL, "sim", tmp_path / "out.rec", "--policy", "dep", "--json"], capture_output=True, text=True, timeout=60,
                          check=False, env={k: v for k, v in os.environ.items() if not k.startswith("KITH_")})
    assert done.returncode == 0, done.stderr
    assert [p["makespan_s"] for p in json.loads(done.stdout)] == [pytest.approx(13, rel=0.05)]  # the critical path


@pytest.mark.parametrize("path,value,message", [
    ("schemaVersion", "1.4", "schemaVersion: expected '1.5', found '1.4'"),
    ("workflow", [], "workflow: expected an object"),
    ("workflow.execution", None, "without it, tasks have no times"),
    ("workflow.specification.tasks", [], "at least one task"),
    ("workflow.specification.tasks.0.id", "a", "each id once"),
    ("workflow.specification.tasks.0.name", 3, r"tasks\[0\].name: expected a text"),
    ("workflow.specification.tasks.0.parents", ["z\x1b"], r"tasks\[0\].parents: expected ids of tasks, found 'z\\x1b'"),
    ("workflow.specification.tasks.1.parents", ["d"], "no cycle"),
    ("workflow.specification.tasks.1.parents", ["a"], "no cycle"),
    ("workflow.specification.files.0.sizeInBytes", -1, r"files\[0\].sizeInBytes: expected 0 to"),
    ("workflow.specification.files.0.sizeInBytes", True, r"files\[0\].sizeInBytes: expected a number"),
    ("workflow.execution.tasks.0.id", "b", r"execution.tasks\[1\].id: expected the id of a task, each once"),
    ("workflow.execution.tasks.0.runtimeInSeconds", float("nan"), "0 to 52 days"),
    ("workflow.execution.tasks.0.runtimeInSeconds", -1, "0 to 52 days"),
    ("workflow.execution.tasks.0.executedAt", "yesterday", "expected a time"),
    ("workflow.execution.tasks.0.executedAt", "2026-02-30T00:00:00Z", "expected a time"),
    ("workflow.execution.machines", [{"nodeName": "m", "cpu": {"coreCount": 0}}], "expected 1 to 4096"),
])
def test_what_is_refused(tmp_path, path, value, message):
    document = workflow()
    *holders, last = path.split(".")
    at = document
    for h in holders:
        at = at[int(h) if h.isdigit() else h]
    at[int(last) if last.isdigit() else last] = value
    with pytest.raises(KithError, match=message):
        imported(document, tmp_path)
    assert not (tmp_path / "out.rec").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '"x"', "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")])
def test_no_workflow_at_all(tmp_path, text):
    with pytest.raises(KithError, match="no JSON|expected an object"):
        imported(text, tmp_path)


def test_the_command(tmp_path, capsys):
    from kith.command_line import main

    (tmp_path / "w.json").write_text(json.dumps(workflow()))
    assert main(["import", str(tmp_path / "w.json"), "--from", "wfformat", "-o", str(tmp_path / "w.rec")]) == 0
    assert "4 tasks, 4 dependences" in capsys.readouterr().out
    assert main(["export", str(tmp_path / "w.rec"), "--to", "csv", "-o", str(tmp_path / "tables")]) == 0
    assert (tmp_path / "tables" / "tasks.csv").exists()
    assert main(["import", str(tmp_path / "w.json"), "--from", "wfformat", "-o", str(tmp_path / "w.rec")]) == 0, "a recording is replaced"
    (tmp_path / "notes").write_text("to be kept")
    for words, message in ((["import", str(tmp_path / "w.json"), "--from", "wfformat", "-o", str(tmp_path / "notes")], "exists and is not a recording"),
                           (["import", str(tmp_path / "w.json"), "--from", "dax", "-o", str(tmp_path / "x")], "expected one of: wfformat"),
                           (["import", str(tmp_path / "w.json"), "--from", "wfformat", "-o", str(tmp_path / "w.json")], "the file to read"),
                           (["import", str(tmp_path / "no"), "--from", "wfformat", "-o", str(tmp_path / "x")], "no such file")):
        assert main(words) == 2 and message in capsys.readouterr().err
    assert (tmp_path / "notes").read_text() == "to be kept"
