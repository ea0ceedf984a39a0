"""Metrics that need counters (`kith record --counters`) or calibration (`kith calibrate`)."""

import numpy as np
import pandas as pd

from kith.metrics import Metric, metric


def _counted(a, column):
    """A column of the table of counts, for each task; None if it has no count at all."""
    counts = a.recording.counts
    if not counts[column].notna().any():
        return None
    return pd.Series(counts[column].to_numpy(), index=counts.task).reindex(range(len(a.recording.tasks))).to_numpy()


def _ratio(a, above, below):
    above, below = _counted(a, above), _counted(a, below)
    if above is None or below is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _count(name, what, source, unit="", better="lower", column=None):
    """The Metric of a column of the counts."""
    return Metric(name, unit, source, better, what, lambda a: _counted(a, column or name))


_HARDWARE, _SYSTEM = "thesis 2.3, hardware counters", "perf_event_open(2)"
instructions = _count("instructions", "Instructions of its own code, as counted.", _HARDWARE, better="")
cycles = _count("cycles", "Cycles of its own code, as counted.", _HARDWARE, "cycles")
cache_misses = _count("cache_misses", "Misses of the last cache level, as counted.", _HARDWARE)
stalled_cycles = _count("stalled_cycles", "Cycles in which the processor waited for memory or another resource, as counted.",
                        "MIR's tools, PAPI_RES_STL", "cycles")
page_faults = _count("page_faults", "Page faults of its own code, as counted.", _SYSTEM)
context_switches = _count("context_switches", "How often its worker's thread lost the CPU, or gave it up, in the task's own code.",
                          _SYSTEM)
migrations = _count("migrations", "How often its worker's thread moved to another CPU in the task's own code.", _SYSTEM)
task_clock = _count("task_clock", "Time for which its worker's thread had a CPU in the task's own code.", _SYSTEM, "s", "",
                    "task_clock_s")
_MIX = "MIR's tools, instruction mix"
load_instructions = _count("load_instructions", "Instructions that read memory, its stack included. One may be of several kinds.", _MIX,
                           better="")
store_instructions = _count("store_instructions", "Instructions that write memory, its stack included.", _MIX, better="")
branch_instructions = _count("branch_instructions", "Jumps, calls and returns.", _MIX, better="")
fp_instructions = _count("fp_instructions", "Instructions that compute with, compare or convert floating-point numbers: one or a vector of "
                         "them.", _MIX, better="")
vector_instructions = _count("vector_instructions", "Instructions that work on all elements of a vector register.", _MIX, better="")


@metric(unit="instructions a cycle", source="thesis 2.3, hardware counters", better="higher")
def ipc(a):
    """Instructions for each cycle, as counted."""
    return _ratio(a, "instructions", "cycles")


@metric(unit="misses an instruction", source="thesis 2.3, hardware counters", better="lower")
def misses_per_instruction(a):
    """Misses of the last cache level for each instruction, as counted."""
    return _ratio(a, "cache_misses", "instructions")


@metric(unit="", source="MIR's tools, memory hierarchy utilisation", better="lower")
def mem_hier_util(a):
    """Stalled cycles for each cycle, as counted. Where these were not counted, of a calibrated recording: the share of
    its time in which it waited for memory, 1 less the time with its data in the nearest cache over the recorded time, by
    type and size."""
    counted = _ratio(a, "stalled_cycles", "cycles")
    return counted if counted is not None else _calibrated_share(a)


def _calibrated_share(a):
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
