#!/usr/bin/env python3
"""Reads every #include and fails where one points up, or where a policy reaches for what only engines have.

usage: layering_test.py ROOT      checks the tree at ROOT, after checking itself on small trees with known faults
"""
import os
import pathlib
import re
import sys
import tempfile

# Lowest first, one rank for each folder. A file may include files of its own folder and of those above it in this list.
RANKS = [
    ["src/base", "include/kith/error.hpp", "include/kith/access.hpp", "include/kith/statistics.hpp",
     "include/kith/memory.hpp", "include/kith/options.hpp", "include/kith/task.hpp", "include/kith/handle.hpp",
     "include/kith/detail/access_record.hpp", "include/kith/detail/access_maker.hpp", "include/kith/detail/call_check.hpp",
     "include/kith/detail/creation.hpp", "include/kith/detail/has_task.hpp", "include/kith/detail/task_hints.hpp"],
    ["src/events"],
    ["src/machine"],
    ["src/task"],
    ["src/recording"],
    ["src/tracing", "src/counting"],
    ["src/memory"],
    ["src/queue"],
    ["src/partition"],
    ["src/policy/contract"],
    ["src/policy"],
    ["src/replay"],
    ["src/engine/life"],
    ["include/kith"],
    ["src/engine/native"],
    ["src/engine/sim"],
    ["src/analysis"],
    ["src/api"],
    ["src/places"],
    ["tools", "apps", "bench", "tests", "examples"],
]
# Neighbours that must not know each other, whatever their ranks.
STRANGERS = [*((deciding, "src/recording") for deciding in ("src/queue", "src/partition", "src/policy")),
             ("src/engine/sim", "src/engine/native"), ("src/engine/sim", "include/kith/detail"), ("src/analysis", "src/engine/native"),
             ("src/api", "src/engine/sim"), ("src/api", "src/analysis"),
             # These are linked into programs; the library knows them by base/access_tracer.hpp and base/counters.hpp.
             *((folder, "src/counting") for folder in ("src/tracing", "src/memory", "src/engine", "src/api")),
             ("src/memory", "src/tracing"), ("src/engine", "src/tracing"), ("src/api", "src/tracing")]
DECIDING = ["src/policy", "src/queue", "src/replay"]  # no thread, lock, system call, MPI or engine of their own, no clock but now()
FORBIDDEN = re.compile(r"^(thread|mutex|shared_mutex|condition_variable|future|chrono|ctime|time\.h|unistd\.h|"
                       r"semaphore|barrier|latch|stop_token|sched\.h|csignal|signal\.h|fcntl\.h|fstream|random|"
                       r"pthread\.h|sys/.*|linux/.*|mpi\.h|engine/.*|base/(clock|futex|sleepers)\.hpp|"
                       r"memory/numa_calls\.hpp|recording/(file|database)\.hpp|machine/limits\.hpp)$")
# std::lock_guard on the world's own mutex; list.cpp guards the registered policies; schedule.cpp reads the recording.
ALLOWED = {("src/queue/shared_queue.hpp", "mutex"), ("src/queue/held_tasks.hpp", "mutex"), ("src/queue/affinity_queues.hpp", "mutex"), ("src/queue/recycler.hpp", "mutex"),
           ("src/policy/list.cpp", "mutex"), ("src/replay/ordered_queue.hpp", "mutex"), ("src/replay/turn_order.hpp", "mutex"), ("src/replay/recorded_order.hpp", "mutex"),
           ("src/replay/schedule.cpp", "recording/file.hpp")}
ATOMIC_HOME = ("src/base/atomic.hpp", "include/", "tests/", "bench/", "apps/", "examples/", "tools/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def rank(path):
    best, length = None, -1
    for level, folders in enumerate(RANKS):
        for folder in folders:
            if (path == folder or path.startswith(folder + "/")) and len(folder) > length:
                best, length = level, len(folder)
    return best


def resolve(root, name, quoted, includer):
    """The included file's path in the tree, or None if it is not a file of the tree."""
    candidates = ["src/" + name, "include/" + name]
    if quoted == '"':
        candidates.append(str((pathlib.Path(includer).parent / name)))
    for c in map(os.path.normpath, candidates):
        if (root / c).is_file():
            return c
    return None


def faults(root):
    found = []
    files = [p for top in ("src", "include", "tools", "apps", "bench", "examples") for p in sorted((root / top).rglob("*"))
             if p.suffix in (".hpp", ".cpp", ".h")]
    for p in files:
        name = str(p.relative_to(root))
        own = rank(name)
        if own is None:
            found.append(f"{name}: in no layer; add its folder to RANKS in tests/layering_test.py")
            continue
        for number, line in enumerate(p.read_text().splitlines(), 1):
            m = INCLUDE.match(line)
            if not m:
                continue
            target = resolve(root, m[2], m[1], name)
            if target is not None and rank(target) is not None and rank(target) > own:
                found.append(f"{name}:{number}: includes {target}, which is above it")
            for one, other in STRANGERS:
                if name.startswith(one + "/") and (target or "").startswith(other + "/"):
                    found.append(f"{name}:{number}: includes {target}, of which {one} knows nothing")
            deciding = any(name.startswith(d + "/") for d in DECIDING) and not name.startswith("src/queue/native/")
            if deciding and FORBIDDEN.match(m[2]) and (name, m[2]) not in ALLOWED:
                found.append(f"{name}:{number}: a policy or queue includes <{m[2]}>")
            if m[2].startswith("kith/detail/") and not name.startswith(("include/", "src/")):
                found.append(f"{name}:{number}: <{m[2]}> is what public headers are made of, and for them and the library alone")
            if m[2] == "atomic" and not name.startswith(ATOMIC_HOME):
                found.append(f"{name}:{number}: <atomic> comes from base/atomic.hpp alone")
    return found, len(files)


def self_test():
    cases = {
        "up": ({"src/base/a.hpp": '#include "policy/b.hpp"\n', "src/policy/b.hpp": ""}, "above it"),
        "clock": ({"src/policy/p.hpp": "#include <chrono>\n"}, "<chrono>"),
        "engine": ({"src/policy/p.hpp": '#include "engine/native/e.hpp"\n', "src/engine/native/e.hpp": ""}, "above it"),
        "engine by a way round": ({"src/policy/p.hpp": '#include "../engine/native/e.hpp"\n', "src/engine/native/e.hpp": ""},
                                  "above it"),
        "futex": ({"src/queue/q.hpp": '#include "base/futex.hpp"\n', "src/base/futex.hpp": ""}, "base/futex.hpp"),
        "atomic": ({"src/task/t.hpp": "#include <atomic>\n"}, "<atomic>"),
        "inside": ({"apps/a.cpp": "#include <kith/detail/d.hpp>\n"}, "what public headers are made of"),
        "between neighbours": ({"src/engine/sim/s.cpp": '#include "engine/native/n.hpp"\n', "src/engine/native/n.hpp": ""},
                               "knows nothing"),
        "task beside recording": ({"src/task/t.hpp": '#include "recording/r.hpp"\n', "src/recording/r.hpp": ""}, "above it"),
        "nowhere": ({"src/strange/s.hpp": ""}, "in no layer"),
        "fine": ({"src/policy/p.hpp": '#include "base/a.hpp"\n', "src/base/a.hpp": ""}, None),
    }
    for name, (tree, expected) in cases.items():
        with tempfile.TemporaryDirectory() as d:
            root = pathlib.Path(d)
            for path, text in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            got, _ = faults(root)
            if (expected is None) != (not got) or (expected and not any(expected in g for g in got)):
                sys.exit(f"self-test '{name}': expected {expected!r}, got {got}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    self_test()
    found, files = faults(pathlib.Path(sys.argv[1]))
    print("\n".join(found))
    print(f"{files} files, {len(found)} faults")
    sys.exit(bool(found))


main()
