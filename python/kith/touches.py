"""What tasks touched, of recordings with addresses (`kith record --addresses`): loads, stores, and how much memory.

docs/recording-format.md has the form of the streams, src/recording/address_stream.hpp the reader that this one follows.
It is a loop over all touches, a second for a million, so long recordings are left out.
"""

import numpy as np
import pandas as pd

from kith.errors import KithError, printable
from kith.recording import stream_blobs

MOST = 5_000_000  # touches
OWN_STACK = 0  # the block that is a task's own stack
LINE = 64  # bytes
_COLUMNS = ("loads", "stores", "stack", "addresses", "lines")


def of_tasks(recording):
    """A row for each task: loads and stores outside its own stack (a touch that does both counts in both), touches of its
    stack, and the distinct addresses and lines of 64 bytes that it touched outside of it. None if the recording has no
    addresses, or too many. Raises KithError if a stream is damaged."""
    streams = recording.streams
    if len(streams) == 0 or streams.touches.sum() > MOST:
        return None
    mode, fixed = recording.sites["mode"].tolist(), recording.sites["bytes"].tolist()
    blocks = len(recording.blocks)
    pieces = {}
    for task, blob in stream_blobs(recording):
        pieces.setdefault(task, []).append(blob)
    expected = streams.groupby("task").touches.sum()
    found = np.zeros((len(recording.tasks), len(_COLUMNS)), np.int64)
    for task, parts in pieces.items():
        try:
            found[task] = _counted(b"".join(parts), int(expected[task]), mode, fixed, blocks)
        except (ValueError, IndexError) as e:
            raise KithError(f"{printable(recording.path)}: damaged: table stream, task {task}: {e}") from e
    return pd.DataFrame(found, columns=list(_COLUMNS))


def _counted(data, touches, mode, fixed, blocks):
    """loads, stores, touches of the stack, distinct addresses and lines of one stream."""
    loads = stores = stack = count = 0
    addresses, lines = set(), set()
    for site, block, offset, size in decoded(data, touches, fixed, blocks):
        count += 1
        if block == OWN_STACK:
            stack += 1
            continue
        loads += mode[site] != 1
        stores += mode[site] != 0
        addresses.add((block, offset))
        first, last = offset // LINE, (offset + max(size, 1) - 1) // LINE
        lines.add((block, first))
        if last != first:
            lines.update((block, line) for line in range(first + 1, min(last, first + 1_000_000) + 1))
    if count != touches:
        raise ValueError(f"{count} touches, expected {touches}")
    return loads, stores, stack, len(addresses), len(lines)


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
