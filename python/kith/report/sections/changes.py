"""The differences from another recording, and their causes."""

import numpy as np
import pandas as pd

from kith import compare
from kith.report import charts
from kith.states import STATES
from kith.units import count, percent, rounded, seconds, signed


LOWER, HIGHER, NEITHER = 1, -1, 0  # which values are better
CAUSES = 8


def values(f, g):
    """Compares `g` with `f`, the run that the page is about."""
    rows = [("the run took", f.makespan_s, g.makespan_s, seconds, LOWER), ("work", f.graph.total_s, g.graph.total_s, seconds, LOWER),
            ("span", f.graph.span_s, g.graph.span_s, seconds, LOWER),
            ("parallelism", f.graph.parallelism, g.graph.parallelism, rounded, HIGHER)]
    rows += [(f"{s} (all workers)", f.seconds[s].sum(), g.seconds[s].sum(), seconds, NEITHER if s == "working" else LOWER)
             for s in STATES if f.seconds[s].sum() + g.seconds[s].sum() > 0]
    if f.knows_homes or g.knows_homes:
        rows.append(("bytes from other nodes", f.remote_share, g.remote_share, percent, LOWER))
    rows.append(("steals", len(f.recording.steals), len(g.recording.steals), count, NEITHER))
    found = compare.between(f, g)
    alike = compare.alike(found["makespan_s"])
    # Below this, a cause is noise; if the runs take the same time, all are.
    least = np.inf if alike else compare.NOISE * max(found["makespan_s"])
    by = [pd.DataFrame({"name": h.recording.tasks["name"].astype(str), "work": h.graph.work_s}).groupby("name").work.agg(["size", "mean", "sum"])
          for h in (f, g)]
    both = by[0].add_suffix("_a").join(by[1].add_suffix("_b"), how="outer").fillna(0.0)
    both = both.assign(apart=np.abs(both.sum_a - both.sum_b)).sort_values("apart", ascending=False)
    times = g.makespan_s / f.makespan_s if f.makespan_s > 0 else 0.0
    return {"dry": f.only_declared or g.only_declared, "alike": percent(compare.NOISE) if alike else None,
            "warnings": [charts.text(w, 400) for w in found["warnings"]],
            "a": charts.text(f.recording.path.rsplit("/", 1)[-1]), "b": charts.text(g.recording.path.rsplit("/", 1)[-1]),
            "about": [(h.recording.engine, charts.text(h.recording.policy), charts.text(h.recording.machine["name"])) for h in (f, g)],
            "times": rounded(times), "slower": times > 1,
            "causes": [{"what": charts.text(c["what"]), "seconds": signed(seconds, c["b"] - c["a"]), "share": percent(c["share"]),
                        "css": _css(c["b"] - c["a"], 0.01 * f.makespan_s)} for c in found["causes"][:CAUSES] if abs(c["b"] - c["a"]) >= least],
            "notes": [charts.text(n, 400) for n in found["notes"]],
            "rows": [{"name": n, "a": show(a), "b": show(b), "ratio": rounded(b / a) if a > 0 else "-",
                      "css": _css(better * (b / a - 1), 0.05) if a > 0 else ""} for n, a, b, show, better in rows],
            "types": [{"name": charts.text(n), "counts": (int(r.size_a), int(r.size_b)), "means": (seconds(r.mean_a), seconds(r.mean_b)),
                       "ratio": rounded(r.mean_b / r.mean_a) if r.mean_a > 0 and r.mean_b > 0 else "-"} for n, r in both.head(20).iterrows()]}


def _css(more, least):
    return "worse" if more > least else "better" if more < -least else ""
