#!/usr/bin/env python3
"""The count of instructions, held to functions of known counts, and to callgrind on the program that does not count, with each
compiler that is installed.

usage: counts_test.py ROOT LIBRARY_OF_COUNTING LIBRARY_OF_KITH COMPILER...
"""
import re
import shutil
import subprocess
import sys
import tempfile

MEASURED = ("measured_vectors", "measured_branches", "measured_sort")


def output_of(*command):
    return subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)


def instructions_of(program, function):
    """By callgrind, of what the function does, with what it calls."""
    said = output_of("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={function}", program).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


def compared(compiler, level, root, libraries, folder):
    source, plain, counting = f"{root}/tests/counting/known.cpp", folder + "/plain", folder + "/counting"
    command = [compiler, "-std=c++20", *level.split()]
    output_of(*command, source, "-o", plain)
    assembler = [f"-B{root}/src/counting", *(["-fno-integrated-as"] if "clang" in compiler else [])]
    output_of(*command, *assembler, "-DKITH_COUNTED", "-c", source, "-o", counting + ".o")
    output_of(compiler, counting + ".o", "-Wl,--whole-archive", libraries[0], "-Wl,--no-whole-archive", libraries[1], "-pthread", "-ldl", "-o", counting)
    here, there = output_of(counting).stdout, output_of(plain).stdout
    wrong = re.findall(r"wrong.*", here)
    results = [re.findall(r"^(\w.*?)(?: \d+)? (\S+)$", text, re.MULTILINE) for text in (re.sub(r"wrong.*\n", "", here), there)]
    if results[0] != results[1]:
        wrong.append(f"other results: {results}")
    errors = []
    for function in MEASURED if shutil.which("valgrind") else ():
        expected, counted = instructions_of(plain, function), int(re.search(rf"{function} (\d+)", here)[1])
        errors.append(f"{function} {100 * (counted / expected - 1):+.2f} %")
        # An alignment is one instruction here, and may be none.
        if abs(counted - expected) > 0.05 * expected:
            wrong.append(f"{function}: {counted}, by callgrind {expected}")
    print(f"{compiler} {level}: {', '.join(errors + wrong)}")
    return not wrong


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        print("valgrind is not installed (Debian package valgrind): nothing is compared with callgrind")
    good = True
    for compiler in sys.argv[4:]:
        for level in ("-O0", "-O2 -g", "-O3 -fPIE -mavx2 -pipe"):
            with tempfile.TemporaryDirectory() as folder:
                good = compared(compiler, level, sys.argv[1], sys.argv[2:4], folder) and good
    sys.exit(not good)


main()
