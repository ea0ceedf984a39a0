"""Counts of another run of the same program: a run that records addresses counts nothing, as it would count the recorder."""

import dataclasses

import numpy as np

from kith import lineage
from kith.errors import KithError, printable


def with_counts(recording, other):
    """The recording with the counts that the recording `other` has of the same tasks, found by lineage, and a note that says
    of how many. Raises KithError if `recording` has counts, `other` has none, or the two are no runs of one program with one
    input."""
    mine, theirs = (f"'{printable(r.path, 80)}'" for r in (recording, other))
    if len(recording.counts):
        raise KithError(f"--counters {theirs}: {mine} has counts of its own; leave out --counters")
    if not len(other.counts):
        raise KithError(f"--counters {theirs}: nothing was counted there; `kith record --counters -o FILE -- PROGRAM` counts")
    same = lineage.in_common(recording.tasks, other.tasks)
    if same < lineage.LEAST_IN_COMMON:
        raise KithError(f"--counters {theirs}: only {same:.0%} of its tasks and those of {mine} are the same; expected a run of the same "
                        "program with the same input")
    row = np.full(len(other.tasks), np.nan)
    row[other.counts.task.to_numpy()] = np.arange(len(other.counts))
    row = lineage.of_same(recording.tasks, other.tasks, row)
    known = np.flatnonzero(np.isfinite(row))
    counts = other.counts.iloc[row[known].astype(np.int64)].assign(task=known).reset_index(drop=True)
    note = f"counts are those of {theirs}, which has them for {len(known)} of the {len(row)} tasks"
    if other.counts.instructions.isna().all():
        note += "; instructions were not counted there"
    return dataclasses.replace(recording, counts=counts, notes=[*recording.notes, note])
