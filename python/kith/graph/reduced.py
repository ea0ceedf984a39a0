"""The reduced graph (thesis 3.4, annotated task graph): one node for each task, and one fork and one join for each set
of siblings, the tasks of one creator that one wait waits for.

Edges: `scope` from a task to its first fork, `create` from a fork to its tasks, `sync` from a task without children to
its join, `continue` from a join to its task's next fork or, after the last, to the join of that task; `depend` between
tasks. A task's whole work is charged before its first fork, so the span is never below the fragment graph's.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from kith.columns import FLAGS
from kith.graph.fragments import END, FORK, JOIN, START, roots_in_turn, without_cycles
from kith.graph.paths import LongestPaths, longest_paths

TASK = 6
EDGE_KINDS = ("scope", "create", "sync", "continue", "depend")


@dataclass
class ReducedGraph:
    """nodes: kind (TASK, or FORK, JOIN, START, END of fragments.py), task, weight_s; the first rows are the tasks, by id
    edges: source, target, kind (of EDGE_KINDS), bytes
    siblings: of each task, the number of its set of siblings"""

    nodes: pd.DataFrame
    edges: pd.DataFrame
    siblings: np.ndarray

    @cached_property
    def longest(self) -> LongestPaths:
        return longest_paths(self.nodes.weight_s.to_numpy(), self.edges.source.to_numpy(), self.edges.target.to_numpy())

    @property
    def span_s(self):
        return self.longest.length


def creators(tasks):
    """The creator of each task. A node that another node's exploration named counts as created by that node's creator:
    it must be computed before the node that named it."""
    creator = tasks.creator.to_numpy().astype(np.int64)
    named = (tasks["flags"].to_numpy() & FLAGS["discovered"]) != 0
    first = np.where(named & (creator >= 0), creator, np.arange(len(tasks)))
    while (first[first] != first).any():  # each pass doubles the steps
        first = first[first]
    return creator[first]


def sibling_sets(graph):
    """For each task the number of its set: tasks with equal creator and join. Also the sets' creators and joins (nodes
    of the fragment graph)."""
    creator = creators(graph.recording.tasks)
    key = pd.DataFrame({"creator": creator, "join": graph.join})
    number = key.groupby(["creator", "join"], sort=False).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    return number, creator[first], graph.join[first]


def reduced_graph(graph):
    """The ReducedGraph of a FragmentGraph. 4 s for 10^6 tasks."""
    tasks = len(graph.entry)
    number, of, join_of_set = sibling_sets(graph)
    outermost = of < 0  # tasks from outside need no fork: they come from the start
    forks = np.flatnonzero(~outermost)
    fork = np.full(len(of), -1)
    fork[forks] = tasks + np.arange(len(forks))
    ends = graph.nodes.kind.to_numpy() == END
    joins = np.unique(join_of_set[~ends[join_of_set]])
    start, end = tasks + len(forks) + len(joins), tasks + len(forks) + len(joins) + 1
    join_node = np.full(len(graph.nodes), end)
    join_node[joins] = tasks + len(forks) + np.arange(len(joins))
    owner = graph.nodes.task.to_numpy()[joins].astype(np.int64)

    leaf = np.ones(tasks, bool)
    leaf[of[forks]] = False
    # A task whose own joins are none goes on to the join of its children's set, whoever waits there.
    last_join = np.full(tasks, -1)
    np.maximum.at(last_join, owner, joins)  # joins of a task are numbered in their order, its end's join last
    my_join = join_node[graph.join]
    done = np.where(last_join >= 0, join_node[np.maximum(last_join, 0)], np.arange(tasks))

    edges = []

    def add(source, target, kind, size=0):
        edges.append((np.asarray(source, np.int64), np.asarray(target, np.int64), np.full(len(source), kind, np.int8),
                      np.broadcast_to(size, len(source))))

    every = np.arange(tasks)
    # Sets are numbered by their first task, which is the order of creation.
    sets = pd.DataFrame({"of": of[forks], "fork": fork[forks], "joined": join_of_set[forks]})
    first = sets.groupby("of", sort=False).head(1)
    add(first.of, first.fork, 0)
    inside = fork[number] >= 0
    add(fork[number][inside], every[inside], 1)
    add(np.full((~inside).sum(), start), every[~inside], 1)
    add(every[leaf], my_join[leaf], 2)
    position = sets.groupby("of", sort=False).cumcount()
    following = sets.assign(position=position - 1)[position > 0]
    previous = sets.assign(position=position)
    steps = previous.merge(following, on=["of", "position"], how="left", suffixes=("", "_next"))
    mine = graph.nodes.task.to_numpy()[steps.joined] == steps.of
    goes_on = mine & steps.fork_next.notna()
    # Several sets of one task may share a join: then the next fork does not follow it.
    goes_on &= steps.joined != steps.joined_next
    add(join_node[steps.joined[goes_on]], steps.fork_next[goes_on].astype(np.int64), 3)
    unjoined = ~mine & steps.fork_next.notna()
    add(steps.of[unjoined], steps.fork_next[unjoined].astype(np.int64), 0)
    last = np.isin(joins, last_join[last_join >= 0])
    add(join_node[joins[last]], my_join[owner[last]], 3)
    earlier, later = roots_in_turn(graph.recording)
    add(done[earlier], later, 3)
    d = graph.recording.dependences
    add(done[d.before.to_numpy()], d.task.to_numpy(), 4, d.bytes.to_numpy())

    source, target, kind, size = (np.concatenate(c) for c in zip(*edges))
    nodes = pd.DataFrame({
        "kind": np.concatenate([np.full(tasks, TASK, np.int8), np.full(len(forks), FORK, np.int8),
                                np.full(len(joins), JOIN, np.int8), np.array([START, END], np.int8)]),
        "task": np.concatenate([every, of[forks], owner, [-1, -1]]),
        "weight_s": np.concatenate([graph.work_s, np.zeros(len(forks) + len(joins) + 2)])})
    keep = source != target
    # What is certain: creators come before their tasks. The fragment graph's note says that clocks differ.
    keep[keep] = without_cycles(len(nodes), source[keep], target[keep], kind[keep] > 1)
    table = pd.DataFrame({"source": source, "target": target, "kind": kind, "bytes": size})[keep]
    return ReducedGraph(nodes, table.reset_index(drop=True), number)
