"""Reads a recording into tables, once. Everything else in this package works on what this returns. kith.file opens the file
and checks it."""

import os
import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from kith.columns import FLAGS, MESSAGES, MODES, NODES, TABLES
from kith.errors import KithError, printable
from kith.file import FAULTS, Reader, meta_of, open_file, said, version_of


# Of Recording.only_declared, for all that show its times.
DRY = ("a dry recording: tasks only declared their work, so times of the run and of its workers are those of recording; "
       "simulate it (kith sim FILE -o SIMULATED)")


@dataclass
class Recording:
    """What one run did. Times are seconds since the recording began, durations seconds, sizes bytes. Ids are numbers of
    rows; -1 is none. NaN occurs only where a column's text says so. Treat the tables as read-only: they are shared.

    tasks         a row for each task, in the order of creation; the index is the task's id.
        type, name          the number of its type, and that type's name (categorical)
        creator             the task that created it; of a keyed node, the one that named it first
        scope               tasks of one scope are waited for together
        flags, priority     as in the file (kith.columns.FLAGS); 0 normal, 1 high, 2 low
        root, keyed, fence, cancelled   of the flags, as truth values
        color, hint_node    as the program gave them; -1: not given
        worker, node        that ran it, and that worker's memory node; -1: it never ran, as a cancelled one
        ran, finished       it has started; its body has ended
        created_s, create_until_s, create_s   begin and end of its creation; its length without tasks that ran meanwhile
        ready_s             when its last predecessor was completed
        started_s, ended_s  its body; NaN where it did not start, or did not end
        completed_s         it and all its children had ended; NaN: not known to have
        work_s              from start to end without creating, waiting, and other tasks on top of it; of a dry run, the
                            declared cost; of a simulated run, that of the recorded run (the metric `work` has the simulated)
        explorer, explore_started_s, explore_ended_s    the first phase of a keyed node; NaN without one
        key                 of a node of a graph: the hash of its key
    types         name, by type
    regions       address, bytes, home (a node)
    homes         region, node, bytes, at_s
    accesses      task, region, mode (0 to 4: kith.columns.MODES), bytes (declared), touched (bytes used), passed_by (the
                  task that delivered the reference, -1: none did), reads, writes
    dependences   task, before, bytes
    workers       node, by worker
    waits         task, scope, worker, begun_s, ended_s;   idles the same without task and scope
    steals        worker, victim (-1: a queue that several share), at_s
    jobs          worker, tasks, dependences, begun_s, ended_s: windows that a policy partitioned
    calibration   type, size, samples, bytes, plain_s, cold_s, warm_s, hot_s
    counts        task, instructions, cycles, cache_misses, stalled_cycles, page_faults, context_switches, migrations,
                  task_clock_s, load_instructions, store_instructions, branch_instructions, fp_instructions,
                  vector_instructions: what the counters of its worker counted while the task's own code ran, NaN where they
                  did not; enabled_s, running_s: for how long they were to count, and did (fewer: the counts of the
                  processor are estimates). No rows: nothing was counted (`kith record --counters`)
    marks         name, at_s
    allocations   address, bytes, at_s, released_s (NaN: not before the end), distribution, node, huge
    sites, blocks, streams    of recorded addresses, without the streams' bytes
    places        first_worker, workers (0: nothing is known of it), first_node, nodes, host, offset_s, drift_ppb, error_s (of
                  its clock against place 0's). No rows: the program had no places
    numbers       of each task its number in the file: its own, unless this is a part of a recording (kith.window)
    messages      kind (of kith.columns.MESSAGES), source, destination (places), bytes (header included), sent_s, received_s
                  (NaN: not known), spawner, task (the activity, or what waits for the result)
    """

    path: str
    version: int
    meta: dict
    tasks: pd.DataFrame
    types: pd.DataFrame
    regions: pd.DataFrame
    homes: pd.DataFrame
    accesses: pd.DataFrame
    dependences: pd.DataFrame
    workers: pd.DataFrame
    waits: pd.DataFrame
    steals: pd.DataFrame
    idles: pd.DataFrame
    jobs: pd.DataFrame
    calibration: pd.DataFrame
    counts: pd.DataFrame
    marks: pd.DataFrame
    allocations: pd.DataFrame
    sites: pd.DataFrame
    blocks: pd.DataFrame
    streams: pd.DataFrame
    places: pd.DataFrame
    messages: pd.DataFrame
    numbers: np.ndarray
    notes: list = field(default_factory=list)  # what could not be read, in sentences

    @cached_property
    def machine(self):
        """The machine: {"name", "nodes", "workers", "distances" (matrix of the nodes, or None), "pretended"}."""
        seen = (self.workers.node, self.regions.home, self.homes.node)  # a damaged file may name more nodes than it says it has
        nodes = max(self._nodes(), *(int(column.max()) + 1 for column in seen if len(column)))
        return {"name": self.meta.get("machine", ""), "nodes": nodes, "workers": len(self.workers),
                "distances": _distances(self.meta.get("distances", ""), nodes),
                "pretended": self.meta.get("pretended") == "1"}

    @cached_property
    def place_of_worker(self):
        """The place of each worker; all 0 in a program without places."""
        found = np.zeros(len(self.workers), np.int64)
        for place, p in self.places.iterrows():
            found[p.first_worker:p.first_worker + p.workers] = place
        return found

    @cached_property
    def provenance(self):
        """{"host", "date", "command", "library"} of the recorded run, texts; without what the file does not say (those of
        earlier builds say nothing). A simulated run has those of the run that it simulates."""
        return {key: self.meta[key] for key in ("host", "date", "command", "library") if self.meta.get(key)}

    @cached_property
    def date(self):
        """When the recording began, UTC; None if the file does not say, or says something else."""
        text = self.meta.get("date", "")
        if not re.fullmatch(r"(19[7-9]|20\d|21\d)\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", text, re.ASCII):
            return None
        try:
            return np.datetime64(text[:-1], "ns")
        except ValueError:
            return None

    @property
    def engine(self):
        """"native" or "sim"."""
        return self.meta.get("engine", "native")

    @property
    def policy(self):
        return self.meta.get("policy", "")

    @property
    def dry(self):
        """Whether tasks that declare their cost were not run: work_s is then the declared cost."""
        return self.meta.get("dry") == "1"

    @property
    def only_declared(self):
        """Whether tasks did not run, but declared their work: then the run's own times have no meaning."""
        return self.dry and self.engine != "sim"

    @property
    def remarks(self):
        """What readers of any figure have to know, in sentences: that times mean little, and the notes."""
        return [DRY] * self.only_declared + self.notes

    @cached_property
    def begin_s(self):
        """When the run began: the first creation or start of a task; 0 without tasks."""
        times = [self.tasks.started_s.min(), self.tasks.created_s.min()] if len(self.tasks) else [0.0]
        return float(np.nanmin(times))

    @cached_property
    def end_s(self):
        """When the run ended: the last end of a task, of a wait or of an idle period."""
        times = [self.tasks.ended_s.max(), self.tasks.completed_s.max(), self.waits.ended_s.max(), self.begin_s]
        return float(np.nanmax(np.array(times, dtype=float)))

    @property
    def makespan_s(self):
        """From begin_s to end_s."""
        return self.end_s - self.begin_s

    def _nodes(self):
        text = self.meta.get("nodes", "") or "1"
        if not (text.isascii() and text.isdigit() and len(text) < 16 and 0 < int(text) <= NODES):
            raise KithError(f"{self.path}: damaged: meta 'nodes' is '{printable(text, 80)}', expected 1 to {NODES}")
        return int(text)


def read(path, progress=None):
    """Reads the recording `path` and returns a Recording. `progress(what, share)` is called meanwhile.

    Raises KithError if it is no recording, of another version, cut off or damaged. Damage in a table that is not
    essential (steals, idle times, ...) costs only that table, and a sentence in `notes` says so.
    About 12 s and 1.5 GB for 10^6 tasks with two accesses each.
    """
    path = os.fspath(path)
    db = open_file(path)
    try:
        version = version_of(db, path)
        meta = meta_of(db, path)
        reader = Reader(db, path, version, progress or (lambda what, share=None: None))
        tables = {name: reader.table(name) for name in TABLES}
    except FAULTS as e:
        raise KithError(said(path, e)) from e
    finally:
        db.close()
    return _assembled(path, version, meta, tables, reader.notes)


def stream_blobs(recording):
    """(task, bytes) of each row of recorded addresses, in the order of tasks: kith.touches reads them."""
    db = open_file(recording.path)
    try:
        for task, blob in db.execute("SELECT task, bytes FROM stream ORDER BY rowid"):
            if not isinstance(blob, bytes):
                raise KithError(f"{printable(recording.path)}: damaged: table stream: expected blobs")
            yield task, blob
    except FAULTS as e:
        raise KithError(said(recording.path, e)) from e
    finally:
        db.close()


def _seconds(columns, name, missing=None):
    """The column NAME_ns as seconds; where `missing`, NaN."""
    seconds = columns[name + "_ns"] * 1e-9
    if missing is not None:
        seconds[missing] = np.nan
    return seconds


def _table(columns, **renamed):
    """A table of the columns; those in nanoseconds become seconds, and `id` is the index."""
    made = {}
    for name, values in columns.items():
        if name == "id":
            continue
        if name.endswith("_ns"):
            made[name[:-3] + "_s"] = values * 1e-9
        else:
            made[renamed.get(name, name)] = values.view(np.uint64) if name in ("address", "key") else values
    return pd.DataFrame(made)


def _messages(columns):
    made = _table(columns)
    made["kind"] = pd.Categorical.from_codes(made["kind"].to_numpy() - 1, MESSAGES)
    made["received_s"] = made["received_s"].where(made["received_s"] > 0)
    return made


def _counts(columns):
    """The counts, NaN where nothing was counted, as where the file's version has no such column. A column with NaN has floats,
    which are whole up to 2^53."""
    none = np.full(len(columns["task"]), -1)
    counted = {c.name: columns.get(c.name, none) for c in TABLES["counts"] if c.holds == "counted"}
    return _table(columns | counted | {name: np.where(n < 0, np.nan, n.astype(float)) for name, n in counted.items() if (n < 0).any()})


def _tasks(c, workers, types):
    # Of a cancelled task the file says which worker skipped it, when: its body did not run.
    worker = np.where((c["flags"] & FLAGS["cancelled"]) == 0, c["worker"], -1)
    ran = (worker >= 0) & ((c["flags"] & FLAGS["fence"]) == 0)
    finished = ran & (c["ended_ns"] >= c["started_ns"]) & ((c["ended_ns"] > 0) | (c["work_ns"] > 0))
    node = np.where(worker >= 0, workers[np.maximum(worker, 0)] if len(workers) else -1, -1)
    work = np.where((c["flags"] & FLAGS["cancelled"]) == 0, _seconds(c, "work"), 0.0)
    explored = c["explorer"] < 0
    completed = c.get("completed_ns", c["ended_ns"])
    flags = c["flags"]
    return pd.DataFrame({
        "type": c["type"].astype(np.int32),
        "name": pd.Categorical.from_codes(c["type"], pd.Index(_distinct(types))),
        "creator": c["creator"].astype(np.int32), "scope": c["scope"], "flags": flags.astype(np.int16),
        "root": (flags & FLAGS["root"]) != 0, "keyed": (flags & FLAGS["keyed"]) != 0,
        "fence": (flags & FLAGS["fence"]) != 0, "cancelled": (flags & FLAGS["cancelled"]) != 0,
        "priority": c["priority"].astype(np.int8), "color": c["color"].astype(np.int32),
        "hint_node": c["node"].astype(np.int16), "worker": worker.astype(np.int16), "node": node.astype(np.int16),
        "ran": ran, "finished": finished,
        "created_s": _seconds(c, "created"), "create_until_s": _seconds(c, "create_until"),
        "create_s": _seconds(c, "create"), "ready_s": _seconds(c, "ready"),
        "started_s": _seconds(c, "started", ~ran), "ended_s": _seconds(c, "ended", ~finished),
        "completed_s": np.where(completed > 0, completed * 1e-9, np.nan), "work_s": work,
        "explorer": c["explorer"].astype(np.int16), "explore_started_s": _seconds(c, "explore_started", explored),
        "explore_ended_s": _seconds(c, "explore_ended", explored), "key": c["key"].view(np.uint64)})


def _distinct(names):
    """The names, with a number after those that occurred before: a categorical needs that."""
    seen, made = set(), []
    for i, name in enumerate(names):
        made.append(name if name not in seen else f"{name} ({i})")
        seen.add(made[-1])
    return made


def _distances(text, nodes):
    try:
        rows = [[float(cell) for cell in row.split(",")] for row in text.split("/")]
    except ValueError:
        return None
    return np.array(rows) if len(rows) == nodes and all(len(r) == nodes for r in rows) else None


def _assembled(path, version, meta, t, notes):
    workers = pd.DataFrame({"node": t["worker"]["node"]})
    names = t["type"]["name"] or ["task"]
    accesses = _table(t["access"])
    if version < 3:
        accesses["passed_by"] = -1
    accesses["reads"] = accesses["mode"] != MODES.index("out")
    accesses["writes"] = accesses["mode"] != MODES.index("in")
    allocations = _table(t["allocation"])
    allocations["released_s"] = allocations["released_s"].where(allocations["released_s"] > 0)
    tasks = _tasks(t["task"], t["worker"]["node"], names)
    if version == 1:  # the file has only the ends of bodies
        tasks["completed_s"] = tasks["ended_s"]
    return Recording(path=path, version=version, meta=meta, tasks=tasks, types=pd.DataFrame({"name": names}),
                     regions=_table(t["region"]), homes=_table(t["home"]), accesses=accesses,
                     dependences=_table(t["dependence"]), workers=workers, waits=_table(t["wait"]),
                     steals=_table(t["steal"]), idles=_table(t["idle"]), jobs=_table(t["job"]),
                     calibration=_table(t["calibration"]), counts=_counts(t["counts"]), marks=_table(t["mark"]), allocations=allocations,
                     sites=_table(t["site"]), blocks=_table(t["block"]), streams=_table(t["stream"]), places=_table(t["place"]),
                     messages=_messages(t["message"]), numbers=np.arange(len(tasks)), notes=notes)
