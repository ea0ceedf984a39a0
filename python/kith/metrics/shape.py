"""Metrics of where a task stands in the graph."""

import numpy as np

from kith.metrics import metric


@metric(unit="tasks", source="MIR's tools, child count")
def children(a):
    """How many tasks it created."""
    creator = a.recording.tasks.creator.to_numpy()
    return np.bincount(creator[creator >= 0], minlength=len(creator))


@metric(unit="", source="MIR's tools, leaf task")
def leaf(a):
    """Whether it created no task."""
    return children.compute(a) == 0


@metric(unit="levels", source="MIR's tools, depth")
def depth(a):
    """How many creators are above it: 0 for a root."""
    return a.depth


@metric(unit="tasks", source="MIR's tools, sibling set")
def num_siblings(a):
    """How many tasks have the same creator and are waited for together, itself included."""
    return np.bincount(a.siblings)[a.siblings] if len(a.siblings) else a.siblings


@metric(unit="tasks", source="MIR's tools, instantaneous parallelism", better="higher")
def inst_par_median(a):
    """Median number of fragments that could run beside it, if each ran as early as the graph allows."""
    return a.parallelism["median"].to_numpy()


@metric(unit="tasks", source="MIR's tools, instantaneous parallelism", better="higher")
def inst_par_min(a):
    """The least of these numbers."""
    return a.parallelism["min"].to_numpy()


@metric(unit="tasks", source="MIR's tools, instantaneous parallelism", better="higher")
def inst_par_max(a):
    """The greatest of these numbers."""
    return a.parallelism["max"].to_numpy()


@metric(unit="", source="thesis 3.4, critical path")
def on_critical_path(a):
    """Whether some of its code is on the critical path of the fragment graph."""
    return a.graph.critical_tasks
