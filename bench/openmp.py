#!/usr/bin/env python3
"""What OpenMP's constructs cost on Kith and on the compiler's own library: the same program, run by both in turn.

usage: bench/openmp.py [--compiler gcc] [--build FOLDER] [--threads "1 2"] [--policy auto] [--rounds 9]

The program (bench/openmp/constructs.c) is compiled by GCC, or with --compiler clang-19 by Clang. Prints a table in
Markdown: medians in nanoseconds, and Kith's over the other library's. Takes half a minute.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def costs(program, preload, threads, policy):
    """Nanoseconds by construct, of one run."""
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), KITH_POLICY=policy)
    if preload:
        env["LD_PRELOAD"] = str(preload)
    run = subprocess.run([program], env=env, capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(f"bench/openmp.py: {program} with {preload or 'its own library'} ended with {run.returncode}: {run.stderr.strip()}")
    return {name: float(ns) for name, ns in (line.split("\t") for line in run.stdout.splitlines())}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build/release", help="the folder of Kith's build")
    options.add_argument("--threads", default="1 2", help="numbers of threads, apart by spaces")
    options.add_argument("--policy", default="auto", help="Kith's policy")
    options.add_argument("--rounds", type=int, default=9, help="runs of each")
    options.add_argument("--compiler", default="gcc", help="gcc, clang, or one of their names with a version")
    o = options.parse_args()
    own, name = ("libomp", "omp") if "clang" in o.compiler else ("libgomp", "gomp")
    kith = pathlib.Path(o.build, f"libkith_{name}.so").resolve()
    if not kith.exists():
        sys.exit(f"bench/openmp.py: {kith} is missing; build it first (cmake --build {o.build} --target kith_{name})")
    systems = {own: None, "kith": kith}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "constructs")
        subprocess.run([o.compiler, "-O2", "-fopenmp", "-o", program, HERE / "openmp" / "constructs.c"], check=True)
        for threads in map(int, o.threads.split()):
            rounds = {s: [] for s in systems}
            for _ in range(o.rounds):
                for s, preload in systems.items():
                    rounds[s].append(costs(program, preload, threads, o.policy))
            print(f"\n{threads} threads, policy {o.policy}, median of {o.rounds}\n")
            print(f"| ns | {' | '.join(systems)} | kith / {own} |\n|---|{'---:|' * len(systems)}---:|")
            for name in rounds["kith"][0]:
                median = {s: statistics.median(r[name] for r in rounds[s]) for s in systems}
                print(f"| {name} | {' | '.join(f'{median[s]:.0f}' for s in systems)} | {median['kith'] / median[own]:.2f} |")


if __name__ == "__main__":
    main()
