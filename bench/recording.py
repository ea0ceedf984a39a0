#!/usr/bin/env python3
"""What recording costs: the same program with and without it, in turns.

usage: bench/recording.py [--program build/release/kith-bench-recorded] [--rounds 11] [--folder FOLDER] [--counters LIST] [--realtime] [--json]

Two cases: what a task that does nothing costs more on one worker, in nanoseconds (without accesses, with one, with two),
and how much longer a program takes whose tasks compute for 10 us on all cores, in percent. The second of two runs of each
process counts; the logs stay as they are (KITH_RECORD_PARTS=1), in FOLDER (a temporary one), and their bytes are counted.
Medians over the rounds, with the lowest and the highest. With --counters the recorded runs are counted, too.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

EMPTY = 1_000_000  # tasks
WORKING, WORK_NS = 100_000, 10_000


def nanoseconds(a, words, file=None):
    """The nanoseconds of the second run."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KITH_")}
    if file is not None:
        environment |= {"KITH_RECORD": file, "KITH_RECORD_PARTS": "1", "KITH_RECORD_COUNTERS": a.counters}
    command = (["chrt", "-r", "50"] if a.realtime else []) + [a.program, *map(str, words)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"recording: {' '.join(command)}: exit code {ran.returncode}: {ran.stderr}")
    return float(ran.stdout)


def both(a, words, folder):
    """The times unrecorded and recorded, and the bytes of the logs."""
    file = os.path.join(folder, "recorded.rec")
    plain, recorded = nanoseconds(a, words), nanoseconds(a, words, file)
    parts = file + ".parts"
    size = sum(os.path.getsize(os.path.join(parts, f)) for f in os.listdir(parts))
    shutil.rmtree(parts)
    return plain, recorded, size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/kith-bench-recorded")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--folder", help="where logs are written")
    parser.add_argument("--counters", default="", metavar="LIST", help="what is counted: all, hardware, software, or names")
    parser.add_argument("--realtime", action="store_true", help="under chrt -r 50")
    parser.add_argument("--json", action="store_true", help="rows, not a table")
    a = parser.parse_args()
    if not os.access(a.program, os.X_OK):
        sys.exit(f"recording: {a.program} is not there: build it (make bench), or name it with --program")
    if a.realtime and subprocess.run(["chrt", "-r", "50", "true"], capture_output=True, check=False).returncode != 0:
        sys.exit("recording: --realtime: this process may not ask for real-time scheduling; run it without, or as root")
    cores = len(os.sched_getaffinity(0))
    cases = [(f"empty, {n} accesses", "ns a task", [1, EMPTY, n, 0], EMPTY) for n in (0, 1, 2)]
    cases.append((f"{WORK_NS // 1000} us, {cores} workers", "%", [cores, WORKING * cores, 0, WORK_NS], None))
    rows = []
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        for name, unit, words, tasks in cases:
            more, plain_of, size = [], [], 0
            for done in range(a.rounds):
                print(f"{name}: round {done + 1} of {a.rounds}", file=sys.stderr, flush=True)
                plain, recorded, size = both(a, words, folder)
                plain_of.append(plain / words[1] * words[0])
                more.append((recorded - plain) / tasks if tasks else 100 * (recorded / plain - 1))
            rows.append({"case": name, "unit": unit, "median": statistics.median(more), "min": min(more), "max": max(more),
                         "plain_ns": statistics.median(plain_of), "bytes": size / (2 * words[1]), "rounds": a.rounds})
    if a.json:
        print(json.dumps(rows, indent=1))
        return
    print("| | recording adds | | unrecorded, ns a task | log, bytes a task |\n| --- | --- | --- | --- | --- |")
    for r in rows:
        print(f"| {r['case']} | {r['median']:.1f} {r['unit']} | {r['min']:.1f} to {r['max']:.1f} | {r['plain_ns']:.0f} | {r['bytes']:.0f} |")


if __name__ == "__main__":
    main()
