#!/usr/bin/env python3
"""What colors cost where they are of no use: nabbitc with bad and with invalid colors against nabbit (NabbitC paper,
tables II and III).

  bench/colors.py [--kith build/release/kith] [--rounds 7] [--workers N] [--apps heat,life,...] [--json]
  bench/colors.py --into bench/README.md      puts the table between the lines <!-- colors --> and <!-- end colors -->
  bench/colors.py --rows FILE ...             takes what --json has printed instead of measuring

Each round runs nabbit, nabbitc with bad colors and nabbitc with invalid ones, one after the other, on the same input.
A figure is the median over the rounds of (nabbit's seconds / nabbitc's seconds in the same round), with the lowest and
the highest: above 1, nabbitc was faster. Exit code: 1 if a result was wrong, 2 for a wrong command line.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

# Long enough to time and short enough to repeat: a fifth to half a second each on two cores.
APPS = {
    "cg": ["--size", "30000", "--nonzeros", "12", "--iterations", "100", "--block", "300"],
    "mg": ["--size", "128", "--iterations", "8"],
    "heat": ["--size", "2048", "--iterations", "100", "--block", "32"],
    "fdtd": ["--size", "1024", "--iterations", "300", "--block", "32"],
    "life": ["--size", "2048", "--iterations", "400", "--block", "32"],
    "pagerank": ["--size", "300000", "--iterations", "40", "--block", "2000"],
    "sw": ["--size", "1200", "--block", "40"],
    "swn2": ["--size", "16000", "--block", "160"],
}
VARIANTS = [("nabbit", "good"), ("nabbitc", "bad"), ("nabbitc", "invalid")]
BEGIN, END = "<!-- colors -->", "<!-- end colors -->"


def seconds(kith, app, policy, colors, workers):
    command = [kith, "app", app, "--policy", policy, "--colors", colors, "--as", "graph", "--json", *APPS[app]]
    if workers:
        command += ["--workers", str(workers)]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"colors: {' '.join(command)}: exit code {ran.returncode}\n{ran.stderr or ran.stdout}")
    result = json.loads(ran.stdout)
    return result["seconds"], result["workers"]


def measure(kith, app, rounds, workers):
    ratios, of_nabbit = {"bad": [], "invalid": []}, []
    for n in range(rounds + 1):
        took = {}
        for policy, colors in VARIANTS:
            took[policy, colors], used = seconds(kith, app, policy, colors, workers)
        if n == 0:
            continue  # warm-up
        of_nabbit.append(took["nabbit", "good"])
        for colors, all_ratios in ratios.items():
            all_ratios.append(took["nabbit", "good"] / took["nabbitc", colors])
    rows = []
    for colors, all_ratios in ratios.items():
        rows.append({"app": app, "colors": colors, "workers": used, "rounds": rounds, "metric": "speed-up of nabbitc over nabbit",
                     "median": statistics.median(all_ratios), "min": min(all_ratios), "max": max(all_ratios),
                     "nabbit_seconds": statistics.median(of_nabbit)})
    return rows


def table(rows):
    lines = [f"{rows[0]['workers']} workers, {rows[0]['rounds']} rounds: median [min, max].", "",
             "| speed-up of nabbitc over nabbit | bad colors | invalid colors | seconds of nabbit |", "| --- | --- | --- | --- |"]
    for app in dict.fromkeys(r["app"] for r in rows):
        by = {r["colors"]: r for r in rows if r["app"] == app}
        cells = [f"{by[c]['median']:.2f} [{by[c]['min']:.2f}, {by[c]['max']:.2f}]" for c in ("bad", "invalid")]
        lines.append(f"| {app} | {cells[0]} | {cells[1]} | {by['bad']['nabbit_seconds']:.3f} |")
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kith", default="build/release/kith")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--workers", type=int, default=0)
    p.add_argument("--apps", default=",".join(APPS))
    p.add_argument("--json", action="store_true")
    p.add_argument("--into")
    p.add_argument("--rows")
    a = p.parse_args()
    unknown = [x for x in a.apps.split(",") if x not in APPS]
    if unknown:
        p.error(f"no program {', '.join(unknown)}; there are: {', '.join(APPS)}")
    if a.rounds < 1:
        p.error("--rounds: expected 1 or more")
    if not a.rows and not pathlib.Path(a.kith).exists():
        p.error(f"{a.kith} does not exist; `make build` makes it, or name it with --kith")
    rows = json.loads(pathlib.Path(a.rows).read_text()) if a.rows else []
    for app in [] if a.rows else a.apps.split(","):
        print(f"colors: {app}", file=sys.stderr)
        rows += measure(a.kith, app, a.rounds, a.workers)
    if a.json:
        print(json.dumps(rows, indent=1))
    elif a.into:
        file = pathlib.Path(a.into)
        text = file.read_text()
        if BEGIN not in text or END not in text:
            sys.exit(f"colors: {a.into} has no lines {BEGIN} and {END}")
        before, rest = text.split(BEGIN, 1)
        file.write_text(before + BEGIN + "\n\n" + table(rows) + "\n\n" + END + rest.split(END, 1)[1])
    else:
        print(table(rows))


main()
