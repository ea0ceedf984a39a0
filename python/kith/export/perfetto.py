"""Perfetto: a trace of TrackEvent packets, a track for each worker, slices for tasks and states, flows for dependences.

Packets are encoded as arrays of bytes, many at a time: numbers are varints of a fixed width, which the wire format
allows (a continuation bit and zeros), so that all packets of one kind have the same layout. Field numbers are those of
perfetto's trace_packet.proto and track_event.proto.
"""

import numpy as np

from kith.errors import printable
from kith.export.times import WORKING, Timeline, dependences, type_names
from kith.states import STATES

_AT_ONCE = 1 << 16
_SEQUENCE = 1
_PID = 1
_BEGIN, _END = 1, 2
_CLEARED, _NEEDS = 1, 2


def varint(value):
    """A number as a varint."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def field(number, value):
    """A field that holds a number, a text, or a message (bytes)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode("utf-8", "backslashreplace") if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def packet(*fields):
    return field(1, b"".join(fields))


def _wide(values, width):
    """Numbers as varints of `width` bytes: a row each."""
    shifted = values[:, None] >> (7 * np.arange(width))
    raw = (shifted & 0x7F).astype(np.uint8)
    raw[:, :-1] |= 0x80
    return raw


def _constant(raw, rows):
    return np.broadcast_to(np.frombuffer(raw, np.uint8), (rows, len(raw)))


def write(analysis, out):
    line = Timeline(analysis)
    with open(out, "wb") as f:
        f.write(_head(analysis.recording))
        out_of, into = _flows(line)
        count = np.diff(out_of[0])
        order = np.argsort(np.concatenate([line.begun, line.ended]) * 2 + np.repeat([1, 0], len(line)), kind="stable")
        for at in range(0, len(order), _AT_ONCE):
            some = order[at:at + _AT_ONCE]
            begins = some < len(line)
            rows = np.where(begins, some, some - len(line))
            f.write(_events(line, rows, begins, count, out_of, into))


def _head(recording):
    """Names of the process, the tracks, the slices and the categories."""
    title = printable(recording.path.rsplit("/", 1)[-1], 200)
    parts = [packet(field(10, _SEQUENCE), field(13, _CLEARED), field(60, b"".join([
        field(1, 1), field(2, title), field(3, field(1, _PID) + field(6, title))])))]
    for w, node in enumerate(recording.workers.node.tolist()):
        name = f"worker {w}" + (f", node {node}" if node >= 0 else "")
        thread = field(1, _PID) + field(2, w + 2) + field(5, name)
        parts.append(packet(field(10, _SEQUENCE), field(60, b"".join([field(1, w + 2), field(2, name), field(5, 1),
                                                                      field(4, thread)]))))
    names = type_names(recording)
    interned = [field(1, field(1, 1) + field(2, "task")), field(1, field(1, 2) + field(2, "runtime"))]
    interned += [field(2, field(1, i + 1) + field(2, printable(n, 1000))) for i, n in enumerate([*names, *STATES])]
    interned.append(field(3, field(1, 1) + field(2, "task")))
    parts.append(packet(field(10, _SEQUENCE), field(13, _NEEDS), field(12, b"".join(interned))))
    return b"".join(parts)


def _flows(line):
    """(first, ids) of the flows that leave each piece, and whether one enters it. The flow of a dependence that counted
    (the task's predecessor that ended last) has the number of the task that it leads to, plus 1."""
    before, after, _ = dependences(line.recording)
    first, last = line.first_and_last()
    known = (first[after] >= 0) & (last[before] >= 0)
    before, after = before[known], after[known]
    ended = line.ended[last[before]]
    order = np.lexsort((ended, after))
    latest = order[np.append(after[order][1:] != after[order][:-1], True)] if len(order) else order
    source, target = last[before[latest]], after[latest]
    by = np.argsort(source, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(line)))]).astype(np.int64)
    into = np.zeros(len(line), bool)
    into[first[target]] = True
    return (offsets, target[by]), into


def _events(line, rows, begins, count, out_of, into):
    """The packets of these pieces' begins and ends, in this order."""
    n = len(rows)
    names = len(line.recording.types)
    working = line.state[rows] == WORKING
    # An end has no name and no flow: an end's packet is cut off after the track.
    name = np.where(working, line.type[rows], names + line.state[rows]) + 1
    time = np.where(begins, line.begun[rows], line.ended[rows])
    track = line.worker[rows] + 2
    kind = np.where(begins, _BEGIN, _END)
    flows = np.where(begins, count[rows], 0)
    enters = begins & into[rows]
    noted = begins & working
    event = [(_constant(field(9, 0)[:1], n), None), (_wide(kind, 1), None), (_constant(varint(11 << 3), n), None),
             (_wide(track, 2), None),
             (_constant(varint(10 << 3), n), begins), (_wide(name, 3), begins),
             (_constant(varint(3 << 3), n), begins), (_wide(np.where(working, 1, 2), 1), begins),
             # debug annotation: name 1 ("task"), unsigned number
             (_constant(varint(4 << 3 | 2) + bytes([2 + 1 + 5, 1 << 3, 1, 3 << 3]), n), noted),
             (_wide(np.maximum(line.task[rows], 0), 5), noted),
             (_constant(varint(48 << 3 | 1), n), enters), (_fixed(line.task[rows] + 1), enters)]
    flow_bytes = 10 * flows
    size = flow_bytes + sum(p.shape[1] * (1 if m is None else m.astype(np.int64)) for p, m in event)
    head = [_constant(varint(8 << 3), n), _wide(time, 8), _constant(field(10, _SEQUENCE) + field(13, _NEEDS), n),
            _constant(varint(11 << 3 | 2), n), _wide(size, 4)]
    inner = sum(p.shape[1] for p in head) + size
    head = [_constant(varint(1 << 3 | 2), n), _wide(inner, 4), *head]
    parts = [(p, None) for p in head] + event
    total = inner + 5
    at = np.cumsum(total) - total
    raw = np.empty(int(total.sum()), np.uint8)
    for part, mask in parts:
        chosen = slice(None) if mask is None else mask
        raw[at[chosen][:, None] + np.arange(part.shape[1])] = part[chosen]
        at = at + part.shape[1] * (1 if mask is None else mask.astype(np.int64))
    if flows.any():
        offsets, targets = out_of
        which = np.repeat(np.arange(n), flows)
        number = np.arange(len(which)) - np.repeat(np.cumsum(flows) - flows, flows)
        ids = targets[offsets[rows[which]] + number] + 1
        place = (at[which] + 10 * number)[:, None]
        raw[place + np.arange(2)] = np.frombuffer(varint(47 << 3 | 1), np.uint8)
        raw[place + 2 + np.arange(8)] = _fixed(ids)
    return raw.tobytes()


def _fixed(values):
    """Numbers as 8 bytes each."""
    return np.ascontiguousarray(values, "<i8").view(np.uint8).reshape(-1, 8)
