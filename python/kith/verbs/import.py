"""kith import: a recording of another tool's file."""

SUMMARY = "make a recording of another tool's file"


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", help="what to read")
    from kith.importing import FORMATS

    parser.add_argument("--from", dest="format", metavar="FORMAT", required=True, help="its format: " + ", ".join(FORMATS))
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the recording to write, which replaces an older one, but no other file")


def run(options):
    import os

    from kith.errors import KithError, printable
    from kith.file import refuse_to_replace
    from kith.importing import FORMATS
    from kith.output import file_folder
    from kith.writer import write

    if options.format not in FORMATS:
        raise KithError(f"--from '{printable(options.format, 40)}'; expected one of: {', '.join(FORMATS)}")
    out = options.output
    file_folder(out)
    if os.path.exists(out) and os.path.exists(options.file) and os.path.samefile(out, options.file):
        raise KithError(f"--output '{printable(out)}' is the file to read; expected another name")
    refuse_to_replace(out)
    meta, tables, notes = FORMATS[options.format](options.file)
    write(out, meta, tables)
    print(f"{printable(out)}: {len(tables['task']) - 1} tasks, {len(tables['dependence'])} dependences")
    for note in notes:
        print("note: " + note)
