"""DOT: the task graph for Graphviz. A graph of more tasks than MOST is drawn in groups of tasks of one type and level."""

import numpy as np

from kith.errors import printable
from kith.export.graph import CREATE, DEPEND, THROUGH, edges
from kith.export.times import type_names
from kith.graph.aggregate import groups
from kith.units import seconds

MOST = 500
_GROUPS = 240
_STYLES = {DEPEND: "", THROUGH: " [style=dotted]", CREATE: " [style=dashed]"}


def text(words):
    """A quoted DOT string; backslashes would be escapes of labels."""
    return '"' + printable(words, 200).replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(analysis, out):
    r = analysis.recording
    lines = ["digraph tasks {", "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8eef7\", fontname=\"sans-serif\"];",
             f"  label={text(r.path.rsplit('/', 1)[-1])};"]
    lines += _tasks(analysis) if len(r.tasks) <= MOST else _grouped(analysis)
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join([*lines, "}", ""]))


def _tasks(analysis):
    r = analysis.recording
    names, critical, work = type_names(r), analysis.graph.critical_tasks, analysis.graph.work_s
    for i, (kind, worker, number) in enumerate(zip(r.tasks.type.tolist(), r.tasks.worker.tolist(), r.numbers.tolist())):
        label = f"{names[kind]} {number}, {seconds(work[i])}" + (f", worker {worker}" if worker >= 0 else "")
        yield f"  t{i} [label={text(label)}" + (", color=red, penwidth=2" if critical[i] else "") + "];"
    source, target, _, kind = edges(r)
    for s, e, k in zip(source.tolist(), target.tolist(), kind.tolist()):
        yield f"  t{s} -> t{e}{_STYLES[k]};"


def _grouped(analysis):
    _, table, between = groups(analysis, most=_GROUPS)
    for i in range(len(table)):
        label = f"{int(table['count'].iloc[i])} x {table['name'].iloc[i]}, {seconds(table.work_s.iloc[i])}"
        yield f"  g{i} [label={text(label)}" + (", color=red, penwidth=2" if table.critical.iloc[i] else "") + "];"
    for s, e, kind, count in zip(*(np.asarray(between[c]).tolist() for c in ("source", "target", "kind", "count"))):
        style = ", style=dashed" if kind == "create" else ""
        yield f"  g{s} -> g{e} [label=\"{int(count)}\"{style}];"

