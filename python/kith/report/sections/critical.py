"""The critical path: the tasks on it, and its length beside the run."""

import pandas as pd

from kith.graph import critical_path
from kith.report import charts
from kith.units import percent, rounded, seconds

MOST_SEGMENTS, MOST_STEPS = 400, 20


def values(f):
    path = critical_path(f.graph)
    if not path:
        return None
    steps = pd.DataFrame(path, columns=["task", "seconds"])
    steps["type"] = f.recording.tasks.type.to_numpy()[steps.task]
    total = steps.seconds.sum()
    by_type = steps.groupby("type").seconds.agg(["sum", "count"]).sort_values("sum", ascending=False)
    all_work = pd.Series(f.graph.work_s).groupby(f.recording.tasks.type.to_numpy()).sum()
    rows = [{"colour": int(f.colour_of_type[t]), "name": charts.text(f.type_name(t)), "steps": int(row["count"]),
             "seconds": seconds(row["sum"]), "share": percent(row["sum"] / total),
             "of_type": percent(row["sum"] / all_work[t]) if all_work[t] > 0 else "-"}
            for t, row in by_type.head(12).iterrows()]
    longest = [{"task": int(s.task), "name": charts.text(f.type_name(int(s.type))), "seconds": seconds(s.seconds),
                "share": percent(s.seconds / total), "worker": int(f.recording.tasks.worker[int(s.task)])}
               for s in steps.sort_values("seconds", ascending=False, kind="stable").head(MOST_STEPS).itertuples()]
    return {"span": seconds(f.graph.span_s), "makespan": seconds(f.makespan_s), "work": seconds(f.graph.total_s),
            "reduced_span": seconds(f.analysis.reduced.span_s), "parallelism": rounded(f.graph.parallelism),
            "of_run": percent(f.graph.span_s / f.makespan_s) if f.makespan_s > 0 and not f.only_declared else None, "steps": len(steps),
            "least": seconds(max(f.graph.span_s, f.graph.total_s / max(1, f.workers))), "strip": _strip(f, steps, total),
            "types": rows, "longest": longest, "more_types": max(0, len(by_type) - 12)}


def _strip(f, steps, total):
    """The path from its start to its end, coloured by type; neighbours of one type are one piece, and pieces too short
    to see are merged into their neighbours."""
    colour = f.colour_of_type[steps.type.to_numpy()]
    pieces = []
    for c, s in zip(colour.tolist(), (steps.seconds / total).tolist()):
        if pieces and (pieces[-1][0] == c or pieces[-1][1] < 1 / MOST_SEGMENTS):
            if s > pieces[-1][2]:
                pieces[-1][0], pieces[-1][2] = c, s
            pieces[-1][1] += s
        else:
            pieces.append([c, s, s])
    names = {int(f.colour_of_type[t]): f.type_name(t) for t in reversed(f.type_order)}
    return charts.stacked([(f"t-{c}", s, charts.printable(names.get(c, "other types"), 60)) for c, s, _ in pieces],
                          "The critical path from start to end, by task type")
