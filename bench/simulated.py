#!/usr/bin/env python3
"""Simulated against measured, on this machine: recorded with one worker, predicted for all, beside real runs.

usage: bench/simulated.py [--kith PATH] [--runs N] [--programs a,b] [--into FILE]

Each program is recorded on one worker; its recording is simulated on this machine as `kith machine --probe` measures it,
with all workers; then it really runs so, N times (5), the policies in turn. A row has the median of the real runs, half
their interquartile range, and how far the prediction is off.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAMS = ["heat", "life", "fdtd", "pagerank", "cholesky", "cg", "mg", "sw", "swn2", "nqueens"]
POLICIES = ["steal", "fifo"]


def kith(path, *words, **variables):
    done = subprocess.run([path, *words], env=os.environ | variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kith {' '.join(words)}: {done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--into", help="write the table to this file as well")
    a = parser.parse_args()
    workers = str(len(os.sched_getaffinity(0)))
    lines = ["| program | policy | measured, s | +- | simulated, s | off by |", "| --- | --- | --- | --- | --- | --- |"]
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        this = os.path.join(folder, "this.toml")
        kith(a.kith, "machine", "--probe", "-o", this)
        with open(this) as text:
            rate = next(line.split("=")[1].strip() for line in text if line.startswith("core_gbs"))
        for program in a.programs.split(","):
            recorded = os.path.join(folder, program + ".rec")
            kith(a.kith, "record", "-o", recorded, "--", "kith", "app", program, "--workers", "1", "--policy", "fifo")
            rows = json.loads(kith(a.kith, "sim", recorded, "--machine", this, "--policy", ",".join(POLICIES),
                                   "--workers", workers, "--recorded-gbs", rate, "--json"))
            predicted = {r["policy"]: r["makespan_s"] for r in rows}
            real = {p: [] for p in POLICIES}
            for _ in range(a.runs):
                for p in POLICIES:
                    done = json.loads(kith(a.kith, "app", program, "--workers", workers, "--policy", p, "--json"))
                    real[p].append(done["seconds"])
            for p in POLICIES:
                middle = statistics.median(real[p])
                low, _, high = statistics.quantiles(real[p], n=4)
                off = 100 * (predicted[p] / middle - 1)
                errors.append(abs(off))
                lines.append(f"| {program} | {p} | {middle:.4f} | {(high - low) / 2:.4f} | {predicted[p]:.4f} | {off:+.1f} % |")
                print(lines[-1], flush=True)
    lines.append(f"\nMedian {statistics.median(errors):.1f} %, worst {max(errors):.1f} %.")
    print(lines[-1])
    if a.into:
        with open(a.into, "w") as out:
            out.write("\n".join(lines) + "\n")


main()
