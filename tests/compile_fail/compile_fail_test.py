#!/usr/bin/env python3
"""Wrong calls do not compile, and the first error line says what to write; what it says to write compiles.

All wrong calls are first compiled at once, which is much quicker. A call is compiled by itself if the compiler does not
say there which of its errors belongs to the call, or says something else than expected.

usage: compile_fail_test.py COMPILER...      from the root of the tree; wrong_calls.txt has the calls
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).with_name("wrong_calls.txt")
FUNCTION = """
[[maybe_unused]] static void %s([[maybe_unused]] const std::vector<double>& cv, [[maybe_unused]] const int& cx,
    [[maybe_unused]] std::vector<double> v, [[maybe_unused]] int x, [[maybe_unused]] double* p,
    [[maybe_unused]] const double* cp, [[maybe_unused]] kith::task_ref t,
    [[maybe_unused]] kith::future<int> f, [[maybe_unused]] kith::handle<int>& h, [[maybe_unused]] kith::static_graph& g,
    [[maybe_unused]] kith::group& group, [[maybe_unused]] kith::runtime& rt,
    [[maybe_unused]] kith::data_flow& flow, [[maybe_unused]] kith::distributed_array<int> array) {
  [[maybe_unused]] auto only = [m = std::unique_ptr<int>()] {};
  %s
}
"""
# Clang alone warns of these, which is an error here: the reference outlives the future that keeps the value.
DANGLING = ("for (int each : kith::async([] { return std::vector<int>(3); }).get()) x += each;",
            "const auto& kept = kith::async([] { return std::vector<int>(3); }).get(); x = kept[0];")
FLAGS = ["-std=c++20", "-Iinclude", "-Wall", "-Wextra", "-Werror"]
ERROR = re.compile(r"\berror: (.*)$", re.M)
PLACE = re.compile(r"^(?:In file included from )?case_(\d+):\d+:")
CALLED = re.compile(r"\b(?:required from here|requested here)\b")


def cases():
    found = []
    for block in CASES.read_text().split("\n== ")[1:]:
        title, *lines = block.strip().splitlines()
        fields = {"says": [], "wrong": [], "right": []}
        for line in filter(None, lines):
            kind, text = line.split(": ", 1)
            fields["says" if kind == "and" else kind].append(text)
        if not all(fields.values()):
            sys.exit(f"{CASES}: '{title}' lacks one of says, wrong and right")
        found.append((title, fields["says"], fields["wrong"][0], fields["right"][0]))
    return found


class Compiler:
    """Compiles cases with the headers compiled only once."""

    def __init__(self, command, work):
        self.command, self.work = command, pathlib.Path(work)
        self.is_clang = "clang" in subprocess.run([command, "--version"], capture_output=True, text=True).stdout
        header = self.work / "all.hpp"
        header.write_text("#include <kith/activity.hpp>\n#include <kith/collectives.hpp>\n#include <kith/data_flow.hpp>\n#include <kith/kith.hpp>\n#include <kith/parallel_sort.hpp>\n#include <kith/places.hpp>\n#include <memory>\n"
                          "#include <set>\n#include <span>\n#include <string>\n#include <vector>\n")
        made = str(header) + (".pch" if self.is_clang else ".gch")
        subprocess.run([command, *FLAGS, "-x", "c++-header", str(header), "-o", made], check=True)
        self.header = ["-include-pch", made] if self.is_clang else ["-include", str(header)]

    def compile(self, name, text, *options):
        source = self.work / f"{name}.cpp"
        source.write_text(text)
        return subprocess.run([self.command, *FLAGS, *options, "-fsyntax-only", *self.header, str(source)],
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})

    def errors(self, name, text):
        done = self.compile(name, text)
        found = ERROR.findall(done.stderr)
        return found if found or done.returncode == 0 else [done.stderr]

    def first_errors(self, calls):
        """The first error of each call, by number, where the output names the call; the calls are compiled at once."""
        text = "".join(f'#line 1 "case_{i}"\n' + (FUNCTION % (f"wrong_{i}", c)).lstrip() for i, c in enumerate(calls))
        limit = "-ferror-limit=0" if self.is_clang else "-fmax-errors=0"
        found, error, called_by = {}, None, None
        for line in [*self.compile("wrong", text, limit, "-ftemplate-backtrace-limit=0").stderr.splitlines(), "error: "]:
            place, is_error = PLACE.match(line), ERROR.search(line)
            if is_error:
                if self.is_clang and error is not None and called_by is not None:
                    found.setdefault(called_by, error)
                if self.is_clang:  # its callers follow
                    error, called_by = is_error[1], int(place[1]) if place else None
                else:  # its callers have come before
                    number = int(place[1]) if place else called_by
                    if number is not None:
                        found.setdefault(number, is_error[1])
                    called_by = None
            elif place and CALLED.search(line):
                called_by = int(place[1])
        return found


def faults_of(compiler, all_cases):
    first = compiler.first_errors([wrong for _, _, wrong, _ in all_cases])
    as_expected = {i for i, (_, says, _, _) in enumerate(all_cases) if i in first and all(s in first[i] for s in says)}

    def fault(number):
        if number in as_expected:
            return None
        title, says, wrong, _ = all_cases[number]
        errors = compiler.errors(f"wrong_{number}", FUNCTION % ("wrong", wrong))
        if not errors:
            return f"{compiler.command}: '{title}' compiles: {wrong}"
        missing = [s for s in says if s not in errors[0]]
        return f"{compiler.command}: '{title}': expected {missing}, got\n  {errors[0]}" if missing else None

    def fault_of_right_ones():
        errors = compiler.errors("right", "".join(FUNCTION % (f"right_{i}", c[3]) for i, c in enumerate(all_cases)))
        return f"{compiler.command}: what is right does not compile: {errors[0]}" if errors else None

    def fault_of_dangling(call):
        errors = compiler.errors("dangling", FUNCTION % ("dangling", call)) or ["it compiles"]
        return None if "will be destroyed" in errors[0] else f"{compiler.command}: {call}: expected a warning, got\n  {errors[0]}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        right = pool.submit(fault_of_right_ones)
        dangling = [fault_of_dangling(call) for call in DANGLING if compiler.is_clang]
        return [f for f in [*pool.map(fault, range(len(all_cases))), right.result(), *dangling] if f]


def main(compilers):
    all_cases, faults = cases(), []
    for command in compilers:
        with tempfile.TemporaryDirectory() as work:
            faults += faults_of(Compiler(command, work), all_cases)
    print("\n".join(faults))
    print(f"{len(all_cases)} wrong calls, {len(compilers)} compilers, {len(faults)} faults")
    return bool(faults)


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main(sys.argv[1:]))
