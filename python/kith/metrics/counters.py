"""Metrics that need more than times: calibration (`kith calibrate`), or recorded addresses (`kith record --addresses`)."""

import numpy as np
import pandas as pd

from kith.metrics import metric
from kith.touches import LINE


@metric(unit="", source="MIR's tools, memory hierarchy utilisation", better="lower")
def mem_hier_util(a):
    """The share of its time in which it waited for memory: of a calibrated recording, 1 less the time with its data in
    the nearest cache over the recorded time, by type and size. There are no counters of stalled cycles in a recording."""
    c = a.recording.calibration
    if len(c) == 0:
        return None
    accesses = a.recording.accesses
    used = np.bincount(accesses.task.to_numpy(), accesses.touched.to_numpy().astype(float), len(a.recording.tasks))
    with np.errstate(divide="ignore"):
        size = np.where(used > 0, np.floor(np.log2(np.maximum(used, 1))), -1)
    share = (1 - c.hot_s / c.plain_s).clip(0, 1)
    known = pd.Series(share.to_numpy(), index=pd.MultiIndex.from_arrays([c.type, c["size"].astype(float)]))
    asked = pd.MultiIndex.from_arrays([a.recording.tasks.type.astype(np.int64), size])
    return known[~known.index.duplicated()].reindex(asked).to_numpy()


@metric(unit="touches", source="MIR's tools, mem_read")
def loads(a):
    """Loads outside its own stack, of recorded addresses."""
    return None if a.touches is None else a.touches.loads.to_numpy()


@metric(unit="touches", source="MIR's tools, mem_write")
def stores(a):
    """Stores outside its own stack, of recorded addresses."""
    return None if a.touches is None else a.touches.stores.to_numpy()


@metric(unit="bytes", source="MIR's tools, mem_fp", better="lower")
def touched_bytes(a):
    """The lines of 64 bytes that it touched outside its own stack, in bytes, of recorded addresses."""
    return None if a.touches is None else a.touches.lines.to_numpy() * LINE


@metric(unit="", source="thesis 3.4, compute intensity", better="higher")
def compute_int(a):
    """Loads and stores for each distinct address, of recorded addresses. MIR divides instructions by addresses; a
    recording has no count of instructions."""
    if a.touches is None:
        return None
    touched = a.touches.addresses.to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(touched > 0, (a.touches.loads + a.touches.stores).to_numpy() / touched, np.nan)
