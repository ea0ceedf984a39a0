"""Paje: a timeline for ViTE and pj_dump. Containers are memory nodes and their workers; a worker's state is its task's
type, or what else it did; links are dependences."""

import numpy as np

from kith.errors import printable
from kith.export.times import WORKING, Timeline, dependences, type_names
from kith.states import STATES

_AT_ONCE = 100_000
_EVENTS = (("PajeDefineContainerType", 0, ("Alias string", "Type string", "Name string")),
           ("PajeDefineStateType", 1, ("Alias string", "Type string", "Name string")),
           ("PajeDefineLinkType", 2, ("Alias string", "Type string", "StartContainerType string", "EndContainerType string", "Name string")),
           ("PajeDefineEntityValue", 3, ("Alias string", "Type string", "Name string", "Color color")),
           ("PajeCreateContainer", 4, ("Time date", "Alias string", "Type string", "Container string", "Name string")),
           ("PajeDestroyContainer", 5, ("Time date", "Type string", "Name string")),
           ("PajeSetState", 6, ("Time date", "Type string", "Container string", "Value string", "Task string")),
           ("PajeStartLink", 7, ("Time date", "Type string", "Container string", "StartContainer string", "Value string", "Key string")),
           ("PajeEndLink", 8, ("Time date", "Type string", "Container string", "EndContainer string", "Value string", "Key string")))
_COLOURS = ("0.27 0.46 0.71", "0.90 0.62 0.00", "0.00 0.62 0.45", "0.80 0.47 0.65", "0.34 0.71 0.91", "0.84 0.37 0.00", "0.94 0.89 0.26",
            "0.55 0.34 0.29")


def quoted(text):
    """A Paje string: it ends at a quotation mark, and has no escapes."""
    return '"' + printable(text, 200).replace('"', "'") + '"'


def write(analysis, out):
    line = Timeline(analysis)
    r = line.recording
    with open(out, "w", encoding="utf-8", errors="backslashreplace") as f:
        for name, number, fields in _EVENTS:
            f.write(f"%EventDef {name} {number}\n" + "".join(f"% {field}\n" for field in fields) + "%EndEventDef\n")
        f.write('0 CP 0 "Program"\n0 CN CP "Node"\n0 CW CN "Worker"\n1 S CW "State"\n2 L CP CW CW "Dependence"\n')
        for i, name in enumerate(type_names(r)):
            f.write(f'3 T{i} S {quoted(name or "(no name)")} "{_COLOURS[i % len(_COLOURS)]}"\n')
        for i, name in enumerate(STATES):
            f.write(f'3 R{i} S "({name})" "{0.9 - 0.1 * i:.1f} {0.9 - 0.1 * i:.1f} {0.9 - 0.1 * i:.1f}"\n')
        f.write(f"4 0.000000000 P CP 0 {quoted(r.path.rsplit('/', 1)[-1])}\n")
        nodes = np.maximum(r.workers.node.to_numpy(), 0)
        f.writelines(f'4 0.000000000 N{n} CN P "node {n}"\n' for n in np.unique(nodes))
        f.writelines(f'4 0.000000000 W{w} CW N{n} "worker {w}"\n' for w, n in enumerate(nodes))
        f.write('3 D L "dependence" "0.5 0.5 0.5"\n')
        _events(f, line)
        end = f"{max(line.end, int(line.ended.max(initial=0))) * 1e-9:.9f}"
        f.writelines(f"5 {end} CW W{w}\n" for w in range(len(nodes)))
        f.writelines(f"5 {end} CN N{n}\n" for n in np.unique(nodes))
        f.write(f"5 {end} CP P\n")


def _events(f, line):
    """States and links in the order of time; a link ends after its start."""
    names = np.array([f"T{i}" for i in range(len(line.recording.types))] + [f"R{i}" for i in range(len(STATES))], object)
    value = names[np.where(line.state == WORKING, line.type, len(line.recording.types) + line.state)]
    before, after, _ = dependences(line.recording)
    first, last = line.first_and_last()
    known = (first[after] >= 0) & (last[before] >= 0)
    source, target = last[before[known]], first[after[known]]
    key = np.arange(len(source))
    sent = line.ended[source]
    got = np.maximum(line.begun[target], sent)
    time = np.concatenate([line.begun, sent, got])
    kind = np.repeat([0, 1, 2], [len(line), len(key), len(key)])
    row = np.concatenate([np.arange(len(line)), key, key])
    order = np.lexsort((kind, time))
    for at in range(0, len(order), _AT_ONCE):
        some = order[at:at + _AT_ONCE]
        lines = np.empty(len(some), object)
        for k in range(3):
            mine = np.flatnonzero(kind[some] == k)
            rows = row[some[mine]]
            seconds = (time[some[mine]] * 1e-9).tolist()
            if k == 0:
                made = [f"6 {t:.9f} S W{w} {v} {n}\n" for t, w, v, n in zip(seconds, line.worker[rows].tolist(), value[rows].tolist(),
                                                                         line.task[rows].tolist())]
            else:
                end = source if k == 1 else target
                made = [f"{6 + k} {t:.9f} L P W{w} D K{n}\n" for t, w, n in zip(seconds, line.worker[end[rows]].tolist(), rows.tolist())]
            lines[mine] = made
        f.write("".join(lines.tolist()))
