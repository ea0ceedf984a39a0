"""The report's text: the verdict in each case, and pages of recordings that have little in them."""

import os
import pathlib
import re
import shutil
import sqlite3
import warnings

import numpy as np
import pytest

import kith
from kith.command_line import main
from kith.errors import KithError
from kith.metrics import Analysis, memory
from kith.report.page import page, write_report
from kith.report.sections import locality
from kith.report.verdict import bound, largest_loss
from kith.units import count, percent, rounded, seconds, signed, size
from kith_tool import TOOL
from made import Made, diamond, facts, wide

DATA = pathlib.Path(__file__).parents[1] / "data" / "recordings"


def test_a_dry_run_says_nothing_of_its_time(tmp_path):
    f = facts(wide(dry=1), tmp_path)
    assert "kith sim" in bound(f) and "4\u202fms of work" in bound(f)
    assert largest_loss(f) == "A dry run has no losses."
    text = page(f.analysis, replayed=False)
    assert "of the run" not in text.split('id="critical"')[1].split("</section>")[0].split("<table")[0]
    part = section(text, "time")
    assert "Not known: a dry recording" in part and "working" not in part and 'id="timeline"' not in text
    assert "What workers did" not in text and "What the graph allows" in text
    assert section(text, "verdict").count("<dd>-</dd>") == 2  # the run, busy
    assert "took <b>" not in page(f.analysis, [f.analysis], replayed=False)


@pytest.mark.skipif(not TOOL, reason="KITH_TOOL names no kith program")
def test_the_machine_of_the_replay(tmp_path, capsys):
    m = Made(workers=(0, 1), nodes=2)
    region = m.add("region", address=0, bytes=1 << 20, home=1)
    m.task(0, 9, flags=1, completed=900)
    m.task(1, 900, 0, creator=0)
    m.add("access", task=1, region=region, mode=2, bytes=1 << 20, touched=1 << 20)
    path, out = m.save(tmp_path), str(tmp_path / "x.html")

    def verdict(*words):
        assert main(["--tool", TOOL, "report", path, "-o", out, *words]) == 0, capsys.readouterr().err
        return section(pathlib.Path(out).read_text(encoding="utf-8"), "verdict")
    assert "bullion-s16-8 (as &#39;by hand&#39; is none of `kith machines`)" in verdict()
    assert "simulated on xeon-e7-8860 (as --machine asks)" in verdict("--machine", "xeon-e7-8860")
    shutil.copy(pathlib.Path(__file__).parents[2] / "machines" / "xeon-e7-8860.toml", tmp_path / "mine.toml")
    assert "simulated on mine.toml (as --machine asks)" in verdict("--machine", str(tmp_path / "mine.toml"))
    assert main(["--tool", TOOL, "report", path, "-o", out, "--machine", "no-such-machine"]) == 2
    assert "--machine 'no-such-machine': no machine 'no-such-machine'" in capsys.readouterr().err
    assert main(["report", path, "-o", out, "--machine", "xeon-e7-8860", "--no-replay"]) == 2


def small_recordings():
    def unfinished():
        m = Made(workers=(-1, -1))
        m.task(0, 10, flags=1)
        m.add("task", creator=0, scope=1, worker=1, created=1, create_until=2, create=1, started=5)  # killed meanwhile
        m.add("task", creator=0, scope=1, created=1, create_until=2, create=1)
        return m

    def cancelled():
        m = Made()
        m.add("task", flags=17)
        return m

    def without_length():
        m = Made()
        m.task(5, 5, flags=1)
        return m
    return {"empty": Made, "unfinished": unfinished, "cancelled": cancelled, "no time": without_length, "diamond": diamond}


@pytest.mark.parametrize("name", small_recordings())
def test_small_recordings_have_a_page(tmp_path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = page(Analysis(small_recordings()[name]().read(tmp_path)), replayed=False)
    assert text.count("<section") >= 4 and not re.search(r"\bnan\b", text.split("<main>")[1].split("</main>")[0])


def test_cancelled_tasks_did_not_run(tmp_path):
    """A worker took them from its queue and skipped their bodies: the file says which one, and when."""
    m = wide(tasks=8)
    kind = m.type("search")
    for i in range(4):
        m.task(50 + i, 51 + i, 1, creator=0, type=kind, created=1, flags=16 if i else 0)
    f = facts(m, tmp_path)
    t = f.recording.tasks
    assert t.ran.sum() == 1 + 8 + 1 and t[t.cancelled].worker.tolist() == [-1] * 3 and t[t.cancelled].started_s.isna().all()
    assert f.graph.work_s[t.cancelled].sum() == 0 and not set(f.analysis.states.task) & set(np.flatnonzero(t.cancelled))
    assert not any(which[t.cancelled].any() for which in f.problems.values())


def test_version_1_has_a_page(tmp_path):
    path = tmp_path / "version-1.rec"
    with sqlite3.connect(path) as db:
        db.executescript((DATA / "version-1.sql").read_text(encoding="utf-8"))
    r = kith.read(path)
    assert r.version == 1 and r.tasks.completed_s.notna().any()
    assert "a recording of version 1" in page(Analysis(r), replayed=False)


def test_the_second_recording_is_the_reference(tmp_path):
    slow, plain = diamond(), diamond()
    slow.tables["task"][1]["work_ns"] *= 4
    slow.save(tmp_path, "slow.rec")
    plain.save(tmp_path, "plain.rec")
    slow.task(85, 86, 0, creator=0, created=84)  # the other run does not have it
    main(["report", slow.save(tmp_path, "slow.rec"), str(tmp_path / "plain.rec"), "-o", str(tmp_path / "x.html"), "--no-replay"])
    text = (tmp_path / "x.html").read_text()
    assert "<code>plain.rec</code>, which has 4 of the 5 tasks that ran here" in text
    row = next(line for line in text.splitlines() if "data-v" in line and "</i>a</th>" in line)
    assert re.findall(r'data-v="([^"]*)">', row)[-1] == "2.5"  # of 4 and 1
    assert '<td><code>work_deviation &gt; 2</code></td><td class="num">1</td>' in text
    a = Analysis(kith.read(tmp_path / "slow.rec"), kith.read(tmp_path / "plain.rec"))
    assert page(a, replayed=False).count("work_deviation &gt; 2") == 1


def with_places():
    """Two places of a worker each: an activity of 100 bytes to place 1, which accepts it, and a result of 20 bytes."""
    m = Made(workers=(0, 1), nodes=2)
    m.task(0, 90, flags=1)
    m.task(30, 60, 1, creator=0, created=10, until=25)
    for i, host in enumerate(("a", "<b>")):
        m.add("place", first_worker=i, workers=1, first_node=i, nodes=1, host=host, offset_ns=-5 * i, error_ns=700 * i)
    for kind, source, bytes_, sent, received in ((1, 0, 100, 10, 14), (2, 1, 16, 15, 25), (4, 1, 20, 60, 0)):
        m.add("message", kind=kind, source=source, destination=1 - source, bytes=bytes_, sent_ns=1000 * sent,
              received_ns=1000 * received, spawner=0 if kind == 1 else -1, task=1 if kind == 1 else 0 if kind == 4 else -1)
    return m


def test_places_and_their_messages(tmp_path):
    r = with_places().read(tmp_path)
    assert r.messages.kind.tolist() == ["activity", "accepted", "result"] and r.place_of_worker.tolist() == [0, 1]
    assert r.messages.received_s.isna().tolist() == [False, False, True]
    text = page(Analysis(r), replayed=False)
    part = text.split('<section id="messages"')[1].split("</section>")[0]
    assert "Places sent 3 messages, 136\u202fB" in part and "agree to within 700\u202fns" in part and "Of 1 it is not known" in part
    row = re.search(r"<th scope=\"row\">activity</th>(.*?)</tr>", part).group(1)
    assert re.findall(r">([^<]+)<", row) == ["1", "100\u202fB", "4\u202fµs", "4\u202fµs"]
    assert re.findall(r'<td class="(?:deep|pale)[^>]*>([^<]+)', part) == ["100\u202fB", "36\u202fB"]  # from 0 to 1, from 1 to 0
    machine = text.split('<section id="machine"')[1].split("</section>")[0]
    assert "&lt;b&gt;" in machine and "one clock" in machine and "Places (mean of their workers)" in text
    part = text.split('<section id="messages"')[1]
    assert "Messages between places are not" not in text and 'href="#messages"' in text
    from kith.window import since

    later = since(r, 9e-6)
    assert later.messages.task.tolist() == [0, -1, -1] and later.messages.spawner.tolist() == [-1, -1, -1]


def test_what_changed_says_why(tmp_path):
    slow, faster = diamond(), diamond()
    for task, time in ((0, "ended_ns"), (0, "completed_ns"), (1, "ended_ns")):
        slow.tables["task"][task][time] += 5000
    paths = [m.save(tmp_path, f"{i}.rec") for i, m in enumerate((slow, faster, diamond()))]
    main(["report", *paths, "-o", str(tmp_path / "x.html"), "--no-replay"])
    text = (tmp_path / "x.html").read_text()
    part = text.split('<section id="changes"')[1].split("</section>")[0]
    assert part.count("<h3>Why</h3>") == 2 and "<code>2.rec</code>" in part and "a: time of a task" in part
    row = re.search(r'parallelism</th>.*?<td class="num ([a-z]*)">', part).group(1)
    assert row != "worse"
    main(["report", *paths[1:], "-o", str(tmp_path / "x.html"), "--no-replay"])
    part = (tmp_path / "x.html").read_text().split('<section id="changes"')[1].split("</section>")[0]
    assert "<h3>Why</h3>" not in part and "take the same time within 2\u202f%" in part


def test_what_was_not_counted_is_said(tmp_path):
    m = diamond()
    m.meta["counters_missing"] = "cycles: there are <none>"
    m.add("counts", task=1, page_faults=1)
    assert "Not counted: cycles: there are &lt;none&gt;." in page(Analysis(m.read(tmp_path)), replayed=False)


def test_the_old_page_stays_if_there_is_no_new_one(tmp_path):
    a = Analysis(diamond().read(tmp_path))
    (tmp_path / "x.html").write_text("old")
    (tmp_path / "t.toml").write_text("[[problem]]\nname = 'x'\ncondition = 'no_such_column > 1'\n")
    with pytest.raises(KithError, match="no_such_column"):
        write_report(a, str(tmp_path / "x.html"), thresholds=str(tmp_path / "t.toml"), replayed=False)
    assert (tmp_path / "x.html").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["made.rec", "t.toml", "x.html"]


def section(text, name):
    return text.split(f'<section id="{name}"')[1].split("</section>")[0]


def test_states_have_the_names_of_mir(tmp_path):
    """The root waits from 8 to 74; 10 of it are a task, so 56 are scheduling inside a wait. It creates from 2 to 4."""
    m = Made(workers=(0, 0))
    m.task(0, 100, flags=1, work=32)
    m.task(10, 20, 0, creator=0, created=2, until=4)
    m.wait(0, 8, 74)
    text = page(Analysis(m.read(tmp_path)), replayed=False)
    rows = dict(re.findall(r'<th scope="row">([a-z, ]+)</th><td>(T[A-Z]+</td><td class="num">[^<]+)<', section(text, "time")))
    assert {k: re.split("<.*>", v) for k, v in rows.items()} == {
        "working": ["TEXEC", "42 µs"], "idle": ["TIDLE", "100 µs"], "creating": ["TCREATE", "2 µs"],
        "scheduling, in waits": ["TSYNC", "56 µs"], "scheduling, else": ["TSCHED", "0 s"]}
    assert "scheduling (TSCHED, in waits TSYNC)" in section(text, "timeline")


def test_provenance(tmp_path):
    m = diamond()
    assert "does not say on which host" in section(page(Analysis(m.read(tmp_path)), replayed=False), "provenance")
    m.meta |= {"host": "h", "date": "2026-01-31T12:00:00Z", "command": "x '<b>'", "library": "0.1.0"}
    text = page(Analysis(m.read(tmp_path)), replayed=False)
    part = section(text, "provenance")
    assert "<code>x &#39;&lt;b&gt;&#39;</code>" in part and "<code>2026-01-31T12:00:00Z</code>" in part
    assert ", 2026-01-31</p>" in text
    for wrong in ("yesterday", "2026-13-31T12:00:00Z", "9999-01-31T12:00:00Z", "2026-01-31T12:00:00Z\n", ""):
        m.meta["date"] = wrong
        assert m.read(tmp_path).date is None


def test_steals_from_shared_queues_are_by_home(tmp_path):
    """Worker 1 of node 1 steals two tasks, with data on nodes 0 and 1; worker 0 one without data."""
    m = Made(workers=(0, 1), nodes=2)
    regions = [m.add("region", address=i << 20, bytes=1000, home=i) for i in (0, 1)]
    m.task(0, 90, flags=1)
    for i, (begin, worker) in enumerate(((10, 1), (20, 1), (30, 0))):
        m.task(begin, begin + 5, worker, creator=0, created=i)
        m.add("steal", worker=worker, victim=-1, at=begin - 1)
        if i < 2:
            m.add("access", task=i + 1, region=regions[i], mode=2, bytes=1000, touched=1000)
    r = m.read(tmp_path)
    assert locality.stolen(r).tolist() == [1, 2, 3]
    part = section(page(Analysis(r), replayed=False), "locality")
    assert "2 steals from queues that several workers share" in part
    steals = part.split("<h3>Steals</h3>")[1]
    assert re.findall(r"<td class=.[a-z ]+.[^>]*>([^<]+)", steals) == ["·", "·", "1", "1"]


def test_sharing(tmp_path):
    """Of 100 bytes that task 1 alone uses, 30 that 1 and 2 do, and 7 that 2 and 3 do: 37 of 137 are shared."""
    m = Made(workers=(0, 1), nodes=2)
    a, b = m.type("a"), m.type("b")
    regions = [m.add("region", address=i << 20, bytes=s) for i, s in enumerate((100, 30, 7))]
    m.task(0, 9, flags=1)
    for task, (kind, worker, used) in enumerate(((a, 0, (0, 1)), (a, 1, (1, 2)), (b, 1, (2, 2))), 1):
        m.task(1, 2, worker, creator=0, type=kind)
        for i in used:
            m.add("access", task=task, region=regions[i], bytes=1, touched=1)
    r = m.read(tmp_path)
    found = memory.sharing_of_types(r, [a, b])
    assert found.matrix.tolist() == [[30, 7], [7, 0]] and memory.sharing_of_types(r, [b]).matrix.tolist() == [[0]]
    assert (found.users.tolist(), found.nodes.tolist()) == ([1, 2, 2], [1, 2, 1])
    part = section(page(Analysis(r), replayed=False), "locality")
    assert "<b>27 %</b> of the bytes that tasks name are used by several tasks: 37 B of 137 B; one region by 2." in part


def test_arrays_are_neighbours_or_allocations(tmp_path):
    m = Made()
    for address, length in ((0, 4096), (4096, 4096), (1 << 30, 100), ((1 << 30) + 100, 100), (8192, 4096)):
        m.add("region", address=address, bytes=length)
    m.task(0, 1, flags=1)
    assert locality.arrays_of(m.read(tmp_path)).tolist() == [0, 0, 1, 1, 0]
    m.add("allocation", address=0, bytes=8192, distribution=1, node=-1)
    m.add("allocation", address=8192, bytes=4096, distribution=1, node=-1)
    assert locality.arrays_of(m.read(tmp_path)).tolist() == [0, 0, 2, 2, 1]


def test_allocations_of_a_simulated_run_have_recorded_times(tmp_path):
    for engine in ("native", "sim"):
        m = Made(engine=engine)
        m.task(0, 1, flags=1)
        m.add("allocation", address=0, bytes=8192, distribution=1, node=-1, at=500)
        said = section(page(Analysis(m.read(tmp_path)), replayed=False), "memory")
        assert ("Times are those of the recorded run" in said) == (engine == "sim")


def test_units():
    assert [seconds(v) for v in (0, 1.5e-9, 2e-6, 0.0123, 59, 12345.6, np.nan)] == [
        "0\u202fs", "1.5\u202fns", "2\u202fµs", "12.3\u202fms", "59\u202fs", "12346\u202fs", "-"]
    assert [size(v) for v in (0, 999, 1000, 1.5e6, 2e9)] == ["0\u202fB", "999\u202fB", "1\u202fkB", "1.5\u202fMB", "2\u202fGB"]
    assert [percent(v) for v in (0, 1e-7, 0.03974, 0.9965, 12.5)] == ["0\u202f%", "<\u202f0.001\u202f%", "3.97\u202f%", "99.7\u202f%", "1250\u202f%"]
    assert [rounded(v) for v in (1.234, 12, 999.4, 12345.6)] == ["1.23", "12", "999", "12\u202f346"]


def test_differences_have_one_minus_sign():
    shown = [show(v) for show, v in ((seconds, -512e-6), (percent, -0.0397), (count, -1234), (size, -2e6), (rounded, -1.5))]
    assert shown == ["−512\u202fµs", "−3.97\u202f%", "−1\u202f234", "−2\u202fMB", "−1.5"]
    assert [signed(seconds, v) for v in (512e-6, -512e-6, 0)] == ["+512\u202fµs", "−512\u202fµs", "0\u202fs"]


@pytest.mark.parametrize("output, says", [
    (".", "'.' is a folder; expected a file"), ("pipe", "'pipe' is a device or a pipe"), ("", "--output has no name"),
    ("none/x.html", "there is no folder"), ("/proc/x.html", "nothing can be written in '/proc'")])
def test_an_output_that_cannot_be_written(tmp_path, monkeypatch, capsys, output, says):
    """It is refused before the recording is read."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for words in (["report"], ["import", "--from", "wfformat"], ["export", "--to", "dot"]):
        assert main([words[0], "no-such.rec", *words[1:], "-o", output]) == 2
        error = capsys.readouterr().err
        assert says in error and ".kith-" not in error, words
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"] and (tmp_path / "pipe").is_fifo()


def test_no_state_looks_like_a_type_of_tasks():
    """The timeline shows both side by side. Distances are of red, green and blue, each 0 to 255."""
    style = (pathlib.Path(kith.__file__).parent / "report" / "templates" / "style.css").read_text()
    for theme in re.findall(r"root[^{]*\{(.*?)\}", style, re.DOTALL)[:2]:
        colours = {name: np.array([int(text[i:i + 2], 16) for i in (0, 2, 4)])
                   for name, text in re.findall(r"--([st]-\w+): #([0-9a-f]{6})", theme)}
        shown = [name for name in colours if name != "s-working"]  # the types are its parts
        assert len(shown) == 15
        near = [(a, b) for i, a in enumerate(shown) for b in shown[:i] if np.linalg.norm(colours[a] - colours[b]) < 30
                or "s-" in a + b and np.linalg.norm(colours[a] - colours[b]) < 55]
        assert near == []
