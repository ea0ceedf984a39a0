"""Recordings made by hand, for the tests in this folder. Times are whole microseconds here."""

import kith
from kith.metrics import Analysis
from kith.report.facts import Facts
from kith.writer import write


class Made:
    """A recording in the making: rows of tables, with times in microseconds."""

    def __init__(self, workers=(0, 0), nodes=1, **meta):
        distances = "/".join(",".join("10" if i == j else "20" for j in range(nodes)) for i in range(nodes))
        self.meta = {"engine": "native", "policy": "steal", "workers": len(workers), "nodes": nodes,
                     "distances": distances, "machine": "by hand", **meta}
        self.tables = {"worker": [{"node": n} for n in workers], "type": [{"name": "task"}]}

    def add(self, table, **row):
        rows = self.tables.setdefault(table, [])
        rows.append({k + "_ns" if k in _TIMES else k: v * 1000 if k in _TIMES else v for k, v in row.items()})
        return len(rows) - 1

    def task(self, begin, end, worker=0, creator=-1, scope=None, created=None, work=None, **more):
        """A task that ran from begin to end; its creation took no time unless `until` says when it ended."""
        created = begin if created is None else created
        until = more.pop("until", created)
        scope = (0 if creator < 0 else creator + 1) if scope is None else scope
        return self.add("task", creator=creator, scope=scope, worker=worker, created=created, create_until=until,
                        create=until - created, ready=max(until, more.pop("ready", until)), started=begin, ended=end,
                        completed=more.pop("completed", end), work=end - begin if work is None else work, **more)

    def wait(self, task, begin, end, scope=None, worker=0):
        return self.add("wait", task=task, scope=task + 1 if scope is None else scope, worker=worker, begun=begin,
                        ended=end)

    def type(self, name):
        return self.add("type", name=name)

    def read(self, folder):
        return kith.read(self.save(folder))

    def save(self, folder, name="made.rec"):
        path = str(folder / name)
        write(path, self.meta, self.tables)
        return path


_TIMES = ("created", "create_until", "create", "ready", "started", "ended", "completed", "work", "begun", "at",
          "released", "explore_started", "explore_ended", "plain", "cold", "warm", "hot",
          "sent", "received", "offset", "error")


def diamond():
    """A root of 40 µs of its own that creates two tasks (20 and 30 µs), waits for them, and creates a third (10 µs) that
    needs both. By hand: work 100, span 10 + 30 + 20 + 10 = 70."""
    m = Made()
    a, b = m.type("a"), m.type("b")
    m.task(0, 90, flags=1, work=40)
    m.task(20, 40, 1, creator=0, created=10, type=a)
    m.task(30, 60, 0, creator=0, created=20, type=a)
    m.task(70, 80, 1, creator=0, created=70, type=b)
    m.wait(0, 30, 60)
    m.wait(0, 80, 80)
    m.add("dependence", task=3, before=1, bytes=64)
    m.add("dependence", task=3, before=2, bytes=64)
    return m


def two_places():
    """A root at place 0 (own code 50 µs) that spawns a task at place 1 (20 µs) and waits for its acceptance, calls a second
    one there (30 µs) and waits for its result, and then for the first. By hand: work 100; the root's fragments are 10, 0, 20
    and 20, so the span is 10 + 30 (the call) + 20 + 20."""
    m = Made(workers=(0, 1), nodes=2, places=2)
    for n, host in enumerate(("here", "there")):
        m.add("place", id=n, first_worker=n, workers=1, first_node=n, nodes=1, host=host, error=2 * n)
    m.task(0, 140, flags=1, work=50)
    m.task(30, 50, 1, creator=0, created=12, until=22)
    m.task(50, 80, 1, creator=0, scope=2, created=25, until=40)
    m.wait(0, 10, 25, scope=0xFFFFFFFF)  # acceptance of task 1
    m.wait(0, 25, 90, scope=0xFFFFFFFF)  # acceptance and result of task 2
    m.wait(0, 110, 120)
    for kind, source, bytes_, sent, received, spawner, task in (
            (1, 0, 100, 12, 16, 0, 1), (2, 1, 64, 18, 22, -1, -1), (1, 0, 100, 26, 30, 0, 2), (2, 1, 64, 32, 40, -1, -1),
            (4, 1, 1000, 80, 88, 2, 0)):
        m.add("message", kind=kind, source=source, destination=1 - source, bytes=bytes_, sent=sent, received=received,
              spawner=spawner, task=task)
    return m


def facts(made, folder):
    return Facts(Analysis(made.read(folder)))


def wide(workers=4, length=100, tasks=40, **meta):
    """Tasks that keep all workers busy."""
    m = Made(workers=[0] * workers, **meta)
    m.task(0, 5, flags=1, work=5, completed=length * tasks // workers + 5)
    for i in range(tasks):
        begin = 5 + length * (i // workers)
        m.task(begin, begin + length, i % workers, creator=0, created=1)
    return m
