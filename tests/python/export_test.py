"""Exports read back by the formats' own readers: perfetto's trace_pb2, pj_dump, the otf2 package and otf2-print, networkx,
Graphviz, pyarrow; Paraver's by a parser here. All timelines are compared with one that was computed by hand."""

import csv
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import kith
from kith.command_line import main
from kith.errors import KithError
from kith.export import FORMATS, export
from kith.export import csv as csv_format
from kith.metrics import Analysis
from kith.writer import write
from made import Made, diamond

HOSTILE = '=cmd|" /C calc"!A0<script>&]]>\\n\x1b[31m\n%s{}\u202e;\'"é'
# Of the diamond, by hand, in microseconds: (worker, begin, end, task) of each piece of a task's code.
PIECES = {(0, 0, 30, 0), (0, 30, 60, 2), (0, 60, 90, 0), (1, 20, 40, 1), (1, 70, 80, 3)}


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    m = diamond()
    m.tables["type"][1]["name"] = HOSTILE
    m.tables["type"][2]["name"] = ""
    return Analysis(m.read(tmp_path_factory.mktemp("recorded")))


@pytest.fixture
def made(analysis, tmp_path):
    def make(name):
        export(analysis, name, str(tmp_path / "out"))
        return tmp_path / "out"
    return make


def output_of(*words):
    if not shutil.which(words[0]):
        pytest.skip(f"no {words[0]} here")
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_perfetto(made):
    pb = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = pb.Trace()
    trace.ParseFromString(made("perfetto").read_bytes())
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    assert [t.thread.thread_name for t in tracks.values() if t.HasField("thread")] == ["worker 0, node 0", "worker 1, node 0"]
    interned = next(p.interned_data for p in trace.packet if p.HasField("interned_data"))
    names = {n.iid: n.name for n in interned.event_names}
    pieces, opened, flows, last = set(), {}, {}, 0
    for p in trace.packet:
        if not p.HasField("track_event"):
            continue
        e = p.track_event
        assert p.timestamp >= last and e.track_uuid in tracks and p.trusted_packet_sequence_id == 1
        last = p.timestamp
        if e.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
            assert e.track_uuid not in opened  # pieces do not overlap
            task = e.debug_annotations[0].uint_value if e.debug_annotations else -1
            opened[e.track_uuid] = (p.timestamp, task, names[e.name_iid])
            for f in e.flow_ids:
                flows.setdefault(f, []).append(("from", task))
            for f in e.terminating_flow_ids:
                flows.setdefault(f, []).append(("to", task))
        else:
            begun, task, name = opened.pop(e.track_uuid)
            if task >= 0:
                pieces.add((e.track_uuid - 2, begun // 1000, p.timestamp // 1000, task))
                assert ("<script>" in name and "\n" not in name) == (task in (1, 2))
    assert pieces == PIECES and not opened
    assert flows == {4: [("from", 2), ("to", 3)]}  # the predecessor that ended last


def test_paraver(made):
    folder = made("paraver")
    lines = (folder / "trace.prv").read_text().splitlines()
    head = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:1\(2\):1:1\(2:1\)", lines[0])
    assert head and int(head[1]) == 90_000
    names = re.findall(r"^(\d+) {4,}(.*)$", (folder / "trace.pcf").read_text().partition("EVENT_TYPE")[2], re.M)
    assert len([n for n in names if "<script>" in n[1]]) == 1
    rows = (folder / "trace.row").read_text()
    assert "LEVEL THREAD SIZE 2\nworker 0, node 0\nworker 1, node 0\n" in rows
    pieces, opened, last, states, messages = set(), {}, 0, {}, []
    for line in lines[1:]:
        cells = [int(c) for c in line.split(":")]
        assert cells[5] >= last and cells[1] in (1, 2) and cells[2:4] == [1, 1]
        last = cells[5]
        if cells[0] == 1:
            assert len(cells) == 8 and cells[6] > cells[5]
            states[cells[7]] = states.get(cells[7], 0) + cells[6] - cells[5]
        elif cells[0] == 2:
            events = dict(zip(cells[6::2], cells[7::2]))
            if events[60000002]:
                opened[cells[1]] = (cells[5], events[60000002] - 1)
            else:
                begun, task = opened.pop(cells[1])
                pieces.add((cells[1] - 1, begun // 1000, cells[5] // 1000, task))
        else:
            assert cells[0] == 3 and len(cells) == 15
            messages.append((cells[5] // 1000, cells[11] // 1000, cells[13], cells[14] - 1))
    assert pieces == PIECES and not opened
    assert sum(states.values()) == 180_000 and states[1] == 120_000
    assert messages == [(40, 70, 64, 3), (60, 70, 64, 3)]
    for view in folder.glob("*.cfg"):
        text = view.read_text()
        event = re.search(r"^window_filter_module evt_type 1 (\d+)$", text, re.M)[1]
        assert text.startswith("#ParaverCFG\n") and f"0    {event} " in (folder / "trace.pcf").read_text()
        for name in ("selected", "compose"):
            count, items = re.search(rf"^window_{name}_functions {{ (\d+), {{ (.*) }} }}$", text, re.M).groups()
            assert int(count) == items.count("{")


def test_paje(made):
    rows = [line.split(", ") for line in output_of("pj_dump", "-u", str(made("paje"))).splitlines()]
    states = [r for r in rows if r[0] == "State"]
    pieces = {(int(r[1].removeprefix("worker ")), round(float(r[3]) * 1e6), round(float(r[4]) * 1e6), int(r[-1])) for r in states}
    assert {p for p in pieces if p[3] >= 0} == PIECES
    links = [(r[7].strip(), r[8].strip(), round(float(r[3]) * 1e6), round(float(r[4]) * 1e6)) for r in rows if r[0] == "Link"]
    assert sorted(links) == [("worker 0", "worker 1", 60, 70), ("worker 1", "worker 1", 40, 70)]


def test_otf2(made):
    otf2 = pytest.importorskip("otf2")
    folder = made("otf2")
    pieces, opened = set(), {}
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        assert [g.name for g in trace.definitions.location_groups] == ["node 0"]
        for location, event in trace.events:
            if isinstance(event, otf2.events.Enter):
                opened[location] = (event.time, event.region.name, [v for _, v in (event.attributes or {}).items()])
            else:
                begun, name, task = opened.pop(location)
                assert name == event.region.name
                if task:
                    pieces.add((int(location.name.split()[1]), begun // 1000, event.time // 1000, task[0]))
    assert pieces == PIECES and not opened
    printed = output_of("otf2-print", str(folder / "traces.otf2"))
    assert printed.count("ENTER") == printed.count("LEAVE") > len(PIECES) and "<script>" in printed


def test_graphml(made):
    networkx = pytest.importorskip("networkx")
    g = networkx.read_graphml(made("graphml"))
    assert {(a, b, d["kind"], d["bytes"]) for a, b, d in g.edges(data=True)} == {
        ("t0", "t1", "create", 0), ("t0", "t2", "create", 0), ("t0", "t3", "create", 0), ("t1", "t3", "depend", 64),
        ("t2", "t3", "depend", 64)}
    assert g.nodes["t2"]["work_s"] == pytest.approx(30e-6) and g.nodes["t2"]["ended_s"] == pytest.approx(60e-6)
    assert g.nodes["t2"]["inst_par_max"] == 3 and g.nodes["t0"]["children"] == 3 and "footprint" in g.nodes["t3"]
    assert g.nodes["t1"]["name"].startswith('=cmd|" /C calc"!A0<script>&]]>')


def test_dot(made):
    path = made("dot")
    drawn = json.loads(output_of("dot", "-Tjson", str(path)))
    nodes = {n["_gvid"]: n for n in drawn["objects"]}
    assert sorted((nodes[e["tail"]]["name"], nodes[e["head"]]["name"]) for e in drawn["edges"]) == [
        ("t0", "t1"), ("t0", "t2"), ("t0", "t3"), ("t1", "t3"), ("t2", "t3")]
    assert sum("<script>" in n["label"] for n in nodes.values()) == 2


def test_dot_of_many_tasks_is_in_groups(tmp_path):
    m = Made()
    m.task(0, 6000, flags=1, work=0)
    for i in range(1000):
        m.task(i * 5, i * 5 + 5, i % 2, creator=0)
    export(Analysis(m.read(tmp_path)), "dot", str(tmp_path / "out.dot"))
    drawn = json.loads(output_of("dot", "-Tjson", str(tmp_path / "out.dot")))
    counts = [int(n["label"].split(" x ")[0]) for n in drawn["objects"]]
    assert len(counts) <= 240 and sum(counts) == 1001


def test_counts(tmp_path):
    m = diamond()
    m.add("counts", task=1, instructions=3000, page_faults=11)
    export(Analysis(m.read(tmp_path)), "csv", str(tmp_path / "csv"))
    with open(tmp_path / "csv" / "counts.csv", newline="", encoding="utf-8") as f:
        row, = csv.DictReader(f)
    assert (row["task"], row["instructions"], row["cycles"], row["page_faults"]) == ("1", "3000", "", "11")


def test_csv(made):
    folder = made("csv")
    with open(folder / "types.csv", newline="", encoding="utf-8") as f:
        names = [row["name"] for row in csv.DictReader(f)]
    assert names == ["task", "'" + HOSTILE, ""]
    with open(folder / "tasks.csv", newline="", encoding="utf-8") as f:
        tasks = list(csv.DictReader(f))
    assert [float(t["work_s"]) for t in tasks] == [40e-6, 20e-6, 30e-6, 10e-6] and tasks[1]["name"] == "'" + HOSTILE
    with open(folder / "metrics.csv", newline="", encoding="utf-8") as f:
        metrics = list(csv.DictReader(f))
    assert [m["id"] for m in metrics] == ["0", "1", "2", "3"] and float(metrics[2]["work"]) == pytest.approx(30e-6)
    with open(folder / "states.csv", newline="", encoding="utf-8") as f:
        working = [row for row in csv.DictReader(f) if row["state"] == "working"]
    assert sum(float(row["ended_s"]) - float(row["begun_s"]) for row in working) == pytest.approx(120e-6)
    for path in folder.glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as f:
            for row in csv.reader(f):
                assert not any(c.startswith(("=", "+", "@")) or (c.startswith("-") and not c[1:2].isdigit()) for c in row)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+1", "@A1", "\t=1", "\r=1", "  =1"])
def test_cells_are_no_formulas(text):
    assert csv_format.safe(text) == "'" + text


def test_parquet(made):
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = made("parquet")
    tasks = parquet.read_table(folder / "tasks.parquet")
    assert tasks.column("name").to_pylist()[1] == HOSTILE and tasks.column("work_s").to_pylist() == pytest.approx([40e-6, 20e-6, 30e-6, 10e-6])
    assert parquet.read_table(folder / "dependences.parquet").select(["before", "task", "bytes"]).to_pydict() == {
        "before": [1, 2], "task": [3, 3], "bytes": [64, 64]}
    assert tasks.column("explore_started_s").null_count == 4
    assert parquet.read_table(folder / "metrics.parquet").column("work").to_pylist() == pytest.approx([40e-6, 20e-6, 30e-6, 10e-6])
    assert set(parquet.read_table(folder / "states.parquet").column("state").to_pylist()) >= {"working", "idle"}


def test_wfformat(made):
    found = json.loads(made("wfformat").read_text())
    tasks = {t["id"]: t for t in found["workflow"]["specification"]["tasks"]}
    assert found["schemaVersion"] == "1.5" and set(tasks) == {"t1", "t2", "t3"}
    assert tasks["t3"]["parents"] == ["t1", "t2"] and tasks["t1"]["children"] == ["t3"] and tasks["t3"]["name"] == "task"
    runs = {t["id"]: t for t in found["workflow"]["execution"]["tasks"]}
    assert runs["t2"]["runtimeInSeconds"] == pytest.approx(30e-6) and runs["t2"]["executedAt"] == "1970-01-01T00:00:00.000030000Z"


def test_wfformat_keeps_the_order_of_fences(tmp_path):
    """A reader of all parts of an array asks for a fence, which stands right after it in the file."""
    m = Made(workers=(1, 1), nodes=2)
    m.task(0, 90, flags=1, work=40)
    m.task(20, 40, 1, creator=0, created=10)
    m.task(50, 60, 0, creator=0, created=20)
    m.add("task", creator=0, scope=1, flags=64, created=20, create_until=20, ready=40, completed=40)
    m.add("dependence", task=2, before=3, bytes=64)
    m.add("dependence", task=3, before=1)
    export(Analysis(m.read(tmp_path)), "wfformat", str(tmp_path / "x.json"))
    workflow = json.loads((tmp_path / "x.json").read_text())["workflow"]
    tasks = {t["id"]: (t["name"], t["parents"]) for t in workflow["specification"]["tasks"]}
    assert tasks == {"t1": ("task", []), "t2": ("task", ["t3"]), "t3": ("fence", ["t1"])}
    fence, = (t for t in workflow["execution"]["tasks"] if t["id"] == "t3")
    assert fence["runtimeInSeconds"] == 0 and fence["executedAt"] == "1970-01-01T00:00:00.000040000Z"
    assert fence["machines"] == ["node1"]
    assert main(["import", str(tmp_path / "x.json"), "--from", "wfformat", "-o", str(tmp_path / "x.rec")]) == 0
    assert len(kith.read(tmp_path / "x.rec").dependences) == 2


def test_dates(tmp_path):
    m = diamond()
    m.meta["date"] = "2026-01-31T12:34:56Z"
    a = Analysis(m.read(tmp_path))
    export(a, "wfformat", str(tmp_path / "x.json"))
    runs = json.loads((tmp_path / "x.json").read_text())["workflow"]["execution"]["tasks"]
    assert runs[1]["executedAt"] == "2026-01-31T12:34:56.000030000Z"
    export(a, "paraver", str(tmp_path / "p"))
    assert (tmp_path / "p" / "trace.prv").read_text().startswith("#Paraver (31/01/2026 at 12:34):")


@pytest.mark.parametrize("name,package", [(f.name, f.package) for f in FORMATS])
def test_what_will_not_do(analysis, tmp_path, name, package):
    if package:
        pytest.importorskip(package)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("kept")
    with pytest.raises(KithError, match="folder"):
        export(analysis, name, str(tmp_path / "full"))
    with pytest.raises(KithError, match="there is no folder"):
        export(analysis, name, str(tmp_path / "none" / "x"))
    with pytest.raises(KithError, match="is the recording|exists"):
        export(analysis, name, analysis.recording.path)
    assert (tmp_path / "full" / "mine.txt").read_text() == "kept" and [p.name for p in tmp_path.iterdir()] == ["full"]


def test_a_missing_package_is_named(analysis, tmp_path, monkeypatch):
    import builtins

    real = builtins.__import__
    monkeypatch.setattr("importlib.import_module", lambda name, *a: real(name) if name != "otf2" else real("there_is_none"))
    with pytest.raises(KithError, match="pip install otf2"):
        export(analysis, "otf2", str(tmp_path / "out"))
    with pytest.raises(KithError, match="expected one of: perfetto, paraver"):
        export(analysis, "svg", str(tmp_path / "out"))


@pytest.mark.parametrize("name", [f.name for f in FORMATS if not f.package])
def test_empty_recordings(tmp_path, name):
    write(str(tmp_path / "empty.rec"), {"engine": "native"}, {"worker": [{"node": 0}], "type": [{"name": "task"}]})
    export(Analysis(kith.read(tmp_path / "empty.rec")), name, str(tmp_path / "out"))
    assert (tmp_path / "out").exists()


def test_many_portions(tmp_path, monkeypatch):
    """Exporters write a portion at a time; here a small one. Each record is there, and once."""
    from kith.export import graphml, paje, paraver, perfetto

    for module in (graphml, paje, paraver, perfetto):
        monkeypatch.setattr(module, "_AT_ONCE", 1000)
    rng = np.random.default_rng(3)
    m = Made(workers=(0, 0, 1, 1), nodes=2)
    n = 4000
    end = 10 * n
    m.task(0, end, flags=1, work=0)
    for i in range(n):
        m.task(i // 4 * 10, i // 4 * 10 + int(rng.integers(1, 10)), i % 4, creator=0, created=0)
    for i in range(5, n + 1):
        m.add("dependence", task=i, before=i - 4, bytes=8)
    m.wait(0, 0, end)
    analysis = Analysis(m.read(tmp_path))
    for name in ("perfetto", "paraver", "paje", "graphml"):
        export(analysis, name, str(tmp_path / name))
    assert len(re.findall(r"<node ", (tmp_path / "graphml").read_text())) == n + 1
    assert len(re.findall(r"^8 ", (tmp_path / "paje").read_text(), re.M)) == n - 4
    prv = (tmp_path / "paraver" / "trace.prv").read_text()
    assert len(re.findall(r"^3:", prv, re.M)) == n - 4
    assert len(re.findall(r"^2:.*:60000002:[1-9]", prv, re.M)) >= n
    pb = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = pb.Trace()
    trace.ParseFromString((tmp_path / "perfetto").read_bytes())
    events = [p.track_event for p in trace.packet if p.HasField("track_event")]
    assert sum(len(e.flow_ids) for e in events) == sum(len(e.terminating_flow_ids) for e in events) == n - 4
