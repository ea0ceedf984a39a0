"""kith demo: the main job ends in time, shows where placement matters, verifies what it computes, and keeps figures of pretended
and real machines apart."""

import os
import re
import time

from run_kith import Kith
from svg_text import faults, texts

kith = Kith()
begin = time.monotonic()
picture = kith.file("demo.svg")
done = kith.run("demo", "--picture", picture)
seconds = time.monotonic() - begin
kith.check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
kith.check(seconds < 120, f"it promises to end within two minutes, and took {seconds:.0f} s")

text = done.stdout
modelled, _, rest = text.partition("On this machine")
here, _, rest = rest.partition("pretended")
pretended, _, after = rest.partition("The most depended upon")
kith.check("On a machine you need not have" in modelled, "first where placement matters")
kith.check("time, ms" in here, "then this machine, with times")
kith.check("time, ms" not in pretended, "no times of a machine that is pretended")
for part, where in ((here, "on this machine"), (pretended, "on the pretended machine")):
    for name in ("PageRank", "heat"):
        kith.check(name in part, f"{name} {where}")
    for policy in ("steal", "dfifo", "dep"):
        kith.check(len(re.findall(rf"^ *{policy} ", part, re.M)) == 2, f"a row for {policy} with each program {where}")
    kith.check(part.count("all results verified") == 2 and "remote accesses" in part, f"verified results {where}")
ranking = re.findall(r"^ *(\d+)\. \S+ +0\.\d+$", after, re.M)
kith.check(ranking == [str(i) for i in range(1, 11)], f"the ten packages of the highest rank, not {ranking}")
rows = re.findall(r"^ *(steal|dep|nabbitc:colors=data|auto) +([\d.]+) \(.*?\) +([\d.]+) \(.*#", modelled, re.M)
kith.check([r[0] for r in rows] == ["steal", "dep", "nabbitc:colors=data", "auto"], f"four policies on eight sockets: {rows}")
figures = {policy: (float(time_ms), float(gigabytes)) for policy, time_ms, gigabytes in rows}
kith.check(figures["auto"][0] < figures["steal"][0] / 2 and figures["auto"][1] < figures["steal"][1] / 10,
           f"auto takes less than half of steal's time, and moves less than a tenth: {figures}")
lessons = re.findall(r"^  - (.*)", after.partition("What was learnt")[2], re.M)
kith.check(len(lessons) >= 3 and "where tasks run matters" in lessons[0] and "PageRank" in lessons[1],
           f"what was learnt: there first, then here: {lessons}")
if len(os.sched_getaffinity(0)) < 80:
    kith.check(not any("on 8 nodes" in lesson for lesson in lessons), f"nothing is learnt from workers that share cores: {lessons}")
svg = open(picture, encoding="utf-8").read()
kith.check(not faults(svg), f"the picture: {faults(svg)}")
words = " ".join(t[0] for t in texts(svg))
for word in ("steal", "auto", "time [ms]", "moved between nodes [GB]", "8280"):
    kith.check(word in words, f"the picture shows '{word}': {words}")
kith.check(max(len(line) for line in text.splitlines()) <= 100, "in lines that fit a page")
kith.check(done.stderr and "\r" not in done.stderr, "progress in plain lines, where there is no terminal")
kith.refused("demo", "--nonsense", says=["kith demo", "--nonsense"])

kith.finish()
