"""The timeline: what each worker did when. Every interval where there are few; else equal pieces of time with what took
most of each."""

import base64

import numpy as np

from kith.graph.parallelism import coverage
from kith.report import charts
from kith.report.facts import COLOURS
from kith.states import STATES, with_mir

MOST_INTERVALS = 60_000
CELLS = 600_000
NOTHING = 255
OTHERS = [s for s in STATES if s != "working"]


def values(f):
    """`data` is for the script: classes 0 to COLOURS are task types, those behind are the other states."""
    if f.makespan_s <= 0 or f.only_declared:
        return None
    f.progress("drawing the timeline")
    table = f.analysis.states
    worker, begun, ended = table.worker.to_numpy(), table.begun_s.to_numpy() - f.begin_s, table.ended_s.to_numpy() - f.begin_s
    task = table.task.to_numpy()
    state = table.state.cat.codes.to_numpy()
    # STATES[0] is working; class COLOURS + k is STATES[k].
    kind = np.where(state == 0, f.colour_of_type[f.recording.tasks.type.to_numpy()[np.maximum(task, 0)]]
                    if len(f.recording.tasks) else 0, COLOURS + state)
    types = [f.type_name(t) for t in f.type_order[:COLOURS]]
    used = set(np.unique(kind).tolist())
    names = [charts.printable(n, 60) for n in types] + [""] * (COLOURS - len(types)) + ["other types"] + [with_mir(s) for s in OTHERS]
    legend = [("t-" + str(i) if i <= COLOURS else "s-" + OTHERS[i - COLOURS - 1], names[i]) for i in range(len(names))
              if i in used]
    data = {"makespan": f.makespan_s, "workers": f.workers, "colours": COLOURS, "names": names, "states": OTHERS,
            "node": f.recording.workers.node.tolist()}
    exact = len(table) <= MOST_INTERVALS
    if exact:
        unit = f.makespan_s / (2 ** 32 - 1)
        data |= {"exact": True, "unit": unit, "count": len(table), "worker": _packed(worker, "<u2"),
                 "begin": _packed(np.round(begun / unit), "<u4"), "end": _packed(np.round(ended / unit), "<u4"),
                 "kind": _packed(kind, "<u1"), "task": _packed(task, "<i4")}
    else:
        bins = int(np.clip(CELLS // max(1, f.workers), 200, 20_000))
        width = f.makespan_s / bins
        best, most = np.full((f.workers, bins), NOTHING, np.uint8), np.zeros((f.workers, bins))
        for k in sorted(used):
            rows = kind == k
            spent = coverage(begun[rows], ended[rows], 0.0, width, bins, worker[rows], f.workers).reshape(f.workers, bins)
            better = spent > most
            best[better], most[better] = k, spent[better]
        share = np.clip(most / width * 255, 0, 255).astype(np.uint8)
        data |= {"exact": False, "bins": bins, "kind": _packed(best.ravel(), "<u1"), "share": _packed(share.ravel(), "<u1")}
    return {"data": data, "legend": charts.legend(legend), "exact": exact, "intervals": len(table)}


def _packed(values, form):
    return base64.b64encode(np.ascontiguousarray(values).astype(form).tobytes()).decode("ascii")
