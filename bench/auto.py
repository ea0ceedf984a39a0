#!/usr/bin/env python3
"""The policy `auto` beside the others, in simulated time: what it was tuned on, and what it is judged on.

usage: bench/auto.py [--kith PATH] [--set tuning|seen|judging|all] [--seeds N] [--programs a,b] [--machines a,b]
                     [--policies "a b:x=1"] [--keep FOLDER] [--into FILE] [--check]

Each program is recorded dry (bodies skipped) for as many nodes as the machine has, and simulated in block fidelity, N times
(3) under each policy, with seeds of their own. A row has the mean makespan of `auto` and, for each other policy, how much
faster than it `auto` is (above 1: auto is faster). The split into sets is by program, size and machine: no pair of the
judging set was looked at while the policy was tuned. docs/auto.md says what is asked of it; --check fails if it is missed.
"""

import argparse
import collections
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

# Programs with their sizes, and machines; a set is every program of it on every machine of it.
SETS = {
    "tuning": {
        "programs": {
            "gauss_seidel": "--paper",
            "nstream": "--paper",
            "qr": "--paper",
            "cg_tasks": "--paper",
            "heat": "--as dataflow --size 8192 --rows 32768 --iterations 8 --block 64",
            "cholesky": "--size 8192 --block 256",
            "map": "--size 262144",
            "nqueens": "--size 14 --depth 4",
        },
        "machines": ["bullion-s16-8", "xeon-8s", "hybrid-laptop"],
    },
    # Was to judge, and found that a task's successor has to be run next; so it has tuned as well, and another one judges.
    "seen": {
        "programs": {
            "jacobi": "--as dataflow --paper --block 64",
            "red_black": "--paper",
            "integral_histogram": "--paper",
            "inversion": "--paper",
            "matmul": "--paper",
            "vecmul": "--size 65536",
            "reduction": "--paper",
            "sparse_lu": "--paper",
            "life": "--as dataflow --size 8192 --rows 16384 --iterations 10 --block 64",
            "fdtd": "--as dataflow --size 8192 --rows 16384 --iterations 6 --block 64",
            "swn2": "--as dataflow --size 32768 --block 512",
            "mg": "--as dataflow --size 64",
            "random_dag": "--size 20000 --work 5000",
        },
        "machines": ["epyc-2x4", "opteron-6172", "altix-uv100", "bullion-s16-4", "xeon-5570"],
    },
    "judging": {
        "programs": {
            "pagerank": "--as dataflow --size 100000 --block 500 --iterations 8",
            "sw": "--as dataflow --size 2048 --block 32",
            "jacobi": "--as dataflow --size 8192 --block 32 --iterations 40",
            "red_black": "--size 8192 --block 256 --iterations 20",
            "integral_histogram": "--size 4096 --block 128 --images 6 --ring 3",
            "inversion": "--size 12288 --block 384",
            "matmul": "--size 6144 --block 192",
            "vecmul": "--vectors 512 --size 16384",
            "reduction": "--size 33554432 --depth 9 --iterations 6",
            "sparse_lu": "--size 6144 --block 128 --density 30",
            "life": "--as dataflow --size 16384 --rows 16384 --iterations 12 --block 32",
            "fdtd": "--as dataflow --size 4096 --rows 16384 --iterations 10 --block 32",
            "swn2": "--as dataflow --size 65536 --block 1024",
            "mg": "--as dataflow --size 128",
            "random_dag": "--size 50000 --work 20000",
        },
        "machines": ["xeon-e7-8860", "power6", "bullion-s16-16", "xeon-5504-cluster"],
    },
}
AUTOMATIC = ["dfifo", "dep", "rip-dep", "rip-mw", "nabbit"]  # the papers' policies that need no hint
OTHERS = ["steal"] + AUTOMATIC
EXPERT = "socket"


def kith(path, *words):
    done = subprocess.run([path, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kith {' '.join(words)}: {done.stderr}")
    return done.stdout



def recorded(path, folder, program, words, nodes):
    """A dry recording of the program for so many nodes."""
    size = "".join(c if c.isalnum() else "_" for c in words)
    file = os.path.join(folder, f"{program}{size}-{nodes}.rec")
    if not os.path.exists(file):
        kith(path, "record", "--dry", "-o", file + ".new", "--", path, "app", program, *words.split(),
             "--machine", f"node:{nodes} core:1", "--workers", str(nodes), "--oversubscribe", "--policy", "fifo")
        os.rename(file + ".new", file)
    return file


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def simulated(a, folder, name, programs, machines):
    """{(program, machine): {policy: mean makespan}} of a set."""
    table = {}
    for machine in machines:
        nodes = json.loads(kith(a.kith, "machines", machine, "--json"))[0]["nodes"]
        for program in programs:
            file = recorded(a.kith, folder, program, SETS[name]["programs"][program], nodes)
            rows = json.loads(kith(a.kith, "sim", file, "--machine", machine, "--policy", ",".join(a.policies),
                                   "--seeds", str(a.seeds), "--json"))
            of = collections.defaultdict(list)
            for r in rows:
                of[r["policy"]].append(r["makespan_s"])
            table[program, machine] = {p: statistics.fmean(v) for p, v in of.items()}
            print(f"{name}: {program} on {machine}", file=sys.stderr, flush=True)
    return table


def lines_of(name, table, policies):
    """The table of a set, its means, and whether `auto` keeps what is asked of it."""
    others = [p for p in policies if p != "auto"]
    lines = [f"### The {name} set", "",
             "| program | machine | auto, s | " + " | ".join(f"over {p}" for p in others) + " |",
             "| --- | --- | --- |" + " --- |" * len(others)]
    gains = collections.defaultdict(list)
    behind = []
    for (program, machine), of in table.items():
        cells = []
        for p in others:
            gains[p].append(of[p] / of["auto"])
            cells.append(f"{gains[p][-1]:.2f}")
        if "steal" in of and "dep" in of:
            behind.append((of["auto"] / min(of["steal"], of["dep"]) - 1, program, machine))
        lines.append(f"| {program} | {machine} | {of['auto']:.4g} | " + " | ".join(cells) + " |")
    means = {p: mean(gains[p]) for p in others}
    lines.append("| geometric mean | | | " + " | ".join(f"**{means[p]:.3f}**" for p in others) + " |")
    lines.append("")
    holds = True
    if behind:
        median = statistics.median(b[0] for b in behind)
        worst = max(behind)
        holds = median <= 0.03 and worst[0] <= 0.10 and all(means[p] > 1 for p in others if p in AUTOMATIC)
        lines.append(f"Behind the better of `steal` and `dep`: {100 * median:+.1f} % in the median, "
                     f"{100 * worst[0]:+.1f} % at worst ({worst[1]} on {worst[2]}).")
    return lines, holds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--set", choices=[*SETS, "all"], default="all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--programs", help="some of a set's only")
    parser.add_argument("--machines", help="some of a set's only")
    parser.add_argument("--policies", default=" ".join(["auto", *OTHERS, EXPERT]), help="separated by spaces")
    parser.add_argument("--keep", help="keep the recordings in this folder, and take those that are there")
    parser.add_argument("--into", help="write the tables to this file as well")
    parser.add_argument("--check", action="store_true", help="fail unless the judging set keeps what is asked")
    a = parser.parse_args()
    a.kith = os.path.abspath(a.kith)
    a.policies = a.policies.split()
    lines, holds = [], True
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for name in SETS if a.set == "all" else [a.set]:
            some = {what: a_list.split(",") if (a_list := getattr(a, what)) else list(SETS[name][what])
                    for what in ("programs", "machines")}
            table = simulated(a, folder, name, [p for p in some["programs"] if p in SETS[name]["programs"]],
                              some["machines"])
            more, kept = lines_of(name, table, a.policies)
            lines += more + [""]
            holds = holds and (kept or name != "judging")
    print("\n".join(lines))
    if a.into:
        with open(a.into, "w") as out:
            out.write("\n".join(lines) + "\n")
    return 1 if a.check and not holds else 0


if __name__ == "__main__":
    sys.exit(main())
