#!/usr/bin/env python3
"""Programs on places that lose some of them and go on: under `kith launch` with each MPI, and under the mpirun of an MPI
with ULFM, without a guard of Kith.

usage: survivors_test.py PATH_OF_KITH JOB     (the program of job.cpp)

The MPI with ULFM is build/ulfm of the tree (scripts/ulfm.sh). KITH_TEST_SCALE=10 kills at ten times as many random moments.
"""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from checks import ALLOW, CLEAN, check, failures
from processes import place_of, processes_of

KITH, JOB = (os.path.abspath(p) for p in sys.argv[1:3])
ULFM = pathlib.Path(__file__).parents[2] / "build/ulfm"
TRANSPORTS = pathlib.Path(KITH).parent / "transports"
SCALE = float(os.environ.get("KITH_TEST_SCALE", "1"))


def launchers():
    """By name: the words before the program, and variables. Those that this machine has."""
    all_there = {}
    for mpi in ("openmpi", "mpich"):
        if shutil.which(f"mpirun.{mpi}") and (TRANSPORTS / f"libkith_{mpi}.so").exists():
            all_there[f"kith launch, {mpi}"] = ((KITH, "launch", "--mpi", mpi, "--workers", "2"), {"KITH_OVERSUBSCRIBE": "1"})
    if (ULFM / "bin/mpirun").exists() and (TRANSPORTS / "libkith_openmpi.so").exists():
        all_there["mpirun --with-ft ulfm"] = ((str(ULFM / "bin/mpirun"), "--with-ft", "ulfm"),
                                              {"LD_LIBRARY_PATH": str(ULFM / "lib"), "OMPI_MCA_osc": "^ucx"})
    else:
        print("survivors without `kith launch` are not tested: no build/ulfm, which scripts/ulfm.sh makes, or no transport for it")
    return all_there


def command(launcher, places, *mode):
    words, variables = launcher
    end = ("--",) if "launch" in words else ()
    return [*words, "-n", str(places), *end, JOB, *mode], CLEAN | ALLOW | variables


def survives(name, launcher, places, mode, *more, **variables):
    words, environment = command(launcher, places, mode, *more)
    done = subprocess.run(words, env=environment | variables, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    check(done.returncode == 0 and f"fine: {mode}" in done.stdout,
          f"{name}, {places} places, {mode}, {variables}: exit code {done.returncode}, {done.stdout}{done.stderr}")
    if "launch" in words:
        check(f"place {places - 1} was ended by signal 9 (Killed); the others went on" in done.stderr,
              f"{name} says which place was lost: {done.stderr}")
    return done.stdout


def outlives(name, launcher, *more):
    """Places wait at the end for what a lost one has spawned, though no finish does."""
    out = survives(name, launcher, 3, "outlive", *more)
    check("it has outlived its spawner" in out, f"{name}, {more}: what a lost place has spawned ends: {out}")


def kill_one(name, launcher, seed, mode):
    """Kills a random place, but 0, at a random moment. Returns how many places there were, which one that was, and the output."""
    choice = random.Random(seed)
    places = choice.randint(2, 4)
    words, environment = command(launcher, places, mode)
    job = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    text = ""
    while "started" not in text and (line := job.stderr.readline()):
        text += line
    victim = choice.randrange(1, places)
    time.sleep(choice.random() * 0.3)
    for process in processes_of(job.pid, JOB):
        if place_of(process) == victim:
            os.kill(process, signal.SIGKILL)
    out, rest = job.communicate(timeout=60)
    check(job.returncode == 0 and f"fine: {mode}" in out,
          f"{name}, seed {seed}: {mode}, {places} places without place {victim}: exit code {job.returncode}, {out}{text}{rest}")
    return places, victim, out


def random_kill(name, launcher, seed):
    """The others compute the same as ever."""
    kill_one(name, launcher, seed, "squares")


def collectives_of_survivors(name, launcher, seed):
    """One collective fails, the same one at all survivors."""
    places, victim, out = kill_one(name, launcher, seed, "sums")
    said = [line for line in out.splitlines() if line.startswith("sums: ")]
    check(len(said) == places - 1 and len(set(said)) == 1 and f"failed for place {victim}," in said[0],
          f"{name}, seed {seed}: collectives of {places} places without place {victim}: {out}")


def loses_first(name, launcher):
    """Without place 0 nobody goes on."""
    words, environment = command(launcher, 3, "squares", "lost")
    expected = {2}
    with tempfile.NamedTemporaryFile("r", errors="replace") as messages:
        if "launch" not in words:  # mpirun ends the other place when the first has failed, and may drop what they have written
            program = words.index(JOB)
            words[program:program] = ["sh", "-c", f'exec "$0" "$@" 2>>{messages.name}']
            expected = {1, 2}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, errors="replace", timeout=120, check=False)
        said = done.stderr + messages.read()
    check(done.returncode != 0 and said.count("job: place 0: was lost") in expected, f"{name}: place 0 is lost: {done.returncode}, {said}")


def is_recorded(name, launcher):
    """A recording of a run that lost a place has what all have done."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "run.rec")
        words, environment = command(launcher, 3, "survive")
        done = subprocess.run([KITH, "record", "-o", file, "--", *words], env=environment, capture_output=True, text=True, errors="replace",
                              timeout=120, check=False)
        check("fine: survive" in done.stdout and os.path.exists(file), f"{name}, recorded: {done.returncode}, {done.stdout}{done.stderr}")
        with contextlib.closing(sqlite3.connect(file)) as recording:
            ran = [r[0] for r in recording.execute("SELECT id FROM place WHERE workers > 0 ORDER BY id")]
        check(ran[:2] == [0, 1], f"{name}: what survivors did is recorded: places {ran}")


there = launchers()
if not there:
    sys.exit(77)
for name, launcher in there.items():
    for places in (2, 3, 4):
        survives(name, launcher, places, "survive")
        survives(name, launcher, places, "lose", JOB_CREDITS="1")
    survives(name, launcher, 4, "survive", JOB_CREDITS="1")
    for seed in range(round(3 * SCALE)):
        random_kill(name, launcher, seed)
        collectives_of_survivors(name, launcher, seed)
    survives(name, launcher, 3, "end")
    outlives(name, launcher)
    outlives(name, launcher, "counted")
    loses_first(name, launcher)
    is_recorded(name, launcher)
sys.exit(len(failures) > 0)
