"""GraphML: a node for each task, with its type, worker, memory node, times and, in graphs of up to MOST_WITH_METRICS tasks,
metrics; an edge for each dependence, with its bytes, for each creation, and of some tasks of a run for each path between them."""

from xml.sax.saxutils import escape

import numpy as np

from kith.errors import printable
from kith.export.graph import KINDS, edges
from kith.export.times import type_names

MOST_WITH_METRICS = 100_000  # of more, a file of gigabytes
_AT_ONCE = 50_000
_NODE = (("name", "string"), ("worker", "int"), ("node", "int"), ("created_s", "double"), ("started_s", "double"), ("ended_s", "double"),
         ("work_s", "double"))
_EDGE = (("kind", "string"), ("bytes", "long"))


def write(analysis, out):
    r = analysis.recording
    t = r.tasks
    names = [escape(printable(n, 1000)) for n in type_names(r)]
    metrics = analysis.table if len(t) <= MOST_WITH_METRICS else None
    part = analysis.whole is not analysis
    measured = [] if metrics is None else [(c, "double") for c in metrics.columns]
    with open(out, "w", encoding="utf-8") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        f.writelines(f'<key id="{k}" for="{what}" attr.name="{k}" attr.type="{kind}"/>\n' for what, keys in (("node", (*_NODE, *([("number", "long")] if part else []), *measured)), ("edge", _EDGE))
                     for k, kind in keys)
        f.write('<graph id="tasks" edgedefault="directed">\n')
        work = analysis.graph.work_s
        for at in range(0, len(t), _AT_ONCE):
            some = t.iloc[at:at + _AT_ONCE]
            columns = (range(at, at + len(some)), some.type, some.worker, some.node, some.created_s, some.started_s, some.ended_s,
                       work[at:at + len(some)])
            extra = _metrics(metrics, at, len(some)) if measured else [""] * len(some)
            if part:  # each task's number in the run
                extra = (f'<data key="number">{n}</data>{more}' for n, more in zip(r.numbers[at:at + len(some)].tolist(), extra))
            rows = zip(*(c if isinstance(c, range) else np.asarray(c).tolist() for c in columns))
            f.writelines(_task(names, *row, more) for row, more in zip(rows, extra))
        source, target, size, kind = (c.tolist() for c in edges(r))
        f.writelines(f'<edge source="t{s}" target="t{e}"><data key="kind">{KINDS[k]}</data>'
                     f'<data key="bytes">{b}</data></edge>\n' for s, e, b, k in zip(source, target, size, kind))
        f.write("</graph>\n</graphml>\n")


def _metrics(table, at, count):
    """The metrics of each of these tasks as data elements; those that do not apply to a task are left out."""
    columns = [(c, table[c].to_numpy(float)[at:at + count].tolist()) for c in table.columns]
    for row in zip(*(values for _, values in columns)):
        yield "".join(f'<data key="{c}">{v:.9g}</data>' for (c, _), v in zip(columns, row) if v == v)


def _task(names, number, type_, worker, node, created, started, ended, work, more):
    """A time that is not known (the task did not start, or did not end) is left out."""
    times = "".join(f'<data key="{k}">{v:.9f}</data>' for k, v in (("created_s", created), ("started_s", started), ("ended_s", ended),
                                                                  ("work_s", work)) if v == v)
    return (f'<node id="t{number}"><data key="name">{names[type_]}</data><data key="worker">{worker}</data>'
            f'<data key="node">{node}</data>{times}{more}</node>\n')
