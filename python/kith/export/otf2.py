"""OTF2: a trace with a location for each worker, and a region for each task type and state. An enter event has the task's
number as an attribute. Written by the otf2 package, event by event: 12 s of processor time
for 300,000 tasks."""

import os

import numpy as np

from kith.errors import printable
from kith.export import need
from kith.export.times import WORKING, Timeline, type_names
from kith.states import STATES


def write(analysis, out):
    otf2 = need("otf2", "otf2")
    line = Timeline(analysis)
    recording = line.recording
    os.rmdir(out)  # the library makes the folder, and refuses one that is there
    with otf2.writer.open(out, archive_name="traces", timer_resolution=1_000_000_000) as trace:
        d = trace.definitions
        root = d.system_tree_node(_name(recording.machine["name"] or "machine"), class_name="machine")
        nodes = np.maximum(recording.workers.node.to_numpy(), 0)
        groups = {n: d.location_group(f"node {n}", system_tree_parent=d.system_tree_node(f"node {n}", class_name="node", parent=root))
                  for n in np.unique(nodes).tolist()}
        regions = [d.region(_name(n) or "(no name)", source_file="", region_role=otf2.RegionRole.TASK, paradigm=otf2.Paradigm.USER)
                   for n in type_names(recording)]
        regions += [d.region(f"({s})", source_file="", region_role=otf2.RegionRole.ARTIFICIAL, paradigm=otf2.Paradigm.USER) for s in STATES]
        task = d.attribute(name="task", description="number of the task in the recording", type=otf2.Type.UINT64)
        number = np.where(line.state == WORKING, line.type, len(recording.types) + line.state)
        first = np.searchsorted(line.worker, np.arange(len(nodes) + 1))
        for w, node in enumerate(nodes.tolist()):
            events = trace.event_writer(f"worker {w}", group=groups[node])
            rows = slice(first[w], first[w + 1])
            for begun, ended, region, of in zip(line.begun[rows].tolist(), line.ended[rows].tolist(), number[rows].tolist(),
                                                line.task[rows].tolist()):
                if of >= 0:
                    events.enter(begun, regions[region], attributes={task: of})
                else:
                    events.enter(begun, regions[region])
                events.leave(ended, regions[region])


def _name(text):
    return printable(text, 1000)
