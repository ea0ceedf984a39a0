"""The tables of a recording's file: their columns in order, what each may hold, and what becomes of it here.

docs/recording-format.md explains the file. src/recording/columns.hpp is the list that writes it, and a test compares
the two. For recording.py.
"""

from dataclasses import dataclass

VERSION = 4  # of the format
APPLICATION = 0x4B495448  # "KITH"

TIME_END = 1 << 52  # nanoseconds
BYTES_END = 1 << 48
TOTAL_END = 1 << 56
NODES = 1024
WORKERS = 4096
TEXT_END = 64 << 10


@dataclass(frozen=True)
class Column:
    """A column: its name in the file, and what it holds: a key of BOUNDS, or the name of the table that it refers to,
    with `none` if -1 stands for none."""

    name: str
    holds: str
    none: bool = False
    since: int = 1


# The least value, and the one after the greatest; None: any.
BOUNDS = {
    "time": (0, TIME_END),
    "bytes": (0, BYTES_END),
    "total": (0, TOTAL_END),
    "count": (0, TIME_END),
    "bits": (None, None),
    "any": (None, None),
    "scope": (0, 1 << 32),
    "node": (-1, NODES),
    "hint": (-1, 1 << 31),
    "flags": (0, 256),
    "priority": (0, 3),
    "mode": (0, 5),
    "distribution": (1, 8),
    "power": (0, 64),
    "counted": (-1, 1 << 62),
    "workers": (0, WORKERS + 1),
    "nodes": (0, NODES + 1),
    "message_kind": (1, 7),
    "site_mode": (0, 3),
    "block_kind": (0, 10),
}


def _columns(text, **extra):
    found = []
    for word in text.split():
        name, _, holds = word.partition(":")
        none = holds.endswith("?")
        found.append(Column(name, holds.rstrip("?"), none, extra.get(name, 1)))
    return tuple(found)


# By the order in which they are read. `id` numbers the rows from 0; "task:task" first: rows in the order of tasks.
TABLES = {
    "worker": _columns("id:id node:node"),
    "type": _columns("id:id name:text"),
    "region": _columns("id:id address:bits bytes:bytes home:node"),
    "home": _columns("region:region node:node bytes:bytes at_ns:time"),
    "task": _columns(
        "id:id type:type creator:task? scope:scope flags:flags priority:priority color:hint node:node worker:worker? "
        "created_ns:time create_until_ns:time create_ns:time ready_ns:time started_ns:time ended_ns:time "
        "completed_ns:time work_ns:time explorer:worker? explore_started_ns:time explore_ended_ns:time key:bits",
        completed_ns=2),
    "access": _columns("task:task region:region mode:mode bytes:bytes touched:bytes passed_by:task?", passed_by=3),
    "dependence": _columns("task:task before:task bytes:total"),
    "wait": _columns("task:task scope:scope worker:worker? begun_ns:time ended_ns:time"),
    "steal": _columns("worker:worker? victim:worker? at_ns:time"),
    "idle": _columns("worker:worker? begun_ns:time ended_ns:time"),
    "job": _columns("worker:worker? tasks:count dependences:count begun_ns:time ended_ns:time"),
    "calibration": _columns("type:type size:power samples:count bytes:total plain_ns:time cold_ns:time warm_ns:time "
                            "hot_ns:time"),
    "counts": _columns("task:task instructions:counted cycles:counted cache_misses:counted stalled_cycles:counted "
                       "page_faults:counted context_switches:counted migrations:counted task_clock_ns:counted "
                       "enabled_ns:time running_ns:time load_instructions:counted store_instructions:counted "
                       "branch_instructions:counted fp_instructions:counted vector_instructions:counted", load_instructions=4,
                       store_instructions=4, branch_instructions=4, fp_instructions=4, vector_instructions=4),
    "mark": _columns("name:text at_ns:time"),
    "allocation": _columns("address:bits bytes:bytes at_ns:time released_ns:time distribution:distribution node:node "
                           "huge:any"),
    "site": _columns("id:id mode:site_mode bytes:bytes own:any file:text line:any function:text at:text caller:text"),
    "block": _columns("id:id kind:block_kind address:bits bytes:bytes task:task? ordinal:bits own:any name:text "
                      "file:text line:any at:text caller:text"),
    "stream": _columns("task:task touches:count bytes:blob"),
    "place": _columns("id:id first_worker:workers workers:workers first_node:node nodes:nodes host:text offset_ns:any "
                      "drift_ppb:any error_ns:time"),
    "message": _columns("kind:message_kind source:place destination:place bytes:bytes sent_ns:time received_ns:time "
                        "spawner:task? task:task?"),
}
ESSENTIAL = ("worker", "type", "region", "task")  # without these nothing can be said
SOMETIMES = ("home", "job", "calibration", "counts", "site", "block", "stream", "place", "message")  # missing in files of earlier builds

FLAGS = {"root": 1, "keyed": 2, "generated": 4, "discovered": 8, "cancelled": 16, "listed": 32, "fence": 64,
         "outside": 128}
MODES = ("in", "out", "inout", "concurrent", "commutative")
MESSAGES = ("activity", "accepted", "refused", "result", "credits", "done")  # kinds, from 1 on
DISTRIBUTIONS = {1: "system", 2: "fine", 3: "coarse", 4: "local", 5: "block", 6: "node", 7: "deferred"}
