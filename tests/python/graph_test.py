"""The fragment graph, the reduced graph, critical paths and parallelism, against cases computed by hand."""

import numpy as np
import pytest

from kith.command_line import main
from kith.errors import KithError
from kith.graph import critical_path, fragment_graph, parallelism, reduced_graph
from kith.graph.fragments import DEPEND, FORK, FRAGMENT, JOIN
from kith.graph.paths import longest_paths
from made import Made, diamond, two_places

US = 1e-6


def test_diamond(tmp_path):
    g = fragment_graph(diamond().read(tmp_path))
    kinds = g.nodes.kind.value_counts()
    # The root has 5 cuts and so 6 fragments; three tasks have one each. Forks 3, joins 2.
    assert (kinds[FRAGMENT], kinds[FORK], kinds[JOIN]) == (9, 3, 2)
    root = g.nodes[(g.nodes.task == 0) & (g.nodes.kind == FRAGMENT)].weight_s.to_numpy()
    assert root == pytest.approx(np.array([10, 10, 10, 10, 10, 10]) * US * 40 / 60)
    assert g.total_s == pytest.approx(100 * US)
    # Fragments of the root are scaled from 60 to its 40 of work: 6.67 each. To the fork of task 2 are two of them.
    each = 40 / 6
    assert g.span_s == pytest.approx((2 * each + 30 + each + 10 + each) * US)
    assert g.parallelism == pytest.approx(100 / (4 * each + 40))
    assert [t for t, _ in critical_path(g)] == [0, 2, 0, 3, 0]
    assert (g.edges.kind == DEPEND).sum() == 2 and g.edges.bytes.sum() == 128
    assert not g.notes


def test_reduced_graph_charges_a_task_before_its_forks(tmp_path):
    g = fragment_graph(diamond().read(tmp_path))
    r = reduced_graph(g)
    kinds = r.nodes.kind.value_counts()
    assert (kinds[6], kinds[FORK], kinds[JOIN]) == (4, 2, 2)
    assert r.span_s == pytest.approx((40 + 30 + 10) * US)  # the root's 40, the longer sibling, the third
    assert r.span_s >= g.span_s


def test_a_task_ends_with_its_children(tmp_path):
    m = Made()
    m.task(0, 5, flags=1, completed=40)
    m.task(5, 10, creator=0, created=2, completed=30)  # ends before its child
    m.task(10, 30, creator=1, created=8)
    m.task(30, 40, creator=0, created=3)
    m.add("dependence", task=3, before=1)
    g = fragment_graph(m.read(tmp_path))
    # Root to the fork (2), the child's 3 to its fork, the grandchild's 20, then what needs the child.
    assert g.span_s == pytest.approx((2 + 3 + 20 + 10) * US)


def test_keyed_nodes_are_explored_first(tmp_path):
    m = Made()
    m.task(0, 4, flags=1)
    # Node 1 is named by the root, and names node 2 in its exploration; it computes after node 2.
    m.task(20, 30, creator=0, flags=2, created=1, explorer=0, explore_started=2, explore_ended=3, key=7)
    m.task(10, 20, creator=1, scope=1, flags=10, created=2, explorer=0, explore_started=4, explore_ended=5, key=8)
    m.add("dependence", task=1, before=2)
    g = fragment_graph(m.read(tmp_path))
    assert not g.notes
    assert g.span_s == pytest.approx((1 + 10 + 10) * US)


def test_runs_follow_each_other(tmp_path):
    m = Made()
    m.task(0, 10, flags=1)
    m.task(20, 50, flags=1, created=15)
    g = fragment_graph(m.read(tmp_path))
    assert g.span_s == pytest.approx(40 * US) == reduced_graph(g).span_s


def test_future_waits_for_the_child_that_ended_last(tmp_path):
    m = Made()
    m.task(0, 40, flags=1, work=20, completed=90)
    m.task(10, 30, 1, creator=0, created=5)
    m.task(30, 90, 1, creator=0, created=6)
    m.wait(0, 10, 30, scope=0xFFFFFFFF)
    g = fragment_graph(m.read(tmp_path))
    # The wait joins task 1 only; the root's end joins task 2.
    root = 20 / 20
    assert g.span_s == pytest.approx(max(5 * root + 20 + 10 * root, 6 * root + 60) * US)


def test_longest_path_of_random_graphs():
    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(2, 60))
        names = rng.permutation(n)  # nodes are not numbered in topological order
        edges = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.1]
        weight = rng.integers(0, 9, n).astype(float)
        best = weight.copy()
        for j in range(n):
            best[j] += max([best[i] for i, k in edges if k == j], default=0.0)
        source = names[np.array([e[0] for e in edges], int)]
        target = names[np.array([e[1] for e in edges], int)]
        weights = np.zeros(n)
        weights[names] = weight
        found = longest_paths(weights, source, target)
        assert found.length == best.max()
        assert weights[found.path()].sum() == found.length
        deep = np.zeros(n)
        for j in range(n):
            deep[j] = max([deep[i] + 1 for i, k in edges if k == j], default=0)
        assert found.depth[names].tolist() == deep.tolist()


def test_a_cycle_is_refused():
    with pytest.raises(KithError, match="cycle"):
        longest_paths(np.ones(3), np.array([0, 1, 2]), np.array([1, 2, 1]))


def test_edges_that_clocks_turned_round_are_left_out(tmp_path):
    m = diamond()
    m.tables["dependence"].insert(0, {"task": 1, "before": 3})  # the other way round is there already
    g = fragment_graph(m.read(tmp_path))
    assert "cycles" in g.notes[0] and g.span_s > 0
    assert reduced_graph(g).span_s > 0


def test_instantaneous_parallelism(tmp_path):
    m = Made()
    m.task(0, 0, flags=1, work=0, completed=60)
    for i, length in enumerate((10, 10, 30)):
        m.task(i, i + length, creator=0, created=0)
    counts, width = parallelism.instantaneous(fragment_graph(m.read(tmp_path)))
    assert width == pytest.approx(10 * US)
    assert counts.tolist() == [3, 1, 1]
    each = parallelism.of_tasks(fragment_graph(m.read(tmp_path)))
    assert each.loc[1].tolist() == [3, 3, 3]
    assert each.loc[3].tolist() == [1, 1, 3]  # median, min, max of 3, 1, 1
    assert each.loc[0].isna().all()


def test_parallelism_of_a_task_with_several_fragments(tmp_path):
    """A root of 4 fragments (10 each) beside tasks of 40, 40 and 20. By hand: 1, 2, 3, 4, 3 and 1 of them at once."""
    m = Made()
    m.task(0, 40, flags=1, completed=80)
    for i, length in enumerate((40, 40, 20)):
        m.task(10 * i + 10, 10 * i + 10 + length, 1, creator=0, created=10 * i + 10)
    g = fragment_graph(m.read(tmp_path))
    assert parallelism.instantaneous(g)[0].tolist() == [1, 2, 3, 4, 3, 1]
    each = parallelism.of_tasks(g)  # median, min, max
    assert each.to_numpy().tolist() == [[2.5, 1, 4], [3, 2, 4], [3, 1, 4], [3.5, 3, 4]]


def test_fragments_that_follow_each_other_in_a_bin_count_once(tmp_path):
    """A root that creates four tasks of 10 µs, one each µs: from 4 to 5 µs all five run."""
    m = Made()
    m.task(0, 5, flags=1, completed=14)
    for i in range(4):
        m.task(i + 1, i + 11, 1, creator=0, created=i + 1)
    g = fragment_graph(m.read(tmp_path))
    counts, width = parallelism.instantaneous(g, 5 * US)
    assert counts.tolist() == [5, 4, 4] and width == 5 * US
    assert parallelism.instantaneous(g, 100 * US)[0].tolist() == [5]


def test_a_chain_has_one_fragment_at_a_time(tmp_path):
    """Times of which binary fractions are not exact: each task begins when the sum of those before says so."""
    m = Made()
    m.task(0, 0, flags=1, work=0, completed=3000)
    for i in range(60):
        m.task(0, 7 + i % 3, creator=0, created=0)
        if i:
            m.add("dependence", task=i + 1, before=i)
    g = fragment_graph(m.read(tmp_path))
    for width in (1, 7, 50, 1000):
        assert set(parallelism.instantaneous(g, width * US)[0]) == {1}


@pytest.mark.parametrize("width", (1, 5, 16, 1000))
def test_instantaneous_parallelism_of_random_graphs(tmp_path, width):
    """Against a look at each half µs: begins and ends are whole µs."""
    rng = np.random.default_rng(width)
    m = Made()
    m.task(0, 0, flags=1, work=0, completed=3000)
    lengths = rng.integers(1, 40, 50)
    begin = np.zeros(50, int)
    for i in range(50):
        m.task(0, int(lengths[i]), creator=0, created=0)
        for j in range(i):
            if rng.random() < 0.05:
                m.add("dependence", task=i + 1, before=j + 1)
                begin[i] = max(begin[i], begin[j] + lengths[j])
    end = begin + lengths
    at = np.arange(end.max())
    running = ((begin <= at[:, None]) & (at[:, None] < end)).sum(axis=1)
    expected = [running[i:i + width].max() for i in range(0, len(at), width)]
    assert parallelism.instantaneous(fragment_graph(m.read(tmp_path)), width * US)[0].tolist() == expected


def test_coverage_counts_long_and_short_intervals():
    found = parallelism.coverage(np.array([0.5, 1.25]), np.array([3.5, 1.5]), 0.0, 1.0, 4)
    assert found == pytest.approx([0.5, 1.25, 1.0, 0.5])


def test_a_dry_recording_says_so(tmp_path, capsys):
    m = diamond()
    m.meta["dry"] = 1
    for words, says in ((["graph"], "the run took  not known"), (["export", "--to", "dot", "-o", str(tmp_path / "x.dot")], "x.dot")):
        assert main([*words[:1], m.save(tmp_path), *words[1:]]) == 0
        said = capsys.readouterr().out
        assert says in said and "note: a dry recording" in said
    m.meta["engine"] = "sim"
    assert main(["graph", m.save(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "the run took  90" in said and "dry" not in said


def test_an_empty_recording(tmp_path):
    g = fragment_graph(Made().read(tmp_path))
    assert (g.total_s, g.span_s, g.parallelism, critical_path(g)) == (0, 0, 0, [])


def test_waits_for_other_places(tmp_path):
    g = fragment_graph(two_places().read(tmp_path))
    assert not g.notes
    root = g.nodes[g.nodes.task == 0].sort_values("number", kind="stable")
    # The wait for the acceptance is part of the first fork; the call's fork is before the wait for its result.
    # The last of three joins is its end, after the call.
    assert (root.kind == FORK).sum() == 2 and (root.kind == JOIN).sum() == 3
    assert root[root.kind == FORK].begun_s.to_numpy() == pytest.approx(np.array([10, 25]) * US)
    assert root[root.kind == FORK].ended_s.to_numpy() == pytest.approx(np.array([25, 25]) * US)
    assert root[root.kind == FRAGMENT].weight_s.to_numpy() == pytest.approx(np.array([10, 0, 0, 20, 20]) * US)
    assert g.total_s == pytest.approx(100 * US)
    assert g.span_s == pytest.approx((10 + 30 + 20 + 20) * US)
    assert [t for t, _ in critical_path(g)] == [0, 2, 0]


def test_an_acceptance_that_is_seen_after_the_task(tmp_path):
    m = two_places()
    m.tables["task"][1]["create_until_ns"] = 27_000  # the wait ends at 25
    assert fragment_graph(m.read(tmp_path)).span_s == pytest.approx((10 + 30 + 20 + 20) * US)


def test_a_wait_with_the_creations_of_activities(tmp_path):
    """Activities may leave their place only while their creator waits for all of them: the wait does not create them."""
    m = two_places()
    m.tables["message"] = []
    m.tables["wait"] = []
    for row in m.tables["task"][1:]:
        row["scope"] = 1
    m.wait(0, 11, 120, scope=1)
    g = fragment_graph(m.read(tmp_path))
    assert not g.notes
    assert g.span_s == pytest.approx((50 + 30) * US)  # the root's code, and the longer of both
