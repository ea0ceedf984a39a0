"""Sharing: which data several tasks use, by types, by how many tasks, and by how many nodes. A part of the section locality."""

import numpy as np

from kith.metrics.memory import sharing_of_types
from kith.report import charts
from kith.units import percent, size

MOST_TYPES = 12


def values(f):
    """None if no two tasks name the same data."""
    types = f.type_order[:MOST_TYPES]
    found = sharing_of_types(f.recording, types)
    whole = found.bytes.sum()
    if not (found.users > 1).any() or whole <= 0:
        return None
    used = np.flatnonzero(found.matrix.any(axis=0))
    names = [charts.text(f.type_name(types[i]), 40) for i in used]
    return {"shared": size(found.bytes[found.users > 1].sum()), "share": percent(found.bytes[found.users > 1].sum() / whole),
            "whole": size(whole), "most": int(found.users.max()),
            "matrix": charts.heat(names, names, found.matrix[np.ix_(used, used)].tolist(), "Bytes that tasks of both types use; "
                                  "outlined: that several tasks of this type use", "", size) if len(used) else None,
            "users": _bars(found.users, found.bytes, whole, "task"),
            "nodes": _bars(found.nodes, found.bytes, whole, "node") if f.recording.machine["nodes"] > 1 else []}


def _bars(users, length, whole, what):
    """Bytes by how many use them: 1, 2, 3 to 4, 5 to 8, and so on."""
    power = np.where(users > 0, np.ceil(np.log2(np.maximum(users, 1))), -1).astype(int)
    bars = []
    for p in range(power.max(initial=-1) + 1):
        held = length[power == p].sum()
        low, high = (2 ** (p - 1) + 1, 2 ** p) if p else (1, 1)
        name = f"{low} {what}{'s' if low > 1 else ''}" if low == high else f"{low} to {high} {what}s"
        bars.append({"name": name, "bytes": size(held), "bar": charts.stacked([("accent", held / whole, size(held))], f"{name}: {size(held)}")})
    return bars
