"""Runs the command line for the tests in this folder, and counts failed checks.

A test is a script that gets the path of the kith program and exits non-zero if a check failed."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")


def rows(recording, query):
    """The rows that an SQL query finds in a recording."""
    with sqlite3.connect(recording) as db:
        return db.execute(query).fetchall()


class Kith:
    def __init__(self):
        if len(sys.argv) != 2:
            sys.exit(f"usage: {sys.argv[0]} PATH_OF_KITH")
        self.path = os.path.abspath(sys.argv[1])
        self.failures = 0
        self.folder = tempfile.TemporaryDirectory()

    def run(self, *arguments, before=(), stdout=subprocess.PIPE, **variables):
        """The finished process. Settings of the caller's environment are removed; only those given here count."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("KITH_", "SLURM_"))}
        return subprocess.run([*before, self.path, *arguments], env=clean | variables, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def json(self, *arguments, **how):
        done = self.run(*arguments, "--json", **how)
        try:
            return done.returncode, json.loads(done.stdout)
        except json.JSONDecodeError as e:
            sys.exit(f"kith {' '.join(arguments)} --json: no JSON ({e}): {done.stdout}{done.stderr}")

    def file(self, name):
        """The path of a file that exists as long as the test."""
        return os.path.join(self.folder.name, name)

    def check(self, holds, what):
        if not holds:
            self.failures += 1
            print(f"FAILED: {what}")

    def refused(self, *arguments, says, **how):
        """Exit code 2, nothing on standard output, and each of `says` on standard error."""
        done = self.run(*arguments, **how)
        name = "kith " + " ".join(arguments)
        self.check(done.returncode == 2, f"{name}: exit code {done.returncode}, expected 2")
        self.check(not done.stdout, f"{name}: wrote to standard output: {done.stdout}")
        for text in says:
            self.check(text in done.stderr, f"{name}: the error does not say '{text}': {done.stderr}")

    def finish(self):
        print("failed" if self.failures else "passed")
        sys.exit(1 if self.failures else 0)
