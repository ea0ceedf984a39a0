"""Conditions on columns, such as `work > 0.001 and name == "gemm"`: of thresholds and filters.

A condition is parsed into Python's syntax tree and computed here, operation by operation: nothing in it is called or
looked up but columns and given numbers.
"""

import ast
import operator
import re

import numpy as np

from kith.errors import KithError, printable

_COMPARE = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
            ast.NotEq: operator.ne}
_COMPUTE = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_MOST_LETTERS = 2000
_ASSIGNS = re.compile(r"(?<![=<>!:])=(?!=)")
_WITH_UNIT = re.compile(r"(?<![\w.])\d+(?:\.\d*)?\s?(?:ns|us|µs|μs|ms|s|[kKMG]i?B|B)\b")


class Missing(Exception):
    """A condition names a column that this recording does not have."""


def _parsed(condition):
    """The condition as a tree of expressions."""
    if len(condition) > _MOST_LETTERS:
        raise KithError(f"a condition of {len(condition)} letters; expected at most {_MOST_LETTERS}")
    try:
        return ast.parse(condition.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        why = getattr(e, "msg", None) or "it cannot be read"
        if _ASSIGNS.search(condition):
            why = "= compares nothing, == does"
        if number := _WITH_UNIT.search(condition):
            why = f"'{number[0]}' has a unit; numbers are in seconds and bytes"
        raise KithError(f"condition '{printable(condition)}': {why}; expected such as 'work > 0.001 and name == \"gemm\"'") from e


class _Evaluation:
    """Evaluates the parts of a condition for `count` rows, whose columns column(name) gives."""

    def __init__(self, condition, column, count):
        self.condition, self.column, self.count = condition, column, count

    def wrong(self, node):
        what = f"'{printable(ast.unparse(node))}'" if isinstance(node, ast.expr) else type(node).__name__
        return KithError(f"condition '{printable(self.condition)}': {what} is not allowed; expected comparisons of "
                         "columns, numbers and texts, with and, or, not")

    def truth(self, node):
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(v) for v in node.values]
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return join.reduce(parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self.truth(node.operand)
        if isinstance(node, ast.Compare):
            left, result = self.value(node.left), np.ones(self.count, bool)
            for op, right in zip(node.ops, node.comparators):
                if type(op) not in _COMPARE:
                    raise self.wrong(op)
                right = self.value(right)
                with np.errstate(invalid="ignore"):
                    result &= np.asarray(self.compared(op, left, right), bool) & self.known(left) & self.known(right)
                left = right
            return result
        if isinstance(node, ast.Name):
            found = self.value(node)
            if getattr(found, "dtype", None) == bool:
                return found
        raise self.wrong(node)

    def compared(self, op, left, right):
        try:
            found = _COMPARE[type(op)](left, right)
        except TypeError as e:
            raise KithError(f"condition '{printable(self.condition)}': a text is compared with a number") from e
        return np.broadcast_to(found, (self.count,))

    @staticmethod
    def known(x):
        x = np.asarray(x)
        return ~np.isnan(x) if x.dtype.kind == "f" else np.ones(x.shape, bool)

    def value(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            try:
                return operator.neg(self.value(node.operand))
            except TypeError as e:
                raise KithError(f"condition '{printable(self.condition)}': - needs a number after it") from e
        if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTE:
            try:
                with np.errstate(divide="ignore", invalid="ignore"):
                    return _COMPUTE[type(node.op)](self.value(node.left), self.value(node.right))
            except (TypeError, ZeroDivisionError, OverflowError) as e:
                raise KithError(f"condition '{printable(self.condition)}': {e}") from e
        if isinstance(node, ast.Name):
            try:
                return self.column(node.id)
            except KeyError:
                raise Missing(node.id) from None
        raise self.wrong(node)


def holds(condition, column, count):
    """Of which of `count` rows the condition holds, as truth values. `column(name)` gives a column or a number, or
    raises KeyError. Raises KithError for a condition that cannot be read, and Missing for a column that is not there.
    Rows with a NaN in a comparison do not match."""
    tree = _parsed(condition)
    try:
        return _Evaluation(condition, column, count).truth(tree)
    except RecursionError as e:
        raise KithError(f"condition '{printable(condition)}' is nested too deeply") from e


def column_of(analysis):
    """A function for `holds`: metrics (computed when they are asked for), columns of the tasks, and numbers of the run, by
    name. Raises KeyError for other names, and Missing for a metric that the recording does not have."""
    from kith.metrics import METRICS

    metrics = {m.name for m in METRICS}
    tasks = analysis.recording.tasks
    ran = tasks[tasks.ran]
    nodes = max(1, ran.node.nunique())
    cores = max(1, ran.worker.nunique())
    numbers = {"cores": cores, "cores_per_node": max(1, cores // nodes),
               "private_cache_bytes": private_cache_bytes(analysis.recording)}

    def column(name):
        if name in numbers:
            return numbers[name]
        if name in metrics:
            found = analysis.column(name)
            if found is None:
                raise Missing(name)
            return found
        if name == "name":
            return tasks["name"].astype(str).to_numpy()
        if name == "task":
            return np.arange(len(tasks))
        if name == "work_s":
            return analysis.graph.work_s
        return tasks[name].to_numpy()

    return column


def private_cache_bytes(recording):
    """A core's own cache: that of the calibrated machine, else the 512 kB of the thesis' Opteron."""
    text = recording.meta.get("near_bytes", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 and int(text) > 0 else 512_000
