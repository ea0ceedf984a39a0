"""Parallelism over time: how many fragments could run at once on an unlimited number of cores (thesis 3.4,
instantaneous parallelism), and how many tasks did run."""

import numpy as np
import pandas as pd

from kith.graph.fragments import FRAGMENT

_MOST_BINS = 1_000_000
_MOST_PARTS = 20_000_000  # fragments times the bins that each overlaps
_ROUNDING = 1e-12  # of the span: sums of the same times in another order differ by less


def instantaneous(graph, width_s=None):
    """(counts, width): for each bin from the start of the graph on, the most fragments that run at one time in it if each
    runs as early as the graph allows; those that follow each other within a bin count once. The width of a bin is the
    median duration of a fragment, unless that makes too many bins."""
    first, last, width = _bins(graph, width_s)
    if len(first) == 0:
        return np.zeros(0, np.int64), 0.0
    nodes = _fragments(graph)
    begin, weight = graph.longest.distance[nodes], graph.nodes.weight_s.to_numpy()[nodes]
    # A little shorter, so that a fragment does not overlap the one that begins when it ends.
    end = begin + weight - np.minimum(10 * _ROUNDING * graph.span_s, weight / 2)
    order = np.argsort(np.concatenate([begin, end]))
    counts = np.zeros(int(last.max()) + 1, np.int64)
    bins = np.minimum(np.concatenate([first, _bin_of(end, width)]), len(counts) - 1)[order]
    running = np.cumsum(np.where(order < len(nodes), 1, -1))
    np.maximum.at(counts, bins, running)
    before = np.searchsorted(bins, np.arange(len(counts)))  # the events before each bin
    return np.maximum(counts, np.append(0, running)[before]), width


def _fragments(graph):
    return np.flatnonzero((graph.nodes.kind.to_numpy() == FRAGMENT) & (graph.nodes.weight_s.to_numpy() > 0))


def _bins(graph, width_s=None):
    """The first and the last bin of each fragment with weight, and the width of bins."""
    nodes = _fragments(graph)
    if len(nodes) == 0:
        return nodes, nodes, 0.0
    weight = graph.nodes.weight_s.to_numpy()[nodes]
    begin = graph.longest.distance[nodes]
    width = width_s or float(np.median(weight))
    width = max(width, graph.span_s / _MOST_BINS, float(weight.sum()) / _MOST_PARTS)
    first = _bin_of(begin, width)
    # A fragment that ends where a bin begins does not overlap that bin.
    last = np.maximum(np.ceil((begin + weight) / width * (1 - _ROUNDING)).astype(np.int64) - 1, first)
    return first, last, width


def _bin_of(at, width):
    return np.floor(at / width * (1 + _ROUNDING)).astype(np.int64)


def of_tasks(graph):
    """For each task the median, least and greatest instantaneous parallelism of the bins that its fragments overlap:
    columns median, min, max; NaN for tasks without work."""
    counts, width = instantaneous(graph)
    found = pd.DataFrame(np.nan, index=np.arange(len(graph.entry)), columns=["median", "min", "max"])
    if len(counts) == 0:
        return found
    first, last, _ = _bins(graph, width)
    task = graph.nodes.task.to_numpy()[_fragments(graph)].astype(np.int64)
    # Tasks of one fragment that overlap the same bins are computed once.
    alone = np.bincount(task)[task] == 1
    bins, of = np.unique(first[alone] * len(counts) + last[alone], return_inverse=True)
    several, part = np.unique(task[~alone], return_inverse=True)
    each = _spread(counts, np.append(bins // len(counts), first[~alone]), np.append(bins % len(counts), last[~alone]),
                   np.append(np.arange(len(bins)), len(bins) + part))
    found.loc[task[alone]] = each[of]
    found.loc[several] = each[len(bins):]
    return found


def _spread(counts, first, last, group):
    """The median, least and greatest of the counts from `first` to `last`, of each group: a row for each."""
    parts = last - first + 1
    offset = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    value = counts[np.repeat(first, parts) + offset]
    most = int(counts.max()) + 1
    both = np.sort(np.repeat(group, parts) * most + value)  # one key: faster than by two
    group, value = both // most, both % most
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(begins[1:], len(group))
    middle = (value[(begins + ends - 1) // 2] + value[(begins + ends) // 2]) / 2
    return np.column_stack([middle, value[begins], value[ends - 1]])


def actual(states, begin_s, end_s, bins=400):
    """The mean number of workers in each state, over equal bins of the run: a table of bins with `at_s` and a column
    for each state. `states` as from kith.states."""
    bins = max(1, bins)
    width = (end_s - begin_s) / bins if end_s > begin_s else 1.0
    table = {"at_s": begin_s + width * np.arange(bins)}
    for name, rows in states.groupby("state", observed=True):
        table[name] = coverage(rows.begun_s.to_numpy(), rows.ended_s.to_numpy(), begin_s, width, bins) / width
    return pd.DataFrame(table)


def coverage(begun, ended, begin_s, width, bins, group=None, groups=1):
    """The seconds of intervals in each bin; with `group`, a row for each group. Cost: the number of intervals, however
    many bins each covers."""
    group = np.zeros(len(begun), np.int64) if group is None else group
    a, b = np.clip((begun - begin_s) / width, 0, bins), np.clip((ended - begin_s) / width, 0, bins)
    i, j = np.minimum(a.astype(np.int64), bins - 1), np.minimum(b.astype(np.int64), bins - 1)
    size = groups * (bins + 1)
    row = group * (bins + 1)
    same = i == j
    part = np.zeros(size)
    part += np.bincount((row + i)[same], (b - a)[same], size)
    part += np.bincount((row + i)[~same], (i + 1 - a)[~same], size)
    part += np.bincount((row + j)[~same], (b - j)[~same], size)
    # Whole bins between the first and the last.
    change = np.bincount((row + i + 1)[~same], minlength=size).astype(float)
    change -= np.bincount((row + j)[~same], minlength=size)
    whole = np.cumsum(change.reshape(groups, bins + 1), axis=1)
    found = (part.reshape(groups, bins + 1) + whole)[:, :bins] * width
    return found[0] if groups == 1 else found
