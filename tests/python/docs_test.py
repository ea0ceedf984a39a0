"""docs/report.md has the metrics as they are. usage: docs_test.py --write     writes its table."""

import pathlib
import re
import sys

from kith.metrics import METRICS

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "report.md"
TABLE = re.compile(r"(<!-- metrics -->\n)(.*?)(<!-- end -->)", re.S)


def table():
    lines = ["", "| metric | unit | better | source | what |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| `{m.name}` | {m.unit} | {m.better} | {m.source} | {m.what} |" for m in METRICS]
    return "\n".join([*lines, "", ""])


def test_the_table_of_metrics():
    assert TABLE.search(PAGE.read_text(encoding="utf-8"))[2] == table(), "run tests/python/docs_test.py --write"


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(TABLE.sub(lambda m: m[1] + table() + m[3], PAGE.read_text(encoding="utf-8")), encoding="utf-8")
