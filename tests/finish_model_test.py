#!/usr/bin/env python3
"""Spin checks the model of the finish protocol (docs/finish.pml) exhaustively, and refuses its mutations.

usage: finish_model_test.py SOURCE_FOLDER
"""
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What goes wrong, and the change of the model: each old text must be there once.
MUTATIONS = [
    ("an activity that is sent is not counted",
     "  alive++;\n  add(here);",
     "  alive++;"),
    ("a result that is waited for is not counted",
     ":: asked -> add(here)",
     ":: asked -> skip"),
    ("an activity that comes is not counted",
     "  open[here]++;\n  running[here * KINDS + (asked -> from",
     "  running[here * KINDS + (asked -> from"),
    ("the flag engaged is lost",
     "     parent[here] = from\n",
     "     parent[here] = from;\n     accepted[PAIR(here, from)]++;\n     flying++\n"),
    ("every activity engages its place",
     "  :: open[here] == 0 ->\n     assert(here != 0); /* F2 */",
     "  :: here != 0 ->"),
    ("an answer accounts for no activity",
     "accepted[PAIR(from, to)]--; flying--; remove(to, 0)",
     "accepted[PAIR(from, to)]--; flying--"),
    ("done is sent while one thing is open",
     "  :: open[here] == 0 && here != 0 ->",
     "  :: open[here] == 1 && here != 0 ->"),
    ("done goes to the home",
     "dones[PAIR(here, parent[here]) * 2 + failed[here]]++",
     "dones[PAIR(here, 0) * 2 + failed[here]]++"),
    ("done loses the failure",
     "dones[PAIR(here, parent[here]) * 2 + failed[here]]++",
     "dones[PAIR(here, parent[here]) * 2]++"),
    ("a refused activity is not offered again",
     "refused[PAIR(to, from) * 2 + asked]--; offers[PAIR(from, to) * 2 + asked]++",
     "refused[PAIR(to, from) * 2 + asked]--"),
    ("a result is never sent",
     "     results[PAIR(here, result_to)]++;\n",
     ""),
]


def verdict(model, folder, optimise):
    """What the exhaustive search says: its errors, its states, and the first lines of an error."""
    folder.mkdir()
    (folder / "finish.pml").write_text(model)
    for command in (["spin", "-a", "finish.pml"], ["cc", optimise, "-w", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"FAIL: {' '.join(command)}: {done.stdout}{done.stderr}")
    # A hash table of 2^22 slots; a stack of 10000 steps, many more than the deepest run has.
    text = subprocess.run(["./pan", "-m10000", "-w22"], cwd=folder, capture_output=True, text=True, check=False).stdout
    errors, states = (re.search(p, text) for p in (r"errors: (\d+)", r"(\d+) states, stored"))
    if errors is None or states is None or "search depth too small" in text:
        sys.exit(f"FAIL: the search was not completed:\n{text}")
    return int(errors[1]), int(states[1]), text.splitlines()[0]


def main():
    if shutil.which("spin") is None:
        print("skipped: spin is not installed (Debian: spin)")
        return 77
    model = (Path(sys.argv[1]) / "docs" / "finish.pml").read_text()
    models = [model]
    for what, old, new in MUTATIONS:
        if model.count(old) != 1:
            sys.exit(f"FAIL: the model has the text to be changed {model.count(old)} times, for: {what}")
        models.append(model.replace(old, new))
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as both:  # mutations are refused soon
        found = list(both.map(lambda i: verdict(models[i], Path(work) / str(i), "-O2" if i == 0 else "-O0"), range(len(models))))
    failed = False
    errors, states, line = found[0]
    print(f"the model: {states} states, {errors} errors")
    if errors != 0 or states < 100000:
        print(f"FAIL: expected no error in more than 100000 states: {line}")
        failed = True
    for (what, _, _), (errors, states, line) in zip(MUTATIONS, found[1:]):
        if errors == 0:
            print(f"FAIL: Spin finds no error in {states} states if {what}")
            failed = True
        else:
            print(f"found after {states} states: {what} ({line.removeprefix('pan:1: ')})")
    return int(failed)


sys.exit(main())
