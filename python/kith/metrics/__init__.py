"""Metrics of tasks: each is one function from an Analysis to a column, and one line of the list below.

A function has the decorator @metric(unit=, source=, better=): the unit of its values, the section of the thesis it is
from, and whether lower or higher values are better. It returns one value for each task, NaN where it does not apply
(a task that never ran, a recording without homes), or None if the recording cannot have it at all.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from kith import graph as graphs
from kith import lineage, states
from kith.graph.reduced import sibling_sets


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    source: str
    better: str
    what: str
    compute: object


def metric(unit, source, better=""):
    """Makes a function a Metric; its docstring says what it is."""
    def made(function):
        text = " ".join((function.__doc__ or "").split())
        return Metric(function.__name__, unit, source, better, text, function)
    return made


class Analysis:
    """A recording with what is computed from it once, when it is first asked for. `reference` is another Recording of
    the same program, or an Analysis of one, for work deviation."""

    def __init__(self, recording, reference=None, progress=None):
        self.recording = recording
        self.reference = reference if reference is None or isinstance(reference, Analysis) else Analysis(reference)
        self.progress = progress or (lambda what, share=None: None)
        self._columns = {}

    @property
    def whole(self):
        """The Analysis of all tasks of the run; itself, unless it is a Selection (kith.select)."""
        return self

    @property
    def notes(self):
        """Sentences on what is not known or was left out: of the recording (its remarks), the graph, and recorded addresses."""
        touches = self.touches if len(self.recording.streams) else None
        left_out = [touches.left_out] if touches is not None and touches.left_out else []
        return self.recording.remarks + self.graph.notes + left_out

    @property
    def rows(self):
        """The tasks' numbers in the whole run."""
        return np.arange(len(self.recording.tasks))

    def part(self, values):
        """The values of the tasks here, from values of all tasks of the run."""
        return values

    @cached_property
    def graph(self):
        self.progress("building the task graph")
        return graphs.fragment_graph(self.recording)

    @cached_property
    def reduced(self):
        return graphs.reduced_graph(self.graph)

    @cached_property
    def states(self):
        self.progress("finding what workers did")
        return states.states(self.recording, self.graph)

    @cached_property
    def levels(self):
        """The level of each task: how many steps of the reduced graph (creations, dependences and waits) lead to it,
        without those numbers that no task has."""
        depth = self.reduced.longest.depth[:len(self.recording.tasks)]
        return np.unique(depth, return_inverse=True)[1]

    @cached_property
    def depth(self):
        return lineage.depths(self.recording.tasks)

    @cached_property
    def siblings(self):
        """Of each task the number of its sibling set, equal (creator, join)."""
        return sibling_sets(self.graph)[0]

    @cached_property
    def parallelism(self):
        """Of each task: the median, min and max instantaneous parallelism."""
        self.progress("computing instantaneous parallelism")
        return graphs.parallelism.of_tasks(self.graph)

    @cached_property
    def homes(self):
        from kith.metrics import memory

        self.progress("finding where data was")
        return memory.bytes_by_home(self.recording)

    @cached_property
    def touches(self):
        """What tasks touched, of recorded addresses (a Touched of kith.touches); None without."""
        from kith import touches

        self.progress("reading addresses")
        return touches.of_tasks(self.recording)

    def column(self, name):
        """The metric of this name, a value for each task; None if the recording cannot have it. KeyError: no metric."""
        if name not in self._columns:
            found = next((m for m in METRICS if m.name == name), None)
            if found is None:
                raise KeyError(name)
            self.progress(f"computing {name}")
            values = found.compute(self)
            self._columns[name] = None if values is None else np.asarray(values)
        return self._columns[name]

    @cached_property
    def table(self):
        """All metrics that apply, a column each; the index is the task."""
        columns = {m.name: self.column(m.name) for m in METRICS}
        return pd.DataFrame({name: values for name, values in columns.items() if values is not None})


from kith.metrics import addresses, counters, memory, shape, time  # noqa: E402  (they use what is above)

METRICS = (
    shape.children,
    shape.leaf,
    shape.depth,
    shape.num_siblings,
    shape.inst_par_median,
    shape.inst_par_min,
    shape.inst_par_max,
    shape.on_critical_path,
    time.work,
    time.creation,
    time.sync_per_child,
    time.waited,
    time.parallel_benefit,
    time.work_deviation,
    time.sibling_work_balance,
    time.sibling_work_ratio,
    time.sibling_scatter,
    time.sibling_numa_scatter,
    time.last_to_finish,
    memory.footprint,
    memory.read_bytes,
    memory.written_bytes,
    memory.local_bytes,
    memory.remote_bytes,
    memory.home_node,
    memory.ran_at_home,
    memory.shared_share,
    addresses.loads,
    addresses.stores,
    addresses.stack_loads,
    addresses.stack_stores,
    addresses.distinct_addresses,
    addresses.distinct_bytes,
    addresses.touched_bytes,
    addresses.stack_bytes,
    addresses.private_bytes,
    counters.instructions,
    counters.cycles,
    counters.cache_misses,
    counters.stalled_cycles,
    counters.page_faults,
    counters.context_switches,
    counters.migrations,
    counters.task_clock,
    counters.load_instructions,
    counters.store_instructions,
    counters.branch_instructions,
    counters.fp_instructions,
    counters.vector_instructions,
    counters.ipc,
    counters.misses_per_instruction,
    counters.mem_hier_util,
    addresses.ccr,
    addresses.clr,
    addresses.compute_int,
)
