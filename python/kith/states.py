"""What each worker did at each time (the thread states of the thesis, 3.4): a table of intervals that do not overlap.

States (if several apply, the first counts): `working` (a task's own code), `idle` (looking for work, or asleep), `partitioning`
(a job of the policy), `exploring` (a keyed node names its predecessors), `creating` (tasks), and `scheduling`, which is
all other time: queues, ends of tasks, switching stacks, and the recorder.
"""

import numpy as np
import pandas as pd

from kith.graph.fragments import FRAGMENT

STATES = ("working", "idle", "partitioning", "exploring", "creating", "scheduling")
# MIR's names of these states; it has none for the exploration of keyed graphs. Scheduling inside a wait is TSYNC.
MIR = {"working": "TEXEC", "idle": "TIDLE", "partitioning": "TSCHED", "exploring": "", "creating": "TCREATE", "scheduling": "TSCHED"}
SYNC = "TSYNC"


def states(recording, graph):
    """worker, begun_s, ended_s, state (categorical), task (of `working`; else -1): every worker from the begin of the
    run to its end, in the order of workers and time. 6 s for 10^6 tasks."""
    t, nodes = recording.tasks, graph.nodes
    ran = np.flatnonzero((nodes.kind.to_numpy() == FRAGMENT) & np.isfinite(nodes.begun_s.to_numpy())
                         & (nodes.ended_s.to_numpy() > nodes.begun_s.to_numpy()))
    worker = t.worker.to_numpy()
    task = nodes.task.to_numpy()[ran]
    made = t[(t.creator >= 0) & (t.create_until_s > t.created_s)]
    creating_worker = worker[made.creator.to_numpy()]
    explored = t[(t.explorer >= 0)]
    parts = [(worker[task], nodes.begun_s.to_numpy()[ran], nodes.ended_s.to_numpy()[ran], 0, task)]
    for rows, kind in ((recording.idles, 1), (recording.jobs, 2)):
        parts.append((rows.worker.to_numpy(), rows.begun_s.to_numpy(), rows.ended_s.to_numpy(), kind, None))
    parts.append((explored.explorer.to_numpy(), explored.explore_started_s.to_numpy(),
                  explored.explore_ended_s.to_numpy(), 3, None))
    parts.append((creating_worker, made.created_s.to_numpy(), made.create_until_s.to_numpy(), 4, None))
    every = np.arange(len(recording.workers))
    parts.append((every, np.full(len(every), recording.begin_s), np.full(len(every), recording.end_s), 5, None))
    inside = [(p[0], np.clip(p[1], recording.begin_s, recording.end_s), np.clip(p[2], recording.begin_s, recording.end_s),
               *p[3:]) for p in parts]
    # An idle period that lasts to the end of the run has no row: after its last event a worker was idle.
    last = np.full(len(every), recording.begin_s)
    for p in inside[:-1]:
        known = np.asarray(p[0]) >= 0
        np.maximum.at(last, np.asarray(p[0])[known].astype(np.int64), np.asarray(p[2])[known])
    inside.append((every, last, np.full(len(every), recording.end_s), 1, None))
    return _painted(inside)


def _painted(parts):
    """Intervals (worker, begun, ended, kind, task or None) as a table without overlaps, where lower kinds win."""
    w = np.concatenate([np.asarray(p[0], np.int64) for p in parts])
    begun, ended = np.concatenate([p[1] for p in parts]), np.concatenate([p[2] for p in parts])
    kind = np.concatenate([np.full(len(p[0]), p[3], np.int8) for p in parts])
    task = np.concatenate([np.full(len(p[0]), -1) if p[4] is None else p[4] for p in parts]).astype(np.int64)
    keep = (w >= 0) & (ended > begun)
    w, begun, ended, kind, task = w[keep], begun[keep], ended[keep], kind[keep], task[keep]
    n = len(w)
    time = np.concatenate([begun, ended])
    opens = np.repeat(np.array([1, -1], np.int8), n)
    order = np.lexsort((opens, time, np.concatenate([w, w])))
    row = order % n if n else order
    opens = opens[order]
    at, who, what = time[order], w[row], kind[row]
    state = np.full(len(order), -1, np.int8)
    for k in range(len(STATES) - 1, -1, -1):
        if (mine := what == k).any():
            state[np.cumsum(np.where(mine, opens, np.int8(0)), dtype=np.int32) > 0] = k
    # A piece of time lasts from an event to the next of the same worker.
    last = np.append(who[1:] != who[:-1], True) if n else np.zeros(0, bool)
    until = np.append(at[1:], 0.0) if n else at
    piece = ~last & (until > at) & (state >= 0)
    # The task of a piece of work is that of the last fragment that began.
    begins = (what == 0) & (opens > 0)
    latest = np.maximum.accumulate(np.where(begins, np.arange(len(order)), -1)) if n else np.zeros(0, np.int64)
    owner = np.where(state == 0, task[row[np.maximum(latest, 0)]], -1) if n else np.zeros(0, np.int64)
    table = pd.DataFrame({"worker": who[piece], "begun_s": at[piece], "ended_s": until[piece], "kind": state[piece],
                          "task": owner[piece]})
    # Neighbours of one state are one interval.
    same = ((table.worker == table.worker.shift()) & (table.kind == table.kind.shift()) & (table.task == table.task.shift())
            & (table.begun_s == table.ended_s.shift())).to_numpy()
    firsts = np.flatnonzero(~same)
    lasts = np.append(firsts[1:], len(table)) - 1
    merged = table.iloc[firsts].reset_index(drop=True)
    merged["ended_s"] = table.ended_s.to_numpy()[lasts] if len(table) else merged.ended_s
    merged["state"] = pd.Categorical.from_codes(merged.pop("kind"), categories=list(STATES))
    return merged[["worker", "begun_s", "ended_s", "state", "task"]]


def by_worker(table, workers):
    """Seconds of each worker (rows) in each state (columns)."""
    seconds = (table.ended_s - table.begun_s).groupby([table.worker, table.state], observed=False).sum()
    return seconds.unstack(fill_value=0.0).reindex(index=range(workers), columns=list(STATES), fill_value=0.0)


def idle_beside_ready(recording, table):
    """Worker-seconds that were idle while tasks waited for a worker: at each moment the lesser of the numbers of idle
    workers and of tasks that were ready, wholly created and not started, place by place."""
    t = recording.tasks[recording.tasks.ran & ~recording.tasks.fence]
    ready = np.fmax(t.ready_s, t.create_until_s).to_numpy()
    started = t.started_s.to_numpy()
    waited = started > ready
    idle = table[table.state == "idle"]
    place = np.asarray(recording.place_of_worker)
    place_of_task, place_of_idle = place[t.worker.to_numpy()], place[idle.worker.to_numpy()]
    total = 0.0
    for p in np.unique(place_of_idle):
        tasks, mine = waited & (place_of_task == p), place_of_idle == p
        rises = [(ready[tasks], 1, 0), (started[tasks], -1, 0), (idle.begun_s.to_numpy()[mine], 0, 1), (idle.ended_s.to_numpy()[mine], 0, -1)]
        at = np.concatenate([times for times, _, _ in rises])
        order = np.argsort(at, kind="stable")
        tasks_now, workers_now = (np.cumsum(np.concatenate([np.full(len(r[0]), r[k]) for r in rises])[order]) for k in (1, 2))
        total += float((np.minimum(tasks_now, workers_now)[:-1] * np.diff(at[order])).sum())
    return total


def with_mir(state):
    """The state's name with MIR's in brackets."""
    return f"{state} ({MIR[state]}, in waits {SYNC})" if state == "scheduling" else f"{state} ({MIR[state]})" if MIR[state] else state


def of_waits(recording, table):
    """The seconds of scheduling in each wait of the recording, without those of waits inside it."""
    w = recording.waits
    found = np.zeros(len(w))
    rows = np.flatnonzero((w.worker.to_numpy() >= 0) & (w.ended_s > w.begun_s).to_numpy())
    if len(rows) == 0:
        return found
    n = len(rows)
    worker, begun, ended = (w[c].to_numpy()[rows] for c in ("worker", "begun_s", "ended_s"))
    time, who = np.concatenate([begun, ended]), np.concatenate([worker, worker])
    step = np.repeat([1, -1], n)
    order = np.lexsort((step, time, who))
    who, at, step, row = who[order], time[order], step[order], order % n
    depth = np.cumsum(step)  # each worker's waits all end, so it is 0 between workers
    # After an end at depth d, the innermost wait is the one that began last at depth d.
    level = pd.Series(np.where(step > 0, row, np.nan))
    inner = level.groupby([who, depth]).ffill().to_numpy()
    upto = np.append(at[1:], 0.0)
    valid = (depth > 0) & (np.append(who[1:] == who[:-1], False)) & np.isfinite(inner)
    spent = _scheduled(table, who[valid], at[valid], upto[valid])
    np.add.at(found, rows[inner[valid].astype(np.int64)], spent)
    return found


def _scheduled(table, worker, begun, ended):
    """The seconds that the worker was scheduling between the two times, for each row."""
    s = table[table.state == "scheduling"]
    found = np.zeros(len(worker))
    for who in np.unique(worker):  # of workers, not of tasks
        mine = s[s.worker == who]
        if len(mine) == 0:
            continue
        b, e = mine.begun_s.to_numpy(), mine.ended_s.to_numpy()
        total = np.concatenate([[0.0], np.cumsum(e - b)])

        def before(x, b=b, e=e, total=total):
            i = np.searchsorted(b, x, side="right")
            late = np.where(i > 0, np.maximum(e[np.maximum(i - 1, 0)] - x, 0.0), 0.0)
            return total[i] - late

        rows = worker == who
        found[rows] = before(ended[rows]) - before(begun[rows])
    return found
