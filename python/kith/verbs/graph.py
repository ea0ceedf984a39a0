"""kith graph: work, span, critical path and problems of a recording's task graph."""

import json

from kith.verbs import _filters

SUMMARY = "work, span, critical path and problems of a recorded run's task graph"


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", help="the recording")
    parser.add_argument("--reference", metavar="FILE", help="another run of the program, for work deviation")
    parser.add_argument("--thresholds", metavar="FILE.toml", help="limits of problems, instead of the package's")
    _filters.add_counters(parser)
    _filters.add_arguments(parser)
    parser.add_argument("--tree", action="store_true", help="the tree of groups of tasks, opened where most time is")
    parser.add_argument("--open", metavar="NODE", help="with --tree: from this node on, such as 1.3 (--tree prints their numbers)")
    parser.add_argument("--rows", metavar="N", help="with --tree: at most N nodes (40)")
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(options):
    from kith.errors import KithError
    from kith.metrics import Analysis
    from kith.progress import Progress
    from kith.recording import read

    if (options.open or options.rows) and not options.tree:
        raise KithError("--open and --rows are of --tree; add it")
    progress = Progress()
    recording = _filters.read(options, options.file, progress)
    reference = read(options.reference, progress) if options.reference else None
    analysis = _filters.chosen(Analysis(recording, reference, progress), options)
    if options.tree:
        found = tree(analysis, options.thresholds, options.open or "", options.rows)
    else:
        found = summary(analysis, options.thresholds)
    progress.clear()
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(tree_text(found) if options.tree else text(found))


def summary(analysis, thresholds=None):
    """What --json prints. Span, edges, depth and critical path are of the whole graph; of a Selection, tasks, work, and
    problems are those of its tasks, and "selected" has the first of these."""
    from kith import problems
    from kith.graph import critical_path
    from kith.lineage import depths

    whole, graph = analysis.whole, analysis.whole.graph
    names = whole.recording.types.name
    type_ = whole.recording.tasks.type.to_numpy()
    found = problems.tasks_by_problem(analysis, problems.thresholds(thresholds))
    made = {"tasks": len(analysis.recording.tasks), "edges": len(graph.edges), "work_s": analysis.graph.total_s,
            "span_s": graph.span_s, "parallelism": graph.parallelism, "makespan_s": analysis.recording.makespan_s, "dry": analysis.recording.only_declared,
            "depth": int(graph.longest.depth.max(initial=0)), "levels_of_creation": int(depths(whole.recording.tasks).max(initial=0)),
            "critical_path": [{"task": task, "name": str(names[type_[task]]), "seconds": seconds}
                              for task, seconds in critical_path(graph)],
            "problems": {p.name: int(which.sum()) for p, which in found.items()},
            "problem_sentences": [problems.sentence(p, which, analysis.graph.critical_tasks) for p, which in found.items()],
            "notes": [*analysis.notes, *_of_reference(whole)]}
    return made | ({"selected": _selected(analysis)} if whole is not analysis else {})


def _of_reference(whole):
    from kith import lineage
    from kith.units import percent

    if whole.reference is None:
        return []
    same = lineage.in_common(whole.recording.tasks, whole.reference.recording.tasks)
    return [] if same >= lineage.LEAST_IN_COMMON else [
        f"only {percent(same)} of the tasks are in both runs: the reference looks like a run of another program, and work deviation "
        "is known of those tasks alone"]


def _selected(analysis, most=1000):
    """The first tasks of a Selection; by --top's metric, the greatest first, with its values."""
    import numpy as np

    from kith.conditions import column_of
    from kith.lineage import paths

    tasks, numbers = analysis.recording.tasks, analysis.recording.numbers
    by = analysis.ordered_by
    values = np.asarray(analysis.part(column_of(analysis.whole)(by)), float) if by else np.zeros(len(tasks))
    rows = np.argsort(-values, kind="stable")[:most].tolist()
    found = []
    for i, name in zip(rows, paths(analysis.whole.recording.tasks, analysis.rows[rows].tolist())):
        found.append({"task": int(numbers[i]), "name": str(tasks["name"].iloc[i]), "lineage": name,
                      "worker": int(tasks.worker.iloc[i]), "work_s": float(analysis.graph.work_s[i])})
        if by:
            found[-1][by] = float(values[i])
    return found


def tree(analysis, thresholds, path, rows):
    """What --tree --json prints: {"path", "nodes": [...]}, each node with its number ("node", as --open takes it), the
    "level" below the first one, "more" (whether it can be opened further) and what Tree.described() says."""
    from kith import problems
    from kith.errors import KithError, printable
    from kith.graph.tree import Tree, at_path, opened

    rows = rows or "40"
    if not (rows.isascii() and rows.isdigit() and len(rows) < 8 and 0 < int(rows) <= 1_000_000):
        raise KithError(f"--rows '{printable(rows, 40)}'; expected a number from 1 to 1000000")
    found = problems.tasks_by_problem(analysis, problems.thresholds(thresholds))
    made = Tree(analysis, {p.name: which for p, which in found.items()})
    nodes, parents, more = opened(made, int(rows), at_path(made, path))
    below = {}
    for i, parent in enumerate(parents):
        below.setdefault(parent, []).append(i)
    lineages = made.lineages(nodes)
    lines, waiting = [], [(0, path.strip("."), 0)]
    while waiting:
        i, number, level = waiting.pop()
        lines.append({"node": number, "level": level, "more": more[i], "lineage": lineages[i], **made.described(nodes[i])})
        for k, child in reversed(list(enumerate(below.get(i, []), 1))):
            waiting.append((child, f"{number}.{k}" if number else str(k), level + 1))
    return {"path": path, "nodes": lines}


def tree_text(found):
    from kith.errors import printable
    from kith.units import percent, seconds

    whole = found["nodes"][0]["total_s"] if found["nodes"] else 0.0
    lines = [f"{'node':<12} {'tasks':>9} {'time':>9} {'share':>7}  of which"]
    for n in found["nodes"]:
        worst = max(n["marks"].items(), key=lambda m: m[1][1], default=None)
        said = f"; {percent(worst[1][1])} of its time: {printable(worst[0], 60)}" if worst else ""
        lines.append(f"{n['node'] or '-':<12} {n['tasks']:>9} {seconds(n['total_s']):>9} {percent(n['total_s'] / whole) if whole else '-':>7}  "
                     f"{'  ' * min(n['level'], 30)}{'+ ' if n['more'] else ''}{printable(n['label'], 60)}"
                     f"{' (median ' + seconds(n['median_s']) + ')' if n['members'] > 1 else ''}{', critical' if n['critical'] else ''}{said}")
    return "\n".join([*lines, "", "+ can be opened: kith graph FILE --tree --open NODE"])


def _more(task):
    from kith.metrics import METRICS
    from kith.units import rounded, seconds, size

    known = ("task", "name", "lineage", "worker", "work_s")
    show = {m.name: {"s": seconds, "bytes": size}.get(m.unit, rounded) for m in METRICS}
    return "".join(f"  {name} {show.get(name, rounded)(value)}" for name, value in task.items() if name not in known)


def text(found):
    from kith.errors import printable
    from kith.units import percent, rounded, seconds

    path = found["critical_path"]
    by_name = {}
    for step in path:
        count, spent = by_name.get(step["name"], (0, 0.0))
        by_name[step["name"]] = (count + 1, spent + step["seconds"])
    whole = " of the whole run" if "selected" in found else ""
    lines = [f"tasks         {found['tasks']}", f"work          {seconds(found['work_s'])}", f"edges         {found['edges']}{whole}",
             f"span          {seconds(found['span_s'])}{whole}", f"parallelism   {rounded(found['parallelism'])}{whole}",
             f"depth         {found['depth']} nodes{whole}",
             f"the run took  {'not known: the recording is dry' if found['dry'] else seconds(found['makespan_s'])}", "",
             f"critical path{whole}: {len(path)} steps"]
    for name, (count, spent) in sorted(by_name.items(), key=lambda x: -x[1][1])[:10]:
        lines.append(f"  {percent(spent / found['span_s']):>7}  {printable(name, 60)} ({count}, {seconds(spent)})")
    if "selected" in found:
        lines += ["", "tasks:"] + [f"  {t['task']:>9}  {seconds(t['work_s']):>9}  {printable(t['name'], 40)}  {t['lineage']}" + _more(t)
                                   for t in found["selected"][:20]]
        lines += [f"  and {found['tasks'] - 20} more"] if found["tasks"] > 20 else []
    lines += ["", "problems:"] + ["  " + printable(s, 300) for s, count in zip(found["problem_sentences"], found["problems"].values()) if count]
    if none := [name for name, count in found["problems"].items() if not count]:
        lines.append("  no task has a problem with " + printable(", ".join(none), 600))
    return "\n".join(lines + [f"note: {n}" for n in found["notes"]])
