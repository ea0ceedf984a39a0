#!/usr/bin/env python3
"""The recorder of addresses, held to exact bytes with each compiler that is installed.

usage: exact_test.py ROOT LIBRARY_OF_TRACING LIBRARY_OF_KITH COMPILER=OPTION,OPTION...
"""
import subprocess
import sys
import tempfile


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    root, tracing, kith = sys.argv[1:4]
    failed = False
    for setting in sys.argv[4:]:
        compiler, _, options = setting.partition("=")
        for level in ("-O0", "-O2", "-O3", "-O2 -D_FORTIFY_SOURCE=2"):
            with tempfile.TemporaryDirectory() as folder:
                program = folder + "/exact"
                words = " ".join(o.removeprefix("SHELL:") for o in options.split(",")).split()
                command = [compiler, "-std=c++20", *level.split(), *words, f"-I{root}/src", f"-I{root}/include", "-c",
                           f"{root}/tests/tracing/exact.cpp", "-o", program + ".o"]
                subprocess.run(command, check=True, timeout=300)
                subprocess.run([compiler, program + ".o", "-Wl,--whole-archive", tracing, "-Wl,--no-whole-archive", kith,
                                "-pthread", "-ldl", "-o", program], check=True, timeout=300)
                done = subprocess.run([program, folder], timeout=300, check=False, capture_output=True, text=True,
                                      env={"KITH_RECORD_ADDRESSES": "1"})
                print(f"{compiler} {level}: {done.stdout.strip()}{done.stderr.strip()}")
                failed = failed or done.returncode != 0
    sys.exit(failed)


main()
