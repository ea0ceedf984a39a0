"""The task graph as exporters of graphs have it: tasks that are no fences, dependences, and creations."""

import numpy as np

from kith.export.times import dependences


def edges(recording, creations=True):
    """(source, target, bytes, created) of edges between tasks: dependences, and with `creations` from a creator to its
    tasks. A node that an exploration named has no edge from what named it, which depends on it."""
    before, after, size = dependences(recording)
    t = recording.tasks
    creator = t.creator.to_numpy().astype(np.int64)
    made = np.flatnonzero((creator >= 0) & ~t.keyed.to_numpy()) if creations else np.zeros(0, np.int64)
    made = made[~t.fence.to_numpy()[made]]
    source, target = np.concatenate([before, creator[made]]), np.concatenate([after, made])
    return (source, target, np.concatenate([size, np.zeros(len(made), np.int64)]),
            np.repeat([False, True], [len(before), len(made)]))
