"""The numbers of `kith top`: of a run that is being recorded, from its logs, or of a recording."""

import os

import numpy as np

from kith import logs
from kith.errors import KithError, printable


def busy_seconds(worker, begun, until, workers):
    """For each worker the seconds that its intervals cover together; they may be nested."""
    found = np.zeros(workers)
    keep = (until > begun) & (worker >= 0) & (worker < workers)
    worker, begun, until = worker[keep], begun[keep], until[keep]
    order = np.lexsort((begun, worker))
    worker, begun, until = worker[order], begun[order], until[order]
    for w in range(workers):  # of workers, not of tasks
        rows = slice(*np.searchsorted(worker, [w, w + 1]))
        b, u = begun[rows], until[rows]
        if len(b):
            covered = np.concatenate([[-np.inf], np.maximum.accumulate(u)[:-1]])
            found[w] = np.maximum(u - np.maximum(b, covered), 0.0).sum()
    return found


class Live:
    """The counts of a run that is being recorded. Each call of `look` reads what was appended since, and returns what
    --json prints. `rate_per_s` and `busy` are of the time between the two calls (at first: of the whole run). A task counts
    when it has ended."""

    def __init__(self, path):
        self.path = path
        self.logs = logs.Logs(logs.parts_of(path))
        self.created = self.done = self.steals = 0
        self.names, self.types = np.zeros(0, np.uint64), np.zeros(0, np.int64)  # created, and not seen to end
        self.early = (np.zeros(0, np.uint64), np.zeros(0))  # ended, but the log of the creation was read before
        self.count, self.seconds = {}, {}
        self.per_worker = np.zeros(0, np.int64)
        self.until = 0.0

    def look(self):
        created, types, ended, seat, begun, until, steals = self.logs.more()
        workers = max(1, self.logs.workers)
        self.per_worker = np.pad(self.per_worker, (0, max(0, workers - len(self.per_worker))))
        self.per_worker += np.bincount(seat[seat < workers], minlength=len(self.per_worker))
        self.created += len(created)
        self.done += len(ended)
        self.steals += steals
        self._by_type(created, types, ended, until - begun)
        before, self.until = self.until, max(self.until, float(until.max(initial=0.0)))
        window = self.until - before
        busy = busy_seconds(seat, np.maximum(begun, before), until, workers)
        share = np.minimum(busy / window, 1.0) if window > 0 else np.zeros(workers)
        return _found(self.path, True, self.until, self.created, self.done, len(ended) / window if window > 0 else 0.0, self.steals,
                      self.per_worker.tolist(), share.tolist(),
                      [(self.logs.types.get(t, f"type {t}"), n, self.seconds[t]) for t, n in self.count.items()])

    def _by_type(self, created, types, ended, took):
        names, kinds = np.concatenate([self.names, created]), np.concatenate([self.types, types])
        ended, took = np.concatenate([self.early[0], ended]), np.concatenate([self.early[1], took])
        order = np.argsort(names, kind="stable")
        names, kinds = names[order], kinds[order]
        at = np.minimum(np.searchsorted(names, ended), max(0, len(names) - 1))
        known = names[at] == ended if len(names) else np.zeros(len(ended), bool)
        kind = kinds[at[known]] if len(names) else kinds
        for t, n, s in zip(*_summed(kind, took[known])):
            self.count[t] = self.count.get(t, 0) + n
            self.seconds[t] = self.seconds.get(t, 0.0) + s
        left = np.ones(len(names), bool)
        left[at[known]] = False
        self.names, self.types, self.early = names[left], kinds[left], (ended[~known], took[~known])


def _summed(kind, took):
    found, row = np.unique(kind, return_inverse=True)
    return found.tolist(), np.bincount(row, minlength=len(found)).tolist(), np.bincount(row, took, len(found)).tolist()


def of_recording(recording):
    """The same numbers of a run that has ended: of all of its time. Only the tasks' own code is busy: waits are known now. A
    dry recording ("dry") does not know how busy workers were: None."""
    t = recording.tasks
    ran = t[t.finished]
    workers = max(1, len(recording.workers))
    took = ran.work_s.to_numpy()
    worker = ran.worker.to_numpy().astype(np.int64)
    length = recording.makespan_s
    busy = np.minimum(np.bincount(worker, took, workers) / length, 1.0) if length > 0 else np.zeros(workers)
    names = [str(n) for n in t["name"].cat.categories]
    kinds = zip(*_summed(ran.type.to_numpy(), took))
    return _found(recording.path, False, length, int((~t.fence).sum()), len(ran), len(ran) / length if length > 0 else 0.0,
                  len(recording.steals), np.bincount(worker, minlength=workers).tolist(),
                  [None] * workers if recording.only_declared else busy.tolist(), [(names[k], n, s) for k, n, s in kinds],
                  recording.only_declared)


def _found(path, live, seconds, created, done, rate, steals, tasks, busy, types, dry=False):
    total = sum(s for _, _, s in types) or 1.0
    return {"file": path, "live": live, "seconds": seconds, "created": created, "done": done, "open": max(0, created - done),
            "rate_per_s": rate, "steals": steals, "dry": dry,
            "workers": [{"worker": w, "tasks": n, "busy": b} for w, (n, b) in enumerate(zip(tasks, busy))],
            "types": [{"name": name, "done": n, "mean_s": s / n, "share": s / total}
                      for name, n, s in sorted(types, key=lambda x: -x[2])]}


def source(path):
    """A Live for a run that is being recorded, or that was killed; None: there is a recording to read instead. Raises
    KithError if there is neither."""
    folder = logs.parts_of(path)
    if os.path.isdir(folder) and (logs.in_use(folder) or not os.path.exists(path)):
        return Live(path)
    if not os.path.exists(path):
        raise KithError(f"{printable(path)}: neither a recording nor one that is being written; `kith record -o FILE -- PROGRAM` "
                        "makes one")
    return None
