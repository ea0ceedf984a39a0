"""What tasks touched, of recordings with addresses (`kith record --addresses`): loads, stores, and how much memory.

docs/recording-format.md has the form of the streams, src/recording/address_stream.hpp the reader that this one follows.
It is a loop over all touches, one to three seconds for a million, so of long recordings only some tasks are read.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from kith.errors import KithError, printable
from kith.recording import stream_blobs
from kith.units import count

MOST = 5_000_000  # touches that are read
OWN_STACK = 0  # the block that is a task's own stack
LINE = 64  # bytes
COLUMNS = ("loads", "stores", "stack_loads", "stack_stores", "addresses", "bytes", "lines", "stack_bytes", "private_bytes")
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Touched:
    """A row for each task, NaN for one whose touches were not read:

    loads, stores, stack_loads, stack_stores    touches outside its own stack, and of it; one that does both counts in both
    addresses, bytes, lines     distinct addresses, bytes and lines of 64 bytes outside its own stack
    stack_bytes, private_bytes  distinct bytes of its own stack; bytes outside of it that no other task touched whose touches
                                were read: an upper bound where some were left out

    `left_out` says what was not read; "" if all was."""

    table: pd.DataFrame
    left_out: str = ""


def of_tasks(recording):
    """The Touched of a recording; None if it has no addresses. Of more than MOST touches, tasks are read that are spread
    evenly over the run, as many as fit. Raises KithError if a stream is damaged."""
    streams = recording.streams
    if len(streams) == 0:
        return None
    expected = streams.groupby("task").touches.sum()
    chosen, left_out = _chosen(expected)
    mode, fixed = recording.sites["mode"].tolist(), recording.sites["bytes"].tolist()
    pieces = {}
    number = dict(zip(recording.numbers.tolist(), range(len(recording.tasks))))
    for task, blob in stream_blobs(recording):
        if (task := number.get(task)) in chosen:
            pieces.setdefault(task, []).append(blob)
    found = np.zeros((len(recording.tasks), len(COLUMNS)))
    memory = []  # (block, begin, end, task) of each piece that a task touched outside its stack
    for task, parts in pieces.items():
        try:
            found[task, :-1], used = _counted(b"".join(parts), int(expected[task]), mode, fixed, len(recording.blocks))
        except (ValueError, IndexError) as e:
            raise KithError(f"{printable(recording.path)}: damaged: table stream, task {recording.numbers[task]}: {e}") from e
        memory += [(*piece, task) for piece in used]
    table = pd.DataFrame(found, columns=list(COLUMNS))
    table["private_bytes"] = np.array(_private(memory, len(recording.tasks)), float)
    if left_out:
        table.loc[expected.index.difference(pd.Index(sorted(chosen)))] = np.nan
    return Touched(table, left_out)


def _chosen(touches):
    """(tasks, what is left out) of touches by task: all of them, or tasks in an order that jumps evenly over the run, as long
    as they have MOST touches together at most."""
    if touches.sum() <= MOST:
        return set(touches.index), ""
    order = np.argsort(np.arange(len(touches)) * _GOLDEN % 1.0, kind="stable")
    chosen, left = set(), MOST
    for task, size in zip(touches.index[order].tolist(), touches.to_numpy()[order].tolist()):
        if size <= left:
            chosen.add(task)
            left -= size
    return chosen, (f"addresses: {count(MOST - left)} of {count(touches.sum())} touches were read, of {count(len(chosen))} of "
                    f"{count(len(touches))} tasks, which are spread over the run; metrics from addresses of the others are not "
                    "known, and private bytes are at most what they say")


def _counted(data, touches, mode, fixed, blocks):
    """(all COLUMNS but the last, pieces of memory) of one stream; pieces as (block, begin, end), without overlaps."""
    loads = stores = stack_loads = stack_stores = seen = 0
    sizes = {}  # of each address, the most that was touched there at once
    for site, block, offset, size in decoded(data, touches, fixed, blocks):
        seen += 1
        how = mode[site]
        if block == OWN_STACK:
            stack_loads += how != 1
            stack_stores += how != 0
        else:
            loads += how != 1
            stores += how != 0
        key = block, offset
        if sizes.get(key, 0) < size or key not in sizes:
            sizes[key] = size
    if seen != touches:
        raise ValueError(f"{seen} touches, expected {touches}")
    # Offsets in the stack count down from where the body began.
    stack = merged((0, max(0, o - size), o) for (b, o), size in sizes.items() if b == OWN_STACK)
    used = merged((b, o, o + size) for (b, o), size in sizes.items() if b != OWN_STACK)
    lines = merged((b, begin // LINE, (max(end, begin + 1) - 1) // LINE + 1) for b, begin, end in used)
    addresses = sum(b != OWN_STACK for b, _ in sizes)
    return (loads, stores, stack_loads, stack_stores, addresses, _length(used), _length(lines), _length(stack)), used


def merged(pieces):
    """The union of pieces (block, begin, end): in their order, without overlaps."""
    found = []
    for block, begin, end in sorted(pieces):
        if found and found[-1][0] == block and begin <= found[-1][2]:
            if end > found[-1][2]:
                found[-1] = block, found[-1][1], end
        else:
            found.append((block, begin, end))
    return found


def _length(pieces):
    return sum(end - begin for _, begin, end in pieces)


def _private(pieces, tasks):
    """Of each task, the bytes that only it touched, of pieces (block, begin, end, task); those of one task do not overlap."""
    found = [0] * tasks
    events = sorted([(b, begin, 1, task) for b, begin, _, task in pieces] + [(b, end, -1, task) for b, _, end, task in pieces])
    users = owner = 0  # how many tasks use the byte; the sum of their numbers
    for (block, at, step, task), (following, until, _, _) in zip(events, events[1:]):
        users += step
        owner += step * task
        if users == 1 and following == block:
            found[owner] += until - at
    return found


def decoded(data, most, fixed, blocks):
    """(site, block, offset, bytes) of each touch of a stream. Raises ValueError if it is damaged; stops after `most`."""
    numbers = _numbers(data)
    state, following = {}, {}  # by site: [block, offset, stride, bytes]; the site that came after it
    last, count = None, 0
    for run in numbers:
        count += run
        if count > most:
            raise ValueError("more touches than its row says")
        for _ in range(run):
            if last not in following:
                raise ValueError("a touch is predicted from nothing")
            last = following[last]
            s = state[last]
            s[1] = (s[1] + s[2]) & _ALL
            yield last, s[0], s[1], s[3]
        head = next(numbers, None)
        if head is None:
            return
        count += 1
        site = head // 2
        if site >= len(fixed) or count > most:
            raise ValueError("a site that is not there, or more touches than its row says")
        s = state.setdefault(site, [0, 0, 0, fixed[site]])
        if head % 2:
            s[0] = _next(numbers)
            if s[0] >= blocks:
                raise ValueError("a block that is not there")
        step = _next(numbers)
        s[2] = (step >> 1) ^ (_ALL if step % 2 else 0)
        s[1] = (s[1] + s[2]) & _ALL
        if fixed[site] == 0:
            s[3] = _next(numbers)
        if last is not None:
            following[last] = site
        last = site
        yield site, s[0], s[1], s[3]


_ALL = (1 << 64) - 1


def _next(numbers):
    found = next(numbers, None)
    if found is None:
        raise ValueError("it ends within a touch")
    return found


def _numbers(data):
    """The numbers of 7 bits a byte, lowest first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        if byte < 128:
            yield value & _ALL
            value = shift = 0
        elif shift >= 63:
            raise ValueError("a number of more than 64 bits")
        else:
            shift += 7
    if shift:
        raise ValueError("it ends within a number")
