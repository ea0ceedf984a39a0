"""The processes of a job: those of its program below the launcher."""
import os
import pathlib
import re


def environment_of(number):
    words = pathlib.Path(f"/proc/{number}/environ").read_bytes().decode(errors="replace").split("\0")
    return dict(w.split("=", 1) for w in words if "=" in w)


def place_of(number):
    """The place that a process is, as its MPI's launcher says; none if it has ended."""
    try:
        variables = environment_of(number)
    except OSError:
        return None
    return next((int(variables[v]) for v in ("PMIX_RANK", "PMI_RANK") if v in variables), None)


def runs(number, program):
    try:
        return os.readlink(f"/proc/{number}/exe") == program
    except OSError:  # it has ended
        return False


def is_below(process, launcher):
    try:
        while process.name not in ("0", "1"):
            if int(process.name) == launcher:
                return True
            process = process.parent / re.search(r"PPid:\t(\d+)", (process / "status").read_text()).group(1)
    except OSError:
        pass
    return False


def processes_of(launcher, program):
    return [int(p.name) for p in pathlib.Path("/proc").iterdir()
            if p.name.isdigit() and runs(p.name, program) and is_below(p, launcher)]
