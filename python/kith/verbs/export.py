"""kith export: a recording in the format of another tool."""

from kith.export import FORMATS
from kith.verbs import _filters

SUMMARY = "write a recording in the format of another tool"


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", help="the recording")
    parser.add_argument("--to", metavar="FORMAT", required=True, help=", ".join(f.name for f in FORMATS))
    parser.add_argument("-o", "--output", metavar="FILE|FOLDER", required=True,
                        help="what to write; a folder for csv, parquet, otf2 and paraver")
    _filters.add_counters(parser)
    _filters.add_arguments(parser)


def run(options):
    from kith.errors import printable
    from kith.export import export, format_named, need
    from kith.metrics import Analysis
    from kith.output import file_folder, folder_of
    from kith.progress import Progress

    chosen = format_named(options.to)
    if chosen.package:
        need(chosen.package, options.to)  # before the recording is read
    (folder_of if chosen.folder else file_folder)(options.output)
    progress = Progress()
    analysis = Analysis(_filters.read(options, options.file, progress), progress=progress)
    progress(f"writing {chosen.name}")
    analysis = _filters.chosen(analysis, options)
    export(analysis, options.to, options.output)
    progress.clear()
    print(f"{printable(options.output)}: {chosen.what}")
    for note in analysis.recording.remarks:
        print("note: " + note)
