#!/usr/bin/env python3
"""How programs scale with the workers of one machine: native times of `kith app`, each run verified.

  bench/scaling.py [--kith build/release/kith] [--rounds 5] [--workers 1,2,4,8,16] [--policies auto] [--apps heat,...] [--json]
  bench/scaling.py --rows FILE ... --into docs/scaling.md   puts the table between the lines <!-- scaling --> and <!-- end scaling -->

Each round runs every number of workers, one after the other, on the same input. A figure is the median over the rounds of
(seconds of one worker / seconds of so many workers in the same round), with the lowest and the highest. The first round
only warms up. Exit code: 1 if a result was wrong, 2 for a wrong command line.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

# About half a second each with one worker: every run is verified by the serial program, which takes as long.
APPS = {
    "heat": ["--size", "2048", "--iterations", "50", "--block", "16"],
    "life": ["--size", "2048", "--iterations", "50", "--block", "16"],
    "fdtd": ["--size", "1024", "--iterations", "80", "--block", "16"],
    "pagerank": ["--size", "200000", "--iterations", "10", "--block", "1000"],
    "cg": ["--size", "30000", "--nonzeros", "12", "--iterations", "40", "--block", "300"],
    "mg": ["--size", "128", "--iterations", "3"],
    "sw": ["--size", "800", "--block", "20"],
    "swn2": ["--size", "8000", "--block", "80"],
    "gauss_seidel": ["--iterations", "60"],
    "cholesky": ["--size", "2560", "--block", "128"],
    "qr": ["--size", "1536", "--block", "96"],
    "inversion": ["--size", "1536", "--block", "128"],
    "matmul": ["--size", "1536", "--block", "128"],
    "sparse_lu": ["--size", "1536", "--block", "64"],
    "nqueens": ["--size", "14", "--depth", "5"],
    "random_dag": ["--size", "50000"],
}
BEGIN, END = "<!-- scaling -->", "<!-- end scaling -->"


def seconds(kith, app, policy, workers):
    command = [kith, "app", app, *APPS[app], "--policy", policy, "--workers", str(workers), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"scaling: {' '.join(command)}: exit code {ran.returncode}\n{ran.stderr or ran.stdout}")
    result = json.loads(ran.stdout)
    return result["seconds"], result["tasks"], result["machine"]


def measure(kith, app, policy, rounds, workers):
    times = {w: [] for w in workers}
    for n in range(rounds + 1):
        for w in workers:
            took, tasks, machine = seconds(kith, app, policy, w)
            if n != 0:
                times[w].append(took)
    rows = []
    for w in workers:
        ratios = [one / many for one, many in zip(times[workers[0]], times[w])]
        rows.append({"app": app, "policy": policy, "machine": machine, "workers": w, "tasks": tasks, "rounds": rounds,
                     "seconds": statistics.median(times[w]), "of": workers[0], "speedup": statistics.median(ratios),
                     "min": min(ratios), "max": max(ratios)})
    return rows


def table(rows):
    workers = sorted({r["workers"] for r in rows})
    first = rows[0]
    lines = [f"On {first['machine']}; median of {first['rounds']} rounds [lowest, highest]. "
             f"Speed-up over {first['of']} worker.", "",
             f"| program | policy | tasks | {first['of']} worker, s | "
             + " | ".join(f"{w} workers" for w in workers[1:]) + " |",
             "| --- | --- | --- | --- |" + " --- |" * (len(workers) - 1)]
    of = {(r["app"], r["policy"], r["workers"]): r for r in rows}
    for app, policy in dict.fromkeys((r["app"], r["policy"]) for r in rows):
        one = of[app, policy, workers[0]]
        cells = [f"{r['speedup']:.2f} [{r['min']:.2f}, {r['max']:.2f}]" for r in (of[app, policy, w] for w in workers[1:])]
        lines.append(f"| {app} | {policy} | {one['tasks']} | {one['seconds']:.3g} | " + " | ".join(cells) + " |")
    for policy in dict.fromkeys(r["policy"] for r in rows):
        means = [statistics.geometric_mean(r["speedup"] for r in rows if r["policy"] == policy and r["workers"] == w)
                 for w in workers[1:]]
        lines.append(f"| **geometric mean** | {policy} | | | " + " | ".join(f"{m:.2f}" for m in means) + " |")
    return lines


def write_into(path, lines):
    text = path.read_text()
    head, rest = text.split(BEGIN, 1)
    tail = rest.split(END, 1)[1]
    path.write_text(head + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + tail)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", default="")
    parser.add_argument("--policies", default="auto")
    parser.add_argument("--apps", default=",".join(APPS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", nargs="+", type=pathlib.Path)
    parser.add_argument("--into", type=pathlib.Path)
    a = parser.parse_args()
    unknown = [name for name in a.apps.split(",") if name not in APPS]
    if unknown:
        parser.error(f"no such program here: {', '.join(unknown)}; there are {', '.join(APPS)}")
    rows = []
    if a.rows:
        for path in a.rows:
            rows += json.loads(path.read_text())["rows"]
    else:
        cores = len(os.sched_getaffinity(0))
        workers = [int(w) for w in a.workers.split(",")] if a.workers else [w for w in (1, 2, 4, 8, 16, 32, 64) if w <= cores]
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the kernels' library starts no threads beside the workers
        for app in a.apps.split(","):
            for policy in a.policies.split(","):
                print(f"scaling: {app} under {policy}", file=sys.stderr, flush=True)
                rows += measure(a.kith, app, policy, a.rounds, workers)
    if a.into:
        write_into(a.into, table(rows))
    elif a.json:
        print(json.dumps({"rows": rows}, indent=1))
    else:
        print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
