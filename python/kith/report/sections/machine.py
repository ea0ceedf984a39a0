"""The machine, and which worker was bound to which memory node."""

from kith.errors import printable
from kith.report import charts
from kith.units import seconds

MOST_PLACES = 64


def values(f):
    machine, workers = f.recording.machine, f.recording.workers
    by_node = workers.groupby("node").size()
    nodes = [{"node": int(n), "workers": int(c),
              "list": _ranges(workers.index[workers.node == n].tolist())} for n, c in by_node.items()]
    distances = None
    if machine["distances"] is not None and 1 < machine["nodes"] <= 32:
        names = [str(i) for i in range(machine["nodes"])]
        distances = charts.heat(names, names, machine["distances"].tolist(), "Distances between memory nodes", "node",
                                lambda v: f"{v:g}")
    places = [{"id": i, "host": printable(p.host) or "-", "workers": _ranges(range(p.first_worker, p.first_worker + p.workers)),
               "nodes": _ranges(range(p.first_node, p.first_node + p.nodes)),
               "error": seconds(p.error_s) if p.error_s > 0 else "one clock"}
              for i, p in f.recording.places.head(MOST_PLACES).iterrows()]
    return {"places": places, "more_places": max(0, len(f.recording.places) - MOST_PLACES),
            "name": printable(machine["name"]) or "not recorded", "nodes": nodes, "node_count": machine["nodes"],
            "workers": len(workers), "pretended": machine["pretended"], "simulated": f.recording.engine == "sim",
            "distances": distances, "policy": printable(f.recording.policy), "unbound": bool((workers.node < 0).any()),
            "memory": printable(f.recording.meta.get("memory", "")), "throttle": f.recording.meta.get("throttle", "")}


def _ranges(numbers):
    """0-3, 8 for [0, 1, 2, 3, 8]."""
    found = []
    for n in numbers:
        if found and n == found[-1][1] + 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return ", ".join(f"{a}" if a == b else f"{a}\u2013{b}" for a, b in found[:40]) + (" ..." if len(found) > 40 else "")
