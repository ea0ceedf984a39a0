#!/usr/bin/env python3
"""Runs a program in a virtual machine that has several memory nodes, and ends with the program's exit code.

    vm.py --nodes 8 --distances ring -- build/release/tests/numa/kith_numa_tests

Needs qemu-system-x86_64, busybox (static), cpio, and a kernel, which it fetches. Where there is no virtualisation in
hardware the guest is emulated: 10 to 20 times slower, and its memory is equally fast everywhere. So it shows where
things are, not how long they take.

Exit code: the program's; 77 if no guest can be had here, or none came up in two attempts, with the reason; 124 for the
time limit; 125 if the guest ended without its program having ended.
"""

import argparse
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import guest_files
import guest_kernel

def numbers(text):
    return [int(n) for n in text.split(",") if n]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--nodes", type=int, default=4, help="memory nodes (4)")
    p.add_argument("--cpus", type=int, default=2, help="CPUs of each node (2)")
    p.add_argument("--memory", type=int, default=256,
                   help="MiB of memory of each node (256; with less than 512 in all Linux gives no huge pages)")
    p.add_argument("--without-cpus", type=numbers, default=[], metavar="N,...", help="nodes that have memory only")
    p.add_argument("--without-memory", type=numbers, default=[], metavar="N,...", help="nodes that have CPUs only")
    p.add_argument("--distances", default="flat", choices=["flat", "ring", "line"],
                   help="flat: 20 between all; ring, line: 10 and 6 more for each step (flat)")
    p.add_argument("--huge-pages", default="always", choices=["always", "madvise", "never"],
                   help="transparent huge pages: for all memory, for what asks for them, for none (always)")
    p.add_argument("--carry", action="append", default=[], metavar="FILE", help="one more file for the guest's /test")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable for the program")
    p.add_argument("--limit", type=int, default=300, help="seconds for all of it (300)")
    p.add_argument("--kernel", type=pathlib.Path, help="a kernel image instead of the one that is fetched")
    p.add_argument("--cache", type=pathlib.Path, default=guest_kernel.CACHE, help="where that is kept (build/numa-vm)")
    p.add_argument("--verbose", action="store_true", help="show what the kernel says")
    p.add_argument("command", nargs="+", metavar="PROGRAM [ARGUMENT...]", help="after --")
    a = p.parse_args()
    for n in a.without_cpus + a.without_memory:
        if not 0 <= n < a.nodes:
            p.error(f"there is no node {n} of {a.nodes}")
    if not set(range(a.nodes)) - set(a.without_cpus) or not set(range(a.nodes)) - set(a.without_memory):
        p.error("a machine needs CPUs and memory")
    if set(a.without_cpus) & set(a.without_memory):
        p.error("a node has CPUs or memory")
    if shutil.which(a.command[0]) is None:
        p.error(f"{a.command[0]} is no program")
    return a


def skip(reason):
    print(f"vm: skipped: {reason}")
    sys.exit(77)


def check_tools():
    if platform.machine() != "x86_64":
        skip(f"the guest is an x86-64 machine, this one is {platform.machine()}")
    packages = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio"}
    for tool, package in packages.items():
        if shutil.which(tool) is None:
            skip(f"no {tool} here; the Debian package {package} has it")


def distance(a, x, y):
    steps = abs(x - y)
    if a.distances == "ring":
        steps = min(steps, a.nodes - steps)
    return 10 + 6 * steps


def hardware(a):
    """QEMU's arguments for the nodes."""
    made, memory, cpus = [], 0, 0
    for n in range(a.nodes):
        node = f"node,nodeid={n}"
        if n not in a.without_cpus:
            node += f",cpus={cpus}-{cpus + a.cpus - 1}"
            cpus += a.cpus
        if n not in a.without_memory:
            made += ["-object", f"memory-backend-ram,id=memory{n},size={a.memory}M"]
            node += f",memdev=memory{n}"
            memory += a.memory
        made += ["-numa", node]
    if a.distances != "flat":
        made += [word for x in range(a.nodes) for y in range(a.nodes)
                 for word in ("-numa", f"dist,src={x},dst={y},val={distance(a, x, y)}")]
    return ["-smp", f"{cpus},sockets={cpus // a.cpus},cores={a.cpus},threads=1", "-m", f"{memory}M", *made]


def kernel_line(verbose, huge_pages):
    words = ["console=ttyS0", "panic=-1", "nokaslr", "mitigations=off", "nowatchdog",
             f"transparent_hugepage={huge_pages}",
             "numa_balancing=disable",  # pages must stay where the program put them
             "rcupdate.rcu_cpu_stall_suppress=1", "random.trust_cpu=on"]
    # Measuring clocks against each other often fails when the host is busy, so the kernel is given the result.
    mhz = [line.split(":")[1] for line in open("/proc/cpuinfo") if line.startswith("cpu MHz")]
    if mhz:
        khz = int(float(mhz[0]) * 1000)
        words += ["no_timer_check", "tsc=reliable", f"tsc_early_khz={khz}", f"lpj={4 * khz}"]
    return " ".join(words + (["ignore_loglevel"] if verbose else ["quiet"]))


class Run:
    """One start of the guest. `up`: seconds until it came up, `code`: the program's exit code; None: did not happen."""

    def __init__(self, a, kernel, files, accelerator, seconds_to_come_up, deadline):
        self.up = self.code = None
        self.late = False
        self.shown = []
        begin = time.monotonic()
        qemu = subprocess.Popen(
            ["qemu-system-x86_64", "-machine", "q35,smm=off", "-no-user-config", "-nodefaults", "-display", "none",
             "-no-reboot", "-accel", *accelerator, *hardware(a), "-kernel", kernel, "-initrd", files,
             "-append", kernel_line(a.verbose, a.huge_pages), "-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        timers = [threading.Timer(seconds_to_come_up, lambda: self.up is None and qemu.kill()),
                  threading.Timer(max(0, deadline - begin), lambda: (setattr(self, "late", True), qemu.kill()))]
        for t in timers:
            t.start()
        try:
            for raw in qemu.stdout:
                self.line(raw.decode(errors="replace").rstrip("\r\n"), begin, a.verbose)
        finally:
            for t in timers:
                t.cancel()
            qemu.kill()
            qemu.wait()
        self.seconds = time.monotonic() - begin

    def line(self, text, begin, verbose):
        if self.up is None and text.endswith(guest_files.UP):  # the firmware's last output has no line of its own
            self.up = time.monotonic() - begin
        elif self.up is not None and text.startswith(guest_files.ENDED):
            self.code = int(text.split()[-1])
        elif self.up is not None or verbose:
            print(text, flush=True)
        else:
            self.shown.append(text)  # kept in case the guest does not come up


def ways(cache):
    """The ways to run the guest, fastest first: QEMU's accelerator, and how long it may take until the guest is up."""
    no_kvm = cache / "kvm-does-not-work"  # /dev/kvm can exist and not work; tried once
    if os.access("/dev/kvm", os.R_OK | os.W_OK) and not no_kvm.exists():
        yield "kvm", ["kvm", "-cpu", "host"], 10
        no_kvm.touch()
    for _ in range(2):
        yield "emulated", ["tcg,thread=multi", "-cpu", "max"], 90


def main():
    a = arguments()
    deadline = time.monotonic() + a.limit
    check_tools()
    try:
        kernel = a.kernel or guest_kernel.fetched(a.cache)
    except guest_kernel.Unavailable as why:
        skip(f"no kernel for the guest: {why}")
    a.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        files = pathlib.Path(folder) / "files"
        guest_files.archive(files, a.command, a.carry,
                            [f"KITH_GUEST_NODES={a.nodes}", f"KITH_GUEST_HUGE_PAGES={a.huge_pages}", *a.set])
        for how, accelerator, seconds_to_come_up in ways(a.cache):
            run = Run(a, kernel, files, accelerator, seconds_to_come_up, deadline)
            if run.up is not None or run.late:
                break
            print(f"vm: the guest did not come up ({how}, {run.seconds:.0f} s)", flush=True)
    if run.code is not None:
        print(f"vm: {a.nodes} nodes, huge pages {a.huge_pages}, {how}: up after {run.up:.1f} s, ended after {run.seconds:.1f} s with {run.code}")
        sys.exit(run.code)
    if run.up is None:
        print("vm: its last words:", *run.shown[-15:], sep="\n  ")
        skip(f"no guest came up here within {a.limit} s")
    if run.late:
        print(f"vm: time limit of {a.limit} s reached")
        sys.exit(124)
    print("vm: the guest ended before its program did")
    sys.exit(125)


main()
