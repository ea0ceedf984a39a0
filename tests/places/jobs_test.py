#!/usr/bin/env python3
"""Programs on places as threads and as processes: the same program, the same result, and what happens if one is lost.

usage: jobs_test.py PATH_OF_KITH JOB OTHER     (the programs of job.cpp)

KITH_TEST_SCALE=10 kills a place at 50 random moments instead of 5, and stops one for 3 s with the default silence.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import ALLOW, CLEAN, check, failures
from processes import environment_of, processes_of, runs

KITH, JOB, OTHER = (os.path.abspath(p) for p in sys.argv[1:4])
MPIS = [m for m in ("openmpi", "mpich")
        if shutil.which(f"mpirun.{m}") and (pathlib.Path(KITH).parent / "transports" / f"libkith_{m}.so").exists()]
SCALE = float(os.environ.get("KITH_TEST_SCALE", "1"))
# Seconds of silence after which a far place is lost, and of a stop that it survives.
SILENCE, PAUSE, SETTING = (4, 3, {}) if SCALE >= 10 else (2, 1, {"KITH_SILENCE": "2"})


def run(*words, **variables):
    return subprocess.run(words, env=CLEAN | ALLOW | variables, capture_output=True, text=True, timeout=120, check=False)


def checks_itself(places, done, how):
    check(done.returncode == 0 and f"fine: {places} places" in done.stdout,
          f"job, {how}: exit code {done.returncode}, {done.stdout}{done.stderr}")
    check(done.stdout.count("fine") == 1, f"job, {how}: place 0 alone reports")


def app(done, how, name="places_heat"):
    try:
        r = json.loads(done.stdout)  # one object, from place 0
    except json.JSONDecodeError:
        check(False, f"{name}, {how}: one JSON object, not {done.stdout}{done.stderr}")
        return None
    check(done.returncode == 0 and r["verified"] is True, f"{name}, {how}, is verified")
    return r


def same_messages(one, other, how):
    # How many places are engaged anew by a border row depends on time, and with it the number of `done`.
    def without_dones(r):
        return {kind: counts for kind, counts in r["by_kind"].items() if kind != "done"}, r["fab_taken"], len(r["per_place"])
    check(one["fab_refused"] == other["fab_refused"] == 0, f"{how}: the buffers have room for all")
    check(without_dones(one) == without_dones(other),
          f"{how}: messages and bytes of each kind are the same as between threads: {one['by_kind']}, {other['by_kind']}")
    check(all(r["by_kind"]["done"]["bytes"] == 64 * r["by_kind"]["done"]["messages"] for r in (one, other)), f"{how}: a done is a header")


def same_by_hand(kith, by_hand, places, workers, how):
    check((by_hand["as"], by_hand["transport"], by_hand["places"]) == ("custom", "mpi", places), f"{how} says what it was")
    check(by_hand["workers"] == workers, f"{how}: {by_hand['workers']} threads, not {workers}")
    check(kith.keys() == by_hand.keys(), f"{how} has the fields of the others: {kith.keys() ^ by_hand.keys()}")
    check(all(by_hand[f] is None for f in ("messages", "fab_attempts", "stalled", "graph_depth", "per_place")),
          f"{how} has no values of what it does not count")
    same = all(abs(value - by_hand["figures"][name]) <= 1e-9 if isinstance(value, float) else value == by_hand["figures"][name]
               for name, value in kith["figures"].items())
    check(same, f"{how} finds the same: {kith['figures']}, {by_hand['figures']}")


def start_endless(mpi, places):
    """The launcher of a job that has started to run."""
    job = subprocess.Popen([KITH, "launch", "-n", str(places), "--mpi", mpi, "--workers", "1", "--", JOB, "endless"],
                           env=CLEAN | ALLOW, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    line = ""
    while "started" not in line:
        line = job.stderr.readline()
        if not line:
            break
    return job


def killed_launcher(mpi):
    """Kills the launcher itself. Whether the job's processes end."""
    job = start_endless(mpi, 2)
    processes = processes_of(job.pid, JOB)
    job.kill()
    job.communicate(timeout=60)
    end = time.monotonic() + 60
    while any(runs(p, JOB) for p in processes):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return len(processes) == 2


def random_kill(mpi, seed):
    """Kills a random place at a random moment. Returns kith launch's exit code, its words, and the seconds it took."""
    choice = random.Random(seed)
    places = choice.randint(2, 4)
    job = start_endless(mpi, places)
    time.sleep(choice.random() * 0.5)
    alive = processes_of(job.pid, JOB)
    victim = choice.choice(alive) if alive else 0
    begin = time.monotonic()
    if victim:
        os.kill(victim, signal.SIGKILL)
    _, text = job.communicate(timeout=60)
    return places, victim, job.returncode, text, time.monotonic() - begin


# Places with process numbers of their own take each other for processes of other machines.
APART = ("unshare", "--pid", "--fork", "--mount-proc")
FAR = {"OMPI_MCA_btl": "tcp,self"}  # Open MPI would share memory by process numbers


def silent_place(mpi):
    """Stops a place of another machine, first for less than the silence that is allowed. What place 0 says."""
    job = subprocess.Popen([f"mpirun.{mpi}", "-n", "2", *APART, JOB, "endless"], env=CLEAN | ALLOW | FAR | SETTING,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = ""
    while "started" not in text and (line := job.stderr.readline()):
        text += line
    place_of = {environment_of(p).get("PMIX_RANK" if mpi == "openmpi" else "PMI_RANK"): p for p in processes_of(job.pid, JOB)}
    check(set(place_of) == {"0", "1"}, f"{mpi}: two far places have started: {place_of}, {text}")
    if victim := place_of.get("1"):
        os.kill(victim, signal.SIGSTOP)
        time.sleep(PAUSE)
        os.kill(victim, signal.SIGCONT)
        time.sleep(1)
        check(len(processes_of(job.pid, JOB)) == 2, f"{mpi}: a place that is silent for {PAUSE} s of {SILENCE} is not lost")
        os.kill(victim, signal.SIGSTOP)
        end = time.monotonic() + SILENCE + 5
        while runs(place_of["0"], JOB) and time.monotonic() < end:
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):  # the launcher may have ended it
            os.kill(victim, signal.SIGKILL)
    return text + job.communicate(timeout=60)[1]


def dies_at_start(mpi, how):
    """A job whose place 0 ends while the other, below a shell, is in MPI_Init: kith launch's exit code, its words, and the
    seconds it took."""
    script = f'[ "$PMI_RANK$OMPI_COMM_WORLD_RANK" = 0 ] && sleep 0.3 && {how}; "$0"; exit $?'
    begin = time.monotonic()
    done = run(KITH, "launch", "-n", "2", "--mpi", mpi, "--", "sh", "-c", script, JOB)
    return done.returncode, done.stderr, time.monotonic() - begin


def never_finalizes():
    """Jobs of MPICH, whose MPI_Finalize does not return: by a launcher, and without. Also the folder of the library that
    makes it so."""
    if "mpich" not in MPIS or not shutil.which("cc"):
        return [], None
    folder = tempfile.TemporaryDirectory()
    library = os.path.join(folder.name, "libnever.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], check=True, text=True,
                   input="int pause(void);\nint MPI_Finalize(void) { for (;;) pause(); }\n")
    jobs = [subprocess.Popen([*launcher, "env", f"LD_PRELOAD={library}", JOB], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=CLEAN | ALLOW | {"KITH_TRANSPORT": "mpich"})
            for launcher in (["mpirun.mpich", "-n", "2"], [])]
    return jobs, folder


never, folder = never_finalizes()  # takes seconds, and is looked at last
in_background = concurrent.futures.ThreadPoolExecutor()
DEATHS = {"kill -9 $$": (3, "place 0 was ended by signal 9"), "exit 5": (5, "place 0 ended with exit code 5")}
dying = {(mpi, how): in_background.submit(dies_at_start, mpi, how) for mpi in MPIS for how in DEATHS}
for places in (1, 4):
    checks_itself(places, run(JOB, KITH_PLACES=str(places)), f"{places} places in one process")
check("fine: differ" in run(JOB, "differ", KITH_PLACES="3").stdout, "collectives that differ, in one process")
threads = app(run(KITH, "app", "places_heat", "--places", "4", "--workers", "1", "--oversubscribe", "--small", "--json"), "threads")

if not MPIS:
    print("places as processes are not tested: neither mpirun.openmpi nor mpirun.mpich, or no transport for them")
    sys.exit(1 if failures else 77)
for mpi in MPIS:
    mpirun = f"mpirun.{mpi}"
    for places in (1, 2, 4):
        checks_itself(places, run(mpirun, "-n", str(places), JOB), f"{mpirun} -n {places}")
    launched = run(KITH, "launch", "-n", "3", "--mpi", mpi, "--", JOB)
    checks_itself(3, launched, f"kith launch, {mpi}")
    check("has made a place" not in launched.stderr, f"kith launch, {mpi}, of a program on places: {launched.stderr}")
    for name in ("places_heat", "places_md", "places_cg"):
        # An MPI whose waiting processes share cores is slow: more of them only for the programs that wait seldom.
        processes, threads_each = ("2", "1") if name == "places_cg" else ("3", "3")
        kith = app(run(mpirun, "-n", processes, KITH, "app", name, "--workers", "1", "--small", "--json"), mpirun, name)
        by_hand = app(run(mpirun, "-n", processes, KITH, "app", name, "--as", "custom", "--workers", threads_each, "--oversubscribe",
                          "--small", "--json"), f"{mpirun} --as custom", name)
        if kith and by_hand:
            same_by_hand(kith, by_hand, int(processes), int(threads_each), f"{mpirun}: {name} by hand")
    threaded = app(run(mpirun, "-n", "1", KITH, "app", "places_cg", "--as", "custom", "--workers", "3", "--oversubscribe", "--small",
                       "--json"), f"{mpirun} --as custom", "places_cg")
    check(threaded and threaded["workers"] == 3, f"{mpirun}: CG by hand with threads")
    empty = app(run(mpirun, "-n", "3", KITH, "app", "places_heat", "--as", "custom", "--small", "--json", "--rows", "2"),
                f"{mpirun} --as custom")
    check(empty and empty["figures"]["rows"] == 2, f"{mpirun}: a process without rows")
    done = run(mpirun, "-n", "2", KITH, "app", "places_cg", "--as", "custom", "--class", "Q")
    check(done.returncode == 2 and "--class Q" in done.stderr, f"{mpirun}: CG by hand refuses a wrong class: {done.stderr}")
    done = run(mpirun, "-n", "2", KITH, "app", "places_heat", "--as", "custom", "--rows", "0")
    check(done.returncode == 2 and "--rows" in done.stderr, f"{mpirun}: heat by hand refuses wrong parameters: {done.stderr}")
    for words, says in ((("--waiting", "blocks"), "--waiting has no effect"),
                        (("--policy", "steal"), "--policy has no effect"),
                        (("--machine", "core:4"), "--machine core:4"),
                        (("--places", "3"), "is a place, and it has 2")):
        done = run(mpirun, "-n", "2", KITH, "app", "places_heat", "--as", "custom", "--small", *words)
        check(done.returncode == 2 and says in done.stderr, f"{mpirun}: heat by hand refuses {words}: {done.stderr}")
    # As many threads as Kith has workers: a launcher's masks are shares already, and there are other limits than masks.
    for binding, processes, limit in (("none", "2", ()), ("core", "2", ()),
                                      ("none", "1", ("env", "SLURM_JOB_ID=1", "SLURM_CPUS_PER_TASK=1"))):
        how = ("--bind-to" if mpi == "openmpi" else "-bind-to", binding, "-n", processes, *limit)
        both = [app(run(mpirun, *how, KITH, "app", "places_heat", "--as", which, "--small", "--json"), f"{mpirun} {how}, {which}")
                for which in ("ads", "custom")]
        check(all(both) and both[0]["workers"] == both[1]["workers"], f"{mpirun} {how}: as many threads by hand: {both}")
    heat = app(run(mpirun, "-n", "4", KITH, "app", "places_heat", "--workers", "1", "--small", "--json"), mpirun)
    launched = app(run(KITH, "launch", "-n", "4", "--mpi", mpi, "--", "kith", "app", "places_heat", "--small", "--json"), "kith launch")
    if heat and launched and threads:
        check(heat["transport"] == "mpi" and threads["transport"] == "threads", "they say how they were connected")
        same_messages(threads, heat, mpirun)
        same_messages(threads, launched, f"kith launch, {mpi}")

    done = run(mpirun, "-n", "2", JOB, KITH_TRANSPORT="threads")
    check(done.stdout.count("fine: 1 places, threads") == 2, "KITH_TRANSPORT=threads keeps all places in each process")
    for variables, words in (({"KITH_PLACES": "3"}, ["3 are asked for", "2 processes"]),
                             ({"KITH_TRANSPORT": "tcp"}, ["KITH_TRANSPORT=tcp", "openmpi"]),
                             ({"KITH_TRANSPORT": "/none/lib.so"}, ["/none/lib.so", "cannot be loaded"])):
        done = run(mpirun, "-n", "2", JOB, **variables)
        check(done.returncode != 0 and all(w in done.stderr for w in words), f"{variables} is refused: {done.stderr}")
    for other, library in (("openmpi", "libmpi.so.40"), ("mpich", "libmpich.so.12")):
        if other in MPIS and other != mpi:
            done = run(mpirun, "-n", "2", "env", f"LD_PRELOAD={library}", JOB)
            check(done.returncode != 0 and library in done.stderr and f"kith launch --mpi {other}" in done.stderr,
                  f"{mpirun}: a program that uses {other}: {done.returncode}, {done.stderr}")
    done = run(mpirun, "-n", "1", JOB, ":", "-n", "1", OTHER)
    check(done.returncode != 0 and "does not run the same program as place 0" in done.stderr, f"two programs in one job: {done.stderr}")
    done = run(mpirun, "-n", "2", KITH, "app", "places_heat", "--small", "--as", "cws")
    check(done.returncode != 0 and "cws" in done.stderr, f"cws is for one process: {done.stderr}")

    done = run(KITH, "launch", "-n", "2", "--mpi", mpi, "--", JOB, "refuse")
    check(done.returncode == 4 and done.stderr.count("nothing to do") == 2, f"all processes get a run's failure: {done.stderr}")
    done = run(KITH, "launch", "-n", "3", "--mpi", mpi, "--", JOB, "apart")
    check(done.returncode == 0 and "fine: apart" in done.stdout, f"processes that do not call run(), and children: {done.stderr}")
    for mode in ("again", "differ", "fewer", "late"):
        done = run(mpirun, "-n", "3", JOB, mode)
        check(done.returncode == 0 and f"fine: {mode}" in done.stdout and not done.stderr,
              f"{mpirun}: job {mode}: exit code {done.returncode}, {done.stdout}{done.stderr}")
    done = run(KITH, "launch", "-n", "2", "--mpi", mpi, "--", "/none/program")
    check(done.returncode == 127 and "/none/program" in done.stderr, f"a program that is not there: {done.stderr}")
    done = run(KITH, "launch", "-n", "3", "--mpi", mpi, "--", "sh", "-c", 'exit "$PMI_RANK$OMPI_COMM_WORLD_RANK"')
    check(done.returncode == 1 and all(f"place {p} ended with exit code {p}\n" in done.stderr for p in (1, 2)),
          f"{mpi}: exit codes that differ: {done.returncode}, {done.stderr}")
    done = run(KITH, "launch", "-n", "2", "--mpi", mpi, "--", "true")
    check(done.returncode == 0 and "none of the 2 processes of true has made a place" in done.stderr,
          f"{mpi}: a program without places: {done.returncode}, {done.stderr}")
    done = run(KITH, "launch", "-n", "2", "--mpi", mpi, "--", "sh", "-c", "exit 7")
    check(done.returncode == 7 and "exit code" not in done.stderr, f"{mpi}: one exit code: {done.returncode}, {done.stderr}")
    done = run(KITH, "launch", "-n", "2", "--mpi", mpi, "--", "sh", "-c", "kill -9 $PPID")
    check(done.returncode != 0 and "mpirun ended all places" in done.stderr and "before the program" not in done.stderr,
          f"{mpi}: who ended the places if MPI did: {done.stderr}")
    check(killed_launcher(mpi), f"{mpi}: a job ends when its launcher is killed")
    if subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0:
        done = run(mpirun, "-n", "2", *APART, JOB, **FAR)
        checks_itself(2, done, f"{mpirun}, far places")
        text = silent_place(mpi)
        check("place 1: was lost: nothing came from" in text and f"for {SILENCE}000 ms" in text, f"{mpirun}, a silent place: {text}")
    else:
        print(f"{mpi}: places of other machines are not tested: unshare --pid is not permitted")
    for seed in range(round(5 * SCALE)):
        places, victim, code, text, seconds = random_kill(mpi, seed)
        named = [w for w in text.splitlines() if re.search(r"place \d: was lost: its process, \d+ on", w)]
        check(code == 3 and len(named) == places - 1 and f"process, {victim} on" in named[0] and seconds < 5,
              f"{mpi}, seed {seed}: {places - 1} survivors name process {victim}; exit code {code}, {seconds:.1f} s: {text}")
for (mpi, how), job in dying.items():
    code, text, seconds = job.result()
    named = DEATHS[how][1] in text and "because place 0 has failed before all had joined the job" in text
    check(code == DEATHS[how][0] and named and seconds < 10, f"{mpi}: {how} at the start: exit code {code}, {seconds:.1f} s: {text}")
if never:
    (out, text), (alone, alone_text) = [job.communicate(timeout=60) for job in never]
    check(never[0].returncode == 0 and out.count("fine: 2 places") == 1 and not text,
          f"processes tell MPICH's launcher that they end: exit code {never[0].returncode}, {out}{text}")
    check(never[1].returncode == 0 and alone.count("fine: 1 places") == 1 and "MPI_Finalize did not return" in alone_text,
          f"a process leaves without MPI_Finalize: exit code {never[1].returncode}, {alone}{alone_text}")
    folder.cleanup()
sys.exit(len(failures) > 0)
