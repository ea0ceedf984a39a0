"""What the tests of places share: checks that are counted, and an environment without the caller's settings."""
import os

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("KITH_", "SLURM_", "OMPI_", "PMI_"))}
# Lets Open MPI run as root, with more processes than there are cores.
ALLOW = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
         "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")
