"""Metrics of the time that a task took, and that it cost to have it as a task."""

import numpy as np
import pandas as pd

from kith import lineage, states
from kith.metrics import metric

_PAIRS_AT_ONCE = 4_000_000


@metric(unit="s", source="MIR's tools, work")
def work(a):
    """Time of its own code: without creating, waiting, and tasks that ran on top of it."""
    return a.graph.work_s


@metric(unit="s", source="MIR's tools, creation cost", better="lower")
def creation(a):
    """How long its creation took its creator."""
    return a.recording.tasks.create_s.to_numpy()


@metric(unit="s", source="MIR's tools, synchronisation cost per child", better="lower")
def sync_per_child(a):
    """What the waits of its creator cost beyond tasks and idle time, divided by the number of the creator's tasks."""
    r = a.recording
    spent = states.of_waits(r, a.states)
    task = r.waits.task.to_numpy()
    known = task >= 0
    of_task = np.bincount(task[known], spent[known], len(r.tasks)) if len(task) else np.zeros(len(r.tasks))
    creator = r.tasks.creator.to_numpy()
    count = np.bincount(creator[creator >= 0], minlength=len(creator))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(creator >= 0, (of_task / count)[np.maximum(creator, 0)], 0.0)


@metric(unit="s", source="MIR's tools, thread states", better="lower")
def waited(a):
    """From when it was ready to its start."""
    t = a.recording.tasks
    return np.where(t.ran, np.maximum(t.started_s - t.ready_s, 0.0), np.nan)


@metric(unit="", source="MIR's tools, parallel benefit", better="higher")
def parallel_benefit(a):
    """Its work over what it costs its creator: creation, and its share of the waits. Below 1, calling it as a function
    would be faster."""
    cost = creation.compute(a) + sync_per_child.compute(a)
    ran = a.recording.tasks.ran.to_numpy() & (a.recording.tasks.creator.to_numpy() >= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(ran & (cost > 0), work.compute(a) / cost, np.nan)


@metric(unit="", source="MIR's tools, work deviation", better="lower")
def work_deviation(a):
    """Its work over that of the same task (by lineage) in the reference run; in a simulated run without a reference,
    over its recorded work (of a dry recording: the computing that it declared). Above 1, the task's code took longer here."""
    mine = a.graph.work_s
    if a.reference is None:
        if a.recording.engine != "sim":
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            recorded = a.recording.tasks.work_s.to_numpy()
            return np.where(recorded > 0, mine / recorded, np.nan)
    found = lineage.of_same(a.recording.tasks, a.reference.recording.tasks, a.reference.graph.work_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(found > 0, mine / found, np.nan)


@metric(unit="", source="MIR's tools, load balance", better="lower")
def sibling_work_balance(a):
    """The greatest work of its siblings over their mean work; 1 is perfect. NaN for a task without siblings."""
    own, count = work.compute(a), np.bincount(a.siblings)
    if len(own) == 0:
        return own
    mean = np.bincount(a.siblings, own) / count
    most = np.zeros(len(count))
    np.maximum.at(most, a.siblings, own)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((count > 1) & (mean > 0), most / mean, np.nan)[a.siblings]


@metric(unit="", source="as load balance, of one type", better="lower")
def sibling_work_ratio(a):
    """Its work over the mean work of those of its siblings that are of its type, itself included. NaN for a task without
    any."""
    own, type_ = work.compute(a), a.recording.tasks.type.to_numpy().astype(np.int64)
    if len(own) == 0:
        return own
    _, alike = np.unique(a.siblings.astype(np.int64) * (type_.max() + 1) + type_, return_inverse=True)
    count = np.bincount(alike)
    mean = np.bincount(alike, own) / count
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((count > 1) & (mean > 0), 1 / mean, np.nan)[alike] * own


@metric(unit="workers", source="MIR's tools, scatter", better="lower")
def sibling_scatter(a):
    """The median of the differences between the numbers of the workers of all pairs of its siblings."""
    worker = a.recording.tasks.worker.to_numpy().astype(np.int64)
    return median_of_pairs(a.siblings, worker, lambda x, y: np.abs(x - y).astype(float))


@metric(unit="distance", source="as scatter, with the machine's distances", better="lower")
def sibling_numa_scatter(a):
    """The median distance between the memory nodes of all pairs of its siblings, as the machine gives distances (10:
    the same node)."""
    distances = a.recording.machine["distances"]
    if distances is None or len(distances) < 2:
        return None
    node = a.recording.tasks.node.to_numpy().astype(np.int64)
    return median_of_pairs(a.siblings, node, lambda x, y: distances[x, y])


def median_of_pairs(group, place, distance):
    """For each task the median of distance(place, place) over all pairs of tasks of its group that have a place (>= 0);
    NaN where there are less than two. Tasks at one place are counted, not paired, so the cost is the number of tasks
    plus, for each group, the square of the number of places that it uses."""
    if len(group) == 0:
        return np.zeros(0)
    known = place >= 0
    counted = pd.DataFrame({"group": group[known], "place": place[known]}).value_counts(sort=False)
    groups = counted.index.get_level_values(0).to_numpy()
    places, count = counted.index.get_level_values(1).to_numpy(), counted.to_numpy().astype(float)
    order = np.lexsort((places, groups))
    groups, places, count = groups[order], places[order], count[order]
    begins = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.diff(np.append(begins, len(groups)))
    median = np.full(int(group.max()) + 1, np.nan)
    squares = np.cumsum(sizes.astype(np.int64) ** 2)
    at = 0
    while at < len(begins):  # as many groups at a time as have pairs that fit into memory
        until = max(at + 1, int(np.searchsorted(squares, (squares[at - 1] if at else 0) + _PAIRS_AT_ONCE, "right")))
        rows = slice(begins[at], begins[until] if until < len(begins) else len(groups))
        median[groups[begins[at:until]]] = _medians(places[rows], count[rows], sizes[at:until], distance)
        at = until
    return median[group]


def _medians(place, count, sizes, distance):
    """The medians of groups, whose places and counts stand one after the other."""
    begins = np.cumsum(sizes) - sizes
    left = np.repeat(np.arange(len(place)), np.repeat(sizes, sizes))
    offset = np.arange(len(left)) - np.repeat(np.cumsum(sizes ** 2) - sizes ** 2, sizes ** 2)
    group = np.repeat(np.arange(len(sizes)), sizes ** 2)
    right = begins[group] + offset % sizes[group]
    half = left <= right
    left, right, group = left[half], right[half], group[half]
    pairs = np.where(left == right, count[left] * (count[left] - 1) / 2, count[left] * count[right])
    apart = distance(place[left], place[right])
    order = np.lexsort((apart, group))
    apart, pairs, group = apart[order], pairs[order], group[order]
    total = np.bincount(group, pairs, len(sizes))
    upto = np.cumsum(pairs) - np.repeat(np.cumsum(total) - total, np.bincount(group, minlength=len(sizes)))
    found = np.full(len(sizes), np.nan)
    # The two middle pairs, of which there are `total`: numbers floor((n - 1) / 2) and floor(n / 2), from 0.
    key = group + upto / (total[group] + 1)
    middle = []
    for number in ((total - 1) // 2, total // 2):
        row = np.searchsorted(key, np.arange(len(sizes)) + (number + 0.5) / (total + 1))
        middle.append(apart[np.minimum(row, len(apart) - 1)])
    some = total > 0
    found[some] = ((middle[0] + middle[1]) / 2)[some]
    return found


@metric(unit="", source="MIR's tools, last to finish")
def last_to_finish(a):
    """Whether it is the task that ended last on its worker."""
    t = a.recording.tasks
    done = t[t.finished]
    found = np.zeros(len(t), bool)
    found[done.groupby("worker").ended_s.idxmax().to_numpy()] = True
    return found
