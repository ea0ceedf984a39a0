"""Metrics of tasks, thresholds and groups, against cases computed by hand."""

import pathlib
import re
import time

import numpy as np
import pytest

from kith import lineage, problems
from kith.conditions import Missing, holds
from kith.errors import KithError
from kith.graph.aggregate import contexts, groups
from kith.metrics import METRICS, Analysis, memory
from kith.metrics.time import median_of_pairs
from kith.states import by_worker, of_waits
from made import Made, diamond

US = 1e-6


def family():
    """A root whose three children (10, 20 and 60 µs) run on workers 0, 1 and 3 of two nodes."""
    m = Made(workers=(0, 0, 1, 1), nodes=2)
    work = m.type("work")
    m.task(0, 100, flags=1, work=6)
    for begin, end, worker in ((10, 20, 0), (10, 30, 1), (10, 70, 3)):
        m.task(begin, end, worker, creator=0, created=2, until=4, type=work)
    m.wait(0, 8, 74)
    return m


def test_metrics_of_a_family(tmp_path):
    a = Analysis(family().read(tmp_path))
    t = a.table
    assert t.children.tolist() == [3, 0, 0, 0] and t.leaf.tolist() == [False, True, True, True]
    assert t.num_siblings.tolist() == [1, 3, 3, 3] and t.depth.tolist() == [0, 1, 1, 1]
    assert t.work.tolist() == pytest.approx([6 * US, 10 * US, 20 * US, 60 * US])
    assert t.creation[1:].tolist() == pytest.approx([2 * US] * 3)
    # The wait of 66 µs has 10 of task 1 on its worker; the other 56 are neither work nor idle: a third for each child.
    assert t.sync_per_child[1:].tolist() == pytest.approx([56 / 3 * US] * 3)
    assert t.parallel_benefit[1:].tolist() == pytest.approx([w / (2 + 56 / 3) for w in (10, 20, 60)])
    assert t.sibling_work_balance[1:].tolist() == pytest.approx([60 / 30] * 3) and np.isnan(t.sibling_work_balance[0])
    assert t.sibling_work_ratio[1:].tolist() == pytest.approx([10 / 30, 20 / 30, 2]) and np.isnan(t.sibling_work_ratio[0])
    assert t.sibling_scatter[1:].tolist() == [2, 2, 2]  # of 1, 2 and 3
    assert t.sibling_numa_scatter[1:].tolist() == [20, 20, 20]  # of 10, 20, 20
    assert t.waited[1:].tolist() == pytest.approx([6 * US] * 3)
    assert t.last_to_finish.tolist() == [True, False, True, True]
    assert "work_deviation" not in t and "mem_hier_util" not in t  # nothing to compute them from


def four():
    """A root without work that creates A (10 µs), B (10), C (20) and D (12), which needs A."""
    m = Made(workers=(0, 0, 0))
    m.task(0, 60, flags=1, work=0)
    for begin, length, worker in ((0, 10, 0), (0, 10, 1), (0, 20, 2), (10, 12, 0)):
        m.task(begin, begin + length, worker, creator=0, created=0)
    m.add("dependence", task=4, before=1)
    return m


def test_instantaneous_parallelism(tmp_path):
    """Bins are 11 µs wide, the median of the fragments: in the first A, B and C run together, and then D (from 10 on) beside C;
    in the second C and D."""
    t = Analysis(four().read(tmp_path)).table
    unknown = pytest.approx(np.nan, nan_ok=True)
    assert t.inst_par_median.tolist() == [unknown, 3, 3, 2.5, 2.5]
    assert t.inst_par_min.tolist() == [unknown, 3, 3, 2, 2]
    assert t.inst_par_max.tolist() == [unknown, 3, 3, 3, 3]


def test_tasks_on_the_critical_path(tmp_path):
    a = Analysis(four().read(tmp_path))
    assert a.table.on_critical_path.tolist() == [False, True, False, False, True]  # A and D are 22, C is 20
    assert a.graph.span_s == pytest.approx(22 * US)


def test_idle_time_is_no_cost_of_a_wait(tmp_path):
    m = family()
    m.add("idle", worker=0, begun=20, ended=70)
    a = Analysis(m.read(tmp_path))
    assert of_waits(a.recording, a.states).tolist() == pytest.approx([6 * US])
    assert by_worker(a.states, 4).loc[0, "idle"] == pytest.approx(50 * US)


def test_waits_inside_waits_pay_for_themselves(tmp_path):
    m = Made(workers=(0,))
    m.task(0, 100, flags=1, work=20)
    m.task(20, 80, creator=0, created=5, work=20)
    m.task(40, 50, creator=1, created=25)
    m.wait(0, 10, 90)
    m.wait(1, 30, 70, scope=2)
    a = Analysis(m.read(tmp_path))
    # Inside the inner wait 40 - 10 = 30; in the outer one 80 - 60 of the child.
    assert of_waits(a.recording, a.states).tolist() == pytest.approx([20 * US, 30 * US])


def test_states_cover_the_run_without_overlaps(tmp_path):
    a = Analysis(family().read(tmp_path))
    s = a.states
    for _, rows in s.groupby("worker"):
        assert rows.begun_s.iloc[0] == 0 and rows.ended_s.iloc[-1] == pytest.approx(100 * US)
        assert rows.begun_s.to_numpy()[1:] == pytest.approx(rows.ended_s.to_numpy()[:-1])
    seconds = by_worker(s, 4)
    # The root: 0 to 2, 4 to 8 and 74 to 100; its child 10. Its two later children take no time of their own to create.
    assert seconds.loc[0, "working"] == pytest.approx(42 * US)
    assert seconds.loc[2, "idle"] == pytest.approx(100 * US)  # after its last event a worker is idle
    assert seconds.loc[1, "working"] == pytest.approx(20 * US)


def test_work_deviation_by_lineage(tmp_path):
    slow = family()
    slow.tables["task"][3]["work_ns"] *= 3
    r, reference = slow.read(tmp_path), family().read(tmp_path)
    assert Analysis(r, reference).table.work_deviation.tolist() == pytest.approx([1, 1, 1, 3])
    simulated = family()
    simulated.meta["engine"] = "sim"
    simulated.tables["task"][2]["work_ns"] //= 2  # recorded: half of what it took in the simulation
    assert Analysis(simulated.read(tmp_path)).table.work_deviation[2] == pytest.approx(2)


def test_lineages_are_the_same_in_every_order_of_creation(tmp_path):
    def tree(order):
        m = Made()
        m.task(0, 90, flags=1)
        for i in (0, 1):
            m.task(1, 2, creator=0)
        for creator in order:
            m.task(2, 3, creator=creator)
        return m.read(tmp_path).tasks
    one, other = tree((1, 1, 2)), tree((2, 1, 1))
    a, b = lineage.hashes(one), lineage.hashes(other)
    assert len(set(a.tolist())) == 6 and set(a.tolist()) == set(b.tolist())
    assert a[5] == b[3] and lineage.paths(one, [5]) == ["R-0-1-0"] == lineage.paths(other, [3])
    assert lineage.depths(one).tolist() == [0, 1, 1, 2, 2, 2]


def data(at=0):
    """Two tasks on nodes 0 and 1: A is on node 0, B half on each, C is not known. A moves to node 1 at 50."""
    m = Made(workers=(0, 1), nodes=2)
    a, b, c = (m.add("region", address=i << 20, bytes=1000, home=h) for i, h in enumerate((0, 0, -1)))
    m.task(0, 90, flags=1)
    m.task(10 + at, 20 + at, 0, creator=0)
    m.task(10 + at, 20 + at, 1, creator=0)
    for task in (1, 2):
        m.add("access", task=task, region=a, mode=0, bytes=1000, touched=800)
        m.add("access", task=task, region=b, mode=2, bytes=1000, touched=1000)
        m.add("access", task=task, region=c, mode=1, bytes=1000, touched=100)
    m.add("home", region=a, node=0, bytes=1000, at=5)
    m.add("home", region=a, node=1, bytes=1000, at=50)
    m.add("home", region=b, node=0, bytes=500, at=5)
    m.add("home", region=b, node=1, bytes=500, at=5)
    return m


def test_bytes_near_and_far(tmp_path):
    near, far, unknown, best, matrix = memory.bytes_by_home(data().read(tmp_path))
    assert near.tolist() == [0, 1300, 500] and far.tolist() == [0, 500, 1300] and unknown.tolist() == [0, 100, 100]
    assert best.tolist() == [-1, 0, 0] and matrix.tolist() == [[1300, 1300], [500, 500]]
    near, far, _, best, _ = memory.bytes_by_home(data(at=50).read(tmp_path))
    assert near.tolist() == [0, 500, 1300] and far.tolist() == [0, 1300, 500] and best.tolist() == [-1, 1, 1]
    t = Analysis(data().read(tmp_path)).table
    # A is 800 bytes on node 0 in full, B 500 on each node; C has no home.
    assert t.local_bytes[1:].tolist() == [1300, 500] and t.remote_bytes[1:].tolist() == [500, 1300]
    assert np.isnan(t.local_bytes[0]) and np.isnan(t.remote_bytes[0])
    assert t.ran_at_home[1:].tolist() == [1, 0] and t.home_node[1:].tolist() == [0, 0]
    assert t.footprint[1:].tolist() == [1900, 1900] and t.shared_share[1:].tolist() == [1, 1]
    assert t.read_bytes[1:].tolist() == [1800, 1800] and t.written_bytes[1:].tolist() == [1100, 1100]


def test_sharing_of_footprints(tmp_path):
    m = Made()
    a, b, c = (m.add("region", address=i << 20, bytes=s) for i, s in enumerate((100, 30, 7)))
    m.task(0, 9, flags=1)
    for regions in ((a, b), (b, c, b), (c,)):
        m.task(1, 2, creator=0)
        for region in regions:
            m.add("access", task=len(m.tables["task"]) - 1, region=region, bytes=1, touched=1)
    shared = memory.sharing(m.read(tmp_path), [1, 2, 3]).toarray()
    assert shared.tolist() == [[130, 30, 0], [30, 37, 7], [0, 7, 7]]


def test_median_of_pairs_is_that_of_all_pairs():
    rng = np.random.default_rng(7)
    group, place = rng.integers(0, 9, 200), rng.integers(-1, 6, 200)
    found = median_of_pairs(group, place, lambda x, y: np.abs(x - y).astype(float))
    for g in range(9):
        p = place[(group == g) & (place >= 0)]
        i, j = np.triu_indices(len(p), 1)
        assert found[group == g] == pytest.approx(np.median(np.abs(p[i] - p[j])))


def test_a_million_siblings():
    rng = np.random.default_rng(8)
    n = 1_000_000
    place = rng.integers(0, 64, n)
    began = time.process_time()
    found = median_of_pairs(np.zeros(n, np.int64), place, lambda x, y: np.abs(x - y).astype(float))
    assert found[0] == 19 and time.process_time() - began < 60  # 5e11 pairs would take days


def test_mem_hier_util_of_a_calibrated_recording(tmp_path):
    m = data()
    m.add("calibration", type=0, size=10, samples=2, bytes=4000, plain=10, cold=12, warm=5, hot=4)
    found = Analysis(m.read(tmp_path)).table.mem_hier_util
    assert found[1:].tolist() == pytest.approx([0.6, 0.6]) and np.isnan(found[0])  # 1900 bytes: at least 2^10


def counted():
    """A family whose third task was not counted by the processor, because other counters had their turn."""
    m = family()
    for task, instructions, cycles, misses, stalled in ((0, 600, 300, 6, 90), (1, 1000, 2000, 50, 1200), (3, 90, 100, 0, 50)):
        m.add("counts", task=task, instructions=instructions, cycles=cycles, cache_misses=misses, stalled_cycles=stalled,
              page_faults=task, context_switches=0, migrations=0, task_clock_ns=5000, enabled_ns=4000, running_ns=4000,
              load_instructions=30 + task, store_instructions=20 + task, branch_instructions=10 + task, fp_instructions=6 * task,
              vector_instructions=4 * task)
    m.tables["counts"].insert(2, {"task": 2, "page_faults": 7, "enabled_ns": 4000})
    return m


def test_counters(tmp_path):
    a = Analysis(counted().read(tmp_path))
    t = a.table

    def column(name):
        return t[name].tolist()
    unknown = pytest.approx(np.nan, nan_ok=True)
    assert column("ipc") == [2, 0.5, unknown, 0.9] and column("misses_per_instruction") == [0.01, 0.05, unknown, 0]
    assert column("mem_hier_util") == pytest.approx([0.3, 0.6, np.nan, 0.5], nan_ok=True)
    assert column("instructions") == [600, 1000, unknown, 90] and column("cycles") == [300, 2000, unknown, 100]
    assert column("cache_misses") == [6, 50, unknown, 0] and column("stalled_cycles") == [90, 1200, unknown, 50]
    assert column("context_switches") == [0, 0, unknown, 0] and column("migrations") == [0, 0, unknown, 0]
    assert column("load_instructions") == [30, 31, unknown, 33] and column("store_instructions") == [20, 21, unknown, 23]
    assert column("branch_instructions") == [10, 11, unknown, 13]
    assert column("fp_instructions") == [0, 6, unknown, 18] and column("vector_instructions") == [0, 4, unknown, 12]
    assert column("page_faults") == [0, 1, 7, 3] and t.task_clock[1] == pytest.approx(5 * US)
    found = {p.name: np.flatnonzero(which).tolist() for p, which in problems.find(a, problems.thresholds()).items()}
    assert found["memory hierarchy utilisation"] == [1]  # 0.5 is not above 0.5, and what is not known is no problem


def test_what_was_not_counted_is_no_metric(tmp_path):
    m = family()
    m.add("counts", task=1, page_faults=2, context_switches=0, task_clock_ns=5000)
    m.add("calibration", type=1, size=10, samples=2, bytes=4000, plain=10, cold=12, warm=5, hot=4)
    t = Analysis(m.read(tmp_path)).table
    assert not {"instructions", "ipc", "migrations", "misses_per_instruction"} & set(t)
    assert t.page_faults[1] == 2 and np.isnan(t.page_faults[0])
    assert "mem_hier_util" in t  # of the calibration


def test_every_metric_is_compared_with_a_value_here():
    """Of each metric a test compares a column: t.NAME, or column("NAME")."""
    texts = "\n".join(f.read_text(encoding="utf-8") for f in pathlib.Path(__file__).parent.glob("*_test.py"))
    compared = set(re.findall(r"(?:\bt\.|\.table\.|column\(\")([a-z_]+)", texts))
    assert {m.name for m in METRICS} <= compared


def test_every_metric_has_a_unit_and_a_source():
    assert len({m.name for m in METRICS}) == len(METRICS)
    for m in METRICS:
        assert m.source and m.what and m.better in ("", "higher", "lower"), m.name


def test_problems(tmp_path):
    a = Analysis(family().read(tmp_path))
    found = {p.name: np.flatnonzero(which).tolist() for p, which in problems.find(a, problems.thresholds()).items()}
    assert found["parallel benefit"] == [1, 2]
    assert found["sibling work balance"] == []  # 2 is not above 2
    assert found["instantaneous parallelism (max)"] == []
    assert "work deviation" not in found
    p = problems.Problem("long", "work >= 20e-6 and name == 'work'")
    which = problems.find(a, [p])[p]
    assert problems.sentence(p, which, a.graph.critical_tasks) == (
        "2 tasks have a problem with long (work >= 20e-6 and name == 'work'), 1 of which are on the critical path")


def test_siblings_of_different_types_need_not_have_the_same_work(tmp_path):
    """One root creates small tasks of 1 µs (one took 10), large ones of 100 µs, and a task alone in its type."""
    m = Made()
    small, large, single = (m.type(name) for name in ("small", "large", "single"))
    m.task(0, 1, flags=1, completed=1000)
    for length, type_ in ((1, small), (1, small), (1, small), (10, small), (100, large), (100, large), (400, single)):
        m.task(1, 1 + length, creator=0, created=0, type=type_)
    a = Analysis(m.read(tmp_path))
    found = {p.name: np.flatnonzero(which).tolist() for p, which in problems.find(a, problems.thresholds()).items()}
    assert found["sibling work balance"] == [4]
    t = a.table
    assert t.sibling_work_balance[1:].tolist() == pytest.approx([400 / (613 / 7)] * 7)
    assert t.sibling_work_ratio[1:].tolist() == pytest.approx([1 / 3.25] * 3 + [10 / 3.25, 1, 1, np.nan], nan_ok=True)


@pytest.mark.parametrize("text, says", [
    ("[[problem]]\nname = 1\ncondition = 'work > 1'", "both texts"), ("x = ", "x.toml"), ("", r"no \[\[problem\]\]"),
    ("[[problem]]\nname = 'a'\ncondition = 'work > 1'\nlimit = 2", "'limit' is not known")])
def test_thresholds_that_cannot_be_read(tmp_path, text, says):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(KithError, match=says):
        problems.thresholds(str(tmp_path / "x.toml"))


def test_conditions():
    columns = {"a": np.array([1.0, 2.0, np.nan]), "b": np.array(["x", "y", "z"]), "c": np.array([True, False, True])}

    def of(text):
        return holds(text, columns.__getitem__, 3).tolist()
    assert of("a > 1") == [False, True, False] and of("not a > 1") == [True, False, True]
    assert of("a != 1") == [False, True, False]  # not known: no match
    assert of("1 <= a < 2 or b == 'z'") == [True, False, True] and of("c and a * 2 - 1 == 1") == [True, False, False]
    for text in ("__import__('os').system('true')", "a.real > 1", "(lambda: 1)() > 0", "a[0] > 1", "a", "a >", "'x' > a",
                 "[x for x in a] == 1", "a ** 9 > 1", "-b == 'x'", "-c > 0", "a > -'x'", "1 / 0 > a", "a > 1" + " or a > 1" * 300, "(" * 900 + "a" + ")" * 900):
        with pytest.raises(KithError, match="condition"):
            of(text)
    for text, number in (("a > 1ms", "1ms"), ("a >= 2.5 kB and c", "2.5 kB")):
        with pytest.raises(KithError, match=f"'{number}' has a unit; numbers are in seconds and bytes"):
            of(text)
    with pytest.raises(Missing):
        of("d > 1")


def test_groups(tmp_path):
    a = Analysis(diamond().read(tmp_path))
    group, table, edges = groups(a)
    assert group.tolist() == [0, 1, 2, 3] and table["count"].tolist() == [1] * 4
    assert (edges[edges.kind == "depend"][["source", "target", "bytes"]].to_numpy() == [[1, 3, 64], [2, 3, 64]]).all()
    group, table, edges = groups(a, most=3)
    assert table["count"].sum() == 4 and len(table) <= 3
    assert table.work_s.sum() == pytest.approx(100 * US) and table.max_s.max() == pytest.approx(40 * US)


def test_groups_of_a_long_chain(tmp_path):
    m = Made()
    names = [m.type(f"t{i}") for i in range(3)]
    m.task(0, 10, flags=1)
    for i in range(1000):
        m.task(i, i + 1, creator=0, type=names[i % 3])
        if i:
            m.add("dependence", task=i + 1, before=i)
    _, table, _ = groups(Analysis(m.read(tmp_path)), most=40)
    assert 10 < len(table) <= 40 and table["count"].sum() == 1001
    _, table, _ = groups(Analysis(m.read(tmp_path)), most=2)
    assert len(table) == 2 and "others" in table["name"].tolist()


def test_contexts(tmp_path):
    m = Made()
    f = m.type("f")
    m.task(0, 10, flags=1)
    for creator in (0, 0, 1, 2, 2):
        m.task(1, 3, creator=creator, type=f)
    context, table = contexts(Analysis(m.read(tmp_path)))
    assert context.tolist() == [0, 1, 1, 2, 2, 2]
    assert table.parent.tolist() == [-1, 0, 1] and table["count"].tolist() == [1, 2, 3]
    assert table.total_s.tolist() == pytest.approx([20 * US, 10 * US, 6 * US])
