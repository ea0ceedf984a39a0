"""Metrics of recorded addresses (`kith record --addresses`). What a task touched of its own stack counts apart, as in MIR's
tools."""

import numpy as np

from kith import lineage
from kith.metrics import Metric, metric
from kith.touches import LINE


def _touched(name, what, source, unit, better="", column=None, times=1):
    """The Metric of a column of what was touched; None where the recording knows it of no task."""
    def compute(a):
        if a.touches is None:
            return None
        values = a.touches.table[column or name].to_numpy()
        return values * times if np.isfinite(values).any() else None
    return Metric(name, unit, source, better, what, compute)


loads = _touched("loads", "Loads outside its own stack, of recorded addresses.", "MIR's tools, mem_read", "touches")
stores = _touched("stores", "Stores outside its own stack, of recorded addresses.", "MIR's tools, mem_write", "touches")
stack_loads = _touched("stack_loads", "Loads from its own stack, of recorded addresses.", "MIR's tools, stack_read", "touches")
stack_stores = _touched("stack_stores", "Stores to its own stack, of recorded addresses.", "MIR's tools, stack_write", "touches")
distinct_addresses = _touched("distinct_addresses", "Different addresses that it touched outside its own stack: MIR's memory "
                              "footprint, which counts neither bytes nor lines.", "MIR's tools, mem_fp", "addresses", "lower", "addresses")
distinct_bytes = _touched("distinct_bytes", "Different bytes that it touched outside its own stack, of recorded addresses.",
                          "MIR's tools, mem_fp, in bytes", "bytes", "lower", "bytes")
touched_bytes = _touched("touched_bytes", "The lines of 64 bytes that it touched outside its own stack, in bytes, of recorded "
                         "addresses.", "MIR's tools, mem_fp, in lines", "bytes", "lower", "lines", LINE)
stack_bytes = _touched("stack_bytes", "Different bytes of its own stack that it touched, of recorded addresses.",
                       "MIR's tools, stack accesses, in bytes", "bytes", "lower")
private_bytes = _touched("private_bytes", "Bytes outside its own stack that it touched, and no other task of the run whose touches were read: an upper "
                         "bound where some were left out.",
                         "MIR's tools, sharing", "bytes")


def _instructions(a):
    """Instructions of each task, as counted (in this run or that of --counters), or for the same task (by lineage) in the
    reference run; None without. A run that records addresses counts none, which would be those of the recorder, too."""
    own = a.column("instructions")
    if own is not None or a.reference is None:
        return own
    theirs = a.reference.column("instructions")
    return None if theirs is None else lineage.of_same(a.recording.tasks, a.reference.recording.tasks, theirs)


def _for_each(a, touches):
    instructions = _instructions(a)
    if instructions is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(touches > 0, instructions / touches, np.where(touches == 0, instructions, np.nan))


@metric(unit="instructions a touch", source="MIR's tools, ccr", better="higher")
def ccr(a):
    """Compute to communicate ratio: instructions for each load and store outside its own stack; of a task without any, its
    instructions. These are counted in another run: that of --counters, or the reference. MIR's tools round it."""
    if a.touches is None:
        return None
    return _for_each(a, (a.touches.table.loads + a.touches.table.stores).to_numpy())


@metric(unit="instructions a load", source="MIR's tools, clr", better="higher")
def clr(a):
    """Compute to load ratio: instructions for each load outside its own stack, else as the one before."""
    return None if a.touches is None else _for_each(a, a.touches.table.loads.to_numpy())


@metric(unit="", source="thesis 3.4, compute intensity", better="higher")
def compute_int(a):
    """Instructions for each distinct address that it touched outside its own stack. Where no instructions were counted (see
    ccr), its loads and stores for each: less, as most instructions are neither."""
    if a.touches is None:
        return None
    t = a.touches.table
    done = _instructions(a)
    done = t.loads + t.stores if done is None else done
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(t.addresses > 0, done / t.addresses, np.nan)
