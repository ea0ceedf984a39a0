"""Instructions a task, and a spawn of fork-join, are not 3% above those of instructions.json, next to this file
(bench/instructions.py counts them).

Arguments: the build folder, the compiler's id and version, and the build type. The figures are exact only for the compiler
that made them, so the test is skipped for others."""

import pathlib
import platform
import shutil
import subprocess
import sys

build, compiler, version, kind = sys.argv[1:5]
here = pathlib.Path(__file__).parent
figures = here / "instructions.json"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


if (compiler, version.split(".")[0], kind, platform.machine()) != ("GNU", "12", "Release", "x86_64"):
    skip(f"the figures are of GCC 12, Release, on x86_64; this is {compiler} {version}, {kind}, on {platform.machine()}")
if shutil.which("valgrind") is None:
    skip("valgrind is not installed (Debian package valgrind)")
script = here.parent.parent / "bench" / "instructions.py"
sys.exit(subprocess.run([sys.executable, script, build, "--check", figures], check=False).returncode)
