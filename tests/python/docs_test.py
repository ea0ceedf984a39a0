"""docs/report.md has the metrics as they are, and the example of a log in docs/recording-format.md can be read. usage:
docs_test.py --write     writes the table of metrics."""

import pathlib
import re
import sys

import pytest

from kith import logs
from kith.metrics import METRICS
from kith.report.replay import MOST_TASKS

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "report.md"
TABLE = re.compile(r"(<!-- metrics -->\n)(.*?)(<!-- end -->)", re.S)


def table():
    lines = ["", "| metric | unit | better | source | what |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| `{m.name}` | {m.unit} | {m.better} | {m.source} | {m.what} |" for m in METRICS]
    return "\n".join([*lines, "", ""])


def test_the_table_of_metrics():
    assert TABLE.search(PAGE.read_text(encoding="utf-8"))[2] == table(), "run tests/python/docs_test.py --write"


def test_the_replay_ends_where_the_page_says():
    assert f"a recording of more than {MOST_TASKS:,} tasks" in PAGE.read_text(encoding="utf-8")


def test_the_example_of_a_log(tmp_path):
    """It says behind each line what is read from it."""
    page = (PAGE.parent / "recording-format.md").read_text(encoding="utf-8")
    lines = re.search(r"<!-- log -->\n\n```text\n(.*?)```", page, re.S)[1].splitlines()
    raw = bytes.fromhex("".join(line[:49] for line in lines))
    assert len(raw) == 16 * len(lines)
    (tmp_path / "about").write_text("workers\t1\n")
    (tmp_path / "0.log").write_bytes(raw[:48] + bytes((64 << 10) - 48) + raw[48:])
    read = logs.Logs(tmp_path)
    created, types, ended, _, begun, until, _ = read.more()
    assert (created.tolist(), types.tolist(), ended.tolist()) == ([0x72, 0x100000000], [2, 0], [0x72, 0x71])
    assert read.types[2] == "nqueens" and read.runs["0.log"].read == len(raw) - 48
    assert begun[0] * 1e3 == pytest.approx(36.22, abs=0.005) and (until - begun)[0] * 1e6 == pytest.approx(3.5, abs=0.05)
    tick = read.runs["0.log"].tick
    assert [round((until - begun)[i] / tick) for i in (0, 1)] == [9152, 7514] and round((begun[1] - until[0]) / tick) == 936


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(TABLE.sub(lambda m: m[1] + table() + m[3], PAGE.read_text(encoding="utf-8")), encoding="utf-8")
