"""The characteristics of a recorded program: numbers of its graph, and numbers of its tasks. Those that depend on the
machine or the policy (which worker ran what) are left out: the study is about programs."""

from dataclasses import dataclass

import numpy as np

from kith.graph.parallelism import instantaneous
from kith.metrics.memory import sharing

SAMPLE = 2000  # tasks whose footprints are compared
_SEED = 1


@dataclass(frozen=True)
class Feature:
    name: str
    kind: str  # "graph" or "tasks"
    what: str
    compute: object


def _log(value):
    """The decimal logarithm; of 0 and less, that of the smallest time that is measured."""
    return float(np.log10(max(float(value), 1e-9)))


def _code(a):
    """The tasks that have code of their own: those that ran, but roots."""
    t = a.recording.tasks
    own = (t.ran & ~t.root).to_numpy()
    return own if own.any() else t.ran.to_numpy()


def _median(values):
    values = np.asarray(values, float)
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else 0.0


def _out_degrees(a):
    children = a.table.children.to_numpy()
    return children[children > 0] if (children > 0).any() else np.zeros(1)


def _footprints(a):
    return a.table.footprint.to_numpy()[_code(a)]


def _shared(a):
    """The median of the bytes that two tasks share over the smaller footprint, of pairs of a sample that share any."""
    own = np.flatnonzero(_code(a) & (a.table.footprint.to_numpy() > 0))
    if len(own) < 2:
        return 0.0
    if len(own) > SAMPLE:
        own = np.sort(np.random.default_rng(_SEED).choice(own, SAMPLE, replace=False))
    matrix = sharing(a.recording, own).tocoo()
    size = np.zeros(len(own))
    size[matrix.row[matrix.row == matrix.col]] = matrix.data[matrix.row == matrix.col]
    pair = (matrix.row < matrix.col) & (matrix.data > 0)
    return _median(matrix.data[pair] / np.minimum(size[matrix.row[pair]], size[matrix.col[pair]]))


def _intensity(a):
    work, size = a.graph.work_s[_code(a)], _footprints(a)
    median = _median(work[size > 0] / size[size > 0])
    return float(np.log10(median)) if median > 0 else float("nan")


def _reads_and_writes(a):
    read, written = a.table.read_bytes.to_numpy().sum(), a.table.written_bytes.to_numpy().sum()
    return read / (read + written) if read + written > 0 else 0.5


def _variation(a):
    low, median, high = np.percentile(a.graph.work_s[_code(a)], (10, 50, 90))
    return float((high - low) / median) if median > 0 else 0.0


# A line is a feature: its name, kind, text and how it is computed from an Analysis.
FEATURES = (
    Feature("tasks", "graph", "log10 of the number of tasks", lambda a: _log(len(a.recording.tasks))),
    Feature("work", "graph", "log10 of the work in seconds", lambda a: _log(a.graph.total_s)),
    Feature("span", "graph", "log10 of the span in seconds", lambda a: _log(a.graph.span_s)),
    Feature("parallelism", "graph", "log10 of work over span", lambda a: _log(a.graph.parallelism)),
    Feature("widest", "graph", "log10 of the greatest instantaneous parallelism",
            lambda a: _log(instantaneous(a.graph)[0].max(initial=1))),
    Feature("width", "graph", "log10 of the median instantaneous parallelism",
            lambda a: _log(max(1.0, _median(instantaneous(a.graph)[0])))),
    Feature("depth", "graph", "log10 of the most steps of the reduced graph in a row",
            lambda a: _log(max(1, a.reduced.longest.depth.max(initial=1)))),
    Feature("nesting", "graph", "levels of creation", lambda a: float(a.depth.max(initial=0))),
    Feature("leaves", "graph", "share of tasks that create none", lambda a: float(a.table.leaf.mean()) if len(a.table) else 0.0),
    Feature("children", "graph", "log10 of the median number of tasks of a task that creates any",
            lambda a: _log(max(1.0, _median(_out_degrees(a))))),
    Feature("most_children", "graph", "log10 of the greatest number of tasks of a task",
            lambda a: _log(max(1, _out_degrees(a).max()))),
    Feature("dependences", "graph", "dependences for each task", lambda a: len(a.recording.dependences) / max(1, len(a.recording.tasks))),
    Feature("granularity", "tasks", "log10 of the median work of a task in seconds",
            lambda a: _log(_median(a.graph.work_s[_code(a)]))),
    Feature("variation", "tasks", "range of the tasks' work without the longest and the shortest tenth, over its median", _variation),
    Feature("footprint", "tasks", "log10 of the median bytes that a task uses", lambda a: _log(max(1.0, _median(_footprints(a))))),
    Feature("large_footprint", "tasks", "log10 of the bytes that the largest tenth of the tasks uses at least",
            lambda a: _log(max(1.0, float(np.percentile(_footprints(a), 90)) if len(_footprints(a)) else 1.0))),
    Feature("intensity", "tasks", "log10 of the median seconds of work for a byte used", _intensity),
    Feature("reads", "tasks", "share of reads among the bytes that are read and written", _reads_and_writes),
    Feature("sharing", "tasks", "median share of the smaller footprint that two tasks share, if they share any", _shared),
    Feature("shared", "tasks", "median share of a task's bytes that other tasks use as well",
            lambda a: _median(a.table.shared_share.to_numpy()[_code(a)])),
    Feature("balance", "tasks", "log10 of the median of the greatest work among siblings over their mean",
            lambda a: _log(max(1.0, _median(a.table.sibling_work_balance)))),
    Feature("benefit", "tasks", "log10 of the median parallel benefit", lambda a: _log(_median(a.table.parallel_benefit))),
)


def features_of(analysis):
    """The features of a recording, in the order of FEATURES; NaN where one does not apply, as work for a byte does not to a
    program whose tasks name no data."""
    return np.array([f.compute(analysis) for f in FEATURES], float)
