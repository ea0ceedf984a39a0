"""kith help, suggestions for misspelt names, errors as JSON, man pages, completion, progress, and programs that do not fit into memory."""

import glob
import json
import os
import pty
import re
import shutil
import subprocess

from run_kith import Kith

kith = Kith()

# help is the same as --help.
text = kith.run("help").stdout
kith.check(text == kith.run("--help").stdout and "Verbs:" in text, "kith help is kith --help")
verbs = re.findall(r"^  ([a-z][a-z-]*) ", text, re.M)
kith.check(len(verbs) > 12 and "help" in verbs, f"all verbs are listed: {verbs}")
for verb in verbs:
    done = kith.run("help", verb)
    kith.check(done.returncode == 0 and "Exit code: " in done.stdout, f"kith help {verb}: {done.stderr}")
    if verb != "help":
        kith.check(done.stdout == kith.run(verb, "--help").stdout, f"kith help {verb} is kith {verb} --help")
kith.check("--iterations" in kith.run("help", "app", "heat").stdout, "kith help app heat has the program's parameters")

# Suggestions.
for arguments, meant in ((("simm",), "'sim'"), (("help", "polices"), "'policies'"), (("--versoin",), "'--version'"),
                         (("sim", "x.rec", "--polcy", "auto"), "'--policy'"), (("sim", "x.rec", "--seds=3"), "'--seeds'"),
                         (("app", "haet"), "'heat'"), (("app", "heat", "--sise", "5"), "--size"),
                         (("app", "heat", "--wrokers", "2"), "--workers"), (("app", "heat", "--policy", "stael"), "'steal'"),
                         (("app", "heat", "--policy", "steal:vicitm=random"), "'victim'"), (("machine", "xeon-8"), "'xeon-8s'"),
                         (("machines", "tilepro"), "'tilepro64'"), (("paper", "nabbitc-haet"), "'nabbitc-heat'"),
                         (("policies", "stael"), "'steal'")):
    kith.refused(*arguments, says=["did you mean", meant])
done = kith.run("policies", "steal", "auto", "--json")
kith.check([p["name"] for p in json.loads(done.stdout)] == ["steal", "auto"], f"only these policies: {done.stdout}")
done = kith.run("app", "zzzzzz")
kith.check("did you mean" not in done.stderr and "heat" in done.stderr, f"nothing is near: {done.stderr}")

# Errors as JSON: of the command line, of a verb, and of what it reads. The message is on standard error as well.
for arguments, command, says in ((("simm", "--json"), "kith", "sim"), (("policies", "--jsn", "--json"), "kith policies", "--json"),
                                 (("app", "haet", "--json"), "kith app", "heat"), (("sim", "no.rec", "--json"), "kith sim", "no.rec"),
                                 (("machine", "nonsense", "--json"), "kith machine", "nonsense"),
                                 (("why", "no.rec", "1", "--json"), "kith why", "no.rec")):
    done = kith.run(*arguments)
    error = json.loads(done.stdout)["error"]
    kith.check(done.returncode == 2 and error["command"] == command and says in error["message"], f"{arguments}: {error}")
    kith.check(error["message"] in done.stderr, f"{arguments}: the same on standard error")
done = kith.run("record", "-o", kith.file("x"), "--", "false", "--json")
kith.check(not done.stdout, "the --json of the program that is recorded is its own")

# Man pages and completion, from what the verbs declare.
folder = kith.file("share")
kith.check(kith.run("help", "--write", folder).returncode == 0, "help files are written")
pages = glob.glob(os.path.join(folder, "man", "man1", "*.1"))
kith.check({os.path.basename(p) for p in pages} == {"kith.1"} | {f"kith-{v}.1" for v in verbs}, "a page for each verb")
for page in pages:
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, check=False)
        kith.check(done.returncode == 0 and not done.stderr, f"{page}: {done.stderr}")
        plain = re.sub(r".\x08|\x1b\[\d+m", "", done.stdout)  # bold, in either notation
        kith.check("NAME" in plain and "EXIT STATUS" in plain or page.endswith("/kith.1"), f"{page}: all sections")
    if shutil.which("mandoc"):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True, check=False)
        said = [line for line in done.stdout.splitlines() if "missing date" not in line]  # pages have no dates
        kith.check(not said, f"{page}: {said}")
sim = open(os.path.join(folder, "man", "man1", "kith-sim.1"), encoding="utf-8").read()
kith.check(r"\fB\-\-policy\fR" in sim and r"\fIblock|abstract|line\fR" in sim, "options with their values")
kith.refused("help", "--write", "/dev/null/x", says=["/dev/null/x"])

script = os.path.join(folder, "bash-completion", "completions", "kith")
query = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kith; printf '%s\\n' "${COMPREPLY[@]}" """
for words, expected in ((("si",), {"sim", "similarity"}), (("",), set(verbs)), (("sim", "--pol"), {"--policy", "--policy-library"}),
                        (("sim", "--policy", "ste"), {"steal"}), (("sim", "--policy", "=", "ste"), {"steal"}),
                        (("sim", "--policy", "steal,aut"), {"steal,auto"}), (("sim", "--fidelity", ""), {"block", "abstract", "line"}),
                        (("sim", "--without", "caches,la"), {"caches,latency"}), (("sim", "--seeds", ""), {""}),
                        (("app", "hea"), {"heat"}), (("app", "heat", "--ite"), {"--iterations"}),
                        (("app", "--workers", "2", "heat", "--ite"), {"--iterations"}), (("app", "nqueens", "--ite"), {""}),
                        (("machine", "xeon-8"), {"xeon-8s"}), (("paper", "mir"), {"mir-opteron", "mir-ablations", "mir-tilepro"}),
                        (("help", "pl"), {"placement"}), (("record", "--", "kith", "no-such-fi"), {""})):
    done = subprocess.run(["bash", "-c", query, "bash", script, "kith", *words], capture_output=True, text=True, check=False)
    kith.check(set(done.stdout.rstrip("\n").split("\n")) == expected and not done.stderr,
               f"bash: {words}: {done.stdout.split()} {done.stderr}")
for shell, check, file in (("zsh", "-n", "zsh/site-functions/_kith"), ("fish", "-n", "fish/vendor_completions.d/kith.fish")):
    if shutil.which(shell):
        done = subprocess.run([shell, check, os.path.join(folder, file)], capture_output=True, text=True, check=False)
        kith.check(done.returncode == 0, f"{shell} reads its script: {done.stderr}")
if shutil.which("fish"):
    file = os.path.join(folder, "fish/vendor_completions.d/kith.fish")
    for line, expected in (("kith sim --policy ste", "steal"), ("kith app heat --ite", "--iterations"), ("kith help pl", "placement")):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"], capture_output=True,
                              text=True, check=False)
        kith.check([w.split("\t")[0] for w in done.stdout.splitlines()] == [expected], f"fish: {line}: {done.stdout}")

# A program that does not fit into memory is not started; the error says how much it needs, how much there
# is, and what to do.
code, small = kith.json("app", "heat", "--small")
kith.check(small["memory_bytes"] > 4 * 384 * 384 * 8, f"what a program needs, to verify as well: {small['memory_bytes']}")
kith.refused("app", "heat", "--size", "1000000", says=["heat: needs 29.1 TiB of memory", "14.6 TiB to verify", "are left",
                                                     "kith record --dry -- kith app heat --size 1000000"])
done = kith.run("record", "--dry", "-o", kith.file("dry.rec"), "--", "kith", "app", "heat", "--size", "1000000", "--block", "100000",
                "--iterations", "2")
kith.check(done.returncode == 0, f"and that can be done: {done.stderr}")

# A program takes as much memory as it says, in addition to the program itself.
for words in (("heat", "--size", "1500"), ("life", "--size", "3000"), ("fdtd", "--size", "900"), ("gauss_seidel", "--size", "1536")):
    with subprocess.Popen([kith.path, "app", *words, "--iterations", "1", "--workers", "2", "--json"],
                          stdout=subprocess.PIPE) as program:
        need = json.load(program.stdout)["memory_bytes"]
        _, _, used = os.wait4(program.pid, 0)
        program.returncode = 0
    peak = used.ru_maxrss * 1024
    kith.check(need < 1.05 * peak and peak < 1.1 * need + (64 << 20), f"{words}: needs {need}, took {peak}")


# Long operations show progress, on a terminal and elsewhere. These programs are ended as soon as they have shown it.
def told(stderr, read):
    program = subprocess.Popen([kith.path, "app", "nqueens", "--size", "18", "--workers", "2"], stdout=subprocess.DEVNULL,
                               stderr=stderr)
    try:
        return read()
    finally:
        program.kill()
        program.wait()


ours, theirs = os.pipe()
line = told(theirs, lambda: os.read(ours, 200).decode())
kith.check(re.match(r"nqueens \.\.\., \d+ s\n", line), f"elsewhere, a line: {line!r}")
ours, theirs = pty.openpty()
line = told(theirs, lambda: os.read(ours, 200).decode())
kith.check(line.startswith("\r") and "nqueens" in line, f"on a terminal, one that changes: {line!r}")
kith.check(not kith.run("app", "nqueens", "--small").stderr, "what is short says nothing")

kith.finish()
