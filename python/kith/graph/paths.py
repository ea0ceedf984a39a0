"""Topological order and longest paths of graphs whose nodes have weights. For the other modules of this folder."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from kith.errors import KithError

_EDGES_AT_ONCE = 500_000


@dataclass
class LongestPaths:
    """Of every node: the length of the longest path from the start to it, without its own weight (`distance`), the
    number of nodes before it on the path with most nodes (`depth`), and the node before it on the longest path
    (`before`, -1: none). `last` is the node where the longest path ends, `length` what that path weighs."""

    distance: np.ndarray
    depth: np.ndarray
    before: np.ndarray
    last: int
    length: float

    def path(self):
        """The nodes of the longest path, in its order."""
        before = self.before.tolist()
        found, at = [], self.last
        while at >= 0:
            found.append(at)
            at = before[at]
        return np.array(found[::-1], np.int64)


def components(nodes, source, target):
    """A number of each node such that edges lead from lower to higher numbers, or stay in a cycle's; and how many."""
    ones = np.ones(len(source), np.int8)
    matrix = csr_matrix((ones, (source.astype(np.int32), target.astype(np.int32))), shape=(nodes, nodes))
    count, label = connected_components(matrix, directed=True, connection="strong")
    # SciPy numbers components in an order of the search, forwards or backwards; the edges tell which.
    inner = label[source] == label[target]
    forward = label[source] < label[target]
    if (forward | inner).all():
        return label, count
    if (~forward).all():
        return count - 1 - label, count
    return None, count


def longest_paths(weight, source, target):
    """The longest paths of a graph of len(weight) nodes. Raises KithError if it has a cycle. 1 s for 10^6 edges."""
    nodes = len(weight)
    if nodes == 0:
        return LongestPaths(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64), -1, 0.0)
    rank, count = components(nodes, source, target)
    if count < nodes or (source == target).any():
        raise KithError("the task graph has a cycle: the recording's times or dependences are wrong")
    if rank is None:
        rank = _ranks(nodes, source, target)
    order = np.argsort(rank[source], kind="stable")
    distance, depth, before, own = [0.0] * nodes, [0] * nodes, [-1] * nodes, weight.tolist()
    # An edge is visited after all edges into its source. A level of a chain has one node, and programs have chains of
    # 10^6 tasks, so this is a loop and not a sweep of arrays by levels.
    for begin in range(0, len(order), _EDGES_AT_ONCE):
        some = order[begin:begin + _EDGES_AT_ONCE]
        for u, v in zip(source[some].tolist(), target[some].tolist()):
            at = distance[u] + own[u]
            if at > distance[v] or before[v] < 0:
                distance[v] = at
                before[v] = u
            if depth[u] >= depth[v]:
                depth[v] = depth[u] + 1
    distance = np.array(distance)
    ends = distance + weight
    last = int(np.argmax(ends))
    return LongestPaths(distance, np.array(depth), np.array(before, np.int64), last, float(ends[last]))


def _ranks(nodes, source, target):
    """Kahn's order, for the case that the components' numbers are no order."""
    order = np.argsort(source, kind="stable")
    first = np.searchsorted(source[order], np.arange(nodes + 1)).tolist()
    targets = target[order].tolist()
    left = np.bincount(target, minlength=nodes).tolist()
    ready = [i for i in range(nodes) if left[i] == 0]
    rank = np.zeros(nodes, np.int64)
    at = 0
    while ready:
        u = ready.pop()
        rank[u] = at
        at += 1
        for v in targets[first[u]:first[u + 1]]:
            left[v] -= 1
            if left[v] == 0:
                ready.append(v)
    return rank


def critical_path(graph):
    """The tasks on the critical path of a FragmentGraph in their order, as [(task, seconds)]: neighbouring fragments
    of one task are one entry, and nodes without time are left out."""
    nodes = graph.longest.path()
    nodes = nodes[(graph.nodes.task.to_numpy()[nodes] >= 0) & (graph.nodes.weight_s.to_numpy()[nodes] > 0)]
    if len(nodes) == 0:
        return []
    task = graph.nodes.task.to_numpy()[nodes]
    begins = np.flatnonzero(np.diff(task, prepend=-2))
    seconds = np.add.reduceat(graph.nodes.weight_s.to_numpy()[nodes], begins)
    return list(zip(task[begins].tolist(), seconds.tolist()))
