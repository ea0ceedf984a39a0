"""Checks the links of installed documents. Links into the sources are skipped, because sources are not installed.

usage: links.py FOLDER"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SOURCES = {"src", "include", "apps", "bench", "tests", "tools", "scripts"}

folder = pathlib.Path(sys.argv[1]).resolve()
dead, followed = [], 0
for document in sorted(folder.rglob("*.md")):
    for target in LINK.findall(re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.S)):
        if "://" in target:
            continue
        at = (document.parent / target).resolve()
        if at.is_relative_to(folder) and at.relative_to(folder).parts[:1] and at.relative_to(folder).parts[0] in SOURCES:
            continue
        followed += 1
        if not at.exists():
            dead.append(f"{document.relative_to(folder)}: {target} leads nowhere")
print("\n".join(dead))
print(f"{followed} links")
sys.exit(bool(dead) or followed == 0)
