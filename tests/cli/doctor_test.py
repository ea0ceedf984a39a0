"""kith doctor: its answers agree with each other, with the environment, and with its exit code."""

import os
import pathlib
import sqlite3
import tempfile

from run_kith import Kith

kith = Kith()
code_of = {"fine": 0, "limited": 1, "error": 2}


def examine(**how):
    code, answer = kith.json("doctor", **how)
    statuses = [f["status"] for f in answer["findings"]]
    worst = "error" if "error" in statuses else "limited" if "limited" in statuses else "fine"
    kith.check(answer["status"] == worst, f"{how}: status {answer['status']}, but the worst finding is {worst}")
    kith.check(code == code_of[worst], f"{how}: exit code {code} for {worst}")
    for f in answer["findings"]:
        kith.check(f["fact"], f"{how}: {f['key']} says what was found")
        kith.check(f["status"] != "limited" or (f["effect"] and f["advice"]), f"{how}: {f['key']} says what to do")
    kith.check(len(answer["placement"]) == answer["workers"], f"{how}: each worker has a place")
    return answer


def finding(answer, key):
    return next(f for f in answer["findings"] if f["key"] == key)


plain = examine()
kith.check(1 <= plain["workers"] <= len(os.sched_getaffinity(0)), "at most as many workers as CPUs are allowed")
for key in ("settings", "machine", "affinity", "cpu_quota", "slurm", "mpi", "places", "workers", "homes", "memory_policy", "huge_pages", "perf_events",
            "membarrier", "address_space", "trial"):
    kith.check(any(f["key"] == key for f in plain["findings"]), f"a finding about {key}")
trial = finding(plain, "trial")
kith.check(trial["details"]["workers"] == plain["workers"], "a runtime starts as many workers as announced")

# Each MPI: its launcher, its library, Kith's transport. A library that is no library stands for one that is missing.
mpis = finding(plain, "places")["details"]
if any(mpi["usable"] for mpi in mpis.values()):
    kith.check("place_options::on_loss" in finding(plain, "places")["effect"], "that survivors of a loss can go on")
kith.check(set(mpis) == {"openmpi", "mpich"}, f"both MPIs are reported: {mpis}")
for name, soname in (("openmpi", "libmpi.so.40"), ("mpich", "libmpich.so.12")):
    mpi = mpis[name]
    kith.check(mpi["usable"] == (None not in (mpi["mpirun"], mpi["library"], mpi["transport"])), f"{name} is usable if all is there: {mpi}")
    kith.check(mpi["usable"] == (mpi["missing"] == ""), f"{name}: what is missing is said: {mpi}")
    if not mpi["usable"]:
        continue
    kith.check(mpi["ulfm"] in (True, False) and any(c.isdigit() for c in mpi["library"]), f"{name} says what its library is: {mpi}")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, soname).write_text("")
        found = finding(examine(LD_LIBRARY_PATH=folder), "places")
        without = found["details"][name]
        kith.check(not without["usable"] and without["library"] is None and without["transport"] == mpi["transport"],
                   f"{name} without its library cannot be used: {without}")
        kith.check(soname in without["missing"] and without["missing"] in found["advice"], f"{name}: the library is named: {found}")
        pathlib.Path(folder, "bin").mkdir()
        alone = finding(examine(PATH=f"{folder}/bin"), "places")
        kith.check(alone["status"] == "note" and "threads of one process" in alone["effect"], f"without launchers: {alone}")
        kith.check(alone["details"][name]["mpirun"] is None and "no mpirun in PATH" in alone["details"][name]["missing"],
                   f"{name} without its launcher: {alone}")

# The mask of a process that may use only one CPU.
one = min(os.sched_getaffinity(0))
masked = examine(before=("taskset", "-c", str(one)))
kith.check(masked["workers"] == 1, "one CPU, one worker")
kith.check(finding(masked, "affinity")["details"]["cpus"] == [one], "the mask is shown")
kith.check(masked["placement"][0]["cpu"] == one, "the worker is on that CPU")
if finding(masked, "machine")["details"]["cpus"] > 1:
    kith.check(finding(masked, "affinity")["status"] == "limited", "a narrow mask is a limitation")

# Settings, and what Slurm says.
kith.check(examine(KITH_WORKERS="1")["workers"] == 1, "KITH_WORKERS=1")
many = examine(KITH_WORKERS="64", before=("taskset", "-c", str(one)))
kith.check(many["workers"] == 1, "KITH_WORKERS does not exceed what is allowed")
kith.check(finding(many, "workers")["status"] == "limited", "and that is said")
many = examine(KITH_WORKERS="6", KITH_OVERSUBSCRIBE="1", before=("taskset", "-c", str(one)))
kith.check(many["workers"] == 6 and many["placement"][0]["cpu"] is None, "unless asked for; then workers are not bound")
slurm = examine(SLURM_JOB_ID="1", SLURM_CPUS_PER_TASK="1")
kith.check(slurm["workers"] == 1 and finding(slurm, "slurm")["details"]["cpus"] == 1, "Slurm's allotment counts")
pretended = examine(KITH_MACHINE="node:8 core:2")
kith.check(pretended["workers"] == 16 and pretended["pretended"] is True, "a synthetic machine has its own workers")

# Binding.
if finding(plain, "machine")["details"]["nodes"] > 1:  # caches, if all workers are on one of them
    kith.check(plain["bind"] in ("nodes", "caches"), "on several nodes workers are bound")
for asked, bound in (("", plain["bind"]), ("auto", plain["bind"]), ("cores", "cores"), ("caches", "caches"),
                     ("nodes", "nodes"), ("off", "off")):
    answer = examine(KITH_BIND=asked)
    kith.check(answer["bind"] == bound, f"KITH_BIND={asked}: {answer['bind']}, expected {bound}")
    for p in answer["placement"]:
        kith.check(bound != "cores" or p["bound_to"] == [p["cpu"]], f"KITH_BIND={asked}: on one CPU")
        kith.check(bound != "off" or not p["bound_to"], f"KITH_BIND={asked}: not bound")
if len(os.sched_getaffinity(0)) > 1:  # one node with two caches, and the process is in the first of them
    first = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2])
    kith.check(examine(before=("taskset", "-c", first), HWLOC_THISSYSTEM="1",
                       HWLOC_SYNTHETIC=f"l3:2 core:2 pu:1(indexes={first},1000,1001)")["bind"] == "caches",
               "workers are bound to a cache that others do not share")
kith.refused("doctor", KITH_BIND="core", says=["KITH_BIND=core", "cores, caches, nodes, off or auto"])

# Ranks of an MPI program that have no mask, and one that has.
for rank in ("0", "1"):
    answer = examine(OMPI_COMM_WORLD_LOCAL_RANK=rank, OMPI_COMM_WORLD_LOCAL_SIZE="2")
    mpi = finding(answer, "mpi")
    kith.check(mpi["details"]["rank"] == int(rank) and f"rank {rank} of 2" in mpi["fact"], "the rank is said")
    if len(os.sched_getaffinity(0)) == finding(plain, "machine")["details"]["cpus"] and plain["workers"] > 1:
        kith.check(mpi["details"]["share"] == answer["workers"] < plain["workers"], "a share of the cores")
masked = examine(OMPI_COMM_WORLD_LOCAL_RANK="1", OMPI_COMM_WORLD_LOCAL_SIZE="2", before=("taskset", "-c", str(one)))
if finding(masked, "machine")["details"]["cpus"] > 1:
    kith.check(finding(masked, "mpi")["details"]["share"] is None, "a mask is kept")

# Similar names.
close = examine(KITH_POLCY="dep", KITH_SOMETHING_ELSE="1", KITH_SPIN="10")
kith.check(finding(close, "settings")["details"] == {"set": {"KITH_SPIN": "10"}, "misspelt": {"KITH_POLCY": "KITH_POLICY"}},
           "a misspelt variable is named with the right one")
said = kith.run("app", "nqueens", "--small", KITH_WORKER="1", KITH_POLCY="dep").stderr
kith.check(sorted(said.splitlines()) == ["kith: the environment variable KITH_POLCY is not known; KITH_POLICY is",
                                         "kith: the environment variable KITH_WORKER is not known; KITH_WORKERS is"],
           f"and by programs, in one line each: {said}")
code, table = kith.json("doctor", "--settings")
kith.check(code == 0 and "KITH_BIND" in [v["variable"] for v in table], "--settings lists all of them")
kith.check(kith.run("doctor", "--settings").stdout.startswith("| variable | option | default | meaning |"), "as a table")

# Wrong input.
kith.refused("doctor", KITH_WORKERS="many", says=["KITH_WORKERS", "many", "expected"])
kith.refused("doctor", KITH_MACHINE="garbage", says=["KITH_MACHINE", "garbage"])
wrong = examine(KITH_MACHINES="/no/such/folder")
kith.check(wrong["status"] == "error" and "KITH_MACHINES=/no/such/folder: there is no such folder" in finding(wrong, "settings")["fact"],
           "a folder of machines that is not there is named")
code, answer = kith.json("doctor", KITH_WORKERS="many")
kith.check(code == 2 and "KITH_WORKERS" in answer["error"]["message"], "... as JSON, if asked for")
kith.refused("doctor", "--nonsense", says=["kith doctor", "--nonsense", "--help"])
wrong = examine(KITH_POLICY="nonsense")
kith.check(wrong["status"] == "error" and "nonsense" in finding(wrong, "trial")["fact"], "a wrong policy is found out")

# A recording: every second call of fib is a task of some nanoseconds.
small = kith.file("small.rec")
done = kith.run("record", "-o", small, "--", "kith", "app", "fib", "--size", "16", "--alone", "2", "--workers", "1")
kith.check(done.returncode == 0, f"fib is recorded: {done.stderr}")
with sqlite3.connect(small) as db:  # the system may take the processor from a task for longer than all of them take
    db.execute("UPDATE task SET work_ns = 500 WHERE work_ns > 5000")
code, answer = kith.json("doctor", small)
sizes = [f for f in answer["findings"] if f["key"] == "task_size"]
kith.check(code == 1 and answer["status"] == "limited" and sizes[0]["status"] == "limited", f"its tasks are too small: {answer}")
kith.check(answer["tasks"] >= sizes[0]["details"]["tasks"] > 100 and 0.25 < sizes[0]["details"]["overhead_share"] <= 1, f"{sizes}")
kith.check(sizes[0]["details"]["merge"] >= 2, "so many are to be one")
# A type of one task comes after those that matter, also if its share of overhead is the largest.
with sqlite3.connect(small) as db:
    db.execute("UPDATE task SET work_ns = 1 WHERE type = (SELECT id FROM type WHERE name = 'fib')")
sizes = [f for f in kith.json("doctor", small)[1]["findings"] if f["key"] == "task_size"]
kith.check(len(sizes) == 2 and sizes[0]["details"]["tasks"] > 100 and sizes[1]["details"]["overhead_share"] >
           sizes[0]["details"]["overhead_share"], f"what is to be done comes first: {sizes}")
text = kith.run("doctor", small)
kith.check(text.returncode == 1 and f"merge about {sizes[0]['details']['merge']}" in " ".join(text.stdout.split()), f"as text: {text.stdout}")
kith.refused("doctor", kith.file("no.rec"), says=["no.rec"])
kith.refused("doctor", small, "--settings", says=["--settings"])
dry = kith.file("dry.rec")
kith.run("record", "-o", dry, "--", "kith", "app", "fib", "--size", "10", "--alone", "2", KITH_DRY="1")
if os.path.exists(dry):
    kith.refused("doctor", dry, says=["dry"])

# Text for people.
text = kith.run("doctor")
kith.check(text.returncode == code_of[plain["status"]], "the same exit code without --json")
for expected in ("huge pages", "perf events", "memory policy", "How many workers", f"Kith runs {plain['workers']} worker"):
    kith.check(expected in text.stdout, f"the text has '{expected}'")
kith.check("\x1b" not in text.stdout, "no colours in a pipe")
kith.check("Exit code" in kith.run("doctor", "--help").stdout, "--help has the exit codes")

kith.finish()
