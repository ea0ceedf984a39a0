"""Task types: how long their tasks take, which of them are outliers, which are too fine, which take longer here."""

import numpy as np
import pandas as pd

from kith.report import charts
from kith.report.facts import spread
from kith.units import count, percent, rounded, seconds

MOST = 40
OUTLIER = 5.0  # times the median's absolute deviation above the median, and twice the median


# Column, head, what it is, and from which counts: their sums, the first for each of the second if there are two.
_COUNTED = (
    ("ipc", "instr./cycle", "instructions for each cycle", "instructions", "cycles", 1),
    ("misses", "misses", "misses of the last cache level for each 1000 instructions", "cache_misses", "instructions", 1000),
    ("stalled", "stalled", "stalled cycles for each cycle (memory hierarchy utilisation)", "stalled_cycles", "cycles", 1),
    ("faults", "faults", "page faults", "page_faults", None, 1),
    ("switches", "switches", "context switches", "context_switches", None, 1),
)
# Head, what it is, and the column of the counts: shares of the type's instructions.
_MIX = (
    ("loads", "instructions that read memory", "load_instructions"),
    ("stores", "that write memory", "store_instructions"),
    ("branches", "jumps, calls and returns", "branch_instructions"),
    ("floating point", "that compute with floating-point numbers, one or a vector of them", "fp_instructions"),
    ("vector", "that work on all elements of a vector register", "vector_instructions"),
)


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
    counted = _counted(f, tasks.type.to_numpy())
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
                     "fine_raw": float(fine.mean()), "inflation": rounded(np.median(ratio)) if len(ratio) else "-",
                     "inflation_raw": float(np.median(ratio)) if len(ratio) else 0.0,
                     "counted": [c["by"].get(number, {"text": "-", "raw": 0.0}) for c in counted]})
    found = pd.concat(outliers) if outliers else table.head(0)
    found = found.assign(times=found.work / found["median"]).sort_values("times", ascending=False).head(15)
    return {"rows": rows, "more": max(0, len(f.type_order) - MOST), "low": seconds(low), "high": seconds(high),
            "mix": _mix(f), "inflates": deviation is not None, "reference": _reference(f, deviation, ran), "counted": counted, "estimates": count(estimated(f.recording)),
            "uncounted": charts.text(f.recording.meta.get("counters_missing", ""), 400),
            "outliers": [{"task": int(f.recording.numbers[int(o.task)]), "name": charts.text(f.type_name(int(o.type))), "seconds": seconds(o.work),
                          "times": rounded(o.times), "worker": int(tasks.worker[int(o.task)])} for o in found.itertuples()]}


def _reference(f, deviation, ran):
    """The other run, and the number of this run's tasks that it has."""
    if f.analysis.reference is None or deviation is None:
        return None
    found = np.isfinite(deviation.to_numpy()) & ran
    return {"name": charts.text(f.analysis.reference.recording.path.rsplit("/", 1)[-1]), "found": count(found.sum()),
            "of": count(ran.sum())}


def _counted(f, types):
    """The counts of each type: the columns of _COUNTED that have values."""
    counts = f.recording.counts
    found = []
    for name, head, what, above, below, times in _COUNTED:
        used = counts[[above, below] if below else [above]].dropna()
        if not len(used):
            continue
        sums = used.groupby(types[counts.task.to_numpy()[used.index.to_numpy()]]).sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            number = (times * sums[above] / sums[below] if below else sums[above]).replace([np.inf, -np.inf], np.nan).dropna()
        texts = {int(t): {"text": rounded(v) if below else count(int(v)), "raw": float(v)} for t, v in number.items()}
        found.append({"name": name, "head": head, "what": what, "by": texts})
    return found


def _mix(f):
    """The kinds of each type's instructions: {"kinds", "rows"}; None if they were not counted."""
    used = f.recording.counts[["task", "instructions", *(column for _, _, column in _MIX)]].dropna()
    if not len(used):
        return None
    sums = used.drop(columns="task").groupby(f.recording.tasks.type.to_numpy()[used.task.to_numpy()]).sum()
    rows = []
    for number in [n for n in f.type_order if n in sums.index and sums.instructions[n] > 0][:MOST]:
        mine = sums.loc[number]
        shares = [mine[column] / mine.instructions for _, _, column in _MIX]
        rows.append({"colour": int(f.colour_of_type[number]), "name": charts.text(f.type_name(number)),
                     "instructions": count(int(mine.instructions)), "instructions_raw": int(mine.instructions),
                     "shares": [{"text": percent(s), "raw": float(s), "bar": charts.stacked([("accent", s, percent(s))], head)}
                                for s, (head, _, _) in zip(shares, _MIX)]})
    return {"kinds": [{"head": head, "what": what} for head, what, _ in _MIX], "rows": rows}


def estimated(recording):
    """The number of tasks whose counts of the processor are estimates, because groups of counters took turns."""
    counts = recording.counts
    return int((counts.running_s < counts.enabled_s).sum())


def _far(work):
    median = work.median()
    return (work > median + OUTLIER * (work - median).abs().median()) & (work > 2 * median) & (median > 0)
