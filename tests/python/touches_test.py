"""Recorded addresses: streams written by hand, hostile ones, and those of a traced program where there is one."""

import numpy as np
import pytest

from kith import touches
from kith.errors import KithError
from kith.metrics import Analysis
from made import Made


def number(n):
    found = bytearray()
    while n >= 128:
        found.append(n % 128 + 128)
        n //= 128
    return bytes(found) + bytes([n])


def zigzag(step):
    return 2 * step if step >= 0 else -2 * step - 1


def stream(*items):
    return b"".join(number(i) for i in items)


# Sites: 0 loads 8 bytes, 1 stores 8 bytes, 2 does both, with bytes of its own.
LOOP = stream(0, 0 * 2 + 1, 2, zigzag(0),      # load block 2 at 0
              0, 1 * 2 + 1, 3, zigzag(64),     # store block 3 at 64
              0, 0 * 2, zigzag(8),             # load block 2 at 8: now the stride is known
              0, 1 * 2, zigzag(-8),            # store block 3 at 56
              4)                               # two more of each, as predicted


def made(blob, count):
    m = Made()
    for mode, size in ((0, 8), (1, 8), (2, 0)):
        m.add("site", mode=mode, bytes=size, own=0, line=0)
    for kind in (0, 1, 2, 2):
        m.add("block", kind=kind, task=-1)
    m.task(0, 10, flags=1)
    m.task(1, 2, creator=0)
    m.add("access", task=1, region=m.add("region", address=0, bytes=64), bytes=64, touched=64)
    m.add("stream", task=1, touches=count, bytes=blob)
    return m


def test_a_loop():
    found = list(touches.decoded(LOOP, 8, [8, 8, 0], 4))
    assert [f[0] for f in found] == [0, 1] * 4
    assert [f[2] for f in found if f[0] == 0] == [0, 8, 16, 24]
    assert [f[2] for f in found if f[0] == 1] == [64, 56, 48, 40]
    assert {f[1] for f in found if f[0] == 0} == {2} and {f[3] for f in found} == {8}


def test_metrics(tmp_path):
    blob = LOOP[:-1] + stream(4, 2 * 2 + 1, 3, zigzag(60), 10, 0, 2 * 2 + 1, 0, zigzag(4), 4, 0)
    r = made(blob, 10).read(tmp_path)
    t = Analysis(r).table
    # The last two do both: block 3 at 60 over a line's end, and the stack, which counts for nothing.
    assert (t.loads[1], t.stores[1]) == (5, 5) and t.loads[0] == 0
    assert t.touched_bytes[1] == 64 * (1 + 2)  # block 2: 0 to 31; block 3: 40 to 71
    assert t.compute_int[1] == pytest.approx(10 / 9) and np.isnan(t.compute_int[0])


@pytest.mark.parametrize("blob, count", [
    (stream(1), 1), (stream(0, 9), 1), (stream(0, 1, 9, 0, 0), 1), (b"\x80", 1), (b"\x80" * 20, 1), (stream(0, 0), 1), (LOOP, 7),
    (LOOP, 9), (stream(1 << 60), 5), (stream(0, 4, 0), 1)])
def test_damaged_streams(tmp_path, blob, count):
    with pytest.raises(KithError, match="damaged: table stream, task 1"):
        touches.of_tasks(made(blob, count).read(tmp_path))


def test_none_or_too_many(tmp_path, monkeypatch):
    m = made(LOOP, 8)
    monkeypatch.setattr(touches, "MOST", 7)
    assert touches.of_tasks(m.read(tmp_path)) is None
    m.tables["stream"] = []
    assert touches.of_tasks(m.read(tmp_path)) is None
