"""The verdict: the bound of the run, its largest loss with a remedy, and whether locality matters. Three sentences."""

import numpy as np

from kith.errors import printable
from kith.report.facts import Facts
from kith.units import percent, rounded, seconds

NEAR_THE_SPAN = 0.8  # a run that took no longer than its span divided by this is bound by its critical path
BUSY = 0.85
LONELY = 0.5  # one task that takes more of the span than this, and
FAR = 10.0  # more than this many times the median of its type, makes the graph narrow
LITTLE, MUCH = 0.02, 0.1  # of the simulated time: what local data saves is chance below the one, and matters from the other on
_OVERHEAD = ("scheduling", "creating", "partitioning")


def verdict(f: Facts, replayed):
    """The three sentences, as plain text."""
    return [bound(f), largest_loss(f), locality(f, replayed)]


def bound(f):
    if f.graph.total_s <= 0 or f.makespan_s <= 0:
        return "Nothing ran in this recording, so nothing bounds it."
    if f.only_declared:
        return (f"Nothing is known of what bounds this dry run, whose tasks only declared {seconds(f.graph.total_s)} of work, "
                f"with a critical path of {seconds(f.graph.span_s)} and so work for {rounded(f.graph.parallelism)} workers in "
                "the mean: simulate it (kith sim -o).")
    span, working = f.graph.span_s / f.makespan_s, f.shares["working"]
    width = rounded(f.graph.parallelism)
    cores = f"{f.workers} worker{'s' if f.workers != 1 else ''}"
    if span >= NEAR_THE_SPAN and working < BUSY:
        return (f"The critical path bounds this run: {seconds(f.graph.span_s)} of its {seconds(f.makespan_s)} are one "
                f"chain of tasks. The graph has work for {width} workers in the mean, and more find nothing to do.")
    if working >= BUSY:
        return (f"Work bounds this run: {cores} spent {percent(working)} of their time in tasks, and the graph has work "
                f"for {width} in the mean, so " + ("more cores would help." if f.graph.parallelism > 1.5 * f.workers
                                                 else "more cores alone would help little."))
    idle, overhead = f.shares["idle"], sum(f.shares[state] for state in _OVERHEAD)
    if idle >= overhead and untaken(f):
        return (f"Ready tasks that no worker took bound this run: {cores} were idle {percent(idle)} of the time, and "
                f"{percent(f.idle_beside_ready_s / f.seconds.idle.sum())} of that while tasks were ready; tasks took {percent(working)}.")
    if idle >= overhead:
        why = (f"the graph has work for only {width} workers in the mean" if f.graph.parallelism < f.workers else
               f"although the graph has work for {width} in the mean")
        return (f"A lack of ready tasks bounds this run: {cores} were idle {percent(idle)} of the time, "
                f"{why}; tasks took {percent(working)}.")
    return (f"The cost of tasks bounds this run: {cores} spent {percent(overhead)} of their time creating and scheduling "
            f"tasks, and {percent(working)} in them.")


def untaken(f):
    """Whether most idle time passed beside ready tasks: then the graph is not the reason that workers are idle."""
    return f.idle_beside_ready_s > 0.5 * f.seconds.idle.sum()


def losses(f):
    """[(name, worker-seconds, remedy)], the largest first."""
    s, workers = f.seconds.sum(), max(1, f.workers)
    ran = f.recording.tasks.ran.to_numpy()
    mean = f.graph.work_s[ran].mean() if ran.any() else 0.0  # of a simulated run, the simulated time
    if untaken(f):
        idle = ("tasks were ready meanwhile, and no idle worker took them; compare other policies (KITH_POLICY), or give tasks "
                f"more work (kith why FILE {longest_wait(f)}: why the one that waited longest was not taken)")
    elif f.graph.parallelism < workers:
        idle = (f"the graph is too narrow for {workers} workers (it has work for {rounded(f.graph.parallelism)})" +
                (one_long_task(f) or ": split the tasks on the critical path, or remove dependences between them"))
    elif s.creating > 0.25 * f.makespan_s:
        idle = "few workers create all tasks: let tasks create tasks, or make them larger"
    else:
        idle = "tasks wait for each other although others could run: create those on the critical path first, or raise " \
               "their priority"
    remedies = {"scheduling": f"tasks are short ({seconds(mean)} in the mean): larger blocks, or an earlier cut-off",
                "creating": "create fewer and larger tasks, or create them in parallel",
                "partitioning": "smaller windows, or a policy that does not partition"}
    # The cost of tasks is one loss, as in bound().
    found = [("idle workers", s.idle, idle),
             ("creating and scheduling tasks", sum(s[state] for state in _OVERHEAD), remedies[max(_OVERHEAD, key=lambda state: s[state])]),
             ("exploring the graph", s.exploring, "name predecessors faster, or keep the graph between runs")]
    if f.inflation and f.inflation[0] > 0:
        found.append(("tasks that take longer here", f.inflation[0],
                      "place tasks near their data (policies dep, numa, auto), or use smaller blocks"))
    return sorted(found, key=lambda x: -x[1])


def longest_wait(f):
    """The number of the task that was ready for the longest time before it began."""
    t = f.recording.tasks
    return int(f.recording.numbers[np.nanargmax((t.started_s - t.ready_s).where(t.ran & ~t.fence))])


def one_long_task(f):
    """The advice for one task that is most of the critical path and far longer than others of its type; else None."""
    work, tasks = f.graph.work_s, f.recording.tasks
    on_path = np.flatnonzero(f.graph.critical_tasks)
    if not len(on_path):
        return None
    longest = int(on_path[np.argmax(work[on_path])])
    of_type = work[(tasks.type == tasks.type.iloc[longest]).to_numpy() & tasks.ran.to_numpy()]
    median = np.median(of_type) if len(of_type) else 0.0
    if median <= 0 or work[longest] < LONELY * f.graph.span_s or work[longest] < FAR * median:
        return None
    name = printable(f.type_name(tasks.type.iloc[longest]), 80)
    return (f", as task {int(f.recording.numbers[longest])} of type {name} alone is {percent(work[longest] / f.graph.span_s)} "
            f"of the critical path, and took {rounded(work[longest] / median)} times the median of its type: record again to see "
            "whether it was disturbed, else split it")


def largest_loss(f):
    if f.only_declared:
        return "A dry run has no losses."
    name, lost, remedy = losses(f)[0]
    total = f.makespan_s * max(1, f.workers)
    if total <= 0 or lost / total < 0.01:
        return "No loss is larger than 1\u202f% of the workers' time."
    return f"The largest loss is {name}, {percent(lost / total)} of the workers' time ({seconds(lost)}): {remedy}."


def locality(f, replayed):
    nodes, known = f.recording.machine["nodes"], "gain" in replayed
    gain = replayed.get("gain", 0.0)
    far = f"{percent(f.remote_share)} of the bytes came from other nodes"
    if nodes < 2:
        where = "Locality between memory nodes cannot matter in this run, which had one node"
    elif not f.knows_homes:
        where = "Whether locality matters is not known, because the recording does not say where data was"
    elif gain >= LITTLE:
        where = f"Locality matters {'here' if gain >= MUCH else 'a little'}: {far}"
    elif f.remote_share < 0.05:
        where = f"Locality is good here: {far}"
    elif known:
        where = f"Locality gives nothing to gain here, although {far}"
    else:
        where = f"Whether locality matters is not known: {far}"
    if not known:
        return f"{where}; {replayed['why']}."
    on = "that machine" if replayed["own_machine"] and nodes > 1 else replayed["machine"]
    on += f" ({replayed['why_there']})" if replayed["why_there"] else ""
    what = "what follows the program's last mark" if len(f.recording.marks) else "the program"
    saved = f"take at most {percent(gain)} less time" if gain >= LITTLE else f"gain less than {percent(LITTLE)}"
    return (f"{where}; simulated on {on} under {replayed['policy']}, {what} would {saved} if all its data were local "
            f"({seconds(replayed['local_seconds'])} instead of {seconds(replayed['seconds'])}).")
