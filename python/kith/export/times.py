"""Shared by exporters of timelines: times as whole nanoseconds, and the begin and end of each task's code."""

import numpy as np

from kith.states import STATES

WORKING = STATES.index("working")


def nanoseconds(seconds):
    """Seconds since the recording began as whole nanoseconds."""
    return np.rint(np.asarray(seconds, float) * 1e9).astype(np.int64)


class Timeline:
    """What each worker did, as columns: worker, begun_ns, ended_ns, state (a number of STATES), task (of `working`; else
    -1) and type (of the task; -1), in the order of workers and time, without overlaps. Pieces shorter than half a
    nanosecond are left out."""

    def __init__(self, analysis):
        self.recording = analysis.recording
        s = analysis.states
        begun, ended = nanoseconds(s.begun_s), nanoseconds(s.ended_s)
        keep = ended > begun
        self.worker = s.worker.to_numpy()[keep].astype(np.int64)
        self.begun, self.ended = begun[keep], ended[keep]
        self.state = s.state.cat.codes.to_numpy()[keep].astype(np.int64)
        self.task = s.task.to_numpy()[keep].astype(np.int64)
        type_ = self.recording.tasks.type.to_numpy().astype(np.int64)
        self.type = np.where(self.task >= 0, type_[self.task] if len(type_) else -1, -1)

    def __len__(self):
        return len(self.worker)

    @property
    def end(self):
        return int(nanoseconds(self.recording.end_s))

    def first_and_last(self):
        """Of each task, the rows of its first and of its last piece in time; -1: it has none."""
        rows = np.flatnonzero(self.task >= 0)
        rows = rows[np.argsort(self.begun[rows], kind="stable")]
        first, last = np.full(len(self.recording.tasks), -1), np.full(len(self.recording.tasks), -1)
        last[self.task[rows]] = rows  # of equal indices, NumPy keeps the last
        first[self.task[rows[::-1]]] = rows[::-1]
        return first, last


def type_names(recording):
    """The types' names, each of them once, as the tables have them."""
    return [str(n) for n in recording.tasks["name"].cat.categories]


def dependences(recording):
    """(before, after, bytes) of dependences between different tasks, each pair once. Of some tasks of a run, those along paths
    through others (kith.contract) are among them, without bytes."""
    d = recording.dependences
    before, after, size = (d[c].to_numpy().astype(np.int64) for c in ("before", "task", "bytes"))
    if len(before) == 0:
        return before, after, size
    order = np.lexsort((before, after))
    before, after, size = before[order], after[order], size[order]
    firsts = np.flatnonzero((np.diff(before, prepend=-1) != 0) | (np.diff(after, prepend=-1) != 0))
    return before[firsts], after[firsts], np.add.reduceat(size, firsts)
