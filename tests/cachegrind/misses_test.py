#!/usr/bin/env python3
"""The caches of one core of the fidelity line, fed with a trace of valgrind's lackey, have the misses of cachegrind.

usage: misses_test.py PROGRAM REPLAY      PROGRAM is traced; REPLAY reads the trace
"""
import re
import shutil
import subprocess
import sys

if shutil.which("valgrind") is None:
    print("valgrind is not installed (Debian package valgrind): caches are not compared with cachegrind")
    raise SystemExit(77)
PROGRAM, REPLAY = sys.argv[1:]
failed = False


def near(what, mine, theirs):
    global failed
    print(f"  {what}: {mine}, by cachegrind {theirs} ({100 * (mine / theirs - 1):+.4f} %)")
    failed |= abs(mine - theirs) > 0.001 * theirs


def number(text, name):
    return int(re.search(rf"{name}: +([\d,]+)", text)[1].replace(",", ""))


trace = subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-fd=1", PROGRAM], check=True, capture_output=True).stdout
for first, first_ways, second, second_ways in ((4096, 2, 131072, 8), (65536, 4, 2097152, 8)):
    said = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", f"--D1={first},{first_ways},64",
                           f"--LL={second},{second_ways},64", PROGRAM], check=True, capture_output=True, text=True).stderr
    answer = subprocess.run([REPLAY, *map(str, (first, first_ways, second, second_ways))], input=trace, check=True, capture_output=True).stdout
    accesses, d1, ll = map(int, answer.split())
    print(f"{first} bytes in {first_ways} ways, {second} in {second_ways}: {accesses} accesses")
    near("D1", d1, number(said, r"D1 +misses"))
    near("LL", ll, number(said, r"LLd misses"))  # which need not contain D1 there, and has instructions, too
sys.exit(failed)
