"""Provenance: the origin of the recording, and the cost of recording it."""

import os

from kith import __version__
from kith.report import charts
from kith.units import count, percent, seconds, size


_ORIGIN = (("host", "host"), ("date", "began (UTC)"), ("command", "command"), ("library", "version of Kith"))


def values(f):
    r = f.recording
    cost = f.recorder_s
    rows = [("tasks", len(r.tasks)), ("accesses", len(r.accesses)), ("regions", len(r.regions)),
            ("dependences", len(r.dependences)), ("waits", len(r.waits)), ("steals", len(r.steals)), ("idle periods", len(r.idles)),
            ("allocations", len(r.allocations)), ("homes", len(r.homes)), ("marks", len(r.marks)), ("counts", len(r.counts)),
            ("places", len(r.places)), ("messages", len(r.messages))]
    tasks = max(1, int(r.tasks.ran.sum()))
    return {"file": charts.text(os.path.basename(r.path)), "size": size(os.path.getsize(r.path)), "version": r.version,
            "meta": [(charts.text(k, 60), charts.text(v, 300)) for k, v in sorted(r.meta.items()) if k not in r.provenance],
            "rows": [(name, count(n)) for name, n in rows if n], "notes": [charts.text(n, 500) for n in f.analysis.notes],
            "marks": [(charts.text(m.name, 60), seconds(m.at_s)) for m in r.marks.head(30).itertuples()],
            "origin": [(heading, charts.text(r.provenance[key], 2000)) for key, heading in _ORIGIN if key in r.provenance],
            "per_task": size(os.path.getsize(r.path) / max(1, len(r.tasks))),
            "package": __version__, "simulated": r.engine == "sim", "dry": r.dry,
            "cost": None if cost is None else {"seconds": seconds(cost), "per_task": seconds(cost / tasks),
                                               "share": percent(cost / (cost + f.graph.total_s)) if cost + f.graph.total_s > 0 else "-"}}
