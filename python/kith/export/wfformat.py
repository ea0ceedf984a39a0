"""WfFormat 1.5, the JSON of WfCommons: tasks with parents and children, the bytes between them as files, and runtimes.

Roots are left out. A fence is a task without runtime: what stands before it comes before what stands after it. A task's
parents are its dependences, and its creator if that is no root: the format has no tasks that go on after they have created
others.
"""

import json

import numpy as np

from kith.errors import printable
from kith.export.graph import edges
from kith.export.times import nanoseconds, type_names

VERSION = "1.5"
_NO_DATE = np.datetime64(0, "ns")


def write(analysis, out):
    with open(out, "w", encoding="utf-8") as f:
        # Without an indentation the encoder is the one in C.
        f.write(json.JSONEncoder(indent=1 if len(analysis.recording.tasks) <= 10_000 else None).encode(document(analysis)))


def document(analysis):
    r = analysis.recording
    t = r.tasks
    fence = t.fence.to_numpy()
    kept = ~t.root.to_numpy() & (t.ran.to_numpy() | fence)
    source, target, size, _ = edges(r)
    both = kept[source] & kept[target]
    source, target, size = source[both], target[both], size[both]
    pairs = np.unique(np.column_stack([source, target]), axis=0)
    parents, children = _lists(pairs[:, 1], pairs[:, 0], len(t)), _lists(pairs[:, 0], pairs[:, 1], len(t))
    moved = size > 0
    given, taken = _files(source[moved], source[moved], target[moved]), _files(target[moved], source[moved], target[moved])
    names = [printable(n, 1000) or "task" for n in type_names(r)]
    used, cores = np.unique(np.maximum(r.workers.node.to_numpy(), 0), return_counts=True)
    type_, node = t.type.tolist(), np.where(fence, used[0], np.maximum(t.node.to_numpy(), 0)).tolist()
    work = np.maximum(analysis.graph.work_s, 0.0).tolist()
    epoch = _NO_DATE if r.date is None else r.date
    when = np.datetime_as_string(epoch + nanoseconds(np.nan_to_num(np.where(fence, t.ready_s, t.started_s))), unit="ns").tolist()
    tasks, runs = [], []
    for i in np.flatnonzero(kept).tolist():
        tasks.append({"name": "fence" if fence[i] else names[type_[i]], "id": f"t{i}", "parents": [f"t{p}" for p in parents.get(i, ())],
                      "children": [f"t{c}" for c in children.get(i, ())], "inputFiles": taken.get(i, []),
                      "outputFiles": given.get(i, [])})
        runs.append({"id": f"t{i}", "runtimeInSeconds": work[i], "executedAt": when[i] + "Z", "coreCount": 1,
                     "machines": [f"node{node[i]}"]})
    machines = [{"nodeName": f"node{n}", "cpu": {"coreCount": int(c)}} for n, c in zip(used.tolist(), cores.tolist())]
    begun = str(np.datetime_as_string(epoch + nanoseconds(r.begin_s), unit="ns"))
    files = [{"id": f"t{s}-t{e}", "sizeInBytes": int(b)} for s, e, b in zip(source[moved].tolist(), target[moved].tolist(),
                                                                           size[moved].tolist())]
    workflow = {"specification": {"tasks": tasks, "files": files},
                "execution": {"makespanInSeconds": r.makespan_s, "executedAt": begun + "Z", "tasks": runs, "machines": machines}}
    return {"name": printable(r.path.rsplit("/", 1)[-1], 200), "schemaVersion": VERSION,
            "description": "A recording of Kith." + (" It has no date: its times count from 1970." if r.date is None else ""),
            "runtimeSystem": {"name": "Kith", "version": printable(r.policy, 100) or "unknown policy"}, "workflow": workflow}


def _lists(of, values, tasks):
    """{task: its values}, of pairs."""
    order = np.argsort(of, kind="stable")
    first = np.searchsorted(of[order], np.arange(tasks + 1))
    ordered = values[order].tolist()
    return {i: ordered[first[i]:first[i + 1]] for i in np.flatnonzero(np.diff(first)).tolist()}


def _files(of, source, target):
    found = {}
    for i, s, e in zip(of.tolist(), source.tolist(), target.tolist()):
        found.setdefault(i, []).append(f"t{s}-t{e}")
    return found
