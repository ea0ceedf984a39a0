"""The problems of tasks (thesis 3.4), by conditions in an editable file (thresholds.toml)."""

import os
import tomllib
from dataclasses import dataclass

import numpy as np

from kith.conditions import Missing, column_of, holds
from kith.errors import KithError, printable

OWN = os.path.join(os.path.dirname(__file__), "thresholds.toml")


@dataclass(frozen=True)
class Problem:
    name: str
    condition: str
    remedy: str = ""


def thresholds(path=None):
    """The problems of a file of thresholds; without a file, the package's own. Raises KithError."""
    path = path or OWN
    try:
        with open(path, "rb") as f:
            read = tomllib.load(f)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise KithError(f"{printable(path)}: {printable(e)}") from e
    entries = read.get("problem", [])
    if not isinstance(entries, list) or not entries:
        raise KithError(f"{printable(path)}: no [[problem]]; expected entries with name and condition")
    found = []
    for i, entry in enumerate(entries):
        if not (isinstance(entry, dict) and isinstance(entry.get("name"), str) and isinstance(entry.get("condition"), str)):
            raise KithError(f"{printable(path)}: problem {i + 1}: expected a name and a condition, both texts")
        unknown = set(entry) - {"name", "condition", "remedy"}
        if unknown:
            raise KithError(f"{printable(path)}: problem {i + 1}: '{printable(min(unknown))}' is not known; expected "
                            "name, condition, remedy")
        found.append(Problem(entry["name"], entry["condition"], str(entry.get("remedy", ""))))
    return found


def find(analysis, problems):
    """{problem: truth values of the tasks that have it}. Only tasks that ran can have problems. A problem whose metric
    the recording does not have is left out."""
    tasks = analysis.recording.tasks
    ran = tasks.ran.to_numpy() & ~tasks.root.to_numpy()
    column = column_of(analysis)
    found = {}
    for p in problems:
        try:
            found[p] = holds(p.condition, column, len(tasks)) & ran
        except Missing as e:
            if not _is_metric(e.args[0]):
                raise KithError(f"problem '{printable(p.name)}': no column '{printable(e.args[0])}'") from e
    return found


def tasks_by_problem(analysis, problems):
    """find() of the whole run, for the tasks of `analysis`, which may be a Selection."""
    return {p: analysis.part(which) for p, which in find(analysis.whole, problems).items()}


def _is_metric(name):
    from kith.metrics import METRICS

    return any(m.name == name for m in METRICS)


def sentence(problem, which, critical):
    """The sentence that the thesis' tools print: how many tasks have the problem, and how many of these are on the
    critical path."""
    count = int(np.count_nonzero(which))
    return (f"{count} task{'s have' if count != 1 else ' has'} a problem with {problem.name} ({problem.condition}), "
            f"{int(np.count_nonzero(which & critical))} of which are on the critical path")
