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
# The public headers listed at the top are the words that all layers share with users: accesses, options, tasks, handles.
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
    ["src/openmp"],
    ["examples"],
    ["apps"],
    ["tools"],
    ["bench"],
    ["tests"],
]
# Neighbours that must not know each other, whatever their ranks.
STRANGERS = [*((deciding, "src/recording") for deciding in ("src/queue", "src/partition", "src/policy")),
             ("src/engine/sim", "src/engine/native"), ("src/engine/sim", "include/kith/detail"), ("src/analysis", "src/engine/native"),
             ("src/api", "src/engine/sim"), ("src/api", "src/analysis"), ("src/places", "src/engine/sim"), ("src/places", "src/analysis"),
             ("src/openmp", "src/engine/sim"), ("src/openmp", "src/analysis"), ("src/openmp", "src/places"),
             ("src/counting", "src/tracing"), ("apps", "examples"), ("tools", "examples"), ("bench", "examples"), ("bench", "tools/kith"),
             # These are linked into programs; the library knows them by base/access_tracer.hpp and base/counters.hpp.
             *((folder, "src/counting") for folder in ("src/tracing", "src/memory", "src/engine", "src/api")),
             ("src/memory", "src/tracing"), ("src/engine", "src/tracing"), ("src/api", "src/tracing")]
DECIDING = ["src/policy", "src/queue", "src/partition", "src/replay"]
# Who decides has no thread, lock, system call, file, MPI or engine of its own, and no clock but the world's now(). What it includes
# must not bring them either: SYSTEM is forbidden through any number of headers.
SYSTEM = (r"thread|threads\.h|shared_mutex|condition_variable|future|semaphore|barrier|latch|stop_token|stdatomic\.h|pthread\.h|"
          r"chrono|ctime|time\.h|unistd\.h|poll\.h|sched\.h|spawn\.h|syscall\.h|csignal|signal\.h|fcntl\.h|dlfcn\.h|numa\.h|numaif\.h|"
          r"sys/.*|linux/.*|bits/.*|stdio\.h|fstream|iostream|ostream|istream|sstream|filesystem|random|mpi\.h|sqlite3\.h|hwloc\.h")
BROUGHT = re.compile(rf"^({SYSTEM})$")
FORBIDDEN = re.compile(rf"^({SYSTEM}|mutex|cstdio|engine/.*|base/(clock|futex|sleepers)\.hpp|memory/numa_calls\.hpp|"
                       r"recording/(file|database)\.hpp|machine/limits\.hpp)$")
# std::lock_guard on the world's own mutex; list.cpp guards the registered policies; schedule.cpp reads the recording; partition.cpp
# formats messages; Scotch takes a FILE* and has one random generator, which is guarded.
ALLOWED = {("src/queue/shared_queue.hpp", "mutex"), ("src/policy/auto/held_arrays.hpp", "mutex"), ("src/queue/affinity_queues.hpp", "mutex"), ("src/queue/recycler.hpp", "mutex"),
           ("src/policy/list.cpp", "mutex"), ("src/replay/ordered_queue.hpp", "mutex"), ("src/replay/turn_order.hpp", "mutex"), ("src/replay/recorded_order.hpp", "mutex"),
           ("src/replay/schedule.cpp", "recording/file.hpp"), ("src/partition/windows.hpp", "mutex"), ("src/partition/scotch.cpp", "mutex"),
           ("src/base/atomic.hpp", "interleave/atomic.hpp"),  # the checker of interleavings replaces atomics
           ("src/partition/scotch.cpp", "cstdio"), ("src/partition/partition.cpp", "cstdio")}
# What may bring them: the native world of the queues, whose clock is the processor's counter and has a header of the system where that
# counter is none, and whose workers sleep; the lock of a region, which the engines take; recordings, which schedule.cpp reads as files.
BRINGS = {"src/base/clock.hpp", "src/queue/native/worker.hpp", "src/base/spin_mutex.hpp", "src/recording/file.hpp", "src/recording/database.hpp"}
ATOMIC_HOME = ("src/base/atomic.hpp", "include/", "tests/", "bench/", "apps/", "examples/", "tools/")
# By any spelling: #include, #include_next, #import, with comments and lines that are continued; `import <x>;` of modules.
INCLUDE = re.compile(r'^\s*(?:(?:#|%:)\s*(?:include|include_next|import)\b|import\b(?=\s*[<"]))\s*(?:([<"])([^>"]+)[>"])?')
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.S)  # or a text, which may look like one
TOPS = ("src", "include", "tools", "apps", "bench", "tests", "examples")
FOLDERS = ("src", "include", "", "tools", "tools/kith", "bench", "bench/support")  # where quoted names are looked for, as CMake's files say
TEST_FOLDERS = ("tests", "tests/interleaving")  # also, for files of tests


def rank(path):
    best, length = None, -1
    for level, folders in enumerate(RANKS):
        for folder in folders:
            if (path == folder or path.startswith(folder + "/")) and len(folder) > length:
                best, length = level, len(folder)
    return best


def resolve(root, name, quoted, includer):
    """The included file's path in the tree, or None if it is not a file of the tree."""
    folders = ("src", "include") if quoted != '"' else FOLDERS + TEST_FOLDERS * includer.startswith("tests/")
    candidates = [f"{folder}/{name}" for folder in folders]
    if quoted == '"':
        candidates.insert(0, str(pathlib.Path(includer).parent / name))
    for c in (os.path.normpath(c.lstrip("/")) for c in candidates):
        if (root / c).is_file():
            return c
    return None


def includes_of(root, name):
    """(line, target in the tree or None, the name as written, quote) of each #include; (line, None, "", "") of one by a macro."""
    found = []
    text = COMMENT.sub(lambda m: m[1] or "\n" * m[0].count("\n"), (root / name).read_text()).replace("\\\n", "")
    for number, line in enumerate(text.splitlines(), 1):
        if m := INCLUDE.match(line):
            target = resolve(root, m[2], m[1], name) if m[2] else None
            found.append((number, target, m[2] or "", m[1] or ""))
    return found


def brought(name, includes):
    """What the files of the tree that `name` includes, directly or not, bring with them: (chain of files, header of the system, or
    of the tree, that policies must not include)."""
    found, seen, waiting = [], {name}, [(name,)]
    while waiting:
        chain = waiting.pop()
        for _, target, written, _ in includes.get(chain[-1], []):
            if target is None:
                if len(chain) > 1 and BROUGHT.match(written):
                    found.append((chain, written))
            elif target not in seen and target not in BRINGS:
                seen.add(target)
                if len(chain) > 1 and FORBIDDEN.match(target.removeprefix("src/")):
                    found.append((chain, target))
                waiting.append((*chain, target))
    return found


def faults(root):
    found = []
    files = sorted(str(p.relative_to(root)) for top in TOPS for p in (root / top).rglob("*") if p.is_file())
    for name in files:
        if name.endswith((".inc", ".ipp", ".inl", ".tpp", ".def", ".hxx", ".cxx", ".cc", ".hh")):
            found.append(f"{name}: C++ files end in .hpp and .cpp")
    files = [f for f in files if f.endswith((".hpp", ".cpp", ".h"))]
    includes = {f: includes_of(root, f) for f in files}
    for name in files:
        own = rank(name)
        if own is None:
            found.append(f"{name}: in no layer; add its folder to RANKS in tests/layering_test.py")
            continue
        deciding = any(name.startswith(d + "/") for d in DECIDING) and not name.startswith("src/queue/native/")
        for number, target, written, quote in includes[name]:
            if not written:
                found.append(f"{name}:{number}: includes what a macro says; write the file's name")
            if quote == '"' and target is None and (name, written) not in ALLOWED:
                found.append(f'{name}:{number}: "{written}" is no file of this tree; write <{written}>')
            if target is not None and rank(target) is not None and rank(target) > own:
                found.append(f"{name}:{number}: includes {target}, which is above it")
            for one, other in STRANGERS:
                if name.startswith(one + "/") and (target or "").startswith(other + "/"):
                    found.append(f"{name}:{number}: includes {target}, of which {one} knows nothing")
            known = (target or written).removeprefix("src/").removeprefix("include/")  # whatever way the name goes
            if deciding and FORBIDDEN.match(known) and (name, known) not in ALLOWED:
                found.append(f"{name}:{number}: a policy or queue includes <{known}>")
            if known.startswith("kith/detail/") and not name.startswith(("include/", "src/", "tests/")):
                found.append(f"{name}:{number}: <{written}> is what public headers are made of, and for them and the library alone")
            if written == "atomic" and not name.startswith(ATOMIC_HOME):
                found.append(f"{name}:{number}: <atomic> comes from base/atomic.hpp alone")
        if deciding:
            found += [f"{name}: a policy or queue gets <{header}> by {' -> '.join(chain[1:])}" for chain, header in brought(name, includes)]
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
        "clock by a way round": ({"src/policy/p.hpp": '#include "base/a.hpp"\n', "src/base/a.hpp": '#include "base/b.hpp"\n',
                                  "src/base/b.hpp": "#include <chrono>\n"}, "by src/base/a.hpp -> src/base/b.hpp"),
        "futex by a way round": ({"src/queue/q.hpp": '#include "base/a.hpp"\n', "src/base/a.hpp": '#include "base/futex.hpp"\n',
                                  "src/base/futex.hpp": ""}, "gets <src/base/futex.hpp> by src/base/a.hpp"),
        "macro": ({"src/task/t.hpp": "#include HEADER\n"}, "macro"),
        "missing": ({"src/task/t.hpp": '#include "task/gone.hpp"\n'}, "no file of this tree"),
        "import": ({"src/policy/p.hpp": "#import <thread>\n"}, "<thread>"),
        "after a comment": ({"src/policy/p.hpp": "/* why */ #include_next <thread>\n"}, "<thread>"),
        "after what looks like a comment": ({"src/policy/p.hpp": '// queue/*.hpp\nconst char* all = "src/*";\n#include <thread>\n/* */\n'},
                                            "<thread>"),
        "continued": ({"src/policy/p.hpp": "#include \\\n  <thread>\n"}, "<thread>"),
        "forbidden by a way round": ({"src/policy/p.hpp": '#include "../base/clock.hpp"\n', "src/base/clock.hpp": ""}, "base/clock.hpp"),
        "suffix": ({"src/task/t.inc": ""}, ".hpp and .cpp"),
        "test": ({"tools/t.cpp": '#include "tests/t.hpp"\n', "tests/t.hpp": ""}, "above it"),
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
