#!/usr/bin/env python3
"""Records the bundled programs at three inputs each, and makes the tables and pictures of
docs/papers/mir-characterisation.md from them.

usage: bench/characterise.py [--kith PATH] [--recordings FOLDER] [--page FILE]

A table stands between the lines `<!-- table: NAME -->` and `<!-- end -->` of the page; its pictures are in
docs/pictures/characterisation. --recordings keeps the recordings, and takes those that are there already. Programs run with
one worker under `steal`, so the graphs are the programs' own. All is recorded twice, to see which clusters come again; four
minutes on one core.
"""
import argparse
import collections
import itertools
import json
import math
import pathlib
import re
import sqlite3
import statistics
import subprocess
import tempfile

# Three inputs of each program, from small to large. Not studied are programs on places, and web, which has no data to run on.
INPUTS = {
    "heat": ("--size 256 --iterations 20", "--size 512 --iterations 20", "--size 1024 --iterations 20"),
    "life": ("--size 256 --iterations 20", "--size 512 --iterations 20", "--size 1024 --iterations 20"),
    "fdtd": ("--size 128 --iterations 20", "--size 256 --iterations 20", "--size 512 --iterations 20"),
    "cholesky": ("--size 256 --block 64", "--size 512 --block 64", "--size 1024 --block 64"),
    "qr": ("--size 128 --block 64", "--size 256 --block 64", "--size 512 --block 64"),
    "inversion": ("--size 256 --block 64", "--size 512 --block 64", "--size 1024 --block 64"),
    "matmul": ("--size 128 --block 64", "--size 256 --block 64", "--size 512 --block 64"),
    "pagerank": ("--size 10000", "--size 20000", "--size 40000"),
    "nqueens": ("--size 8", "--size 10", "--size 12"),
    "fib": ("--size 20", "--size 24", "--size 28"),
    "mergesort": ("--size 50000", "--size 100000", "--size 200000"),
    "strassen": ("--size 64", "--size 128", "--size 256"),
    "uts": ("--size 50", "--size 100", "--size 200"),
    "random_dag": ("--size 5000", "--size 20000", "--size 80000"),
    "sw": ("--size 100", "--size 200", "--size 400"),
    "cg": ("--size 700", "--size 1400", "--size 2800"),
    "mg": ("--size 16", "--size 32", "--size 64"),
    "swn2": ("--size 1000", "--size 2000", "--size 4000"),
    "gauss_seidel": ("--size 128", "--size 256", "--size 512"),
    "red_black": ("--size 128", "--size 256", "--size 512"),
    "jacobi": ("--size 256", "--size 384", "--size 768"),
    "nstream": ("--size 4096", "--size 8192", "--size 16384"),
    "integral_histogram": ("--size 96", "--size 160", "--size 320"),
    "cg_tasks": ("--size 8", "--size 16", "--size 24"),
    "map": ("--size 2048", "--size 4096", "--size 8192"),
    "vecmul": ("--size 896", "--size 1792", "--size 3584"),
    "reduction": ("--size 131072", "--size 262144 --depth 6", "--size 524288 --depth 7"),
    "sparse_lu": ("--size 128", "--size 256", "--size 512"),
    "panels": ("--size 96", "--size 192", "--size 384"),
    "kmeans": ("--points 12288", "--points 24576", "--points 49152 --chunks 24"),
    "kmeans_list": ("--points 6144", "--points 12288", "--points 24576 --chunks 24"),
    "sharded": ("--searches 4000", "--searches 8000", "--searches 16000"),
    "routing": ("--pairs 24", "--pairs 48", "--pairs 96"),
    "refinement": ("--rows 64 --columns 64", "--rows 96 --columns 128", "--rows 192 --columns 256"),
}
NESTED = {"nqueens", "fib", "mergesort", "strassen", "uts"}
ROUNDS = 5
TITLES = ("small", "middle", "large")
TABLE = re.compile(r"(<!-- table: (\S+) -->\n)(.*?)(<!-- end -->\n)", re.S)


def least(file, before):
    """The least work and creation time of each task, in this recording and those before: other programs interrupt some
    tasks of each run. With one worker, tasks have the same numbers every time."""
    with sqlite3.connect(file) as db:
        now = db.execute("SELECT work_ns, create_ns FROM task ORDER BY id").fetchall()
    if before is not None and len(before) != len(now):
        raise SystemExit(f"{file}: {len(now)} tasks, but {len(before)} in the run before")
    return now if before is None else [(min(a[0], b[0]), min(a[1], b[1])) for a, b in zip(before, now)]


def record(kith, folder):
    """The recordings, PROGRAM-INPUT.rec."""
    files = []
    for program, inputs in INPUTS.items():
        for title, words in zip(TITLES, inputs):
            file = folder / f"{program}-{title}.rec"
            files.append(file)
            if file.exists():
                continue
            work = None
            command = [kith, "record", "-o", str(file), "--", "kith", "app", program, "--small", "--workers", "1", "--policy",
                       "steal", *words.split()]
            for _ in range(ROUNDS):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise SystemExit(f"{' '.join(command)}: {done.stderr}")
                work = least(file, work)
            with sqlite3.connect(file) as db:
                db.executemany("UPDATE task SET work_ns = ?, create_ns = ? WHERE id = ?",
                               [(w, c, i) for i, (w, c) in enumerate(work)])
    return files


def rand_index(a, b):
    """The adjusted Rand index of two clusterings of the same rows: 1 if they are equal, about 0 if they have nothing to do
    with each other."""
    def pairs(labels):
        return sum(math.comb(n, 2) for n in collections.Counter(labels).values())
    both, one, other, all_pairs = pairs(zip(a, b)), pairs(a), pairs(b), math.comb(len(a), 2)
    expected = one * other / all_pairs
    return (both - expected) / ((one + other) / 2 - expected)


def tables(found, again):
    """The texts of the tables, by name; `again` is the study of other recordings of the same programs."""
    features = found["features"]
    rows = {r["name"]: dict(zip(features, r["values"])) for r in found["rows"]}

    def table(head, lines):
        return "\n".join(["", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head),
                          *("| " + " | ".join(line) + " |" for line in lines), "", ""])

    def power(value):
        value = 10 ** value
        return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    programs = table(["program", "tasks", "parallelism", "deepest chain", "levels", "dependences a task", "median task, µs",
                      "variation", "footprint, kB"],
                     [[f"`{n}`", power(v["tasks"]), power(v["parallelism"]), power(v["depth"]), f"{v['nesting']:.0f}",
                       f"{v['dependences']:.2f}", f"{1e6 * 10 ** v['granularity']:.3g}", f"{v['variation']:.2f}",
                       f"{10 ** v['footprint'] / 1000:.3g}" if v["footprint"] > 0 else "0"]
                      for n, v in rows.items() if n.endswith("-middle")])
    clusters, components, inputs = [], [], []
    for title, study in found["studies"].items():
        members = {}
        for name, number in study["clusters"].items():
            members.setdefault(number, {}).setdefault(name.rpartition("-")[0], []).append(name.rpartition("-")[2])
        for number, programs_of in sorted(members.items()):
            text = ", ".join(f"`{p}`" + ("" if len(t) == len(TITLES) else f" ({', '.join(t)})") for p, t in programs_of.items())
            clusters.append([title, str(number), text])
        for i, (share, loading) in enumerate(zip(study["explained"], study["components"])):
            main = sorted(zip(study["features"], loading), key=lambda x: -abs(x[1]))[:4]
            components.append([title, str(i + 1), f"{100 * share:.0f} %", ", ".join(f"{f} {v:+.2f}" for f, v in main)])
    everything = found["studies"]
    for program in INPUTS:
        inputs.append([f"`{program}`"] + [f"{everything[s]['inputs'][program]['spread']:.2f}" for s in ("all", "graph", "tasks")])
    inputs.sort(key=lambda line: -float(line[1]))
    tree = table(["", "correlation of distances, or index"], [
        *([f"tree against scores, {t}", f"{s['cophenetic']:.2f}"] for t, s in everything.items()),
        *([f"adjusted Rand index of the clusters of two recordings, {t}", f"{repeated(s, again['studies'][t]):.2f}"] for t, s in everything.items()),
        ["graphs against tasks", f"{agreement(everything, set()):.2f}"],
        ["graphs against tasks, without those of nested tasks", f"{agreement(everything, NESTED):.2f}"]])
    return {"programs": programs, "clusters": table(["features", "cluster", "programs"], clusters),
            "components": table(["features", "component", "variance", "largest loadings"], components),
            "inputs": table(["program", "all", "graph", "tasks"], inputs), "trees": tree}


def repeated(one, other):
    return rand_index(list(one["clusters"].values()), [other["clusters"][name] for name in one["clusters"]])


def agreement(studies, without):
    """The correlation of the distances between rows by their graphs with those by their tasks."""
    names = list(studies["graph"]["clusters"])
    rows = [i for i, n in enumerate(names) if n.rpartition("-")[0] not in without]
    distances = [[math.dist(studies[kind]["scores"][i], studies[kind]["scores"][j]) for i, j in itertools.combinations(rows, 2)]
                 for kind in ("graph", "tasks")]
    return statistics.correlation(*distances)


def study(kith, folder, out):
    """What `kith similarity` says of the programs, recorded into the folder."""
    files = record(kith, folder)
    done = subprocess.run([kith, "similarity", *map(str, files), "-o", str(out), "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith")
    parser.add_argument("--recordings", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, default=pathlib.Path("docs/papers/mir-characterisation.md"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder = options.recordings or pathlib.Path(work)
        folder.mkdir(parents=True, exist_ok=True)
        out = pathlib.Path(work) / "study"
        found = study(options.kith, folder, out)
        again = folder / "again"
        again.mkdir(exist_ok=True)
        made = tables(found, study(options.kith, again, pathlib.Path(work) / "again-study"))
        pictures = pathlib.Path("docs/pictures/characterisation")
        pictures.mkdir(parents=True, exist_ok=True)
        for picture in out.glob("*.svg"):
            (pictures / picture.name).write_text(picture.read_text(encoding="utf-8"), encoding="utf-8")
    text = options.page.read_text(encoding="utf-8")
    missing = set(made) - {name for _, name, _, _ in TABLE.findall(text)}
    if missing:
        raise SystemExit(f"{options.page}: no line <!-- table: {min(missing)} -->")
    options.page.write_text(TABLE.sub(lambda m: m[1] + made[m[2]] + m[4] if m[2] in made else m[0], text), encoding="utf-8")


main()
