"""Metrics that need more than times: calibration (`kith calibrate`), or recorded addresses (`kith record --addresses`)."""

import numpy as np
import pandas as pd

from kith.metrics import metric


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


@metric(unit="touches/byte", source="thesis 3.4, compute intensity", better="higher")
def compute_int(a):
    """Loads and stores for each byte of its footprint: of recorded addresses, which have no count of instructions."""
    s = a.recording.streams
    if len(s) == 0:
        return None
    touches = np.bincount(s.task.to_numpy(), s.touches.to_numpy().astype(float), len(a.recording.tasks))
    accesses = a.recording.accesses
    used = np.bincount(accesses.task.to_numpy(), accesses.touched.to_numpy().astype(float), len(a.recording.tasks))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(used > 0, touches / used, np.nan)
