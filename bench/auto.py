#!/usr/bin/env python3
"""The policy `auto` beside the others, in simulated time: what it was tuned on, and what it is judged on.

usage: bench/auto.py [--kith PATH] [--set NAME|all] [--seeds N] [--programs a,b] [--machines a,b]
                     [--policies "a b:x=1"] [--keep FOLDER] [--rows FILE] [--into FILE] [--check]

Each program is recorded dry (bodies skipped), for as many nodes as the machine has (a kind: once for all machines), and
simulated in block fidelity, N times (3) under each policy, with seeds of their own. A row has the mean makespan of `auto` and, for each other policy, how much
faster than it `auto` is (above 1: auto is faster). The split into sets is by program, size and machine: no pair of the
judging set was looked at while the policy was tuned. docs/auto.md says what is asked of it; --check tests the part on
the median, the worst row and the means over all machines of a set.
"""

import argparse
import collections
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap

from auto_sets import SETS

QUEUES = ":queue=node"  # those of the papers; on one node these policies are `steal` otherwise
DEP, RIP_DEP, RIP_MW, NUMA, EXPERT = (p + QUEUES for p in ("dep", "rip-dep", "rip-mw", "numa", "socket"))
HINTLESS = ["dfifo", DEP, RIP_DEP, RIP_MW, "nabbit", NUMA, "home-cache"]  # of the papers, without hints
OTHERS = ["steal"] + HINTLESS
JUDGING = ["judging", "judging-2", "judging-3"]
MACHINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kinds", "machines")  # beside those that kith knows


def kith(path, *words):
    done = subprocess.run([path, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kith {' '.join(words)}: {done.stderr}")
    return done.stdout


def recorded(path, folder, program, words, nodes, kind):
    """A dry recording of the program for so many nodes. One worker records, so that the order of tasks is the same each time.
    A `kind` (kith-bench-kinds, built beside kith) is the same for all."""
    nodes = 1 if kind else nodes
    size = "".join(c if c.isalnum() else "_" for c in words)
    file = os.path.join(folder, f"{program}{size}-{nodes}.rec")
    if not os.path.exists(file):
        command = ([path + "-bench-kinds", program, *words.split()] if kind else
                   [path, "app", program, *words.split(), "--machine", f"node:{nodes} core:1", "--workers", "1", "--policy",
                    "fifo"])
        kith(path, "record", "--dry", "-o", file + ".new", "--", *command)
        os.rename(file + ".new", file)
    return file


def over(policies):
    """Heads of columns."""
    return " | ".join(f"over {p.removesuffix(QUEUES)}" for p in policies)


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def simulated(a, folder, name, rows):
    """{(program, machine): {policy: mean makespan}} of a set. `rows` holds the results of an earlier run, and gets more."""
    table = {}
    for group in SETS[name]:
        programs = group.get("programs") or group["kinds"]
        for machine in [m for m in group["machines"] if not a.machines or m in a.machines.split(",")]:
            described = os.path.join(MACHINES, machine + ".toml")
            described = described if os.path.exists(described) else machine
            nodes = json.loads(kith(a.kith, "machines", described, "--json"))[0]["nodes"]
            for program in [p for p in programs if not a.programs or p in a.programs.split(",")]:
                key = f"{name}: {program} on {machine}"
                if key not in rows:
                    file = recorded(a.kith, folder, program, programs[program], nodes, "kinds" in group)
                    runs = json.loads(kith(a.kith, "sim", file, "--machine", described, "--policy", ",".join(a.policies),
                                           "--seeds", str(a.seeds), "--json"))
                    of = collections.defaultdict(list)
                    for r in runs:
                        of[r["policy"]].append(r["makespan_s"])
                    rows[key] = {p: statistics.fmean(v) for p, v in of.items()}
                    if a.rows:
                        with open(a.rows, "w") as out:
                            json.dump(rows, out, indent=1)
                    print(key, file=sys.stderr, flush=True)
                table[program, machine] = rows[key]
    return table


def behind(of):
    """How far `auto` is behind the better of `steal` and `dep`."""
    return of["auto"] / min(of["steal"], of[DEP]) - 1


def summary(table, others):
    """A line for each machine, and one for all: rows, how many are near the better of steal and dep, and means."""
    lines = [f"| machine | rows | at most 3 % behind | more than 10 % behind | {over(others)} | over the best |",
             "| --- | --- | --- | --- |" + " --- |" * (len(others) + 1)]
    machines = list(dict.fromkeys(m for _, m in table))
    for name in [*machines, "all"]:
        of = [v for (_, m), v in table.items() if name in ("all", m)]
        near, far = sum(behind(v) <= 0.03 for v in of), sum(behind(v) > 0.1 for v in of)
        cells = [f"{mean([v[p] / v['auto'] for v in of]):.2f}" for p in others]
        best = mean([min(v[p] for p in others if p != EXPERT) / v["auto"] for v in of])
        lines.append(f"| {name} | {len(of)} | {near} | {far} | " + " | ".join(cells) + f" | {best:.2f} |")
    return lines


def lines_of(name, table, policies):
    """The table of a set, its means, and whether `auto` meets its requirements."""
    others = [p for p in policies if p != "auto"]
    for (program, machine), of in table.items():
        if missing := {"auto", *others} - of.keys():
            sys.exit(f"{program} on {machine}: no time under {', '.join(sorted(missing))}. --policies must name auto, and --rows a file "
                     "that was written for the same policies")
    lines = [f"### The {name} set", "",
             f"| program | machine | auto, s | {over(others)} |",
             "| --- | --- | --- |" + " --- |" * len(others)]
    for (program, machine), of in table.items():
        lines.append(f"| {program} | {machine} | {of['auto']:.4g} | " + " | ".join(f"{of[p] / of['auto']:.2f}" for p in others) + " |")
    lines.append("")
    if not {"steal", DEP} <= set(others):
        return lines, [], True
    short = summary(table, others)
    rows = sorted(((behind(of), program, machine) for (program, machine), of in table.items()), reverse=True)
    median = statistics.median(r[0] for r in rows)
    means = {p: mean([of[p] / of["auto"] for of in table.values()]) for p in others}
    text = (f"Behind the better of `steal` and `dep`: {100 * median:+.1f} % in the median; "
            f"most: {', '.join(f'{p} on {m} ({100 * b:+.0f} %)' for b, p, m in rows[:3])}.")
    short += ["", *textwrap.wrap(text, 120)]
    holds = median <= 0.03 and rows[0][0] <= 0.10 and all(means[p] > 1 for p in others if p in HINTLESS)
    return lines + short, short, holds


def write_into(path, tables):
    """Writes the sets' summaries between the page's lines <!-- table: auto-SET --> and <!-- end -->."""
    with open(path) as old:
        page = old.read()
    places = re.compile(r"(<!-- table: auto-([\w-]+) -->\n).*?(<!-- end -->\n)", re.S)
    text = places.sub(lambda m: m[1] + "\n" + "\n".join(tables[m[2]]) + "\n\n" + m[3] if m[2] in tables else m[0], page)
    with open(path, "w") as out:
        out.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--set", choices=[*SETS, "all"], default="all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--programs", help="some of a set's only")
    parser.add_argument("--machines", help="some of a set's only")
    parser.add_argument("--policies", default=" ".join(["auto", *OTHERS, EXPERT]), help="separated by spaces")
    parser.add_argument("--keep", help="keep the recordings in this folder, and take those that are there")
    parser.add_argument("--rows", help="keep what was found in this file, and go on from what is there (of the same kith)")
    parser.add_argument("--into", help="write the sets' summaries to this page: between its lines <!-- table: auto-SET --> "
                                       "and <!-- end -->")
    parser.add_argument("--check", action="store_true", help="fail unless the sets that judge keep what is asked")
    a = parser.parse_args()
    a.kith = os.path.abspath(a.kith)
    a.policies = a.policies.split()
    lines, tables, holds = [], {}, True
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or temporary
        os.makedirs(folder, exist_ok=True)
        rows = {}
        if a.rows and os.path.exists(a.rows):
            with open(a.rows) as found:
                rows = json.load(found)
        for name in SETS if a.set == "all" else [a.set]:
            table = simulated(a, folder, name, rows)
            if not table:
                sys.exit(f"auto: the set {name} has none of these programs on these machines: see bench/auto_sets.py")
            more, tables[name], kept = lines_of(name, table, a.policies)
            lines += more + [""]
            holds = holds and (kept or name not in JUDGING)
    print("\n".join(lines))
    if a.into:
        write_into(a.into, tables)
    return 1 if a.check and not holds else 0


if __name__ == "__main__":
    sys.exit(main())
