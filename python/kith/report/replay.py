"""The most that locality can give: the recording simulated as it is, and with all data local (`kith sim`)."""

import json
import os
import shutil
import subprocess

from kith.errors import KithError, printable

MOST_TASKS = 3_000_000
SECONDS = 20
DEFAULT_MACHINE = "bullion-s16-8"


def replay(recording, tool=None, machine=None):
    """{"machine", "policy", "seconds", "local_seconds", "gain", "own_machine", "why_there"}: the simulated times with the
    model's memory, and with neither remote latency nor contention, as if all data were local and memory had unlimited
    bandwidth. `gain` is the share of the first that the second saves: a bound on the gain of a better placement; below 0 if
    the policy happens to do worse with local data. The machine is `machine` (a name or a file), else the recording's, else
    the default, and `why_there` says why it is not the recording's. Or {"why": text} where there is no replay. Raises
    KithError if `machine` is given and the simulation does not take it."""
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
    recorded = recording.meta.get("machine", "")
    own = machine is None and recorded in known
    where = machine or (recorded if own else DEFAULT_MACHINE)
    why_there = ("as --machine asks" if machine else "" if own else
                 f"as '{printable(recorded, 60)}' is none of `kith machines`" if recorded else "as the recording names no machine")
    policy = recording.policy if recording.policy and not recording.policy.startswith("replay") else "auto"
    times = []
    for left_out in (None, "latency,contention"):
        words = ["sim", "--machine=" + where, "--policy=" + policy, "--json"]
        if left_out:
            words += ["--without", left_out]
        done = None
        try:
            done = _run(tool, *words, "--", recording.path)
            times.append(float(json.loads(done.stdout)[0]["makespan_s"]))
        except subprocess.TimeoutExpired:
            return {"why": f"the replay took longer than {SECONDS} s, and was left out"}
        except (ValueError, KeyError, IndexError, TypeError, OSError) as e:
            if machine:
                raise KithError(f"--machine '{printable(machine)}': " + _said(done.stdout if done else "")) from e
            return {"why": "the recording cannot be replayed (kith sim says why)"}
    return {"machine": printable(os.path.basename(where), 60), "policy": policy, "seconds": times[0], "local_seconds": times[1],
            "gain": 1 - times[1] / times[0] if times[0] > 0 else 0.0, "own_machine": own, "why_there": why_there}


def _said(output):
    """The message of an error of the tool, as JSON."""
    try:
        return printable(json.loads(output)["error"]["message"], 600)
    except (ValueError, KeyError, TypeError):
        return "the recording cannot be simulated on it (kith sim says why)"


def _run(tool, *words):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KITH_")}
    machines = os.environ.get("KITH_MACHINES")
    if machines:
        clean["KITH_MACHINES"] = machines
    return subprocess.run([tool, *words], capture_output=True, text=True, timeout=SECONDS, check=False, env=clean)
