"""kith machine, and what all verbs' command lines share."""

import glob
import os
import tempfile

from run_kith import DATA, Kith

kith = Kith()

# A line of text.
code, m = kith.json("machine", "node:8 core:10")
kith.check(code == 0 and len(m["nodes"]) == 8, "node:8 core:10 has 8 nodes")
kith.check([len(n["cores"]) for n in m["nodes"]] == [10] * 8, "and 10 cores on each")
kith.check(sorted(c for n in m["nodes"] for c in n["cores"]) == list(range(80)), "each core is on one node")
kith.check(m["distances"] == [[10 if a == b else 20 for b in range(8)] for a in range(8)], "and distances 10 and 20")
kith.check(m["pretended"] is True, "a synthetic machine is pretended")

code, m = kith.json("machine", "node:2 core:2 pu:2 distance:10,16/16,10")
kith.check(m["distances"] == [[10, 16], [16, 10]], "distances as given")
kith.check(all(len(c["cpus"]) == 2 for c in m["cores"]), "two hardware threads for each core")

# This machine, and the one that the environment names.
code, m = kith.json("machine")
kith.check(code == 0 and not m["pretended"] and m["cores"], "this machine has cores")
code, named = kith.json("machine", KITH_MACHINE="node:3 core:2")
kith.check(code == 0 and len(named["nodes"]) == 3, "KITH_MACHINE counts")
code, given = kith.json("machine", "node:4 core:1", KITH_MACHINE="node:3 core:2")
kith.check(len(given["nodes"]) == 4, "an argument counts more than KITH_MACHINE")

# Files that hwloc exported.
files = glob.glob(os.path.join(DATA, "machines", "*.xml"))
kith.check(files, "there are machines under tests/data")
for file in files:
    code, m = kith.json("machine", file)
    size = len(m["nodes"])
    kith.check(code == 0 and size > 0 and m["cores"], f"{file} is read")
    kith.check(len(m["distances"]) == size and all(len(row) == size for row in m["distances"]), f"{file}: square distances")
    tree = kith.run("machine", file)
    kith.check(tree.returncode == 0 and tree.stdout.count("node ") >= size, f"{file}: a tree with each node")

# Text for people: the tree, the matrix, no colours in a pipe.
tree = kith.run("machine", "pack:2 node:2 l3:1 core:4 pu:2")
for expected in ("4 memory nodes, 16 cores, 32 hardware threads", "node 3", "L3", "cores 12-15", "Distances"):
    kith.check(expected in tree.stdout, f"the tree shows '{expected}'")
kith.check("\x1b" not in tree.stdout, "no colours in a pipe")

# Wrong input is reported.
kith.refused("machine", "nonsense", says=["no machine 'nonsense'", "there are: ", "epyc-2x4", "node:8 core:10"])
kith.refused("machine", "node=8", says=["no machine 'node=8'"])
kith.refused("machine", "node:8 cores", says=["synthetic machine 'node:8 cores'", "expected levels"])
kith.refused("machine", "node:0 core:2", says=["node:0"])
kith.refused("machine", "node:2 core:2 distance:0", says=["distance", "0"])
kith.refused("machine", "node:2 core:2 distance:5", says=["distance", "'5'", "10"])
kith.refused("machine", "/no/such/machine.xml", says=["/no/such/machine.xml", "o such file", "XML"])
kith.refused("machine", DATA, says=["not a regular file"])
with tempfile.NamedTemporaryFile("w", suffix=".xml") as broken:
    broken.write("<topology><object type='Machine'")
    broken.flush()
    kith.refused("machine", broken.name, says=[broken.name, "not a topology", "hwloc"])
kith.refused("machine", says=["KITH_MACHINE", "garbage"], KITH_MACHINE="garbage")
kith.refused("machines", says=["KITH_MACHINES=/no/such/folder: there is no such folder", "docs/machines.md"],
             KITH_MACHINES="/no/such/folder")
kith.refused("machine", "epyc-2x4", says=["KITH_MACHINES=/no/such/folder: there is no such folder"],
             KITH_MACHINES="/no/such/folder")
kith.refused("machine", "node:2", "node:3", says=["kith machine", "node:3", "--help"])
kith.refused("machine", "--jsn", says=["kith machine", "--jsn", "--help"])
kith.refused("machin", says=["machin", "doctor", "machine", "--help"])
kith.refused(says=["verb is missing", "doctor", "machine"])
with open("/dev/full", "w", encoding="ascii") as full:
    for arguments in (("machine",), ("--help",), ("--version",), ("app", "--help")):
        done = kith.run(*arguments, stdout=full)
        kith.check(done.returncode == 2 and "cannot be written" in done.stderr, f"a full disk is an error: {arguments}")

# Help.
for arguments in (("--help",), ("machine", "--help"), ("doctor", "--help"), ("--version",)):
    done = kith.run(*arguments)
    kith.check(done.returncode == 0 and done.stdout and not done.stderr, f"kith {' '.join(arguments)} helps")
kith.check("SYNTHETIC" in kith.run("machine", "--help").stdout, "kith machine --help explains SYNTHETIC")

# This machine, measured: the description can be read and used.
with tempfile.TemporaryDirectory() as folder:
    probed = os.path.join(folder, "this.toml")
    done = kith.run("machine", "--probe", "-o", probed)
    kith.check(done.returncode == 0, f"this machine can be measured: {done.stderr}")
    code, m = kith.json("machine", probed)
    kith.check(code == 0 and m["cores"], "and the description be read")
    text = kith.run("machines", probed).stdout
    kith.check("measured:" in text, "each number says that it was measured")
kith.refused("machine", "-o", "x.toml", says=["--probe"])

kith.finish()
