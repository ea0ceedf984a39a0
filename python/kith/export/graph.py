"""The task graph as exporters of graphs have it: tasks that are no fences, dependences, and creations."""

import numpy as np

from kith.export.times import dependences

DEPEND, THROUGH, CREATE = range(3)
KINDS = ("depend", "path", "create")


def edges(recording, creations=True):
    """(source, target, bytes, kind: a number of KINDS) of edges between tasks: dependences; of some tasks of a run, paths
    through others (kith.contract); and with `creations` from a creator to its tasks. A node that an exploration named has no
    edge from what named it, which depends on it."""
    before, after, size = dependences(recording)
    t = recording.tasks
    creator = t.creator.to_numpy().astype(np.int64)
    made = np.flatnonzero((creator >= 0) & ~t.keyed.to_numpy()) if creations else np.zeros(0, np.int64)
    made = made[~t.fence.to_numpy()[made]]
    source, target = np.concatenate([before, creator[made]]), np.concatenate([after, made])
    kind = np.repeat(np.array([DEPEND, CREATE]), [len(before), len(made)])
    kind[:len(before)][_through(recording, before, after)] = THROUGH
    return source, target, np.concatenate([size, np.zeros(len(made), np.int64)]), kind


def _through(recording, before, after):
    """Which of these pairs are paths."""
    d = recording.dependences
    if "through" not in d:
        return np.zeros(len(before), bool)
    tasks, paths = len(recording.tasks), d[d.through]
    return np.isin(before * tasks + after, paths.before.to_numpy().astype(np.int64) * tasks + paths.task.to_numpy())
