"""Recorded addresses: streams written by hand, hostile ones, and those of a traced program where there is one."""

import numpy as np
import pytest

import kith
from kith import touches
from kith.command_line import main
from kith.errors import KithError
from kith.joined import with_counts
from kith.metrics import Analysis
from kith.report.page import page
from kith.window import kept
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


def test_footprints_by_bytes(tmp_path):
    """Two tasks: the first loads and stores block 2 from 0 to 31 and block 3 from 40 to 71; the second stores block 3 from
    64 to 71, and its stack at 24 (of 8 bytes: 16 to 23 below its top)."""
    m = made(LOOP, 8)
    m.task(3, 4, creator=0)
    m.add("stream", task=2, touches=2, bytes=stream(0, 1 * 2 + 1, 3, zigzag(64), 0, 1 * 2 + 1, 0, zigzag(24 - 64), 0))
    t = Analysis(m.read(tmp_path)).table
    assert t.distinct_addresses.tolist() == [0, 8, 1] and t.distinct_bytes.tolist() == [0, 64, 8]
    assert t.touched_bytes.tolist() == [0, 192, 64] and t.stack_bytes.tolist() == [0, 0, 8]
    assert (t.stack_loads.tolist(), t.stack_stores.tolist(), t.stores.tolist()) == ([0, 0, 0], [0, 0, 1], [0, 4, 1])
    assert t.private_bytes.tolist() == [0, 56, 0]  # both have 64 to 71 of block 3


def test_pieces_of_memory():
    assert touches.merged([(2, 8, 16), (1, 0, 4), (2, 0, 8), (2, 20, 24), (2, 21, 22)]) == [(1, 0, 4), (2, 0, 16), (2, 20, 24)]
    assert touches._private([(1, 0, 10, 0), (1, 5, 20, 1), (2, 0, 3, 1), (1, 30, 31, 2)], 3) == [5, 13, 1]


def test_instructions_for_each_touch(tmp_path):
    """Instructions are counted in another run of the program."""
    a = made(LOOP, 8).read(tmp_path)
    assert not {"ccr", "clr"} & set(Analysis(a).table)
    counted = Made()
    counted.task(0, 10, flags=1)
    counted.task(1, 2, creator=0)
    counted.add("counts", task=0, instructions=50)
    counted.add("counts", task=1, instructions=120)
    t = Analysis(a, kith.read(counted.save(tmp_path, "counted.rec"))).table
    assert t.ccr.tolist() == [50, 15] and t.clr.tolist() == [50, 30]  # the root touched nothing


def many(tmp_path, tasks=40):
    m = made(LOOP, 8)
    for i in range(tasks):
        m.task(3, 4, creator=0)
        m.add("stream", task=2 + i, touches=8, bytes=LOOP)
    return m.read(tmp_path)


def test_what_is_left_out_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(touches, "MOST", 100)
    a = Analysis(many(tmp_path))
    t = a.table
    read = np.flatnonzero(t.loads == 4)
    assert len(read) == 12 and np.isnan(t.loads).sum() == 29 and t.loads[0] == 0
    assert (np.diff(read) < 10).all()  # spread over the run
    assert a.notes == ["addresses: 96 of 328 touches were read, of 12 of 41 tasks, which are spread over the run; metrics from "
                       "addresses of the others are not known, and private bytes are at most what they say"]
    text = page(a, replayed=False)
    assert "96 of 328 touches were read" in text
    assert (t.private_bytes.notna() == t.loads.notna()).all()
    monkeypatch.setattr(touches, "MOST", 7)  # no task is as short
    assert Analysis(many(tmp_path)).table.loads.isna().sum() == 41


def test_private_bytes_are_upper_bounds_where_touches_are_left_out(tmp_path, monkeypatch):
    """Tasks 1 and 2 share 8 bytes of their 64 and 8, and task 3 has 8 of task 1 as well."""
    m = made(LOOP, 8)
    for offset in (64, 56):
        m.task(3, 4, creator=0)
        m.add("stream", task=len(m.tables["task"]) - 1, touches=1, bytes=stream(0, 1 * 2 + 1, 3, zigzag(offset), 0))
    r = m.read(tmp_path)
    exact = touches.of_tasks(r).table.private_bytes
    assert exact.tolist() == [0, 64 - 8 - 8, 0, 0]
    for most in range(1, 11):
        monkeypatch.setattr(touches, "MOST", most)
        found = touches.of_tasks(r)
        bound = found.table.private_bytes
        read = found.table.loads.notna()
        assert bool(found.left_out) == (most < 10) and read.sum() > 1
        assert (bound.notna() == read).all() and (bound[read] >= exact[read]).all()
    assert "≤ 100" in page(_some_read(monkeypatch, r, 1), replayed=False)  # task 2 or 3 alone


def _some_read(monkeypatch, recording, most):
    monkeypatch.setattr(touches, "MOST", most)
    return Analysis(recording)


def test_a_part_of_a_recording_has_its_own_touches(tmp_path):
    whole = many(tmp_path)
    keep = np.arange(42) != 1
    assert touches.of_tasks(kept(whole, keep)).table.loads.tolist() == touches.of_tasks(whole).table.loads[keep].tolist()


def test_none(tmp_path):
    m = made(LOOP, 8)
    m.tables["stream"] = []
    assert touches.of_tasks(m.read(tmp_path)) is None


def counted_run(instructions, tasks=2):
    """A run of the same program as made(), with counts of each task but the last."""
    m = Made()
    m.task(0, 10, flags=1)
    for _ in range(tasks - 1):
        m.task(1, 2, creator=0)
    for task, n in enumerate(instructions):
        m.add("counts", task=task, instructions=n, cycles=2 * n, cache_misses=3)
    return m


def test_counts_of_another_run(tmp_path, capsys):
    """By hand: task 1 touched 8 addresses by 4 loads and 4 stores, in 120 instructions and 240 cycles."""
    path = made(LOOP, 8).save(tmp_path)
    counted = counted_run([50, 120]).save(tmp_path, "counted.rec")
    a = with_counts(kith.read(path), kith.read(counted))
    t = Analysis(a).table
    assert t.ccr.tolist() == [50, 15] and t.clr.tolist() == [50, 30] and t.ipc.tolist() == [0.5, 0.5]
    assert np.isnan(t.compute_int[0]) and t.compute_int[1] == 15 and "work_deviation" not in t
    assert a.notes == [f"counts are those of '{counted}', which has them for 2 of the 2 tasks"]
    for options in (["graph"], ["report", "-o", str(tmp_path / "x.html"), "--no-replay"],
                    ["export", "--to", "csv", "-o", str(tmp_path / "x")]):
        assert main([options[0], path, *options[1:], "--counters", counted]) == 0
        assert "has them for 2 of the 2 tasks" in capsys.readouterr().out
    assert "120" in (tmp_path / "x" / "counts.csv").read_text() and "(ccr)" in (tmp_path / "x.html").read_text()


def test_counts_of_tasks_that_another_run_does_not_have(tmp_path):
    m = made(LOOP, 8)
    m.task(3, 4, creator=1)
    a = with_counts(m.read(tmp_path), kith.read(counted_run([50, 120, 7], tasks=3).save(tmp_path, "counted.rec")))
    assert a.counts.task.tolist() == [0, 1] and "for 2 of the 3 tasks" in a.notes[0]  # its third task is another child of the root


def test_counts_that_cannot_be_joined(tmp_path):
    r = made(LOOP, 8).read(tmp_path)
    with pytest.raises(KithError, match="nothing was counted there; `kith record --counters"):
        with_counts(r, r)
    m = counted_run([1, 2])
    m.tables["type"][0]["name"] = "other"
    with pytest.raises(KithError, match="only 0% of its tasks and those of .*made.rec' are the same"):
        with_counts(r, kith.read(m.save(tmp_path, "other.rec")))


def test_counts_of_a_recording_that_has_some(tmp_path):
    r = counted_run([1, 2]).read(tmp_path)
    with pytest.raises(KithError, match="has counts of its own; leave out --counters"):
        with_counts(r, r)
