"""Reads the logs of a run that has not ended, FILE.parts (docs/recording-format.md, Logs), a portion at a time. For the
verb top, which counts. Putting the logs together as a recording is the tool's part (kith repair).

A log's records are those behind its first 64 KB, then those in it. They move from the one place to the other, but keep
their number of bytes from the beginning, so what has been read is one number.
"""

import fcntl
import os
import struct
from dataclasses import dataclass

import numpy as np

from kith.columns import WORKERS
from kith.errors import KithError, printable

VERSIONS = (9, 10)  # 10: with counts
_MAGIC = b"KITHLOG\n"
_HEADER = struct.Struct("<8sIIdQQQ")
_FRONT = 64 << 10
_ALL_BEHIND = (1 << 64) - 1
_CELL = np.dtype([("kind", "u1"), ("flags", "u1"), ("small", "<u2"), ("middle", "<u4"), ("large", "<u8")])
_PAIR = np.dtype([("first", "<u8"), ("second", "<u8")])
_TASK, _EXECUTED, _STEAL, _RUN, _TYPE, _MARK, _RAN, _PLACE, _COUNTS = 1, 4, 6, 8, 9, 10, 20, 23, 27
# Cells of each kind of record, from 1 on; a type, a mark, a place and counts have more besides.
_CELLS = np.array([0, 2, 1, 2, 2, 3, 1, 2, 2, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 1, 2, 2, 2, 3, 3, 2, 1, 3], np.int64)
_CANCELLED, _EXPLORES = 1, 2
_TRIES = 10


def parts_of(path):
    return path + ".parts"


def in_use(folder):
    """Whether a process is writing these logs: it holds the lock on `about`."""
    try:
        with open(os.path.join(folder, "about"), "rb") as f:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False


@dataclass
class Run:
    """How far one log was read."""

    path: str
    read: int = 0  # bytes of records
    run_ended: int = 0  # ticks: `ran` records follow on it
    tick: float = 0.0
    began: int = 0
    seat: int = -1


class Logs:
    """The logs of a folder. `types` has the names by number; `workers` is the number of workers. A call of more() takes
    about 1 s and 200 MB for 10^6 records."""

    def __init__(self, folder):
        self.folder = folder
        self.types = {0: "task"}
        self.runs = {}
        self.workers = self._workers()

    def _workers(self):
        """The number of workers, of the file `about`; 0 where it does not say."""
        try:
            with open(os.path.join(self.folder, "about"), encoding="utf-8", errors="replace") as f:
                for line in f:
                    key, _, value = line.strip().partition("\t")
                    if key == "workers" and value.isascii() and value.isdigit():
                        return min(int(value), WORKERS)
        except OSError:
            pass
        return 0

    def more(self):
        """The records appended since the last call, as (created, type, ended, seat, begun, until, steals): arrays of
        names of tasks that were created, and their types; of tasks that ended, on which seat, from when to when in
        seconds since the first log began. Raises KithError for damaged logs, and FileNotFoundError if the folder is
        gone."""
        files = sorted(f for f in os.listdir(self.folder) if f.endswith(".log") and f[:-4].isdigit())
        self.workers = self.workers or min(len(files), WORKERS)
        created, types, names, seats, begun, until, steals = [], [], [], [], [], [], 0
        for name in files:
            run = self.runs.setdefault(name, Run(os.path.join(self.folder, name)))
            raw = self._bytes(run)
            found = self._records(run, raw)
            if found is None:
                continue
            created.append(found[0])
            types.append(found[1])
            names.append(found[2])
            seats.append(np.full(len(found[2]), run.seat))
            begun.append(found[3].astype(float) * run.tick)
            until.append(found[4].astype(float) * run.tick)
            steals += found[5]
        first = min((r.began * r.tick for r in self.runs.values() if r.tick), default=0.0)

        def joined(parts, kind):
            return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)
        return (joined(created, np.uint64), joined(types, np.int64), joined(names, np.uint64), joined(seats, np.int64),
                joined(begun, float) - first, joined(until, float) - first, steals)

    def _bytes(self, run):
        """The bytes of records that were not read yet. What is behind the front stays as it is; the front is read again if it
        was emptied meanwhile, and left for the next time if that happens too often."""
        parts, at = [], run.read
        with open(run.path, "rb") as f:
            for _ in range(_TRIES):
                head = self._header(run, os.pread(f.fileno(), _HEADER.size, 0))
                if head is None:
                    return b""
                room = max(0, os.fstat(f.fileno()).st_size - _FRONT)
                emptied = head[5] == _ALL_BEHIND
                behind = room if emptied else head[5]
                if behind > room:
                    raise KithError(f"{printable(run.path)}: damaged: {behind} bytes of records behind the front, {room} are there")
                if at < behind:
                    parts.append(os.pread(f.fileno(), behind - at, _FRONT + at))
                    at += len(parts[-1])
                if emptied or at < behind:
                    continue
                begin = _HEADER.size + at - behind
                front = os.pread(f.fileno(), max(0, _FRONT - begin), begin)
                again = self._header(run, os.pread(f.fileno(), _HEADER.size, 0))
                if again is not None and again[5] == head[5]:
                    return b"".join([*parts, front])
        return b"".join(parts)

    @staticmethod
    def _header(run, raw):
        """The header, or None where nothing was written yet."""
        if len(raw) < _HEADER.size or raw[:8] == bytes(8):
            return None
        head = _HEADER.unpack(raw)
        if head[0] != _MAGIC:
            raise KithError(f"{printable(run.path)}: no log of Kith")
        if head[1] not in VERSIONS:
            raise KithError(f"{printable(run.path)}: a log of version {head[1]}; this Kith reads versions {VERSIONS[0]} and {VERSIONS[1]}")
        if not 1e-15 < head[3] < 1:
            raise KithError(f"{printable(run.path)}: damaged: a tick of {head[3]} s, expected more than 0 and less than 1")
        run.seat, run.tick, run.began = head[2], head[3], head[4]
        return head

    def _records(self, run, raw):
        """Counts the bytes as read up to the last complete record, and returns (created, types, ended, begun, until, steals)."""
        cells = np.frombuffer(raw, _CELL, len(raw) // 16)
        if len(cells) == 0:
            return None
        kind = cells["kind"]
        length = np.where(kind < len(_CELLS), _CELLS[np.minimum(kind, len(_CELLS) - 1)], 0)
        texts = (kind == _TYPE) | (kind == _MARK) | (kind == _PLACE) | (kind == _COUNTS)
        length[texts] += (cells["middle"][texts].astype(np.int64) + 15) // 16
        starts, at, steps, end = [], 0, length.tolist(), len(cells)
        while at < end:
            step = steps[at]
            if step == 0 or at + step > end:
                break
            starts.append(at)
            at += step
        if at < end and kind[at] >= len(_CELLS):
            raise KithError(f"{printable(run.path)}: damaged: no record of kind {kind[at]} after {run.read + 16 * at} bytes of records")
        run.read += 16 * at
        starts = np.array(starts, np.int64)
        kind = kind[starts] if len(starts) else np.zeros(0, np.uint8)
        pairs = np.frombuffer(raw, _PAIR, len(raw) // 16)
        for i in starts[kind == _TYPE].tolist():
            text = raw[16 * (i + 1):16 * (i + 1) + int(cells["middle"][i])]
            self.types[int(cells["small"][i])] = text.decode("utf-8", "backslashreplace")
        made, roots = starts[kind == _TASK], starts[kind == _RUN]
        created = np.concatenate([cells["large"][made], cells["large"][roots]])
        types = np.concatenate([cells["small"][made].astype(np.int64), cells["small"][roots].astype(np.int64)])
        rows = starts[(kind == _EXECUTED) | (kind == _RAN)]
        begun, until = self._times(run, cells, pairs, rows)
        counts = (cells["flags"][rows] & (_EXPLORES | _CANCELLED)) == 0
        return created, types, cells["large"][rows][counts], begun[counts], until[counts], int((kind == _STEAL).sum())

    @staticmethod
    def _times(run, cells, pairs, rows):
        """Begin and end of each run, in ticks: `executed` has them, and `ran` counts from the end of the run before."""
        long = cells["kind"][rows] == _EXECUTED
        small, middle = cells["small"][rows].astype(np.int64), cells["middle"][rows].astype(np.int64)
        after = np.minimum(rows + 1, len(cells) - 1)
        until = np.where(long, pairs["second"][after].astype(np.int64), 0)
        step = np.where(long, 0, small + middle)
        total = np.cumsum(step)
        # The last `executed` before each row, and what followed on it.
        last = np.maximum.accumulate(np.where(long, np.arange(len(rows)), -1)) if len(rows) else rows
        base = np.where(last >= 0, until[np.maximum(last, 0)] - total[np.maximum(last, 0)], run.run_ended) if len(rows) else rows
        until = base + total
        begun = np.where(long, pairs["first"][after].astype(np.int64), until - middle)
        if len(rows):
            run.run_ended = int(until[-1])
        return begun, until
