"""Some tasks of a run (MIR's characterisation, filtering): those of which a condition holds, those below a task, those with
the greatest values of a metric. What the verbs' --where, --below and --top choose.

Metrics are those of the whole run: a filter chooses tasks, and changes nothing about them.
"""

import difflib
import os
import re
from functools import cached_property

import numpy as np

from kith import lineage
from kith.conditions import Missing, column_of, holds
from kith.contract import with_paths
from kith.errors import KithError, printable
from kith.metrics import METRICS, Analysis
from kith.window import kept


class GraphPart:
    """Of the whole run's fragment graph, what is known of some tasks: work_s, critical_tasks, and the sum total_s."""

    def __init__(self, graph, keep):
        self.work_s, self.critical_tasks, self.notes = graph.work_s[keep], graph.critical_tasks[keep], graph.notes
        self.total_s = float(self.work_s.sum())


class Selection(Analysis):
    """The tasks of `whole` for which `keep` (truth values) holds, as an Analysis: their recording has new numbers,
    which `recording.numbers` maps to the run's, their metrics are those of the whole run, and workers' states have only
    these tasks' code."""

    def __init__(self, whole, keep, described="", ordered_by=""):
        super().__init__(with_paths(whole.recording, keep, kept(whole.recording, keep)), whole.reference, whole.progress)
        self._whole, self.keep, self.described, self.ordered_by = whole, keep, described, ordered_by
        # The run lasts as long as it did.
        self.recording.begin_s, self.recording.end_s = whole.recording.begin_s, whole.recording.end_s

    @property
    def whole(self):
        return self._whole

    @property
    def notes(self):
        return self._whole.notes + self.recording.notes[len(self._whole.recording.notes):]

    @property
    def rows(self):
        return np.flatnonzero(self.keep)

    def part(self, values):
        return values[self.keep]

    def column(self, name):
        values = self._whole.column(name)
        return None if values is None else values[self.keep]

    @cached_property
    def graph(self):
        return GraphPart(self._whole.graph, self.keep)

    @cached_property
    def levels(self):
        return np.unique(self._whole.levels[self.keep], return_inverse=True)[1]

    @cached_property
    def siblings(self):
        return np.unique(self._whole.siblings[self.keep], return_inverse=True)[1]

    @cached_property
    def states(self):
        """The whole run's, without the code of other tasks."""
        number = np.full(len(self.keep) + 1, -1)
        number[:-1][self.keep] = np.arange(self.keep.sum())
        table = self._whole.states
        mine = number[table.task.to_numpy()]
        rows = (table.state != "working").to_numpy() | (mine >= 0)
        return table[rows].assign(task=mine[rows]).reset_index(drop=True)


def select(analysis, where=None, below=None, top=None):
    """The Selection of the tasks that all given filters leave, `top` last; `analysis` itself without filters. Raises
    KithError for a filter that cannot be read, and if no task is left."""
    if where is None and below is None and top is None:
        return analysis
    keep, said = np.ones(len(analysis.recording.tasks), bool), []
    if below is not None:
        task = task_named(analysis.recording, below)
        keep &= subtree(analysis.recording.tasks, task)
        said.append(f"task {task} and those below it")
    if where is not None:
        keep &= _holds(analysis, where)
        said.append(f"tasks with {where}")
    if top is not None:
        keep, text = _top(analysis, top, keep)
        said.append(text)
    ordered_by = top.partition(":")[2] if top else ""
    if not keep.any():
        types = f" (types here: {_types(analysis.recording)})" if where and re.search(r"\bname\b", where) else ""
        raise KithError(f"no task is left by the filters: {printable(', '.join(said), 300)}{types}; loosen one of them")
    return Selection(analysis, keep, ", ".join(said), ordered_by)


def _column(analysis, name, option):
    try:
        return column_of(analysis)(name)
    except (KeyError, Missing) as e:
        raise _unknown(analysis, option, name) from e


def _unknown(analysis, option, name):
    """The error for this name, with a remedy: a metric without its data, a text without quotes, or a misspelling."""
    tasks = analysis.recording.tasks
    metrics = [m.name for m in METRICS]
    if name in metrics:
        why = f"it lacks the data of this metric: {_source(name)}"
    elif name in set(analysis.recording.types.name):
        why = f"a text is in quotes: '{printable(name, 80)}'"
    else:
        near = difflib.get_close_matches(name, [*metrics, *tasks.columns], n=1)
        why = (f"is it {near[0]}? " if near else "") + "docs/report.md has the metrics, help(kith.Recording) the columns of tasks"
    return KithError(f"{option}: no column '{printable(name, 80)}' in this recording; {why}")


def _source(name):
    """The recordings that have this metric, which can be missing."""
    module = next(m.compute.__module__ for m in METRICS if m.name == name).rpartition(".")[2]
    if name.endswith("_instructions"):  # of a kind
        return "`kith record --counters=mix` of a program built with kith::count_instructions has it (docs/check.md)"
    if name == "work_deviation":
        return "a simulated run has it, or name another run of the program by --reference"
    return {"counters": "`kith record --counters` has it where the system counts it (`kith doctor` says what)",
            "addresses": "`kith record --addresses` has it (docs/check.md)"}.get(
                module, "runs on several memory nodes have it, such as those of `kith sim FILE -o OTHER` or of KITH_MACHINE=\"node:2 core:1\"")


def _types(recording):
    """The types that a condition on the name can find, most frequent first."""
    names = [printable(str(n), 40) for n, count in recording.tasks["name"].value_counts().items() if count]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _holds(analysis, where):
    try:
        return holds(where, column_of(analysis), len(analysis.recording.tasks))
    except Missing as e:
        raise _unknown(analysis, f"--where '{printable(where)}'", e.args[0]) from e


def _top(analysis, text, keep):
    number, _, name = text.partition(":")
    if not (number.isascii() and number.isdigit() and len(number) < 13 and int(number) > 0 and name):
        raise KithError(f"--top '{printable(text, 80)}'; expected a number of tasks and a metric, such as 100:work")
    values = np.asarray(_column(analysis, name, f"--top '{printable(text, 80)}'"))
    if values.dtype.kind not in "biuf" or values.ndim == 0:
        raise KithError(f"--top '{printable(text, 80)}': '{printable(name, 80)}' is no column of numbers")
    rows = np.flatnonzero(keep & np.isfinite(values.astype(float)))
    best = rows[np.argsort(-values[rows].astype(float), kind="stable")[:int(number)]]
    found = np.zeros(len(keep), bool)
    found[best] = True
    return found, f"the {len(best)} tasks with the greatest {name}"


def subtree(tasks, task):
    """Truth values: the task, and all that have it as a creator, or as a creator's creator, and so on."""
    n = len(tasks)
    found = np.zeros(n + 1, bool)
    found[task] = True
    up = np.append(np.where(tasks.creator.to_numpy() < 0, n, tasks.creator.to_numpy()), n).astype(np.int64)
    while (up[:n] != n).any():  # each pass doubles the steps
        found |= found[up]
        up = up[up]
    return found[:n]


def task_named(recording, text):
    """The task of a number, of TYPE:N as `kith why` and `kith check` write it (the N-th of its type, from 0), or of a lineage
    such as R-0-3 (numbers of tasks among their creators' tasks, from 0; or a keyed node as R-key:NUMBER, as
    kith.lineage.paths writes it). Raises KithError."""
    tasks = recording.tasks

    def wrong(why):
        return KithError(f"--below '{printable(text, 200)}': {why}; expected the number of a task (0 to {len(tasks) - 1} in "
                         f"{printable(os.path.basename(recording.path), 80)}), its type and its number there, such as gemm:12, or "
                         "its lineage, such as R-0-3")
    if text.isascii() and text.isdigit() and len(text) < 16:
        if int(text) >= len(tasks):
            raise wrong("there is no such task")
        return int(text)
    name, _, count = text.rpartition(":")
    if name and count.isascii() and count.isdigit() and len(count) < 16:
        of_type = np.flatnonzero(tasks["name"].astype(str) == name)
        if int(count) < len(of_type):
            return int(of_type[int(count)])
        if len(of_type):
            raise wrong(f"there are {len(of_type)} tasks of this type")
    steps = text.split("-")
    if steps[0] != "R" or len(steps) < 2:
        raise wrong("it names no task")
    at = -1
    creator, number, keys = tasks.creator.to_numpy(), lineage.child_numbers(tasks), tasks.key.to_numpy()
    for step in steps[1:]:
        kind, _, key = step.rpartition(":")
        if not (key.isascii() and key.isdigit() and len(key) < 21 and kind in ("", "key")):
            raise wrong("it names no task")
        which = (keys == np.uint64(int(key) % 2 ** 64)) & tasks.keyed.to_numpy() if kind else (creator == at) & (number == int(key))
        if not which.any():
            raise wrong("there is no such task")
        at = int(np.argmax(which))
    return at
