"""What differs between two recordings, and why (the verb compare).

A run's makespan is the mean over its workers of the seconds that they spent in each state, so the difference of two
makespans is the sum of the differences of these means. Time in tasks is divided by types, and there into a part because
of more or fewer tasks and a part because tasks take longer; idle time into what the critical path asks for, what passed
beside ready tasks, and the rest.
"""

import numpy as np

from kith import lineage
from kith.metrics import Analysis
from kith.recording import DRY
from kith.report.facts import Facts
from kith.units import percent

CLOCK = 1e-9  # the resolution of recorded times, s: a cause that is less in both runs is not shown
NOISE = 0.02  # of the time: two runs of one program that differ by no more are alike
CHANCE = 0.1  # of the time: two runs of one program on a machine that others use may differ as much
_TYPES = 12  # by name; the others are one cause
# Policies that are steal where all workers are on one node, unless options say otherwise (docs/placement.md).
_STEAL_ON_ONE_NODE = {"steal", "auto", "socket", "dep", "rip-dep", "rip-mw", "numa"}
_OVERHEADS = (("scheduling", "scheduling: queues, ends of tasks, switching, and the recorder"), ("creating", "creating tasks"),
              ("partitioning", "partitioning windows of tasks"), ("exploring", "exploring keyed graphs"))


def compare(a, b):
    """{"makespan_s", "causes", "types", "facts", "warnings", "notes"} of two Analyses: what `kith compare --json` prints. A
    cause's a and b are seconds of the makespans (of one worker, in the mean), its share is of the difference; the shares sum
    to 1 (to 0, if the makespans are equal). Warnings say what the figures cannot mean, notes what is not known; where the
    runs cannot be compared, a warning says why, and there are no causes. 10^6 tasks in each: 40 s, nearly all of it for
    reading and the graphs."""
    return between(Facts(a), Facts(b))


def between(f, g):
    """compare() of the Facts of two runs."""
    times = [f.makespan_s, g.makespan_s]
    incomparable = _incomparable(f, g)
    found = {"makespan_s": times, "causes": [] if incomparable else _causes(f, g, times), "types": _types(f, g), "facts": _facts(f, g)}
    return found | {"warnings": incomparable + _warnings(f, g, times), "notes": _notes(f, g)}


def alike(times):
    """Whether two runs take the same time, so that nothing has to be explained."""
    return abs(times[1] - times[0]) <= NOISE * max(times)


def _causes(f, g, times):
    apart = times[1] - times[0]
    rows = _tasks(f, g) + _idle(f, g)
    rows += [(what, *(h.seconds[state].sum() / max(1, h.workers) for h in (f, g))) for state, what in _OVERHEADS]
    rows = [(what, round(float(x), 12), round(float(y), 12)) for what, x, y in rows]  # clocks are no finer
    rows = [r for r in rows if r[1] or r[2]]
    rest = [t - sum(r[i] for r in rows) for i, t in ((1, times[0]), (2, times[1]))]
    rows.append(("the rest", *rest))
    causes = [{"what": what, "a": float(x), "b": float(y), "share": float((y - x) / apart) if apart else 0.0} for what, x, y in rows]
    causes[:-1] = sorted(causes[:-1], key=lambda c: -abs(c["b"] - c["a"]))
    return causes


def _by_type(f):
    """{name: (tasks that ran, seconds of their code on workers' timelines)}"""
    t, s = f.recording.tasks, f.analysis.states
    working = (s.state == "working").to_numpy() & (s.task.to_numpy() >= 0)
    type_ = t.type.to_numpy()
    kinds = len(t["name"].cat.categories)
    spent = np.bincount(type_[s.task.to_numpy()[working]], (s.ended_s - s.begun_s).to_numpy()[working], kinds)
    count = np.bincount(type_[t.ran.to_numpy()], minlength=kinds)
    return {str(name): (int(count[i]), float(spent[i])) for i, name in enumerate(t["name"].cat.categories) if count[i]}


def _tasks(f, g):
    """Time in tasks: of each type, by the number of tasks and by the time of one. The latter's part is the difference of the
    two mean times, times the mean of the two numbers, which favours neither run. With different numbers of workers, each of
    these parts is over the mean of both, and what remains is the part of all types that other workers made."""
    x, y = _by_type(f), _by_type(g)
    w = max(1, f.workers), max(1, g.workers)
    names = sorted({*x, *y}, key=lambda n: -abs(y.get(n, (0, 0))[1] / w[1] - x.get(n, (0, 0))[1] / w[0]))
    of_one, spread = (1 / w[0] + 1 / w[1]) / 2, 0.0
    rows, others = [], [0.0, 0.0]
    for i, name in enumerate(names):
        (n, spent), (m, took) = x.get(name, (0, 0.0)), y.get(name, (0, 0.0))
        each = spent / w[0], took / w[1]
        if i >= _TYPES:
            others = [others[0] + each[0], others[1] + each[1]]
        elif n and m:
            longer = (took / m - spent / n) * (n + m) / 2 * of_one
            more = (m - n) * (took / m + spent / n) / 2 * of_one
            spread += each[1] - each[0] - longer - more
            if n == m:
                rows.append((f"{name}: time of a task", each[0], each[0] + longer))
            else:
                rows.append((f"{name}: number of tasks", each[0], each[0] + more))
                rows.append((f"{name}: time of a task", 0.0, longer))
        else:
            rows.append((f"{name}: only in one run", *each))
    if w[0] != w[1]:
        rows.append((f"the same work by {w[1]} workers instead of {w[0]}", 0.0, spread))
    if len(names) > _TYPES:
        rows.append((f"{len(names) - _TYPES} other types of tasks", *others))
    return rows


def _idle(f, g):
    """Idle time: the part that the critical path makes inevitable on that many workers, the part beside ready tasks,
    and the rest."""
    parts = []
    for h in (f, g):
        workers = max(1, h.workers)
        idle = h.seconds["idle"].sum() / workers
        inevitable = min(idle, max(0.0, h.graph.span_s - h.graph.total_s / workers))
        beside = min(idle - inevitable, h.idle_beside_ready_s / workers)
        parts.append((inevitable, beside, idle - inevitable - beside))
    return [(f"idle: {what}", *both) for what, *both in zip(("the critical path is longer than a worker's share of the work",
                                                             "tasks were ready, and no idle worker took them",
                                                             "no task was ready, although the graph has more"), *parts)]


def _types(f, g):
    tables = [_by_type(h) for h in (f, g)]
    works = []
    for h in (f, g):
        t = h.recording.tasks
        ran = t.ran.to_numpy()
        sums = np.bincount(t.type.to_numpy()[ran], h.graph.work_s[ran], len(t["name"].cat.categories))
        works.append({str(n): float(s) for n, s in zip(t["name"].cat.categories, sums)})
    names = sorted({n for t in tables for n in t}, key=lambda n: -max(w.get(n, 0.0) for w in works))
    return [{"name": n, "count": [t.get(n, (0, 0))[0] for t in tables],
             "mean_s": [w.get(n, 0.0) / t[n][0] if n in t else 0.0 for t, w in zip(tables, works)]} for n in names]


def _facts(f, g):
    """Numbers of both runs that are not parts of the makespan."""
    found = {"workers": [h.workers for h in (f, g)], "engine": [h.recording.engine for h in (f, g)],
             "policy": [h.recording.policy for h in (f, g)], "tasks": [len(h.recording.tasks) for h in (f, g)],
             "work_s": [h.graph.total_s for h in (f, g)], "span_s": [h.graph.span_s for h in (f, g)],
             "steals": [len(h.recording.steals) for h in (f, g)]}
    found["remote_share"] = [h.remote_share if h.knows_homes else None for h in (f, g)]
    return found


def _incomparable(f, g):
    """Why the difference of the two times has no causes, in sentences."""
    found = [f"{h.recording.path}: {DRY}" for h in (f, g) if h.only_declared]
    names = [set(h.recording.tasks["name"][h.recording.tasks.ran & ~h.recording.tasks.root]) for h in (f, g)]
    if all(names) and not names[0] & names[1]:
        found.append("the runs have no type of task in common: they are of different programs, so their times are not compared")
    return found


def _warnings(f, g, times):
    found = []
    same = lineage.in_common(f.recording.tasks, g.recording.tasks)
    if same < lineage.LEAST_IN_COMMON:
        found.append(f"only {percent(same)} of the tasks are in both runs: they look like runs of different programs, or of very "
                     "different inputs")
    policies = [h.recording.policy for h in (f, g)]
    if policies[0] != policies[1] and set(policies) <= _STEAL_ON_ONE_NODE and all(h.recording.workers.node.nunique() == 1 for h in (f, g)):
        found.append(f"all workers are on one memory node, where {policies[0]} and {policies[1]} both are steal: the policy is not what "
                     "differs")
    if f.workers != g.workers:
        found.append("the runs have different numbers of workers: causes are the means over the workers of each")
    if not alike(times) and abs(times[1] - times[0]) <= CHANCE * max(times) and "native" in (f.recording.engine, g.recording.engine):
        found.append(f"two runs of one program may differ by chance by {percent(CHANCE)}, which is more than these do: record both "
                     "several times before you trust a cause")
    return found


def _notes(f, g):
    notes = [f"{h.recording.path}: {n}" for h in (f, g) for n in h.analysis.notes if n != DRY]
    if not (f.knows_homes and g.knows_homes):
        notes.append("remote access: not in both recordings, so it is not compared")
    return notes


def of_files(paths, progress=None):
    from kith.recording import read

    return compare(*(Analysis(read(p, progress), progress=progress) for p in paths))
