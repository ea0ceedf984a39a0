"""kith record --addresses and kith check: what tasks touched against what they declared."""

import os
import re
import sqlite3
import subprocess

from run_kith import Kith, rows

kith = Kith()
path = kith.file
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TRACED = os.path.join(os.path.dirname(kith.path), "tests", "traced")
SOURCE = os.path.join(ROOT, "tests", "tracing", "program.cpp")
ELSEWHERE = os.path.join(ROOT, "tests", "tracing", "elsewhere.cpp")
RESIZED = os.path.join(ROOT, "tests", "tracing", "resized.cpp")


def line_of(mark, source=SOURCE):
    with open(source, encoding="utf-8") as f:
        return next(number for number, line in enumerate(f, 1) if "//! " + mark in line)


def record(what, program="program", **how):
    file = path(what + ".rec")
    return file, kith.run("record", "--addresses", "-o", file, "--", os.path.join(TRACED, program), what, **how)


# Programs that declare what they touch, on one worker and on several.
for name in ("fine", "nested"):
    for policy, workers in (("fifo", "1"), ("steal", "4")):
        file, done = record(name, KITH_POLICY=policy, KITH_WORKERS=workers, KITH_OVERSUBSCRIBE="1")
        kith.check(done.returncode == 0, f"{name} is recorded under {policy}: {done.stderr}")
        kith.check(done.stdout == name + "\n", f"its output comes once: {done.stdout}")
        kith.check(" touches, " in done.stderr, f"touches are counted: {done.stderr}")
        kith.check(not [f for f in os.listdir(os.path.dirname(file)) if "again" in f or "parts" in f], "nothing is left")
        code, found = kith.json("check", file)
        kith.check(code == 0 and not found["undeclared"], f"{name} declares all of it: {found}")
        kith.check(found["tasks"] > 0 and found["touches"] > 1000 and found["unknown"] == 0, f"{name}: {found}")
        done = kith.run("check", file)
        kith.check(done.returncode == 0 and "all of them declared" in done.stdout, f"as text: {done.stdout}{done.stderr}")

# Four mistakes, each with its line.
file, done = record("undeclared", KITH_POLICY="fifo")
kith.check(done.returncode == 0, f"undeclared is recorded: {done.stderr}")
code, found = kith.json("check", file)
kith.check(code == 1, f"exit code {code}")
by_line = {u["line"]: u for u in found["undeclared"] if u["access"] == "write"}
kith.check(len(by_line) == 3, f"one for each mistake: {found['undeclared']}")
kith.check([u["line"] for u in found["undeclared"] if u["access"] == "read"] == [line_of("variable")], "and what ++ reads")
kith.check(all(os.path.samefile(u["file"], SOURCE) for u in found["undeclared"]), "in the source")
hidden, of_input, variable = (by_line.get(line_of(m), {}) for m in ("hidden write", "write of input", "variable"))
regions = {r[0]: r[1] for r in rows(file, "SELECT id, bytes FROM region")}
kith.check((hidden["name"], hidden["access"], hidden["begin"], hidden["end"]) == ("bad:0", "write", 40, 44), f"{hidden}")
kith.check(hidden["declared"] is None and hidden["region"] in regions and hidden["memory"] == "heap", f"{hidden}")
kith.check((of_input["name"], of_input["declared"], of_input["begin"], of_input["end"]) == ("bad:1", "in", 20, 24), f"{of_input}")
kith.check(variable["variable"].endswith("shared_counter") and variable["region"] is None, f"{variable}")
kith.check([(u["name"], u["mode"]) for u in found["untouched"]] == [("bad:2", "inout")], f"never touched: {found['untouched']}")
done = kith.run("check", file)
kith.check(done.returncode == 1, "the same as text")
for text in (f"program.cpp:{line_of('hidden write')} bad:0: writes (not declared) bytes 40 to 44 of region",
             "bad:1: writes (declared in) bytes 20 to 24", "note: bad:2: declared inout of region", "3 tasks touch"):
    kith.check(text in done.stdout, f"people read '{text}': {done.stdout}")
kith.check(kith.run("why", file, "bad:0").returncode == 0, "a task's name is what kith why takes")

# Each region that is touched is named, with the bytes in it.
file, done = record("neighbours", KITH_POLICY="fifo")
kith.check(done.returncode == 0, f"neighbours is recorded: {done.stderr}")
code, found = kith.json("check", file)
parts = sorted(r[0] for r in rows(file, "SELECT id, address FROM region ORDER BY address"))
for mark in ("at once", "one by one"):
    ranges = {(u["region"], u["begin"], u["end"]) for u in found["undeclared"] if u["line"] == line_of(mark)}
    begun = {(region, begin) for region, begin, _ in ranges}
    kith.check(begun >= {(parts[0], 4), (parts[2], 0)} and {region for region, _ in begun} == {parts[0], parts[2]},
               f"{mark}: all but its own part: {ranges}")
    kith.check({end for region, _, end in ranges if region == parts[0]} >= {40} and
               max(end for region, _, end in ranges if region == parts[2]) == 36, f"{mark}: to their ends: {ranges}")

# What no task writes or declares is noted; a task's write to the same memory makes the reads mistakes.
file, done = record("constants", KITH_POLICY="fifo")
kith.check(done.returncode == 0, f"constants is recorded: {done.stderr}")
code, found = kith.json("check", file)
reads = [u for u in found["undeclared"] if u["access"] == "read"]
kith.check(code == 1 and {u["line"] for u in found["undeclared"]} == {line_of("written elsewhere"), line_of("read elsewhere")},
           f"only what is written: {found['undeclared']}")
kith.check([u["name"] for u in reads] == ["reads:0", "reads:1", "reads:2"], f"each read of it: {reads}")
kept = [(c["name"], c["memory"], c["begin"], c["end"], c["tasks"], c["touches"], c["line"]) for c in found["constants"]]
kith.check(kept == [("reads:0", "heap", 8, 24, 3, 6, line_of("constant"))], f"the constant: {found['constants']}")
kith.check("note: 3 tasks read bytes 8 to 24 of 32 bytes, made at " in kith.run("check", file).stdout, "as text")

# Bundled programs declare what they share.
BUNDLED = os.path.join(os.path.dirname(kith.path), "kith-traced")
for words in ("panels --size 64 --block 16", "kmeans --points 2400 --chunks 12 --iterations 3",
              "kmeans_list --points 1200 --chunks 12 --iterations 3", "sharded --words 400 --searches 800 --shards 7 --batch 64",
              "routing --regions 6 --edge 8 --pairs 24", "refinement --rows 64 --columns 64 --tile 32 --rounds 2 --iterations 3",
              "map --vectors 12 --size 256 --iterations 3", "reduction --size 4096 --depth 4", "sparse_lu --size 128 --block 32",
              "vecmul --vectors 12 --size 256 --iterations 3"):
    program = words.split()
    file = path("bundled.rec")
    done = kith.run("record", "--addresses", "-o", file, "--", BUNDLED, *program, KITH_POLICY="fifo", KITH_WORKERS="1")
    kith.check(done.returncode == 0, f"{program[0]} is recorded: {done.stderr}")
    done = kith.run("check", file)
    kith.check(done.returncode == 0 and "all of them declared" in done.stdout, f"{program[0]}: {done.stdout}")

# A program whose addresses depend on the schedule is found out.
file, done = record("by-schedule", KITH_POLICY="fifo", KITH_WORKERS="1")
kith.check(done.returncode == 1 and not os.path.exists(file), f"it is refused: {done.returncode}, {done.stderr}")
kith.check("(bad): under another schedule its addresses are others" in done.stderr and "program.cpp:" in done.stderr,
           f"with the task and the place: {done.stderr}")


def without_numbers(text):
    return re.sub(r"task \d+ |[^ ]*/|:\d+", "", text)


told_by = next((line for line in done.stderr.splitlines() if "its addresses are others" in line), "nothing")
with open(os.path.join(ROOT, "docs", "check.md"), encoding="utf-8") as f:
    kith.check(without_numbers(told_by) in without_numbers(f.read()), f"the document has it: {told_by}")

# So is one without symbols, where Kith's own touches are not known.
stripped = path("stripped")
subprocess.run(["strip", "-o", stripped, os.path.join(TRACED, "program")], check=True, timeout=60)
done = kith.run("record", "--addresses", "-o", path("stripped.rec"), "--", stripped, "fine")
kith.check(done.returncode == 1 and "has no source lines" in done.stderr and "do not strip it" in done.stderr and
           "its addresses are others" not in done.stderr, f"what is wrong: {done.stderr}")

# Stacks need no declaration, whether their thread runs tasks or not.
file, done = record("stacks", KITH_WORKERS="2", KITH_OVERSUBSCRIBE="1")
kith.check(done.returncode == 0, f"stacks is recorded: {done.stderr}")
code, found = kith.json("check", file)
kith.check(code == 0 and found["tasks"] == 2 and found["unknown"] == 0, f"stacks of all threads are known: {found}")

# A part of mapped memory has the same name whatever was unmapped before it.
file, done = record("each-its-page", "resized", KITH_POLICY="fifo")
kith.check(done.returncode == 0, f"each-its-page is recorded: {done.stderr}")
code, found = kith.json("check", file)
kith.check(code == 0 and found["unknown"] == 0 and not found["constants"], f"each-its-page declares all of it: {found}")

# What is left of memory, or was moved, is known to be written.
for name, tasks in (("cut", 2), ("moved", 1), ("reallocated", 1), ("former-stack", 1)):
    file, done = record(name, "resized", KITH_POLICY="fifo")
    kith.check(done.returncode == 0, f"{name} is recorded: {done.stderr}")
    code, found = kith.json("check", file)
    line = line_of("read", RESIZED)
    kith.check([(u["access"], u["line"]) for u in found["undeclared"]] == [("read", line)] * tasks and not found["untouched"],
               f"{name}: {found}")

# Code that leaves the task's stack is the task's; its own stack needs no declaration.
for name, mark, begin in (("fiber", "in a fiber", 40), ("handler", "in a handler", 80), ("library", "in a library", None)):
    file, done = record(name, "elsewhere", KITH_POLICY="fifo")
    kith.check(done.returncode == 0, f"{name} is recorded: {done.stderr}")
    code, found = kith.json("check", file)
    mine = [u for u in found["undeclared"] if u["line"] == line_of(mark, ELSEWHERE)]
    kith.check(code == 1 and mine and all(u["name"] == "bad:0" for u in mine) and not found["untouched"], f"{name}: {found}")
    kith.check(begin is None or [(u["begin"], u["end"]) for u in mine] == [(begin, begin + 4)], f"{name}: {mine}")
    done = kith.run("sim", file, "--machine", "cmp-32", "--fidelity", "line", "--policy", "fifo")
    kith.check(done.returncode == 0, f"{name} can be simulated: {done.stderr}")
# The fiber's pointer to its job is a variable; halves of joins may touch what their task has declared.
for name, undeclared in (("fiber-fine", {"job"}), ("joined", set()), ("arguments", set()), ("two-threads", set())):
    file, done = record(name, "elsewhere")
    kith.check(done.returncode == 0, f"{name} is recorded: {done.stderr}")
    code, found = kith.json("check", file)
    kith.check({u["variable"].split("::")[-1] for u in found["undeclared"]} == undeclared and not found["untouched"],
               f"{name}: {found}")

# The recording must not replace the program.
program = os.path.join(TRACED, "elsewhere")
done = kith.run("record", "-o", program, "--", program, "joined")
kith.check(done.returncode == 2 and "is the same file as" in done.stderr, f"{done.returncode}, {done.stderr}")

# Both runs read the same file; a pipe can be read only once.
words = path("words")
with open(words, "w", encoding="utf-8") as f:
    f.write("30 4\n")
file, done = record("input", before=("sh", "-c", '"$@" < ' + words, "sh"))
kith.check(done.returncode == 0 and done.stderr.count("cells: 30") == 2, f"both read the file: {done.stderr}")
file, done = record("input", before=("sh", "-c", '"$@" < /dev/null', "sh"))
kith.check(done.returncode == 0 and done.stderr.count("cells: 0") == 2, f"or nothing: {done.stderr}")
file, done = record("input", before=("sh", "-c", 'true | "$@"', "sh"))
kith.check(done.returncode == 0 and done.stderr.count("cells: 0") == 2, f"or an empty pipe: {done.stderr}")
os.remove(file)
file, done = record("input", before=("sh", "-c", 'echo 30 | "$@"', "sh"))
kith.check(done.returncode == 2 and not os.path.exists(file), f"a pipe is refused: {done.stderr}")
kith.check("what comes from a pipe can be read only once" in done.stderr, f"and why: {done.stderr}")

# Who stops the second run has the recording of the first.
file, done = record("stopped")
kith.check(done.returncode == 1 and "not compared with another schedule" in done.stderr, f"stopped: {done.stderr}")
kith.check(kith.run("check", file).returncode == 0, "it is kept")
kith.check(not [f for f in os.listdir(os.path.dirname(file)) if "again" in f or "parts" in f], "and nothing else")

# A region that a task names twice has the bytes that this task names, not those of others.
file, done = record("named-twice", KITH_POLICY="fifo")
code, found = kith.json("check", file)
kith.check([(u["name"], u["access"], u["begin"], u["end"], u["line"]) for u in found["undeclared"]]
           == [("bad:0", "write", 200, 204, line_of("beyond both"))], f"ten numbers named twice: {found['undeclared']}")

# Runtimes are paired by what they did, and not by the order in which they began.
file, done = record("two-runtimes", KITH_POLICY="fifo")
kith.check(done.returncode == 0 and os.path.exists(file + "-2"), f"two runtimes: {done.stderr}")
file, done = record("two-others", KITH_POLICY="fifo")
kith.check(done.returncode == 1 and not os.path.exists(file) and not os.path.exists(file + "-2"), "one of them differs")
kith.check(done.stderr.count("it writes other bytes of") == 1, f"which is named: {done.stderr}")

# The document shows what the example prints.
file = path("stencil.rec")
done = kith.run("record", "--addresses", "-o", file, "--", os.path.join(TRACED, "stencil"))
kith.check(done.returncode == 0, f"the example is recorded: {done.stderr}")
done = kith.run("check", file)
kith.check(done.returncode == 1, "and has a mistake")
with open(os.path.join(ROOT, "docs", "check.md"), encoding="utf-8") as f:
    shown = re.search(r"```text\n(.*?)```", f.read(), re.S)[1]


def told(text):
    """The lines about tasks, without paths, numbers of regions and libraries."""
    return [re.sub(r"region \d+", "region", re.sub(r"\S*/(?=examples/)", "", line)) for line in text.splitlines()
            if line.startswith(("examples", "/"))]


kith.check(told(shown) == told(done.stdout) and told(shown), f"the document shows {told(shown)}, it prints {told(done.stdout)}")

# Other verbs read the recording; damaged streams are errors that say where.
kith.check(kith.run("sim", file, "--machine", "bullion-s16-8", "--policy", "dep").returncode == 0, "it can be simulated")
in_lines = ("--machine", "cmp-32", "--fidelity", "line", "--policy", "fifo,reference,random")
code, lines = kith.json("sim", file, *in_lines)
kith.check(code == 0 and len(lines) == 3, f"line by line, too: {lines}")
for row in lines:
    kith.check(row["accesses"] > 8000 and row["accesses"] >= row["line_accesses"] >= row["l1_misses"] >= row["l2_misses"] > 0,
               f"its counts: {row}")
    kith.check(row["l2_misses"] == row["lines_from_memory"] + row["lines_from_cores"] and row["cycles"] > row["l2_misses"]
               and row["network_flits"] > 0 and row["line_accesses_per_second"] > 0, f"and: {row}")
    parts = row["energy_by_part_nj"]
    kith.check(row["energy_missing"] is None and abs(row["energy_nj"] - sum(parts.values())) < 1e-6 * row["energy_nj"]
               and abs(parts["l1"] - row["accesses"] * 37.5e-3) < 1e-6 * parts["l1"] and parts["network"] == row["network_nj"]
               and min(parts["l2"], parts["directory"], parts["memory"]) > 0 == parts["unit"], f"energy: {row}")
shown = kith.run("sim", file, *in_lines).stdout
first = next(text.split() for text in shown.splitlines() if text.startswith("fifo "))
kith.check(shown.count("misses") == 2 and "remote" not in shown and float(first[5]) == float(f"{lines[0]['l1_misses'] * 1e-6:.4g}")
           and float(first[6]) == float(f"{lines[0]['l2_misses'] * 1e-6:.4g}"), f"the table shows the misses: {shown}")
code, again = kith.json("sim", file, *in_lines)
kith.check([{k: v for k, v in row.items() if k != "line_accesses_per_second"} for row in again]
           == [{k: v for k, v in row.items() if k != "line_accesses_per_second"} for row in lines], "the same again")
code, slower = kith.json("sim", file, *in_lines, "--access-cycles", "50")
kith.check(all(a["cycles"] > b["cycles"] and a["l2_misses"] > 0 for a, b in zip(slower, lines)), "with slower cores")
code, queues = kith.json("sim", file, *in_lines, "--gsu", "machine", "--prefetch", "1", "--cold")
kith.check(code == 0 and all(row["unit_operations"] > 0 < row["energy_by_part_nj"]["unit"] for row in queues), "with queues in hardware")
code, tiles = kith.json("sim", file, "--machine", "tilepro64", "--fidelity", "line", "--policy", "fifo")
kith.check(code == 0 and tiles[0]["energy_nj"] is None and tiles[0]["energy_by_part_nj"] is None
           and "tilepro64 has no energy." in tiles[0]["energy_missing"], f"energies that nobody has printed: {tiles}")
kith.refused("sim", file, "--fidelity", "line", says=["bullion-s16-8", "a table [line], as cmp-32 has"])
kith.refused("sim", file, *in_lines, "--distribution", "fine", says=["expected no --distribution"])
kith.refused("sim", file, *in_lines, "--without", "caches", says=["expected --fidelity block"])
kith.refused("sim", file, "--access-cycles", "5", says=["expected --fidelity line"])
for change, says in (("UPDATE stream SET touches = touches + 1", ["table stream", "fewer touches"]),
                     ("UPDATE stream SET touches = 0 WHERE rowid = (SELECT max(rowid) FROM stream)", ["table stream"]),
                     ("UPDATE stream SET bytes = x'80'", ["table stream", "ends within a number"]),
                     ("UPDATE stream SET bytes = 'text'", ["table stream, column bytes", "expected a blob"]),
                     # More than the run had time for, which would take hours.
                     ("UPDATE stream SET touches = 1 << 38 WHERE rowid = 1",
                      ["damaged.rec: damaged: table stream, row 0", "touches in all", "the time of its workers and tasks"]),
                     ("UPDATE site SET bytes = 1 << 32 WHERE bytes != 0",
                      ["damaged.rec: damaged: table stream: of task", "by site", "pp:", "lines of 64 bytes"]),
                     ("DELETE FROM site", ["names a site that is not there"]),
                     ("DELETE FROM block WHERE id > 2", ["block that is not there"]),
                     ("DELETE FROM block", ["table block begins with other rows"]),
                     ("UPDATE block SET kind = 99", ["table block, row 0: kind is 99"]),
                     ("UPDATE block SET task = 99999", ["table block, row 0: task is 99999"])):
    damaged = path("damaged.rec")
    with open(file, "rb") as a, open(damaged, "wb") as b:
        b.write(a.read())
    with sqlite3.connect(damaged) as db:
        db.execute(change)
    kith.refused("check", damaged, says=says)
    kith.refused("sim", damaged, *in_lines, says=says)

# Wrong input.
done = kith.run("record", "--addresses", "-o", path("x.rec"), "--", "kith", "app", "life", "--small")
kith.check(done.returncode == 2 and "without access callbacks" in done.stderr and "/kith-traced life" in done.stderr and
           "cmake --preset addresses" in done.stderr, f"a program without callbacks: {done.stderr}")
kith.check(not os.path.exists(path("x.rec")), "nothing was recorded")
done = kith.run("record", "--addresses", "-o", path("x.rec"), "--", BUNDLED, "no-such-program")
kith.check(done.returncode == 2 and "kith::trace_accesses" not in done.stderr and "its own message says why" in done.stderr,
           f"a program that refuses its arguments is not told to be built otherwise: {done.stderr}")
plain = path("plain.rec")
done = kith.run("record", "-o", plain, "--", os.path.join(TRACED, "program"), "fine")
kith.check(done.returncode == 0 and not rows(plain, "SELECT name FROM sqlite_master WHERE name = 'stream'"), "as any program")
kith.refused("check", plain, says=["it has no addresses", "kith record --addresses"])
kith.refused("sim", plain, *in_lines, says=["it has no addresses", "kith record --addresses"])
kith.refused("check", path("nothing.rec"), says=["there is no such file"])
kith.refused("record", "--addresses", "--dry", "-o", path("x"), "--", "true", says=["--dry"])

kith.finish()
