"""Task types: how long their tasks take, which of them are outliers, which are too fine, which take longer here."""

import numpy as np
import pandas as pd

from kith.report import charts
from kith.report.facts import spread
from kith.units import count, percent, seconds

MOST = 40
OUTLIER = 5.0  # times the median's absolute deviation above the median, and twice the median


def values(f):
    tasks = f.recording.tasks
    ran = tasks.ran.to_numpy()
    if not ran.any():
        return None
    table = pd.DataFrame({"type": tasks.type.to_numpy(), "work": f.graph.work_s, "task": np.arange(len(tasks))})[ran]
    benefit = f.analysis.table.parallel_benefit.to_numpy()
    deviation = f.analysis.table.get("work_deviation")
    positive = table.work[table.work > 0]
    low, high = (positive.min(), positive.max()) if len(positive) else (0.0, 0.0)
    rows, outliers, by = [], [], dict(list(table.groupby("type")))
    total = table.work.sum() or 1.0
    for number in f.type_order[:MOST]:
        mine = by[number]
        s = spread(mine.work)
        s["q1"], s["q3"] = np.percentile(mine.work, (25, 75))
        far = mine[_far(mine.work)]
        outliers.append(far.assign(median=s["median"]))
        fine = benefit[mine.task.to_numpy()] < 1
        ratio = deviation.to_numpy()[mine.task.to_numpy()] if deviation is not None else np.array([])
        ratio = ratio[np.isfinite(ratio)]
        rows.append({"colour": int(f.colour_of_type[number]), "name": charts.text(f.type_name(number)),
                     "count": count(s["count"]), "count_raw": s["count"], "total": seconds(s["total"]), "total_raw": s["total"],
                     "share": percent(s["total"] / total), "mean": seconds(s["mean"]), "mean_raw": s["mean"],
                     "median": seconds(s["median"]), "median_raw": s["median"], "sd": seconds(s["sd"]), "sd_raw": s["sd"],
                     "max": seconds(s["max"]), "max_raw": s["max"], "box": charts.box(s, low, high),
                     "outliers": count(len(far)), "outliers_raw": len(far), "fine": percent(fine.mean()) if fine.any() else "0",
                     "fine_raw": float(fine.mean()), "inflation": f"{np.median(ratio):.2f}" if len(ratio) else "-",
                     "inflation_raw": float(np.median(ratio)) if len(ratio) else 0.0})
    found = pd.concat(outliers) if outliers else table.head(0)
    found = found.assign(times=found.work / found["median"]).sort_values("times", ascending=False).head(15)
    return {"rows": rows, "more": max(0, len(f.type_order) - MOST), "low": seconds(low), "high": seconds(high),
            "inflates": deviation is not None,
            "outliers": [{"task": int(o.task), "name": charts.text(f.type_name(int(o.type))), "seconds": seconds(o.work),
                          "times": f"{o.times:.1f}", "worker": int(tasks.worker[int(o.task)])} for o in found.itertuples()]}


def _far(work):
    median = work.median()
    return (work > median + OUTLIER * (work - median).abs().median()) & (work > 2 * median) & (median > 0)
