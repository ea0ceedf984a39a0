"""What connects tasks that a filter keeps: creators above them, and paths through tasks that are left out."""

import csv
import xml.etree.ElementTree as xml

import numpy as np
import pytest

from kith import contract
from kith.command_line import main
from kith.contract import nearest_creators, paths_through
from kith.metrics import Analysis
from kith.select import select
from made import Made


def chain():
    """A root creates a, b and c, one after the other of which each needs the one before; b creates d. Tasks 0 to 4."""
    m = Made()
    kinds = [m.type(n) for n in "abcd"]
    m.task(0, 90, flags=1, work=10)
    for i in range(3):
        m.task(10 * i + 10, 10 * i + 20, creator=0, created=i, type=kinds[i])
    m.task(22, 25, creator=2, created=21, type=kinds[3])
    m.add("dependence", task=2, before=1, bytes=64)
    m.add("dependence", task=3, before=2, bytes=32)
    return m


def connections(analysis, **filters):
    """(creators, dependences as (before, task, bytes, through)) by the run's numbers."""
    r = select(analysis, **filters).recording
    numbers = np.append(r.numbers, -1)
    d = r.dependences
    return (dict(zip(r.numbers.tolist(), numbers[r.tasks.creator].tolist())),
            sorted(zip(numbers[d.before].tolist(), numbers[d.task].tolist(), d.bytes.tolist(), d.through.tolist())))


def test_creators_and_paths(tmp_path):
    a = Analysis(chain().read(tmp_path))
    assert connections(a, where="name == 'a' or name == 'c'") == ({1: -1, 3: -1}, [(1, 3, 0, True)])
    assert connections(a, where="task == 0 or name == 'd'") == ({0: -1, 4: 0}, [])  # the root is above d's creator
    # a is before b, which creates d: that is a path, too.
    assert connections(a, where="name == 'a' or name == 'd'") == ({1: -1, 4: -1}, [(1, 4, 0, True)])
    assert connections(a, where="name != 'd'") == ({0: -1, 1: 0, 2: 0, 3: 0}, [(1, 2, 64, False), (2, 3, 32, False)])
    assert connections(a, below="2") == ({2: -1, 4: 2}, [])


def test_exports(tmp_path):
    path = chain().save(tmp_path)
    for to in ("graphml", "dot", "csv"):
        assert main(["export", path, "--to", to, "--where", "task == 0 or name == 'a' or name == 'c'", "-o", str(tmp_path / to)]) == 0
    edges = [(e.get("source"), e.get("target"), e.find("{*}data").text) for e in xml.parse(tmp_path / "graphml").iterfind(".//{*}edge")]
    assert sorted(edges) == [("t0", "t1", "create"), ("t0", "t2", "create"), ("t1", "t2", "path")]
    assert "t1 -> t2 [style=dotted];" in (tmp_path / "dot").read_text()
    rows = list(csv.DictReader((tmp_path / "csv" / "dependences.csv").open()))
    assert [(r["before"], r["task"], r["bytes"], r["through"]) for r in rows] == [("1", "2", "0", "True")]


def reachable(count, pairs):
    found = np.eye(count, dtype=bool)
    for before, after in sorted(pairs, key=lambda p: p[1]):  # edges lead to higher numbers
        found[:, after] |= found[:, before]
    return found


def test_order_of_random_graphs(tmp_path):
    """Of the kept tasks, one reaches the other exactly if it does in the whole graph; and no path can be left out."""
    rng = np.random.default_rng(9)
    through = 0
    for _ in range(40):
        n = int(rng.integers(3, 25))
        m = Made()
        m.task(0, 99, flags=1)
        for i in range(1, n):
            m.task(i, i + 1, creator=int(rng.integers(0, i)) if rng.random() < 0.4 else 0)
        for i in range(2, n):
            for j in range(1, i):
                if rng.random() < 0.15:
                    m.add("dependence", task=i, before=j, bytes=1)
        a = Analysis(m.read(tmp_path))
        t, d = a.recording.tasks, a.recording.dependences
        keep = rng.random(n) < 0.5
        keep[int(rng.integers(n))] = True
        whole = reachable(n, [(c, i) for i, c in enumerate(t.creator.tolist()) if c >= 0] + list(zip(d.before, d.task)))
        above = nearest_creators(t.creator.to_numpy(), keep)
        edges = [(int(above[i]), int(i)) for i in np.flatnonzero(keep) if above[i] >= 0]
        edges += [(b, i) for b, i in zip(d.before, d.task) if keep[b] and keep[i]]
        paths = list(zip(*(c.tolist() for c in paths_through(a.recording, keep))))
        assert (reachable(n, edges + paths)[np.ix_(keep, keep)] == whole[np.ix_(keep, keep)]).all()
        for p in paths:
            assert not reachable(n, edges + [q for q in paths if q != p])[p]
        through += len(paths)
    assert through > 40


def test_keyed_nodes(tmp_path):
    """A node is created by what names it, and before it: only dependences connect it."""
    m = Made()
    m.task(0, 4, flags=1)
    m.task(20, 30, creator=0, flags=2, created=1, explorer=0, explore_started=2, explore_ended=3, key=7)
    m.task(15, 20, creator=1, scope=1, flags=10, created=2, explorer=0, explore_started=4, explore_ended=5, key=8)
    m.task(10, 15, creator=2, scope=1, flags=10, created=3, explorer=0, explore_started=6, explore_ended=7, key=9)
    m.add("dependence", task=1, before=2)
    m.add("dependence", task=2, before=3)
    _, found = connections(Analysis(m.read(tmp_path)), where="task == 1 or task == 3")
    assert found == [(3, 1, 0, True)]


def test_too_many_tasks_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(contract, "MOST_KEPT", 1)
    path = chain().save(tmp_path)
    assert main(["export", path, "--to", "dot", "--where", "name == 'a' or name == 'c'", "-o", str(tmp_path / "x.dot")]) == 0
    assert "note: dependences through tasks that the filter leaves out are not shown" in capsys.readouterr().out
    assert "->" not in (tmp_path / "x.dot").read_text()
    assert main(["report", path, "--no-replay", "--where", "name == 'a' or name == 'c'", "-o", str(tmp_path / "x.html")]) == 0
    assert "Dependences through tasks that the filter leaves out are not shown" in (tmp_path / "x.html").read_text()
    assert connections(Analysis(chain().read(tmp_path)), where="name != 'd'")[1] == [(1, 2, 64, False), (2, 3, 32, False)]


def test_a_cycle(tmp_path):
    m = chain()
    m.tables["dependence"].insert(0, {"task": 1, "before": 3})
    a = Analysis(m.read(tmp_path))
    assert not select(a, below="4").recording.notes  # no path leads back to what is kept
    part = select(a, where="name == 'a' or name == 'c'")
    assert "graph without cycles" in part.recording.notes[-1] and part.recording.dependences.through.tolist() == [False]


@pytest.mark.parametrize("keep, expected", [([1, 0, 0, 0, 1], [-1, 0, 0, 0, 0]), ([0, 0, 1, 1, 1], [-1, -1, -1, 2, 3])])
def test_nearest_creators(keep, expected):
    assert nearest_creators(np.array([-1, 0, 0, 2, 3]), np.array(keep, bool)).tolist() == expected
