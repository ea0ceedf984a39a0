"""Recordings in the formats of other tools: each format is a module of this folder and one line of FORMATS.

A module has write(analysis, out), which writes the file, or fills the folder, `out`. docs/export.md says what each
format keeps.
"""

import importlib
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass

from kith.errors import KithError, printable
from kith.output import file_folder, folder_of


@dataclass(frozen=True)
class Format:
    name: str
    folder: bool  # whether it is several files
    package: str  # the Python package that it needs, "" for none; the extra of kith has the format's name
    what: str


FORMATS = (
    Format("perfetto", False, "", "timeline for ui.perfetto.dev: TrackEvent packets in protobuf"),
    Format("paraver", True, "", "timeline for Paraver: .prv, .pcf, .row, and configurations"),
    Format("paje", False, "", "timeline for ViTE and pj_dump"),
    Format("otf2", True, "otf2", "timeline for Vampir, Cube and otf2-print"),
    Format("graphml", False, "", "task graph for networkx, yEd and Gephi"),
    Format("dot", False, "", "task graph for Graphviz; of more than 500 tasks, aggregated"),
    Format("csv", True, "", "each table as a file"),
    Format("parquet", True, "pyarrow", "each table as a file of columns"),
    Format("wfformat", False, "", "task graph and times for WfCommons, WfFormat 1.5"),
)


def format_named(name):
    for f in FORMATS:
        if f.name == name:
            return f
    raise KithError(f"--to '{printable(name, 40)}'; expected one of: {', '.join(f.name for f in FORMATS)}")


def need(package, name):
    """The imported package; KithError that says how to install it for the format `name` where it is missing."""
    try:
        return importlib.import_module(package)
    except ImportError as e:
        raise KithError(f"--to {name} needs the Python package '{package}', which is missing; install it: "
                        f"{sys.executable} -m pip install {package.partition('.')[0]}") from e


def export(analysis, name, out):
    """Writes the Analysis in the format `name` to `out`, which appears, or is replaced, when it is complete. A folder
    must be new or empty. Raises KithError for an unknown format, a missing package, or an `out` that will not do."""
    chosen = format_named(name)
    if chosen.package:
        need(chosen.package, name)
    module = importlib.import_module("kith.export." + name)
    parent, out = (folder_of if chosen.folder else file_folder)(out), os.path.abspath(out)
    if os.path.exists(out) and os.path.samefile(out, analysis.recording.path):
        raise KithError(f"--output '{printable(out)}' is the recording; expected another name")
    if chosen.folder and os.path.exists(out) and (not os.path.isdir(out) or os.listdir(out)):
        raise KithError(f"--output '{printable(out)}' exists; --to {name} writes several files, and expects a new or "
                        "an empty folder")
    work = tempfile.mkdtemp(dir=parent, prefix=".kith-")
    try:
        made = os.path.join(work, "made")
        if chosen.folder:
            os.mkdir(made)
        module.write(analysis, made)
        if os.path.isdir(out):
            os.rmdir(out)
        os.replace(made, out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
