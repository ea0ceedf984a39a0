"""Reads WfFormat 1.5 (WfCommons): the tasks of a workflow become tasks of one root, which creates all of them first.

A task ran when `executedAt` says so, on a worker of its machine. If a task has no `executedAt`, all tasks are laid out
anew, each as soon as its parents have ended and a worker is free. A file that one task writes is a region, which that
task writes and its children read.
"""

import calendar
import heapq
import json
import math
import os
import re

from kith.columns import BYTES_END, NODES, TEXT_END, TIME_END, WORKERS
from kith.errors import KithError, printable

VERSION = "1.5"
_BYTES = 4 << 30  # of a file that is read at all
_WITHOUT_MACHINES = 16  # workers, where the file names no machine
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,12}))?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_NUMBER = re.compile(r"[_.-]?(?:ID)?\d+$", re.ASCII)


class _Checked:
    """The document, with what is wrong in it said by its path."""

    def __init__(self, path):
        self.path = printable(path)

    def wrong(self, where, expected):
        return KithError(f"{self.path}: {where}: expected {expected}")

    def get(self, holder, key, kind, where, otherwise=None, expected=""):
        value = holder.get(key, otherwise)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(f"{where}.{key}", expected or {dict: "an object", list: "a list", str: "a text"}.get(kind, "a number"))
        return value

    def texts(self, holder, key, where, otherwise=None):
        values = self.get(holder, key, list, where, otherwise, "a list of texts")
        if not all(isinstance(v, str) for v in values):
            raise self.wrong(f"{where}.{key}", "a list of texts")
        return values

    def objects(self, holder, key, where, otherwise=None):
        values = self.get(holder, key, list, where, otherwise, "a list of objects")
        for i, v in enumerate(values):
            if not isinstance(v, dict):
                raise self.wrong(f"{where}.{key}[{i}]", "an object")
        return values


def read(path):
    """(meta, tables, notes) of the file. Raises KithError that names what is wrong, and where in the file."""
    c = _Checked(path)
    document = _loaded(path, c)
    version = document.get("schemaVersion")
    if version != VERSION:
        raise c.wrong("schemaVersion", f"'{VERSION}', found {printable(repr(version), 40)}")
    workflow = c.get(document, "workflow", dict, "the file")
    specification = c.get(workflow, "specification", dict, "workflow")
    execution = c.get(workflow, "execution", dict, "workflow", expected="an object: without it, tasks have no times")
    tasks = c.objects(specification, "tasks", "specification")
    if not tasks:
        raise c.wrong("specification.tasks", "at least one task")
    number = {}
    for i, t in enumerate(tasks):
        where = f"specification.tasks[{i}]"
        c.get(t, "name", str, where)
        if number.setdefault(c.get(t, "id", str, where), i) != i:
            raise c.wrong(where + ".id", f"each id once, found '{printable(t['id'], 60)}' again")
        if len(_type_of(t)) > TEXT_END:
            raise c.wrong(where + ".name", f"at most {TEXT_END} characters")
    parents = _parents(c, tasks, number)
    order = _in_order(c, tasks, parents)
    runs = _runs(c, execution, number)
    machines = _machines(c, execution, runs)
    notes = []
    placed = _placed(c, order, parents, runs, machines, notes)
    meta, tables = _recording(c, document, tasks, order, parents, runs, placed, specification)
    return meta, tables, notes


def _recording(c, document, tasks, order, parents, runs, placed, specification):
    begun, worker, nodes = placed
    row = {task: i + 1 for i, task in enumerate(order)}  # row 0 is the root
    types, type_rows = {"task": 0}, [{"name": "task"}]
    rows = []
    end = max(1, *(begun[i] + runs[i]["ns"] for i in order))
    if end >= TIME_END:
        raise c.wrong("execution", "a run of less than 52 days")
    rows.append({"flags": 1, "creator": -1, "worker": 0, "ended_ns": end, "completed_ns": end})
    for i in order:
        name = _type_of(tasks[i])
        if name not in types:
            types[name] = len(type_rows)
            type_rows.append({"name": name})
        ready = min(begun[i], max((begun[p] + runs[p]["ns"] for p in parents[i]), default=0))
        rows.append({"type": types[name], "creator": 0, "scope": 1, "worker": worker[i], "ready_ns": ready, "started_ns": begun[i],
                     "ended_ns": begun[i] + runs[i]["ns"], "completed_ns": begun[i] + runs[i]["ns"], "work_ns": runs[i]["ns"]})
    regions, accesses, moved = _regions(c, tasks, order, parents, row, specification)
    dependences = [{"task": row[i], "before": b, "bytes": moved.get((b, row[i]), 0)}
                   for i in order for b in sorted(row[p] for p in parents[i])]
    count = max(nodes) + 1
    meta = {"engine": "native", "policy": "", "seed": 1, "workers": len(nodes), "worker_nodes": " ".join(map(str, nodes)),
            "machine": printable(document.get("name") or "workflow", 200), "nodes": count, "dry": 0, "pretended": 1, "migrate": 0,
            "distances": "/".join(",".join("10" if a == b else "20" for b in range(count)) for a in range(count)),
            "imported": f"WfFormat {VERSION}"}
    tables = {"worker": [{"node": n} for n in nodes], "type": type_rows, "task": rows, "dependence": dependences,
              "region": regions, "access": accesses,
              "wait": [{"task": 0, "scope": 1, "worker": 0, "begun_ns": 1, "ended_ns": end}]}  # after the creations
    return meta, tables


def _type_of(task):
    """A task's name, as text that UTF-8 can hold. Where the name is the task's id, as in many instances of WfCommons, the
    number at its end is left out: individuals_ID0000012 is of type individuals."""
    name = task["name"]
    if name == task["id"]:
        name = _NUMBER.sub("", name) or name
    return name.encode("utf-8", "backslashreplace").decode()


def _loaded(path, c):
    if not os.path.isfile(path):
        raise KithError(f"{c.path}: {'no file' if os.path.exists(path) else 'no such file'}, expected JSON of WfFormat")
    if os.path.getsize(path) > _BYTES:
        raise KithError(f"{c.path}: {os.path.getsize(path)} bytes, expected at most {_BYTES}")
    try:
        with open(path, encoding="utf-8") as f:
            document = json.load(f)
    except UnicodeDecodeError as e:
        raise KithError(f"{c.path}: no UTF-8 at byte {e.start}, expected JSON") from e
    except (json.JSONDecodeError, RecursionError, ValueError) as e:
        raise KithError(f"{c.path}: no JSON: {printable(e)}") from e
    if not isinstance(document, dict):
        raise c.wrong("the file", "an object with schemaVersion and workflow")
    return document


def _parents(c, tasks, number):
    """Of each task the set of its parents: those that it names, and those that name it as a child."""
    parents = [set() for _ in tasks]
    for i, t in enumerate(tasks):
        for key in ("parents", "children"):
            for other in c.texts(t, key, f"specification.tasks[{i}]", []):
                if other not in number:
                    raise c.wrong(f"specification.tasks[{i}].{key}", f"ids of tasks, found '{printable(other, 60)}'")
                first, second = (number[other], i) if key == "parents" else (i, number[other])
                parents[second].add(first)
    return parents


def _in_order(c, tasks, parents):
    """The tasks so that parents come first, and else as in the file."""
    children = [[] for _ in tasks]
    for i, of in enumerate(parents):
        for p in of:
            children[p].append(i)
    left = [len(p) for p in parents]
    ready = [i for i, n in enumerate(left) if n == 0]
    order = []
    while ready:
        i = heapq.heappop(ready)
        order.append(i)
        for child in children[i]:
            left[child] -= 1
            if left[child] == 0:
                heapq.heappush(ready, child)
    if len(order) < len(tasks):
        stuck = next(i for i, n in enumerate(left) if n > 0)
        raise c.wrong(f"specification.tasks[{stuck}]", f"no cycle, but '{printable(tasks[stuck]['id'], 60)}' waits for itself, or "
                      "for tasks that do")
    return order


def _runs(c, execution, number):
    """Of each task: {"ns": its runtime, "at": when it began (None: not known), "machine": a name, or None}."""
    runs = [None] * len(number)
    for i, t in enumerate(c.objects(execution, "tasks", "execution")):
        where = f"execution.tasks[{i}]"
        task = number.get(c.get(t, "id", str, where))
        if task is None or runs[task] is not None:
            raise c.wrong(where + ".id", f"the id of a task, each once, found '{printable(t['id'], 60)}'")
        seconds = c.get(t, "runtimeInSeconds", (int, float), where)
        if not 0 <= seconds < TIME_END * 1e-9 or not math.isfinite(seconds):
            raise c.wrong(where + ".runtimeInSeconds", f"0 to 52 days, found {seconds}")
        machines = c.texts(t, "machines", where, [])
        runs[task] = {"ns": round(seconds * 1e9), "at": _when(c, t, where), "machine": machines[0] if machines else None}
    missing = [task for task, run in enumerate(runs) if run is None]
    if missing:
        name = next(k for k, v in number.items() if v == missing[0])
        raise c.wrong("execution.tasks", f"a runtime of each task; {len(missing)} have none, the first is '{printable(name, 60)}'")
    return runs


def _when(c, task, where):
    if "executedAt" not in task:
        return None
    text = c.get(task, "executedAt", str, where)
    found = _TIME.fullmatch(text)
    if not found:
        raise c.wrong(where + ".executedAt", f"a time as 2026-01-31T12:00:00.5Z, found '{printable(text, 60)}'")
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1] and hour < 24 and minute < 60 and second < 61):
        raise c.wrong(where + ".executedAt", f"a time since 1970, found '{printable(text, 60)}'")
    zone = found[8] or "Z"
    offset = 0 if zone == "Z" else (1 if zone[0] == "+" else -1) * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)
    whole = calendar.timegm((year, month, day, hour, minute, second)) - offset
    return whole * 1_000_000_000 + int((found[7] or "0").ljust(9, "0")[:9])


def _machines(c, execution, runs):
    """{name: how many workers it has}; a task without a machine has the first one."""
    found = {}
    for i, m in enumerate(c.objects(execution, "machines", "execution", [])):
        where = f"execution.machines[{i}]"
        cores = c.get(c.get(m, "cpu", dict, where, {}), "coreCount", int, where + ".cpu", 1)
        if not 1 <= cores <= WORKERS:
            raise c.wrong(where + ".cpu.coreCount", f"1 to {WORKERS}, found {cores}")
        found[c.get(m, "nodeName", str, where)] = cores
    for run in runs:
        if run["machine"] is not None:
            found.setdefault(run["machine"], 1)
    if not found:
        found[""] = min(_WITHOUT_MACHINES, len(runs))
    if len(found) > NODES or sum(found.values()) > WORKERS:
        raise c.wrong("execution.machines", f"at most {NODES} machines and {WORKERS} cores; found {len(found)} and {sum(found.values())}")
    return found


def _placed(c, order, parents, runs, machines, notes):
    """(begun_ns and worker of each task, the machine's number of each worker)."""
    names = {name: i for i, name in enumerate(machines)}
    nodes = [names[name] for name, cores in machines.items() for _ in range(cores)]
    free = {i: [] for i in names.values()}  # by machine: (when a worker is free, worker)
    for w, n in enumerate(nodes):
        free[n].append((0, w))
    first = next(iter(names.values()))
    begun, worker = [0] * len(runs), [0] * len(runs)
    known = all(r["at"] is not None for r in runs)
    base = min(r["at"] for r in runs) if known else 0
    more = 0
    for i in sorted(order, key=lambda i: runs[i]["at"]) if known else order:
        node = names.get(runs[i]["machine"], first)
        at, w = free[node][0]
        begun[i] = runs[i]["at"] - base if known else max(at, max((begun[p] + runs[p]["ns"] for p in parents[i]), default=0))
        if at > begun[i]:  # more ran at a time than the machine has cores
            w = len(nodes)
            nodes.append(node)
            more += 1
            if len(nodes) > WORKERS:
                raise c.wrong("execution.tasks", f"at most {WORKERS} tasks at a time")
            heapq.heappush(free[node], (begun[i] + runs[i]["ns"], w))
        else:
            heapq.heapreplace(free[node], (begun[i] + runs[i]["ns"], w))
        worker[i] = w
    if more:
        notes.append(f"more tasks ran at a time than machines have cores, so there are {more} more workers")
    if not known:
        notes.append("tasks have no executedAt, so they begin as soon as their parents have ended and a worker is free")
    return begun, worker, nodes


def _regions(c, tasks, order, parents, row, specification):
    """(regions, accesses, {(before, task): bytes}) of files."""
    sizes = {}
    for i, f in enumerate(c.objects(specification, "files", "specification", [])):
        where = f"specification.files[{i}]"
        size = c.get(f, "sizeInBytes", int, where)
        if not 0 <= size < BYTES_END:
            raise c.wrong(where + ".sizeInBytes", f"0 to {BYTES_END - 1}, found {size}")
        sizes[c.get(f, "id", str, where)] = size
    writers = {}
    lists = []
    for i, t in enumerate(tasks):
        both = [dict.fromkeys(c.texts(t, key, f"specification.tasks[{i}]", [])) for key in ("inputFiles", "outputFiles")]
        lists.append(both)
        for name in both[1]:
            writers.setdefault(name, []).append(i)
    regions, number, address = [], {}, 1 << 32
    accesses, moved = [], {}
    for i in order:
        total = 0
        for files, mode in zip(lists[i], (0, 1)):
            for name in files:
                size, by = sizes.get(name, 0), writers.get(name, [])
                # A file that several tasks write, or a task that is no parent, would order tasks that the workflow does not.
                if size == 0 or len(by) > 1 or (mode == 0 and by and by[0] not in parents[i]):
                    continue
                if name not in number:
                    number[name] = len(regions)
                    regions.append({"address": address, "bytes": size, "home": -1})
                    address += -(-size // 4096) * 4096
                    if address >= 1 << 62:
                        raise c.wrong("specification.files", "files of less than 2^62 bytes in all")
                accesses.append({"task": row[i], "region": number[name], "mode": mode, "bytes": size, "touched": size})
                total += size
                if mode == 0 and by:
                    pair = (row[by[0]], row[i])
                    moved[pair] = moved.get(pair, 0) + size
        if total >= 1 << 56:
            raise c.wrong(f"specification.tasks[{i}]", "files of less than 2^56 bytes in all")
    return regions, accesses, moved
