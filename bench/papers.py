#!/usr/bin/env python3
"""Makes the tables of docs/papers/ again, from what `kith paper RESULT --json` finds.

usage: bench/papers.py [--kith PATH] [--only RESULT,...] [--rows FOLDER] [--pages FOLDER] [--check]

A table stands between the lines `<!-- table: NAME -->` and `<!-- end -->` of a page; TABLES says what its cells are. Without
--only all results are made (an hour on one core); with it, cells of other results stay as they are. What changed is
printed, as old -> new. --rows keeps each result's rows in FOLDER/RESULT.json, and takes what is there already; five results of
hardware scheduling are parts of one, hw-policies. --check writes nothing, and fails if a cell would change.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

TABLE = re.compile(r"(<!-- table: (\S+) -->\n)(.*?)(<!-- end -->\n)", re.S)


class Cell(NamedTuple):
    """A value of a result, and how it is printed."""
    result: str
    series: str
    metric: str
    x: str
    show: str = "{kith:.1f}"


class Table(NamedTuple):
    page: str
    head: list
    lines: list  # of texts and cells


def ratio(value):
    """Two digits after the point; for small values, two significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def text_of(cell, rows):
    row = rows[cell.series, cell.metric, cell.x]
    kith, paper = row["kith"], row["paper"]
    if cell.show == "ratio":
        return ratio(kith) + (f" ({paper:.2f})" if paper is not None else "")
    if cell.show == "percent":
        return (f"{kith:.1f}" if cell.metric.startswith("load") else f"{kith:.2g}") + (f" ({paper:g})" if paper is not None else "")
    return cell.show.format(kith=kith, paper=paper)


def code(name):
    return f"`{name}`"


# ---- NabbitC

def nabbitc():
    policies = ["nabbitc", "nabbit", "loop-static", "loop-guided", "nabbitc:colors=node,attempts=256",
                "nabbitc:colors=node,attempts=1024"]
    lines = []
    for program in ("cg", "heat", "fdtd", "life", "mg", "uk-2002", "twitter-2010", "uk-2007-05", "sw", "swn2"):
        for name, metric in (("speed-up", "speedup"), ("remote %", "remote_percent"), ("steals", "steals")):
            lines.append([program if metric == "speedup" else "", name] +
                         [Cell("nabbitc-" + program, p, metric, "80") if metric != "steals" or p.startswith("nabbit") else ""
                          for p in policies])
    yield "nabbitc-programs", ["program", ""] + policies[:4] + ["node colors, 256", "node colors, 1024"], lines

    columns = [("nabbitc", "speedup", 1), ("nabbitc", "remote_percent", 2), ("nabbitc", "steals", 1), ("nabbit", "speedup", 1),
               ("nabbit", "remote_percent", 0), ("nabbit", "steals", 1), ("loop-static", "speedup", 1)]
    lines = [[cores] + [Cell("nabbitc-heat", p, metric, cores, f"{{kith:.{digits}f}}") for p, metric, digits in columns]
             for cores in ("1", "10", "20", "40", "60", "80")]
    yield ("nabbitc-heat", ["cores", "nabbitc", "remote %", "steals", "nabbit", "remote %", "steals", "loop-static"], lines)

    cores = ["1", "10", "20", "40", "60", "80"]
    yield ("nabbitc-first-steal", ["cores"] + cores,
           [["ms"] + [Cell("nabbitc-first-steal", "nabbitc", "first_steal_ms", c) for c in cores]])

    results = {"nabbitc-ablations": "heat", "nabbitc-mg-ablations": "mg", "nabbitc-swn2-ablations": "swn2"}
    lines = [[code(p)] + [Cell(r, p, metric, "80") for r in results for metric in ("speedup", "remote_percent", "steals")] +
             [Cell("nabbitc-swn2-ablations", p, "first_steal_ms", "80", "{kith:.0f}")]
             for p in ("nabbitc", "nabbitc:first=off", "nabbitc:morph=off", "nabbitc:attempts=0", "nabbitc:attempts=400",
                       "nabbitc:budget=1", "nabbitc:colors=node,attempts=64", "nabbit")]
    yield ("nabbitc-ablations", [""] + [h for p in results.values() for h in (f"{p}: speed-up", "remote %", "steals")] +
           ["first steal, ms"], lines)

    programs = ["cg", "mg", "heat", "fdtd", "life", "uk-2002", "twitter-2010", "uk-2007-05"]
    for result in ("nabbitc-bad-colors", "nabbitc-invalid-colors"):
        lines = [[c] + [Cell(result, p, "nabbitc_over_nabbit", c, "ratio") for p in programs] for c in ("20", "40", "60", "80")]
        yield result, ["cores"] + programs, lines


# ---- RIP

RIP_SERIES = ["dfifo", "socket", "rip-dep", "rip-mw", "auto"]
RIP_PROGRAMS = {"cg_tasks": "conjugate gradient", "gauss_seidel": "Gauss-Seidel", "integral_histogram": "integral histogram",
                "jacobi": "Jacobi", "nstream": "NStream", "qr": "QR", "red_black": "Red-Black", "inversion": "symmetric inversion",
                "mean": "**geometric mean**"}


def rip():
    series = [code(s) for s in RIP_SERIES]

    def programs(result, metric):
        return [[name] + [Cell(result, s, metric, x, "ratio") for s in RIP_SERIES] for x, name in RIP_PROGRAMS.items()]

    for result in ("rip-bullion-4", "rip-bullion-8", "rip-bullion-16", "rip-uv100"):
        yield result, [""] + series, programs(result, "speedup")
    yield "rip-traffic", [""] + series, programs("rip-bullion-8", "traffic_reduction")

    migrating = ["dep+pm", "rip-dep", "rip-dep+pm", "rip-mw", "rip-mw+pm"]
    lines = [[name] + [Cell("rip-migration", s, "speedup", x, "ratio") for s in migrating] +
             [Cell("rip-migration", s, "migrated_gbytes", x, "ratio") if x != "mean" else ""
              for s in migrating if s.endswith("+pm")] for x, name in RIP_PROGRAMS.items()]
    yield "rip-migration", [""] + [code(s) for s in migrating] + ["GB moved, " + code(s) for s in migrating if s.endswith("+pm")], lines

    places = {"bullion-4": "4 sockets", "bullion-8": "8 sockets", "bullion-16": "16 sockets", "uv100": "Altix"}
    readings = [("columns", place, "inversion", f"inversion in groups of columns, {name}") for place, name in places.items()]
    readings += [("fresh", place, "integral_histogram", f"integral histogram in fresh memory, {name}")
                 for place, name in places.items()]
    readings += [("link", "uv100", x, f"slow NUMAlink, {RIP_PROGRAMS[x]}") for x in ("inversion", "mean")]
    yield ("rip-readings", [""] + series,
           [[name] + [Cell("rip-readings", s, "speedup", f"{how} rip-{place} {x}", "ratio") for s in RIP_SERIES]
            for how, place, x, name in readings])

    lines = []
    for s in ("dfifo", "rip-mw", "rip-dep", "socket", "dep", "auto"):
        for name, metric in (("load balance", "load_balance_percent"), ("overhead", "overhead_percent"),
                             ("partitioning", "partition_percent")):
            if metric == "partition_percent" and not s.startswith("rip"):
                continue
            lines.append([code(s) if metric.startswith("load") else "", name] +
                         [Cell("rip-uv100", s, metric, x, "percent") for x in ("mean", "min", "max")])
    yield "rip-table-1", ["", "", "mean", "min", "max"], lines

    left_out = ["nothing", "contention", "latency", "contention, latency", "caches", "scheduling", "creation order",
                "nodes for themselves"]
    lines = [[x] + [Cell("rip-ablations", s, metric, x, "ratio") for metric in ("speedup", "traffic_reduction")
                    for s in RIP_SERIES] for x in left_out]
    yield "rip-ablations", ["without"] + series + series, lines


# ---- MIR

MIR_PROGRAMS = ["map", "reduction", "vecmul", "jacobi", "matmul", "sparse_lu"]
MIR_FINE = ("reduction", "jacobi")  # the paper advises coarse distribution for the others


def mir():
    def line(data, policy, metric, digits):
        advised = [policy.startswith("numa") and (data == "fine") == (p in MIR_FINE) for p in MIR_PROGRAMS]
        return [f"{data}, {code(policy)}"] + [
            Cell("mir-opteron", f"{data} {policy}", metric, p, f"**{{kith:.{digits}f}}**" if bold else f"{{kith:.{digits}f}}")
            for p, bold in zip(MIR_PROGRAMS, advised)]

    policies = ["steal:looks=one", "steal:victim=nodes,batch=1,looks=one", "fifo", "dep", "numa", "numa:order=created"]
    yield "mir-speed", [""] + MIR_PROGRAMS, [line(d, p, "speedup", 2) for d in ("fine", "coarse") for p in policies]
    yield ("mir-remote", [""] + MIR_PROGRAMS,
           [line(d, p, "remote_percent", 0) for d, p in (("fine", "steal:looks=one"), ("fine", "numa"), ("coarse", "steal:looks=one"), ("coarse", "dep"),
                                                         ("coarse", "numa"))])
    patterns, real = ["map", "reduction", "vecmul", "mean"], "sparse_lu"

    def tile(name, metric, program, show):
        return Cell("mir-tilepro", "home-cache" + (name and f", {name}"), metric, f"{program} 63", show)

    def percent(name, program):
        printed = " ({paper})" if not name and program in ("mean", real) else ""
        return tile(name, "less_time_percent", program, "{kith:z.0f}" + printed)

    yield ("mir-tilepro", [""] + patterns + [real],
           [["less time, %"] + [percent("", p) for p in patterns + [real]],
            ["stalls, over the central queue's"] + [tile("", "stall", p, "{kith:.2f}") if p != "mean" else "" for p in patterns + [real]]])
    lines = [["`home-cache:vicinity=1x1`"] + [percent("", p) for p in patterns + [real]],
             ["`home-cache`, vicinities of 2x2"] + [percent("vicinities of 2x2", p) for p in patterns + [real]],
             ["all blocks declared", "", "", "", "", percent("all blocks declared", real)]]
    lines += [[name] + [percent(name, p) for p in patterns] + [""]
              for name in ("one sweep", "copies in L2", "copies in L2 until written", "without contention", "without latency",
                           "without scheduling")]
    yield "mir-tilepro-ablations", [""] + patterns + [real], lines

    series = ["numa", "numa, links half as fast", "numa without contention", "numa without latency", "numa without caches",
              "numa without scheduling", "numa:footprint=0", "numa:reads=all", "numa:ties=first", "numa:alternative=off",
              "numa:backlog=0", "numa:order=created", "numa:order=created,backlog=1", "numa:keep=on"]
    lines = []
    for s in series:
        policy = re.match(r"numa(:\S+)?(?=,? |$)", s).group()
        lines.append([code(policy) + s[len(policy):]] +
                     [Cell("mir-ablations", s, "speedup", p, "{kith:.2f}") for p in MIR_PROGRAMS])
    yield "mir-ablations", [""] + MIR_PROGRAMS, lines


# ---- token and reference scheduling

HARDWARE_CORES = ["2", "4", "8", "16", "32"]
HARDWARE_PROGRAMS = ["panels", "refinement", "sharded", "routing", "kmeans", "kmeans_list"]


def hardware():
    def line(name, result, series, metric, digits):
        where = [f"mean {c}" for c in HARDWARE_CORES] + [f"{p} 32" for p in HARDWARE_PROGRAMS]
        return [name] + [Cell(result, series, metric, x, f"{{kith:.{digits}f}}") for x in where]

    head = [""] + HARDWARE_CORES + HARDWARE_PROGRAMS
    policies = [(code(p), p) for p in ("fifo", "random", "source", "token", "reference")]
    for result, metric, digits in (("hw-misses", "l2", 0), ("hw-traffic", "traffic", 0), ("hw-power", "power", 0),
                                   ("hw-speedup", "speedup", 2)):
        yield result, head, [line(name, result, series, metric, digits) for name, series in policies]
    yield "hw-misses-first", head, [line(name, "hw-misses", series, "l1", 0) for name, series in policies]
    for metric, digits in (("l1_miss_rate", 2), ("speedup", 2)):
        yield (f"hw-kmeans-{metric.replace('_', '-')}", [""] + HARDWARE_CORES,
               [[f"{program}, {name}"] + [Cell("hw-kmeans", series, metric, f"{program} {c}", f"{{kith:.{digits}f}}")
                                          for c in HARDWARE_CORES]
                for program in ("panels", "kmeans", "kmeans_list") for name, series in (policies[0], policies[4])])
    yield ("hw-organisation", head,
           [line(code(p), "hw-organisation", series, "performance", 2)
            for p, series in (("reference", "distributed"), ("reference:grouped=on", "distributed, grouped"),
                              ("token", "distributed, token"))])
    latencies = ["0", "20", "300", "3000", "300, begun every 20", "0 without prefetching", "300 without prefetching"]
    for table, metric in (("hw-latency", "time"), ("hw-latency-overhead", "overhead_percent")):
        yield table, head, [line(re.sub(r"^(\d+)", r"\1 cycles", latency), "hw-latency", "gsu-" + latency, metric, 3)
                            for latency in latencies]
    ways = ["fifo:organisation=deques", "random", "random:organisation=deques", "source", "source:organisation=global", "token",
            "token:cap=100", "token:cap=200", "token:cap=1000000", "token:organisation=global", "reference", "reference:cap=100",
            "reference:cap=200", "reference:cap=1000000", "reference:organisation=global", "reference:history=8",
            "reference:history=32", "reference:decay=80", "reference:kept=filters", "reference:ahead=on", "reference:grouped=on",
            "reference:grouped=on,ahead=on"]
    yield ("hw-ablations", ["", "L2 misses, %", "speed-up"] + HARDWARE_PROGRAMS,
           [[code(w), Cell("hw-ablations", w, "l2", "mean 32", "{kith:.0f}"), Cell("hw-ablations", w, "speedup", "mean 32", "{kith:.2f}")] +
            [Cell("hw-ablations", w, "speedup", f"{p} 32", "{kith:.2f}") for p in HARDWARE_PROGRAMS] for w in ways])


PART_OF = dict.fromkeys(("hw-misses", "hw-traffic", "hw-power", "hw-speedup", "hw-kmeans"), "hw-policies")  # the same runs


# ---- ADS

ADS_FIGURES = [  # what, figure, program, the last x, metric, and which values are printed: of ADS, of Custom, of one over the other
    ("4", "heat, Blue Gene/P, 2 to 256 places", "heat", "256", "speedup", "yyy"),
    ("5", "heat, Blue Gene/P, 32 to 256 places, rows with them", "heat", "256", "time_ratio", "yny"),
    ("6", "heat, 256 places, 64K to 512K rows", "heat", "524288", "time_ratio", "yny"),
    ("7", "heat, cluster, 1 to 6 threads in each of 4 places", "heat", "6", "speedup", "yyy"),
    ("8", "heat, cluster, the same in 2 places, rows with them", "heat", "6", "time_ratio", "yyy"),
    ("9", "heat, cluster, 32K to 256K rows", "heat", "262144", "time_ratio", "yyn"),
    ("9", "heat, cluster, 32K to 512K rows", "heat", "524288", "time_ratio", "yny"),
    ("10", "md, Blue Gene/P, 8 to 256 places", "md", "256", "speedup", "yyn"),
    ("11", "md, Blue Gene/P, 64 to 256 places, molecules with them", "md", "256", "time_ratio", "yyn"),
    ("12", "md, 256 places, 8K to 32K molecules", "md", "32768", "time_ratio", "yyn"),
    ("13", "md, cluster, 4 to 24 cores, 1 to 4 places", "md", "24", "speedup", "yyy"),
    ("14", "md, cluster, 4 to 12 cores, molecules with them", "md", "12", "time_ratio", "yyy"),
    ("15", "md, cluster, 4K to 32K molecules", "md", "32768", "time_ratio", "yyy"),
]
ADS_SHAPES = ["2x8", "4x4", "8x2", "16x1"]


def ads():
    def cell(result, series, metric, x, digits=2, printed=False):
        return Cell(result, series, metric, x, f"{{kith:.{digits}f}}" + (" ({paper:.3g})" if printed else ""))

    def scaling(series, metric, program, x, printed, digits=2):
        return cell("ads-scaling", series, metric, f"{program} {x}", digits, printed == "y")

    lines = []
    for number, what, program, x, metric, printed in ADS_FIGURES:
        figure, digits = "fig" + number, 1 if metric == "speedup" else 2
        lines.append([number, what + (": speed-up" if metric == "speedup" else ": time"),
                      scaling(figure + " ads", metric, program, x, printed[0], digits),
                      scaling(figure + " custom", metric, program, x, printed[1], digits),
                      scaling(figure, "ads_over_custom", program, x, printed[2])])
    yield "ads-scaling", ["figure", "what", "ADS", "Custom", "time of ADS over Custom's"], lines

    places = ["2", "4", "8", "16", "32", "64", "128", "256"]
    lines = [["heat, " + name] + [cell("ads-scaling", series, metric, f"heat {p}") for p in places]
             for name, series, metric in (("ADS", "fig4 ads", "speedup"), ("Custom", "fig4 custom", "speedup"),
                                          ("ADS over Custom", "fig4", "ads_over_custom"))]
    lines += [["md, " + name, "", ""] + [cell("ads-scaling", series, metric, f"md {p}") for p in places[2:]]
              for name, series, metric in (("ADS", "fig10 ads", "speedup"), ("Custom", "fig10 custom", "speedup"),
                                           ("ADS over Custom", "fig10", "ads_over_custom"))]
    yield "ads-places", [""] + places, lines

    lines = [[without] + [cell("ads-scaling", f"{figure} ads{without and ' ' + without}", "speedup", f"{program} 256", 1)
                          for figure, program in (("fig4", "heat"), ("fig10", "md"))]
             for without in ("", "without contention", "without latency", "without scheduling", "sent along a tree",
                             "working while it waits", "sent along a tree, working while it waits")]
    yield "ads-ablations", ["", "heat", "md"], lines

    def shared(name, result, series, metric, digits, printed=""):
        return [name] + [cell(result, series, metric, f"{p} 16", digits, p in printed.split()) for p in ("heat", "md", "cg")]

    yield ("ads-cilk", ["", "heat", "md", "cg"],
           [shared("gain of ADS over CWS, %", "ads-cilk", "fig17 ads over cws", "gain_percent", 1, "md cg"),
            shared("time of steals, CWS over ADS", "ads-cilk", "fig18 cws over ads", "steal_time_ratio", 2, "heat md cg"),
            shared("the same, ADS, s", "ads-cilk", "fig18 ads", "steal_seconds", 2, "cg"),
            shared("the same, CWS, s", "ads-cilk", "fig18 cws", "steal_seconds", 2, "cg"),
            shared("time at the buffer, % of that of steals", "ads-cilk", "fig18 ads", "fab_percent_of_steal", 0)])
    yield ("ads-corg", ["cores", "2", "4", "8", "16"],
           [["time of CORG over that of ADS"] + [cell("ads-cilk", "fig16 corg over ads", "time_ratio", f"heat {c}", 2, c in ("2", "16"))
                                                for c in ("2", "4", "8", "16")]])

    def shapes(name, result, series, metric, program, digits, printed=""):
        return [name] + [cell(result, series, metric, f"{program} {x}", digits, x in printed.split()) for x in ADS_SHAPES]

    lines = []
    for name, program, series, printed in (("md", "md", "ads", ("2x8 8x2 16x1", "2x8 16x1", "2x8 16x1")),
                                           ("md, work of 2 regions", "md", "ads, work of 2 regions", ("2x8 8x2 16x1", "2x8 16x1", "2x8 16x1")),
                                           ("cg", "cg", "ads", ("2x8 8x2 16x1", "2x8 8x2 16x1", "")),
                                           ("heat", "heat", "ads", ("16x1", "", ""))):
        for what, metric, at in zip(("steals", "buffer", "total"), ("steal_seconds", "fab_seconds", "seconds"), printed):
            lines.append(shapes(f"{name}: {what}, s", "ads-power6", series, metric, program, 2, at))
    yield "ads-power6", [""] + ADS_SHAPES, lines

    lines = []
    for program in ("md", "heat", "cg"):
        md = program == "md"
        for what, metric, digits, at in (("depth", "depth", 0, "2x8"), ("buffer, mean", "fab_mean", 1, "2x8 16x1" if md else ""),
                                         ("buffer, most", "fab_peak", 0, "2x8 8x2 16x1" if md else ""),
                                         ("deque, mean", "deque_mean", 1, "2x8 16x1" if md else ""),
                                         ("deque, most", "deque_peak", 0, "2x8 8x2 16x1" if md else "")):
            lines.append(shapes(f"{program}: {what}", "ads-space", "ads", metric, program, digits, at))
    yield "ads-space", [""] + ADS_SHAPES, lines
    yield ("ads-utilisation", ["% of the depth", "md", "heat", "cg"],
           [[name] + [cell("ads-space", "ads", metric, f"{p} most", 0, p == "md") for p in ("md", "heat", "cg")]
            for name, metric in (("buffer", "fab_percent_of_depth"), ("deque", "deque_percent_of_depth"))])

    yield ("ads-beyond", ["places", "ADS", "sent along a tree, working while it waits"],
           [[places] + [cell("ads-beyond", series, "seconds", f"heat {places}", 4)
                        for series in ("ads", "ads, sent along a tree")]
            for places in ("256", "1024", "4096", "16384", "65536")])


TABLES = {name: Table(page, head, lines)
          for page, tables in (("nabbitc.md", nabbitc), ("rip.md", rip), ("mir.md", mir), ("hardware.md", hardware), ("ads.md", ads))
          for name, head, lines in tables()}
RESULTS = list(dict.fromkeys([c.result for t in TABLES.values() for line in t.lines for c in line if isinstance(c, Cell)] +
                             list(PART_OF.values())))


def printed(line):
    return "| " + " | ".join(line) + " |"


def filled(name, old, found, changes):
    """The table's Markdown. Cells of results that were not made are as in `old`; `changes` gets a line for each other cell that differs."""
    table = TABLES[name]
    before = [[cell.strip() for cell in line.strip("|").split("|")] for line in old.strip().splitlines()[2:]]
    made = [re.sub(r"\|  (?=\|)", "| ", printed(table.head)), printed(["---"] * len(table.head))]
    for i, line in enumerate(table.lines):
        texts = []
        for j, cell in enumerate(line):
            was = before[i][j] if i < len(before) and j < len(before[i]) else ""
            text = cell if not isinstance(cell, Cell) else text_of(cell, found[cell.result]) if cell.result in found else was
            if text != was:
                where = f"{cell.result} {cell.series} {cell.metric} {cell.x}" if isinstance(cell, Cell) else f"line {i + 1}"
                changes.append(f"{table.page}: {name}: {where}: {was or '(nothing)'} -> {text}")
            texts.append(text)
        made.append(printed(texts))
    return "\n".join(made) + "\n"


def rewritten(path, found, changes):
    """The page with its tables remade."""
    page = path.read_text()
    names = [m.group(2) for m in TABLE.finditer(page)]
    expected = [n for n, t in TABLES.items() if t.page == path.name]
    if sorted(names) != sorted(expected):
        sys.exit(f"papers: {path}: has tables {', '.join(names) or 'none'}; expected each once: {', '.join(expected)} "
                 "(<!-- table: NAME --> before, <!-- end --> after it)")
    return TABLE.sub(lambda m: m.group(1) + "\n" + filled(m.group(2), m.group(3), found, changes) + "\n" + m.group(4), page)


@functools.cache
def rows_of(result, kith, folder):
    """The rows of a result, or of the one that has it, which are made if they are missing."""
    if result in PART_OF:
        return rows_of(PART_OF[result], kith, folder)
    kept = folder and os.path.join(folder, result + ".json")
    if kept and os.path.exists(kept):
        text = pathlib.Path(kept).read_text()
    else:
        done = subprocess.run([kith, "paper", result, "--json"], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"papers: kith paper {result} --json ended with {done.returncode}")
        text = done.stdout
        if kept:
            pathlib.Path(kept).parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(kept).write_text(text)
    return {(r["series"], r["metric"], f"{r.get('program', '')} {r['x']}".strip()): r for r in json.loads(text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="build/release/kith", metavar="PATH")
    parser.add_argument("--only", default=",".join(RESULTS), metavar="RESULT,...")
    parser.add_argument("--rows", metavar="FOLDER")
    parser.add_argument("--pages", default="docs/papers", metavar="FOLDER")
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    results = [r for r in chosen.only.split(",") if r]
    for result in results:
        if result not in RESULTS:
            sys.exit(f"papers: no table has '{result}'; expected some of: {', '.join(RESULTS)}")
    results += [part for part, whole in PART_OF.items() if whole in results]
    found = {r: rows_of(r, chosen.kith, chosen.rows) for r in results}
    changes = []
    for path in sorted({pathlib.Path(chosen.pages) / t.page for t in TABLES.values()}):
        page = rewritten(path, found, changes)
        if not chosen.check:
            path.write_text(page)
    print("\n".join(changes + [f"{len(changes)} cells {'would change' if chosen.check else 'changed'}"]))
    return bool(changes and chosen.check)


if __name__ == "__main__":
    sys.exit(main())
