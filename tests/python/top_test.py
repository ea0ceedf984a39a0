"""kith top: of logs made by hand, of a killed program against its repaired recording, in a terminal and on a pipe."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import time

import pytest

from kith import watch
from kith.command_line import main
from kith.errors import KithError
from kith.logs import Logs
from kith.verbs import top
from kith_tool import TOOL
from made import diamond

FRONT = 64 << 10
TICK = 1e-9


def cell(kind, flags=0, small=0, middle=0, large=0):
    return struct.pack("<BBHIQ", kind, flags, small, middle, large)


def pair(first, second=0):
    return struct.pack("<QQ", first, second)


def task(name, kind):
    return cell(1, small=kind, large=name) + pair(0)


def type_(number, name):
    raw = name.encode()
    return cell(9, small=number, middle=len(raw)) + raw + bytes(-len(raw) % 16)


def executed(name, begun, until, flags=0):
    return cell(4, flags, large=name) + pair(begun, until)


def ran(name, gap, length):
    return cell(20, small=gap, middle=length, large=name)


def counts(name, *numbers):
    raw = struct.pack(f"<{len(numbers)}Q", *numbers)
    return cell(27, small=1, middle=len(raw), large=name) + raw + bytes(-len(raw) % 16)


def log(folder, number, front, behind=b"", all_behind=False, version=9):
    said = (1 << 64) - 1 if all_behind else len(behind)
    head = struct.pack("<8sIIdQQQ", b"KITHLOG\n", version, number, TICK, 1000, said, 0)
    (folder / f"{number}.log").write_bytes((head + front).ljust(FRONT, b"\0") + behind)


@pytest.fixture
def parts(tmp_path):
    folder = tmp_path / "x.rec.parts"
    folder.mkdir()
    (folder / "about").write_text("engine\tnative\nworkers\t2\n")
    return folder


def test_logs(parts):
    """Worker 0 creates three tasks; worker 1 runs two of them, the second right after the first."""
    created = cell(8, large=7) + pair(1000) + type_(1, "gémm, a name longer than a cell") + task(1, 1) + task(2, 1) + task(3, 2)
    log(parts, 0, created)
    log(parts, 1, executed(1, 1100, 1300) + ran(2, 50, 100) + cell(6, middle=0))
    live = watch.Live(str(parts)[:-len(".parts")])
    found = live.look()
    assert (found["created"], found["done"], found["open"], found["steals"]) == (4, 2, 2, 1)
    assert found["types"] == [{"name": "gémm, a name longer than a cell", "done": 2, "mean_s": pytest.approx(150e-9), "share": 1.0}]
    assert [w["tasks"] for w in found["workers"]] == [0, 2] and found["seconds"] == pytest.approx(450e-9)
    assert [w["busy"] for w in found["workers"]] == pytest.approx([0, 300 / 450])
    # What is appended counts, also after the front was written behind it; nothing counts twice.
    records = executed(1, 1100, 1300) + ran(2, 50, 100) + cell(6, middle=0)
    log(parts, 1, ran(3, 550, 450), behind=records)
    found = live.look()
    assert (found["created"], found["done"], found["open"]) == (4, 3, 1)
    assert {t["name"]: t["done"] for t in found["types"]} == {"gémm, a name longer than a cell": 2, "type 2": 1}
    assert found["rate_per_s"] == pytest.approx(1 / 1e-6) and found["workers"][1]["busy"] == pytest.approx(0.45)
    log(parts, 1, ran(3, 550, 450), behind=records + ran(3, 550, 450), all_behind=True)  # being emptied
    found = live.look()
    assert found["done"] == 3 and found["rate_per_s"] == 0


def test_logs_with_counts(parts):
    log(parts, 0, task(1, 0) + counts(1, 5, 6, 7) + executed(1, 1000, 1500) + counts(2, 1, 2), version=10)
    assert watch.Live(str(parts)[:-len(".parts")]).look()["done"] == 1
    log(parts, 1, task(2, 0), version=8)
    with pytest.raises(KithError, match="a log of version 8; this Kith reads versions 9 and 10"):
        watch.Live(str(parts)[:-len(".parts")]).look()


def test_tasks_that_ran_inside_others_are_busy_once(parts):
    log(parts, 0, task(1, 0) + task(2, 0) + executed(2, 1200, 1400) + executed(1, 1000, 2000))
    assert watch.Live(str(parts)[:-len(".parts")]).look()["workers"][0]["busy"] == pytest.approx(1)


def test_ends_that_are_read_before_the_creation(parts):
    log(parts, 1, executed(5, 1000, 1100) + executed(6, 1100, 1200, flags=1) + executed(5, 1000, 1100, flags=2))
    live = watch.Live(str(parts)[:-len(".parts")])
    assert live.look()["types"] == []
    log(parts, 0, type_(3, "late") + task(5, 3))
    assert live.look()["types"] == [{"name": "late", "done": 1, "mean_s": pytest.approx(100e-9), "share": 1.0}]


@pytest.mark.parametrize("change,message", [
    (lambda raw: b"SOMETHIN" + raw[8:], "no log of Kith"),
    (lambda raw: raw[:8] + struct.pack("<I", 8) + raw[12:], "version 8"),
    (lambda raw: raw[:16] + struct.pack("<d", 5.0) + raw[24:], "a tick of 5"),
    (lambda raw: raw[:32] + struct.pack("<Q", 1 << 40) + raw[40:], "behind the front"),
    (lambda raw: raw[:48] + b"\xee" + raw[49:], "no record of kind 238"),
])
def test_damaged_logs(parts, change, message):
    log(parts, 0, task(1, 0))
    path = parts / "0.log"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(KithError, match=message):
        Logs(str(parts)).more()


def test_logs_without_anything(parts):
    (parts / "0.log").write_bytes(bytes(FRONT))
    (parts / "1.log").write_bytes(b"")
    assert watch.Live(str(parts)[:-len(".parts")]).look()["done"] == 0


def test_a_recording(tmp_path, capsys):
    """The diamond: of 90 µs, worker 0 is in tasks' own code for 70 (the root waits for 20), worker 1 for 30."""
    path = diamond().save(tmp_path)
    assert main(["top", path, "--once", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["done"], found["live"]) == (4, False) and found["rate_per_s"] == pytest.approx(4 / 90e-6)
    assert [w["busy"] for w in found["workers"]] == pytest.approx([7 / 9, 1 / 3])
    assert {t["name"]: t["done"] for t in found["types"]} == {"task": 1, "a": 2, "b": 1}
    assert main(["top", path]) == 0 and "has ended" in capsys.readouterr().out
    assert main(["top", str(tmp_path / "none.rec"), "--once"]) == 2 and "neither a recording" in capsys.readouterr().err


def test_a_dry_recording_does_not_know_how_busy_workers_were(tmp_path, capsys):
    m = diamond()
    m.meta["dry"] = 1
    for row in m.tables["task"]:
        row["work_ns"] *= 1000  # declared
    path = m.save(tmp_path)
    assert main(["top", path]) == 0
    said = capsys.readouterr().out
    assert "#" not in said and said.count("not known") == 2 and "note: a dry recording" in said
    assert main(["top", path, "--json"]) == 0
    assert [w["busy"] for w in json.loads(capsys.readouterr().out)["workers"]] == [None, None]
    m.meta["dry"] = 0
    m.save(tmp_path)
    assert main(["top", path, "--json"]) == 0
    assert [w["busy"] for w in json.loads(capsys.readouterr().out)["workers"]] == [1, 1]


def test_names_are_printed_safely():
    found = watch._found("x\x1b.rec", True, 1.0, 1, 1, 1.0, 0, [1], [0.5], [("a\x1b[2J", 1, 1.0)]) | {"running": True}
    assert "\x1b" not in "\n".join(top.text(found))


def test_a_pipe_says_once_that_nothing_changes(capsys):
    """As while a program verifies its result."""
    found = watch._found("x.rec", True, 1.0, 2, 1, 1.0, 0, [1], [0.5], [("a", 1, 1.0)]) | {"running": True}
    screen = top.Screen(False)
    for picture in (found, found | {"rate_per_s": 0.0}, found, found, found | {"done": 2}, found | {"done": 2}):
        screen.show(picture)
    pictures = capsys.readouterr().out.split("x.rec: ")[1:]
    assert [p.count("nothing has changed") for p in pictures] == [1, 1]
    screen = top.Screen(True)
    screen.show(found)
    screen.show(found)
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize("key", ["q", signal.SIGINT])
def test_it_ends_on_q_and_on_ctrl_c(parts, key):
    log(parts, 0, task(1, 0) + executed(1, 1000, 2000))
    with open(parts / "about", "rb") as about:
        fcntl.flock(about, fcntl.LOCK_EX)  # as the process that records
        mine, its = pty.openpty()
        fcntl.ioctl(its, 0x5414, struct.pack("HHHH", 24, 80, 0, 0))  # TIOCSWINSZ
        child = subprocess.Popen([sys.executable, "-m", "kith", "top", str(parts)[:-len(".parts")]], stdin=its, stdout=its,
                                 stderr=subprocess.PIPE,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # it may be ignored here
        os.close(its)
        seen = b""
        while b"busy" not in seen:
            seen += os.read(mine, 4096)
        assert b"running" in seen and b"\x1b[H\x1b[J" in seen
        if key == "q":
            os.write(mine, b"q")
        else:
            child.send_signal(key)
        assert child.wait(60) == 0, child.stderr.read()
        os.close(mine)


@pytest.mark.skipif(not TOOL, reason="KITH_TOOL names no kith program")
def test_a_killed_program(tmp_path):
    """Its logs say what its repaired recording says."""
    path = tmp_path / "killed.rec"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KITH_")} | {"KITH_RECORD": str(path)}
    with open(os.devnull, "w") as nothing:
        child = subprocess.Popen([TOOL, "app", "nqueens", "--size", "15", "--depth", "5"], env=environment, stdout=nothing, stderr=nothing)
    log0 = tmp_path / "killed.rec.parts" / "0.log"
    until = time.monotonic() + 60
    while time.monotonic() < until and child.poll() is None and not (log0.exists() and log0.stat().st_size > FRONT):
        time.sleep(0.01)
    child.kill()
    child.wait()
    if not log0.exists():
        pytest.skip("the program had ended before it could be killed")

    def seen():
        done = subprocess.run([sys.executable, "-m", "kith", "top", path, "--once", "--json"], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    live = seen()
    assert subprocess.run([TOOL, "repair", path], capture_output=True, timeout=60, check=False).returncode == 0
    whole = seen()
    assert live["live"] and not live["running"] and not whole["live"] and live["done"] > 0
    for key in ("created", "done", "steals"):
        assert live[key] == whole[key], key
    assert [(t["name"], t["done"]) for t in live["types"]] == [(t["name"], t["done"]) for t in whole["types"]]
    for a, b in zip(live["types"], whole["types"]):
        assert 0 < b["mean_s"] < a["mean_s"]  # without waits and tasks on top
    assert [w["tasks"] for w in live["workers"]] == [w["tasks"] for w in whole["workers"]]
