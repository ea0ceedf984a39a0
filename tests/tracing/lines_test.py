#!/usr/bin/env python3
"""Touches in the bodies of tasks are the program's own, with each compiler that is installed, whatever the compiler
makes of the body and whatever folder the program is in.

usage: lines_test.py ROOT KITH COMPILER=OPTION,OPTION...      beside KITH: its library, and the file for pkg-config
"""
import json
import os
import subprocess
import sys
import tempfile


def line_of(source, mark):
    with open(source, encoding="utf-8") as f:
        return next(number for number, line in enumerate(f, 1) if "//! " + mark in line)


def flags(build, what):
    done = subprocess.run(["pkg-config", what, "kith"], check=True, capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PKG_CONFIG_PATH": build})
    return done.stdout.split()


def check(kith, program, folder):
    """What `kith check` says, by the task's type."""
    recording = folder + "/run.rec"
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("KITH_", "SLURM_"))}
    subprocess.run([kith, "record", "--addresses", "-o", recording, "--", program], check=True, timeout=120,
                   capture_output=True, env=variables)
    done = subprocess.run([kith, "check", recording, "--json"], check=False, timeout=120, capture_output=True, text=True)
    return {u["name"]: u for u in json.loads(done.stdout)["undeclared"]}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    root, kith = sys.argv[1:3]
    build = os.path.dirname(os.path.abspath(kith))
    source = f"{root}/tests/tracing/src/bodies.cpp"
    failed = False
    for setting in sys.argv[3:]:
        compiler, _, options = setting.partition("=")
        words = " ".join(o.removeprefix("SHELL:") for o in options.split(",")).split()
        for where in (f"{root}/tests/tracing", "/usr/src/app"):  # as the compiler is told
            with tempfile.TemporaryDirectory() as folder:
                program = folder + "/bodies"
                subprocess.run([compiler, "-std=c++20", "-O2", *words, f"-fdebug-prefix-map={root}/tests/tracing={where}",
                                *flags(build, "--cflags"), "-c", source, "-o", program + ".o"], check=True, timeout=300)
                subprocess.run([compiler, program + ".o", "-Wl,--whole-archive", build + "/src/tracing/libkith_tracing.a",
                                "-Wl,--no-whole-archive", *flags(build, "--libs"), "-ldl", "-o", program], check=True,
                               timeout=300)
                found = check(kith, program, folder)
            plain, joined = found.get("plain:0", {}), found.get("joined:0", {})
            lines = {0, line_of(source, "one branch"), line_of(source, "the other branch")}
            right = (plain.get("line") == line_of(source, "behind the range") and (plain["begin"], plain["end"]) == (200, 204)
                     and joined.get("line") in lines and joined["file"] == where + "/src/bodies.cpp"
                     and (joined["begin"], joined["end"]) == (28, 32))
            print(f"{compiler}, {where}: {'right' if right else found}")
            failed = failed or not right
    sys.exit(failed)


main()
