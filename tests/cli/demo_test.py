"""kith demo: the main job ends in time, verifies what it computes, and keeps pretended and real apart."""

import re
import time

from run_kith import Kith

kith = Kith()
begin = time.monotonic()
done = kith.run("demo")
seconds = time.monotonic() - begin
kith.check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
kith.check(seconds < 120, f"it promises to end within two minutes, and took {seconds:.0f} s")

text = done.stdout
here, _, rest = text.partition("pretended")
pretended, _, rest = rest.partition("On a machine you need not have")
modelled, _, after = rest.partition("The most depended upon")
kith.check("On this machine" in here and "time, ms" in here, "first this machine, with times")
kith.check("time, ms" not in pretended, "no times of a machine that is pretended")
for part, where in ((here, "on this machine"), (pretended, "on the pretended machine")):
    for name in ("PageRank", "heat"):
        kith.check(name in part, f"{name} {where}")
    for policy in ("steal", "dfifo", "dep"):
        kith.check(len(re.findall(rf"^ *{policy} ", part, re.M)) == 2, f"a row for {policy} with each program {where}")
    kith.check(part.count("all results verified") == 2 and "remote accesses" in part, f"verified results {where}")
ranking = re.findall(r"^ *(\d+)\. \S+ +0\.\d+$", after, re.M)
kith.check(ranking == [str(i) for i in range(1, 11)], f"the ten packages of the highest rank, not {ranking}")
kith.check(len(re.findall(r"^ *(steal|dep|nabbitc:colors=data|auto) .*#", modelled, re.M)) == 4,
           "four policies on the modelled machine")
kith.check("What was learnt" in after, "says what was learnt")
kith.check(done.stderr and "\r" not in done.stderr, "progress in plain lines, where there is no terminal")
kith.refused("demo", "--nonsense", says=["kith demo", "--nonsense"])

kith.finish()
