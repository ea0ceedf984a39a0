#!/usr/bin/env python3
"""Recordings of places: one file for all of them, with their messages, and what the verbs say of it.

usage: recordings_test.py PATH_OF_KITH JOB     (the program of job.cpp)
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from checks import ALLOW, CLEAN, check, failures

KITH, JOB = (os.path.abspath(p) for p in sys.argv[1:3])
MPIS = [m for m in ("openmpi", "mpich")
        if shutil.which(f"mpirun.{m}") and (pathlib.Path(KITH).parent / "transports" / f"libkith_{m}.so").exists()]
SPAWN = 1  # kinds of messages, as in docs/recording-format.md
HEAT = (KITH, "app", "places_heat", "--small", "--json")


def run(*words, **variables):
    return subprocess.run(words, env=CLEAN | ALLOW | variables, capture_output=True, text=True, timeout=120, check=False)


def rows(file, query):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        return db.execute(query).fetchall()


def left_beside(file):
    return sorted(p.name for p in file.parent.iterdir() if p != file)


def holds_all(file, places, figures, how):
    """One file with all places, whose messages are those that the program has counted."""
    check(file.exists() and left_beside(file) == [], f"{how}: one file, and besides it {left_beside(file)}")
    if not file.exists():
        return
    workers = rows(file, "SELECT first_worker, workers FROM place ORDER BY id")
    check(len(workers) == places and all(w > 0 for _, w in workers), f"{how}: {places} places with workers: {workers}")
    # The program counts from the beginning of its second run() to the end of that.
    runs = [s for s, in rows(file, "SELECT started_ns FROM task WHERE flags & 1 ORDER BY started_ns")]
    check(len(runs) == 3, f"{how}: three runs, {runs}")
    sent = rows(file, f"SELECT count(*), sum(bytes) FROM message WHERE sent_ns >= {runs[1]} AND sent_ns < {runs[2]}")[0]
    check(sent == (figures["messages"], figures["message_bytes"]),
          f"{how}: messages and bytes {sent}, counted {figures['messages']} and {figures['message_bytes']}")
    lost = rows(file, "SELECT count(*) FROM message WHERE received_ns = 0 OR received_ns < sent_ns")[0][0]
    check(lost == 0, f"{how}: {lost} messages have not arrived")
    orphans = rows(file, "SELECT count(*) FROM task WHERE creator < 0 AND flags & 1 = 0")[0][0]
    check(orphans == 0, f"{how}: {orphans} tasks have no creator")
    apart = rows(file, """SELECT count(*) FROM message JOIN task ON task.id = message.task JOIN place ON place.id = destination
                          WHERE kind = 1 AND (worker < first_worker OR worker >= first_worker + workers)""")[0][0]
    check(apart == 0, f"{how}: {apart} spawned tasks ran at another place")
    named = {n for n, in rows(file, """SELECT DISTINCT name FROM message JOIN task ON task.id = message.task JOIN type ON type.id = task.type
                                       WHERE kind = 1""")}
    check("kith::apps::step" in named and "task" not in named, f"{how}: spawned tasks have the names of their functions: {named}")


def verbs_understand(file, places, how):
    task, = rows(file, f"SELECT task FROM message WHERE kind = {SPAWN} AND task >= 0 LIMIT 1")[0]
    why = run(KITH, "why", str(file), str(task))
    check(why.returncode == 0 and "came from place" in why.stdout and "travelled" in why.stdout, f"{how}: why: {why.stdout}{why.stderr}")
    place = json.loads(run(KITH, "placement", str(file), "--json").stdout)["places"]
    check(len(place) == places and sum(p["came"] for p in place) > 0, f"{how}: placement: {place}")
    simulated = file.parent / "simulated.rec"
    done = run(KITH, "sim", str(file), "--machine", "xeon-5504-cluster", "--policy", "ads", "--workers", "1", "--json",
               "-o", str(simulated))
    check(done.returncode == 0, f"{how}: sim: {done.stderr}")
    if done.returncode == 0:
        check(len(json.loads(done.stdout)) == 1, f"{how}: sim has one row")
        spawned = f"SELECT source, destination, sum(bytes), count(*) FROM message WHERE kind = {SPAWN} AND task >= 0 GROUP BY 1, 2"
        check(rows(simulated, spawned) == rows(file, spawned), f"{how}: the simulated places spawn what the real ones did")
        # With one worker in each place, a worker has the tasks of its own place alone.
        tasks = "SELECT id, worker FROM task WHERE flags & 65 = 0 ORDER BY id"
        first = {w: p for p, w in rows(file, "SELECT id, first_worker FROM place")}
        check([(t, w) for t, w in rows(simulated, tasks)] == [(t, first.get(w)) for t, w in rows(file, tasks)],
              f"{how}: each task is simulated at its own place")
        simulated.unlink()


def is_replayed(file, what, how):
    """A program with coroutines, a data_flow or nodes: the simulated run has each task once, at its place, and keeps all that orders them."""
    parts = rows(file, "SELECT count(*) FROM task WHERE flags & 132 = 128")[0][0]
    flow = rows(file, "SELECT count(*) FROM task WHERE flags & 132 = 132")[0][0]
    ordered = rows(file, "SELECT count(*) FROM dependence JOIN task ON task.id = dependence.task WHERE flags & 128")[0][0]
    expected = {"coroutines": parts >= 20 and flow == 0 and ordered >= 20, "flow": flow == 16 and ordered >= 32,
                "nodes": rows(file, "SELECT count(*) FROM task WHERE node >= 0")[0][0] == 48}
    check(expected[what], f"{how}: what is recorded of {what}: {parts} parts, {flow} tasks of a data_flow, {ordered} dependences")
    simulated = file.parent / "simulated.rec"
    done = run(KITH, "sim", str(file), "--machine", "xeon-5504-cluster", "--json", "-o", str(simulated))
    check(done.returncode == 0 and "policy ads, as the places were recorded" in done.stderr, f"{how}: {what} are simulated: {done.stderr}")
    if done.returncode != 0:
        return
    place = """SELECT task.id, place.id FROM task JOIN place ON worker >= first_worker AND worker < first_worker + workers
               WHERE flags & 64 = 0 ORDER BY task.id"""
    check(rows(simulated, place) == rows(file, place) != [], f"{how}: {what}: each task is simulated once, at its own place")
    early = rows(simulated, """SELECT task.id, before FROM dependence JOIN task ON task.id = dependence.task JOIN task b ON b.id = before
                               WHERE b.completed_ns > task.started_ns""")
    check(early == [], f"{how}: {what}: begun before what they come after had ended: {early}")
    early = rows(simulated, "SELECT t.id FROM task t JOIN task c ON c.id = t.creator WHERE t.started_ns < c.started_ns OR c.completed_ns < t.completed_ns")
    check(early == [], f"{how}: {what}: begun before their creators, or ended after them: {early}")
    fetched = "SELECT source, destination, sum(bytes), count(*) FROM message WHERE kind = 4 GROUP BY 1, 2"
    check(rows(simulated, fetched) == rows(file, fetched), f"{how}: {what}: as many bytes come as results and elements")
    if what == "nodes":
        beside = rows(simulated, """SELECT task.id FROM task JOIN worker ON worker.id = task.worker WHERE task.node >= 0
                                    AND task.node NOT IN (SELECT w.node FROM worker w JOIN place ON w.id >= first_worker AND w.id < first_worker + workers
                                                          WHERE task.worker >= first_worker AND task.worker < first_worker + workers)""")
        check(beside == [], f"{how}: nodes are those of the task's place: {beside}")
        done = run(KITH, "sim", str(file), "--machine", "xeon-5504-cluster", "--policy", "socket", "-o", str(simulated))
        beside = rows(simulated, "SELECT task.id FROM task JOIN worker ON worker.id = task.worker WHERE task.node >= 0 AND worker.node <> task.node")
        check(done.returncode == 0 and len(beside) < 24, f"{how}: `socket` runs tasks on their nodes, except what is stolen: {beside}: {done.stderr}")
    done = run(KITH, "sim", str(simulated), "--machine", "xeon-5504-cluster", "--json")
    check(done.returncode == 0, f"{how}: {what} can be simulated again: {done.stderr}")
    simulated.unlink()


def is_dry(file, how):
    """Of places_heat --small on two places: 20 steps with 8 shares of 32 columns of 128 rows, 6 operations a cell."""
    work = dict(rows(file, """SELECT place.id, sum(work_ns) FROM task, place WHERE worker >= first_worker AND worker < first_worker + workers
                              GROUP BY place.id"""))
    check(work == {p: 20 * 128 * 256 * 6 for p in (0, 1)}, f"{how}: a dry recording has the declared work alone: {work}")
    speeds = []
    for workers in ("1", "2"):
        done = run(KITH, "sim", str(file), "--machine", "bluegene-p", "--workers", workers, "--policy", "ads", "--json")
        check(done.returncode == 0, f"{how}: sim with {workers} workers: {done.stderr}")
        speeds.append(json.loads(done.stdout)[0]["speedup"] if done.returncode == 0 else 0)
    check(speeds[1] > speeds[0], f"{how}: two workers of each place are faster than one: {speeds}")


def processes_of_job():
    found = []
    for p in pathlib.Path("/proc").iterdir():
        try:
            if p.name.isdigit() and os.readlink(p / "exe") == JOB and str(MINE) in (p / "environ").read_text(errors="replace"):
                found.append(int(p.name))
        except OSError:  # it has ended
            pass
    return found


def loses_a_place(how, file, *words, by=signal.SIGKILL, **variables):
    """Ends a place of a job that is recorded. The survivors and what the lost one did become one file."""
    job = subprocess.Popen([*words, JOB, "endless"], env=CLEAN | ALLOW | variables | {"IN": str(MINE)}, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    line = ""
    while "started" not in line and (line := job.stderr.readline()):
        pass
    time.sleep(0.1)
    if alive := processes_of_job():
        os.kill(alive[-1], by)
    begin = time.monotonic()
    _, text = job.communicate(timeout=60)
    check(len(alive) == 3 and job.returncode != 0, f"{how}: of {alive} one is lost: exit code {job.returncode}: {text}")
    check(time.monotonic() - begin < 15, f"{how}: the job ends soon")
    while processes_of_job() and time.monotonic() - begin < 30:  # a launcher need not wait for those it has killed
        time.sleep(0.02)
    if "KITH_RECORD" in variables and not file.exists():  # MPICH's launcher lets the survivors no time
        done = run(KITH, "repair", str(file))
        check(done.returncode == 0, f"{how}: repair: {done.stderr}")
    check(file.exists() and left_beside(file) == [], f"{how}: one file, and {left_beside(file)}: {text}")
    if file.exists():
        check(len(rows(file, "SELECT * FROM place WHERE workers > 0")) == 3, f"{how}: what the lost place did is there")
        # On a busy machine the place may be lost before it has begun anything; what the others did then has an end.
        began_only = rows(file, "SELECT id FROM task WHERE ended_ns = 0 OR creator < 0 AND flags & 1 = 0")
        done = run(KITH, "sim", str(file))
        check(done.returncode == 2 or not began_only,
              f"{how}: a run that did not end is not simulated: {began_only}: {done.stdout}{done.stderr}")
        file.unlink()


with tempfile.TemporaryDirectory() as folder:
    MINE = pathlib.Path(folder)
    file = MINE / "a.rec"
    done = run(*HEAT, "--places", "3", "--workers", "1", "--oversubscribe", KITH_RECORD=str(file))
    check(done.returncode == 0, f"threads: {done.stderr}")
    holds_all(file, 3, json.loads(done.stdout), "threads")
    check(rows(file, "SELECT max(error_ns) FROM place") == [(0,)], "places of one process share a clock")
    verbs_understand(file, 3, "threads")
    file.unlink()

    done = run(KITH, "record", "--dry", "-o", str(file), "--", *HEAT, "--places", "2", "--workers", "1", "--oversubscribe")
    check(done.returncode == 0 and json.loads(done.stdout)["verified"] is None, f"dry: {done.stdout}{done.stderr}")
    is_dry(file, "threads, dry")
    file.unlink()
    done = run(*HEAT, "--as", "custom", KITH_DRY="1")
    check(done.returncode == 2 and "no tasks" in done.stderr, f"by hand nothing is recorded: {done.stderr}")

    run(*HEAT, "--places", "40", "--workers", "1", "--oversubscribe", "--rows", "40", KITH_RECORD=str(file))
    cluster = (KITH, "sim", str(file), "--machine", "xeon-5504-cluster", "--policy", "ads", "--workers", "1", "--json")
    done = run(*cluster)
    check(done.returncode == 2 and "--hosts 40" in done.stderr, f"a cluster with too few cores: {done.stderr}")
    done = run(*cluster, "--hosts", "40")
    check(done.returncode == 0 and "fidelity abstract, because" in done.stderr and json.loads(done.stdout)[0]["makespan_s"] > 0,
          f"a cluster of 40 hosts: {done.stderr}")
    done = run(*cluster, "--hosts", "40", "--fidelity", "block")
    check(done.returncode == 2 and "models up to 64" in done.stderr, f"a fidelity that was asked for is kept: {done.stderr}")
    done = run(KITH, "sim", str(file), "--machine", "power6", "--hosts", "40")
    check(done.returncode == 2 and "equal hosts" in done.stderr, f"power6 cannot be sized: {done.stderr}")
    torus = [KITH, "sim", str(file), "--machine", "bluegene-p", "--hosts", "2048", "--workers", "1", "--json"]
    done = run(*torus)
    check(done.returncode == 0 and json.loads(done.stdout)[0]["makespan_s"] > 0, f"a torus of 2048 hosts: {done.stderr}")
    done = run(*torus, "--fidelity", "block")
    check(done.returncode == 2 and "2048 hosts" in done.stderr, f"a torus of 2048 hosts has no memory: {done.stderr}")
    file.unlink()

    done = run(KITH, "record", "-o", str(file), "--", JOB, KITH_PLACES="3")  # everything that places can do
    check(done.returncode == 0 and left_beside(file) == ["a.rec-4"],
          f"all of job.cpp, which makes its places twice, is recorded: {done.stderr}, {left_beside(file)}")
    (MINE / "a.rec-4").unlink()
    done = run(KITH, "sim", str(file), "--machine", "xeon-5504-cluster")
    check(done.returncode == 0, f"all of job.cpp is simulated: {done.stderr}")
    file.unlink()

    for what in ("coroutines", "flow", "nodes"):
        done = run(JOB, "small", what, KITH_PLACES="3", KITH_RECORD=str(file), KITH_MACHINE="node:2 core:4")
        check(done.returncode == 0, f"threads, {what}: {done.stderr}")
        is_replayed(file, what, "threads")
        file.unlink()

    for mpi in MPIS:
        mpirun = (f"mpirun.{mpi}", "-n", "2")
        done = run(KITH, "record", "-o", str(file), "--", *mpirun, *HEAT)
        check(done.returncode == 0, f"{mpi}: {done.stderr}")
        holds_all(file, 2, json.loads(done.stdout), mpi)
        error = rows(file, "SELECT max(error_ns) FROM place")[0][0]
        check(error == 0, f"{mpi}: processes of one machine share a clock, whose error is {error} ns")
        verbs_understand(file, 2, mpi)
        file.unlink()

        done = run(KITH, "record", "--dry", "-o", str(file), "--", *mpirun, *HEAT)
        check(done.returncode == 0, f"{mpi}, dry: {done.stderr}")
        is_dry(file, f"{mpi}, dry")
        file.unlink()

        done = run(KITH, "record", "-o", str(file), "--", *mpirun, JOB, "small", "flow")
        check(done.returncode == 0, f"{mpi}, flow: {done.stderr}")
        is_replayed(file, "flow", mpi)
        file.unlink()

        # As if `kith record` had been killed: the parts are there, and repair puts them together, whichever it is given.
        done = run(*mpirun, *HEAT, KITH_RECORD=str(file), KITH_RECORD_PARTS="1")
        check(left_beside(file) == ["a.rec-2.parts", "a.rec.parts"], f"{mpi}: the parts of two places: {left_beside(file)}")
        run(KITH, "repair", f"{file}-2")
        holds_all(file, 2, json.loads(done.stdout), f"{mpi}, repaired")
        file.unlink()

        # Without `kith record` place 0 makes the file.
        done = run(*mpirun, *HEAT, KITH_RECORD=str(file))
        holds_all(file, 2, json.loads(done.stdout), f"{mpi}, by the places themselves")
        file.unlink()

        record, three = (KITH, "record", "-o", str(file), "--"), (f"mpirun.{mpi}", "-n", "3")
        loses_a_place(f"{mpi}, a lost place under kith launch", file, *record, KITH, "launch", "-n", "3", "--mpi", mpi, "--workers", "1",
                      "--")
        loses_a_place(f"{mpi}, a lost place under mpirun", file, *record, *three)
        for by in (signal.SIGKILL, signal.SIGTERM):
            loses_a_place(f"{mpi}, a place lost by {by.name}, recorded without kith record", file, *three, by=by, KITH_RECORD=str(file))
sys.exit(len(failures) > 0)
