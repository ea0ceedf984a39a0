"""Metrics of a task's data: how much, where it was, and who else uses it. Bytes are those that were used (`touched`)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from kith.metrics import metric


class HomeBytes(NamedTuple):
    """Bytes by where they were. Of each task: those on its own node (`near`), on other nodes (`far`), and of regions whose
    home is not known (`unknown`); the node that has most of its bytes (`best`, -1: not known). `matrix`: by home node (rows)
    and the node that ran the task (columns)."""
    near: np.ndarray
    far: np.ndarray
    unknown: np.ndarray
    best: np.ndarray
    matrix: np.ndarray


def bytes_by_home(recording):
    """The HomeBytes of a recording. Regions on several nodes count in their shares."""
    r = recording
    tasks, nodes = len(r.tasks), r.machine["nodes"]
    near, far, unknown = np.zeros(tasks), np.zeros(tasks), np.zeros(tasks)
    best, matrix = np.full(tasks, -1), np.zeros((nodes, nodes))
    at = r.tasks.node.to_numpy()[r.accesses.task.to_numpy()]
    used = np.flatnonzero((at >= 0) & (r.accesses.touched.to_numpy() > 0))
    if len(used) == 0:
        return HomeBytes(near, far, unknown, best, matrix)
    task, region = r.accesses.task.to_numpy()[used], r.accesses.region.to_numpy()[used]
    size, node = r.accesses.touched.to_numpy()[used].astype(float), at[used].astype(np.int64)
    row, home, share = _homes_of(r, region, r.tasks.started_s.to_numpy()[task])
    part = size[row] * share
    known = home >= 0
    same = known & (home == node[row])
    near += np.bincount(task[row[same]], part[same], tasks)
    other = known & ~same
    far += np.bincount(task[row[other]], part[other], tasks)
    unknown += np.bincount(task[row[~known]], part[~known], tasks)
    matrix += np.bincount(home[known] * nodes + node[row[known]], part[known], nodes * nodes).reshape(nodes, nodes)
    where = pd.DataFrame({"task": task[row[known]], "home": home[known], "part": part[known]})
    where = where.groupby(["task", "home"], sort=False).part.sum().reset_index()
    where = where.sort_values("part", kind="stable").drop_duplicates("task", keep="last")
    best[where.task] = where.home
    return HomeBytes(near, far, unknown, best, matrix)


def _homes_of(recording, region, time):
    """(row, home, share): the homes of each given region at that time, as one row for each node that has a share of it;
    home -1: not known. A home counts from its time on; before the first one, the first one counts."""
    h = recording.homes
    nothing = recording.regions.home.to_numpy()[region]
    if len(h) == 0:
        return np.arange(len(region)), nothing, np.ones(len(region))
    order = np.lexsort((h.node.to_numpy(), h.at_s.to_numpy(), h.region.to_numpy()))
    of, at, node, size = (h[c].to_numpy()[order] for c in ("region", "at_s", "node", "bytes"))
    # Rows of one region and one time belong together: a state of that region.
    begins = np.flatnonzero((np.diff(of, prepend=-1) != 0) | (np.diff(at, prepend=-1.0) != 0))
    count = np.diff(np.append(begins, len(of)))
    total = np.add.reduceat(size.astype(float), begins)
    states = pd.DataFrame({"region": of[begins], "time": at[begins], "state": np.arange(len(begins))})
    asked = pd.DataFrame({"region": region, "time": np.nan_to_num(time), "row": np.arange(len(region))})
    found = pd.merge_asof(asked.sort_values("time", kind="stable"), states.sort_values("time", kind="stable"), on="time",
                          by="region").sort_values("row")
    state = found.state.to_numpy()
    first = np.full(len(recording.regions), -1)
    first[of[begins][::-1]] = np.arange(len(begins))[::-1]
    state = np.where(np.isnan(state), first[region], state).astype(np.int64)
    known = state >= 0
    parts = np.where(known, count[np.maximum(state, 0)], 1)
    row = np.repeat(np.arange(len(region)), parts)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    at_row = begins[np.maximum(state, 0)][row] + offset
    inside = known[row]
    at_row = np.where(inside, at_row, 0)
    sum_ = np.maximum(total[np.maximum(state, 0)][row], 1.0)
    return row, np.where(inside, node[at_row], nothing[row]), np.where(inside, size[at_row] / sum_, 1.0)


def _sum(a, rows):
    accesses = a.recording.accesses
    keep = np.ones(len(accesses), bool) if rows is None else accesses[rows].to_numpy()
    return np.bincount(accesses.task.to_numpy()[keep], accesses.touched.to_numpy()[keep].astype(float),
                       len(a.recording.tasks))


@metric(unit="bytes", source="thesis 3.4, memory footprint", better="lower")
def footprint(a):
    """The bytes that it used."""
    return _sum(a, None)


@metric(unit="bytes", source="MIR's tools, memory reads")
def read_bytes(a):
    """The bytes of accesses that may read: all but `out`."""
    return _sum(a, "reads")


@metric(unit="bytes", source="MIR's tools, memory writes")
def written_bytes(a):
    """The bytes of accesses that may write: all but `in`."""
    return _sum(a, "writes")


def _where_known(a, values):
    near, far = a.homes.near, a.homes.far
    if not (near + far).any():
        return None
    return np.where(near + far > 0, values, np.nan)


@metric(unit="bytes", source="thesis 3.2, data distribution", better="higher")
def local_bytes(a):
    """The bytes that it used whose home was the node that ran it."""
    return _where_known(a, a.homes.near)


@metric(unit="bytes", source="thesis 3.2, data distribution", better="lower")
def remote_bytes(a):
    """The bytes that it used whose home was another node."""
    return _where_known(a, a.homes.far)


@metric(unit="node", source="thesis 3.2, data distribution")
def home_node(a):
    """The node that had most of its data."""
    found = _where_known(a, a.homes.best)
    return None if found is None else np.where(a.homes.best >= 0, found, np.nan)


@metric(unit="", source="thesis 3.2, data distribution", better="higher")
def ran_at_home(a):
    """1 if it ran on the node that had most of its data, else 0."""
    node = a.recording.tasks.node.to_numpy()
    found = _where_known(a, (a.homes.best == node).astype(float))
    return None if found is None else np.where((a.homes.best >= 0) & (node >= 0), found, np.nan)


@metric(unit="", source="thesis 3.4, sharing")
def shared_share(a):
    """The share of its bytes in regions that other tasks use as well."""
    accesses = a.recording.accesses
    users = accesses[["task", "region"]].drop_duplicates().groupby("region").size()
    several = users.reindex(range(len(a.recording.regions)), fill_value=0).to_numpy() > 1
    size = accesses.touched.to_numpy().astype(float)
    tasks = accesses.task.to_numpy()
    total = np.bincount(tasks, size, len(a.recording.tasks))
    shared = np.bincount(tasks, size * several[accesses.region.to_numpy()], len(a.recording.tasks))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, shared / total, np.nan)


def sharing(recording, tasks):
    """The matrix of bytes that pairs of the given tasks share (thesis 3.4): entry (i, j) is the size of the regions
    that both name; the diagonal is a task's own size. SciPy's sparse matrix: its cost is the number of pairs that
    share, not of all pairs."""
    from scipy.sparse import csr_matrix

    tasks = np.asarray(tasks)
    place = np.full(len(recording.tasks), -1)
    place[tasks] = np.arange(len(tasks))
    rows = recording.accesses[place[recording.accesses.task.to_numpy()] >= 0].drop_duplicates(["task", "region"])
    ones = csr_matrix((np.ones(len(rows)), (place[rows.task], rows.region)),
                      shape=(len(tasks), len(recording.regions)))
    sizes = recording.regions.bytes.to_numpy().astype(float)
    return (ones.multiply(sizes).tocsr() @ ones.T).tocsr()


@dataclass(frozen=True)
class TypeSharing:
    """matrix: the bytes that tasks of both of the given types use; on the diagonal, that at least two tasks of the type use
    bytes, users, nodes: of each region its size, how many tasks use it, and on how many memory nodes these ran"""

    matrix: np.ndarray
    bytes: np.ndarray
    users: np.ndarray
    nodes: np.ndarray


def sharing_of_types(recording, types):
    """The TypeSharing of a recording (thesis 3.4, sharing), with a matrix of these types: pairs of tasks are too many. Each region counts
    as a whole, however much of it a task used, and overlapping regions count apart. Cost: the accesses, and the square of the
    types that a region's tasks have."""
    from scipy.sparse import csr_matrix

    regions = len(recording.regions)
    pairs = recording.accesses[["task", "region"]].drop_duplicates()
    task, region = pairs.task.to_numpy(), pairs.region.to_numpy()
    size = recording.regions.bytes.to_numpy().astype(float)
    count = csr_matrix((np.ones(len(pairs)), (region, recording.tasks.type.to_numpy()[task])), shape=(regions, len(recording.types)))
    count = count[:, types]
    any_ = (count > 0).astype(float)
    matrix = (any_.multiply(size[:, None]).tocsr().T @ any_).toarray() if regions else np.zeros((len(types), len(types)))
    np.fill_diagonal(matrix, (count > 1).astype(float).T @ size)
    node = recording.tasks.node.to_numpy()[task]
    places = pd.DataFrame({"region": region, "node": node})[node >= 0].drop_duplicates()
    return TypeSharing(matrix, size, np.bincount(region, minlength=regions), np.bincount(places.region, minlength=regions))
