"""kith report: a page about a recorded run."""

from kith.verbs import _filters

SUMMARY = "a page about a recorded run: what bounds it, where the time went, and where the data was"


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", nargs="+", help="the recording; others are compared with it, and the first of them is the reference for work deviation")
    parser.add_argument("-o", "--output", metavar="FILE.html", required=True, help="the page to write")
    parser.add_argument("--thresholds", metavar="FILE.toml", help="limits of problems, instead of the package's")
    parser.add_argument("--title", metavar="TEXT", help="the page's title (the file's name)")
    _filters.add_counters(parser)
    _filters.add_arguments(parser)
    parser.add_argument("--machine", metavar="MACHINE|FILE", help="where the run is simulated with all data local, one of `kith "
                        "machines` or a file (the recording's; if it is none of them, bullion-s16-8)")
    parser.add_argument("--no-replay", action="store_true", help="do not simulate the run with all data local")


def run(options):
    import os

    from kith.errors import KithError, printable
    from kith.metrics import Analysis
    from kith.output import file_folder
    from kith.progress import Progress
    from kith.recording import read
    from kith.report import write_report
    from kith.units import size

    if options.machine is not None and options.no_replay:
        raise KithError("--machine is where the run is simulated, and --no-replay simulates nothing; leave out one of them")
    for name in options.file:
        if os.path.exists(name) and os.path.exists(options.output) and os.path.samefile(name, options.output):
            raise KithError(f"--output '{printable(options.output)}' is the recording; expected another file")
    file_folder(options.output)
    progress = Progress()
    others = [Analysis(read(name, progress), progress=progress) for name in options.file[1:]]
    analysis = Analysis(_filters.read(options, options.file[0], progress), others[0] if others else None, progress)
    selection = _filters.chosen(analysis, options)
    letters = write_report(analysis, options.output, others, options.title, options.thresholds, options.tool,
                           not options.no_replay, selection, options.machine)
    progress.clear()
    print(f"{printable(options.output)}: {size(letters)}, open it in a browser")
    for note in selection.notes:
        print("note: " + note)
