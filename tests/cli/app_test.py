"""kith app, apps, policies: what scripts depend on."""

import os
import struct
import tempfile
import zlib

from run_kith import Kith

kith = Kith()

# The lists.
code, apps = kith.json("apps")
kith.check(code == 0 and all(a["name"] and a["summary"] for a in apps), "each program has a name and a summary")
names = [a["name"] for a in apps if not a["dry_only"]]
for name in ("heat", "life", "pagerank", "nqueens", "random_dag"):
    kith.check(name in names, f"there is the program {name}")
code, policies = kith.json("policies")
kith.check(code == 0 and all(p["name"] and p["summary"] for p in policies), "each policy has a name and a summary")
for name in ("fifo", "lifo", "random", "source", "steal", "dfifo", "socket", "dep"):
    kith.check(name in [p["name"] for p in policies], f"there is the policy {name}")
for verb, entries in (("apps", apps), ("policies", policies)):
    text = kith.run(verb).stdout
    kith.check(all(e["name"] in text for e in entries), f"kith {verb} lists them all for people")
code, some = kith.json("apps", "pagerank", "heat")
kith.check(code == 0 and some == [next(a for a in apps if a["name"] == n) for n in ("pagerank", "heat")], f"those named: {some}")
text = kith.run("apps", "heat").stdout
kith.check(text.startswith("heat ") and "pagerank" not in text, f"and no others: {text}")
kith.refused("apps", "heet", says=["no program 'heet'; did you mean 'heat'? There are: "])
kith.refused("launch", "-n", "0", "--", "true", says=["kith launch: -n: '0' is no whole number from 1 to "])
kith.refused("launch", "--places", "0", "--", "true", says=["kith launch: --places: '0' is no whole number from 1 to "])

# Every program under every policy.
for name in names:
    for policy in policies:
        if policy["needs_file"]:
            continue
        code, r = kith.json("app", name, "--policy", policy["name"], "--workers", "2", "--small")
        what = f"{name} under {policy['name']}"
        kith.check(code == 0 and r["verified"] is True, f"{what} is verified")
        kith.check(r["app"] == name and r["policy"] == policy["name"] and r["workers"] in (1, 2), f"{what} says what ran")
        kith.check(0 < r["seconds"] < 2 and r["tasks"] > 0, f"{what}: {r['tasks']} tasks in {r['seconds']} s")
        kith.check(0 <= r["steals"] <= r["tasks"] and r["steal_attempts"] >= 0, f"{what}: steals")
        kith.check(0 <= r["remote_access_percent"] <= 100 and r["pretended"] is False, f"{what}: remote accesses")

# A schedule is followed again; programs to which it does not belong are refused.
with tempfile.TemporaryDirectory() as folder:
    schedule = os.path.join(folder, "heat.kith")
    kith.run("record", "-o", schedule, "--", kith.path, "app", "heat", "--small", "--workers", "2")
    again = ("--workers", "2", "--policy", f"replay:file={schedule}")
    code, r = kith.json("app", "heat", "--small", *again)
    kith.check(code == 0 and r["verified"] is True, "a recorded schedule is run again")
    kith.refused("app", "heat", "--small", "--iterations", "31", *again, says=["task 'heat'", "is not in the schedule"])
    kith.refused("app", "heat", "--small", "--iterations", "29", *again, says=["task 'heat' is ready, but in the schedule of"])

# A pretended machine.
code, r = kith.json("app", "heat", "--small", "--policy", "socket", "--machine", "node:4 core:2", "--block", "8")
kith.check(code == 0 and r["pretended"] is True and r["workers"] == 8, "a pretended machine has all its workers")
kith.check(r["remote_access_percent"] < 20, f"placed by its author heat stays local: {r['remote_access_percent']} % remote")

for app in ("nstream", "gauss_seidel", "integral_histogram"):
    code, r = kith.json("app", app, "--small", "--policy", "socket", "--machine", "node:4 core:2")
    kith.check(code == 0 and r["remote_access_percent"] < 30, f"{app} stays local, too: {r['remote_access_percent']} %")

# Windows for the policies that partition.
code, w = kith.json("app", "nstream", "--sets", "10", "--windows")
kith.check(code == 0 and w == {"first": 10, "window": 40, "intersection": 20}, f"5N tasks, of which 2N stay: {w}")
done = kith.run("app", "qr", "--size", "512", "--block", "128", "--windows")
kith.check(done.stdout == "first=0,window=16,intersection=8\n", f"as options of a policy: {done.stdout}")
kith.refused("app", "heat", "--windows", says=["heat", "windows"])
code, one = kith.json("app", "gauss_seidel", "--small", "--one-graph", "--workers", "2")
code, two = kith.json("app", "gauss_seidel", "--small", "--workers", "2")
kith.check(one["verified"] and one["tasks"] == two["tasks"] + 64, "one graph counts the tasks that initialise, too")
kith.refused("app", "heat", "--small", "--one-graph", says=["heat", "--one-graph"])

# More workers than cores only if requested.
code, r = kith.json("app", "nqueens", "--small", "--workers", "7", "--oversubscribe")
kith.check(code == 0 and r["workers"] == 7, "--oversubscribe starts all workers")
done = kith.run("app", "heat", "--small")
kith.check(done.returncode == 0 and "verified" in done.stdout and "\x1b" not in done.stdout, "text for people, no colours")

# Real input.
with tempfile.TemporaryDirectory() as folder:
    good, bad = os.path.join(folder, "good.txt"), os.path.join(folder, "bad.mtx")
    with open(good, "w", encoding="ascii") as f:
        f.write("# hub 5\n1 5\n2 5\n3 5\n5 1\n")
    with open(bad, "w", encoding="ascii") as f:
        f.write("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 9\n")
    code, r = kith.json("app", "pagerank", "--input", good, "--workers", "2")
    top = r["figures"]["top"]
    kith.check(code == 0 and r["verified"] and top[0]["name"] == "5" and top[1]["name"] == "1", "the hub is first")
    kith.refused("app", "pagerank", "--input", bad, says=[bad + ":3", "9"])
    kith.refused("app", "pagerank", "--input", os.path.join(folder, "none"), says=["none", "cannot be opened"])
    picture, cut = os.path.join(folder, "picture.png"), os.path.join(folder, "cut.png")
    with open(picture, "wb") as f:  # 40 x 30, its right half white
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        rows = b"".join(b"\0" + b"\0" * 20 + b"\xff" * 20 for _ in range(30))
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 30, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    with open(picture, "rb") as whole, open(cut, "wb") as f:
        f.write(whole.read()[:60])
    code, r = kith.json("app", "integral_histogram", "--input", picture, "--images", "3", "--block", "7", "--bins", "4")
    kith.check(code == 0 and r["verified"] and r["figures"]["pixels"] == 1200, "a picture is read")
    kith.check(r["figures"]["most_frequent_bin_of_the_centre"] == 3, "turned two columns, its centre is white for the most")
    kith.refused("app", "integral_histogram", "--input", cut, says=["cut.png"])
    kith.refused("app", "integral_histogram", "--input", bad, says=["bad.mtx", "PNG"])
if os.path.exists("/var/lib/dpkg/status"):
    code, r = kith.json("app", "pagerank", "--debian", "--small")
    kith.check(code == 0 and r["verified"] and r["figures"]["pages"] > 50, "the packages of this machine")
    kith.check("ackages" in r["figures"]["source"] and len(r["figures"]["top"]) == 10, "say where they are from")

# Keyed graphs and colors: every program that has them, as promised to scripts.
for app in ("cg", "mg", "heat", "fdtd", "life", "pagerank", "sw", "swn2"):
    for policy in ("nabbit", "nabbitc"):
        code, r = kith.json("app", app, "--policy", policy, "--workers", "2", "--small")
        kith.check(code == 0 and r["verified"] is True, f"{app} under {policy}")
        kith.check(r["colored_steals"] <= r["colored_attempts"] <= r["steal_attempts"] + r["workers"],
                   f"{app}: colored steals")  # thieves continue to look while the counters are read
        kith.check("first_steal_s" in r and len(r["per_worker"]) == r["workers"], f"{app}: figures for each worker")
        kith.check(policy == "nabbitc" or r["colored_attempts"] == 0, "nabbit knows no colors")
    for colors in ("good", "bad", "invalid"):
        code, r = kith.json("app", app, "--policy", "nabbitc", "--colors", colors, "--small")
        kith.check(code == 0 and r["verified"] is True, f"{app} with {colors} colors")
        kith.check(colors != "invalid" or r["colored_steals"] == 0, "nobody has an invalid color")
    for variant in ("loop-static", "loop-guided", "dataflow", "graph"):
        code, r = kith.json("app", app, "--as", variant, "--policy", "steal", "--small")
        kith.check(code == 0 and r["verified"] is True, f"{app} as {variant}")
    kith.refused("app", app, "--as", "nonsense", says=["nonsense", "loop-static"])
    kith.refused("app", app, "--colors", "red", says=["red", "invalid"])
code, r = kith.json("app", "sw", "--as", "wavefront", "--policy", "steal", "--small")
kith.check(code == 0 and r["verified"] is True, "sw as wavefront")
kith.refused("app", "heat", "--small", "--paper", says=["--paper", "--small"])
kith.check("--block" in kith.run("app", "heat", "--help").stdout, "the help of a program has its parameters")

# Wrong input is reported.
kith.refused("app", says=["name", "--help"])
kith.refused("app", "het", says=["het", "heat", "pagerank"])
kith.refused("app", "heat", "--policy", "stel", says=["stel", "steal"])
kith.refused("app", "heat", "--workers", "0", says=["--workers", "1 to 4096"])
kith.refused("app", "heat", "--workers", "abc", says=["abc", "whole number"])
kith.refused("app", "heat", "--throttle", "-1", says=["--throttle", "-1"])
done = kith.run("app", "heat", "--size", "1048576", before=("prlimit", "--as=4000000000"))
kith.check(done.returncode == 2 and "heat: out of memory" in done.stderr, f"too large a problem is said to be: {done.stderr}")
kith.refused("app", "heat", "--machine", "nonsense", says=["nonsense"])
kith.refused("app", "heat", "--sise", "5", says=["--sise", "--size"])
kith.refused("app", "heat", "--size", "many", says=["--size", "many"])
kith.refused("app", "heat", "--size", says=["--size", "needs a value"])
kith.refused("app", "pagerank", "--debian", "--size", "5", says=["--debian", "--size"])
traced = os.path.join(os.path.dirname(kith.path), "kith-traced")
if os.path.exists(traced) and "addresses" not in os.path.basename(os.path.dirname(kith.path)):  # that build records all
    kith.refused("app", "panels", "--small", says=["addresses cannot be recorded", traced, "panels"],
                 KITH_RECORD=os.path.join(tempfile.gettempdir(), "kith-app-test.rec"), KITH_RECORD_ADDRESSES="1")
kith.refused("demo", says=["KITH_MACHINE"], KITH_MACHINE="node:2 core:2")

kith.finish()
