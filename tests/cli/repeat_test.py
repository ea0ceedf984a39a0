"""kith sim: the same input gives the same result, for each policy on each machine.

The processes share only the input. They have different addresses, different memory, and different numbers of threads in
libraries that use as many as there are cores."""

import json

from run_kith import Kith

kith = Kith()
path = kith.file

# Tasks with data, and a graph of keys.
programs = {"cholesky": ("cholesky", "--small"), "heat": ("heat", "--small"), "dag": ("random_dag", "--small")}
for name, program in programs.items():
    done = kith.run("record", "--dry", "-o", path(name), "--", "kith", "app", *program, "--workers", "4", "--oversubscribe")
    kith.check(done.returncode == 0, f"{name} is recorded: {done.stderr}")

environments = [
    {"SCOTCH_PTHREAD_NUMBER": "1"},
    {"SCOTCH_PTHREAD_NUMBER": "3", "MALLOC_PERTURB_": "165", "MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_ARENA_MAX": "1"},
]
policies = [p["name"] for p in kith.json("policies")[1] if not p["needs_file"]]
machines = [m["name"] for m in kith.json("machines")[1]]
kith.check(len(policies) > 10 and len(machines) > 10, f"policies and machines are known: {policies}, {machines}")
for machine in machines:
    for name in programs:
        runs = []
        if machine == "bluegene-p" and name != "dag":
            continue  # a run on its 4096 cores takes as long as on all the others
        for fidelity in ("block", "abstract"):
            how = ("sim", path(name), "--machine", machine, "--policy", ",".join(policies), "--fidelity", fidelity)
            runs = [kith.run(*how, "--json", **s) for s in environments]
            if runs[0].returncode == 0:
                break  # otherwise the machine has too many caches for block fidelity
        kith.check(runs[0].returncode == 0, f"{name} on {machine}: {runs[0].stderr}")
        if runs[0].returncode != 0 or all(r.stdout == runs[0].stdout for r in runs):
            continue
        for rows in zip(*(json.loads(r.stdout) for r in runs)):
            kith.check(all(r == rows[0] for r in rows),
                       f"{name} on {machine} under {rows[0]['policy']}: {[r['makespan_s'] for r in rows]} s")

# A schedule that is replayed.
done = kith.run("sim", path("cholesky"), "--machine", "tilepro64", "--policy", "rip-mw", "-o", path("schedule"))
kith.check(done.returncode == 0, f"a schedule: {done.stderr}")
again = ("sim", path("cholesky"), "--machine", "tilepro64", "--policy", f"replay:file={path('schedule')}")
replays = [kith.json(*again, **s) for s in environments]
kith.check(all(r == replays[0] for r in replays) and replays[0][0] == 0, "its replay")

# The basis of the papers' results: a program that is first recorded.
graphs = [kith.json("paper", "nabbitc-uk-2002", "--seeds", "1", **s) for s in environments]
kith.check(graphs[0][0] == 0 and graphs[0] == graphs[1], "a keyed graph, recorded and simulated twice")
tasks = [kith.json("paper", "rip-uv100", "--seeds", "1", "--only", "jacobi", **s) for s in environments]
kith.check(tasks[0][0] == 0 and tasks[0] == tasks[1], "tasks with windows, recorded and simulated twice")

kith.finish()
