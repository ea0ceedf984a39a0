"""Numbers that several sections of the report use, computed once."""

from functools import cached_property

import numpy as np
import pandas as pd

from kith import problems, states
from kith.metrics import Analysis

COLOURS = 9  # of task types; the others share one


class Facts:
    """An Analysis, and the numbers that sections share. `thresholds` names a file of limits, or is None."""

    def __init__(self, analysis: Analysis, thresholds=None):
        self.analysis, self.recording, self.graph = analysis, analysis.recording, analysis.graph
        self.progress = analysis.progress
        self.thresholds = problems.thresholds(thresholds)

    def restricted_to(self, selection):
        """The Facts of some tasks of this run (kith.select), with the colours that types have here."""
        part = Facts(selection)
        part.thresholds, part.colour_of_type = self.thresholds, self.colour_of_type
        return part

    @cached_property
    def begin_s(self):
        return self.recording.begin_s

    @cached_property
    def makespan_s(self):
        return self.recording.makespan_s

    @property
    def only_declared(self):
        return self.recording.only_declared

    @cached_property
    def workers(self):
        return len(self.recording.workers)

    @cached_property
    def seconds(self):
        """By worker (rows) and state (columns)."""
        return states.by_worker(self.analysis.states, self.workers)

    @cached_property
    def shares(self):
        """Of the time of all workers, by state."""
        total = self.seconds.to_numpy().sum()
        return (self.seconds.sum() / total if total > 0 else self.seconds.sum()).to_dict()

    @cached_property
    def idle_beside_ready_s(self):
        """Of the idle seconds of all workers, those in which a ready task waited for one."""
        return states.idle_beside_ready(self.recording, self.analysis.states)

    @cached_property
    def used_workers(self):
        return int((self.seconds.working > 0).sum())

    @cached_property
    def problems(self):
        """{Problem: truth values of tasks}."""
        self.progress("looking for problems")
        return problems.tasks_by_problem(self.analysis, self.thresholds)

    @cached_property
    def type_order(self):
        """The numbers of the types that have tasks, by the time of their tasks' code."""
        t = self.recording.tasks
        ran = t.ran.to_numpy()
        work = np.bincount(t.type.to_numpy()[ran], self.graph.work_s[ran], len(self.recording.types))
        used = np.bincount(t.type.to_numpy()[ran], minlength=len(work)) > 0
        return [int(i) for i in np.argsort(-work, kind="stable") if used[i]]

    @cached_property
    def colour_of_type(self):
        """Of each type: 0 to COLOURS - 1 for those with most work, COLOURS for the others."""
        found = np.full(max(1, len(self.recording.types)), COLOURS)
        for rank, number in enumerate(self.type_order[:COLOURS]):
            found[number] = rank
        return found

    def type_name(self, number):
        return str(self.recording.types.name[number])

    @cached_property
    def bytes_near(self):
        return float(self.analysis.homes.near.sum())

    @cached_property
    def bytes_far(self):
        return float(self.analysis.homes.far.sum())

    @property
    def knows_homes(self):
        return self.bytes_near + self.bytes_far > 0

    @property
    def remote_share(self):
        total = self.bytes_near + self.bytes_far
        return self.bytes_far / total if total > 0 else 0.0

    @cached_property
    def inflation(self):
        """(seconds, ratio): the excess of tasks' time over the reference, or over the recorded time for a simulated
        run; None if there is nothing to compare with."""
        deviation = self.analysis.table.get("work_deviation")
        if deviation is None:
            return None
        deviation = deviation.to_numpy()
        known = np.isfinite(deviation) & (deviation > 0)
        mine = self.graph.work_s[known]
        before = mine / deviation[known]
        return (float((mine - before).sum()), float(mine.sum() / before.sum())) if known.any() else None

    @cached_property
    def recorder_s(self):
        """The cost of recording inside the tasks of a native run: their time less creation, waits and work."""
        r = self.recording
        if r.engine == "sim" or r.dry:
            return None
        nodes = self.graph.nodes
        gap = (nodes.ended_s - nodes.begun_s).to_numpy()
        own = (nodes.kind.to_numpy() == 0) & (gap > 0)
        return max(0.0, float(gap[own].sum() - r.tasks.work_s[r.tasks.ran].sum()))


def spread(values):
    """Of numbers: count, total, mean, median, standard deviation, 5th and 95th percentile, least, greatest."""
    values = np.asarray(values, float)
    if len(values) == 0:
        return dict.fromkeys(("count", "total", "mean", "median", "sd", "p5", "p95", "min", "max"), 0.0)
    p5, median, p95 = np.percentile(values, (5, 50, 95))
    return {"count": len(values), "total": values.sum(), "mean": values.mean(), "median": median, "sd": values.std(),
            "p5": p5, "p95": p95, "min": values.min(), "max": values.max()}


def top(series: pd.Series, most):
    """The greatest entries, and how many others there are."""
    ordered = series.sort_values(ascending=False, kind="stable")
    return ordered.head(most), max(0, len(ordered) - most)
