"""The options that choose tasks, of the verbs that have them; kith.select does the work."""


def add_arguments(parser):
    """The options of a verb that can be filtered."""
    parser.add_argument("--where", metavar="CONDITION", help="only tasks of which this holds, such as 'work_s > 0.001'")
    parser.add_argument("--below", metavar="TASK", help="only this task and those below it: its number, or its lineage, such as R-0-3")
    parser.add_argument("--top", metavar="K:METRIC", help="only the K tasks with the greatest values of a metric, such as 100:remote_bytes")


def chosen(analysis, options):
    """The Analysis of the tasks that the options choose: `analysis` itself without any."""
    from kith.select import select

    return select(analysis, options.where, options.below, options.top)
