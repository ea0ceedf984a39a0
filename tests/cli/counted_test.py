"""kith record --counted: the instructions of tasks, block by block, against callgrind on the programs that do not count."""
import os
import re
import shutil
import sqlite3

from run_kith import Kith, rows

kith = Kith()
TRACED, COUNTED = (os.path.join(os.path.dirname(kith.path), "kith-" + does) for does in ("traced", "counted"))
if not os.path.exists(COUNTED) or not os.path.exists(TRACED):
    print("no kith-counted: this build has no programs that count their instructions")
    raise SystemExit(77)
PANELS = ("panels", "--size", "96", "--block", "16")
SETTINGS = {"KITH_WORKERS": "1", "KITH_POLICY": "fifo", "KITH_INLINE": "0"}

# All of a recording with addresses.
file = kith.file("panels.rec")
done = kith.run("record", "--addresses", "--counted", COUNTED, "-o", file, "--", TRACED, *PANELS, **SETTINGS)
kith.check(done.returncode == 0, f"it is recorded: {done.stderr}")
of_type = dict((name, (tasks, least, most)) for name, tasks, least, most in rows(
    file, "SELECT type.name, count(*), min(instructions), max(instructions) FROM counts JOIN task ON task.id = counts.task "
          "JOIN type ON type.id = task.type GROUP BY type.id"))
kith.check(of_type["panels"][0] == 36 and of_type["panels"][1] == of_type["panels"][2] > 10000, f"equal tasks, equal counts: {of_type}")
meta = dict(rows(file, "SELECT key, value FROM meta"))
KINDS = [f"{kind}_instructions" for kind in ("load", "store", "branch", "fp", "vector")]
kith.check(meta["counters"] == ", ".join(["instructions", *KINDS]) and meta["counters_instructions"] == "blocks", f"it says by what: {meta}")
(total,), = rows(file, "SELECT sum(instructions) FROM counts")
mix = rows(file, f"SELECT {', '.join(f'min({kind})' for kind in KINDS)} FROM counts "
                 "JOIN task ON task.id = counts.task JOIN type ON type.id = task.type WHERE type.name = 'panels'")[0]
kith.check(min(mix) > 0 and max(mix) < of_type["panels"][1], f"a product of matrices has instructions of each kind: {mix}")
kith.check(f"{total} instructions" in done.stderr and f", {total} instructions: " in kith.run("check", file).stdout, "people read it")
kith.check(kith.json("check", file)[1]["instructions"] == total, "and programs")

# A core takes 3 cycles for each, on this machine.
in_lines = ("sim", file, "--machine", "cmp-32", "--fidelity", "line", "--policy", "fifo", "--workers", "1", "--without", "noise,scheduling")
(accesses, by_count), (_, fixed), (_, slower) = ((row[0]["accesses"], row[0]["cycles"]) for row in (
    kith.json(*in_lines)[1], kith.json(*in_lines, "--access-cycles", "0")[1], kith.json(*in_lines, "--access-cycles", "9")[1]))
# Figures are those of what follows the last mark, so without the tasks that fill the matrices.
(instructions,), = rows(file, "SELECT sum(instructions) FROM counts WHERE task IN (SELECT task FROM stream) "
                              "AND task IN (SELECT id FROM task WHERE started_ns >= (SELECT max(at_ns) FROM mark))")
expected = 3 * instructions
kith.check(abs(by_count - fixed - expected) < 0.01 * expected, f"{by_count} cycles and {fixed} without instructions: {expected}")
kith.check(abs(slower - fixed - 9 * accesses) < 0.01 * slower, f"--access-cycles overrides: {slower}")
without = kith.file("without.rec")
shutil.copy(file, without)
with sqlite3.connect(without) as db:
    db.execute("DROP TABLE counts")
code, (constant,) = kith.json("sim", without, *in_lines[2:])
kith.check(constant["cycles"] == slower, f"without counts: {constant['cycles']}, as with 9 cycles: {slower}")

# Against callgrind, on the same programs of this tool, which do not count.
if shutil.which("valgrind") is None:
    print("valgrind is not installed (Debian package valgrind): nothing is compared with callgrind")
else:
    for words in (PANELS, ("kmeans", "--points", "6000", "--chunks", "12", "--clusters", "4", "--iterations", "3")):
        done = kith.run("app", *words, "--workers", "1", before=("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                        "--toggle-collect=*kith::detail::code_of<*"), **SETTINGS)
        by_callgrind = int(re.search(r"Collected : (\d+)", done.stderr)[1])
        file = kith.file("alone.rec")
        done = kith.run("record", "--counters=instructions", "-o", file, "--", COUNTED, *words, **SETTINGS)
        kith.check(done.returncode == 0, f"{words[0]} is recorded: {done.stderr}")
        (counted,), = rows(file, "SELECT sum(instructions) FROM counts JOIN task ON task.id = task WHERE NOT flags & 1")
        print(f"{words[0]}: {counted} instructions, by callgrind {by_callgrind}")
        kith.check(abs(counted - by_callgrind) < 0.05 * by_callgrind, f"{words[0]}: {counted}, by callgrind {by_callgrind}")

# Wrong input.
other = ("record", "--addresses", "-o", kith.file("other.rec"), "--counted")
kith.refused("record", "--counted", COUNTED, "-o", file, "--", TRACED, *PANELS, says=["--counted", "expected --addresses"])
done = kith.run(*other, "false", "--", TRACED, *PANELS, **SETTINGS)
kith.check(done.returncode == 2 and "it failed, and" in done.stderr and "has no instructions" in done.stderr, f"one that fails: {done.stderr}")
done = kith.run(*other, TRACED, "--", TRACED, *PANELS, **SETTINGS)
kith.check(done.returncode == 2 or "instructions" in done.stderr, f"one that does not count: {done.stderr}")
with open(kith.file("fewer.sh"), "w", encoding="utf-8") as f:
    f.write(f"#!/bin/sh\nexec {COUNTED} panels --size 96 --block 32\n")
os.chmod(f.name, 0o755)
done = kith.run(*other, f.name, "--", TRACED, *PANELS, **SETTINGS)
kith.check(done.returncode == 2 and "of the tasks are in one of the two runs alone" in done.stderr, f"another program: {done.stderr}")
kith.check(kith.run("check", kith.file("other.rec")).returncode == 0, "the addresses are kept")
kith.finish()
