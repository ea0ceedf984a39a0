"""Pictures that are fit to show: no label on top of another, nothing outside the canvas; and tables that fit a page."""

import re

from run_kith import Kith
from svg_text import faults, texts

kith = Kith()
path = kith.file

# The checks must find faults.
two = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="40"><text x="5" y="20">{}</text><text x="40" y="{}">b</text></svg>'
kith.check(not faults(two.format("a", 20)), "two words side by side")
kith.check(faults(two.format("a longer word", 20)), "one over the other")
kith.check(faults(two.format("a", 60)), "one below the canvas")


def look(name, *arguments, has=()):
    """Draws the picture, and checks the drawing."""
    done = kith.run(*arguments, path(name))
    what = "kith " + " ".join(arguments[:3])
    kith.check(done.returncode == 0, f"{what}: {done.stderr}")
    svg = open(path(name), encoding="utf-8").read()
    for fault in faults(svg):
        kith.check(False, f"{what}: {fault}")
    words = [t[0] for t in texts(svg)]
    for word in has:
        kith.check(any(word in w for w in words), f"{what}: shows '{word}': {words}")
    return svg, done.stdout


def narrow(text, what):
    wide = [line for line in text.replace(kith.folder.name, "").splitlines() if len(line) > 100]
    kith.check(not wide, f"{what}: fits 100 columns: {wide}")


# A recording, under few and many policies with names of any length, few and many seeds.
rec = path("heat.rec")
kith.run("record", "--dry", "-o", rec, "--", "kith", "app", "heat", "--size", "1024", "--block", "16", "--iterations", "4",
         "--machine", "node:8 core:4", "--workers", "1")
long = "rip-mw:window=auto,first=64,intersection=half,partitioner=greedy,moving=greedy,order=created,steal=nearest,backlog=3"
for number, (policies, seeds) in enumerate((("auto", "1"), ("steal,dep", "3"), (f"steal,{long},nabbitc:colors=data,auto", "4"),
                                            ("fifo,lifo,random,source,steal,numa,dfifo,dep,rip-dep,nabbit,nabbitc,auto", "2"))):
    svg, table = look(f"sim{number}.svg", "sim", rec, "--policy", policies, "--seeds", seeds, "--plot",
                      has=["moved between nodes", "speed-up"])
    narrow(table, f"sim of {policies}")
    kith.check(("+-" in table) == (seeds != "1" and policies != "auto"), f"several seeds have a range: {table}")
    kith.check("steal=nearest" in table or long not in policies, "a long name is there in full")

# Papers: curves over cores; bars by program, with what the paper prints beside them.
svg, table = look("cores.svg", "paper", "nabbitc-uk-2002", "--seeds", "1", "--plot",
                  has=["nabbitc", "loop-static", "loop-guided", "80"])
narrow(table, "paper nabbitc-uk-2002")
look("remote.svg", "paper", "nabbitc-uk-2002", "--seeds", "1", "--metric", "remote_percent", "--plot", has=["the paper on nabbit"])
svg, table = look("rip.svg", "paper", "rip-uv100", "--seeds", "1", "--only", "jacobi,inversion", "--plot",
                  has=["rip-dep", "the paper's value", "paper 1.19", "jacobi", "inversion"])
narrow(table, "paper rip-uv100")
kith.check(svg.count("paper 1.1") >= 2, "each value of the paper is there")
svg, table = look("hardware.svg", "paper", "hw-speedup", "--seeds", "1", "--only", "kmeans_list", "--plot",
                  has=["reference", "token", "the paper prints no value of what is shown"])
narrow(table, "paper hw-speedup")
kith.refused("paper", "rip-uv100", "--seeds", "1", "--only", "jacobi", "--metric", "sped", "--plot", path("x.svg"),
             says=["--metric", "speedup"])

# Placement: titles of any length.
title = "where the blocks of a plate are that heat works on, under policies with options, on a machine of eight nodes"
look("placed.svg", "placement", rec, "--policy", f"dep,{long}", "--title", title, "-o", has=["tasks at home", "neighbours apart"])
_, table = look("four.svg", "placement", rec, "--policy", "steal,dep,socket,auto", "-o", has=["steal", "auto"])
narrow(table, "placement")

# Every verb that prints without a program keeps to the page width, and so does all help.
for verb in ("apps", "policies", "machines", "paper", "help"):
    narrow(kith.run(verb).stdout, f"kith {verb}")
for name in re.findall(r"^  ([a-z]+) ", kith.run("help").stdout, re.M):
    narrow(kith.run("help", name).stdout, f"kith help {name}")
narrow(kith.run("help", "app", "heat").stdout, "kith help app heat")

kith.finish()
