"""kith graph: work, span, critical path and problems of a recording's task graph."""

import json

SUMMARY = "work, span, critical path and problems of a recorded run's task graph"


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", help="the recording")
    parser.add_argument("--reference", metavar="FILE", help="another run of the program, for work deviation")
    parser.add_argument("--thresholds", metavar="FILE.toml", help="limits of problems, instead of the package's")
    parser.add_argument("--where", metavar="CONDITION", help="only tasks of which this holds, such as 'work_s > 0.001'")
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(options):
    from kith.metrics import Analysis
    from kith.progress import Progress
    from kith.recording import read

    progress = Progress()
    recording = read(options.file, progress)
    reference = read(options.reference, progress) if options.reference else None
    found = summary(Analysis(recording, reference, progress), options.thresholds, options.where)
    progress.clear()
    print(json.dumps(found, indent=1) if options.json else text(found))


def summary(analysis, thresholds=None, where=None):
    """What --json prints. All numbers are of the whole graph, but with `where` those of tasks and problems."""
    import numpy as np

    from kith import problems
    from kith.conditions import Missing, column_of, holds
    from kith.errors import KithError, printable
    from kith.graph import critical_path
    from kith.lineage import depths

    graph, tasks = analysis.graph, analysis.recording.tasks
    wanted = problems.thresholds(thresholds)
    keep = np.ones(len(tasks), bool)
    if where:
        try:
            keep = holds(where, column_of(analysis), len(tasks))
        except Missing as e:
            raise KithError(f"--where '{printable(where)}': no column '{printable(e.args[0])}'; docs/report.md has the "
                            "list") from e
    names = analysis.recording.types.name
    type_ = tasks.type.to_numpy()
    found = problems.find(analysis, wanted)
    return {"tasks": int(keep.sum()), "edges": len(graph.edges), "work_s": float(graph.work_s[keep].sum()),
            "span_s": graph.span_s, "parallelism": graph.parallelism, "makespan_s": analysis.recording.makespan_s,
            "depth": int(graph.longest.depth.max(initial=0)), "levels_of_creation": int(depths(tasks).max(initial=0)),
            "critical_path": [{"task": task, "name": str(names[type_[task]]), "seconds": seconds}
                              for task, seconds in critical_path(graph)],
            "problems": {p.name: int(np.count_nonzero(which & keep)) for p, which in found.items()},
            "problem_sentences": [problems.sentence(p, which & keep, graph.critical_tasks) for p, which in found.items()],
            "notes": analysis.recording.notes + graph.notes}


def text(found):
    from kith.errors import printable
    from kith.units import seconds

    path = found["critical_path"]
    by_name = {}
    for step in path:
        count, spent = by_name.get(step["name"], (0, 0.0))
        by_name[step["name"]] = (count + 1, spent + step["seconds"])
    lines = [f"tasks         {found['tasks']}", f"edges         {found['edges']}",
             f"work          {seconds(found['work_s'])}", f"span          {seconds(found['span_s'])}",
             f"parallelism   {found['parallelism']:.4g}", f"the run took  {seconds(found['makespan_s'])}",
             f"depth         {found['depth']} nodes", "", f"critical path: {len(path)} tasks"]
    for name, (count, spent) in sorted(by_name.items(), key=lambda x: -x[1][1])[:10]:
        lines.append(f"  {spent / found['span_s']:5.1%}  {printable(name, 60)} ({count}, {seconds(spent)})")
    lines += ["", "problems:"] + ["  " + printable(s, 300) for s in found["problem_sentences"]]
    return "\n".join(lines + [f"note: {n}" for n in found["notes"]])
