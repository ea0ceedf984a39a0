"""The tree of groups, against cases computed by hand, and as `kith graph --tree` prints it."""

import json
import time

import numpy as np
import pytest

from kith.command_line import main
from kith.errors import KithError
from kith.graph.tree import FAN, GROUP, PART, SET, TASK, Tree, at_path, opened
from kith.metrics import Analysis
from kith.select import select
from made import Made, diamond

US = 1e-6


def family():
    """A root that creates 30 a and 2 b, waits, and creates one c, which creates 5 a and 5 b. Each task works for 1 µs, the
    root for 9."""
    m = Made()
    a, b, c = (m.type(n) for n in "abc")
    m.task(0, 900, flags=1, work=9)
    for i in range(32):
        m.task(10 + i, 11 + i, 1, creator=0, created=i, type=a if i < 30 else b)
    m.wait(0, 50, 60)
    m.task(70, 71, 1, creator=0, created=65, type=c)
    m.wait(0, 80, 90)
    for i in range(10):
        m.task(71 + i, 72 + i, 1, creator=33, created=70, type=a if i < 5 else b)
    return m


def labels(tree, *path):
    node = tree.root
    for step in path:
        node = tree.children(node)[step]
    return [tree.label(n) for n in tree.children(node)]


def test_levels_are_sets_types_parts_and_tasks(tmp_path):
    tree = Tree(Analysis(family().read(tmp_path)))
    assert labels(tree) == ["task 0"]
    assert labels(tree, 0) == ["wait 1 of 2: 32 tasks", "c 33"]  # a set of one task is that task
    assert labels(tree, 0, 0) == ["30 a", "2 b"]
    assert labels(tree, 0, 0, 1) == ["b 31", "b 32"]
    assert labels(tree, 0, 0, 0)[:3] == ["2 a, 1 to 2 of 30", "3 a, 3 to 5 of 30", "2 a, 6 to 7 of 30"]
    assert labels(tree, 0, 0, 0, 1) == ["a 3", "a 4", "a 5"]
    assert labels(tree, 0, 1) == ["5 a", "5 b"]  # of one set, so it is left out
    first = tree.children(tree.children(tree.root)[0])[0]
    assert (first.kind, tree.children(first)[0].kind, tree.children(tree.children(first)[0])[0].kind) == (SET, GROUP, PART)


def test_numbers_of_nodes(tmp_path):
    a = Analysis(family().read(tmp_path))
    late = a.recording.tasks.started_s.to_numpy() > 75.5 * US
    tree = Tree(a, {"late": late})
    root = tree.described(tree.root)
    assert (root["tasks"], root["members"], root["total_s"]) == (44, 1, pytest.approx(52 * US))
    assert root["marks"]["late"] == [5, pytest.approx(5 / 52)]  # those of c from 76 on
    first, c = tree.children(tree.children(tree.root)[0])
    assert tree.described(first)["marks"] == {} and tree.described(first)["total_s"] == pytest.approx(32 * US)
    d = tree.described(c)
    assert (d["label"], d["task"], d["members"], d["tasks"]) == ("c 33", 33, 1, 11)
    assert d["work_s"] == pytest.approx(US) and d["total_s"] == pytest.approx(11 * US)
    assert d["marks"]["late"] == [5, pytest.approx(5 / 11)]
    assert d["critical"] == int(a.graph.critical_tasks[33:].sum())
    assert tree.lineages([tree.root, c, first, *tree.children(c)]) == ["", "R-0-32", "R-0", "R-0-32", "R-0-32"]
    assert sorted(tree.members(tree.children(c)[0]).tolist()) == [34, 35, 36, 37, 38]


def random_tree(seed, tasks, folder):
    rng = np.random.default_rng(seed)
    m = Made()
    kinds = [0, m.type("x"), m.type("y")]
    m.task(0, 5000, flags=1)
    for i in range(1, tasks):
        m.task(i, i + int(rng.integers(1, 9)), 1, creator=int(rng.integers(max(0, i - 40), i)), created=i, type=int(rng.choice(kinds)))
    return Analysis(m.read(folder))


@pytest.mark.parametrize("seed", range(4))
def test_children_divide_a_node(tmp_path, seed):
    """Every task is in one leaf, children share out their parent's tasks and time, and nodes have few children."""
    a = random_tree(seed, 700, tmp_path)
    tree = Tree(a)
    waiting, leaves = [tree.root], []
    while waiting:
        node = waiting.pop()
        children = tree.children(node)
        assert bool(children) == tree.opens(node)
        d = tree.described(node)
        if node.kind == TASK:
            leaves.append(d["task"])
            d["tasks"], d["total_s"] = d["tasks"] - 1, d["total_s"] - d["work_s"]
        parts = [tree.described(c) for c in children]
        assert sum(p["tasks"] for p in parts) == (d["tasks"] if parts else 0) and len(parts) <= 2 * FAN
        assert len(parts) != 1 or node.kind in (TASK, "run")  # other levels of one node are left out
        assert sum(p["total_s"] for p in parts) == pytest.approx(d["total_s"], abs=1e-12)
        waiting += children
    assert sorted(leaves) == list(range(700))


def test_many_waits_and_a_selection(tmp_path):
    m = Made(workers=(0,))
    m.task(0, 9000, flags=1)
    for i in range(100):
        m.task(80 * i + 10, 80 * i + 20, creator=0, created=80 * i)
        m.task(80 * i + 20, 80 * i + 30, creator=0, created=80 * i)
        m.wait(0, 80 * i + 5, 80 * i + 60)
    a = Analysis(m.read(tmp_path))
    tree = Tree(a)
    top = tree.children(tree.root)[0]
    sets = tree.children(top)
    assert len(sets) == FAN and tree.label(sets[1]) == "waits 9 to 16 of 100: 16 task"
    assert tree.label(tree.children(sets[1])[0]) == "wait 9 of 100: 2 task"
    part = Tree(select(a, below="7"))
    assert part.described(part.root)["tasks"] == 1 and part.label(part.children(part.root)[0]) == "task 7"
    assert part.lineages(part.children(part.root)) == ["R-0-6"]


def test_where_it_is_opened(tmp_path):
    tree = Tree(Analysis(family().read(tmp_path)))
    nodes, parents, more = opened(tree, 4)
    assert [tree.label(n) for n in nodes] == ["all tasks", "task 0", "wait 1 of 2: 32 tasks", "c 33"]
    assert parents == [-1, 0, 1, 1] and more == [False, False, True, True]
    nodes, _, more = opened(tree, 10_000)
    assert not any(more) and sum(n.kind == TASK for n in nodes) == 44
    assert at_path(tree, "1.2.1") == tree.children(tree.children(tree.children(tree.root)[0])[1])[0]
    for path, here in (("2", "1 to 1"), ("1.0", "1 to 2"), ("1.2.1.9", "1 to 5"), ("x", "1 to 1"), ("1.2.1.1.1", "none")):
        with pytest.raises(KithError, match=f"--open.*here {here}$"):
            at_path(tree, path)


def test_the_median_of_the_run_is_of_all_its_tasks(tmp_path):
    """Two roots of 1 µs, one of them with three tasks of 9 µs."""
    m = Made()
    m.task(0, 1, flags=1)
    m.task(1, 2, flags=1)
    for i in range(3):
        m.task(2 + 9 * i, 11 + 9 * i, creator=1, created=1)
    tree = Tree(Analysis(m.read(tmp_path)))
    run = tree.described(tree.root)
    assert (run["members"], run["tasks"], run["median_s"], run["max_s"]) == pytest.approx((2, 5, 9e-6, 9e-6))


def test_the_verb(tmp_path, capsys):
    path = family().save(tmp_path)
    assert main(["graph", path, "--tree", "--json", "--rows", "6"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert [(n["node"], n["label"], n["more"]) for n in nodes] == [
        ("", "all tasks", False), ("1", "task 0", False), ("1.1", "wait 1 of 2: 32 tasks", False), ("1.1.1", "30 a", True),
        ("1.1.2", "2 b", True), ("1.2", "c 33", True)]
    assert main(["graph", path, "--tree", "--json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["nodes"]
    assert {n["node"]: n["more"] for n in nodes}["1.2.1.1"] is False  # a task that created none
    assert main(["graph", path, "--tree", "--open", "1.2"]) == 0
    said = capsys.readouterr().out
    assert "1.2.1" in said and "5 a (median 1\u202fµs)" in said
    assert main(["graph", path, "--rows", "6"]) == 2 and main(["graph", path, "--tree", "--rows", "0"]) == 2
    assert main(["graph", path, "--tree", "--rows", "9" * 5000]) == 2 and "--rows" in capsys.readouterr().err
    assert main(["graph", path, "--tree", "--open", "7"]) == 2 and "here 1 to 1" in capsys.readouterr().err
    empty = Made()
    assert main(["graph", empty.save(tmp_path, "empty.rec"), "--tree"]) == 0
    assert main(["graph", diamond().save(tmp_path, "d.rec"), "--tree", "--where", "name == 'a'"]) == 0


def test_a_chain_of_creations(tmp_path):
    """As deep as it is long: no recursion, and no pass for each level."""
    m = Made()
    m.task(0, 9, flags=1)
    for i in range(1, 30_000):
        m.task(i, i + 1, creator=i - 1, created=i)
    a = Analysis(m.read(tmp_path))
    began = time.process_time()
    nodes, _, more = opened(Tree(a), 500)
    assert len(nodes) == 500 and more[-1] and time.process_time() - began < 60
