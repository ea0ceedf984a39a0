#!/usr/bin/env python3
"""Bytes between nodes for each iteration: the policy `auto` beside the expert's placement, on programs of the RIP paper.

usage: bench/locality.py [--kith PATH] [--seeds N] [--policies "socket auto rip-dep"] [--programs a,b] [--machines a,b]

Each program initialises its data, waits, and iterates, as users write it (without --one-graph). It is recorded dry twice for
each machine, with n and with 4n iterations (qr and inversion, which do not iterate: with a smaller and a larger matrix). The
difference of the bytes that each run reads from other nodes is what iterations cost, without the start. The first policy is
the expert: `socket` with the nodes that the program names. Printed for each policy: these bytes and the time of the longer
run, over the expert's; the last lines have the geometric means. Takes 2 minutes.
"""

import argparse
import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

NODES = {"bullion-s16-4": (4, 32), "bullion-s16-8": (8, 32), "xeon-e7-8860": (8, 80), "altix-uv100": (3, 24), "epyc-2x4": (8, 128),
         "opteron-6172": (8, 48)}  # each with its numbers of nodes and of cores
LONG = 4


def words(program, workers, times):
    """The program's arguments; `times`: 1 or LONG."""
    plate = ["--size", "8192", "--block", "512", "--iterations", str(20 * times)]
    return {
        "gauss_seidel": plate,
        "red_black": plate,
        "jacobi": ["--as", "dataflow", "--rows", str(workers * 1024), "--block", "256", "--iterations", str(15 * times)],
        "nstream": ["--sets", str(workers * 2), "--iterations", str(8 * times)],
        "cg_tasks": ["--size", "128", "--block", str(128**3 // (8 * workers) + 1), "--iterations", str(15 * times)],
        "integral_histogram": ["--size", "2048", "--images", str(10 * times), "--ring", "2"],
        "qr": ["--size", "8192" if times == LONG else "6144"],
        "inversion": ["--size", "8192" if times == LONG else "6144"],
    }[program]


PROGRAMS = ["gauss_seidel", "red_black", "jacobi", "nstream", "cg_tasks", "integral_histogram", "qr", "inversion"]


def kith(path, *arguments):
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kith {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def run(a, folder, program, machine, times):
    """By policy: the mean bytes read from other nodes, and the mean time."""
    nodes, workers = NODES[machine]
    file = os.path.join(folder, f"{program}-{machine}-{times}.rec")
    kith(a.kith, "record", "--dry", "-o", file, "--", a.kith, "app", program, "--paper", *words(program, workers, times), "--machine",
         f"node:{nodes} core:{workers // nodes}", "--workers", str(workers), "--oversubscribe", "--policy", "fifo")
    rows = json.loads(kith(a.kith, "sim", file, "--machine", machine, "--policy", ",".join(a.policies), "--seeds", str(a.seeds), "--json"))
    os.unlink(file)
    return {p: [statistics.fmean(r[what] for r in rows if r["policy"] == p) for what in ("remote_bytes", "makespan_s")] for p in a.policies}


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--policies", default="socket auto rip-dep dep", help="separated by spaces; the first is the expert")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--machines", default=",".join(NODES))
    a = parser.parse_args()
    a.kith = os.path.abspath(a.kith)
    if not os.access(a.kith, os.X_OK):
        parser.error(f"{a.kith} is not there; `make build` makes build/release/kith")
    a.policies = a.policies.split()
    for name, known in [(p, PROGRAMS) for p in a.programs.split(",")] + [(m, NODES) for m in a.machines.split(",")]:
        if name not in known:
            parser.error(f"{name}: expected one of {', '.join(known)}")
    expert, others = a.policies[0], a.policies[1:]
    ratios = {p: ([], []) for p in others}
    print(f"| program | machine | {expert}, MB | " + " | ".join(f"{p}, bytes | {p}, time" for p in others) + " |")
    print("| --- " * (3 + 2 * len(others)) + "|")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cells = [(p, m) for p in a.programs.split(",") for m in a.machines.split(",")]
        runs = [[pool.submit(run, a, folder, p, m, times) for times in (1, LONG)] for p, m in cells]
        for (program, machine), both in zip(cells, runs):
            short, long = (r.result() for r in both)
            per = {p: max(long[p][0] - short[p][0], 1e5) for p in a.policies}  # below 0.1 MB a ratio says nothing
            cell = []
            for p in others:
                ratios[p][0].append(per[p] / per[expert])
                ratios[p][1].append(long[p][1] / long[expert][1])
                cell.append(f"{ratios[p][0][-1]:.2f} | {ratios[p][1][-1]:.2f}")
            print(f"| {program} | {machine} | {per[expert] / 1e6:.1f} | " + " | ".join(cell) + " |", flush=True)
    print("| all | | | " + " | ".join(f"{mean(ratios[p][0]):.2f} | {mean(ratios[p][1]):.2f}" for p in others) + " |")


if __name__ == "__main__":
    sys.exit(main())
