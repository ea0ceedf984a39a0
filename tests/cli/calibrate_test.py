"""kith calibrate: times of tasks divided into computing and memory, and the table of the scheduler's costs."""

import os
import shutil
import sqlite3

from run_kith import Kith, rows

kith = Kith()
path = kith.file
MACHINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "machines")


# Programs of every kind keep their results. They verify them, and a wrong result is an error.
for program in ("heat", "cholesky", "cg", "pagerank", "sw"):
    file = path(program + ".rec")
    done = kith.run("calibrate", "-o", file, "--samples", "8", "--", "kith", "app", program, "--small", "--policy", "fifo")
    kith.check(done.returncode == 0, f"{program} is calibrated: {done.stderr}")
    kith.check(done.stdout.count("verified") == 1 and "GB/s" in done.stdout, f"{program}: its output once, then a table")
    found = rows(file, "SELECT name, size, samples, bytes, plain_ns, cold_ns, warm_ns, hot_ns FROM calibration "
                       "JOIN type ON type = type.id")
    kith.check(found and all(2 ** r[1] <= r[3] / r[2] < 2 ** (r[1] + 1) for r in found), f"{program}: rows by size: {found}")
    kith.check(all(1 <= r[2] <= 16 and min(r[4:]) > 0 for r in found), f"{program}: each from samples: {found}")
    kith.check(not os.path.exists(file + ".again.parts") and not os.path.exists(file + ".parts"), "no parts are left")

# The rows determine what is simulated.
heat = path("heat.rec")
sim = ("sim", heat, "--machine", "bullion-s16-8", "--policy", "fifo", "--workers", "2")
code, before = kith.json(*sim)
changed = path("changed.rec")
shutil.copy(heat, changed)
with sqlite3.connect(changed) as db:
    db.execute("UPDATE calibration SET cold_ns = hot_ns, warm_ns = hot_ns")
code, computing = kith.json("sim", changed, *sim[2:])
work = rows(heat, "SELECT sum(work_ns) FROM task JOIN type ON type = type.id WHERE name = 'heat'")[0][0]
kith.check(code == 0 and computing[0]["makespan_s"] > 0.95 * work * 1e-9 / 2,
           f"if cold times are the hot ones, all is computing: {computing[0]['makespan_s']}, {work}")
with sqlite3.connect(changed) as db:
    db.execute("UPDATE calibration SET cold_ns = 1000 * plain_ns")
code, memory = kith.json("sim", changed, *sim[2:], "--without", "caches")
kith.check(memory[0]["makespan_s"] > 2 * computing[0]["makespan_s"], "if cold ones are longer, memory takes longer")
code, _ = kith.json("sim", changed, *sim[2:], "--without", "contention,latency")
kith.check(code == 0, "several parts are left out together")
with sqlite3.connect(changed) as db:
    db.execute("UPDATE meta SET value = 'fast' WHERE key = 'near_gbs'")
kith.refused("sim", changed, says=["near_gbs", "'fast'", "expected a number"])
with sqlite3.connect(changed) as db:
    db.execute("UPDATE calibration SET samples = 0")
kith.refused("sim", changed, says=["changed.rec: damaged", "measured nothing"])

# A program without accesses is recorded, and a message says that it is not calibrated.
done = kith.run("calibrate", "-o", path("queens.rec"), "--", "kith", "app", "nqueens", "--small", "--policy", "fifo")
kith.check(done.returncode == 1 and "not calibrated" in done.stderr, f"nothing to calibrate: {done.stderr}")
kith.check(rows(path("queens.rec"), "SELECT count(*) FROM task")[0][0] > 100, "but it is recorded")

# The scheduler's costs.
done = kith.run("calibrate", "--scheduler")
kith.check(done.returncode == 0 and "[scheduler]" in done.stdout, f"a table: {done.stderr}")
keys = [line.split(" = ")[0] for line in done.stdout.splitlines() if " = " in line]
kith.check(keys == ["create", "dependence", "push", "pop", "attempt", "steal", "wake", "explore"], f"with all keys: {keys}")
mine = path("mine.toml")
shutil.copy(os.path.join(MACHINES, "epyc-2x4.toml"), mine)
done = kith.run("calibrate", "--scheduler", "-o", mine)
kith.check(done.returncode == 0 and not done.stdout, f"into a description: {done.stderr}")
old, new = (kith.run("machines", name).stdout for name in ("epyc-2x4", mine))
kith.check("measured: spawn" in new and "measured: spawn" not in old, "which says that they were measured")
kith.check(kith.run("sim", heat, "--machine", mine).returncode == 0, "and can be simulated on")

# Wrong input.
kith.refused("calibrate", says=["what is to be calibrated", "--scheduler"])
kith.refused("calibrate", "-o", path("x"), "--machine", "no-such-machine", "--", "kith", "app", "heat", "--small", "--policy",
             "fifo", says=["no machine 'no-such-machine'"])
kith.refused("calibrate", "--scheduler", "--samples", "3", says=["--samples"])
kith.refused("calibrate", "--samples", "0", "--", "true", says=["--samples"])
kith.refused("calibrate", "-o", path("x"), "--", "/no/such/program", says=["/no/such/program", "cannot be run"])
kith.refused("calibrate", "-o", path("x"), "--", "true", says=["nothing was recorded"])
kith.refused("calibrate", "-o", path("x"), "--", "false", says=["false failed"])
kith.refused("calibrate", "--scheduler", "-o", path("nothing.toml"), says=["nothing.toml", "no such file", "kith machine --probe -o"])
done = kith.run("calibrate", "-o", path("x"), "--", "kith", "app", "heat", "--small", "--workers", "2", "--oversubscribe")
kith.check(done.returncode == 2 and "ran on 2 workers; expected one" in done.stderr, f"two workers: {done.stderr}")
done = kith.run("app", "heat", "--small", "--workers", "1", KITH_CALIBRATE="5")
kith.check(done.returncode == 2 and "KITH_RECORD" in done.stderr, f"without a recording: {done.stderr}")

kith.finish()
