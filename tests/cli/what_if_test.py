"""kith what-if: a scheduler in hardware, on recordings without and with addresses."""
import os

from run_kith import Kith

kith = Kith()
path = kith.file
TRACED = os.path.join(os.path.dirname(kith.path), "tests", "traced")


def record(name, *words):
    done = kith.run("record", "--dry", "-o", path(name), "--", "kith", "app", *words, "--machine", "node:8 core:1",
                    "--workers", "1", "--owners", "8")
    kith.check(done.returncode == 0, f"{name} is recorded: {done.stderr}")
    return path(name)


# Rows: a policy in software, the policies in hardware, the oracle.
file = record("panels.rec", "panels")
ask = ("what-if", "--hardware", file, "--machine", "cmp-32", "--cold", "--seeds", "1", "--budget", "40")
code, rows = kith.json(*ask)
kith.check(code == 0 and [r["policy"] for r in rows] == ["auto", "fifo", "random", "source", "token",
                                                         "token:organisation=global", "reference",
                                                         "reference:organisation=global", "oracle"], f"rows: {rows}")
kith.check([r["organisation"] for r in rows] == ["software", "global", "global", "deques", "deques", "global", "deques",
                                                 "global", "offline"], "how each organises its queues")
named = {r["policy"]: r for r in rows}
kith.check(named["fifo"]["speedup"] == 1 and named["fifo"]["l2_misses_percent"] == 100, "over fifo")
kith.check(named["auto"]["over_software"] == 1 and named["auto"]["in_software"] is None, "over auto in software")
for r in rows:
    kith.check(abs(r["speedup"] * r["makespan_s"] - named["fifo"]["makespan_s"]) < 1e-12, f"speed-up of {r}")
    kith.check(r["l1_misses_percent"] is None and r["network_percent"] > 0 and r["energy_percent"] > 0, f"of blocks: {r}")
kith.check(named["reference"]["l2_misses_percent"] < 90, "reference gains")
kith.check(named["oracle"]["speedup"] >= max(r["speedup"] for r in rows[1:-1]), "an order at least as good as each policy's")
kith.check(kith.json(*ask)[1] == rows, "the same again")
code, more = kith.json(*ask[:-1], "120")
kith.check(more[-1]["speedup"] >= rows[-1]["speedup"], "a longer search finds nothing worse")
code, none = kith.json(*ask[:-1], "0")
kith.check(code == 0 and none == rows[:-1], "without a search there is no oracle")
kith.check("found offline" not in kith.run(*ask[:-1], "0").stdout, "and none is spoken of")
code, one = kith.json(*ask[:-1], "1", "--policy", "reference", "--workers", "4")
kith.check(code == 0 and one[-1]["policy"] == "oracle" and one[-1]["speedup"] == one[-2]["speedup"],
           "a search of one run is that of the policy")
done = kith.run(*ask)
kith.check(done.returncode == 0 and "is the fastest policy in hardware" in done.stdout
           and "The best order found offline:" in done.stdout and "+-" not in done.stdout, f"for people: {done.stdout}")

# Several seeds: means and ranges.
seeds = [kith.json(*ask[:-4], "--seeds", "1", "--seed", str(s), "--budget", "0")[1] for s in (1, 2, 3)]
code, means = kith.json(*ask[:-4], "--seeds", "3", "--budget", "0")
for i, row in enumerate(means):
    of = [one[i]["speedup"] for one in seeds]
    kith.check(row["seeds"] == 3 and abs(row["speedup"] - sum(of) / 3) < 1e-9
               and (row["speedup_min"], row["speedup_max"]) == (min(of), max(of)), f"over three seeds: {row}, alone {of}")
    kith.check(row["over_software_min"] <= row["over_software"] <= row["over_software_max"], f"over software: {row}")
kith.check(any(r["speedup_min"] < r["speedup_max"] for r in means), f"seeds differ: {means}")
done = kith.run(*ask[:-4], "--seeds", "3", "--budget", "40")
text = " ".join(done.stdout.split())
kith.check(done.returncode == 0 and "3 seeds: means, and half the range" in text and "+-" in text
           and "of 3 seeds" in text and "one for all seeds" in text, f"for people: {done.stdout}")
code, three = kith.json(*ask[:-4], "--seeds", "3", "--budget", "40")
kith.check(three[:-1] == means and three[-1]["speedup"] >= max(r["speedup"] for r in means[1:]),
           f"one order, no slower in the mean than a policy in hardware: {three}")
code, usual = kith.json(*ask[:-4], "--policy", "fifo", "--budget", "0")
kith.check(code == 0 and all(r["seeds"] == 5 for r in usual), f"five seeds: {usual}")

# Programs that wait, and keyed graphs.
for words in (("nqueens", "--small"), ("heat", "--small", "--as", "graph")):
    file = path(words[0] + ".rec")
    done = kith.run("record", "-o", file, "--", "kith", "app", *words, "--workers", "1")
    kith.check(done.returncode == 0, f"{words} is recorded: {done.stderr}")
    code, found = kith.json("what-if", "--hardware", file, "--workers", "8", "--seeds", "2", "--policy", "fifo")
    kith.check(code == 0 and found[-1]["speedup"] >= 1, f"{words}: {found[-1]}")

# With addresses: line by line.
file = path("stencil.rec")
done = kith.run("record", "--addresses", "-o", file, "--", os.path.join(TRACED, "stencil"))
kith.check(done.returncode == 0, f"the example is recorded: {done.stderr}")
code, lines = kith.json("what-if", "--hardware", file, "--budget", "20")
kith.check(code == 0 and all(r["l1_misses_percent"] > 0 for r in lines), f"misses of the first level: {lines}")

# On chips of today, with all of their cores.
for machine, workers in (("altra-64", 64), ("altra-max-128", 128)):
    code, found = kith.json("what-if", "--hardware", file, "--machine", machine, "--budget", "0", "--policy", "fifo,reference")
    kith.check(code == 0 and [r["policy"] for r in found] == ["auto", "fifo", "reference"]
               and all(r["energy_percent"] > 0 and r["l2_misses_percent"] > 0 for r in found), f"{machine}: {found}")
    done = kith.run("sim", file, "--machine", machine, "--fidelity", "line", "--policy", "fifo")
    kith.check(f"{workers} workers, fidelity line" in done.stdout, f"all cores of {machine}: {done.stdout}{done.stderr}")

# Wrong input.
kith.refused("what-if", file, says=["no change is named", "--hardware"])
kith.refused("what-if", "--hardware", says=["file"])
kith.refused("what-if", "--hardware", path("none.rec"), says=["none.rec"])
kith.refused("what-if", "--hardware", file, "--machine", "xeon-8s", says=["no scheduling unit", "cmp-32"])
kith.refused("what-if", "--hardware", file, "--policy", "replay:file=" + file, says=["--prefetch 0"])
kith.refused("what-if", "--hardware", file, "--policy", "fifoo", says=["fifo"])
kith.refused("what-if", "--hardware", file, "--budget", "-1", says=["--budget"])
kith.refused("what-if", "--hardware", file, "--seeds", "0", says=["--seeds"])
kith.finish()
