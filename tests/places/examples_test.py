#!/usr/bin/env python3
"""`kith sim` simulates a recording of each example with places or coroutines.

usage: examples_test.py PATH_OF_KITH BUILD_FOLDER COMPILER      from the root of the tree
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import CLEAN, check, failures

KITH, BUILD, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
EXAMPLES = sorted([*pathlib.Path("examples/places").glob("*.cpp"), pathlib.Path("examples/tutorial/coroutines.cpp")])
FLAGS = subprocess.run(["pkg-config", "--cflags", "--libs", "kith"], check=True, capture_output=True, text=True,
                       env=os.environ | {"PKG_CONFIG_PATH": BUILD}).stdout.split()


def run(*words, **variables):
    return subprocess.run([str(w) for w in words], env=CLEAN | variables, capture_output=True, text=True, timeout=120, check=False)


with tempfile.TemporaryDirectory() as folder:
    for example in EXAMPLES:
        name, recording = example.stem, pathlib.Path(folder) / f"{example.stem}.rec"
        program = pathlib.Path(folder) / name
        made = run(COMPILER, "-std=c++20", "-O1", example, "-o", program, *FLAGS)
        check(made.returncode == 0, f"{name} does not compile: {made.stderr[:1000]}")
        ran = run(program, KITH_RECORD=str(recording), KITH_PLACES="2", KITH_OVERSUBSCRIBE="1")
        check(ran.returncode == 0 and recording.exists(), f"{name}: exit code {ran.returncode}, {ran.stderr}")
        done = run(KITH, "sim", recording, "--json")
        check(done.returncode == 0 and json.loads(done.stdout), f"{name}: exit code {done.returncode}, {done.stderr}")
sys.exit(len(failures) > 0)
