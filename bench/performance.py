#!/usr/bin/env python3
"""Measures Kith beside its peers, and writes docs/performance.md, with its pictures.

  bench/performance.py                    runs all benches (about half an hour); their rows go to build/performance
  bench/performance.py --quick            the same with fewer and shorter samples, in some minutes
  bench/performance.py --only metg,loops  runs these, and replaces their sections of the page; the others stay
  bench/performance.py --rounds 9         takes so many samples of each figure
  bench/performance.py --from FOLDER      runs nothing: of the rows in FOLDER

Pictures need matplotlib, which `make python` installs: build/venv/bin/python3 bench/performance.py. Without it the page has
only tables. Exit code: 1 if a bench failed; the page then says what is missing.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import textwrap

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
PICTURES = ROOT / "docs" / "pictures" / "performance"
POLICIES = ("steal", "numa", "socket", "dep", "rip-dep", "rip-mw", "nabbitc")  # the first is what others are compared with
VERBS = {verb: verb for verb in ("dag", "metg", "oversubscribed", "startup", "forkjoin", "graph", "loops")}
VERBS["policies"] = "dag --systems " + ",".join(f"kith:{p}" for p in POLICIES)

HEAD = """# Performance

What Kith's tasks, joins and loops cost, beside other systems. `bench/performance.py` measures all of it and writes this
page. [The benchmarks](../bench/README.md) says what is measured and how; figures of other machines are in
[scaling](scaling.md). They are of one machine: there to be repeated, not quoted. Compare figures of one table only: its
systems take turns in one run, but the cores may be nearer or faster in the next one.
"""


def wrapped(part):
    """Prose in lines of at most 120 columns; tables, titles and pictures as they are."""
    if part.startswith(("#", "|", "!")):
        return part
    return textwrap.fill(part, 120, break_long_words=False, break_on_hyphens=False)


def cell(row):
    return f"{row['median']:g} [{row['min']:g}, {row['max']:g}]"


def dag(rows):
    return [report.describe(rows), report.dag(rows)]


def policies(rows):
    by_case = {(r["system"], r["case"]): r["median"] for r in rows}
    cases = report.unique(r["case"] for r in rows)
    first = f"kith:{POLICIES[0]}"
    lines = [[s.removeprefix("kith:")] + [f"{by_case[s, c]:g} ({by_case[s, c] / by_case[first, c]:.2f})" for c in cases]
             for s in report.unique(r["system"] for r in rows)]
    return [f"The same tasks under policies that look at data or colors, on a machine where these do not matter; in parentheses, over "
            f"`{POLICIES[0]}`. Where one node has all workers, `numa` to `rip-mw` are `{POLICIES[0]}` itself: their differences are those "
            "of processes. " + report.describe(rows), report.table(["ns per task"] + cases, lines)]


def metg(rows):
    widths = " → ".join(f"width {w}" for w in sorted({r["width"] for r in rows}))
    return [f"{report.describe(rows)} Each cell: {widths}."] + [report.metg(rows, m) for m in ("metg50", "metg75")]


def oversubscribed(rows):
    few, many = min(r["workers"] for r in rows), max(r["workers"] for r in rows)
    systems = report.unique(r["system"] for r in rows)
    lines = []
    for case in report.unique(r["case"] for r in rows):
        line = [case]
        for system in systems:
            here = {r["workers"]: r for r in rows if (r["case"], r["system"]) == (case, system)}
            line.append(f"{here[few]['median']:g} → {here[many]['median']:g} ({here[many]['median'] / here[few]['median']:.2f})"
                        if {few, many} <= here.keys() else "-")
        lines.append(line)
    return [f"Nanoseconds a task with {few} workers, then with {many}, and their ratio. `forkjoin`: a call of fib that makes two "
            "more; `loops`: a loop over 256 elements. The program beside keeps one core busy. " + report.describe(rows),
            report.table([f"{few} → {many} workers"] + systems, lines)]


def startup(rows):
    lines = [[str(w), s, c] + [cell(r) for r in rows if (r["workers"], r["system"], r["case"]) == (w, s, c)]
             for w, s, c in report.unique((r["workers"], r["system"], r["case"]) for r in rows)]
    return ["Milliseconds. The first start of a process includes finding out about the machine (hwloc). `threads`: as many bare "
            "threads as the runtime makes, which sleep until told to end.",
            report.table(["workers", "what", "", "ms"], lines)]


def by_workers(rows, unit):
    counts = sorted({r["workers"] for r in rows})
    cases = report.unique(r["case"] for r in rows)
    columns = [(c, w) for c in cases for w in counts]
    lines = [[s] + [next((cell(r) for r in rows if (r["system"], r["case"], r["workers"]) == (s, c, w)), "-") for c, w in columns]
             for s in report.unique(r["system"] for r in rows)]
    return report.table([unit] + [f"{c}, {w} worker{'s' if w > 1 else ''}" for c, w in columns], lines)


def forkjoin(rows):
    return [f"Nanoseconds a spawn in fib without a cut-off. {report.versions(rows)}.", by_workers(rows, "ns/spawn")]


def graph(rows):
    return ["Nanoseconds a node of a graph that is made before and run again; `kith-repeat` also replaces each task's closure. "
            f"`counters`: counters over arrays, by hand. {report.versions(rows)}.", by_workers(rows, "ns/node")]


def loops(rows):
    return ["Nanoseconds an element; of `tiny`, a loop.", by_workers(rows, "ns")]


def instructions(counts):
    cases = list(next(iter(counts.values())))
    return ["Of an empty task with one worker, by callgrind, if all tasks are queued (`KITH_INLINE=0`): `bench/instructions.sh --json`.",
            report.table(["instructions a task"] + cases, [[p] + [str(of[c]) for c in cases] for p, of in counts.items()])]


SECTIONS = {
    "dag": ("A task that does nothing", dag),
    "policies": ("Policies where locality does not matter", policies),
    "instructions": ("Instructions of a task", instructions),
    "metg": ("Minimum effective task granularity", metg),
    "oversubscribed": ("More workers than cores", oversubscribed),
    "startup": ("Starting and stopping", startup),
    "forkjoin": ("Joins", forkjoin),
    "graph": ("Graphs that run again", graph),
    "loops": ("Loops", loops),
}


def bars(axes, names, values, title):
    axes.barh(names, values, color="#4878a8")
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_title(title)


def picture_of_dag(figure, rows):
    cases = [c for c in report.CASES if any(r["case"] == c for r in rows)]
    for axes, case in zip(figure.subplots(1, len(cases), squeeze=False)[0], cases):
        here = [r for r in rows if r["case"] == case and not r["prebuilt"]]
        bars(axes, [r["system"] for r in here], [r["median"] for r in here], f"{case}, ns a task")


def picture_of_crowds(figure, rows):
    few, many = min(r["workers"] for r in rows), max(r["workers"] for r in rows)
    systems = report.unique(r["system"] for r in rows)
    for axes, system in zip(figure.subplots(1, len(systems), squeeze=False, sharey=True)[0], systems):
        cases, ratios = [], []
        for case in report.unique(r["case"] for r in rows):
            here = {r["workers"]: r["median"] for r in rows if (r["case"], r["system"]) == (case, system)}
            cases.append(case)
            ratios.append(here[many] / here[few] if {few, many} <= here.keys() else float("nan"))
        bars(axes, cases, ratios, f"{system}: {many} over {few} workers")
        axes.axvline(1, color="black", linewidth=0.8)


def pictures(rows):
    """The names of the pictures that were drawn, by section."""
    try:
        import matplotlib
        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = "kith"
        from matplotlib.figure import Figure
    except ImportError:
        print("performance: no matplotlib, so no pictures; build/venv/bin/python3 has it after make python", file=sys.stderr)
        return {}
    PICTURES.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for name, draw in (("dag", picture_of_dag), ("oversubscribed", picture_of_crowds)):
        if not rows.get(name):
            continue
        figure = Figure(figsize=(14, 3.2), layout="constrained")
        draw(figure, rows[name])
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
        drawn[name] = f"pictures/performance/{name}.svg"
    return drawn


def measure(build, folder, names, options):
    """Runs the benches of these sections; the names of those that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    commands = {verb: [str(build / "kith-bench"), *words.split(), "--json", *options] for verb, words in VERBS.items()}
    commands["instructions"] = [sys.executable, str(ROOT / "bench" / "instructions.py"), str(build), "--json"]
    failed = []
    for name, command in commands.items():
        if name not in names:
            continue
        print(f"performance: {name}", file=sys.stderr)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            failed.append(name)
            continue
        (folder / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    return failed


def sections_of(page):
    """The text of each section of the page, by its title."""
    parts = page.read_text(encoding="utf-8").split("\n## ")[1:] if page.exists() else []
    return {title: text.strip() for title, _, text in (part.partition("\n") for part in parts)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", metavar="FOLDER")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", metavar="NAMES", help=", ".join(SECTIONS))
    arguments.add_argument("--rounds", type=int, metavar="N")
    arguments.add_argument("--from", dest="rows", type=pathlib.Path, metavar="FOLDER")
    chosen = arguments.parse_args()
    names = chosen.only.split(",") if chosen.only else list(SECTIONS)
    if unknown := [n for n in names if n not in SECTIONS]:
        arguments.error(f"--only {','.join(unknown)}: expected some of {', '.join(SECTIONS)}")
    folder = chosen.rows or ROOT / "build" / "performance"
    options = (["--quick"] if chosen.quick else []) + (["--rounds", str(chosen.rounds)] if chosen.rounds else [])
    failed = [] if chosen.rows else measure(chosen.build.resolve(), folder, names, options)
    rows = {}
    for name in names:
        file = folder / f"{name}.json"
        if name not in failed and file.exists():
            try:
                rows[name] = json.loads(file.read_text(encoding="utf-8"))
            except ValueError as wrong:
                sys.exit(f"performance: {file}: {wrong}; expected what the bench prints with --json")
    if not rows:
        sys.exit(f"performance: {folder} has none of {', '.join(f'{n}.json' for n in names)}")
    drawn = pictures(rows)
    before = sections_of(PAGE) if chosen.only else {}
    parts = [HEAD.strip()]
    for name, (title, write) in SECTIONS.items():
        parts.append(f"## {title}")
        if rows.get(name):
            parts += write(rows[name])
        elif title in before:
            parts += before[title].split("\n\n")
        else:
            parts.append("Not measured in this run.")
        if name in drawn:
            parts.append(f"![{title}]({drawn[name]})")
    PAGE.write_text("\n\n".join(wrapped(p) for p in parts) + "\n", encoding="utf-8")
    if failed:
        sys.exit(f"performance: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
