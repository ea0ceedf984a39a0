#!/usr/bin/env python3
"""Simulated against measured, on this machine: calibrated on one worker, predicted for all, beside real runs.

usage: bench/simulated.py [--kith PATH] [--runs N] [--programs a,b] [--prefix COMMAND] [--machine FILE] [--into FILE]

Each program is calibrated on one worker (`kith calibrate`); its recording is simulated on this machine as `kith machine
--probe` measures it, with all workers; then it really runs so, N times (5), the policies in turn. A row has the median of
the real runs, half their interquartile range, and how far the prediction is off: the median of those from three
recordings. --prefix is put before every command that is timed (`nice -n -5`, where others use the
machine as well).
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
RECORDINGS = 3


def kith(command, *words, codes=(0,)):
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"kith {' '.join(words)}: {done.stderr}")
    return done.stdout


def simulated(command, recorded, machine, workers):
    rows = json.loads(kith(command, "sim", recorded, "--machine", machine, "--policy", ",".join(POLICIES),
                           "--workers", workers, "--json"))
    return {r["policy"]: r["makespan_s"] for r in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--prefix", default="")
    parser.add_argument("--machine", help="a description of this machine (measured anew)")
    parser.add_argument("--into", help="write the table to this file as well")
    a = parser.parse_args()
    command = [*a.prefix.split(), a.kith]
    workers = str(len(os.sched_getaffinity(0)))
    lines = ["| program | policy | measured, s | +- | simulated, s | off by |", "| --- | --- | --- | --- | --- | --- |"]
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        this = a.machine or os.path.join(folder, "this.toml")
        if not a.machine:
            kith(command, "machine", "--probe", "-o", this)
        for program in a.programs.split(","):
            predictions = []
            for r in range(RECORDINGS):
                recorded = os.path.join(folder, f"{program}-{r}.rec")
                # Exit code 1: recorded, but no task could be calibrated.
                kith(command, "calibrate", "-o", recorded, "--machine", this, "--", "kith", "app", program, "--policy", "fifo", codes=(0, 1))
                predictions.append(simulated([a.kith], recorded, this, workers))
            predicted = {p: statistics.median(one[p] for one in predictions) for p in POLICIES}
            real = {p: [] for p in POLICIES}
            for _ in range(a.runs):
                for p in POLICIES:
                    done = json.loads(kith(command, "app", program, "--workers", workers, "--policy", p, "--json"))
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
