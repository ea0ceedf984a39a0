"""The most that locality can give: the recording simulated as it is, and with all data local (`kith sim`)."""

import json
import os
import shutil
import subprocess

MOST_TASKS = 3_000_000
SECONDS = 20
DEFAULT_MACHINE = "bullion-s16-8"


def replay(recording, tool=None):
    """{"machine", "policy", "seconds", "local_seconds", "gain", "own_machine"}: the simulated times with the model's
    memory, and with neither remote latency nor contention, as if all data were local and memory had unlimited
    bandwidth. `gain` is the share of the first that the second saves: a bound on the gain of a better placement. Or
    {"why": text} where there is no replay."""
    tool = tool or shutil.which("kith")
    if tool is None or not os.access(tool, os.X_OK):
        return {"why": "the kith program is not at hand, so locality was not replayed"}
    if len(recording.tasks) > MOST_TASKS:
        return {"why": f"the run has more than {MOST_TASKS} tasks, so locality was not replayed"}
    if recording.version < 2 or not len(recording.accesses):
        return {"why": "tasks name no data, so locality cannot be replayed"}
    try:
        known = {m["name"] for m in json.loads(_run(tool, "machines", "--json").stdout)}
    except (ValueError, KeyError, TypeError, OSError, subprocess.TimeoutExpired):
        known = set()
    machine = recording.meta.get("machine", "")
    own = machine in known
    machine = machine if own else DEFAULT_MACHINE
    policy = recording.policy if recording.policy and not recording.policy.startswith("replay") else "auto"
    times = []
    for left_out in (None, "latency,contention"):
        words = ["sim", "--machine=" + machine, "--policy=" + policy, "--json"]
        if left_out:
            words += ["--without", left_out]
        try:
            done = _run(tool, *words, "--", recording.path)
            times.append(float(json.loads(done.stdout)[0]["makespan_s"]))
        except subprocess.TimeoutExpired:
            return {"why": f"the replay took longer than {SECONDS} s, and was left out"}
        except (ValueError, KeyError, IndexError, TypeError, OSError):
            return {"why": "the recording cannot be replayed (kith sim says why)"}
    gain = max(0.0, 1 - times[1] / times[0]) if times[0] > 0 else 0.0
    return {"machine": machine, "policy": policy, "seconds": times[0], "local_seconds": times[1], "gain": gain,
            "own_machine": own}


def _run(tool, *words):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KITH_")}
    machines = os.environ.get("KITH_MACHINES")
    if machines:
        clean["KITH_MACHINES"] = machines
    return subprocess.run([tool, *words], capture_output=True, text=True, timeout=SECONDS, check=False, env=clean)
