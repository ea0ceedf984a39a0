#!/usr/bin/env python3
"""Each public header compiles alone: it includes all that it uses.

usage: headers_test.py COMPILER...      from the root of the tree
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

FLAGS = ["-std=c++20", "-Iinclude", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"]


def fault(compiler, header):
    # Included twice, so that a header without `#pragma once` is found too.
    text = f"#include <{header}>\n" * 2
    done = subprocess.run([compiler, *FLAGS, "-"], input=text, capture_output=True, text=True)
    return f"{compiler}: {header} does not compile alone:\n{done.stderr}" if done.returncode else None


def main(compilers):
    include = pathlib.Path("include")
    headers = sorted(h.relative_to(include) for h in include.glob("kith/*.hpp"))
    if not headers:
        sys.exit("headers_test.py: no headers under include/kith; run it from the root of the tree")
    pairs = [(c, h) for c in compilers for h in headers]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [f for f in pool.map(lambda p: fault(*p), pairs) if f]
    print("\n".join(faults))
    print(f"{len(headers)} headers, {len(compilers)} compilers, {len(faults)} faults")
    return bool(faults)


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main(sys.argv[1:]))
