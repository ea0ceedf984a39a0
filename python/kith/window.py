"""A part of a recording as a recording of its own."""

import dataclasses

import numpy as np

from kith.contract import nearest_creators


def after_last_mark(recording):
    """The part after the last mark, as the figures of `kith sim` have it (programs of `kith app` set one before they
    solve): the tasks that were created from then on. The recording itself, if it has no mark, or no task after the last
    one."""
    if not len(recording.marks):
        return recording
    return since(recording, float(recording.marks.at_s.max()))


def since(recording, begin_s):
    """The tasks that were created at `begin_s` or later, with what they accessed, needed and waited for, and the events
    of workers from then on. Times stay as they are. Tasks get new numbers; creators that are left out are none."""
    keep = recording.tasks.created_s.to_numpy() >= begin_s
    if not keep.any() or keep.all():
        return recording
    part = kept(recording, keep)

    def from_then(table, column):
        return table[table[column] >= begin_s].reset_index(drop=True)

    return dataclasses.replace(part, messages=from_then(part.messages, "sent_s"), steals=from_then(part.steals, "at_s"),
                               idles=from_then(part.idles, "ended_s"), jobs=from_then(part.jobs, "ended_s"))


def kept(recording, keep):
    """The tasks for which `keep` (truth values) holds, with what they accessed, needed and waited for, and all that is
    not of tasks. Tasks get new numbers (`numbers` has those of the file). Where a creator is left out, the nearest one above
    it that is kept is the creator; none if there is none."""
    tasks = recording.tasks
    number = np.full(len(tasks) + 1, -1)  # the last one: of -1
    number[:-1][keep] = np.arange(keep.sum())
    some = tasks[keep].reset_index(drop=True)
    some["creator"] = number[nearest_creators(tasks.creator.to_numpy(), keep)[keep]].astype(np.int32)

    def of_tasks(table, *columns):
        rows = np.ones(len(table), bool)
        for c in columns:
            rows &= number[table[c].to_numpy()] >= 0
        left = table[rows].reset_index(drop=True)
        return left.assign(**{c: number[left[c].to_numpy()] for c in columns})

    messages = recording.messages
    messages = messages.assign(**{c: number[messages[c].to_numpy()] for c in ("spawner", "task")})
    return dataclasses.replace(
        recording, tasks=some, accesses=of_tasks(recording.accesses, "task"),
        dependences=of_tasks(recording.dependences, "task", "before"), waits=of_tasks(recording.waits, "task"),
        counts=of_tasks(recording.counts, "task"), streams=of_tasks(recording.streams, "task"), messages=messages,
        numbers=recording.numbers[keep])
