"""Messages: what flows along dependences between workers and nodes. A recording has no messages of places; each place
has a recording of its own."""

import numpy as np

from kith.report import charts
from kith.units import count, percent, size

MOST_NODES = 32


def values(f):
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
