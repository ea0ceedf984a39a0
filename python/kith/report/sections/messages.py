"""Messages: the traffic between places, and the bytes along dependences between workers and nodes."""

import numpy as np
import pandas as pd

from kith.columns import MESSAGES
from kith.report import charts
from kith.units import count, percent, seconds, size

MOST_NODES, MOST_PLACES, BINS = 32, 32, 120


def values(f):
    found = {"places": _between_places(f), "dependences": _along_dependences(f)}
    return found if found["places"] or found["dependences"] else None


def _between_places(f):
    m = f.recording.messages
    if not len(m):
        return None
    took = (m.received_s - m.sent_s).dropna()
    kinds = [{"name": kind, "count": count(len(rows)), "bytes": size(rows.bytes.sum()), **_latency(rows)}
             for kind in MESSAGES if len(rows := m[m.kind == kind])]
    error = f.recording.places.error_s.max() if len(f.recording.places) else 0.0
    return {"count": count(len(m)), "bytes": size(m.bytes.sum()), "kinds": kinds,
            "median": seconds(took.median()) if len(took) else None, "error": seconds(error) if error > 0 else None,
            "lost": count(m.received_s.isna().sum()) if m.received_s.isna().any() else None,
            "matrix": _matrix(f, m), "over_time": _over_time(f, m)}


def _latency(rows):
    took = (rows.received_s - rows.sent_s).dropna()
    return {"median": seconds(took.median()), "p95": seconds(took.quantile(0.95))} if len(took) else {"median": "-", "p95": "-"}


def _matrix(f, m):
    places = len(f.recording.places)
    if not 1 < places <= MOST_PLACES:
        return None
    cells = np.bincount(m.source.to_numpy() * places + m.destination.to_numpy(), m.bytes.to_numpy().astype(float),
                        places * places).reshape(places, places)
    return charts.heat([f"from {i}" for i in range(places)], [f"to {i}" for i in range(places)], cells.tolist(),
                       "Bytes of messages, by the place that sent and the place that received", "bytes", size)


def _over_time(f, m):
    """Bytes sent in each bin of the run, in stacked areas: activities, results, and the overhead of the protocol."""
    if f.makespan_s <= 0:
        return None
    at = np.clip(((m.sent_s - f.begin_s) / f.makespan_s * BINS).astype(int), 0, BINS - 1)
    group = np.select([m.kind == "activity", m.kind == "result"], [0, 1], 2)
    sums = pd.DataFrame({"bin": at, "group": group, "bytes": m.bytes}).groupby(["group", "bin"]).bytes.sum()
    columns = [(f"t-{g}", sums.get(g, pd.Series(dtype=float)).reindex(range(BINS), fill_value=0).tolist()) for g in range(3)]
    top = float(np.sum([c for _, c in columns], axis=0).max())
    return {"chart": charts.areas(columns, top, "Bytes that places send, over time"), "top": size(top),
            "bin": seconds(f.makespan_s / BINS),
            "legend": charts.legend([("t-0", "activities"), ("t-1", "results"), ("t-2", "acceptance, credits and ends")])}


def _along_dependences(f):
    r = f.recording
    d = r.dependences
    if not len(d):
        return None
    node, worker = r.tasks.node.to_numpy(), r.tasks.worker.to_numpy()
    before, after = d.before.to_numpy(), d.task.to_numpy()
    both = (worker[before] >= 0) & (worker[after] >= 0)
    before, after, bytes_ = before[both], after[both], d.bytes.to_numpy()[both].astype(float)
    same_worker, same_node = worker[before] == worker[after], node[before] == node[after]
    total = bytes_.sum()
    rows = [("on one worker", same_worker), ("on one node, between workers", same_node & ~same_worker),
            ("between nodes", ~same_node)]
    matrix = None
    nodes = r.machine["nodes"]
    if 1 < nodes <= MOST_NODES and total > 0 and (node[before] >= 0).all():
        cells = np.bincount(node[before].astype(np.int64) * nodes + node[after], bytes_, nodes * nodes).reshape(nodes, nodes)
        matrix = charts.heat([f"from {i}" for i in range(nodes)], [f"to {i}" for i in range(nodes)], cells.tolist(),
                             "Bytes along dependences, by the node that wrote and the node that read; outlined: within one node",
                             "bytes", size)
    return {"rows": [{"name": name, "count": count(w.sum()), "share": percent(w.mean()) if len(w) else "-",
                      "bytes": size(bytes_[w].sum())} for name, w in rows],
            "total": count(len(before)), "bytes": size(total), "matrix": matrix}
