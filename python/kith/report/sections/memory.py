"""Memory: allocations, the use by tasks, and the use of each node."""

import numpy as np
import pandas as pd

from kith.columns import DISTRIBUTIONS
from kith.report import charts
from kith.report.sections.locality import _last_home
from kith.touches import LINE
from kith.units import count, percent, rounded, seconds, size

MOST = 20


def values(f):
    r = f.recording
    if not len(r.regions) and not len(r.allocations) and not len(r.streams):
        return None
    footprint = f.analysis.table.footprint.to_numpy()
    used = footprint[footprint > 0]
    modes = r.accesses.groupby("mode").touched.agg(["size", "sum"])
    largest = r.allocations.sort_values("bytes", ascending=False, kind="stable").head(MOST)
    users = r.accesses.groupby("region").size()
    return {"regions": count(len(r.regions)), "bytes": size(_distinct_bytes(r.regions)), "touched": size(r.accesses.touched.sum()),
            "footprints": {"median": size(np.median(used)), "max": size(used.max()), "mean": size(used.mean())} if len(used) else None,
            "histogram": _histogram(used), "reuse": rounded(users.mean()) if len(users) else "0",
            "modes": [{"mode": name, "count": count(modes["size"].get(i, 0)), "bytes": size(modes["sum"].get(i, 0))}
                      for i, name in enumerate(("in", "out", "inout", "concurrent", "commutative")) if i in modes.index],
            "allocations": [{"bytes": size(a.bytes), "distribution": DISTRIBUTIONS.get(a.distribution, "?"),
                             "node": a.node if a.node >= 0 else "spread", "at": seconds(a.at_s),
                             "huge": bool(a.huge), "released": seconds(a.released_s) if a.released_s == a.released_s else "at the end"}
                            for a in largest.itertuples()],
            "recorded_times": r.engine == "sim",
            "more": max(0, len(r.allocations) - MOST), "allocated": size(r.allocations.bytes.sum()), "over_time": _over_time(f),
            "nodes": _by_node(f), "addresses": _addresses(f)}


def _distinct_bytes(regions):
    """Bytes that lie in some region, those of overlapping regions once."""
    order = np.argsort(regions.address.to_numpy(), kind="stable")
    begin = regions.address.to_numpy()[order].astype(float)
    end = begin + regions.bytes.to_numpy()[order]
    before = np.concatenate([[0.0], np.maximum.accumulate(end)[:-1]]) if len(end) else end
    return float(np.maximum(0.0, end - np.maximum(begin, before)).sum())


def _histogram(used):
    if not len(used):
        return []
    power = np.floor(np.log2(used)).astype(int)
    counts = pd.Series(power).value_counts().sort_index()
    most = counts.max()
    return [{"size": f"{size(2.0 ** p)} to {size(2.0 ** (p + 1))}", "count": count(c),
             "bar": charts.stacked([("accent", c / most, str(c))], f"{c} tasks")} for p, c in counts.items()]


def _over_time(f):
    """The bytes that are allocated, over the run."""
    a = f.recording.allocations
    if not len(a) or f.makespan_s <= 0 or f.recording.engine == "sim":  # there they have the times of the recorded run
        return None
    events = pd.concat([pd.Series(a.bytes.to_numpy(), index=a.at_s), pd.Series(-a.bytes[a.released_s.notna()].to_numpy(),
                                                                                index=a.released_s.dropna())]).sort_index(kind="stable")
    level = events.cumsum()
    times = f.begin_s + f.makespan_s * np.arange(200) / 200
    at = np.searchsorted(level.index.to_numpy(), times, side="right") - 1
    held = np.where(at >= 0, level.to_numpy()[np.maximum(at, 0)], 0)
    return {"picture": charts.areas([("accent", held)], max(1.0, held.max()), "Allocated bytes over the run"),
            "most": size(held.max()), "end": seconds(f.makespan_s)}


def _addresses(f):
    """What tasks touched, by type, of recorded addresses: {"rows", "left_out", "ccr": whether instructions are known}."""
    touched = f.analysis.touches
    if touched is None:
        return None
    t = touched.table.assign(type=f.recording.tasks.type.to_numpy())
    known = t.dropna(subset=["loads"])
    known = known[(known.loads + known.stores + known.stack_loads + known.stack_stores) > 0]
    ccr = f.analysis.column("ccr")
    rows = []
    for number in [n for n in f.type_order if (known.type == n).any()][:MOST]:
        mine = known[known.type == number]
        every, stack = (mine[list(c)].to_numpy().sum() for c in (("loads", "stores", "stack_loads", "stack_stores"), ("stack_loads", "stack_stores")))
        rows.append({"colour": int(f.colour_of_type[number]), "name": charts.text(f.type_name(number)), "tasks": count(len(mine)),
                     "loads": count(mine.loads.sum()), "stores": count(mine.stores.sum()), "stack": percent(stack / every),
                     "bytes": size(mine.bytes.median()), "lines": size(mine.lines.median() * LINE),
                     "private": ("≤ " if touched.left_out else "") + percent(mine.private_bytes.sum() / max(1.0, mine.bytes.sum())),
                     "ccr": "-" if ccr is None else rounded(np.nanmedian(ccr[mine.index])) if np.isfinite(ccr[mine.index]).any() else "-"})
    return {"rows": rows, "left_out": charts.text(touched.left_out, 400), "ccr": ccr is not None}


def _by_node(f):
    r = f.recording
    if r.machine["nodes"] < 2:
        return []
    home = _last_home(r)
    length = r.regions.bytes.to_numpy().astype(float)
    known = home >= 0
    if not known.any():
        return []
    held = np.bincount(home[known], length[known], r.machine["nodes"])
    return [{"node": i, "bytes": size(b), "bar": charts.stacked([(f"n-{i % 12}", b / held.max(), size(b))], f"node {i}: {size(b)}"),
             "share": percent(b / held.sum())} for i, b in enumerate(held[:64])]
