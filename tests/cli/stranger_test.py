"""Files from strangers, and outputs that would replace inputs: they give errors, nothing acts on a terminal, and nothing is lost."""

import os
import shutil
import sqlite3
import xml.dom.minidom

from run_kith import Kith, rows

kith = Kith()
path = kith.file
NASTY = "\x1b]0;owned\x07\x1b[2J<b>&\"'\n\x9b31m\u202eevil"
done = kith.run("record", "-o", path("heat.rec"), "--", "kith", "app", "gauss_seidel", "--small", "--machine", "node:2 core:2",
                "--workers", "2", "--oversubscribe", "--policy", "dep")
kith.check(done.returncode == 0, f"recorded: {done.stderr}")


def changed(sql, name="changed.rec"):
    """A copy of the recording, changed by SQL."""
    shutil.copy(path("heat.rec"), path(name))
    with sqlite3.connect(path(name)) as db:
        db.executescript(sql) if isinstance(sql, str) else [db.execute(*s) for s in sql]
    return path(name)


def harmless(done, what):
    for text in (done.stdout, done.stderr):
        bad = [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or ord(c) == 0x202E)]
        kith.check(not bad, f"{what}: control characters reach the terminal: {bad}")


# One changed value, no rows: an error that says where, and no crash.
for sql, says in (("UPDATE task SET flags = 4 WHERE id = 300", ["table dependence", "same graph"]),
                  ("UPDATE task SET flags = flags | 2 WHERE id = 300", ["table dependence", "same graph"]),
                  ("UPDATE task SET flags = 34 WHERE id = 20", ["table task, row 20: flags are 34", "expected flag 32"]),
                  ("UPDATE task SET flags = 3 WHERE id = 20", ["flags are 3", "without other flags"]),
                  ("DELETE FROM worker", ["table worker has no rows"]),
                  ("UPDATE meta SET value = '1000000' WHERE key = 'nodes'", ["meta 'nodes' is 1000000", "1 to 1024"]),
                  ("UPDATE meta SET value = hex(zeroblob(9000000)) WHERE key = 'engine'", ["more than 16 MiB"]),
                  ("DROP TABLE worker; CREATE VIEW worker(id, node) AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 "
                   "FROM n) SELECT i, 0 FROM n", ["'worker' is a view, expected a table"])):
    strange = changed(sql)
    for verb in (("sim", strange), ("why", strange, "20"), ("placement", strange)):
        kith.refused(*verb, says=["changed.rec: damaged: "] + says)

# Names and cells of a file.
strange = changed([("UPDATE type SET name = ? WHERE id > 0", (NASTY,)),
                   ("UPDATE meta SET value = ? WHERE key IN ('machine', 'policy')", (NASTY,))])
for verb in (("why", strange, "5"), ("why", strange, "5", "--json"), ("placement", strange), ("placement", strange, "--json"),
             ("placement", strange, "-o", path("picture.svg")), ("sim", strange), ("why", strange, "no-such-task")):
    done = kith.run(*verb)
    harmless(done, " ".join(verb))
    kith.check(done.returncode == (2 if "no-such-task" in verb else 0), f"{verb}: {done.returncode} {done.stderr}")
kith.check("\\x1b" in kith.run("why", strange, "5").stdout, "people see that there is something")
for verb in (("placement", strange, "-o"), ("placement", strange, "--policy", "dep,steal", "--title", "a\x01" + NASTY, "-o"),
             ("sim", strange, "--plot")):
    kith.run(*verb, path("picture.svg"))
    text = xml.dom.minidom.parse(path("picture.svg")).documentElement.toxml()
    kith.check("<b>" not in text, "text stays text")
with sqlite3.connect(strange) as db:
    db.execute("UPDATE task SET worker = ? WHERE id = 3", (NASTY,))
    db.execute("UPDATE type SET name = CAST(x'ff1b5bfe' AS TEXT)")
done = kith.run("sim", strange)
harmless(done, "an error")
kith.check(done.returncode == 2 and "\\x1b" in done.stderr, f"the error shows the value: {done.stderr}")
with sqlite3.connect(strange) as db:
    db.execute("UPDATE task SET worker = 0 WHERE id = 3")
code, found = kith.json("why", strange, "5")
kith.check(code == 0 and "\ufffd" in found["type"], f"a name that is no UTF-8 is JSON: {found['type']!r}")
shutil.copy(path("heat.rec"), path("\x1b[2J.rec"))
harmless(kith.run("sim", path("\x1b[2J.rec")), "a file's own name")

# Machines.
with open(path("strange.toml"), "w") as file:
    file.write("[[[[")
kith.refused("machines", path("strange.toml"), says=["strange.toml:1: "])
text = open("machines/bullion-s16-8.toml").read()
title = next(line for line in text.splitlines() if line.startswith("title"))
with open(path("named.toml"), "w") as file:
    file.write(text.replace(title, 'title = "a\\u001b[2Jb"'))
for verb in (("machines", path("named.toml")), ("sim", path("heat.rec"), "--machine", path("named.toml"))):
    done = kith.run(*verb)
    harmless(done, " ".join(verb))
    kith.check(done.returncode == 0 and "a\\x1b[2Jb" in done.stdout, f"{verb}: {done.stderr}")

# An output that is the input, under whatever name.
original = open(path("heat.rec"), "rb").read()
os.symlink(path("heat.rec"), path("symbolic.rec"))
os.link(path("heat.rec"), path("hard.rec"))
os.symlink(kith.folder.name, path("elsewhere"))
for name in (path("heat.rec"), path("symbolic.rec"), path("hard.rec"), path("elsewhere/heat.rec"),
             os.path.join(kith.folder.name, ".", "heat.rec")):
    kith.refused("sim", path("heat.rec"), "-o", name, says=["--output", "is the same file as", "name another file"])
    kith.check(open(path("heat.rec"), "rb").read() == original, f"{name}: the input is as it was")
kith.refused("sim", path("heat.rec"), "--policy", "replay:file=" + path("hard.rec"), "-o", path("symbolic.rec"), says=["same file"])
shutil.copy(path("heat.rec"), path("other.rec"))
kith.refused("sim", path("heat.rec"), "--policy", "replay:file=" + path("other.rec"), "-o", path("other.rec"), says=["same file"])
shutil.copy(path("heat.rec"), path("heat.svg"))
kith.refused("sim", path("heat.svg"), "--plot", path("heat.svg"), says=["--plot", "same file"])
kith.refused("placement", path("heat.svg"), "-o", path("heat.svg"), says=["--output", "same file"])
kith.refused("sim", path("heat.rec"), "--machine", path("named.toml"), "-o", path("named.toml"), says=["same file"])
kith.refused("calibrate", "--machine", path("named.toml"), "-o", path("named.toml"), "--", "true", says=["same file"])
shutil.copy(path("heat.rec"), path("out.rec.new"))
done = kith.run("sim", path("out.rec.new"), "-o", path("out.rec"))
kith.check(done.returncode == 0 and open(path("out.rec.new"), "rb").read() == original, "nor is a name like it in danger")
with open(path("p.png.svg"), "w") as file:
    file.write("mine")
kith.run("sim", path("heat.rec"), "--plot", path("p.png"))
kith.check(open(path("p.png.svg")).read() == "mine", "what is drawn on the way takes no name that somebody has")

# An output that cannot be made is reported before anything runs or is read.
for verb in (("record", "-o", path("no/such/x.rec"), "--", "touch", path("ran")),
             ("calibrate", "-o", path("no/such/x.rec"), "--", "touch", path("ran")),
             ("sim", path("heat.rec"), "-o", path("no/such/x.rec")), ("sim", path("heat.rec"), "--plot", path("no/such/x.svg")),
             ("placement", path("heat.rec"), "-o", path("no/such/x.svg")),
             ("machine", "--probe", "-o", path("no/such/x.toml"))):
    kith.refused(*verb, says=["no/such", "there is no folder"])
kith.check(not os.path.exists(path("ran")), "the program was not started")
for program in (("app", "nqueens", "--small"), ("app", "heat", "--small")):
    kith.refused(*program, KITH_RECORD=path("no/such/x.rec"), says=["KITH_RECORD=" + path("no/such/x.rec"), "there is no folder",
                                                                    "make it, or name another file"])
kith.refused("sim", path("heat.rec"), "-o", "/dev/null", says=["/dev/null", "no regular file"])
kith.check(rows(path("heat.rec"), "SELECT count(*) FROM task")[0][0] > 0, "the recording is there")
left = [n for n in os.listdir(kith.folder.name) if ".new-" in n]
kith.check(not left, f"nothing is left over: {left}")

kith.finish()
