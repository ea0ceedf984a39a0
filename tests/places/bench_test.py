#!/usr/bin/env python3
"""kith-bench places with the smallest samples: every case has its two rows, and what is wrong is said.

usage: bench_test.py PATH_OF_KITH_BENCH
"""
import json
import os
import subprocess
import sys

from checks import CLEAN, check, failures

BENCH = os.path.abspath(sys.argv[1])
CASES = {"rate-8": "mpi", "rate-1k": "mpi", "bandwidth-1m": "mpi", "spawn": "mpi", "heat": "custom", "activity-8": "mpi"}


def run(*words, **variables):
    return subprocess.run((BENCH, "places", *words), env=CLEAN | variables, capture_output=True, text=True, timeout=300, check=False)


done = run(PATH="/none")
check(done.returncode == 2 and "no MPI to measure with" in done.stderr, f"without mpirun: {done.returncode}, {done.stderr}")
measured = 0
for mpi in ("openmpi", "mpich"):
    done = run("--quick", "--rounds", "1", "--no-realtime", "--json", "--mpi", mpi)
    if done.returncode == 2 and "no MPI to measure with" in done.stderr:
        continue
    measured += 1
    check(done.returncode == 0, f"{mpi}: exit code {done.returncode}: {done.stderr}")
    rows = json.loads(done.stdout or "[]")
    check({(r["case"], r["system"]) for r in rows} == {(c, s) for c, peer in CASES.items() for s in ("kith", peer)},
          f"{mpi}: the rows of all cases: {done.stdout}")
    check(all(0 < r["min"] <= r["median"] <= r["max"] and r["unit"] and any(c.isdigit() for c in r["mpi"]) for r in rows),
          f"{mpi}: figures, units and the version of the MPI: {done.stdout}")
if not measured:
    print("kith-bench places is not tested: there is no MPI")
    sys.exit(1 if failures else 77)
sys.exit(len(failures) > 0)
