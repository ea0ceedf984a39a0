#!/usr/bin/env python3
"""The code in the documents is the code of the examples, and prints what the documents say.

usage: docs_test.py BUILD_FOLDER COMPILER      from the root of the tree

In a document, `<!-- file: PATH -->` before a code block says that it is that file, word for word; `<!-- output: PATH -->`
that it is what the program made of that file prints. Links to files of the tree are followed, too.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(".")
BLOCK = re.compile(r"<!-- (file|output): (\S+) -->\n+```\w*\n(.*?)```", re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def main(build, compiler):
    faults, programs, shown = [], {}, set()
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "bench").glob("*.md"))]
    with tempfile.TemporaryDirectory() as work:
        def output_of(path):
            if path not in programs:
                binary = pathlib.Path(work) / path.replace("/", "_")
                command = [compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Iinclude", path, f"{build}/libkith.a",
                           "-o", str(binary), "-lhwloc", "-lsqlite3", "-pthread"]
                made = subprocess.run(command, capture_output=True, text=True)
                if made.returncode != 0:
                    return f"does not compile:\n{made.stderr[:2000]}"
                ran = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60)
                programs[path] = ran.stdout if ran.returncode == 0 else f"exit code {ran.returncode}\n{ran.stderr}"
            return programs[path]

        for document in documents:
            text = document.read_text()
            for kind, path, block in BLOCK.findall(text):
                shown.add(path)
                expected = (ROOT / path).read_text() if kind == "file" else output_of(path)
                if block != expected:
                    faults.append(f"{document}: the {kind} block of {path} differs; expected:\n{expected}")
            for target in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
                if "://" not in target and not (document.parent / target).exists():
                    faults.append(f"{document}: the link to {target} leads nowhere")
        for example in sorted((ROOT / "examples").rglob("*.cpp")):
            if str(example) not in shown:
                faults.append(f"{example}: no document shows it")

        seconds = []
        for _ in range(5):
            begin = time.monotonic()
            subprocess.run([compiler, "-std=c++20", "-Iinclude", "-c", "examples/hello/hello.cpp", "-o", f"{work}/h.o"], check=True)
            seconds.append(time.monotonic() - begin)
        print(f"hello compiles in {min(seconds):.2f} s (best of 5; bound: 2)")
        if min(seconds) > 2:  # the best, because other work may be going on
            faults.append("a hello program takes more than 2 s to compile: the public headers have grown heavy")
    print("\n".join(faults))
    print(f"{len(documents)} documents, {len(programs)} programs run, {len(faults)} faults")
    return bool(faults)


if len(sys.argv) != 3:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
