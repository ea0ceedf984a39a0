#!/usr/bin/env python3
"""Checks that the table of docs/policies.md is what the policies say about themselves.

usage: policies_test.py PATH_OF_KITH [--write]      from the root of the tree; --write makes the table again
"""
import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path("docs/policies.md")
HEAD, END = "<!-- policies -->\n", "<!-- end of policies -->"


def cell(text):
    return text.replace("|", "\\|")


def table(kith):
    policies = json.loads(subprocess.run([kith, "policies", "--json"], capture_output=True, text=True, check=True).stdout)
    rows = ["", "| policy, and its options | paper | what it does |", "| --- | --- | --- |"]
    for p in policies:
        rows.append(f"| **`{p['name']}`** | {', '.join(filter(None, (p['paper'], cell(p['section']))))} | {cell(p['summary'])} |")
        rows += [f"| `{cell(o['key'] + '=' + o['values'])}` | | {cell(o['help'])} |" for o in p["options"]]
    return "\n".join(rows) + "\n\nOf an option's values the first is the default.\n\n"


def main():
    before, rest = PAGE.read_text().split(HEAD)
    there, after = rest.split(END)
    expected = table(sys.argv[1])
    if "--write" in sys.argv[2:]:
        PAGE.write_text(before + HEAD + expected + END + after)
    elif there != expected:
        sys.exit(f"{PAGE}: the table is not what `kith policies` says; python3 tests/docs/policies_test.py KITH --write")
    print(f"{PAGE}: {expected.count(chr(10))} lines as the policies say")


main()
