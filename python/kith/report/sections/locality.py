"""Locality: where data was and where it was used, who stole from whom, and maps of the largest arrays."""

import numpy as np
import pandas as pd

from kith.report import charts
from kith.report.sections import sharing
from kith.units import count, percent, size

MOST_NODES, MOST_WORKERS, ARRAYS, CELLS = 32, 16, 6, 256


def values(f):
    r = f.recording
    homes = r.machine["nodes"] > 1 and f.knows_homes
    found = {"homes": homes, "nodes": r.machine["nodes"], "steals": len(r.steals), "matrix": None, "types": [], "arrays": [],
             "unknown": size(f.analysis.homes.unknown.sum())}
    if homes:
        names = [str(i) for i in range(r.machine["nodes"])]
        found["near"], found["far"] = size(f.bytes_near), size(f.bytes_far)
        found["share"] = percent(f.remote_share)
        known = f.analysis.table.ran_at_home.dropna()
        found["at_home"], found["placed"] = percent(known.mean()) if len(known) else "-", count(len(known))
        if r.machine["nodes"] <= MOST_NODES:
            found["matrix"] = charts.heat([f"home {n}" for n in names], [f"ran {n}" for n in names],
                                          f.analysis.homes.matrix.tolist(), "Bytes by the node of their home and the node that "
                                          "used them; outlined: local", "bytes", size)
        found["types"] = _by_type(f)
    found["steal_matrix"], found["steals_by_home"] = _steals(f), _steals_by_home(f)
    found["sharing"] = sharing.values(f) if len(r.accesses) else None
    found["arrays"] = _arrays(f) if len(r.regions) else []
    found["node_legend"] = charts.legend([(f"n-{i % 12}", f"node {i}") for i in range(min(r.machine["nodes"], 12))]) if homes else ""
    return found


def _by_type(f):
    t = f.analysis.table
    type_ = f.recording.tasks.type.to_numpy()
    sums = pd.DataFrame({"type": type_, "near": f.analysis.homes.near, "far": f.analysis.homes.far}).groupby("type").sum()
    home = pd.DataFrame({"type": type_, "home": t.ran_at_home.to_numpy()}).dropna().groupby("type").home.mean()
    sums = sums[(sums.near + sums.far) > 0].sort_values("far", ascending=False)
    return [{"colour": int(f.colour_of_type[n]), "name": charts.text(f.type_name(n)), "near": size(row.near), "far": size(row.far),
             "share": percent(row.far / (row.near + row.far)), "at_home": percent(home[n]) if n in home else "-"}
            for n, row in sums.head(20).iterrows()]


def _steals(f):
    s = f.recording.steals
    if not len(s):
        return None
    known = s[s.victim >= 0]
    if not len(known):
        return None
    thief, victim, names = known.worker.to_numpy(), known.victim.to_numpy(), [str(i) for i in range(f.workers)]
    what = "worker"
    if f.workers > MOST_WORKERS:
        node = f.recording.workers.node.to_numpy()
        if node.max() + 1 > MOST_NODES or node.max() < 1:
            return None
        thief, victim, what = node[thief], node[victim], "node"
        names = [str(i) for i in range(int(node.max()) + 1)]
    matrix = np.zeros((len(names), len(names)))
    np.add.at(matrix, (thief, victim), 1)
    return charts.heat([f"{what} {n}" for n in names], [f"from {n}" for n in names], matrix.tolist(),
                       "Steals: by whom (rows), from whom (columns)" + ("; outlined: within one node" if what == "node" else ""), "steals", lambda v: f"{v:.0f}")


def stolen(recording):
    """Of each steal, the task that it got: the first one that its worker began from then on; -1: none."""
    s, t = recording.steals, recording.tasks
    asked = pd.DataFrame({"worker": s.worker.to_numpy().astype(np.int64), "at": s.at_s.to_numpy(), "row": np.arange(len(s))})
    begun = pd.DataFrame({"worker": t.worker.to_numpy().astype(np.int64), "at": t.started_s.to_numpy(), "task": np.arange(len(t))})
    begun = begun[t.ran.to_numpy() & np.isfinite(t.started_s.to_numpy())]
    found = pd.merge_asof(asked.sort_values("at", kind="stable"), begun.sort_values("at", kind="stable"), on="at", by="worker",
                          direction="forward").sort_values("row")
    return found.task.fillna(-1).to_numpy().astype(np.int64)


def _steals_by_home(f):
    """Steals from queues that several workers share, which have no victim: by the node of the thief, and the one that has most
    of the stolen task's data."""
    whole = f.analysis.whole
    s, node = whole.recording.steals, whole.recording.workers.node.to_numpy()
    nodes = whole.recording.machine["nodes"]
    if not (s.victim < 0).any() or not 1 < nodes <= MOST_NODES:
        return None
    task = stolen(whole.recording)
    thief, home = node[s.worker.to_numpy()], np.where(task >= 0, whole.homes.best[np.maximum(task, 0)], -1)
    rows = (s.victim.to_numpy() < 0) & (thief >= 0) & (home >= 0)
    if not rows.any():
        return None
    matrix = np.zeros((nodes, nodes))
    np.add.at(matrix, (thief[rows], home[rows]), 1)
    names = [str(i) for i in range(nodes)]
    return charts.heat([f"node {n}" for n in names], [f"data on {n}" for n in names], matrix.tolist(),
                       f"{count(rows.sum())} steals from queues that several workers share: by whose workers (rows), and where the "
                       "stolen task's data was (columns); outlined: at home", "steals", lambda v: f"{v:.0f}")


def arrays_of(recording):
    """The array of each region, numbered by size, largest first: regions in one recorded allocation, else neighbours in
    the address space."""
    r = recording.regions
    address, length = r.address.to_numpy(), r.bytes.to_numpy().astype(np.uint64)
    order = np.argsort(address, kind="stable")
    allocations = recording.allocations
    starts = np.sort(allocations.address.to_numpy()) if len(allocations) else np.zeros(0, np.uint64)
    within = np.searchsorted(starts, address[order], side="right")
    end = np.maximum.accumulate(address[order] + length[order])
    gap = address[order][1:].astype(float) - end[:-1].astype(float)
    apart = (gap > np.maximum(65536.0, 4.0 * length[order][1:])) | (np.diff(within) != 0)
    group = np.zeros(len(r), np.int64)
    group[order] = np.concatenate([[0], np.cumsum(apart)]) if len(r) else group
    total = np.bincount(group, length.astype(float))
    rank = np.empty(len(total), np.int64)
    rank[np.argsort(-total, kind="stable")] = np.arange(len(total))
    return rank[group]


def _arrays(f):
    """Maps of the largest arrays: cells in the order of addresses, with their home and with the node that wrote most."""
    r = f.recording
    array = arrays_of(r)
    home = _last_home(r)
    writer = _writers(f)
    found = []
    for number in range(min(ARRAYS, int(array.max()) + 1)):
        rows = np.flatnonzero(array == number)
        rows = rows[np.argsort(r.regions.address.to_numpy()[rows], kind="stable")]
        length = r.regions.bytes.to_numpy()[rows].astype(float)
        if length.sum() == 0:
            continue
        cells = np.arange(len(rows)) * min(len(rows), CELLS) // len(rows)
        found.append({"name": f"array {number}", "regions": count(len(rows)), "bytes": size(length.sum()),
                      "home": _strip(cells, home[rows], length, "home"), "wrote": _strip(cells, writer[rows], length, "written on"),
                      "same": percent(length[(home[rows] == writer[rows]) & (home[rows] >= 0)].sum() / length.sum())})
    return found if (home >= 0).any() or r.machine["nodes"] > 1 else []


def _strip(cells, node, length, what):
    table = pd.DataFrame({"cell": cells, "node": node, "bytes": length}).groupby(["cell", "node"]).bytes.sum().reset_index()
    best = table.sort_values("bytes", kind="stable").drop_duplicates("cell", keep="last").sort_values("cell")
    return charts.stacked([(f"n-{int(n) % 12}" if n >= 0 else "n-none", 1 / len(best), f"{what} node {int(n)}" if n >= 0 else
                            f"{what}: not known") for n in best.node], f"{what}, by address")


def _last_home(recording):
    home = recording.regions.home.to_numpy().astype(np.int64).copy()
    h = recording.homes
    if len(h):
        latest = h.sort_values(["at_s", "bytes"], kind="stable").drop_duplicates("region", keep="last")
        home[latest.region] = latest.node
    return home


def _writers(f):
    r = f.recording
    found = np.full(len(r.regions), -1)
    a = r.accesses[r.accesses.writes]
    node = r.tasks.node.to_numpy()[a.task.to_numpy()]
    table = pd.DataFrame({"region": a.region.to_numpy(), "node": node})[node >= 0].value_counts().reset_index(name="count")
    best = table.sort_values("count", kind="stable").drop_duplicates("region", keep="last")
    found[best.region] = best.node
    return found
