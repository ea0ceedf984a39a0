"""kith sim --together: figures of several recorded programs at once, and what is refused."""
import contextlib
import os
import shutil
import sqlite3

from run_kith import Kith, rows

kith = Kith()
heat, queens, again = (kith.file(f"{name}.kith") for name in ("heat", "queens", "again"))
for file, *words in ((heat, "heat", "--rows", "512", "--size", "128", "--iterations", "4"), (queens, "nqueens", "--size", "8")):
    done = kith.run("record", "--dry", "-o", file, "--", kith.path, "app", *words, "--workers", "1")
    kith.check(done.returncode == 0, f"{words} is recorded: {done.stderr}")

# The whole command line, with two policies and two seeds.
where = ("--machine", "cmp-32", "--policy", "fifo,reference", "--seeds", "2")
code, together = kith.json("sim", heat, queens, "--together", *where)
kith.check(code == 0 and len(together) == 4, f"a row for each policy and seed: {code}, {len(together)}")
alone = [kith.json("sim", file, *where)[1] for file in (heat, queens)]
for i, row in enumerate(together):
    programs = row["programs"]
    kith.check([p["file"] for p in programs] == [heat, queens], f"row {i}: the files in their order: {programs}")
    for k, p in enumerate(programs):
        tasks = rows((heat, queens)[k], "select count(*) from task")[0][0]
        kith.check(p["tasks"] == tasks, f"row {i}: {p['tasks']} tasks, not {tasks}")
        kith.check(p["alone_s"] == alone[k][i]["makespan_s"],
                   f"row {i}: alone as without --together: {p['alone_s']} and {alone[k][i]['makespan_s']}")
        kith.check(abs(p["slowdown"] - p["time_s"] / p["alone_s"]) < 1e-9, f"row {i}: slow-down {p}")
    slowdowns = [p["slowdown"] for p in programs]
    kith.check(abs(row["antt"] - sum(slowdowns) / 2) < 1e-9, f"row {i}: ANTT {row['antt']} of {slowdowns}")
    kith.check(abs(row["stp"] - sum(1 / s for s in slowdowns)) < 1e-9, f"row {i}: STP {row['stp']} of {slowdowns}")
    kith.check(abs(row["fairness"] - min(slowdowns) / max(slowdowns)) < 1e-9, f"row {i}: fairness {row['fairness']}")
    kith.check(row["makespan_s"] == max(p["start_s"] + p["time_s"] for p in programs), f"row {i}: time of the last: {row}")
kith.check(all("programs" not in row for row in alone[0]), "without --together there are no such keys")
kith.check(kith.json("sim", heat, queens, "--together", *where)[1] == together, "the same again")

# One core does the work of both: none can be faster than alone, and together they take at least the sum.
_, (one,) = kith.json("sim", heat, queens, "--together", "--workers", "1", "--policy", "fifo")
kith.check(one["makespan_s"] >= sum(p["alone_s"] for p in one["programs"]) * 0.99, f"one core: {one}")
kith.check(one["stp"] < 1.5, f"one core has the throughput of one program: {one['stp']}")

# In the scheduling unit; a file twice; later by a stagger.
_, (row,) = kith.json("sim", heat, heat, "--together", "--machine", "cmp-32", "--gsu", "machine", "--policy", "token",
                      "--stagger", "0.001")
kith.check([p["file"] for p in row["programs"]] == [heat, heat + " (2)"], f"a file twice: {row['programs']}")
kith.check([p["start_s"] for p in row["programs"]] == [0, 0.001], f"--stagger: {row['programs']}")

table = kith.run("sim", heat, queens, "--together", "--machine", "cmp-32")
kith.check(table.returncode == 0, table.stderr)
for word in ("ANTT", "STP", "fairness", "heat.kith", "queens.kith"):
    kith.check(word in table.stdout, f"the table does not say {word}: {table.stdout}")
picture = kith.file("both.svg")
kith.check(kith.run("sim", heat, queens, "--together", "--plot", picture).returncode == 0 and
           "heat + queens" in open(picture, encoding="utf-8").read(), "the picture names both programs")

kith.refused("sim", heat, queens, says=["2 recordings", "--together"])
kith.refused("sim", heat, "--together", says=["--together", "expected two or more"])
kith.refused("sim", heat, queens, "--together", "-o", kith.file("out"), says=["--output", "one program"])
kith.refused("sim", heat, "--stagger", "1", says=["--stagger", "--together"])
kith.refused("sim", heat, queens, "--together", "--stagger", "-1", says=["--stagger"])
kith.refused("sim", heat, kith.file("none"), "--together", says=["none"])
kith.refused("sim", heat, queens, "--together", "--machine", "cmp-32", "--fidelity", "line", says=["heat.kith", "addresses"])
done = kith.run("sim", heat, "--policy", "fifo", "-o", again)
kith.check(done.returncode == 0, done.stderr)
kith.refused("sim", heat, queens, "--together", "--policy", f"replay:file={again}", says=["replay", "one program"])

# The throttle is of all: one recorded with another needs a word.
narrow = kith.file("narrow.kith")
done = kith.run("record", "--dry", "-o", narrow, "--", kith.path, "app", "heat", "--workers", "1", "--iterations", "2",
                KITH_THROTTLE="7")
kith.check(done.returncode == 0, done.stderr)
kith.refused("sim", heat, narrow, "--together", says=["throttle 2048", "with 7", "--throttle"])
kith.check(kith.run("sim", heat, narrow, "--together", "--throttle", "7").returncode == 0, "--throttle decides")

places = kith.file("places.kith")
done = kith.run("app", "places_heat", "--places", "2", "--workers", "1", "--rows", "64", "--columns", "64", "--iterations", "1",
                KITH_RECORD=places)
if os.path.exists(places):
    kith.refused("sim", heat, places, "--together", says=["places.kith", "recording of places"])
else:
    kith.check(False, f"places are recorded: {done.stderr}")
kith.finish()

# Of several recordings, the damaged one is named.
for key, value in (("nodes", "-1"), ("throttle", "nan")):
    damaged = kith.file(f"damaged-{key}.kith")
    shutil.copy(queens, damaged)
    with contextlib.closing(sqlite3.connect(damaged)) as db:
        db.execute("insert or replace into meta (key, value) values (?, ?)", (key, value))
        db.commit()
    kith.refused("sim", heat, damaged, "--together", says=[f"damaged-{key}.kith: the recording is damaged", f"'{key}' is '{value}'"])
