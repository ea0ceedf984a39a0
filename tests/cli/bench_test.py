"""kith-bench: the rows that other programs read, from short runs. Figures are not judged here, because other programs may be running.

Gets the path of kith. kith-bench must be in the same folder, or the test is skipped."""

import os
import sys

from run_kith import Kith

kith = Kith()
kith.path = os.path.join(os.path.dirname(kith.path), "kith-bench")
if not os.path.exists(kith.path):
    print(f"no {kith.path}: the benchmarks were not built")
    sys.exit(77)
ours = ("--quick", "--rounds", "1")
built = {name.removeprefix("kith-bench-peer-") for name in os.listdir(os.path.dirname(kith.path))
         if name.startswith("kith-bench-peer-")}
kith.check({"kith", "floor"} <= built, f"kith and the floor are built, not only {sorted(built)}")


def rows(verb, systems, unit):
    code, answer = kith.json(verb, *ours, "--systems", ",".join(systems))
    kith.check(code == 0 and answer, f"{verb}: has rows")
    for row in answer:
        kith.check(row["unit"] == unit and 0 < row["min"] <= row["median"] <= row["max"], f"{verb}: a sound row: {row}")
        kith.check(row["version"] and isinstance(row["prebuilt"], bool), f"{verb}: what was measured, and how: {row}")
    kith.check({r["system"] for r in answer} <= set(systems), f"{verb}: only the systems that were asked for")
    return answer


dag = rows("dag", sorted(built), "ns/task")
floor = {r["case"] for r in dag if r["system"] == "floor"}
kith.check(floor == {"wavefront", "cholesky", "independent"}, f"dag: the floor's cases, not {sorted(floor)}")
for case in ("wavefront", "wavefront-address", "cholesky", "independent"):
    here = [r for r in dag if r["case"] == case and r["system"] == "kith"]
    kith.check(here and all(r["bytes_per_task"] > 0 for r in here), f"dag: kith's time and bytes in {case}")
kith.check(any((r["case"], r["system"]) == ("nested", "kith") for r in dag), "dag: kith's tree of tasks")

metg = rows("metg", ["kith", "floor"], "us")
patterns = {r["pattern"] for r in metg}
kith.check(len(patterns) == 7, f"metg: seven patterns, not {sorted(patterns)}")
kith.check({r["metric"] for r in metg} <= {"metg50", "metg75"}, "metg: two levels")
kith.check({r["width"] for r in metg} == {2, 8}, "metg: two widths")
kith.check({r["system"] for r in metg} == {"kith", "floor"}, "metg: both systems")

for verb, systems, unit in (("graph", ["kith-captured", "kith-repeat", "kith-static", "counters"], "ns/node"),
                            ("forkjoin", ["kith-join", "kith-coroutine", "serial"], "ns/spawn"), ("loops", ["kith", "serial"], None)):
    code, answer = kith.json(verb, *ours, "--systems", ",".join(systems))
    kith.check(code == 0 and {r["system"] for r in answer} == set(systems), f"{verb}: has rows of {systems}")
    for row in answer:
        kith.check(row["unit"] == (unit or row["unit"]) and row["workers"] >= 1 and 0 < row["min"] <= row["median"] <= row["max"],
                   f"{verb}: a sound row: {row}")
cases = {r["case"] for r in answer if r["system"] == "kith"}
kith.check(cases == {"tiny", "add", "dot", "scan", "sort"}, f"loops: all cases, not {sorted(cases)}")

code, answer = kith.json("oversubscribed", *ours, "--systems", "kith")
kith.check(code == 0 and {r["unit"] for r in answer} == {"ns/task"}, "oversubscribed: has rows")
for case in ("wavefront", "cholesky", "independent", "forkjoin", "loops", "wavefront beside a program"):
    here = {r["workers"]: r["median"] for r in answer if r["case"] == case}
    kith.check(len(here) == 2 and 64 in here and min(here.values()) > 0, f"oversubscribed: few and many workers in {case}: {here}")

code, answer = kith.json("startup", *ours, "--workers", "3")
kith.check(code == 0 and [(r["system"], r["case"]) for r in answer] ==
           [("kith", "first start"), ("kith", "start"), ("kith", "stop"), ("threads", "start"), ("threads", "stop")],
           f"startup: its rows: {answer}")
kith.check(all(r["unit"] == "ms" and r["workers"] == 3 and r["median"] > 0 for r in answer), f"startup: sound rows: {answer}")

text = kith.run("dag", *ours, "--systems", "kith")
kith.check(text.returncode == 0 and "wavefront" in text.stdout and "ns/task" in text.stdout, "a table for people")

for arguments, says in ((("dag", "--systems", "nonsense"), ["nonsense", "kith", "libgomp"]), (("nonsense",), ["'nonsense'", "dag, metg"]),
                        (("dag", "--rounds", "0"), ["--rounds", "0"]), (("metg", "--rounds", "x"), ["--rounds", "x"]),
                        ((), ["a verb is missing"])):
    done = kith.run(*arguments)
    kith.check(done.returncode == 2 and not done.stdout, f"kith-bench {' '.join(arguments)}: refused")
    for word in says:
        kith.check(word in done.stderr, f"kith-bench {' '.join(arguments)}: says '{word}': {done.stderr}")

kith.check(kith.run("--version").returncode == 0, "kith-bench --version")
with open("/dev/full", "w", encoding="ascii") as full:
    for arguments in (("--help",), ("dag", *ours, "--systems", "kith", "--json")):
        done = kith.run(*arguments, stdout=full)
        kith.check(done.returncode == 2 and "cannot be written" in done.stderr, f"a full disk is an error: {arguments}")

kith.finish()
