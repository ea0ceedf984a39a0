"""The task graph as a tree of groups that a user opens to any depth (MIR's characterisation, aggregation; as in
aggregated grain graphs): a graph of any size is one node at first.

Siblings that are waited for together are a set; those of one type in it are a group; a group of more than 2 FAN tasks is
divided into FAN equal parts, in the order of creation, and so is a row of more than 2 FAN sets. A task that creates others has
its sets below it. A level with a single node is left out: a set of one type is that group, a group of one task that task.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from kith import lineage
from kith.errors import KithError, printable
from kith.graph.reduced import creators

FAN = 12  # a node is opened into FAN parts, or at most twice as many tasks or sets; types are not limited
RUN, SETS, SET, GROUP, PART, TASK = KINDS = ("run", "sets", "set", "group", "part", "task")


@dataclass(frozen=True)
class Node:
    """A row of siblings: those at begin to end - 1 of the tree's order. `first`, `last` and `of` number them, from 1: of
    `sets` and `set` among the creator's sets, of `part` among the tasks of its group."""

    kind: str
    begin: int
    end: int
    first: int = 1
    last: int = 1
    of: int = 1


class Tree:
    """The tree of an Analysis (or of a Selection). `marks`: {name: truth values of its tasks}, such as problems, which
    described() sums up. 10^6 tasks: 1 s."""

    def __init__(self, analysis, marks=None):
        tasks = analysis.recording.tasks
        self.analysis, self.marks = analysis, dict(marks or {})
        parent = creators(tasks)
        made = np.zeros(len(tasks), bool)
        made[parent[parent >= 0]] = True
        self.tasks = np.flatnonzero(tasks.ran.to_numpy() | made)  # without fences, and what was cancelled
        place = np.full(len(tasks) + 1, -1)
        place[self.tasks] = np.arange(len(self.tasks))
        self._parent = place[parent[self.tasks]]
        self._type = tasks.type.to_numpy()[self.tasks].astype(np.int64)
        set_of = analysis.siblings[self.tasks]
        first = np.unique(set_of, return_index=True)
        self._set = first[1][np.searchsorted(first[0], set_of)]  # a set is named by its first task
        self.order = np.lexsort((np.arange(len(self.tasks)), self._type, self._set, self._parent))
        self._begins = np.searchsorted(self._parent[self.order], np.arange(-1, len(self.tasks) + 1))
        self._place_subtrees()
        work = analysis.graph.work_s[self.tasks]
        self._work = work
        critical = np.asarray(analysis.graph.critical_tasks)[self.tasks]
        self._total, self._critical = self._summed(work), self._summed(critical)
        self._marked = {name: (self._summed(which[self.tasks]), self._summed(which[self.tasks] * work))
                        for name, which in self.marks.items()}

    def _place_subtrees(self):
        """Numbers tasks so that a task and all below it are neighbours: `_at` and `_size`."""
        n, parent = len(self.tasks), self._parent.tolist()
        size = [1] * n
        for i in range(n - 1, -1, -1):  # creators have lower numbers
            if parent[i] >= 0:
                size[parent[i]] += size[i]
        self._size = np.array(size, np.int64)
        before = np.cumsum(self._size[self.order]) - self._size[self.order]
        starts = self._begins[:-1][self._parent[self.order] + 1]
        offset = np.empty(n, np.int64)
        offset[self.order] = before - before[starts] if n else before
        steps, at = offset.tolist(), [0] * n
        for i in range(n):
            at[i] = steps[i] + (at[parent[i]] + 1 if parent[i] >= 0 else 0)
        self._at = np.array(at, np.int64)

    def _summed(self, values):
        """Sums from the start, in the order of `_at`."""
        placed = np.empty(len(self.tasks), float)
        placed[self._at] = values
        return np.concatenate([[0.0], np.cumsum(placed)])

    @property
    def root(self):
        return Node("run", 0, int(self._begins[1]))

    def children(self, node):
        """The nodes into which the node is opened: none, if it is a task that created none."""
        if node.kind == TASK:
            task = int(self.order[node.begin])
            begin, end = int(self._begins[task + 1]), int(self._begins[task + 2])
        else:
            begin, end = node.begin, node.end
        if begin == end:
            return []
        if node.kind in (GROUP, PART):
            return self._parts(begin, end, node.first if node.kind == PART else 1, node.of if node.kind == PART else end - begin)
        if node.kind == SET:
            return self._types(begin, end)
        sets = self._set[self.order[begin:end]]
        starts = begin + np.flatnonzero(np.diff(sets, prepend=-1))
        first, of = (node.first, node.of) if node.kind == SETS else (1, len(starts))
        if len(starts) == 1:
            return self._types(begin, end)
        found = []
        for a, b in _pieces(len(starts)):
            rows = int(starts[a]), int(starts[b]) if b < len(starts) else end
            if b - a > 1:
                found.append(Node(SETS, *rows, first + a, first + b - 1, of))
            else:
                found.append(self._one(rows[0], rows[1], first + a, of))
        return found

    def _one(self, begin, end, number, of):
        """The node of a set: of one task, of one type, or of several types."""
        if end - begin == 1:
            return Node(TASK, begin, end)
        return Node(SET, begin, end, number, number, of)

    def _types(self, begin, end):
        kinds = self._type[self.order[begin:end]]
        starts = [*(begin + np.flatnonzero(np.diff(kinds, prepend=-1))).tolist(), end]
        if len(starts) == 2:
            return self._parts(begin, end, 1, end - begin)
        return [Node(TASK if b - a == 1 else GROUP, a, b, 1, b - a, b - a) for a, b in zip(starts, starts[1:])]

    def _parts(self, begin, end, first, of):
        return [Node(TASK, begin + a, begin + b) if b - a == 1 else Node(PART, begin + a, begin + b, first + a, first + b - 1, of)
                for a, b in _pieces(end - begin)]

    def members(self, node):
        """The tasks of the row, as numbers of the analysis' tasks."""
        return self.tasks[self.order[node.begin:node.end]]

    def opens(self, node):
        """Whether the node has children."""
        return node.kind != TASK or bool(self._size[self.order[node.begin]] > 1)

    def described(self, node):
        """{"label", "kind", "task" (the first one's number in the file), "members", "tasks" (with all below), "work_s" (of
        the members), "total_s" (with all below), "median_s", "max_s" (of the members, or of all tasks for the run), "critical" (tasks, with all below),
        "marks": {name: [tasks, share of total_s]}}, the last without zeros."""
        rows = self.order[node.begin:node.end]
        if not len(rows):
            return {"label": "no tasks", "kind": node.kind, "task": -1, "members": 0, "tasks": 0, "work_s": 0.0, "total_s": 0.0,
                    "median_s": 0.0, "max_s": 0.0, "critical": 0, "marks": {}}
        low, high = int(self._at[rows[0]]), int(self._at[rows[-1]] + self._size[rows[-1]])
        work = self._work[rows]
        each = self._work if node.kind == RUN else work
        total = max(0.0, float(self._total[high] - self._total[low]))  # differences of sums are rounded
        marks = {}
        for name, (count, spent) in self._marked.items():
            if (number := int(count[high] - count[low])) > 0:
                marks[name] = [number, min(1.0, max(0.0, float(spent[high] - spent[low]) / total)) if total > 0 else 0.0]
        return {"label": self.label(node), "kind": node.kind, "task": int(self.analysis.recording.numbers[self.tasks[rows[0]]]),
                "members": len(rows), "tasks": high - low, "work_s": float(work.sum()), "total_s": total,
                "median_s": float(np.median(each)), "max_s": float(each.max()),
                "critical": int(self._critical[high] - self._critical[low]), "marks": marks}

    def type_of(self, node):
        """The number of the type of the row's tasks; -1: several."""
        kinds = self._type[self.order[node.begin:node.end]]
        return int(kinds[0]) if len(kinds) and (kinds == kinds[0]).all() else -1

    def label(self, node):
        """The node in a few words. Names are as recorded."""
        names = self.analysis.recording.types.name
        kind = self.type_of(node)
        what = str(names[kind]) if kind >= 0 else "tasks"
        rows = node.end - node.begin
        if node.kind == RUN:
            return "all tasks"
        if node.kind == TASK:
            return f"{what} {int(self.analysis.recording.numbers[self.tasks[self.order[node.begin]]])}"
        if node.kind == SETS:
            return f"waits {node.first} to {node.last} of {node.of}: {rows} {what}"
        if node.kind == SET:
            return f"wait {node.first} of {node.of}: {rows} {what}"
        return f"{rows} {what}" + (f", {node.first} to {node.last} of {node.of}" if node.kind == PART else "")

    def lineages(self, nodes):
        """For each node the lineage of its task, as --below takes it; for a node of several tasks, that of the task
        above; "" for none."""
        rows = [int(self.order[n.begin]) if n.begin < n.end else -1 for n in nodes]
        rows = [r if r < 0 or n.kind == TASK else int(self._parent[r]) for r, n in zip(rows, nodes)]
        known = [i for i, r in enumerate(rows) if r >= 0]
        found = [""] * len(nodes)
        in_run = self.analysis.rows[self.tasks[[rows[i] for i in known]]].tolist()
        for i, text in zip(known, lineage.paths(self.analysis.whole.recording.tasks, in_run)):
            found[i] = text
        return found


def _pieces(count):
    """(begin, end) of FAN pieces of `count` items, as equal as possible; up to twice FAN items are pieces of one."""
    bounds = [i * count // FAN for i in range(FAN + 1)] if count > 2 * FAN else list(range(count + 1))
    return list(zip(bounds, bounds[1:]))


def opened(tree, most, root=None):
    """(nodes, parents, more): the tree from `root` on, opened where most time is until there are `most` nodes: nodes, the
    number of the node above each (-1), in an order in which a node's children are neighbours; and of each whether it has
    children that are not there. Nodes are opened with all of their children."""
    root = root or tree.root
    nodes, parents, inside = [root], [-1], {}
    waiting = [(-tree.described(root)["total_s"], 0)]
    while waiting:
        _, at = heapq.heappop(waiting)
        children = tree.children(nodes[at])
        if len(nodes) + len(children) > max(most, 2):
            continue
        inside[at] = True
        for child in children:
            if tree.opens(child):
                heapq.heappush(waiting, (-tree.described(child)["total_s"], len(nodes)))
            nodes.append(child)
            parents.append(at)
    return nodes, parents, [tree.opens(n) and i not in inside for i, n in enumerate(nodes)]


def at_path(tree, text):
    """The node at a path of child numbers from 1, such as 1.3.2; "" is the root. Raises KithError."""
    node = tree.root
    for step in [s for s in text.split(".") if s]:
        children = tree.children(node)
        if not (step.isascii() and step.isdigit() and len(step) < 10 and 1 <= int(step) <= len(children)):
            here = f"here 1 to {len(children)}" if children else "here none"
            raise KithError(f"--open '{printable(text, 80)}': no node '{printable(step, 20)}' there; expected numbers as "
                            f"`kith graph --tree` prints them, {here}")
        node = children[int(step) - 1]
    return node
