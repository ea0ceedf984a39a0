"""The connections between some tasks of a run when the others are left out (MIR's characterisation, filtering): the
nearest creator that is kept, and dependences along paths through tasks that are not."""

import dataclasses

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from kith.errors import KithError
from kith.graph.paths import ordered

MOST_KEPT = 5000  # tasks for which the paths between them are found
MOST_BITS = 5_000_000_000  # tasks that are kept, times those that are not


def nearest_creators(creator, keep):
    """The nearest creator above each task for which `keep` holds; -1: none. Cost: log(depth) passes over the tasks."""
    n = len(creator)
    up = np.append(np.where(creator < 0, n, creator), n).astype(np.int64)
    stop = np.append(keep, True)
    while not stop[up].all():  # each pass doubles the steps
        up = np.where(stop[up], up, up[up])
    return np.where(up[:n] == n, -1, up[:n])


def paths_through(recording, keep):
    """(before, task) of pairs of kept tasks that a path of dependences and creations joins, with at least one dependence, and
    between the two only tasks that are not kept. Left out are those that follow from other edges: dependences, creations and
    such paths. None if there are too many tasks, or they lie in a cycle."""
    t, d = recording.tasks, recording.dependences
    source, target = d.before.to_numpy().astype(np.int64), d.task.to_numpy().astype(np.int64)
    # A node that an exploration named comes before the one that named it.
    made = np.where(t.keyed.to_numpy(), -1, t.creator.to_numpy()).astype(np.int64)
    child = np.flatnonzero(made >= 0)
    every = np.append(source, made[child]), np.append(target, child)
    if not _between(len(t), *every, keep):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    kept = np.flatnonzero(keep)
    if len(kept) > MOST_KEPT or len(kept) * (len(t) - len(kept)) > MOST_BITS:
        return None
    try:
        order = ordered(len(t), *every).node.tolist()
    except KithError:
        return None
    return _paths(order, keep, made.tolist(), nearest_creators(made, keep).tolist(), _lists(source, target, len(t)), kept)


def _between(tasks, source, target, keep):
    """Whether tasks that are left out, and have edges with each other, have an edge from a kept task and one to a kept task."""
    inner = ~keep[source] & ~keep[target]
    edges = csr_matrix((np.ones(inner.sum(), np.int8), (source[inner], target[inner])), shape=(tasks, tasks))
    label = connected_components(edges, directed=False)[1]
    entered = np.zeros(tasks, bool)
    entered[label[target[keep[source] & ~keep[target]]]] = True
    return entered[label[source[~keep[source] & keep[target]]]].any()


def _lists(source, target, tasks):
    order = np.argsort(target, kind="stable")
    first = np.searchsorted(target[order], np.arange(tasks + 1)).tolist()
    ordered_source = source[order].tolist()
    return [ordered_source[a:b] for a, b in zip(first, first[1:])]


def _paths(order, keep, made, above, before, kept):
    """The pairs. Sets of kept tasks are whole numbers with a bit for each."""
    bit = [0] * len(keep)
    for i, task in enumerate(kept.tolist()):
        bit[task] = 1 << i
    keep = keep.tolist()
    reach = [0] * len(keep)  # of a task that is not kept: whence paths come; of a kept one: all kept tasks before it
    found = []
    for task in order:
        direct = paths = 0
        for p in before[task]:
            if keep[p]:
                direct |= bit[p]
            else:
                paths |= reach[p] | (bit[above[p]] if above[p] >= 0 and above[p] != above[task] else 0)
        if made[task] >= 0 and not keep[made[task]]:
            paths |= reach[made[task]]
        if not keep[task]:
            reach[task] = direct | paths
            continue
        direct |= bit[above[task]] if above[task] >= 0 else 0
        implied = 0
        for i in _bits(direct | paths):
            implied |= reach[kept[i]]
        found += [(int(kept[i]), task) for i in _bits(paths & ~direct & ~implied)]
        reach[task] = direct | paths | implied
    return tuple(np.array(c, np.int64) for c in zip(*found)) if found else (np.zeros(0, np.int64), np.zeros(0, np.int64))


def _bits(number):
    """The numbers of the bits that are set."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def with_paths(recording, keep, part):
    """`part`, the kept tasks of the recording (kith.window), with the paths between them as dependences of 0 bytes. The
    dependences get a further column `through`, which is true for these. A note says if the paths are missing."""
    pairs = paths_through(recording, keep)
    table = part.dependences.assign(through=False)
    if pairs is None:
        note = (f"dependences through tasks that the filter leaves out are not shown: they are found for at most {MOST_KEPT} tasks, "
                "of a graph without cycles")
        return dataclasses.replace(part, dependences=table, notes=[*part.notes, note])
    number = np.full(len(keep), -1)
    number[keep] = np.arange(keep.sum())
    paths = pd.DataFrame({"task": number[pairs[1]], "before": number[pairs[0]], "bytes": np.zeros(len(pairs[0]), np.int64), "through": True})
    both = pd.concat([table, paths]) if len(table) else paths
    return dataclasses.replace(part, dependences=both.sort_values("task", kind="stable").reset_index(drop=True))
