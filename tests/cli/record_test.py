"""kith record, repair, sim, machines, paper: from a run to its replay on other machines."""

import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import time

from run_kith import Kith, rows

kith = Kith()
path = kith.file


# A recording is a database of plain rows.
heat = path("heat.rec")
done = kith.run("record", "-o", heat, "--", "kith", "app", "heat", "--small", "--workers", "2")
kith.check(done.returncode == 0 and "verified" in done.stdout, f"heat is recorded: {done.stderr}")
kith.check(not os.path.exists(heat + ".parts"), "the parts are gone")
kith.check(rows(heat, "SELECT count(*) FROM task WHERE ended_ns < started_ns OR started_ns < ready_ns")[0][0] == 0,
           "tasks are ready, start and end, in this order")
kith.check(rows(heat, "SELECT count(*) FROM task WHERE completed_ns < ended_ns")[0][0] == 0, "and then they are completed")
tasks = rows(heat, "SELECT count(*) FROM task JOIN type ON type = type.id WHERE name = 'heat'")[0][0]
kith.check(tasks == 16 * 30, f"heat has 16 blocks and 30 steps, recorded were {tasks}")
kith.check(rows(heat, "SELECT name FROM mark") == [("solve",)], "the mark is there")

# Simulated: the rows that scripts rely on, the same every time.
wanted = {"policy", "seed", "makespan_s", "one_core_s", "speedup", "load_balance_percent", "overhead_percent",
          "partition_percent", "remote_access_percent", "remote_bytes", "steals", "steal_attempts", "first_steal_s"}
sim = ("sim", heat, "--machine", "bullion-s16-8", "--policy", "steal:victim=random,batch=1,dep", "--seeds", "2")
code, first = kith.json(*sim)
kith.check(code == 0 and [r["policy"] for r in first] == ["steal:victim=random,batch=1"] * 2 + ["dep"] * 2,
           "a row for each policy and seed")
kith.check(all(wanted <= set(r) for r in first), "with all keys")
kith.check(all(r["makespan_s"] > 0 and 0 < r["load_balance_percent"] <= 100 for r in first), "and values that can be")
code, second = kith.json(*sim)
kith.check(first == second, "two runs are alike to the last digit")
code, abstract = kith.json("sim", heat, "--policy", "fifo", "--fidelity", "abstract", "--workers", "1")
kith.check(0.3 < abstract[0]["speedup"] < 1.1, f"one core is no faster than one core: {abstract[0]['speedup']}")
code, alone = kith.json("sim", heat, "--policy", "auto,steal", "--workers", "1", "--seeds", "2", "--machine", "hybrid-laptop")
kith.check([r["speedup"] for r in alone] == [1] * 4 and alone[0]["one_core_s"] == alone[0]["makespan_s"],
           f"nor where it finds its data in caches, under the policy that is compared with: {alone}")
code, two = kith.json("sim", heat, "--policy", "auto,steal,fifo", "--workers", "2", "--machine", "hybrid-laptop")
kith.check(all(r["speedup"] < 2.1 for r in two), f"two cores that share a cache: {[r['speedup'] for r in two]}")
done = kith.run("sim", heat, "--plot", path("bars.svg"), "-o", path("simulated.rec"))
kith.check(done.returncode == 0 and "speed-up: over one core of the same machine" in done.stdout, "a table for people")
kith.check(open(path("bars.svg")).read().startswith("<svg"), "a picture")
kith.check(rows(path("simulated.rec"), "SELECT value FROM meta WHERE key = 'engine'") == [("sim",)],
           "a simulated run is a recording")

# Where recorded allocations are in a replay; pages that move.
allocated = rows(heat, "SELECT count(*), min(bytes), max(distribution) FROM allocation")[0]
kith.check(allocated[0] > 0 and allocated[1] >= 4096 and allocated[2] == 1, f"heat's memory is recorded: {allocated}")
for spread in ("fine", "coarse", "block", "recorded"):
    code, got = kith.json("sim", heat, "--policy", "steal,steal+pm", "--distribution", spread, "--chunk", "4096")
    kith.check(code == 0 and got[0]["migrated_bytes"] == 0, f"nothing moves without +pm ({spread})")
    moved = got[1]["migrated_bytes"]
    kith.check(moved > 0, f"written pages move with it ({spread}: {moved})")
kith.refused("sim", heat, "--distribution", "finest", says=["--distribution 'finest'", "recorded"])
kith.refused("sim", heat, "--policy", "dep+pm", "--fidelity", "abstract", says=["dep+pm", "fidelity block"])

# Dry: sizes that this machine does not have.
dry = path("dry.rec")
done = kith.run("record", "--dry", "-o", dry, "--", "kith", "app", "web", "--small", "--workers", "4", "--oversubscribe",
                "--policy", "nabbitc")
kith.check(done.returncode == 0, f"web is recorded dry: {done.stderr}")
kith.check(rows(dry, "SELECT sum(bytes) FROM region")[0][0] > 1 << 30, "with data that is not there")
kith.refused("app", "web", says=["kith record --dry"])

# Runs for minutes, and writes a megabyte of logs in a second.
many_tasks = ("nqueens", "--size", "18", "--depth", "7", "--workers", "2")


def until_written(recording, program):
    """Waits until the logs of a run have a megabyte, that is, thousands of tasks."""
    while program.poll() is None and sum(f.stat().st_size for f in pathlib.Path(recording + ".parts").glob("*.log")) < 1 << 20:
        time.sleep(0.01)


# What is counted for each task: at least what every system has.
counted = path("counted.rec")
done = kith.run("record", "--counters", "-o", counted, "--", "kith", "app", "heat", "--small", "--workers", "2")
kith.check(done.returncode == 0 and "verified" in done.stdout, f"heat is counted: {done.stderr}")
kept = rows(counted, "SELECT count(*), min(page_faults), min(task_clock_ns), count(DISTINCT task) FROM counts")[0]
ran = rows(counted, "SELECT count(*) FROM task WHERE worker >= 0")[0][0]
kith.check(kept[0] == kept[3] == ran and kept[1] >= 0 and kept[2] >= 0, f"each task has a row, {ran}: {kept}")
kith.check(rows(counted, "SELECT sum(task_clock_ns) FROM counts")[0][0] > 0, "and processor time")
meta = dict(rows(counted, "SELECT key, value FROM meta"))
kith.check("page_faults" in meta["counters"] and "task_clock" in meta["counters"], f"it says what was counted: {meta}")
kith.check("counters_missing" not in meta or meta["counters_missing"] in done.stderr, "and a line says what was not")
kith.check(kith.run("sim", counted).returncode == 0 and kith.run("why", counted, "heat:3").returncode == 0, "other verbs read it")
one = path("one.rec")
done = kith.run("record", "--counters=page_faults", "-o", one, "--", "kith", "app", "places_heat", "--small", "--places", "2")
kith.check(done.returncode == 0 and "not counted" not in done.stderr, f"only what is asked for: {done.stderr}")
kept = rows(one, "SELECT count(*), max(task_clock_ns) FROM counts")[0]
kith.check(kept == (rows(one, "SELECT count(*) FROM task WHERE worker >= 0")[0][0], -1), f"on places, too: {kept}")
kith.check(not rows(heat, "SELECT name FROM sqlite_master WHERE name = 'counts'"), "a recording without counters has no table")
kith.refused("record", "--counters=cash", "--", "true", says=["--counters 'cash'", "expected all, hardware, software"])
kith.refused("record", "--counters", "--dry", "--", "true", says=["--counters and --dry"])

# A killed run leaves what it did until then.
killed = path("killed.rec")
program = subprocess.Popen([kith.path, "app", *many_tasks], stdout=subprocess.DEVNULL,
                           env=os.environ | {"KITH_RECORD": killed, "KITH_RECORD_COUNTERS": "page_faults"})
until_written(killed, program)
program.send_signal(signal.SIGKILL)
program.wait()
kith.refused("sim", killed, says=["kith repair"])
done = kith.run("repair", killed)
kith.check(done.returncode == 0, f"it can be repaired: {done.stderr}")
ended = rows(killed, "SELECT count(*) FROM task WHERE ended_ns > 0")[0][0]
kith.check(ended > 100, f"tasks that ended before the kill are there: {ended}")
kept = rows(killed, "SELECT count(*) FROM counts")[0][0]
kith.check(ended <= kept <= ended + 2, f"with their counts: {kept}")  # the counts come first
roots = rows(killed, "SELECT ended_ns, (SELECT count(*) FROM task WHERE creator = root.id) FROM task AS root WHERE flags & 1")
kith.check(len(roots) == 1 and roots[0][0] == 0 and roots[0][1] > 0, f"and the run that created them: {roots}")
kith.check(rows(killed, "SELECT completed_ns FROM task WHERE flags & 1") == [(0,)], "which was not completed")
kith.refused("sim", killed, says=["did not end"])

# While a program runs, no other process may touch its parts.
running = path("running.rec")
program = subprocess.Popen([kith.path, "app", *many_tasks], stdout=subprocess.DEVNULL,
                           env=os.environ | {"KITH_RECORD": running})
while not os.path.exists(running + ".parts"):
    time.sleep(0.05)
kith.refused("repair", running, says=["running.rec.parts", "is being written by another process"])
kith.refused("record", "-o", running, "--", "kith", "app", "nqueens", "--small", says=["is being written"])
kith.check(os.path.exists(running + ".parts"), "and stay there")
program.kill()
program.wait()
kith.check(kith.run("repair", running).returncode == 0, "until it has ended")

# Several programs under one `kith record`, one after the other and side by side: a recording for each.
several = path("several.rec")
small = f"{kith.path} app nqueens --small --workers 2"
done = kith.run("record", "-o", several, "--", "sh", "-c", f"{small}; {small} & {small} & wait")
kith.check(done.returncode == 0, f"three programs are recorded: {done.stderr}")
for name in ("several.rec:", "several.rec-2:", "several.rec-3:"):
    kith.check(name in done.stderr, f"{name} is named: {done.stderr}")
counts = [rows(several + number, "SELECT count(*) FROM task")[0][0] for number in ("", "-2", "-3")]
kith.check(counts[0] > 10 and len(set(counts)) == 1, f"all of them are alike: {counts}")
kith.check(not [f for f in os.listdir(kith.folder.name) if f.startswith("several") and "parts" in f], "no parts are left")

# Ctrl-C reaches the program and `kith record`; SIGTERM reaches only `kith record`. Both end the program,
# and what it did is kept.
for number, whom in ((signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)):
    stopped = path(f"stopped-{int(number)}.rec")
    recorder = subprocess.Popen([kith.path, "record", "-o", stopped, "--", kith.path, "app", *many_tasks],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until_written(stopped, recorder)
    whom(recorder.pid, number)
    said = recorder.communicate(timeout=100)[1]
    kith.check(recorder.returncode == 1 and f"ended by signal {int(number)}" in said, f"signal {int(number)}: {said}")
    kith.check(rows(stopped, "SELECT count(*) FROM task")[0][0] > 0, f"signal {int(number)}: its tasks are there")
    kith.check(not os.path.exists(stopped + ".parts"), f"signal {int(number)}: no parts are left")

# A limit on file sizes (ulimit -f) ends the recording, not the program.
limited = path("limited.rec")
done = kith.run("app", "nqueens", "--size", "10", "--workers", "2", KITH_RECORD=limited,
                before=("sh", "-c", 'ulimit -f 200 && exec "$@"', "sh"))
kith.check(done.returncode == 0 and "verified" in done.stdout, f"the program ends as ever: {done.returncode} {done.stderr}")
kith.check("File too large" in done.stderr and "records are missing" in done.stderr, f"and says so: {done.stderr}")
kith.check(not os.path.exists(limited + ".new"), "no part of a file is left")

# Wrong input.
kith.refused("repair", path("nothing"), says=["nothing.parts"])
done = kith.run("repair", running)
kith.check(done.returncode == 0 and "already" in done.stdout, f"a recording that is whole stays: {done.stdout}{done.stderr}")
whole = open(running, "rb").read()
for name, content, says in (("text", b"no recording\n", "text"), ("cut", whole[:len(whole) // 2], "cut off")):
    with open(path(name), "wb") as f:
        f.write(content)
    kith.refused("repair", path(name), says=[name, says])
    kith.refused("sim", path(name), says=[name, says])
kith.refused("sim", kith.folder.name, says=["is a folder"])
kith.refused("sim", running, "--policy", "", says=["--policy", "empty"])
kith.refused("record", "-o", path("x.rec"), "kith", "app", "heat", "--small", says=["come after --"])
kith.refused("repair", path("n" * 300), says=["no logs in this folder"])
kith.refused("record", "-o", path("x"), "--", "/no/such/program", says=["/no/such/program", "cannot be run"])
kith.refused("record", "-o", path("x"), "--", "true", says=["nothing was recorded", "kith run --record FILE"])
for words in (("record", "-o", path("text"), "--", "kith", "app", "fib", "--small"), ("sim", heat, "-o", path("text")),
              ("calibrate", "-o", path("text"), "--", "kith", "app", "fib", "--small"),
              ("run", "--record", path("text"), "--", "true")):
    kith.refused(*words, says=["text: exists and is not a recording; remove it, or choose another name"])
kith.check(open(path("text"), "rb").read() == b"no recording\n", "and it is still there")
kith.refused("sim", path("nothing"), says=["there is no such file"])
kith.refused("sim", heat, "--machine", "no-such-machine", says=["no machine 'no-such-machine'", "bullion-s16-8"])
kith.refused("sim", heat, "--machine", path("mine.toml"), says=["mine.toml: no such file; expected a machine's description"])
equal = kith.run("sim", heat, "--seeds", "2", "--without", "noise", "--policy", "fifo", "--workers", "1").stdout
kith.check(re.search(r"^fifo .*\n(\n\S|\Z)", equal, re.M), f"no row of ranges if all seeds are equal: {equal}")
kith.refused("sim", heat, "--policy", "no-such-policy", says=["no-such-policy"])
kith.refused("sim", heat, "--fidelity", "perfect", says=["--fidelity 'perfect'", "abstract"])
kith.refused("sim", heat, "--without", "gravity", says=["--without 'gravity'", "contention"])
for words in ((heat, "--seeds", "1"), ("--without", "latency", "--", heat)):  # an option takes nothing that follows its value
    kith.check(kith.run("sim", "--without", "noise", *words).returncode == 0, f"sim --without noise {' '.join(words)}")
kith.refused("app", "--policy-library", "./no.so", "fib", "--small", says=["--policy-library ./no.so: cannot be loaded"])
kith.refused("paper", "--only", "heat", "rip-uv100", says=["rip-uv100", "'heat'"])
kith.refused("sim", heat, "--workers", "99", says=["32 cores"])
kith.refused("sim", os.path.abspath(__file__), says=["no recording of Kith"])

# Damaged files: a value that its column's type cannot hold, and rows that are not numbered consecutively.
for damage, says in (("UPDATE access SET mode = 260 WHERE rowid = 3", ["table access, column mode", "'260'"]),
                     ("UPDATE task SET worker = 'x' WHERE id = 5", ["table task, column worker", "'x'"]),
                     ("UPDATE task SET started_ns = -1, ended_ns = -1 WHERE id = 5", ["table task, column started_ns"]),
                     ("UPDATE task SET scope = 4294967295 WHERE id = 5", ["table task, row 5: scope is 4294967295"]),
                     ("UPDATE access SET touched = 100000000000 WHERE rowid = 3", ["100000000000 bytes of region"]),
                     ("UPDATE region SET bytes = 4611686018427387904 WHERE id = 0", ["table region, row 0: bytes is"]),
                     ("DELETE FROM task WHERE id = 5", ["table task has row 6 where 5"])):
    damaged = path("damaged.rec")
    shutil.copy(heat, damaged)
    with sqlite3.connect(damaged) as db:
        db.execute(damage)
    kith.refused("sim", damaged, says=["damaged.rec: damaged: "] + says)
pages = bytearray(pathlib.Path(heat).read_bytes())
pages[len(pages) // 2 // 4096 * 4096] = 99  # the kind of a page
pathlib.Path(damaged).write_bytes(pages)
done = kith.run("sim", damaged)
kith.check(done.returncode == 2 and "damaged.rec: damaged: " in done.stderr and "\\x0a" not in done.stderr
           and "; record it again, or copy it whole\n" in done.stderr, f"a damaged page: {done.stderr}")
shutil.copy(heat, damaged)
with sqlite3.connect(damaged) as db:
    db.execute("UPDATE meta SET value = '4294967296' WHERE key = 'throttle'")
kith.check(kith.run("sim", damaged, "--policy", "fifo").returncode == 0, "a throttle of any size can be replayed")
for rate in ("0", "-5", "nan", "inf"):
    kith.refused("sim", heat, f"--recorded-gbs={rate}", says=["--recorded-gbs", "greater than 0"])

# Queues in hardware.
on_chip = ("sim", heat, "--machine", "cmp-32", "--policy", "fifo,token,reference:organisation=global")
code, in_memory = kith.json(*on_chip)
code, in_unit = kith.json(*on_chip, "--gsu", "machine")
kith.check(all(r["unit_operations"] == 0 for r in in_memory) and all(r["unit_operations"] > 0 for r in in_unit),
           "operations of the scheduling unit are counted where it is used")
kith.check(all(abs(r["unit_busy_s"] - r["unit_operations"] * 20 / 2e9) < 1e-12 for r in in_unit), "20 cycles at 2 GHz each")
kith.check(all(r["network_nj"] > 0 for r in in_unit), "the network's energy")
code, few = kith.json(*on_chip, "--gsu", "machine", "--entries", "2")
kith.check(all(r["unit_spills"] == 0 for r in in_unit) and all(r["unit_spills"] > 0 for r in few), "full queues send tasks to memory")
kith.refused(*on_chip, "--entries", "2", says=["--entries", "--gsu"])
kith.refused(*on_chip, "--gsu", "20", "--entries", "0", says=["--entries"])
kith.refused("sim", heat, "--machine", "cmp-32", "--gsu", "20", "--prefetch", "0", "--entries", "2", "--policy",
             f"replay:file={heat},policy=fifo", says=["replay", "no bound on the unit's entries"])
kith.refused(*on_chip, "--prefetch", "1", says=["--prefetch", "--gsu"])
kith.refused(*on_chip, "--gsu", "fast", says=["--gsu", "'fast' is neither machine nor a whole number from 0 to 100000"])
kith.refused(*on_chip, "--gsu", "20", "--prefetch", "5", says=["--prefetch"])
kith.refused("sim", heat, "--machine", "xeon-8s", "--policy", "fifo", "--gsu", "20", says=["no scheduling unit", "cmp-32"])
kith.refused("sim", heat, "--machine", "cmp-32", "--policy", "auto", "--gsu", "20", says=["--prefetch 0"])

# Machines.
code, machines = kith.json("machines")
named = {m["name"] for m in machines}
kith.check({"xeon-e7-8860", "opteron-6172", "tilepro64", "altix-uv100", "bullion-s16-4", "bullion-s16-8", "bullion-s16-16",
            "xeon-5570", "power6", "bluegene-p", "xeon-5504-cluster", "cmp-32", "altra-64", "altra-max-128", "epyc-2x4", "xeon-8s",
            "hybrid-laptop"} <= named, f"the machines of the papers and of today are there: {named}")
code, tree = kith.json("machine", "epyc-2x4")
kith.check(len(tree["nodes"]) == 8, "a described machine can be pretended")
done = kith.run("machines", "xeon-e7-8860")
kith.check("printed:" in done.stdout and "fitted:" in done.stdout, "each number says where it is from")

# Papers.
code, papers = kith.json("paper")
kith.check({"nabbitc-heat", "nabbitc-bad-colors", "mir-opteron"} <= {p["id"] for p in papers}, "the list of reproductions")
code, found = kith.json("paper", "nabbitc-uk-2002", "--seeds", "1")
kith.check({r["series"] for r in found} == {"nabbit", "nabbitc", "nabbitc:colors=node,attempts=256",
                                            "nabbitc:colors=node,attempts=1024", "loop-static", "loop-guided"}, "six series")
kith.check({r["metric"] for r in found} == {"speedup", "remote_percent", "steals"}, "three metrics")
kith.check(all(isinstance(r["x"], int) for r in found), "by cores")
code, found = kith.json("paper", "hw-latency", "--seeds", "1", "--only", "kmeans_list")
kith.check({(r["program"], r["x"]) for r in found} == {(p, x) for p in ("kmeans_list", "mean") for x in (2, 4, 8, 16, 32)},
           "by program and cores")
kith.check(all(r["kith"] == 1 for r in found if (r["series"], r["metric"]) == ("gsu-0", "time")), "over a unit of no cycles")
code, found = kith.json("paper", "hw-policies", "--seeds", "1", "--only", "kmeans_list")
kith.check({r["metric"] for r in found} == {"l1", "l2", "traffic", "power", "l1_miss_rate", "speedup"}, "all figures of the policies")
kith.check({r["series"] for r in found} == {"fifo", "random", "source", "token", "reference"}, "the five policies")
kith.refused("paper", "no-such-result", says=["no-such-result", "nabbitc-heat"])
kith.check({"rip-uv100", "rip-bullion-4", "rip-bullion-8", "rip-bullion-16", "rip-migration", "rip-readings",
            "rip-ablations"} <= {p["id"] for p in papers},
           "those of the RIP paper")
code, found = kith.json("paper", "rip-migration", "--seeds", "1", "--only", "qr")
values = {(r["series"], r["metric"]): r for r in found}
kith.check(values["rip-mw+pm", "speedup"]["paper"] == 1.12 and not any(r["x"] == "mean" for r in found), "one printed value")
kith.check(values["dep+pm", "migrated_gbytes"]["kith"] > 0 == values["dep", "migrated_gbytes"]["kith"], "pages move with +pm")
code, found = kith.json("paper", "rip-uv100", "--seeds", "1", "--only", "jacobi")
kith.check({"dfifo", "socket", "dep", "rip-dep", "rip-mw", "auto"} <= {r["series"] for r in found}, "its policies")
kith.check({r["metric"] for r in found} == {"speedup", "traffic_reduction", "load_balance_percent", "overhead_percent",
                                            "partition_percent"}, "its metrics")
kith.check({r["x"] for r in found} == {"jacobi", "mean", "min", "max"}, "the program that was asked for, and means")
kith.check([r["paper"] for r in found if (r["series"], r["metric"], r["x"]) == ("rip-dep", "speedup", "jacobi")] == [1.19],
           "what the paper prints")
kith.check(all(r["kith"] > 0 for r in found), "and a value for each")
kith.check(all(r["paper"] is None for r in found if r["x"] == "mean"), "the paper's means are of all programs")
done = kith.run("paper", "rip-uv100", "--seeds", "1", "--only", "jacobi")
kith.check("fitted:" in done.stdout and "blocks a program has" in done.stdout, "what was fitted and chosen stands below")
kith.refused("paper", "rip-uv100", "--only", "heat", says=["rip-uv100", "'heat'", "nstream"])

kith.finish()
