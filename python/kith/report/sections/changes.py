"""What differs from a second recording."""

import numpy as np
import pandas as pd

from kith.report import charts
from kith.states import STATES
from kith.units import percent, seconds


def values(f, g):
    rows = [("the run took", f.makespan_s, g.makespan_s, seconds), ("work", f.graph.total_s, g.graph.total_s, seconds),
            ("span", f.graph.span_s, g.graph.span_s, seconds),
            ("parallelism", f.graph.parallelism, g.graph.parallelism, lambda v: f"{v:.3g}")]
    rows += [(f"{s} (all workers)", f.seconds[s].sum(), g.seconds[s].sum(), seconds) for s in STATES
             if f.seconds[s].sum() + g.seconds[s].sum() > 0]
    if f.knows_homes or g.knows_homes:
        rows.append(("bytes from other nodes", f.remote_share, g.remote_share, percent))
    rows.append(("steals", len(f.recording.steals), len(g.recording.steals), lambda v: f"{v:.0f}"))
    by = [pd.DataFrame({"name": h.recording.tasks["name"].astype(str), "work": h.graph.work_s}).groupby("name").work.agg(["size", "mean", "sum"])
          for h in (f, g)]
    both = by[0].add_suffix("_a").join(by[1].add_suffix("_b"), how="outer").fillna(0.0)
    both = both.assign(apart=np.abs(both.sum_a - both.sum_b)).sort_values("apart", ascending=False)
    times = g.makespan_s / f.makespan_s if f.makespan_s > 0 else 0.0
    return {"a": charts.text(f.recording.path.rsplit("/", 1)[-1]), "b": charts.text(g.recording.path.rsplit("/", 1)[-1]),
            "about": [(h.recording.engine, charts.text(h.recording.policy), charts.text(h.recording.machine["name"])) for h in (f, g)],
            "times": f"{times:.3g}", "slower": times > 1,
            "rows": [{"name": n, "a": show(a), "b": show(b), "ratio": f"{b / a:.2f}" if a > 0 else "-",
                      "css": "worse" if a > 0 and b / a > 1.05 else "better" if a > 0 and b / a < 0.95 else ""} for n, a, b, show in rows],
            "types": [{"name": charts.text(n), "counts": (int(r.size_a), int(r.size_b)), "means": (seconds(r.mean_a), seconds(r.mean_b)),
                       "ratio": f"{r.mean_b / r.mean_a:.2f}" if r.mean_a > 0 and r.mean_b > 0 else "-"} for n, r in both.head(20).iterrows()]}
