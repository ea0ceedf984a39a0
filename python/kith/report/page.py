"""Puts the sections together into one page that loads no other file and makes no network request."""

import base64
import hashlib
import json
import os
import tempfile

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kith.errors import printable
from kith.output import file_folder
from kith.report import replay
from kith.report.facts import Facts
from kith.report.sections import (changes, critical, graph, locality, machine, memory, messages, parallelism, provenance,
                                  time, timeline, types)
from kith.report.verdict import verdict
from kith.units import count, percent, rounded, seconds

OF_TASKS = ("types", "locality", "graph")  # the sections that a selection of tasks is about
# In the order of the page: name (of the template and the anchor), heading, module.
SECTIONS = (("machine", "Machine and binding", machine), ("time", "Where the time went", time),
            ("timeline", "Timeline", timeline), ("parallelism", "Parallelism over time", parallelism),
            ("critical", "The critical path", critical), ("types", "Task types", types), ("locality", "Locality", locality),
            ("graph", "The graph and its problems", graph), ("memory", "Memory", memory), ("messages", "Messages", messages),
            ("provenance", "Provenance", provenance))


def write_report(analysis, output, others=(), title=None, thresholds=None, tool=None, replayed=True,
                 selection=None, machine=None):
    """Writes the page about `analysis` as `output`, compared with each Analysis of `others`. `tool` is the kith program for
    the replay, `machine` where it is replayed, instead of the recording's. Sections about tasks are about those of
    `selection` (kith.select), if there is one. The old file stays if anything fails. Raises KithError."""
    text = page(analysis, others, title, thresholds, tool, replayed, selection, machine)
    handle, part = tempfile.mkstemp(dir=file_folder(output), prefix=".kith-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as f:
            f.write(text)
        os.chmod(part, 0o644)
        os.replace(part, output)
    except BaseException:
        os.unlink(part)
        raise
    return len(text)


def page(analysis, others=(), title=None, thresholds=None, tool=None, replayed=True, selection=None, machine=None):
    """The page as text."""
    f = Facts(analysis, thresholds)
    chosen = f if selection is None or selection is analysis else f.restricted_to(selection)
    shown, data = [], {}
    for name, heading, module in SECTIONS:
        f.progress(f"section {name}")
        values = module.values(chosen if name in OF_TASKS else f)
        shown.append((name, heading, values))
        if values and "data" in values:
            data[name] = values.pop("data")
    f.progress("replaying with all data local")
    bound = replay.replay(f.recording, tool, machine) if replayed else {"why": "locality was not replayed, as asked"}
    environment = Environment(loader=PackageLoader("kith.report"), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters["t"] = printable
    read = environment.loader.get_source
    tree, script, style = (read(environment, n)[0] for n in ("tree.js", "report.js", "style.css"))
    script = tree + script
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("page.html").render(
        title=printable(title or os.path.basename(f.recording.path), 120), style=Markup(style), script=Markup(script),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
               "form-action 'none'",
        data=_embedded(data), verdict=verdict(f, bound), cards=_cards(f), sections=shown,
        changes=[changes.values(f, Facts(other, thresholds)) for other in others],
        nothing=[heading for _, heading, values in shown if not values],
        chosen=None if chosen is f else _chosen(f, chosen),
        simulated=f.recording.engine == "sim", dry=f.only_declared, run_policy=printable(f.recording.policy),
        date="" if f.recording.date is None else str(f.recording.date)[:10], machine_name=printable(f.recording.machine["name"]))


def _chosen(f, part):
    return {"what": printable(part.analysis.described, 400), "tasks": count(len(part.recording.tasks)),
            "of": count(len(f.recording.tasks)), "work": percent(part.graph.total_s / f.graph.total_s) if f.graph.total_s > 0 else "-",
            "notes": [printable(n, 400) for n in part.analysis.notes if n not in f.analysis.notes],
            "sections": [(name, heading) for name, heading, _ in SECTIONS if name in OF_TASKS]}


def _embedded(data):
    """JSON for a script element of a page: escaped so that it cannot end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
                  .replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _cards(f):
    cards = [("run", "-" if f.only_declared else seconds(f.makespan_s), "from the first creation to the last end"),
             ("tasks", count(f.recording.tasks.ran.sum()), f"of {len(f.type_order)} type{'s' if len(f.type_order) != 1 else ''}"),
             ("work", seconds(f.graph.total_s), "time of the tasks' own code"),
             ("span", seconds(f.graph.span_s), "of the longest chain"),
             ("parallelism", rounded(f.graph.parallelism), f"work over span; {f.workers} worker{'s' if f.workers != 1 else ''}"),
             ("busy", "-" if f.only_declared else percent(f.shares["working"]), "of the workers' time in tasks")]
    if f.recording.machine["nodes"] > 1 and f.knows_homes:
        cards.append(("remote", percent(f.remote_share), "of bytes from other nodes"))
    return cards
