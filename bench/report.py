#!/usr/bin/env python3
"""Turns what `kith-bench dag --json` and `kith-bench metg --json` printed into Markdown tables.

  bench/report.py FILE...                    prints the tables
  bench/report.py FILE... --into PAGE.md     puts them between the file's lines <!-- results --> and <!-- end -->
"""
import argparse
import json
import math
import pathlib
import sys

PATTERNS = ["stencil_1d", "nearest", "dom", "tree", "fft", "random_nearest", "trivial"]
CASES = ["wavefront", "wavefront-address", "cholesky", "independent", "nested"]
WITH_BYTES = ["wavefront", "cholesky"]
BEGIN, END = "<!-- results -->", "<!-- end -->"


def load(files):
    rows = []
    for name in files:
        try:
            found = json.loads(pathlib.Path(name).read_text())
        except (OSError, ValueError) as wrong:
            sys.exit(f"report: {name}: {wrong}; expected what kith-bench prints with --json")
        if not isinstance(found, list) or any("system" not in row or "unit" not in row for row in found):
            sys.exit(f"report: {name}: expected a list of rows with system and unit, as kith-bench prints with --json")
        rows += found
    return rows


def table(head, lines):
    cells = [head, ["---"] * len(head)] + lines
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def unique(values):
    return list(dict.fromkeys(values))


def label(key):
    system, prebuilt = key
    return system + (", prebuilt" if prebuilt else "")


def contenders(rows):
    return sorted(unique((row["system"], row["prebuilt"]) for row in rows), key=lambda key: key[1])


def states(row):
    """The median of each state of the machine, where a figure was measured in several."""
    if len(row["states"]) < 2:
        return ""
    return " (" + ", ".join(f"{name} {s['median']:g}" for name, s in row["states"].items()) + ")"


def dag(rows):
    lines = []
    for key in contenders(rows):
        line = [label(key)]
        for case in CASES:
            mine = [r for r in rows if (r["system"], r["prebuilt"]) == key and r["case"] == case]
            line += [f"{r['median']:g} [{r['min']:g}, {r['max']:g}]{states(r)}" for r in mine[:1]] or ["-"]
        for case in WITH_BYTES:
            mine = [r for r in rows if (r["system"], r["prebuilt"]) == key and r["case"] == case]
            line += [f"{r['bytes_per_task']:g}" if r["bytes_per_task"] else "-" for r in mine[:1]] or ["-"]
        lines.append(line)
    head = ["ns per task: median [min, max]"] + CASES + [f"bytes per task: {WITH_BYTES[0]}"] + WITH_BYTES[1:]
    return table(head, lines)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def metg(rows, metric):
    lines = []
    for key in contenders(rows):
        mine = {(r["pattern"], r["width"]): r for r in rows
                if (r["system"], r["prebuilt"]) == key and r["metric"] == metric}
        line = [label(key)]
        widths = sorted({width for _, width in mine})
        for pattern in PATTERNS:
            here = [mine.get((pattern, width)) for width in widths]
            line.append(" → ".join(("≤ " if r.get("upper_bounds") else "") + f"{r['median']:.3g}" if r else "-" for r in here) or "-")
        means = [[mine[p, width]["median"] for p in PATTERNS if (p, width) in mine] for width in widths]
        line.append(" → ".join(f"{geometric_mean(m):.3g}" if len(m) == len(PATTERNS) else "-" for m in means) or "-")
        lines.append(line)
    return table([f"{metric}, us"] + PATTERNS + ["geometric mean"], lines)


def versions(rows):
    return ", ".join(f"{s} {v}" for s, v in unique((r["system"], r["version"]) for r in rows))


def describe(rows):
    seen = {}
    for row in rows:
        for name, state in row["states"].items():
            seen[name] = seen.get(name, 0) + state["rounds"]
    total = sum(seen.values())
    where = ", ".join(f"{name} in {100 * n / total:.0f}% of the samples" for name, n in seen.items())
    rounds = unique(r["rounds"] for r in rows)
    return (f"{rows[0]['workers']} worker{'s' if rows[0]['workers'] > 1 else ''}; {versions(rows)}. {' to '.join(str(n) for n in unique([min(rounds), max(rounds)]))} rounds; cores {where}; "
            f"real-time scheduling {'on' if rows[0]['realtime'] else 'off'}"
            f"{'; quick samples' if any(r['quick'] for r in rows) else ''}.")


def report(rows):
    return "\n\n".join(part for workers in unique(r["workers"] for r in rows)
                       for part in report_of([r for r in rows if r["workers"] == workers]))


def report_of(rows):
    """The tables of one number of workers."""
    parts = []
    of_dag = [r for r in rows if "case" in r]
    of_metg = [r for r in rows if "pattern" in r]
    if of_dag:
        parts += ["### A task that does nothing (`dag`)", describe(of_dag), dag(of_dag)]
    if of_metg:
        widths = " → ".join(f"width {w}" for w in sorted({r["width"] for r in of_metg}))
        parts += ["### Minimum effective task granularity (`metg`)", f"{describe(of_metg)} Each cell: {widths}."]
        parts += [metg(of_metg, m) for m in ("metg50", "metg75")]
    return parts


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="+", metavar="FILE")
    arguments.add_argument("--into", metavar="README.md")
    chosen = arguments.parse_args()
    text = report(load(chosen.files))
    if not chosen.into:
        print(text)
        return
    target = pathlib.Path(chosen.into)
    page = target.read_text()
    if BEGIN not in page or END not in page:
        sys.exit(f"report: {target}: expected the lines {BEGIN} and {END}")
    before, rest = page.split(BEGIN, 1)
    target.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}")


if __name__ == "__main__":
    main()
