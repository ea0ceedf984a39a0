"""The options of verbs about the tasks of a recording: filters (kith.select), and counts of another run (kith.joined)."""


def add_arguments(parser):
    """The options of a verb that can be filtered."""
    parser.add_argument("--where", metavar="CONDITION", help="only tasks of which this holds, such as 'depth > 0 and work > 1e-6'; "
                        "of use are name, worker, depth, work (seconds), footprint (bytes) and on_critical_path; docs/report.md has all")
    parser.add_argument("--below", metavar="TASK", help="only this task and those below it: its number, gemm:12 (the 13th of its type), or its lineage, such as R-0-3")
    parser.add_argument("--top", metavar="K:METRIC", help="only the K tasks with the greatest values of a metric, such as 100:work")


def add_counters(parser):
    parser.add_argument("--counters", metavar="FILE", help="a run of the same program with counters, where FILE has none (as if "
                        "it has addresses): tasks are found by lineage")


def read(options, path, progress):
    """The recording `path`, with the counts of --counters."""
    from kith.joined import with_counts
    from kith.recording import read as read_file

    recording = read_file(path, progress)
    return with_counts(recording, read_file(options.counters, progress)) if options.counters else recording


def chosen(analysis, options):
    """The Analysis of the tasks that the options choose: `analysis` itself without any."""
    from kith.select import select

    return select(analysis, options.where, options.below, options.top)
