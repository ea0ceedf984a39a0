"""kith app, kith apps, kith policies: every program under every policy, verified; wrong words are refused."""

import os
import tempfile
import time

from run_kith import Kith

kith = Kith()

# The lists.
lists = {}
for verb in ("policies", "apps"):
    code, rows = kith.json(verb)
    lists[verb] = [r["name"] for r in rows]
    kith.check(code == 0 and rows, f"kith {verb} lists something")
    kith.check(len(set(lists[verb])) == len(rows), f"kith {verb}: no name twice")
    kith.check(all(r["name"] and r["paper"] and r["summary"] for r in rows), f"kith {verb}: each has a paper and a summary")
    text = kith.run(verb)
    kith.check(text.returncode == 0 and all(n in text.stdout for n in lists[verb]), f"kith {verb}: the text has each name")
for name in ("fifo", "lifo", "random", "source", "steal", "dfifo", "socket", "dep"):
    kith.check(name in lists["policies"], f"there is a policy {name}")
for name in ("heat", "life", "pagerank", "nqueens", "random_dag"):
    kith.check(name in lists["apps"], f"there is a program {name}")

# Every program under every policy.
KEYS = {"app": str, "policy": str, "workers": int, "verified": bool, "seconds": float, "tasks": int, "steals": int,
        "steal_attempts": int, "remote_access_percent": float, "idle_seconds": float, "pretended": bool}


def app(*arguments, **how):
    code, answer = kith.json("app", *arguments, **how)
    name = " ".join(arguments)
    for key, kind in KEYS.items():
        kith.check(isinstance(answer.get(key), kind), f"{name}: {key} is {answer.get(key)!r}, expected a {kind.__name__}")
    kith.check(code == 0 and answer["verified"], f"{name}: verified, exit code {code}")
    kith.check(answer["steals"] <= answer["steal_attempts"], f"{name}: no steal without an attempt")
    kith.check(0 <= answer["remote_access_percent"] <= 100, f"{name}: a percentage is between 0 and 100")
    return answer


for name in lists["apps"]:
    for policy in lists["policies"]:
        begin = time.monotonic()
        answer = app(name, "--policy", policy, "--workers", "2", "--small")
        # 2 s are promised; other programs may be running here.
        kith.check(time.monotonic() - begin < 10, f"{name} --small under {policy}: ended after {time.monotonic() - begin:.1f} s")
        kith.check(answer["app"] == name and answer["policy"].startswith(policy), f"{name} {policy}: says what it ran")
        kith.check(answer["tasks"] > 0 and not answer["pretended"], f"{name} {policy}: ran tasks, on this machine")

# Counts are of the run; on a pretended machine all workers exist, and it says so.
one = app("heat", "--workers", "1", "--small")
kith.check(one["workers"] == 1 and one["steals"] == 0, "one worker steals from nobody")
LARGER = ("--size", "1024", "--iterations", "60", "--block", "16")  # long enough for all workers to get up
pretended = app("heat", "--machine", "node:4 core:2", "--policy", "dfifo", *LARGER)
kith.check(pretended["pretended"] and pretended["workers"] == 8, "a pretended machine has its own workers")
kith.check(pretended["remote_access_percent"] > 0, "dfifo deals tasks without a look at data: some are far from it")
near = app("heat", "--machine", "node:4 core:2", "--policy", "dep", *LARGER)
kith.check(near["remote_access_percent"] < pretended["remote_access_percent"], "dep runs tasks nearer to their data")
kith.check(app("nqueens", "--small", KITH_POLICY="lifo")["policy"].startswith("lifo"), "KITH_POLICY counts")
kith.check(app("nqueens", "--policy", "fifo", "--small", KITH_POLICY="lifo")["policy"].startswith("fifo"), "--policy counts more")
kith.check(app("nqueens", "--policy", "steal:victim=cyclic,end=lifo", "--small")["policy"], "a policy takes options")
text = kith.run("app", "life", "--small")
for expected in ("life", "verified", "tasks", "steals", "remote accesses"):
    kith.check(expected in text.stdout, f"the text has '{expected}'")

# Input of one's own: a path of four pages, as an edge list, with a bad line, and as a file that is none.
with tempfile.TemporaryDirectory() as folder:
    def file(name, content):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as out:
            out.write(content)
        return path

    app("pagerank", "--input", file("path.txt", "0 1\n1 2\n2 3\n"))
    matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n"
    app("pagerank", "--input", file("ring.mtx", matrix))
    kith.refused("app", "pagerank", "--input", file("bad.txt", "0 1\n1 two\n"), says=["bad.txt", "2", "two"])
    kith.refused("app", "pagerank", "--input", file("bad.mtx", matrix.replace("3 1", "3 9")), says=["bad.mtx", "5", "9"])
    kith.refused("app", "pagerank", "--input", file("empty.txt", ""), says=["empty.txt"])
    kith.refused("app", "pagerank", "--input", os.path.join(folder, "none.txt"), says=["none.txt"])
    kith.refused("app", "pagerank", "--input", folder, says=[folder])

# What is wrong is said.
kith.refused("app", says=["name is required"])
kith.refused("app", "nonsense", says=["nonsense", "heat"])
kith.refused("app", "heat", "--small", "--policy", "nonsense", says=["nonsense", "steal"])
kith.refused("app", "heat", "--small", "--policy", "steal:colour=red", says=["colour"])
kith.refused("app", "heat", "--small", "--policy", "steal:victim=red", says=["red"])
kith.refused("app", "heat", "--small", "--workers", "0", says=["workers", "0"])
kith.refused("app", "heat", "--small", "--workers", "many", says=["workers", "many"])
kith.refused("app", "heat", "--small", "--machine", "garbage", says=["garbage"])
kith.refused("app", "heat", "--size", "-1", says=["size", "-1"])
kith.refused("app", "heat", "--size", "wide", says=["size", "wide"])
kith.refused("app", "heat", "--nonsense", "1", says=["nonsense"])
kith.refused("app", "heat", "--small", KITH_POLICY="nonsense", says=["nonsense", "steal"])
kith.refused("app", "heat", "--small", KITH_WORKERS="many", says=["KITH_WORKERS", "many"])
kith.refused("app", "heat", "--small", KITH_THROTTLE="-7", says=["KITH_THROTTLE", "-7"])
kith.refused("policies", "--nonsense", says=["kith policies", "--nonsense"])
kith.refused("apps", "extra", says=["kith apps", "extra"])
with open("/dev/full", "w", encoding="ascii") as full:
    done = kith.run("app", "nqueens", "--small", "--json", stdout=full)
    kith.check(done.returncode == 2 and "cannot be written" in done.stderr, "a full disk is an error")
for verb in ("app", "apps", "policies", "demo"):
    done = kith.run(verb, "--help")
    kith.check(done.returncode == 0 and "Exit code" in done.stdout, f"kith {verb} --help has the exit codes")

kith.finish()
