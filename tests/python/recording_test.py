"""The reader: what it gives, and what it says of files that are no recordings, or damaged."""

import os
import re
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import kith
from kith.columns import TABLES
from kith.errors import KithError, printable
from kith.graph import fragment_graph
from kith.metrics import Analysis
from kith.writer import write
from made import Made, diamond

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


def test_tables(tmp_path):
    m = Made(workers=(0, 1), nodes=2)
    gemm = m.type("gemm")
    region = m.add("region", address=(1 << 63) + 5, bytes=4096, home=1)
    m.task(10, 50, flags=1)
    m.task(20, 30, 1, creator=0, type=gemm, completed=0)
    m.add("access", task=1, region=region, mode=1, bytes=4096, touched=4096)
    m.add("idle", worker=1, begun=0, ended=20)
    m.add("steal", worker=1, victim=0, at=20)
    m.add("allocation", address=8, bytes=4096, at=1, distribution=5, node=-1)
    r = m.read(tmp_path)
    assert r.tasks.started_s.tolist() == pytest.approx([10e-6, 20e-6])
    assert r.tasks["name"].tolist() == ["task", "gemm"] and r.tasks.node.tolist() == [0, 1]
    assert r.tasks.ran.all() and r.tasks.finished.all() and np.isnan(r.tasks.completed_s[1])
    assert r.regions.address.tolist() == [(1 << 63) + 5]
    assert (r.accesses.reads.tolist(), r.accesses.writes.tolist()) == ([False], [True])
    assert r.machine["distances"].tolist() == [[10, 20], [20, 10]] and r.machine["nodes"] == 2
    assert (r.begin_s, r.end_s, r.makespan_s) == pytest.approx((10e-6, 50e-6, 40e-6))
    assert np.isnan(r.allocations.released_s[0]) and not r.notes


def test_counts(tmp_path):
    m = Made()
    m.task(0, 10, flags=1)
    m.task(1, 5, 1, creator=0)
    m.add("counts", task=1, instructions=(1 << 53) + 1, page_faults=3, task_clock_ns=4000, enabled_ns=10, running_ns=5)
    c = m.read(tmp_path).counts
    assert c.instructions.tolist() == [(1 << 53) + 1] and np.isnan(c.cycles[0]) and c.task_clock_s[0] == pytest.approx(4e-6)
    m.add("counts", task=1, page_faults=4)
    notes = m.read(tmp_path).notes
    assert len(notes) == 1 and "table counts, row 1: task is 1, expected the tasks in order, each once" in notes[0]


def test_columns_are_those_of_the_tool():
    text = open(os.path.join(ROOT, "src", "recording", "columns.hpp"), encoding="utf-8").read()
    structs = re.findall(r'static constexpr const char\* name = "(\w+)";\n\s+static constexpr leads begins = '
                         r'leads::(\w+);\n(.*?)\n\};', text, re.S)
    first = {"own_number": ["id"], "task": ["task"], "nothing": []}
    found = {name: first[begins] + re.findall(r'each\("(\w+)"', body) for name, begins, body in structs}
    assert found == {name: [c.name for c in columns] for name, columns in TABLES.items()}


def refused(path, *says):
    with pytest.raises(KithError) as e:
        kith.read(str(path))
    for text in says:
        assert text in str(e.value), str(e.value)
    return str(e.value)


def test_what_is_no_recording(tmp_path):
    refused(tmp_path / "none.rec", "none.rec", "no such file", "kith record")
    (tmp_path / "half.rec.parts").mkdir()
    refused(tmp_path / "half.rec", "kith repair")
    refused(tmp_path, "a folder")
    (tmp_path / "empty").write_bytes(b"")
    refused(tmp_path / "empty", "empty")
    (tmp_path / "text").write_text("hello, this is no database, but it is long enough to be one")
    refused(tmp_path / "text", "no recording of Kith")
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE task(id)")
    refused(tmp_path / "other.db", "no recording of Kith")


def changed(tmp_path, *statements):
    path = diamond().save(tmp_path, "changed.rec")
    with sqlite3.connect(path) as db:
        for s in statements:
            db.execute(s)
    return path


@pytest.mark.parametrize("change, says", [
    ("PRAGMA user_version = 5", "version 5"),
    ("UPDATE task SET worker = 9 WHERE id = 2", "task, row 2: worker is 9, expected -1 to 1"),
    ("UPDATE task SET worker = 'x' WHERE id = 2", "task, row 2"),
    ("UPDATE task SET started_ns = 1.5 WHERE id = 2", "a whole number"),
    ("UPDATE task SET creator = 3 WHERE id = 2", "an earlier task"),
    ("UPDATE task SET ended_ns = -1 WHERE id = 2", "ended_ns is -1"),
    ("UPDATE task SET id = 9 WHERE id = 3", "ids from 0"),
    ("DELETE FROM type", "type is 0"),
    ("UPDATE type SET name = x'00'", "a text"),
    ("DROP TABLE task", "task is missing"),
    ("ALTER TABLE task ADD COLUMN more", "not defined as by Kith"),
    ("UPDATE meta SET value = 'many' WHERE key = 'nodes'", "'nodes' is 'many'"),
    ("UPDATE meta SET value = '99999999999' WHERE key = 'nodes'", "'nodes' is '99999999999', expected 1 to 1024"),
    ("UPDATE meta SET value = '0' WHERE key = 'nodes'", "'nodes' is '0', expected 1 to 1024"),
    ("DELETE FROM worker", "table worker has 0 rows, expected 1 to 4096"),
    ("WITH RECURSIVE n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 39999) INSERT INTO worker SELECT i, 0 FROM n",
     "table worker has 40000 rows, expected 1 to 4096"),
])
def test_damage_is_named(tmp_path, change, says):
    path = changed(tmp_path, change)
    with pytest.raises(KithError) as e:
        assert kith.read(path).machine  # meta is looked at when it is needed
    assert says in str(e.value) and "changed.rec" in str(e.value)


@pytest.mark.parametrize("table", ["region", "home"])
def test_homes_beyond_the_nodes_widen_the_machine(tmp_path, table):
    """As `kith why` has it; a table of bytes by nodes would have no room for them otherwise."""
    m = Made()
    region = m.add("region", address=8, bytes=64, home=5 if table == "region" else 0)
    m.task(0, 10, flags=1)
    m.task(1, 5, 1, creator=0)
    m.add("access", task=1, region=region, mode=0, bytes=64, touched=64)
    if table == "home":
        m.add("home", region=region, node=5, bytes=64, at=0)
    r = m.read(tmp_path)
    assert r.machine["nodes"] == 6 and Analysis(r).homes.matrix[5].tolist() == [64, 0, 0, 0, 0, 0]


def test_a_view_is_no_table(tmp_path):
    path = changed(tmp_path, "ALTER TABLE task RENAME TO other", "CREATE VIEW task AS SELECT * FROM other")
    refused(path, "'task' is a view")


def test_a_recording_that_was_cut_off(tmp_path):
    path = diamond().save(tmp_path)
    whole = open(path, "rb").read()
    for size in (50, 150, len(whole) // 2, len(whole) - 1):
        cut = tmp_path / "cut.rec"
        cut.write_bytes(whole[:size])
        refused(cut, "cut.rec")


def test_pages_of_noise(tmp_path):
    path = diamond().save(tmp_path)
    whole = bytearray(open(path, "rb").read())
    rng = np.random.default_rng(5)
    for _ in range(100):  # whatever is in a file, there is a recording or a KithError
        noisy = bytearray(whole)
        for at in rng.integers(100, len(whole), 40):
            noisy[at] = rng.integers(256)
        (tmp_path / "noisy.rec").write_bytes(noisy)
        try:
            kith.read(str(tmp_path / "noisy.rec"))
        except KithError as e:
            assert "noisy.rec" in str(e)


def test_a_table_that_is_not_essential_is_left_out(tmp_path):
    r = kith.read(changed(tmp_path, "UPDATE wait SET worker = 77"))
    assert len(r.waits) == 0 and len(r.tasks) == 4
    assert "table wait" in r.notes[0] and "without this table" in r.notes[0]


@pytest.mark.parametrize("before, says", [(3, "before is 3, expected another task"), (0, "before is 0, expected a task that is no root")])
def test_dependences_that_cannot_be(tmp_path, before, says):
    """A task that depends on itself, or on the root that waits for it: the graph has a cycle."""
    r = kith.read(changed(tmp_path, f"UPDATE dependence SET before = {before} WHERE rowid = 2"))
    assert f"table dependence, row 1: {says}" in r.notes[0] and fragment_graph(r).span_s > 0


def test_the_file_is_not_changed(tmp_path):
    path = diamond().save(tmp_path)
    before = open(path, "rb").read()
    os.chmod(path, 0o444)
    kith.read(path)
    assert open(path, "rb").read() == before and os.listdir(tmp_path) == ["made.rec"]


def test_names_of_any_characters(tmp_path):
    m = diamond()
    m.tables["type"][1]["name"] = "</script>\x1b[31m\u202e'\""
    r = m.read(tmp_path)
    assert r.types.name[1] == "</script>\x1b[31m\u202e'\""
    assert printable(r.types.name[1]) == "</script>\\x1b[31m\\u202e'\""
    odd = tmp_path / "a?b#c%20d.rec"
    write(str(odd), m.meta, m.tables)
    assert len(kith.read(odd).tasks) == 4


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = diamond().save(tmp_path)
    before = open(path, "rb").read()
    with pytest.raises(sqlite3.Error):
        write(path, {}, {"type": [{"name": object()}]})
    assert open(path, "rb").read() == before and os.listdir(tmp_path) == ["made.rec"]


def python(*words):
    return subprocess.run([sys.executable, "-m", "kith", *words], capture_output=True, text=True, timeout=300, check=False)


def test_the_command_line(tmp_path):
    done = python("--help")
    assert done.returncode == 0 and re.search(r"^  graph +work, span", done.stdout, re.M)
    done = python("graph", str(tmp_path / "none"), "--json")
    assert done.returncode == 2 and '"error": {"command": "kith graph"' in done.stdout and "no such file" in done.stderr
    done = python("graphs")
    assert done.returncode == 2 and "no verb 'graphs'" in done.stderr
    done = python("graph", "a", "b")
    assert done.returncode == 2 and "kith help graph" in done.stderr
    done = python("graph", diamond().save(tmp_path), "--json")
    assert done.returncode == 0 and '"tasks": 4' in done.stdout


def test_output_that_cannot_be_written(tmp_path):
    path = diamond().save(tmp_path)
    for words in ("graph", "graph --json"):
        for where, says in ((">&-", "kith: standard output cannot be written"), ("> /dev/full", "kith graph: standard output: No space")):
            command = f'"{sys.executable}" -m kith {words} "{path}" {where}'
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 2 and says in done.stderr, command + done.stderr
