#!/usr/bin/env python3
"""The policy `auto` beside the others, in simulated time: what it was tuned on, and what it is judged on.

usage: bench/auto.py [--kith PATH] [--set tuning|tuning-kinds|seen|judging|judging-2|all] [--seeds N] [--programs a,b] [--machines a,b]
                     [--policies "a b:x=1"] [--keep FOLDER] [--rows FILE] [--into FILE] [--check]

Each program is recorded dry (bodies skipped), for as many nodes as the machine has (a kind: once for all machines), and
simulated in block fidelity, N times (3) under each policy, with seeds of their own. A row has the mean makespan of `auto` and, for each other policy, how much
faster than it `auto` is (above 1: auto is faster). The split into sets is by program, size and machine: no pair of the
judging set was looked at while the policy was tuned. docs/auto.md says what is asked of it; --check tests the part on
the median, the worst row and the means over all machines of a set.
"""

import argparse
import collections
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

# Kinds of programs with their sizes, twice.
TUNED_ON = [{
    "batches": "200 1048576 6 0.25",
    "coarse_fill": "480 524288 12 0.15",
    "directions": "576 393216 6 0.3",
    "filled_across": "576 524288 8 0.2",
    "filled_by_one": "320 1048576 12 0.1",
    "gradients": "192 131072 20 0.12",
    "lu_panels": "96 2097152 1 1.5",
    "merge": "256 1048576 1 0.2",
    "mixture": "400 524288 10 0.2",
    "one_graph": "320 786432 14 0.2",
    "pairs": "900 131072 3 1.0",
    "phases": "300 524288 12 0.25",
    "pipeline": "128 524288 5 0.3",
    "power_law": "300 524288 10 0.15",
    "reduce_groups": "512 524288 10 0.15",
    "refined": "256 524288 16 0.25",
    "shared_table": "512 262144 10 0.3",
    "transpose": "484 524288 6 0.2",
    "tree": "512 262144 8 0.3",
    "uneven_wavefront": "900 262144 3 0.8",
    "waits": "160 1048576 16 0.25",
}, {
    "batches": "500 262144 8 1",
    "coarse_fill": "96 4194304 10 0.3",
    "directions": "1600 131072 5 1",
    "filled_across": "256 2097152 6 0.1",
    "filled_by_one": "128 2097152 20 0.3",
    "gradients": "96 32768 40 0.3",
    "lu_panels": "160 1048576 1 4",
    "merge": "512 262144 1 0.5",
    "mixture": "150 2097152 12 0.1",
    "one_graph": "160 2097152 10 0.1",
    "pairs": "2500 32768 4 2.0",
    "phases": "600 196608 16 0.1",
    "pipeline": "300 196608 4 1",
    "power_law": "150 2097152 12 0.3",
    "reduce_groups": "200 2097152 10 0.1",
    "refined": "128 2097152 10 0.1",
    "shared_table": "256 131072 16 0.1",
    "transpose": "196 2097152 5 0.1",
    "tree": "256 1048576 6 0.1",
    "uneven_wavefront": "400 1048576 3 0.2",
    "waits": "80 524288 30 0.1",
}]

# Programs with their sizes, and machines. A set consists of groups; in a group, every program runs on every machine.
SETS = {
    "tuning": [{
        "programs": {
            "gauss_seidel": "--paper",
            "nstream": "--paper",
            "qr": "--paper",
            "cg_tasks": "--paper",
            "heat": "--as dataflow --size 8192 --rows 32768 --iterations 8 --block 64",
            "cholesky": "--size 8192 --block 256",
            "map": "--size 262144",
            "nqueens": "--size 14 --depth 4",
        },
        "machines": ["bullion-s16-8", "xeon-8s", "hybrid-laptop"],
    }],
    # Each of these has served as the judging set once. What it showed was fixed, so the policy is now tuned
    # on it as well.
    "seen": [{
        "programs": {
            "jacobi": "--as dataflow --paper --block 64",
            "red_black": "--paper",
            "integral_histogram": "--paper",
            "inversion": "--paper",
            "matmul": "--paper",
            "vecmul": "--size 65536",
            "reduction": "--paper",
            "sparse_lu": "--paper",
            "life": "--as dataflow --size 8192 --rows 16384 --iterations 10 --block 64",
            "fdtd": "--as dataflow --size 8192 --rows 16384 --iterations 6 --block 64",
            "swn2": "--as dataflow --size 32768 --block 512",
            "mg": "--as dataflow --size 64",
            "random_dag": "--size 20000 --work 5000",
        },
        "machines": ["epyc-2x4", "opteron-6172", "altix-uv100", "bullion-s16-4", "xeon-5570"],
    }, {
        "programs": {
            "pagerank": "--as dataflow --size 100000 --block 500 --iterations 8",
            "sw": "--as dataflow --size 2048 --block 32",
            "jacobi": "--as dataflow --size 8192 --block 32 --iterations 40",
            "red_black": "--size 8192 --block 256 --iterations 20",
            "integral_histogram": "--size 4096 --block 128 --images 6 --ring 3",
            "inversion": "--size 12288 --block 384",
            "matmul": "--size 6144 --block 192",
            "vecmul": "--vectors 512 --size 16384",
            "reduction": "--size 33554432 --depth 9 --iterations 6",
            "sparse_lu": "--size 6144 --block 128 --density 30",
            "life": "--as dataflow --size 16384 --rows 16384 --iterations 12 --block 32",
            "fdtd": "--as dataflow --size 4096 --rows 16384 --iterations 10 --block 32",
            "swn2": "--as dataflow --size 65536 --block 1024",
            "mg": "--as dataflow --size 128",
            "random_dag": "--size 50000 --work 20000",
        },
        "machines": ["xeon-e7-8860", "power6", "bullion-s16-16", "xeon-5504-cluster"],
    }, {
        # Programs used for tuning or never run before, on machines where they were not run.
        "programs": {
            "gauss_seidel": "--size 8192 --block 256 --iterations 20",
            "nstream": "--sets 150 --size 262144 --iterations 12",
            "qr": "--size 7680 --block 256",
            "cg_tasks": "--size 96 --iterations 15 --block 9216",
            "heat": "--as dataflow --size 6000 --rows 18000 --iterations 12 --block 60",
            "cholesky": "--size 7680 --block 240",
            "map": "--vectors 200 --size 65536 --iterations 12",
            "nqueens": "--size 13 --depth 5",
            "web": "--as dataflow --graph uk-2002 --iterations 8",
        },
        "machines": ["epyc-2x4", "opteron-6172", "power6", "altix-uv100", "xeon-5504-cluster"],
    }, {
        # Programs that were seen, in other sizes, on machines where they were not run.
        "programs": {
            "jacobi": "--as dataflow --size 12288 --block 48 --iterations 20",
            "red_black": "--size 7680 --block 320 --iterations 20",
            "integral_histogram": "--size 3072 --block 96 --images 6 --ring 3",
            "matmul": "--size 5120 --block 160",
            "pagerank": "--as dataflow --size 150000 --block 1000 --iterations 8",
            "sparse_lu": "--size 5120 --block 160 --density 25",
            "fdtd": "--as dataflow --size 6000 --rows 12000 --iterations 10 --block 40",
            "reduction": "--size 25000000 --depth 8 --iterations 6",
            "random_dag": "--size 30000 --work 10000",
            "sw": "--as dataflow --size 1536 --block 32",
        },
        "machines": ["bullion-s16-8", "xeon-8s"],
    }, {
        # MIR's programs on its tiled chip, on which nothing was run before.
        "programs": {
            "map": "--vectors 512 --size 8192 --iterations 10",
            "vecmul": "--vectors 256 --size 7168 --iterations 10",
            "reduction": "--size 1048576 --depth 9 --iterations 6",
            "jacobi": "--as dataflow --size 2048 --block 16 --iterations 30",
            "matmul": "--size 1536 --block 48",
            "sparse_lu": "--size 1152 --block 36",
        },
        "machines": ["tilepro64"],
    }, {
        "programs": {
            "gauss_seidel": "--size 6144 --block 192 --iterations 24",
            "nstream": "--sets 200 --size 196608 --iterations 10",
            "qr": "--size 6720 --block 224",
            "cg_tasks": "--size 80 --iterations 20 --block 8000",
            "heat": "--as dataflow --size 5000 --rows 20000 --iterations 10 --block 50",
            "map": "--vectors 300 --size 49152 --iterations 10",
            "vecmul": "--vectors 384 --size 32768 --iterations 15",
            "sparse_lu": "--size 4608 --block 144 --density 30",
            "pagerank": "--as dataflow --size 120000 --block 800 --iterations 10",
        },
        "machines": ["epyc-2x4", "opteron-6172", "xeon-5570", "altix-uv100"],
    }, {
        "programs": {
            "nstream": "--sets 320 --size 131072 --iterations 10",
            "vecmul": "--vectors 640 --size 24576 --iterations 12",
            "jacobi": "--as dataflow --size 10240 --block 40 --iterations 24",
            "red_black": "--size 6144 --block 256 --iterations 24",
            "integral_histogram": "--size 3584 --block 112 --images 6 --ring 3",
            "matmul": "--size 4608 --block 144",
            "inversion": "--size 6144 --block 256",
            "cholesky": "--size 6720 --block 210",
            "reduction": "--size 20000000 --depth 8 --iterations 8",
            "fdtd": "--as dataflow --size 5000 --rows 15000 --iterations 8 --block 50",
            "swn2": "--as dataflow --size 49152 --block 768",
            "random_dag": "--size 40000 --work 8000",
        },
        "machines": ["xeon-8s", "bullion-s16-16", "power6", "xeon-e7-8860"],
    }, {
        "programs": {
            "nstream": "--sets 96 --size 16384 --iterations 10",
            "vecmul": "--vectors 320 --size 6144 --iterations 12",
            "jacobi": "--as dataflow --size 1536 --block 12 --iterations 30",
            "sparse_lu": "--size 1024 --block 32",
        },
        "machines": ["tilepro64"],
    }, {
        "programs": {
            "red_black": "--size 7168 --block 224 --iterations 20",
            "nstream": "--sets 240 --size 163840 --iterations 14",
            "vecmul": "--vectors 480 --size 40960 --iterations 16",
            "map": "--vectors 400 --size 57344 --iterations 14",
            "heat": "--as dataflow --size 7000 --rows 21000 --iterations 10 --block 60",
            "qr": "--size 6400 --block 200",
            "matmul": "--size 5632 --block 176",
            "pagerank": "--as dataflow --size 180000 --block 900 --iterations 9",
            "reduction": "--size 18000000 --depth 8 --iterations 10",
            "swn2": "--as dataflow --size 40960 --block 640",
            "random_dag": "--size 25000 --work 15000",
            "sw": "--as dataflow --size 1792 --block 28",
        },
        "machines": ["epyc-2x4", "bullion-s16-4", "xeon-e7-8860", "power6", "xeon-8s"],
    }, {
        "programs": {
            "red_black": "--size 5120 --block 160 --iterations 30",
            "nstream": "--sets 180 --size 229376 --iterations 8",
            "gauss_seidel": "--size 7168 --block 224 --iterations 22",
            "jacobi": "--as dataflow --size 9216 --block 36 --iterations 26",
            "integral_histogram": "--size 2560 --block 80 --images 8 --ring 4",
            "cg_tasks": "--size 88 --iterations 18 --block 8464",
            "cholesky": "--size 6144 --block 192",
            "inversion": "--size 5376 --block 224",
            "sparse_lu": "--size 5376 --block 168 --density 28",
            "fdtd": "--as dataflow --size 5600 --rows 14000 --iterations 9 --block 56",
            "life": "--as dataflow --size 10240 --rows 15360 --iterations 10 --block 48",
            "nqueens": "--size 13 --depth 4",
        },
        "machines": ["opteron-6172", "altix-uv100", "bullion-s16-8", "bullion-s16-16", "xeon-5504-cluster"],
    }, {
        "programs": {
            "red_black": "--size 1536 --block 48 --iterations 30",
            "map": "--vectors 448 --size 7168 --iterations 12",
            "reduction": "--size 786432 --depth 9 --iterations 8",
            "matmul": "--size 1280 --block 40",
        },
        "machines": ["tilepro64"],
    }, {
        "programs": {
            "red_black": "--size 6656 --block 208 --iterations 25",
            "nstream": "--sets 210 --size 147456 --iterations 11",
            "vecmul": "--vectors 420 --size 36864 --iterations 14",
            "map": "--vectors 360 --size 61440 --iterations 11",
            "life": "--as dataflow --size 9216 --rows 18432 --iterations 11 --block 54",
            "qr": "--size 7040 --block 220",
            "matmul": "--size 4800 --block 150",
            "pagerank": "--as dataflow --size 140000 --block 700 --iterations 11",
            "reduction": "--size 22000000 --depth 8 --iterations 7",
            "swn2": "--as dataflow --size 57344 --block 896",
            "random_dag": "--size 35000 --work 12000",
            "nqueens": "--size 14 --depth 3",
        },
        "machines": ["epyc-2x4", "bullion-s16-8", "xeon-e7-8860", "opteron-6172", "xeon-5570"],
    }, {
        "programs": {
            "red_black": "--size 8064 --block 252 --iterations 18",
            "nstream": "--sets 260 --size 212992 --iterations 9",
            "gauss_seidel": "--size 5376 --block 168 --iterations 26",
            "jacobi": "--as dataflow --size 11264 --block 44 --iterations 22",
            "integral_histogram": "--size 3200 --block 100 --images 7 --ring 3",
            "cg_tasks": "--size 72 --iterations 22 --block 7776",
            "cholesky": "--size 7200 --block 225",
            "inversion": "--size 6720 --block 280",
            "sparse_lu": "--size 4864 --block 152 --density 26",
            "fdtd": "--as dataflow --size 6400 --rows 12800 --iterations 11 --block 50",
            "heat": "--as dataflow --size 5500 --rows 22000 --iterations 9 --block 55",
            "sw": "--as dataflow --size 1664 --block 26",
        },
        "machines": ["power6", "altix-uv100", "xeon-8s", "bullion-s16-16", "bullion-s16-4", "xeon-5504-cluster"],
    }, {
        "programs": {
            "red_black": "--size 1280 --block 40 --iterations 36",
            "nstream": "--sets 128 --size 12288 --iterations 12",
            "vecmul": "--vectors 288 --size 8192 --iterations 9",
            "jacobi": "--as dataflow --size 1792 --block 14 --iterations 28",
            "sparse_lu": "--size 1216 --block 38",
        },
        "machines": ["tilepro64"],
    }],
    # Kinds of programs (bench/kinds) on which the policy was tuned.
    "tuning-kinds": [{
        "kinds": TUNED_ON[0],
        "machines": ["dies-2x2", "ring-4", "memory-node", "one-64", "epyc-2x4", "bullion-s16-8"],
    }, {
        "kinds": TUNED_ON[1],
        "machines": ["dies-2x2", "ring-4", "memory-node", "one-64", "epyc-2x4", "bullion-s16-8"],
    }],
    # The same kinds in other sizes, on these and on other machines. Both sets were fixed before any of them was run. If the
    # policy is changed after they judged it, others must be fixed first.
    "judging": [{
        "kinds": {
            "batches": "300 786432 5 0.4",
            "coarse_fill": "360 786432 9 0.2",
            "directions": "900 262144 5 0.5",
            "filled_across": "400 1048576 7 0.15",
            "filled_by_one": "240 786432 14 0.2",
            "gradients": "144 98304 24 0.2",
            "lu_panels": "80 1572864 1 2.5",
            "merge": "128 1572864 1 0.3",
            "mixture": "280 786432 9 0.15",
            "one_graph": "240 1048576 11 0.15",
            "pairs": "1600 65536 3 1.5",
            "phases": "420 327680 10 0.15",
            "pipeline": "200 327680 5 0.5",
            "power_law": "220 786432 9 0.2",
            "reduce_groups": "340 917504 8 0.12",
            "refined": "192 917504 12 0.15",
            "shared_table": "400 196608 12 0.2",
            "transpose": "324 917504 5 0.15",
            "tree": "300 524288 7 0.2",
            "uneven_wavefront": "625 524288 3 0.4",
            "waits": "110 786432 20 0.15",
        },
        "machines": ["dies-2x2", "ring-4", "memory-node", "one-64", "xeon-e7-8860", "power6"],
    }],
    "judging-2": [{
        "kinds": {
            "batches": "160 1572864 7 0.15",
            "coarse_fill": "700 262144 14 0.3",
            "directions": "400 786432 7 0.2",
            "filled_across": "784 393216 6 0.3",
            "filled_by_one": "180 1310720 16 0.15",
            "gradients": "256 65536 18 0.25",
            "lu_panels": "128 786432 1 3",
            "merge": "200 655360 1 0.4",
            "mixture": "220 1310720 11 0.25",
            "one_graph": "400 524288 16 0.3",
            "pairs": "1225 98304 4 0.8",
            "phases": "240 786432 9 0.2",
            "pipeline": "160 655360 4 0.2",
            "power_law": "380 393216 11 0.25",
            "reduce_groups": "640 393216 12 0.2",
            "refined": "320 393216 18 0.2",
            "shared_table": "640 229376 9 0.4",
            "transpose": "256 1310720 7 0.3",
            "tree": "700 196608 9 0.25",
            "uneven_wavefront": "1024 196608 4 1",
            "waits": "200 655360 24 0.2",
        },
        "machines": ["epyc-2x4", "bullion-s16-4", "opteron-6172", "hybrid-laptop", "xeon-5570"],
    }],
}
AUTOMATIC = ["dfifo", "dep", "rip-dep", "rip-mw", "nabbit", "numa", "home-cache"]  # of the papers, without hints
OTHERS = ["steal"] + AUTOMATIC
JUDGING = ["judging", "judging-2"]
EXPERT = "socket"
MACHINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kinds", "machines")  # beside those that kith knows


def kith(path, *words):
    done = subprocess.run([path, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kith {' '.join(words)}: {done.stderr}")
    return done.stdout


def recorded(path, folder, program, words, nodes, kind):
    """A dry recording of the program for so many nodes. One worker records, so that the order of tasks is the same each time.
    A `kind` (kith-bench-kinds, built beside kith) is the same for all."""
    nodes = 1 if kind else nodes
    size = "".join(c if c.isalnum() else "_" for c in words)
    file = os.path.join(folder, f"{program}{size}-{nodes}.rec")
    if not os.path.exists(file):
        command = ([path + "-bench-kinds", program, *words.split()] if kind else
                   [path, "app", program, *words.split(), "--machine", f"node:{nodes} core:1", "--workers", "1", "--policy",
                    "fifo"])
        kith(path, "record", "--dry", "-o", file + ".new", "--", *command)
        os.rename(file + ".new", file)
    return file


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def simulated(a, folder, name, rows):
    """{(program, machine): {policy: mean makespan}} of a set. `rows` holds the results of an earlier run, and gets more."""
    table = {}
    for group in SETS[name]:
        programs = group.get("programs") or group["kinds"]
        for machine in [m for m in group["machines"] if not a.machines or m in a.machines.split(",")]:
            described = os.path.join(MACHINES, machine + ".toml")
            described = described if os.path.exists(described) else machine
            nodes = json.loads(kith(a.kith, "machines", described, "--json"))[0]["nodes"]
            for program in [p for p in programs if not a.programs or p in a.programs.split(",")]:
                key = f"{name}: {program} on {machine}"
                if key not in rows:
                    file = recorded(a.kith, folder, program, programs[program], nodes, "kinds" in group)
                    runs = json.loads(kith(a.kith, "sim", file, "--machine", described, "--policy", ",".join(a.policies),
                                           "--seeds", str(a.seeds), "--json"))
                    of = collections.defaultdict(list)
                    for r in runs:
                        of[r["policy"]].append(r["makespan_s"])
                    rows[key] = {p: statistics.fmean(v) for p, v in of.items()}
                    if a.rows:
                        with open(a.rows, "w") as out:
                            json.dump(rows, out, indent=1)
                    print(key, file=sys.stderr, flush=True)
                table[program, machine] = rows[key]
    return table


def behind(of):
    """How far `auto` is behind the better of `steal` and `dep`."""
    return of["auto"] / min(of["steal"], of["dep"]) - 1


def summary(table, others):
    """A line for each machine, and one for all: rows, how many are near the better of steal and dep, and means."""
    lines = ["| machine | rows | at most 3 % behind | over 10 % | " + " | ".join(f"over {p}" for p in others) + " | over the best |",
             "| --- | --- | --- | --- |" + " --- |" * (len(others) + 1)]
    machines = list(dict.fromkeys(m for _, m in table))
    for name in [*machines, "all"]:
        of = [v for (_, m), v in table.items() if name in ("all", m)]
        near, far = sum(behind(v) <= 0.03 for v in of), sum(behind(v) > 0.1 for v in of)
        cells = [f"{mean([v[p] / v['auto'] for v in of]):.2f}" for p in others]
        best = mean([min(v[p] for p in others if p != EXPERT) / v["auto"] for v in of])
        lines.append(f"| {name} | {len(of)} | {near} | {far} | " + " | ".join(cells) + f" | {best:.2f} |")
    return lines


def lines_of(name, table, policies):
    """The table of a set, its means, and whether `auto` meets its requirements."""
    others = [p for p in policies if p != "auto"]
    lines = [f"### The {name} set", "",
             "| program | machine | auto, s | " + " | ".join(f"over {p}" for p in others) + " |",
             "| --- | --- | --- |" + " --- |" * len(others)]
    for (program, machine), of in table.items():
        lines.append(f"| {program} | {machine} | {of['auto']:.4g} | " + " | ".join(f"{of[p] / of['auto']:.2f}" for p in others) + " |")
    lines.append("")
    if not {"steal", "dep"} <= set(others):
        return lines, [], True
    short = summary(table, others)
    rows = sorted(((behind(of), program, machine) for (program, machine), of in table.items()), reverse=True)
    median = statistics.median(r[0] for r in rows)
    means = {p: mean([of[p] / of["auto"] for of in table.values()]) for p in others}
    short += ["", f"Behind the better of `steal` and `dep`: {100 * median:+.1f} % in the median; "
              f"most: {', '.join(f'{p} on {m} ({100 * b:+.0f} %)' for b, p, m in rows[:3])}."]
    holds = median <= 0.03 and rows[0][0] <= 0.10 and all(means[p] > 1 for p in others if p in AUTOMATIC)
    return lines + short, short, holds


def write_into(path, tables):
    """Writes the sets' summaries between the page's lines <!-- table: auto-SET --> and <!-- end -->."""
    with open(path) as old:
        page = old.read()
    places = re.compile(r"(<!-- table: auto-([\w-]+) -->\n).*?(<!-- end -->\n)", re.S)
    text = places.sub(lambda m: m[1] + "\n" + "\n".join(tables[m[2]]) + "\n\n" + m[3] if m[2] in tables else m[0], page)
    with open(path, "w") as out:
        out.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--set", choices=[*SETS, "all"], default="all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--programs", help="some of a set's only")
    parser.add_argument("--machines", help="some of a set's only")
    parser.add_argument("--policies", default=" ".join(["auto", *OTHERS, EXPERT]), help="separated by spaces")
    parser.add_argument("--keep", help="keep the recordings in this folder, and take those that are there")
    parser.add_argument("--rows", help="keep what was found in this file, and go on from what is there (of the same kith)")
    parser.add_argument("--into", help="write the sets' summaries to this page: between its lines <!-- table: auto-SET --> "
                                       "and <!-- end -->")
    parser.add_argument("--check", action="store_true", help="fail unless the sets that judge keep what is asked")
    a = parser.parse_args()
    a.kith = os.path.abspath(a.kith)
    a.policies = a.policies.split()
    lines, tables, holds = [], {}, True
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or temporary
        os.makedirs(folder, exist_ok=True)
        rows = {}
        if a.rows and os.path.exists(a.rows):
            with open(a.rows) as found:
                rows = json.load(found)
        for name in SETS if a.set == "all" else [a.set]:
            table = simulated(a, folder, name, rows)
            more, tables[name], kept = lines_of(name, table, a.policies)
            lines += more + [""]
            holds = holds and (kept or name not in JUDGING)
    print("\n".join(lines))
    if a.into:
        write_into(a.into, tables)
    return 1 if a.check and not holds else 0


if __name__ == "__main__":
    sys.exit(main())
