#!/usr/bin/env python3
"""The tables of docs/papers/ are what bench/papers.py makes of what `kith paper` finds.

usage: papers_test.py PATH_OF_KITH      from the root of the tree

One result is made, the cheapest: if it has changed, so have others, and the pages are to be made again.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

CHEAPEST = "nabbitc-uk-2002"
faults = []


def check(holds, what):
    if not holds:
        faults.append(what)


def papers(*arguments):
    return subprocess.run([sys.executable, "-B", "bench/papers.py", "--kith", sys.argv[1], *arguments], capture_output=True,
                          text=True, check=False)


def main():
    listed = subprocess.run([sys.argv[1], "paper", "--json"], capture_output=True, text=True, check=True).stdout
    results = [r["id"] for r in json.loads(listed)]
    refused = papers("--only", "no-such-result")
    named = refused.stderr.strip().split("expected some of: ")[-1].split(", ")
    check(refused.returncode != 0 and sorted(named) == sorted(results), f"each result has a table: {refused.stderr}, not {results}")

    shape = papers("--only", "", "--check")
    check(shape.returncode == 0, f"heads and first columns are as they would be made:\n{shape.stdout}{shape.stderr}")
    now = papers("--only", CHEAPEST, "--check")
    check(now.returncode == 0, f"the simulator has moved: make the tables again (bench/papers.py), and state by how much:\n"
                               f"{now.stdout}{now.stderr}")

    with tempfile.TemporaryDirectory() as work:
        pages = pathlib.Path(work) / "pages"
        shutil.copytree("docs/papers", pages)
        rows = [{"series": "nabbitc", "metric": "first_steal_ms", "x": cores, "paper": None, "kith": 1000.06 + cores}
                for cores in (1, 10, 20, 40, 60, 80)]
        (pathlib.Path(work) / "nabbitc-first-steal.json").write_text(json.dumps(rows))
        made_up = ("--only", "nabbitc-first-steal", "--rows", work, "--pages", str(pages))
        before = (pages / "nabbitc.md").read_text()
        would = papers(*made_up, "--check")
        check(would.returncode == 1 and "6 cells would change" in would.stdout and "-> 1080.1" in would.stdout,
              f"--check says what differs: {would.stdout}{would.stderr}")
        check((pages / "nabbitc.md").read_text() == before, "--check writes nothing")
        check(papers(*made_up).returncode == 0, "tables are made")
        changed = set((pages / "nabbitc.md").read_text().splitlines()) - set(before.splitlines())
        check(changed == {"| ms | 1001.1 | 1010.1 | 1020.1 | 1040.1 | 1060.1 | 1080.1 |"}, f"one line changes: {changed}")
        check((pages / "rip.md").read_text() == pathlib.Path("docs/papers/rip.md").read_text(), "other pages stay")
        places = [("mean", c) for c in (2, 4, 8, 16, 32)] + [(p, 32) for p in ("panels", "refinement", "sharded", "routing", "kmeans",
                                                                               "kmeans_list")]
        rows = [{"series": s, "metric": m, "x": x, "program": p, "paper": None, "kith": 777}
                for s in ("fifo", "random", "source", "token", "reference") for m in ("l1", "l2") for p, x in places]
        (pathlib.Path(work) / "hw-policies.json").write_text(json.dumps(rows))
        part = papers("--only", "hw-misses", "--rows", work, "--pages", str(pages))
        lines = (pages / "hardware.md").read_text().splitlines()
        check(part.returncode == 0 and sum("| 777 |" in line for line in lines) == 10,
              f"hw-misses is made of the rows of hw-policies: {part.stdout}{part.stderr}")
        (pages / "rip.md").write_text((pages / "rip.md").read_text().replace("<!-- table: rip-traffic -->\n", ""))
        lost = papers(*made_up)
        check(lost.returncode != 0 and "rip-traffic" in lost.stderr, f"a table without its mark is an error: {lost.stderr}")

    print("\n".join(faults))
    print(f"{len(results)} results, {len(faults)} faults")
    return bool(faults)


if len(sys.argv) != 2:
    sys.exit(__doc__)
sys.exit(main())
