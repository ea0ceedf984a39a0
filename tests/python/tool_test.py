"""The verbs that the kith tool passes on to Python, with recordings of real programs. KITH_TOOL names the tool."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import kith
from kith.graph import fragment_graph, reduced_graph
from kith.graph.tree import Tree
from kith.metrics import Analysis
from kith_tool import TOOL

pytestmark = pytest.mark.skipif(not TOOL, reason="KITH_TOOL names no kith program")
HERE = {k: v for k, v in os.environ.items() if not k.startswith("KITH_")}


def run(*words, tool=None, **variables):
    return subprocess.run([tool or TOOL, *map(str, words)], capture_output=True, text=True, timeout=6000, check=False,
                          env=HERE | variables)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Recordings: data flow, a keyed graph, nested tasks, and a simulated run of the first."""
    folder = tmp_path_factory.mktemp("recorded")

    def record(name, *words):
        done = run("record", "-o", folder / name, "--", "kith", "app", *words, "--small", KITH_MACHINE="node:4 core:1")
        assert done.returncode == 0, done.stderr
        return str(folder / name)
    files = {"cholesky": record("cholesky.rec", "cholesky"), "nqueens": record("nqueens.rec", "nqueens"),
             "heat": record("heat.rec", "heat", "--as", "graph", "--policy", "nabbitc")}
    done = run("sim", files["cholesky"], "--policy", "dep", "-o", folder / "simulated.rec")
    assert done.returncode == 0, done.stderr
    return files | {"simulated": str(folder / "simulated.rec")}


@pytest.mark.parametrize("name", ["cholesky", "nqueens", "heat", "simulated"])
def test_graphs_of_programs(recorded, name):
    r = kith.read(recorded[name])
    g = fragment_graph(r)
    assert not r.notes and not g.notes
    assert 0 < g.span_s <= g.total_s * 1.000001
    if name == "simulated":
        assert g.span_s <= r.makespan_s * 1.000001 and g.total_s <= r.makespan_s * len(r.workers)
    else:
        assert g.total_s == pytest.approx(r.tasks.work_s.sum())
    assert reduced_graph(g).span_s >= g.span_s * 0.999999
    a = Analysis(r)
    tree = Tree(a)
    assert tree.described(tree.root)["tasks"] == r.tasks.ran.sum() and tree.described(tree.root)["total_s"] == pytest.approx(g.total_s)
    assert len(a.table) == len(r.tasks)
    times = a.states.assign(s=a.states.ended_s - a.states.begun_s).groupby("worker").s.sum()
    assert times.tolist() == pytest.approx([r.makespan_s] * len(r.workers))
    assert len(set(kith.lineage.hashes(r.tasks).tolist())) == len(r.tasks)


@pytest.mark.parametrize("name", ["places_heat", "places_md", "places_cg"])
def test_programs_on_places(tmp_path, name):
    done = run("record", "-o", tmp_path / "p.rec", "--", "kith", "app", name, "--small", "--places", "2", "--oversubscribe")
    assert done.returncode == 0, done.stderr
    r = kith.read(tmp_path / "p.rec")
    g = fragment_graph(r)
    assert not g.notes and 0 < g.span_s <= g.total_s * 1.000001
    assert len(r.places) == 2 and set(r.place_of_worker) == {0, 1}
    activities = r.messages[r.messages.kind == "activity"]
    assert (r.place_of_worker[r.tasks.worker[activities.task[activities.task >= 0]]] == activities.destination[activities.task >= 0]).all()
    done = run("report", tmp_path / "p.rec", "-o", tmp_path / "p.html", "--no-replay")
    assert done.returncode == 0 and "lie in cycles" not in done.stdout
    assert "Between places" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_counters_of_another_run(recorded, tmp_path):
    counted = tmp_path / "counted.rec"
    done = run("record", "--counters=page_faults,task_clock", "-o", counted, "--", "kith", "app", "cholesky", "--small")
    assert done.returncode == 0, done.stderr
    done = run("graph", recorded["cholesky"], "--counters", counted, "--where", "task_clock > 0", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    tasks = kith.read(recorded["cholesky"]).tasks.ran.sum()
    assert f"has them for {tasks} of" in found["notes"][0] and 0.9 * tasks < found["tasks"] <= tasks
    done = run("graph", recorded["cholesky"], "--counters", recorded["nqueens"])
    assert done.returncode == 2 and "nothing was counted there" in done.stderr


def test_provenance(recorded):
    for name in ("cholesky", "simulated"):
        r = kith.read(recorded[name])
        assert set(r.provenance) == {"host", "date", "command", "library"}
        assert r.provenance["host"] == platform.node() and r.provenance["library"] == run("--version").stdout.split()[-1]
        assert r.provenance["command"].endswith(" app cholesky --small")
        assert abs(np.datetime64("now") - r.date) < np.timedelta64(1, "h")


def test_a_command_is_as_a_shell_takes_it(tmp_path):
    """A link's name may be anything: quotes, spaces, a line's end."""
    odd = tmp_path / "it's a\n\x1b program"
    odd.symlink_to(TOOL)
    done = run("record", "-o", tmp_path / "x.rec", "--", odd, "app", "fib", "--small")
    assert done.returncode == 0, done.stderr
    command = kith.read(tmp_path / "x.rec").provenance["command"]
    assert command == f"'{tmp_path}/it'\\''s a\\x0a\\x1b program' app fib --small"


def test_graph(recorded):
    done = run("graph", recorded["cholesky"], "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and {"tasks", "edges", "work_s", "span_s", "parallelism", "critical_path", "problems"} <= set(found)
    assert found["parallelism"] == pytest.approx(found["work_s"] / found["span_s"])
    assert sum(step["seconds"] for step in found["critical_path"]) == pytest.approx(found["span_s"])
    some = json.loads(run("graph", recorded["cholesky"], "--json", "--where", "name == 'gemm'").stdout)
    names = run("graph", recorded["cholesky"]).stdout
    assert 0 < some["tasks"] < found["tasks"] and "critical path" in names
    longer = json.loads(run("graph", recorded["simulated"], "--reference", recorded["cholesky"], "--json").stdout)
    assert "work deviation" in longer["problems"]


def test_report(recorded, tmp_path):
    page = tmp_path / "report.html"
    done = run("report", recorded["simulated"], recorded["cholesky"], "-o", page)
    assert done.returncode == 0 and "report.html" in done.stdout, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "if all its data were local" in text and 'id="changes"' in text  # it was replayed
    done = run("report", recorded["simulated"], recorded["cholesky"], recorded["heat"], "-o", page, "--no-replay")
    text = page.read_text(encoding="utf-8")
    assert done.returncode == 0 and all(f"{name}.rec" in text for name in ("cholesky", "heat")), done.stderr
    page.write_text("old")
    done = run("report", tmp_path / "none.rec", "-o", page)
    assert done.returncode == 2 and "no such file" in done.stderr and page.read_text() == "old"
    done = run("report", recorded["heat"], "-o", recorded["heat"])
    assert done.returncode == 2 and "is the recording" in done.stderr
    done = run("report", recorded["heat"], "-o", tmp_path / "no" / "x.html")
    assert done.returncode == 2 and "there is no folder" in done.stderr


def test_a_policy_that_places_well_gains_less(recorded):
    from kith.report.replay import replay

    found = replay(kith.read(recorded["simulated"]), TOOL)
    assert found["own_machine"] and 0 <= found["gain"] < 1 and found["local_seconds"] <= found["seconds"]


def test_without_the_package(recorded, tmp_path):
    bare = tmp_path / "bin"
    bare.mkdir()
    shutil.copy(TOOL, bare / "kith")  # no virtual environment beside it
    interpreter = bare / "python3"
    interpreter.write_text("#!/bin/sh\nexit 1\n")
    interpreter.chmod(0o755)
    done = run("graph", recorded["heat"], "--json", tool=str(bare / "kith"), PATH=str(bare))
    assert done.returncode == 2 and "pip install" in done.stderr
    assert json.loads(done.stdout)["error"]["command"] == "kith graph"
    interpreter.unlink()
    done = run("graph", recorded["heat"], tool=str(bare / "kith"), PATH=str(bare))
    assert done.returncode == 2 and "pip install" in done.stderr
    # The python3 in PATH, if it has the package.
    interpreter.write_text(f"#!/bin/sh\nexec {sys.executable} \"$@\"\n")
    interpreter.chmod(0o755)
    done = run("graph", recorded["heat"], tool=str(bare / "kith"), PATH=str(bare))
    assert done.returncode == 0 and "span" in done.stdout


def test_a_folder_of_that_name_is_not_the_package(recorded, tmp_path):
    (tmp_path / "kith").mkdir()
    (tmp_path / "kith" / "__init__.py").write_text("raise SystemExit('wrong package')")
    done = subprocess.run([TOOL, "graph", recorded["heat"]], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=False, env=HERE)
    assert done.returncode == 0 and "wrong package" not in done.stderr


def test_both_command_lines_have_the_same_options():
    from kith.command_line import parser_of, verb_names
    from kith.export import FORMATS

    for verb in verb_names():
        _, parser = parser_of(verb)
        mine = {o for action in parser._actions for o in action.option_strings if o.startswith("--")}
        theirs = set(re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", run("help", verb).stdout, re.M))
        assert mine == theirs, verb
        if verb == "export":
            assert "|".join(f.name for f in FORMATS) in run("help", verb).stdout
        if verb in ("graph", "report", "export"):
            texts = {a.option_strings[0]: a.help for a in parser._actions if a.option_strings}
            said = " ".join(run("help", verb).stdout.split())
            for option in ("--where", "--below", "--top", "--counters"):
                assert texts[option] in said, (verb, option)
