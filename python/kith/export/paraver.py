"""Paraver: trace.prv (states, events, communications), trace.pcf (names and colours), trace.row (labels), and *.cfg, which
Paraver opens as views. The processes of the trace are memory nodes, their threads the workers."""

import os

import numpy as np

from kith.errors import printable
from kith.export.times import WORKING, Timeline, dependences, type_names
from kith.states import STATES

TYPE_EVENT, TASK_EVENT = 60000001, 60000002
VIEWS = (("types", "Task types", TYPE_EVENT), ("tasks", "Tasks", TASK_EVENT))
# Paraver's own numbers of states, where it has one that means the same: 0 idle, 1 running, and others of ours.
STATE_NUMBER = {"working": 1, "idle": 0, "partitioning": 2, "exploring": 3, "creating": 4, "scheduling": 5}
_COLOURS = ((117, 195, 255), (0, 0, 255), (255, 255, 255), (255, 0, 0), (255, 0, 174), (179, 0, 0), (0, 255, 0), (255, 255, 0),
            (235, 0, 0), (0, 162, 0), (255, 0, 255), (100, 100, 177), (172, 174, 41), (255, 144, 26), (2, 255, 177), (192, 224, 0))
_AT_ONCE = 200_000


def _places(recording):
    """(cpu, process, thread) of each worker, from 1, and how many workers each process has."""
    node = np.maximum(recording.workers.node.to_numpy(), 0)
    _, process, sizes = np.unique(node, return_inverse=True, return_counts=True)
    order = np.argsort(process, kind="stable")
    cpu = np.empty(len(node), np.int64)
    cpu[order] = np.arange(len(node)) + 1
    thread = cpu - (np.cumsum(sizes) - sizes)[process]
    return cpu, process + 1, thread, sizes


def _label(text):
    return printable(text, 200).replace('"', "'")


def write(analysis, out):
    line = Timeline(analysis)
    places = _places(line.recording)
    with open(os.path.join(out, "trace.prv"), "w", encoding="utf-8") as f:
        sizes = places[3]
        threads = ",".join(f"{n}:{i + 1}" for i, n in enumerate(sizes))
        date = line.recording.date
        shown = "01/01/1970 at 00:00" if date is None else date.astype("datetime64[s]").item().strftime("%d/%m/%Y at %H:%M")
        f.write(f"#Paraver ({shown}):{max(line.end, 1)}_ns:{len(sizes)}({','.join(map(str, sizes))}):1:{len(sizes)}({threads})\n")
        _records(f, line, places)
    _names(out, line.recording)
    _labels(out, line.recording, places)
    for file, title, event in VIEWS:
        _view(os.path.join(out, file + ".cfg"), title, event)


def _records(f, line, places):
    """All records in the order of time; at one time ends of tasks come before begins."""
    cpu, process, thread, _ = places
    w = line.worker
    number = np.array([STATE_NUMBER[s] for s in STATES])
    where = np.column_stack([cpu[w], np.ones(len(w), np.int64), process[w], thread[w]])
    states = np.column_stack([where, line.begun, line.ended, number[line.state]])
    runs = np.flatnonzero(line.state == WORKING)
    begins = np.column_stack([where[runs], line.begun[runs], line.type[runs] + 1, line.task[runs] + 1])
    ends = np.column_stack([where[runs], line.ended[runs], np.zeros((len(runs), 2), np.int64)])
    before, after, size = dependences(line.recording)
    first, last = line.first_and_last()
    known = (first[after] >= 0) & (last[before] >= 0)
    before, after, size = before[known], after[known], size[known]
    source, target = last[before], first[after]
    sent, got = line.ended[source], np.maximum(line.begun[target], line.ended[source])
    messages = np.column_stack([where[source], sent, sent, where[target], got, got, size, after + 1])
    event = f"2:%d:%d:%d:%d:%d:{TYPE_EVENT}:%d:{TASK_EVENT}:%d\n"
    kinds = [("2" + event[1:], ends, 4), ("1:%d:%d:%d:%d:%d:%d:%d\n", states, 4), (event, begins, 4), ("3" + ":%d" * 14 + "\n", messages, 4)]
    time = np.concatenate([rows[:, at] for _, rows, at in kinds])
    kind = np.repeat(np.arange(len(kinds)), [len(rows) for _, rows, _ in kinds])
    row = np.concatenate([np.arange(len(rows)) for _, rows, _ in kinds])
    order = np.lexsort((kind, time))
    for at in range(0, len(order), _AT_ONCE):
        some = order[at:at + _AT_ONCE]
        lines = np.empty(len(some), object)
        for k, (pattern, rows, _) in enumerate(kinds):
            mine = np.flatnonzero(kind[some] == k)
            cells = rows[row[some[mine]]]
            lines[mine] = (pattern * len(mine) % tuple(cells.ravel().tolist())).splitlines(keepends=True)
        f.write("".join(lines.tolist()))


def _names(out, recording):
    lines = ["DEFAULT_OPTIONS", "", "LEVEL               THREAD", "UNITS               NANOSEC", "LOOK_BACK           100",
             "SPEED               1", "FLAG_ICONS          ENABLED", "NUM_OF_STATE_COLORS 1000", "YMAX_SCALE          37", "", "",
             "DEFAULT_SEMANTIC", "", "THREAD_FUNC          State As Is", "", "", "STATES"]
    states = sorted(STATES, key=STATE_NUMBER.get)
    lines += [f"{STATE_NUMBER[s]}    {s}" for s in states]
    lines += ["", "", "STATES_COLOR"]
    lines += [f"{STATE_NUMBER[s]}    {{{','.join(map(str, _COLOURS[STATE_NUMBER[s]]))}}}" for s in states]
    lines += ["", "", "EVENT_TYPE", f"0    {TYPE_EVENT}    Task type", "VALUES", "0      no task"]
    lines += [f"{i + 1}      {_label(n) or 'task'}" for i, n in enumerate(type_names(recording))]
    lines += ["", "", "EVENT_TYPE", f"0    {TASK_EVENT}    Task (its number in the recording, plus 1)", "", ""]
    lines += ["GRADIENT_COLOR"] + [f"{i}    {{0,{max(0, 255 - 17 * i)},{min(255, 17 * i)}}}" for i in range(15)]
    _save(out, "trace.pcf", lines)


def _labels(out, recording, places):
    cpu, process, thread, sizes = places
    order = np.argsort(cpu)
    nodes = np.unique(np.maximum(recording.workers.node.to_numpy(), 0)).tolist()
    lines = [f"LEVEL CPU SIZE {len(cpu)}", *(f"worker {w}" for w in order), "", f"LEVEL NODE SIZE {len(nodes)}",
             *(f"node {n}" for n in nodes), "", f"LEVEL TASK SIZE {len(nodes)}", *(f"node {n}" for n in nodes), "",
             f"LEVEL THREAD SIZE {len(cpu)}", *(f"worker {w}, node {nodes[process[w] - 1]}" for w in order)]
    _save(out, "trace.row", lines)


def _view(path, title, event):
    """A view that draws the last value of an event, by its colour."""
    functions = ("cpu, Active Thd", "appl, Adding", "task, Adding", "thread, Last Evt Val", "node, Adding", "system, Adding",
                 "workload, Adding", "from_obj, All", "to_obj, All", "tag_msg, All", "size_msg, All", "bw_msg, All", "evt_type, =",
                 "evt_value, All")
    composed = [f"compose_{level}, As Is" for level in ("cpu", "appl", "task", "thread", "node", "system", "workload")]
    composed += ["topcompose1, As Is", "topcompose2, As Is"]
    bar = "#" * 80
    settings = {"name": title, "type": "single", "id": 1, "position_x": 100, "position_y": 100, "width": 900, "height": 300,
                "comm_lines_enabled": "true", "flags_enabled": "false", "noncolor_mode": "true",
                "color_mode": "window_in_code_mode" if event == TYPE_EVENT else "window_in_null_gradient_mode",
                "logical_filtered": "true", "physical_filtered": "false", "comm_fromto": "true", "comm_tagsize": "true",
                "comm_typeval": "true", "units": "Microseconds", "maximum_y": "1000.0", "minimum_y": "1.0", "compute_y_max": "true",
                "level": "thread", "scale_relative": "1.0", "end_time_relative": "1.0", "object": "appl { 1, { All } }",
                "begin_time_relative": "0.0", "open": "true", "drawmode": "draw_randnotzero", "drawmode_rows": "draw_randnotzero",
                "pixel_size": 1, "labels_to_draw": 1, "selected_functions": _braces(functions),
                "compose_functions": _braces(composed), "filter_module evt_type": f"1 {event}",
                "filter_module evt_type_label": f'1 "{title}"'}
    lines = ["#ParaverCFG", "ConfigFile.Version: 3.4", "ConfigFile.NumWindows: 1", "", "", bar,
             f"< NEW DISPLAYING WINDOW {title} >", bar, *(f"window_{k} {v}" for k, v in settings.items())]
    _save(os.path.dirname(path), os.path.basename(path), lines)


def _braces(items):
    return f"{{ {len(items)}, {{ " + ", ".join("{" + i + "}" for i in items) + " } }"


def _save(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8", errors="backslashreplace") as f:
        f.write("\n".join(lines) + "\n")
