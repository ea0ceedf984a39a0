#!/usr/bin/env python3
"""OpenMP programs of GCC on libkith_gomp.so, the names that it has, and `kith run`.

usage: gomp_test.py PATH_OF_KITH LIBRARY FOLDER COMPILER     (the programs of this folder, compiled, and a C compiler)

Each program verifies itself; it runs under several policies and numbers of threads. KITH_TEST_SCALE=10 runs all ten
times. With an argument, as here, a program also does what libgomp 12 itself gets wrong.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

if len(sys.argv) != 5:
    sys.exit(__doc__)
KITH, LIBRARY, FOLDER = (os.path.abspath(p) for p in sys.argv[1:4])
COMPILER = sys.argv[4]
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("KITH_", "OMP_", "GOMP_", "LD_PRELOAD"))}
POLICIES = ("auto", "steal", "dep", "fifo")
THREADS = (1, 2, 4)
REPEATS = max(1, int(float(os.environ.get("KITH_TEST_SCALE", "1"))))
LIMIT = 60  # seconds of one run
STACK = 8 << 20  # of the first thread, as usual
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)


def usual_stack():
    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, most))


def execute(words, **variables):
    """Exit code and output; the code is None if the time was over."""
    try:
        done = subprocess.run(words, env=CLEAN | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=LIMIT, check=False, preexec_fn=usual_stack)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b"").decode(errors="replace")


def run_program(program, policy, threads, **more):
    settings = {"KITH_POLICY": policy, "OMP_NUM_THREADS": str(threads), **more}
    code, output = execute([os.path.join(FOLDER, program), "more"], LD_PRELOAD=LIBRARY, **settings)
    if code == 0 and output == "ok\n":
        return None
    how = " ".join(f"{k}={v}" for k, v in settings.items())
    what = f"did not end within {LIMIT} s" if code is None else f"exit code {code}"
    return f"{how} {program}: {what}: {' | '.join(output.splitlines()[:4])}"


def run_all(programs):
    runs = [(p, policy, threads, {"OMP_CANCELLATION": "true"}) for _ in range(REPEATS) for policy in POLICIES
            for threads in THREADS for p in programs]
    # Settings that change how the same program runs.
    runs += [("cancel", "auto", threads, {}) for threads in THREADS]
    runs += [(p, "auto", 4, {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false", "OMP_PROC_BIND": "true"})
             for p in ("barrier", "cholesky")]
    runs += [("loops", "auto", 3, {"OMP_SCHEDULE": s}) for s in ("static", "dynamic,4", "guided,2", "nonmonotonic:dynamic")]
    # Where workers have queues that no other worker robs.
    placing = [("dfifo:steal=off", {}), *((policy, {"KITH_MACHINE": "node:2 core:2"}) for policy in ("dep", "rip-dep", "rip-mw"))]
    runs += [(p, policy, 2, machine) for policy, machine in placing
             for p in ("critical_children", "lock_over_wait", "barrier", "cholesky")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, failed in enumerate(pool.map(lambda r: run_program(r[0], r[1], r[2], **r[3]), runs), 1):
            check(failed is None, failed)
            if number % (len(programs) * len(THREADS)) == 0 or number == len(runs):
                print(f"openmp: {number} of {len(runs)} runs", flush=True)


def exported(library):
    """The functions for programs that a library exports."""
    names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"[0-9a-f]+ [TWi] ((?:GOMP|omp)_\w+)", names))


def compare_names(program):
    loaded = subprocess.run(["ldd", os.path.join(FOLDER, program)], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libgomp\.so\.1 => (/\S+)", loaded)
    if not found or not shutil.which("nm"):
        print("openmp: names are not compared: no libgomp.so.1, or no nm")
        return
    system = exported(found[1])
    check(len(system) > 200, f"{found[1]} exports only {len(system)} functions")
    missing = sorted(system - exported(LIBRARY))
    check(not missing, f"libgomp.so.1 exports what {LIBRARY} does not: {' '.join(missing)}")


def kith(*words, before=(), **variables):
    done = subprocess.run([*before, KITH, *words], env=CLEAN | variables, capture_output=True, text=True, timeout=120,
                          check=False)
    return done


def rows(file, query):
    with sqlite3.connect(file) as db:
        return db.execute(query).fetchall()


def record(work):
    """A recording of an OpenMP program has its tasks and dependences, and the simulator runs it."""
    file = os.path.join(work, "cholesky.rec")
    done = kith("run", "--policy", "dep", "--threads", "2", "--record", file, "--", os.path.join(FOLDER, "cholesky"))
    check(done.returncode == 0 and done.stdout == "ok\n", f"kith run --record: {done.returncode}: {done.stdout}{done.stderr}")
    if not os.path.exists(file):
        check(False, f"kith run --record made no {file}; there is {os.listdir(work)}: {done.stderr}")
        return
    tasks, dependences = (rows(file, f"select count(*) from {t}")[0][0] for t in ("task", "dependence"))
    # Three factorizations of 7 by 7 tiles, and a wavefront of 24 by 24 tasks.
    check(tasks >= 3 * 84 + 576 and dependences >= 2 * 24 * 23, f"the recording has {tasks} tasks and {dependences} dependences")
    done = kith("sim", file, "--policy", "dep", "--json")
    check(done.returncode == 0 and json.loads(done.stdout), f"kith sim: {done.returncode}: {done.stderr}")
    done = kith("record", "-o", file, "--", KITH, "run", "--threads", "2", "--", os.path.join(FOLDER, "cholesky"))
    check(done.returncode == 0 and os.path.exists(file), f"kith record -- kith run: {done.returncode}: {done.stderr}")


SLEEPER = """
#include <unistd.h>
int main(void) {
#pragma omp parallel
  {
#pragma omp single
    usleep(300000);
#pragma omp single
    usleep(1);
  }
  return 0;
}
"""


def record_waits(work):
    """Members that wait at a barrier do not work meanwhile."""
    program, file = compiled(work, "sleeper", SLEEPER, "-fopenmp"), os.path.join(work, "sleeper.rec")
    check(program, "the program that sleeps was not compiled")
    done = kith("run", "--threads", "3", "--record", file, "--", program)
    check(done.returncode == 0, f"kith run --record: {done.returncode}: {done.stderr}")
    milliseconds = rows(file, "select sum(work_ns) from task")[0][0] / 1e6
    check(300 <= milliseconds < 550, f"one of three members sleeps for 300 ms, and they work for {milliseconds} ms")


def refused(*words, says, **how):
    done = kith("run", *words, **how)
    check(done.returncode == 2 and not done.stdout, f"kith run {' '.join(words)}: exit code {done.returncode}: {done.stdout}")
    for text in says:
        check(text in done.stderr, f"kith run {' '.join(words)}: the error does not say '{text}': {done.stderr}")


def compiled(work, name, text, *options):
    """A program of that text; None if it cannot be made here."""
    source, program = pathlib.Path(work, name + ".c"), os.path.join(work, name)
    source.write_text(text)
    made = subprocess.run([COMPILER, str(source), "-o", program, *options], capture_output=True, text=True, check=False)
    return program if made.returncode == 0 else None


def command_line(work):
    ok = os.path.join(FOLDER, "parallel")
    # What the program gets, and what the caller has set.
    show = ["sh", "-c", 'echo "$LD_PRELOAD|$KITH_POLICY|$OMP_NUM_THREADS|$KITH_RECORD"']
    quiet = {"LD_PRELOAD": "libm.so.6"}
    done = kith("run", "--policy", "steal", "--threads", "3", "--record", os.path.join(work, "r"), "--", *show, **quiet)
    check(done.stdout == f"{LIBRARY}:libm.so.6|steal|3|{os.path.join(work, 'r')}\n", f"kith run sets {done.stdout}{done.stderr}")
    done = kith("run", "--", *show, KITH_POLICY="dep", OMP_NUM_THREADS="2")
    check(done.stdout == f"{LIBRARY}|dep|2|\n", f"kith run keeps {done.stdout}")
    done = kith("run", "--library", LIBRARY, "--", ok)
    check(done.returncode == 0 and done.stdout == "ok\n", f"kith run --library: {done.stdout}{done.stderr}")
    done = kith("run", "--", "sh", "-c", f"exec {ok}")
    check(done.returncode == 0 and done.stdout == "ok\n", f"a script: {done.stdout}{done.stderr}")
    # It is really Kith that runs: the policy's name is read.
    code, output = execute([ok], LD_PRELOAD=LIBRARY, KITH_POLICY="no-such-policy")
    check(code != 0 and "no-such-policy" in output, f"an unknown policy is accepted: {code}: {output}")
    # Exit codes.
    check(kith("run", "--", "sh", "-c", "exit 7").returncode == 7, "the program's exit code")
    done = kith("run", "--", "sh", "-c", "kill -TERM $$")
    check(done.returncode == 128 + 15 and "signal 15" in done.stderr, f"ended by a signal: {done.returncode}: {done.stderr}")

    refused(says=["program"])
    refused("--", "no-such-program", says=["no-such-program", "PATH"])
    refused("--", "./no-such-program", says=["./no-such-program", "no such file"])
    refused("--", work, says=[work, "folder"])
    plain = os.path.join(work, "plain")
    pathlib.Path(plain).write_text("text")
    refused("--", plain, says=[plain, "cannot be run", "chmod +x"])
    refused("--policy", "stael", "--", ok, says=["stael", "did you mean 'steal'"])
    refused("--policy", "", "--", ok, says=["--policy"])
    refused("--threads", "0", "--", ok, says=["--threads"])
    refused("--library", "/no/such.so", "--", ok, says=["/no/such.so", "libkith_gomp.so"])
    refused("--record", os.path.join(work, "no", "folder", "x"), "--", ok, says=["no/folder"])
    spaced = os.path.join(work, "with space.so")
    shutil.copy(LIBRARY, spaced)
    refused("--library", spaced, "--", ok, says=["space"])
    marked = os.path.join(work, "marked")
    shutil.copy(ok, marked)
    os.chmod(marked, 0o4755)
    refused("--", marked, says=[marked, "set-user-ID"])
    static = compiled(work, "static", "int main(void) { return 0; }", "-static")
    if static:
        refused("--", static, says=[static, "static"])
    else:
        print("openmp: no static program is tried: it cannot be linked here")
    # A program that is linked with Clang's library: a stand-in of its name is enough, since nothing runs.
    other = os.path.join(work, "libomp.so.5")
    if compiled(work, "libomp.so.5", "int kmpc;", "-shared", "-fPIC", "-Wl,-soname,libomp.so.5"):
        program = compiled(work, "clangs", "extern int kmpc; int main(void) { return kmpc; }", other)
        refused("--", program, says=[program, "libomp.so.5", "gcc"])


def main():
    programs = sorted(p for p in os.listdir(FOLDER) if os.access(os.path.join(FOLDER, p), os.X_OK))
    check(len(programs) >= 25, f"{FOLDER} has only {len(programs)} programs")
    with tempfile.TemporaryDirectory() as work:
        compare_names(programs[0])
        command_line(work)
        record(work)
        record_waits(work)
    print("openmp: names, command line and recordings are checked", flush=True)
    run_all(programs)
    print(f"{len(failures)} failures" if failures else "passed")
    return bool(failures)


sys.exit(main())
