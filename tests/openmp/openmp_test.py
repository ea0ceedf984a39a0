#!/usr/bin/env python3
"""OpenMP programs on Kith's libraries, the names that these have, and `kith run`.

usage: openmp_test.py PATH_OF_KITH LIBRARY FOLDER COMPILER

LIBRARY is libkith_gomp.so for programs of GCC, or libkith_omp.so for programs of Clang. FOLDER has the programs of this
folder, compiled by COMPILER, or its C++ compiler. Each program verifies itself; it runs under several policies and
numbers of threads. KITH_TEST_SCALE=10 runs all ten times. With an argument, as here, a program also does what libgomp
12 itself gets wrong.
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
IS_GCC = os.path.basename(LIBRARY) == "libkith_gomp.so"
OTHER = "libkith_omp.so" if IS_GCC else "libkith_gomp.so"
BOTH = f"{LIBRARY}:{os.path.join(os.path.dirname(LIBRARY), OTHER)}"  # what `kith run` loads for such a program
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("KITH_", "OMP_", "GOMP_", "LD_PRELOAD"))}
# The parts that know no compiler run under all of them with GCC's programs.
POLICIES = ("auto", "steal", "dep", "fifo") if IS_GCC else ("auto", "dep")
THREADS = (1, 2, 4) if IS_GCC else (1, 3)
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
    runs += [("throttle", policy, 4, {"KITH_THROTTLE": "8"}) for policy in ("auto", "fifo", "steal")]
    # Where workers have queues that no other worker robs.
    placing = [("dfifo:steal=off", {}), *((policy, {"KITH_MACHINE": "node:2 core:2"}) for policy in ("dep", "rip-dep", "rip-mw"))]
    runs += [(p, policy, 2, machine) for policy, machine in placing
             for p in ("critical_children", "lock_over_wait", "barrier", "cholesky")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, failed in enumerate(pool.map(lambda r: run_program(r[0], r[1], r[2], **r[3]), runs), 1):
            check(failed is None, failed)
            if number % (len(programs) * len(THREADS)) == 0 or number == len(runs):
                print(f"openmp: {number} of {len(runs)} runs", flush=True)


NAMES = r"(?:GOMP|omp)_\w+" if IS_GCC else r"(?:__kmpc|kmp|omp)_\w+"
# What no program of Clang or Flang calls: Intel's atomics, queries of devices, internals, Fortran's names of extensions.
UNUSED = None if IS_GCC else re.compile(
    r"__kmpc_atomic_\w+|omp_\w*interop\w*_|omp_control_tool_|kmp_\w+_|kmp_[a-f]_debug|kmp_diag|"
    r"kmp_(mutex_impl_info|threadprivate_insert(_private_data)?|set_thread_affinity_mask_initial)|__kmpc_(init|destroy|set|unset|test)_(nest_)?lock\w*|"
    r"__kmpc_(barrier_master|end_barrier_master|barrier_master_nowait|calc_original_ivs_rectang|process_loop_nest_rectang|for_collapsed_init|"
    r"end_sections|next_section|sections_init|get_target_offload|get_taskid|get_parent_taskid|invoke_task_func|omp_get_target_async_handle_ptr|omp_has_task_team|"
    r"pause_resource|proxy_task_completed(_ooo)?|push_num_threads_list(_strict)?|task_get_(depnode|successors)|task_reduction(_modifier)?_init|"
    r"threadprivate_register_vec)")


def exported(library):
    """The functions for programs that a library exports."""
    names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf"[0-9a-f]+ [TWi] ({NAMES})", names))


def compare_names(program):
    loaded = subprocess.run(["ldd", os.path.join(FOLDER, program)], capture_output=True, text=True, check=False).stdout
    found = re.search(r"lib(?:gomp\.so\.1|omp\.so\.5) => (/\S+)", loaded)
    if not found or not shutil.which("nm"):
        print("openmp: names are not compared: no OpenMP library, or no nm")
        return
    system = exported(found[1])
    check(len(system) > 200, f"{found[1]} exports only {len(system)} functions")
    missing = sorted(n for n in system - exported(LIBRARY) if not (UNUSED and UNUSED.fullmatch(n)))
    check(not missing, f"{found[1]} exports what {LIBRARY} does not: {' '.join(missing)}")


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
    unnamed = rows(file, "select count(*) from task join type on type.id = task.type where type.name = 'task'")[0][0]
    check(unnamed == 0, f"{unnamed} tasks have no name")
    done = kith("sim", file, "--policy", "dep", "--json")
    check(done.returncode == 0 and json.loads(done.stdout), f"kith sim: {done.returncode}: {done.stderr}")
    done = kith("record", "-o", file, "--", KITH, "run", "--threads", "2", "--", os.path.join(FOLDER, "cholesky"))
    check(done.returncode == 0 and os.path.exists(file), f"kith record -- kith run: {done.returncode}: {done.stderr}")
    # Programs of a script, at the same time, have a recording each; one file cannot be given twice.
    both = f"{os.path.join(FOLDER, 'cholesky')} & {os.path.join(FOLDER, 'single')} & wait"
    done = kith("run", "--threads", "2", "--record", file, "--", "sh", "-c", both)
    check(done.returncode == 0 and done.stdout == "ok\nok\n", f"two programs recorded at once: {done.returncode}: {done.stdout}{done.stderr}")
    check(sorted(rows(f, "select count(*) from task")[0][0] > 500 for f in (file, file + "-2")) == [False, True], "recordings of two programs")
    done = kith("record", "-o", file, "--", KITH, "run", "--record", file, "--", os.path.join(FOLDER, "single"))
    check("one of the two" in done.stderr, f"a file for kith record, and one for kith run: {done.stderr}")


FOOTPRINTS = """
int main(void) {
  static double a[1000], b[10];
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : a[0:1000])
    a[0] = 1;
#pragma omp task depend(in : a[0:1000]) depend(out : b[0:10])
    b[0] = a[0];
#pragma omp task depend(in : a[500:8], b)
    a[600] = b[0];
  }
  return a[600] != 1;
}
"""


def record_footprints(work):
    """Clang passes the sizes of what tasks depend on. Items that overlap order tasks."""
    program, file = compiled(work, "footprints", FOOTPRINTS, "-fopenmp", "-g"), os.path.join(work, "footprints.rec")
    check(program, "the program with footprints was not compiled")
    done = kith("run", "--threads", "2", "--record", file, "--", program)
    check(done.returncode == 0, f"kith run --record: {done.returncode}: {done.stderr}")
    named = [name for (name,) in rows(file, "select name from type where name like 'main:%' order by id")]
    check(named == ["main:7", "main:9", "main:11"], f"with -g, tasks are named {named}")
    accesses = rows(file, "select access.mode, access.bytes from access join task on task.id = access.task join type on type.id = task.type "
                          "where type.name like 'main:%' order by access.task, access.bytes")
    check(accesses == [(2, 8000), (2, 80), (0, 8000), (0, 64), (0, 80)], f"the accesses of the three tasks are {accesses}")
    before = rows(file, "select count(*) from dependence")[0][0]
    check(before == 3, f"three tasks in a row have {before} dependences")


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
    longest, together = (ns / 1e6 for ns in rows(file, "select max(work_ns), sum(work_ns) from task")[0])
    check(300 <= longest and together < 1.5 * longest, f"one of three members sleeps for {longest} ms, and they work for {together} ms")


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
    check("nothing was recorded" in done.stderr, f"kith run --record of a program that records nothing: {done.stderr}")
    check(done.stdout == f"{BOTH}:libm.so.6|steal|3|{os.path.join(work, 'r')}\n", f"kith run sets {done.stdout}{done.stderr}")
    done = kith("run", "--", *show, KITH_POLICY="dep", OMP_NUM_THREADS="2")
    check(done.stdout == f"{BOTH}|dep|2|\n", f"kith run keeps {done.stdout}")
    done = kith("run", "--policy", f"replay:file={os.path.join(work, 'r')}", "--", ok)
    check(done.returncode == 2 and "policy 'replay': it imposes an order of tasks that members of an OpenMP team do not have"
          in done.stderr, f"kith run --policy replay: {done.stderr}")
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
    refused("--policy", "steal:victm=random", "--", ok, says=["victm", "did you mean 'victim'"])
    done = kith("run", "--policy", "dep+pm", "--threads", "2", "--", ok)
    check(done.returncode == 0 and done.stdout == "ok\n", f"a policy that moves pages: {done.returncode}: {done.stderr}")
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


def without_thread_storage(work):
    """Threadprivate variables that the library keeps."""
    source, program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "threadprivate.c"), os.path.join(work, "threadprivate")
    made = subprocess.run([COMPILER, "-O1", "-fopenmp", "-fnoopenmp-use-tls", source, "-o", program, "-lm"], check=False)
    check(made.returncode == 0, f"{source} was not compiled without storage of threads")
    for threads in ("1", "3"):
        done = kith("run", "--threads", threads, "--", program)
        check(done.returncode == 0 and done.stdout == "ok\n", f"{source} without storage of threads: {done.returncode}: {done.stdout}{done.stderr}")


def mixed(work):
    """A program that Clang has linked, with an object of GCC's."""
    if not shutil.which("gcc"):
        print("openmp: no object of GCC is linked: there is no gcc")
        return
    source, part, program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parallel.c"), os.path.join(work, "part.o"), os.path.join(work, "mixed")
    made = subprocess.run(["gcc", "-fopenmp", "-c", source, "-o", part], check=False).returncode or subprocess.run(
        [COMPILER, "-fopenmp", part, "-o", program, "-lm"], check=False).returncode
    check(made == 0, "an object of GCC was not linked by Clang")
    done = kith("run", "--threads", "2", "--", program)
    check(done.returncode == 0 and done.stdout == "ok\n", f"an object of GCC's: {done.returncode}: {done.stdout}{done.stderr}")


def other_names(work):
    """LLVM's library has other names elsewhere. One that is loaded, too, is not used."""
    source, library = pathlib.Path(work, "unused.c"), os.path.join(work, "libiomp5.so")
    ok = os.path.join(FOLDER, "parallel")
    used = subprocess.run(["nm", "-D", "--undefined-only", ok], capture_output=True, text=True, check=True).stdout
    names = sorted(set(re.findall(r"\b((?:__kmpc|omp)_\w+)", used)))
    check(len(names) > 3, f"{ok} uses only {names}")
    source.write_text("void abort(void);\n" + "".join(f"void {n}(void) {{ abort(); }}\n" for n in names))
    script = pathlib.Path(work, "unused.map")
    script.write_text("VERSION { global: *; };\n")
    words = [COMPILER, "-shared", "-fPIC", "-w", "-fno-builtin", str(source), "-o", library, "-Wl,-soname,libiomp5.so", f"-Wl,--version-script={script}"]
    check(subprocess.run(words, check=False).returncode == 0, "the unused library is not linked")
    program, parallel = os.path.join(work, "of_intel"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "parallel.c")
    made = subprocess.run([COMPILER, "-fopenmp", "-c", parallel, "-o", program + ".o"], check=False).returncode or subprocess.run(
        [COMPILER, program + ".o", library, "-o", program, f"-Wl,-rpath,{work}", "-lm"], check=False).returncode
    check(made == 0, "no program is linked with the unused library")
    done = kith("run", "--threads", "2", "--", program)
    check(done.returncode == 0 and done.stdout == "ok\n", f"a program with libiomp5.so: {done.returncode}: {done.stdout}{done.stderr}")


def main():
    programs = sorted(p for p in os.listdir(FOLDER) if os.access(os.path.join(FOLDER, p), os.X_OK))
    check(len(programs) >= 25, f"{FOLDER} has only {len(programs)} programs")
    with tempfile.TemporaryDirectory() as work:
        compare_names(programs[0])
        if IS_GCC:
            command_line(work)
        else:
            record_footprints(work)
            other_names(work)
            without_thread_storage(work)
            mixed(work)
        record(work)
        record_waits(work)
    print("openmp: names, command line and recordings are checked", flush=True)
    run_all(programs)
    print(f"{len(failures)} failures" if failures else "passed")
    return bool(failures)


sys.exit(main())
