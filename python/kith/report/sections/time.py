"""The division of the time: what each worker, and each node's workers, spent in which state."""

from kith import states
from kith.recording import DRY
from kith.report import charts
from kith.states import MIR, STATES, SYNC
from kith.units import percent, seconds

MOST_WORKERS = 128


def values(f):
    if f.makespan_s <= 0:
        return None
    if f.only_declared:
        return {"note": DRY}
    used = [s for s in STATES if f.seconds[s].sum() > 0]
    nodes, places = f.recording.workers.node, f.recording.place_of_worker
    return {"note": None, "legend": charts.legend([("s-" + s, f"{s} {percent(f.shares[s])}") for s in used]),
            "workers": _bars(f, f.seconds.head(MOST_WORKERS), used, "worker", f.makespan_s),
            "more": max(0, f.workers - MOST_WORKERS),
            "nodes": _bars(f, f.seconds.groupby(nodes).mean(), used, "node", f.makespan_s) if nodes.nunique() > 1 else [],
            "places": _bars(f, f.seconds.groupby(places).mean(), used, "place", f.makespan_s) if places.any() else [],
            "total": _total(f, used)}


def _total(f, used):
    """The seconds of all workers by state, with MIR's names; of scheduling, how much was inside waits."""
    whole = f.seconds.to_numpy().sum() or 1.0
    rows = [(s, MIR[s], f.seconds[s].sum()) for s in used]
    waits = min(float(states.of_waits(f.recording, f.analysis.states).sum()), f.seconds.scheduling.sum())
    if waits > 0:
        rows = [r for r in rows if r[0] != "scheduling"]
        rows += [("scheduling, in waits", SYNC, waits), ("scheduling, else", MIR["scheduling"], f.seconds.scheduling.sum() - waits)]
    return [{"state": name, "mir": mir or "-", "seconds": seconds(spent), "share": percent(spent / whole)} for name, mir, spent in rows]


def _bars(f, table, used, what, whole):
    bars = []
    for number, row in table.iterrows():
        segments = [("s-" + s, row[s] / whole, f"{s} {percent(row[s] / whole)}, {seconds(row[s])}") for s in used]
        name = f"{what} {number}" if number >= 0 else "not bound"
        bars.append({"name": name, "bar": charts.stacked(segments, f"{name}: " + ", ".join(x[2] for x in segments if x[1] > 0)),
                     "working": percent(row.working / whole)})
    return bars
