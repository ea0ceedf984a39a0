"""The name of a task in every run of its program (thesis 3.4, lineage): its creator's lineage and its number among that
creator's tasks; of a keyed node, its key and type."""

import hashlib

import numpy as np
import pandas as pd

from kith.columns import FLAGS

LEAST_IN_COMMON = 0.5  # of the tasks; below, two recordings look like those of different programs
_BASE = np.uint64(0x9E3779B97F4A7C15)


def _mixed(x):
    """Spreads the bits of numbers (the finaliser of splitmix64)."""
    x = x.astype(np.uint64)
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def child_numbers(tasks):
    """The number of each task among its creator's tasks, from 0, in the order of creation; tasks from outside count
    together."""
    creator = tasks.creator.to_numpy()
    order = np.argsort(creator, kind="stable")
    begins = np.flatnonzero(np.diff(creator[order], prepend=-2))
    number = np.empty(len(creator), np.int64)
    number[order] = np.arange(len(creator)) - np.repeat(begins, np.diff(np.append(begins, len(creator))))
    return number


def hashes(tasks):
    """A 64-bit hash of each task's lineage, equal in all runs of one program: of the numbers and type names on the path to
    the task. Cost: log(depth) passes over the tasks."""
    n = len(tasks)
    if n == 0:
        return np.zeros(0, np.uint64)
    keyed = (tasks["flags"].to_numpy() & (FLAGS["keyed"] | FLAGS["generated"])) != 0
    own = np.where(keyed, tasks.key.to_numpy() ^ np.uint64(0x5851F42D4C957F2D), child_numbers(tasks).astype(np.uint64))
    with np.errstate(over="ignore"):
        value = _mixed(own + _names(tasks) + np.uint64(1))
        up = np.where(keyed, -1, tasks.creator.to_numpy()).astype(np.int64)
        up = np.where(up < 0, n, up)
        # The hash of a path is a polynomial of its steps. Each pass doubles the steps that are in it; row n is the
        # empty path above all.
        value = np.append(value, np.uint64(0))
        power = np.append(np.full(n, _BASE), np.uint64(1))
        up = np.append(up, n)
        while (up[:n] != n).any():
            value = value[up] * power + value
            power = power[up] * power
            up = up[up]
    return _mixed(value[:n])


def _names(tasks):
    """A number of each task's type name. Types have other numbers in a run that registers them in another order."""
    names = [int.from_bytes(hashlib.blake2b(str(n).encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")
             for n in tasks["name"].cat.categories]
    return np.array(names, np.uint64)[tasks.type.to_numpy()]


def in_common(a, b):
    """The share of tasks of the smaller run that the other run has as well: 1 for runs of one program with one input,
    near 0 for those of different programs. 0 without tasks."""
    if not len(a) or not len(b):
        return 0.0
    return len(np.intersect1d(hashes(a), hashes(b))) / min(len(a), len(b))


def of_same(tasks, others, values):
    """For each of `tasks` the value of the same task in another run, whose tasks are `others`; NaN if there is none, or
    several of one lineage."""
    theirs = pd.Series(values, index=hashes(others))
    return theirs[~theirs.index.duplicated(keep=False)].reindex(hashes(tasks)).to_numpy(float)


def depths(tasks):
    """How many creators each task has above it: 0 for a root."""
    n = len(tasks)
    up = np.append(np.where(tasks.creator.to_numpy() < 0, n, tasks.creator.to_numpy()), n).astype(np.int64)
    depth = np.append((tasks.creator.to_numpy() >= 0).astype(np.int64), 0)
    while n and (up[:n] != n).any():
        depth = depth + depth[up]
        up = up[up]
    return depth[:n]


def paths(tasks, which):
    """The lineages of some tasks as text: R-0-3, or R-key:TYPE:KEY below a keyed node."""
    numbers = child_numbers(tasks)
    creator, key = tasks.creator.to_numpy(), tasks.key.to_numpy()
    keyed = (tasks["flags"].to_numpy() & FLAGS["keyed"]) != 0
    found = []
    for task in which:
        steps = []
        while task >= 0 and len(steps) < 1000:
            if keyed[task]:
                steps.append(f"key:{key[task]}")
                break
            steps.append(str(numbers[task]))
            task = creator[task]
        found.append("-".join(["R", *reversed(steps)]))
    return found
