"""What the page says first: what bounds the run, its losses, and whether locality matters."""

import pytest

from kith.report.verdict import bound, largest_loss, locality as sentence, losses
from made import Made, facts, wide


def test_work_bounds(tmp_path):
    f = facts(wide(), tmp_path)
    assert bound(f).startswith("Work bounds this run: 4 workers spent 99.6\u202f% of their time in tasks")
    assert "more cores would help" in bound(f)
    assert largest_loss(f) == "No loss is larger than 1\u202f% of the workers' time."


def test_the_critical_path_bounds(tmp_path):
    m = Made(workers=(0, 0, 0, 0))
    m.task(0, 1, flags=1, completed=1001)
    for i in range(10):
        m.task(1 + 100 * i, 101 + 100 * i, i % 4, creator=0, created=0, ready=1 + 100 * i)
        if i:
            m.add("dependence", task=i + 1, before=i)
    for worker in range(4):  # idle between its tasks
        own = sorted((row["started_ns"] // 1000, row["ended_ns"] // 1000) for row in m.tables["task"] if row["worker"] == worker)
        for (_, begun), (ended, _) in zip([(0, 0), *own], own):
            m.add("idle", worker=worker, begun=begun, ended=ended)
    f = facts(m, tmp_path)
    assert bound(f).startswith("The critical path bounds this run: 1\u202fms of its 1\u202fms are one chain of tasks")
    assert "idle workers" in largest_loss(f) and "the graph is too narrow for 4 workers" in largest_loss(f)


def test_too_few_ready_tasks_bound(tmp_path):
    m = wide(workers=4, tasks=8)
    m.tables["worker"] += [{"node": 0}] * 4
    for row in m.tables["task"]:
        row["ready_ns"] = row["started_ns"]
    assert bound(facts(m, tmp_path)).startswith("A lack of ready tasks bounds this run: 8 workers were idle")


def kept_from_idle_workers(folder, ready, workers=3):
    """Worker 0 runs four tasks of 100 µs, the others nothing; three of these tasks are ready at `ready`."""
    m = Made(workers=[0] * workers)
    m.task(0, 1, flags=1, completed=401)
    for i in range(4):
        m.task(1 + 100 * i, 101 + 100 * i, creator=0, created=0, ready=ready(i))
    for worker in range(1, workers):
        m.add("idle", worker=worker, begun=0, ended=401)
    return facts(m, folder)


def test_idle_time_beside_ready_tasks_is_no_lack_of_tasks(tmp_path):
    """Tasks 2 to 4 are ready at 1 µs and begin at 101, 201 and 301: beside two idle workers that is 2 + 2 + 1 times 100 µs,
    less the last 100 µs, in which none waits."""
    f = kept_from_idle_workers(tmp_path, lambda i: 1)
    assert f.idle_beside_ready_s == pytest.approx(500e-6)
    assert bound(f) == ("Ready tasks that no worker took bound this run: 3 workers were idle 66.7\u202f% of the time, and "
                        "62.3\u202f% of that while tasks were ready; tasks took 33.3\u202f%.")
    assert "tasks were ready meanwhile" in largest_loss(f) and "kith why FILE 4:" in largest_loss(f)


def test_idle_time_without_ready_tasks_is_a_lack_of_tasks(tmp_path):
    f = kept_from_idle_workers(tmp_path, lambda i: 1 + 100 * i)
    assert f.idle_beside_ready_s == 0
    assert "A lack of ready tasks bounds this run" in bound(f) and "kith why" not in largest_loss(f)


def test_ready_tasks_of_one_place_do_not_wait_for_idle_workers_of_another(tmp_path):
    m = Made(workers=(0, 0))
    m.tables["place"] = [{"first_worker": w, "workers": 1, "first_node": 0, "nodes": 1, "host": "h", "offset_ns": 0, "drift_ppb": 0,
                          "error_ns": 0} for w in range(2)]
    m.task(0, 100, flags=1)
    m.task(100, 200, creator=0, created=1)
    m.add("idle", worker=1, begun=0, ended=200)
    assert facts(m, tmp_path).idle_beside_ready_s == 0


def test_the_cost_of_tasks_bounds(tmp_path):
    m = Made(workers=(0,))
    m.task(0, 1000, flags=1, work=10)
    for i in range(90):
        m.task(100 + 10 * i, 101 + 10 * i, creator=0, created=i, until=i + 1)
    m.wait(0, 95, 1000)
    f = facts(m, tmp_path)
    assert bound(f).startswith("The cost of tasks bounds this run: 1 worker spent")
    assert largest_loss(f).startswith("The largest loss is creating and scheduling tasks") and "larger blocks" in largest_loss(f)


def test_the_largest_loss_is_what_bounds(tmp_path):
    """Idle for 40 % of the time, which is more than creating (35 %) or scheduling (20 %) alone, but not than both."""
    m = Made(workers=(0,))
    m.task(0, 100, flags=1, work=5)
    m.task(90, 90, creator=0, created=5, until=40)
    m.wait(0, 40, 100)
    m.add("idle", worker=0, begun=60, ended=100)
    f = facts(m, tmp_path)
    assert f.shares["idle"] == pytest.approx(0.4) and f.shares["creating"] == pytest.approx(0.35) and f.shares["scheduling"] == pytest.approx(0.2)
    assert bound(f).startswith("The cost of tasks bounds this run: 1 worker spent 55")
    assert "creating and scheduling tasks, 55\u202f%" in largest_loss(f) and "create fewer and larger tasks" in largest_loss(f)


def test_tasks_that_take_longer_are_a_loss(tmp_path):
    m = wide(engine="sim")
    for row in m.tables["task"][1:]:
        row["work_ns"] //= 2
    assert "The largest loss is tasks that take longer here, 49.8\u202f%" in largest_loss(facts(m, tmp_path))


def test_one_long_task_makes_the_graph_narrow(tmp_path):
    """19 of 20 tasks in a row take 10 µs, and the last one 1 ms: splitting the others would not help."""
    m = Made(workers=(0, 0, 0, 0))
    m.task(0, 1, flags=1, completed=1191)
    for i in range(20):
        m.task(1 + 10 * i, 1191 if i == 19 else 11 + 10 * i, creator=0, created=0, ready=1 + 10 * i)
        if i:
            m.add("dependence", task=i + 1, before=i)
    for worker in range(1, 4):
        m.add("idle", worker=worker, begun=0, ended=1191)
    said = largest_loss(facts(m, tmp_path))
    assert "task 20 of type task alone is 84" in said and "took 100 times the median of its type" in said
    assert "record again" in said and "split the tasks on" not in said


def test_short_tasks_of_a_simulated_run_are_as_short_as_simulated(tmp_path):
    m = Made(workers=(0,), engine="sim")
    m.task(0, 10, flags=1)
    for i in range(10):
        m.task(100 * i + 100, 100 * i + 110, creator=0, created=1, work=50)
    assert "tasks are short (10\u202fµs in the mean)" in dict((name, remedy) for name, _, remedy in losses(facts(m, tmp_path)))["creating and scheduling tasks"]


def test_locality(tmp_path):
    bad = {"why": "no replay"}
    assert sentence(facts(wide(), tmp_path), bad) == (
        "Locality between memory nodes cannot matter in this run, which had one node; no replay.")
    m = Made(workers=(0, 1), nodes=2)
    region = m.add("region", address=0, bytes=100, home=1)
    m.task(0, 9, flags=1)
    m.task(1, 2, 0, creator=0)
    assert "is not known" in sentence(facts(m, tmp_path), bad)
    m.add("access", task=1, region=region, mode=2, bytes=100, touched=100)
    assert sentence(facts(m, tmp_path), bad) == (
        "Whether locality matters is not known: 100\u202f% of the bytes came from other nodes; no replay.")

    def replayed(local, why_there=""):
        return sentence(facts(m, tmp_path), {"machine": "big", "policy": "dep", "seconds": 2.0, "local_seconds": local,
                                             "gain": 1 - local / 2, "own_machine": not why_there, "why_there": why_there})
    assert replayed(1.5, "as I say") == (
        "Locality matters here: 100\u202f% of the bytes came from other nodes; simulated on big (as I say) under dep, the program "
        "would take at most 25\u202f% less time if all its data were local (1.5\u202fs instead of 2\u202fs).")
    assert replayed(1.9).startswith("Locality matters a little: 100") and "simulated on that machine under dep" in replayed(1.9)
    for local in (1.99, 2.1):
        assert replayed(local).startswith("Locality gives nothing to gain here, although 100\u202f% of the bytes came")
        assert "would gain less than 2\u202f% if" in replayed(local) and "less time" not in replayed(local)


def test_locality_is_good_where_few_bytes_are_remote_and_nothing_is_to_gain(tmp_path):
    m = Made(workers=(0, 1), nodes=2)
    region = m.add("region", address=0, bytes=100, home=0)
    m.task(0, 9, flags=1)
    m.task(1, 2, 0, creator=0)
    m.add("access", task=1, region=region, mode=2, bytes=100, touched=100)
    found = {"machine": "big", "policy": "dep", "seconds": 2.0, "local_seconds": 2.0, "gain": 0.0, "own_machine": True, "why_there": ""}
    assert sentence(facts(m, tmp_path), found).startswith("Locality is good here: 0\u202f%")
    assert sentence(facts(m, tmp_path), found | {"gain": 0.5}).startswith("Locality matters here: 0\u202f%")
