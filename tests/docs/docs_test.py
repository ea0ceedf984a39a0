#!/usr/bin/env python3
"""The code in the documents is the code of the examples, and prints what the documents say.

usage: docs_test.py BUILD_FOLDER COMPILER      from the root of the tree

In a document, `<!-- file: PATH -->` before a code block says that it is that file, word for word; `<!-- output: PATH -->`
that it is what the program made of that file prints, and `NAME=VALUE` after the path sets a variable for it. Links to files of the tree are followed, too.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(".")
HEAVY = 65_000  # lines
BLOCK = re.compile(r"<!-- (file|output): (\S+)(?: (\w+=\S*))? -->\n+```\w*\n(.*?)```", re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def main(build, compiler):
    faults, programs, shown = [], {}, set()
    documents = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "bench").glob("*.md"))]
    # As the README says: against the build folder.
    with_kith = subprocess.run(["pkg-config", "--cflags", "--libs", "kith"], check=True, capture_output=True, text=True,
                               env={**os.environ, "PKG_CONFIG_PATH": build}).stdout.split()
    with tempfile.TemporaryDirectory() as work:
        def output_of(path, setting):
            if path not in programs:
                binary = pathlib.Path(work) / path.replace("/", "_")
                command = [compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", path, "-o", str(binary), *with_kith]
                made = subprocess.run(command, capture_output=True, text=True)
                if made.returncode != 0:
                    return f"does not compile:\n{made.stderr[:2000]}"
                ran = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60,
                                     env={**os.environ, **dict([setting.split("=", 1)] if setting else [])})
                programs[path] = ran.stdout if ran.returncode == 0 else f"exit code {ran.returncode}\n{ran.stderr}"
            return programs[path]

        for document in documents:
            text = document.read_text()
            for kind, path, setting, block in BLOCK.findall(text):
                shown.add(path)
                expected = (ROOT / path).read_text() if kind == "file" else output_of(path, setting)
                if block != expected:
                    faults.append(f"{document}: the {kind} block of {path} differs; expected:\n{expected}")
            for target in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
                if "://" not in target and not (document.parent / target).exists():
                    faults.append(f"{document}: the link to {target} leads nowhere")
        for example in sorted((ROOT / "examples").rglob("*.cpp")):
            if str(example) not in shown:
                faults.append(f"{example}: no document shows it")

        lines = subprocess.run([compiler, "-std=c++20", "-Iinclude", "-E", "-P", "examples/hello/hello.cpp"], check=True,
                               capture_output=True, text=True).stdout.count("\n")
        print(f"hello and what it includes: {lines} lines (bound: {HEAVY})")
        if lines > HEAVY:
            faults.append("the public headers have grown heavy: a hello program should compile in 2 s")
    print("\n".join(faults))
    print(f"{len(documents)} documents, {len(programs)} programs run, {len(faults)} faults")
    return bool(faults)


if len(sys.argv) != 3:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
