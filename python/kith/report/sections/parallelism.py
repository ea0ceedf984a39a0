"""Parallelism over time: what workers did, and how many tasks could have run."""

import numpy as np

from kith.graph.parallelism import actual, instantaneous
from kith.report import charts
from kith.states import STATES
from kith.units import count, percent, rounded, seconds

BINS = 300


def values(f):
    if f.makespan_s <= 0 or f.graph.total_s <= 0:
        return None
    f.progress("computing parallelism")
    table = actual(f.analysis.states, f.begin_s, f.begin_s + f.makespan_s, BINS)
    shown = [s for s in ("working", "exploring", "partitioning", "creating", "scheduling") if s in table]
    counts, width = instantaneous(f.graph)
    possible = _resampled(counts, BINS)
    top = max(float(possible.max(initial=0)), f.workers) * 1.02
    return {"actual": charts.areas([("s-" + s, table[s].to_numpy()) for s in shown], f.workers,
                                   "Workers in each state over the time of the run"),
            "legend": charts.legend([("s-" + s, s) for s in shown] + [("s-idle", "idle (above)")]),
            "did": not f.only_declared, "workers": f.workers, "makespan": seconds(f.makespan_s),
            "possible": charts.areas([("possible", possible)], top, "How many fragments could run at once, over the span",
                                     [("cores", f.workers), ("average", f.graph.parallelism)]),
            "possible_legend": charts.legend([("possible", "fragments that could run at once"),
                                              ("l-cores", f"workers: {f.workers}"),
                                              ("l-average", f"work over span: {rounded(f.graph.parallelism)}")]),
            "top": count(round(top / 1.02)), "span": seconds(f.graph.span_s), "bin": seconds(width),
            "below": percent(_share_below(counts, f.workers))}


def _resampled(counts, bins):
    """The greatest count of each of `bins` equal pieces."""
    if len(counts) <= bins:
        return counts.astype(float)
    edges = np.linspace(0, len(counts), bins + 1).astype(int)[:-1]
    return np.maximum.reduceat(counts, edges).astype(float)


def _share_below(counts, workers):
    return float((counts < workers).mean()) if len(counts) else 0.0


assert set(STATES) >= {"working", "idle"}
