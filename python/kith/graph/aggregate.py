"""Groups of tasks, so that a graph of any size is a picture (thesis 3.4, aggregation and filtering).

`groups` is for graphs: tasks of one type at one level of the graph, as finely as the number of groups allows.
`contexts` is for trees: tasks that were created on the same path of types. Both accept filtered tasks.
"""

import numpy as np
import pandas as pd

from kith.graph.fragments import DEPEND

_MIX = np.uint64(0x9E3779B97F4A7C15)


def groups(analysis, keep=None, most=240):
    """(group, table, edges): the group of each task (-1: not in `keep`), a row for each group (layer, name, count,
    work_s and the least, median and greatest work of its tasks, critical: how many are on the critical path), and
    edges between groups (source, target, kind, count, bytes), kind "create" or "depend". At most `most` groups."""
    tasks = analysis.recording.tasks
    keep = np.ones(len(tasks), bool) if keep is None else keep
    chosen = np.flatnonzero(keep & tasks.ran.to_numpy())
    level = analysis.levels[chosen]
    type_ = tasks.type.to_numpy()[chosen].astype(np.int64)
    number, layer = _grouped(chosen, type_, level, analysis.siblings[chosen], most)
    if len(chosen) > most:
        number = _split(number, _positions(analysis.recording)[chosen], most)
    group = np.full(len(tasks), -1)
    group[chosen] = number
    table = _described(analysis, chosen, number, layer)
    return group, table, _edges(analysis, group)


def _grouped(chosen, type_, level, siblings, most):
    """The finest of several divisions that has at most `most` groups, and the layer of each task in it."""
    highest = int(level.max(initial=0)) + 1
    if len(chosen) <= most:
        return np.arange(len(chosen)), level
    tried = highest
    while True:
        layer = level * tried // highest
        for keys in ((layer, siblings, type_), (layer, type_)):
            number = pd.DataFrame(dict(enumerate(keys))).groupby(list(range(len(keys))), sort=True).ngroup().to_numpy()
            if number.max() < most:
                return number, layer
        if tried == 1:  # more types than groups: the types with most tasks, and the others together
            common = pd.Series(type_).value_counts().index[:most - 1]
            number = np.searchsorted(np.sort(common), type_)
            return np.where(np.isin(type_, common), number, most - 1), layer
        tried = max(1, min(tried // 2, most))


def _positions(recording):
    """The position of the data that each task writes first, from 0 to 1 in the order of addresses; for tasks without
    any, their position in the order of creation."""
    tasks = len(recording.tasks)
    found = np.arange(tasks) / max(1, tasks)
    written = recording.accesses[recording.accesses.writes].drop_duplicates("task")
    if len(written):
        rank = np.empty(len(recording.regions))
        rank[np.argsort(recording.regions.address.to_numpy(), kind="stable")] = np.arange(len(rank)) / len(rank)
        found[written.task.to_numpy()] = rank[written.region.to_numpy()]
    return found


def _split(number, position, most):
    """Groups divided by the positions of their tasks' data, into as many pieces as `most` groups in all allow: then the
    picture shows which parts of the data depend on each other."""
    pieces = most // (int(number.max()) + 1)
    if pieces < 2:
        return number
    # Equally many tasks in each piece; tasks of one position stay together.
    values, counts = np.unique(position, return_counts=True)
    before = np.cumsum(counts) - counts
    piece = (before * pieces // len(position))[np.searchsorted(values, position)]
    return np.unique(number * pieces + piece, return_inverse=True)[1]


def _described(analysis, chosen, number, layer):
    tasks = analysis.recording.tasks
    work = analysis.graph.work_s[chosen]
    frame = pd.DataFrame({"group": number, "layer": layer, "work": work, "task": chosen,
                          "critical": analysis.graph.critical_tasks[chosen],
                          "type": tasks.type.to_numpy()[chosen]})
    by = frame.groupby("group", sort=True)
    table = pd.DataFrame({"layer": by.layer.min(), "type": by.type.first(), "count": by.size(), "work_s": by.work.sum(),
                          "min_s": by.work.min(), "median_s": by.work.median(), "max_s": by.work.max(),
                          "critical": by.critical.sum(), "first_task": by.task.min()})
    several = by.type.nunique() > 1
    names = analysis.recording.types.name
    table["name"] = ["others" if more else names[t] for t, more in zip(table.type, several)]
    return table


def _edges(analysis, group):
    tasks, d = analysis.recording.tasks, analysis.recording.dependences
    creator = tasks.creator.to_numpy()
    made = np.flatnonzero(creator >= 0)
    source = np.concatenate([group[creator[made]], group[d.before.to_numpy()]])
    target = np.concatenate([group[made], group[d.task.to_numpy()]])
    kind = np.repeat(["create", "depend"], [len(made), len(d)])
    size = np.concatenate([np.zeros(len(made)), d.bytes.to_numpy().astype(float)])
    keep = (source >= 0) & (target >= 0) & (source != target)
    table = pd.DataFrame({"source": source[keep], "target": target[keep], "kind": kind[keep], "bytes": size[keep]})
    by = table.groupby(["source", "target", "kind"], sort=True)
    return pd.DataFrame({"count": by.size(), "bytes": by.bytes.sum()}).reset_index()


def contexts(analysis, keep=None):
    """(context, table): tasks that were created on the same path of types and of waits between them are one context.
    The table has its parent (-1: none), depth, type, name, count, work_s (own), total_s (with all below), and the least,
    median and greatest own work. Parents come first."""
    tasks = analysis.recording.tasks
    n = len(tasks)
    if n == 0:
        return np.zeros(0, np.int64), pd.DataFrame(columns=["parent", "depth", "type", "name", "count", "work_s",
                                                            "total_s", "min_s", "median_s", "max_s"])
    hashed = _paths(tasks)
    _, first, context = np.unique(hashed, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # creators have lower numbers, so parents come first
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    context, first = rank[context], first[order]
    creator = tasks.creator.to_numpy()[first]
    chosen = np.ones(n, bool) if keep is None else keep
    work = np.where(chosen, analysis.graph.work_s, 0.0)
    by = pd.DataFrame({"context": context[chosen], "work": work[chosen]}).groupby("context").work
    table = pd.DataFrame({"parent": np.where(creator >= 0, context[np.maximum(creator, 0)], -1),
                          "depth": analysis.depth[first], "type": tasks.type.to_numpy()[first]})
    table["name"] = analysis.recording.types.name.to_numpy()[table.type]
    table["count"] = by.size().reindex(table.index, fill_value=0)
    table["work_s"] = by.sum().reindex(table.index, fill_value=0.0)
    for name, values in (("min_s", by.min()), ("median_s", by.median()), ("max_s", by.max())):
        table[name] = values.reindex(table.index)
    total = table.work_s.to_numpy().copy()
    parent, depth = table.parent.to_numpy(), table.depth.to_numpy()
    for level in range(int(depth.max(initial=0)), 0, -1):
        rows = np.flatnonzero(depth == level)
        np.add.at(total, parent[rows], total[rows])
    table["total_s"] = total
    return context, table


def _paths(tasks):
    """A hash of the types on the path from the root to each task: a polynomial of them, by doubling (lineage.py)."""
    n = len(tasks)
    with np.errstate(over="ignore"):
        value = np.append((tasks.type.to_numpy().astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93),
                          np.uint64(0))
        value ^= value >> np.uint64(29)
        up = np.append(np.where(tasks.creator.to_numpy() < 0, n, tasks.creator.to_numpy()), n).astype(np.int64)
        power = np.append(np.full(n, _MIX), np.uint64(1))
        while (up[:n] != n).any():
            value = value[up] * power + value
            power = power[up] * power
            up = up[up]
    return value[:n]


def depend_bytes(graph):
    """The bytes that flow along all dependences of the fragment graph."""
    return float(graph.edges.bytes[graph.edges.kind == DEPEND].sum())
