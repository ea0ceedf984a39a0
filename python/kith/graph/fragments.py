"""The fragment graph of a recording (thesis 3.4, unreduced task graph): a task's code is cut by each task that it
creates (a fork) and by each wait (a join).

Edges: `continue` joins the fragments of a task, `create` leads from a fork to the new task, `sync` from a task's end to
the join that waits for it, `depend` from a task's end to one that needs it. A task ends when its children have ended:
if it does not wait for them, its last node is a join. Of a keyed node, an `explore` node precedes the first fragment:
it names the node's predecessors.

Weights are seconds of the task's own code, `work_s`; of a simulated run, what that code took there. Creating,
exploring and waiting weigh nothing: the graph is what the program asks of any machine.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from kith.columns import FLAGS
from kith.graph.paths import LongestPaths, components, longest_paths

FRAGMENT, FORK, JOIN, EXPLORE, START, END = range(6)
KINDS = ("fragment", "fork", "join", "explore", "start", "end")
CONTINUE, CREATE, SYNC, DEPEND = range(4)
EDGE_KINDS = ("continue", "create", "sync", "depend")
FUTURE = 0xFFFFFFFF  # the scope of a wait for a future


@dataclass
class FragmentGraph:
    """nodes: kind (of KINDS), task (-1: start and end), number (of the fragment, fork or join in its task), weight_s,
              begun_s, ended_s (when it ran)
    edges: source, target (rows of nodes), kind (of EDGE_KINDS), bytes
    entry, exit: of each task, its first and its last node;  join: of each task, the join that waits for it
    work_s: of each task, the time of its own code"""

    recording: object
    nodes: pd.DataFrame
    edges: pd.DataFrame
    entry: np.ndarray
    exit: np.ndarray
    join: np.ndarray
    work_s: np.ndarray
    notes: list = field(default_factory=list)

    @cached_property
    def longest(self) -> LongestPaths:
        return longest_paths(self.nodes.weight_s.to_numpy(), self.edges.source.to_numpy(), self.edges.target.to_numpy())

    @property
    def total_s(self):
        """Work: the seconds of all tasks' own code."""
        return float(self.work_s.sum())

    @property
    def span_s(self):
        """Span: the length of the critical path, which no number of cores shortens."""
        return self.longest.length

    @property
    def parallelism(self):
        """Work over span: the average parallelism; 0 without work."""
        return self.total_s / self.span_s if self.span_s > 0 else 0.0

    @cached_property
    def critical_nodes(self):
        return self.longest.path()

    @cached_property
    def critical_tasks(self):
        """Whether each task has a fragment with weight on the critical path."""
        on = np.zeros(len(self.entry), bool)
        nodes = self.critical_nodes
        nodes = nodes[self.nodes.weight_s.to_numpy()[nodes] > 0]
        task = self.nodes.task.to_numpy()[nodes]
        on[task[task >= 0]] = True
        return on


def cuts(recording):
    """Where tasks' code is interrupted: task, begun_s, ended_s, kind (FORK, JOIN), child (-1: a join), wait (-1: a
    fork); in the order of task and time. A task that is sent to another place while its creator waits was created before
    that wait; a wait for its acceptance is part of the fork."""
    t = recording.tasks
    creator, flags = t.creator.to_numpy(), t["flags"].to_numpy()
    # Tasks named by an exploration were not created by the creator's code.
    children = np.flatnonzero((creator >= 0) & ((flags & FLAGS["discovered"]) == 0))
    w = recording.waits
    begun, ended, early = t.created_s.to_numpy().copy(), t.create_until_s.to_numpy().copy(), np.zeros(len(t), np.int8)
    offered, during = _offers(recording, children)
    begun[offered] = w.begun_s.to_numpy()[during]
    ended[offered] = begun[offered]
    early[offered] = -1
    accepted = (w.scope.to_numpy()[during] == FUTURE) & ~_has_result(recording, offered, during)
    ended[offered[accepted]] = w.ended_s.to_numpy()[during[accepted]]
    waits = np.setdiff1d(np.flatnonzero(w.task.to_numpy() >= 0), during[accepted])
    table = pd.DataFrame({
        "task": np.concatenate([creator[children], w.task.to_numpy()[waits]]).astype(np.int64),
        "begun_s": np.concatenate([begun[children], w.begun_s.to_numpy()[waits]]),
        "ended_s": np.concatenate([ended[children], w.ended_s.to_numpy()[waits]]),
        "kind": np.repeat(np.array([FORK, JOIN], np.int8), [len(children), len(waits)]),
        "child": np.concatenate([children, np.full(len(waits), -1)]),
        "wait": np.concatenate([np.full(len(children), -1), waits])})
    early = np.concatenate([early[children], np.zeros(len(waits), np.int8)])
    order = np.lexsort((np.maximum(table.child.to_numpy(), 0), early, table.begun_s.to_numpy(), table.task.to_numpy()))
    return table.iloc[order].reset_index(drop=True)


def _offers(recording, children):
    """(child, wait) of those `children` whose creation overlaps with a wait of their creator. A task that waits creates
    nothing: the place sends what it had created, and may see its acceptance after the task."""
    t, w = recording.tasks, recording.waits
    rows = np.flatnonzero(w.task.to_numpy() >= 0)
    if len(rows) == 0 or len(children) == 0 or not len(recording.places):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    made = pd.DataFrame({"creator": t.creator.to_numpy()[children].astype(np.int64), "child": children,
                         "time": t.created_s.to_numpy()[children], "until": t.create_until_s.to_numpy()[children]})
    asked = pd.DataFrame({"creator": w.task.to_numpy()[rows], "time": w.ended_s.to_numpy()[rows],
                          "begun": w.begun_s.to_numpy()[rows], "row": rows})
    joined = pd.merge_asof(made.sort_values("time", kind="stable"), asked.sort_values("time", kind="stable"), on="time",
                           by="creator", direction="forward", allow_exact_matches=False).dropna(subset="row")
    joined = joined[joined.begun < joined.until]
    return joined.child.to_numpy().astype(np.int64), joined.row.to_numpy().astype(np.int64)


def _has_result(recording, child, wait):
    """For each child, whether its result arrived in the wait beside it."""
    found = pd.MultiIndex.from_arrays(_results(recording, wait))
    return pd.MultiIndex.from_arrays([child, wait]).isin(found)


def fragments_of(recording, cut):
    """The fragments between the cuts: task, number, begun_s, ended_s (of tasks that ran; else NaN), weight_s. Those of
    one task stand together, in order, and each task has at least one."""
    t = recording.tasks
    tasks = len(t)
    per_task = np.bincount(cut.task.to_numpy(), minlength=tasks) + 1
    first = np.concatenate([[0], np.cumsum(per_task)])
    task = np.repeat(np.arange(tasks), per_task)
    number = np.arange(len(task)) - first[task]
    begun, ended = np.empty(len(task)), np.empty(len(task))
    begun[first[:-1]] = t.started_s.to_numpy()
    ended[first[1:] - 1] = t.ended_s.to_numpy()
    # Cut k of a task ends fragment k and begins fragment k + 1.
    at = np.arange(len(cut)) + cut.task.to_numpy()
    ended[at] = cut.begun_s.to_numpy()
    begun[at + 1] = cut.ended_s.to_numpy()
    begun = np.where(np.isnan(t.started_s.to_numpy())[task], np.nan, begun)
    gap = np.nan_to_num(np.maximum(ended - begun, 0.0))
    total = np.bincount(task, gap, tasks)
    work = total.copy() if recording.engine == "sim" else t.work_s.to_numpy().copy()
    # Recording has a cost inside tasks, and a dry native run only declares its work: the sum is the task's work.
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(total[task] > 0, gap * (work / total)[task], np.where(number == 0, work[task], 0.0))
    return pd.DataFrame({"task": task, "number": number, "begun_s": begun, "ended_s": ended,
                         "weight_s": weight}), first, work


def _first_wait(recording):
    """For each task, the row of the wait for it: the first of its scope that ended after the task started; -1: none."""
    t, w = recording.tasks, recording.waits
    scope = t.scope.to_numpy()
    rows = np.flatnonzero((w.scope.to_numpy() != FUTURE) & (w.task.to_numpy() >= 0))
    found = np.full(len(t), -1)
    if len(rows) == 0:
        return found
    when = np.where(t.started_s.notna(), t.started_s, t.created_s)
    waits = pd.DataFrame({"row": rows, "scope": w.scope.to_numpy()[rows], "time": w.ended_s.to_numpy()[rows]})
    asked = pd.DataFrame({"task": np.arange(len(t)), "scope": scope, "time": when})
    joined = pd.merge_asof(asked.sort_values("time", kind="stable"), waits.sort_values("time", kind="stable"), on="time",
                           by="scope", direction="forward", allow_exact_matches=True)
    found[joined.task.to_numpy()] = joined.row.fillna(-1).to_numpy().astype(np.int64)
    return found


def _futures(recording, waits):
    """(child, wait) of those of the `waits` that are for futures. Of a result from another place, the message says which
    task is meant. Else the file does not, so it is the child of the waiting task that was completed last during the
    wait."""
    w, t = recording.waits, recording.tasks
    rows = waits[w.scope.to_numpy()[waits] == FUTURE]
    sender, at = _results(recording, rows)
    rows = np.setdiff1d(rows, at)
    done = t[t.completed_s.notna() & (t.creator >= 0)]
    if len(rows) == 0 or len(done) == 0:
        return sender, at
    ends = pd.DataFrame({"creator": done.creator.astype(np.int64), "time": done.completed_s, "child": done.index})
    asked = pd.DataFrame({"creator": w.task.to_numpy()[rows], "time": w.ended_s.to_numpy()[rows],
                          "begun": w.begun_s.to_numpy()[rows], "row": rows})
    joined = pd.merge_asof(asked.sort_values("time"), ends.sort_values("time"), on="time", by="creator")
    joined = joined.dropna(subset="child")
    child = joined.child.to_numpy().astype(np.int64)
    during = t.completed_s.to_numpy()[child] >= joined.begun.to_numpy()
    return np.append(sender, child[during]), np.append(at, joined.row.to_numpy()[during])


def _results(recording, rows):
    """(sender, wait) of the waits for futures, `rows`, in which the result of a child at another place was received."""
    w, m = recording.waits, recording.messages
    creator = recording.tasks.creator.to_numpy()
    m = m[(m.kind == "result") & (m.task >= 0) & (m.spawner >= 0) & (m.received_s > 0)]
    m = m[creator[m.spawner.to_numpy()] == m.task.to_numpy()]
    if len(rows) == 0 or len(m) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    came = pd.DataFrame({"task": m.task.astype(np.int64), "time": m.received_s, "received": m.received_s,
                         "child": m.spawner.astype(np.int64)})
    asked = pd.DataFrame({"task": w.task.to_numpy()[rows], "time": w.ended_s.to_numpy()[rows],
                          "begun": w.begun_s.to_numpy()[rows], "row": rows})
    received = pd.merge_asof(asked.sort_values("time"), came.sort_values("time"), on="time",
                             by="task").dropna(subset="child")
    received = received[received.received >= received.begun]
    return received.child.to_numpy().astype(np.int64), received.row.to_numpy().astype(np.int64)


def roots_in_turn(recording):
    """(earlier, later) of consecutive roots: a thread that calls run twice waits for the first run."""
    roots = np.flatnonzero(recording.tasks.root.to_numpy())
    done = recording.tasks.completed_s.to_numpy()[roots][:-1]
    later = recording.tasks.created_s.to_numpy()[roots][1:] >= done
    return roots[:-1][later], roots[1:][later]


class _Nodes:
    """The numbers of a graph's nodes: fragments first, then cuts, joins at the end of tasks, explorations, start and end."""

    def __init__(self, recording):
        t = recording.tasks
        tasks = len(t)
        self.recording, self.cut = recording, cuts(recording)
        self.fragment, self.first, self.work = fragments_of(recording, self.cut)
        self.explored = np.flatnonzero(t.explorer.to_numpy() >= 0)
        self.creator = t.creator.to_numpy().astype(np.int64)
        waited_by = _first_wait(recording)
        # The task that a scope belongs to is the creator of its first task; it ends after all tasks of the scope.
        scopes, first_of_scope = np.unique(t.scope.to_numpy(), return_index=True)
        owner = self.creator[first_of_scope][np.searchsorted(scopes, t.scope.to_numpy())]
        self.parents = np.unique(owner[(waited_by < 0) & (owner >= 0)])

        self.kinds = [np.full(len(self.fragment), FRAGMENT, np.int8), self.cut.kind.to_numpy(),
                      np.full(len(self.parents), JOIN, np.int8), np.full(len(self.explored), EXPLORE, np.int8),
                      np.array([START, END], np.int8)]
        self.bounds = np.cumsum([0] + [len(k) for k in self.kinds])
        self.cut_node = self.bounds[1] + np.arange(len(self.cut))
        self.end_join = np.full(tasks, -1)  # by task
        self.end_join[self.parents] = self.bounds[2] + np.arange(len(self.parents))
        self.explore = np.full(tasks, -1)  # by task
        self.explore[self.explored] = self.bounds[3] + np.arange(len(self.explored))
        self.start, end = self.bounds[4], self.bounds[4] + 1

        self.entry = np.where(self.explore >= 0, self.explore, self.first[:-1])
        self.exit = np.where(self.end_join >= 0, self.end_join, self.first[1:] - 1)
        self.wait = np.full(len(recording.waits), -1)
        self.is_join = self.cut.kind.to_numpy() == JOIN
        self.wait[self.cut.wait.to_numpy()[self.is_join]] = self.cut_node[self.is_join]
        self.join = np.where(waited_by >= 0, self.wait[waited_by] if len(self.wait) else -1,
                             np.where(owner >= 0, self.end_join[np.maximum(owner, 0)], end))
        self.before_cut = np.arange(len(self.cut)) + self.cut.task.to_numpy()  # the fragment before each cut

    def table(self):
        t, cut, fragment = self.recording.tasks, self.cut, self.fragment
        return pd.DataFrame({
            "kind": np.concatenate(self.kinds),
            "task": np.concatenate([fragment.task, cut.task, self.parents, self.explored, [-1, -1]]).astype(np.int32),
            "number": np.concatenate([fragment.number, self.before_cut - self.first[cut.task.to_numpy()], np.zeros(len(self.parents)),
                                      np.zeros(len(self.explored)), [0, 0]]).astype(np.int32),
            "weight_s": np.concatenate([fragment.weight_s, np.zeros(self.bounds[5] - self.bounds[1])]),
            "begun_s": np.concatenate([fragment.begun_s, cut.begun_s, t.ended_s.to_numpy()[self.parents],
                                       t.explore_started_s.to_numpy()[self.explored], [np.nan, np.nan]]),
            "ended_s": np.concatenate([fragment.ended_s, cut.ended_s, t.completed_s.to_numpy()[self.parents],
                                       t.explore_ended_s.to_numpy()[self.explored], [np.nan, np.nan]])})


def _edges(n):
    """(source, target, kind, bytes) of all edges between _Nodes."""
    recording, first, cut = n.recording, n.first, n.cut
    edges = []

    def add(source, target, kind, size=0):
        source, target = np.broadcast_arrays(np.asarray(source, np.int64), np.asarray(target, np.int64))
        edges.append((source, target, np.full(len(source), kind, np.int8), np.broadcast_to(size, len(source))))

    add(n.before_cut, n.cut_node, CONTINUE)
    add(n.cut_node, n.before_cut + 1, CONTINUE)
    add(first[1:][n.parents] - 1, n.end_join[n.parents], CONTINUE)
    add(n.explore[n.explored], first[:-1][n.explored], CONTINUE)
    forks = ~n.is_join
    add(n.cut_node[forks], n.entry[cut.child.to_numpy()[forks]], CREATE)
    found = np.flatnonzero((n.creator >= 0) & ((recording.tasks["flags"].to_numpy() & FLAGS["discovered"]) != 0))
    finder = n.creator[found]
    add(np.where(n.explore[finder] >= 0, n.explore[finder], first[:-1][finder]), n.entry[found], CREATE)
    add(n.start, n.entry[np.flatnonzero(n.creator < 0)], CREATE)
    earlier, later = roots_in_turn(recording)
    add(n.exit[earlier], n.entry[later], CONTINUE)
    add(n.exit, n.join, SYNC)
    child, row = _futures(recording, cut.wait.to_numpy()[n.is_join])
    add(n.exit[child], n.wait[row], SYNC)
    d = recording.dependences
    add(n.exit[d.before.to_numpy()], first[:-1][d.task.to_numpy()], DEPEND, d.bytes.to_numpy())
    return tuple(np.concatenate(column) for column in zip(*edges))


def fragment_graph(recording):
    """The FragmentGraph of a recording. 5 s and 1 GB for 10^6 tasks."""
    n = _Nodes(recording)
    source, target, kind, size = _edges(n)
    nodes = n.table()
    keep = without_cycles(len(nodes), source, target, (kind == SYNC) | (kind == DEPEND))
    notes = [] if keep.all() else [f"{int((~keep).sum())} edges lie in cycles, and are left out: the recording's clocks differ too much"]
    edges = pd.DataFrame({"source": source[keep], "target": target[keep], "kind": kind[keep], "bytes": size[keep]})
    return FragmentGraph(recording, nodes, edges, n.entry, n.exit, n.join, n.work, notes)


def without_cycles(nodes, source, target, doubtful):
    """Truth values of edges: all but the doubtful ones (given as truth values) that lie in a cycle. Clocks of
    processors may differ by more than a short task, and then the wrong wait seems to wait for a task."""
    rank, count = components(nodes, source, target)
    if count == nodes:
        return np.ones(len(source), bool)
    if rank is None:
        ones = np.ones(len(source), np.int8)
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        _, rank = connected_components(csr_matrix((ones, (source, target)), shape=(nodes, nodes)), connection="strong")
    return (rank[source] != rank[target]) | ~doubtful
