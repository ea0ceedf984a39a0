#!/usr/bin/env python3
"""Instructions per task of `kith-bench dag`, counted by callgrind. They are exact and repeatable, which times are not.

With one worker (valgrind runs one thread at a time): what a task costs its creator and its executor, without spinning and
stealing. All of Kith's tasks are queued (KITH_INLINE=0). Two sizes are run of each case, and the difference is divided by
the difference in tasks, so that what is done once does not count. libgomp and libomp are left out unless named, because
with one thread they run each task at its creation. --check and --write also count a spawn of Kith's fork-join, as
bench/forkjoin/instructions.sh does for all systems.

  bench/instructions.sh                  a table of all systems that were built
  bench/instructions.sh --json           of Kith, by policy: {"steal": {"wavefront": 571, ...}, "auto": {...}, "dep": {...}}
  bench/instructions.sh --check FILE     fails if a figure is 3% above that of the file
  bench/instructions.sh --write FILE     makes the file (tests/bench/instructions.json)
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Each case with the smaller and the larger size; `--check` and `--write` take these, too.
FIB = {"fib": (16, 21)}
CASES = {"wavefront": (40, 80), "wavefront-address": (40, 80), "cholesky": (12, 20), "independent": (2000, 6000), "nested": (2000, 6000)}
POLICIES = ("steal", "auto", "dep")
POLICY_CASES = ("wavefront", "cholesky", "independent", "nested")
SYSTEMS = ("kith", "onetbb", "starpu")
FORKS = ("kith-join", "kith-coroutine")
MOST_RISE = 1.03


class Failed(Exception):
    pass


def count(program, sizes, prebuilt=False, policy=None):
    """Instructions a task of each case that the program offers. `sizes`: of each case, the smaller and the larger one."""
    # The larger size comes first, too, uncounted: the first run pays for memory.
    asked = [(case, both[i]) for case, both in sizes.items() for i in (1, 0, 1)]
    lines = "hello\n" + "".join(f"dag {case} 0 {size} 0 {int(prebuilt)}\n" for case, size in asked) + "quit\n"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KITH_")} | {"STARPU_SILENT": "1"}
    environment["KITH_INLINE"] = "0"  # by default it depends on times which tasks are queued
    environment["MALLOC_MMAP_THRESHOLD_"] = "16384"  # else it depends on what was freed before which memory must be cleared
    if policy:
        environment["KITH_POLICY"] = policy
    with tempfile.TemporaryDirectory() as scratch:
        # The counts since the last answer are written after each answer, to out.1 (the start), out.2 and so on.
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", "--dump-after=kith::bench::answer(*",
                   str(program), "--workers", "1"]
        try:
            done = subprocess.run(command, input=lines, env=environment, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            raise Failed(f"{program}: not ended after 300 s") from None
        answers = done.stdout.splitlines()[1:]
        if done.returncode != 0 or len(answers) != len(asked):
            raise Failed(f"{program} has not answered each request: {done.stderr[-300:]}")
        totals = [total_of(pathlib.Path(scratch, f"out.{i + 2}")) for i in range(len(asked))]
    counts = {}
    for i in range(1, len(asked), 3):
        if not all(a.startswith("ok ") for a in answers[i:i + 2]):
            if "not offered" in answers[i]:
                continue
            raise Failed(f"{program} in {asked[i][0]}: {answers[i]}")
        few, many = (int(a.split()[2]) for a in answers[i:i + 2])
        counts[asked[i][0]] = round((totals[i + 1] - totals[i]) / (many - few))
    return counts


def total_of(dump):
    if not dump.exists():
        raise Failed("callgrind has not written its counts after each answer; is the build without symbols?")
    for line in dump.read_text().splitlines():
        if line.startswith("totals: ") or line.startswith("summary: "):
            return int(line.split()[1])
    raise Failed(f"{dump}: no line with the total")


def peer(build, system):
    return build / f"kith-bench-peer-{system}"


def by_policy(build):
    sizes = {case: CASES[case] for case in POLICY_CASES}
    return {policy: count(peer(build, "kith"), sizes, policy=policy) for policy in POLICIES}


def all_figures(build):
    return by_policy(build) | {fork: count(build / f"kith-bench-fork-{fork}", FIB) for fork in FORKS}


def table(build, systems):
    print("| instructions per task, one worker | " + " | ".join(CASES) + " |")
    print("| --- |" + " --- |" * len(CASES))
    for system in systems:
        if not peer(build, system).exists():
            print(f"instructions.sh: {system} is left out: {peer(build, system)} was not built", file=sys.stderr)
            continue
        for prebuilt in (False, True) if system == "onetbb" else (False,):
            counts = count(peer(build, system), CASES, prebuilt)
            name = system + (", prebuilt" if prebuilt else "")
            print(f"| {name} | " + " | ".join(str(counts.get(case, "-")) for case in CASES) + " |")


def check(build, file):
    try:
        known = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as wrong:
        raise Failed(f"{file}: {wrong}; expected what --write makes") from None
    risen = []
    for how, counts in all_figures(build).items():
        for case, now in counts.items():
            before = known.get(how, {}).get(case)
            if before is None:
                raise Failed(f"{file} has no figure for {case} under {how}; make it again: bench/instructions.sh --write {file}")
            print(f"{how} {case}: {now} ({before})")
            if now > before * MOST_RISE:
                risen.append(f"{case} under {how}: {now} instructions a task, {before} before")
    if risen:
        raise Failed("\n".join(["more than 3% above the known figures:"] + risen +
                               [f"If that is meant: bench/instructions.sh --write {file}"]))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", nargs="?", default="build/release", metavar="BUILD_FOLDER")
    arguments.add_argument("systems", nargs="*", default=SYSTEMS, metavar="SYSTEM")
    what = arguments.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true")
    what.add_argument("--check", metavar="FILE")
    what.add_argument("--write", metavar="FILE")
    chosen = arguments.parse_args()
    build = pathlib.Path(chosen.build).resolve()
    try:
        if shutil.which("valgrind") is None:
            raise Failed("valgrind is not installed (Debian package valgrind)")
        if not build.is_dir():
            raise Failed(f"no folder {build}; expected a build with the benchmarks (make build)")
        if chosen.check:
            check(build, chosen.check)
        elif chosen.json or chosen.write:
            text = json.dumps(all_figures(build) if chosen.write else by_policy(build), indent=2) + "\n"
            if chosen.write:
                pathlib.Path(chosen.write).write_text(text, encoding="utf-8")
            else:
                print(text, end="")
        else:
            table(build, chosen.systems or SYSTEMS)
    except Failed as why:
        sys.exit(f"instructions.sh: {why}")


if __name__ == "__main__":
    main()
