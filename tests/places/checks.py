"""What the tests of places share: checks that are counted, and an environment without the caller's settings."""
import os

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("KITH_", "SLURM_", "OMPI_", "PMI_"))}
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")
