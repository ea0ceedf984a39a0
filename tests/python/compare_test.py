"""What differs between two runs, against cases computed by hand."""

import json
import re

import pytest

from kith.command_line import main
from kith.compare import compare
from kith.metrics import Analysis
from kith.verbs.compare import text
from made import Made, diamond


def slower():
    """The diamond, where the second task of type a takes 40 µs instead of 30, and all later times are 10 µs later."""
    m = Made()
    a, b = m.type("a"), m.type("b")
    m.task(0, 100, flags=1, work=40)
    m.task(20, 40, 1, creator=0, created=10, type=a)
    m.task(30, 70, 0, creator=0, created=20, type=a)
    m.task(80, 90, 1, creator=0, created=80, type=b)
    m.wait(0, 30, 70)
    m.wait(0, 90, 90)
    return m


def of(a, b, folder):
    from kith import read

    return compare(*(Analysis(read(m.save(folder, f"{i}.rec"))) for i, m in enumerate((a, b))))


def cause(found, what):
    return next(c for c in found["causes"] if what in c["what"])


def test_a_slower_task(tmp_path):
    found = of(diamond(), slower(), tmp_path)
    assert found["makespan_s"] == pytest.approx([90e-6, 100e-6])
    assert sum(c["share"] for c in found["causes"]) == pytest.approx(1)
    for key, time in (("a", 90e-6), ("b", 100e-6)):
        assert sum(c[key] for c in found["causes"]) == pytest.approx(time)
    # Two workers: 10 µs more work are 5 µs more of the run, and the other 5 µs are the other worker's.
    longer = cause(found, "a: time of a task")
    assert (longer["a"], longer["b"], longer["share"]) == pytest.approx((25e-6, 30e-6, 0.5))
    by_name = {t["name"]: t for t in found["types"]}
    assert by_name["a"]["count"] == [2, 2] and by_name["a"]["mean_s"] == pytest.approx([25e-6, 30e-6])
    assert found["causes"][-1]["what"] == "the rest" and abs(found["causes"][-1]["share"]) < 1e-6


def test_idle_time_beside_ready_tasks_is_a_cause_of_its_own(tmp_path):
    """Three tasks of 100 µs and a second worker. In A it runs one; in B none, though the tasks are ready from 1 µs on."""
    def run(taken):
        m = Made()
        m.task(0, 1, flags=1, completed=201 if taken else 301)
        for i in range(3):
            begin = 1 + 100 * (i // 2 if taken else i)
            m.task(begin, begin + 100, i % 2 if taken else 0, creator=0, created=0, ready=begin if taken else 1)
        return m
    found = of(run(True), run(False), tmp_path)
    beside = cause(found, "tasks were ready")  # all of B but the first µs and the last task, over two workers
    assert (beside["a"], beside["b"]) == pytest.approx((0, 100e-6))
    assert sum(c["share"] for c in found["causes"]) == pytest.approx(1)


def test_more_tasks(tmp_path):
    """One worker, tasks of 10 µs: two in A, four of 15 µs in B. 20 to 60: of the 40, (15 - 10) * 3 are the time of a task,
    25 the number."""
    def run(count, length):
        m = Made(workers=(0,))
        x = m.type("x")
        m.task(0, count * length, flags=1, work=0)
        for i in range(count):
            m.task(i * length, (i + 1) * length, creator=0, created=0, type=x)
        m.wait(0, 0, count * length)
        return m
    found = of(run(2, 10), run(4, 15), tmp_path)
    assert found["makespan_s"] == pytest.approx([20e-6, 60e-6])
    assert cause(found, "x: time of a task")["share"] == pytest.approx(15 / 40)
    assert cause(found, "x: number of tasks")["share"] == pytest.approx(25 / 40)
    assert sum(c["share"] for c in found["causes"]) == pytest.approx(1)


def test_other_workers(tmp_path):
    """Two tasks of 10 µs by one worker, four of 15 µs by two: 20 to 30 µs. Of one worker there are (1 + 1/2) / 2, so the time
    of a task is 5 * 3 * 0.75, the number 2 * 12.5 * 0.75, and the second worker the rest."""
    def run(count, length, workers):
        m = Made(workers=(0,) * workers)
        x = m.type("x")
        m.task(0, count * length // workers, flags=1, work=0)
        for i in range(count):
            begin = i // workers * length
            m.task(begin, begin + length, i % workers, creator=0, created=0, type=x)
        m.wait(0, 0, count * length // workers)
        return m
    found = of(run(2, 10, 1), run(4, 15, 2), tmp_path)
    assert found["makespan_s"] == pytest.approx([20e-6, 30e-6])
    parts = [cause(found, what) for what in ("x: time of a task", "x: number of tasks", "2 workers instead of 1")]
    assert [c["b"] - c["a"] for c in parts] == pytest.approx([11.25e-6, 18.75e-6, -20e-6])
    assert sum(c["share"] for c in found["causes"]) == pytest.approx(1)


def test_tasks_have_counterparts_by_the_names_of_types(tmp_path):
    def run(*names):
        m = Made()
        kinds = {name: m.type(name) for name in names}
        m.task(0, 90, flags=1)
        for i, name in enumerate(sorted(names)):
            m.task(10 * i, 10 * i + 5, creator=0, created=10 * i, type=kinds[name])
        return m
    same = of(run("a", "b"), run("b", "a"), tmp_path)
    other = of(run("a", "b"), run("c", "d"), tmp_path)
    assert not any("different programs" in n for n in same["warnings"])
    assert any("only 33.3\u202f% of the tasks" in n and "different programs" in n for n in other["warnings"])  # the roots


def test_equal_runs(tmp_path):
    found = of(diamond(), diamond(), tmp_path)
    assert all(c["share"] == 0 and c["a"] == c["b"] for c in found["causes"])


def test_runs_of_different_programs_have_no_causes(tmp_path):
    other = slower()
    for row in other.tables["type"][1:]:
        row["name"] += "'"
    found = of(diamond(), other, tmp_path)
    assert not found["causes"] and "no type of task in common" in found["warnings"][0]
    said = text(found)
    assert said.startswith("note: the runs have no type of task in common") and "share" not in said and "times as long" not in said


def test_dry_runs_have_no_causes(tmp_path):
    dry = slower()
    dry.meta["dry"] = 1
    found = of(diamond(), dry, tmp_path)
    assert not found["causes"] and "1.rec: a dry recording" in found["warnings"][0] and not any("dry" in n for n in found["notes"])
    dry.meta["engine"] = "sim"
    assert of(diamond(), dry, tmp_path)["causes"]


def test_what_may_be_chance_is_said_first(tmp_path):
    def run(length, **meta):
        m = Made(**meta)
        m.task(0, length, flags=1)
        return m
    assert [bool(of(run(100), run(length), tmp_path)["warnings"]) for length in (101, 105, 120)] == [False, True, False]
    said = text(of(run(100), run(105), tmp_path))
    assert said.startswith("note: two runs of one program may differ by chance by 10\u202f%")
    assert "causes" in text(of(run(100), run(101), tmp_path)) and "why" not in text(of(run(100), run(101), tmp_path))
    assert not of(run(100, engine="sim"), run(105, engine="sim"), tmp_path)["warnings"]


@pytest.mark.parametrize("policy, nodes, says", [("auto", 1, True), ("fifo", 1, False), ("auto", 2, False), ("steal", 1, False)])
def test_policies_that_are_the_same_on_one_node(tmp_path, policy, nodes, says):
    """The recordings of slower() and diamond() are of steal."""
    other = slower()
    other.meta["policy"] = policy
    other.tables["worker"][1]["node"] = nodes - 1
    other.meta["nodes"] = nodes
    assert any("both are steal" in w for w in of(diamond(), other, tmp_path)["warnings"]) == says


def test_small_causes_are_one_line(tmp_path):
    found = of(diamond(), slower(), tmp_path)
    found["causes"] = [{"what": "large", "a": 0.0, "b": 9e-6, "share": 0.9},
                       *({"what": f"small {i}", "a": 0.0, "b": 0.5e-6, "share": 0.05} for i in range(2))]
    said = text(found)
    assert "large" in said and "small" not in said and re.search(r"1\u202fµs +10\u202f% +2 causes that differ by less", said)


def test_a_narrow_graph_is_why_workers_are_idle(tmp_path):
    """A chain of 100 µs on one and on four workers: three quarters of the time of the four are inevitably idle."""
    def chain(workers):
        m = Made(workers=(0,) * workers)
        m.task(0, 100, flags=1)
        for w in range(1, workers):
            m.add("idle", worker=w, begun=0, ended=100)
        return m
    found = of(chain(1), chain(4), tmp_path)
    assert cause(found, "the critical path is longer")["b"] == pytest.approx(75e-6)
    assert any("different numbers of workers" in n for n in found["warnings"])


def test_the_command(tmp_path, capsys):
    a, b = diamond(), slower()
    b.tables["type"][1]["name"] = "a\x1b[31m"
    files = [a.save(tmp_path, "a.rec"), b.save(tmp_path, "b.rec")]
    assert main(["compare", *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"makespan_s", "causes", "types"} <= set(found)
    assert all({"what", "a", "b", "share"} == set(c) for c in found["causes"])
    assert all({"name", "count", "mean_s"} == set(t) for t in found["types"])
    assert main(["compare", *files]) == 0
    out = capsys.readouterr().out
    assert "A took 90" in out and "\x1b" not in out and "a\\x1b[31m: only in one run" in out
    assert main(["compare", *reversed(files)]) == 0
    assert re.search(r" −5\u202fµs +50\u202f%", capsys.readouterr().out)
    assert main(["compare", files[0], str(tmp_path / "none.rec")]) == 2


def test_runs_that_take_the_same_time_get_no_shares(tmp_path):
    assert "take the same time within" in text(of(diamond(), diamond(), tmp_path))
    assert "take the same time within" not in text(of(diamond(), slower(), tmp_path))
