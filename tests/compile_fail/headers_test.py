#!/usr/bin/env python3
"""Each public header compiles alone, includes what it names of the standard library itself, and calls no helper in a way that finds
functions of the user next to his types.

usage: headers_test.py COMPILER...      from the root of the tree
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-Iinclude", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"]

# What a name of the standard library needs. A compiler does not see that a header came with another one only by chance.
# The concepts of ranges come with <span> and <iterator> in all libraries; <ranges> itself takes long to compile.
NAMES = {
    "algorithm": r"(max|min|clamp|sort|find|find_if|all_of|any_of|none_of|copy|copy_n|fill|lower_bound|upper_bound)\(",
    "array": r"array<",
    "atomic": r"(atomic\w*|memory_order\w*)\b",
    "chrono": r"chrono::",
    "concepts": r"(same_as|integral|convertible_to|invocable|derived_from|copy_constructible|move_constructible)\b",
    "coroutine": r"(coroutine_handle|coroutine_traits|suspend_\w+)\b",
    "cstddef": r"(size_t|ptrdiff_t|byte|max_align_t)\b",
    "cstdint": r"u?int(8|16|32|64|ptr)_t\b",
    "cstring": r"(mem(cpy|set|move|cmp)|strlen|strcmp)\b",
    "exception": r"(exception|exception_ptr|current_exception|rethrow_exception|uncaught_exceptions|terminate)\b",
    "functional": r"(function|hash|less|plus|invoke|reference_wrapper)\b",
    "limits": r"numeric_limits\b",
    "map": r"map<",
    "memory": r"(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|addressof)\b",
    "mutex": r"(mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once)\b",
    "new": r"(bad_alloc|bad_array_new_length|align_val_t|nothrow\w*|launder)\b",
    "optional": r"(optional|nullopt)\b",
    "span": r"span\b",
    "string": r"(string|to_string)\b",
    "string_view": r"string_view\b",
    "tuple": r"(tuple|tie|apply|make_tuple|tuple_\w+)\b",
    "type_traits": r"((is|remove|add)_\w+|decay_t|conditional_t|enable_if_t|invoke_result_t|underlying_type_t|void_t|true_type|false_type)\b",
    "unordered_map": r"unordered_map<",
    "utility": r"(move|forward|exchange|swap|pair|declval|index_sequence\w*|make_index_sequence|as_const)\b",
    "variant": r"(variant|visit|monostate)\b",
    "vector": r"vector<",
}


def not_included(text):
    """The standard headers that the text names something of, and does not include."""
    code = re.sub(r"//[^\n]*|\"(\\.|[^\"\\])*\"", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    included = set(re.findall(r"#include <([a-z_]+)>", code))
    return sorted(h for h, name in NAMES.items() if h not in included and re.search(r"\bstd::" + name, code))


# Meant to be found by argument-dependent lookup.
FOUND_BY_ARGUMENTS = {"operator co_await", "iter_swap"}
LOCATION = re.compile(r"line:(?P<same>\d+):\d+|(?P<file>[^\s<>,:]+):(?P<line>\d+):\d+|col:\d+")
NODE = re.compile(r"^[|`\s-]*\w+ 0x[0-9a-f]+ (?:(?:prev|parent) 0x[0-9a-f]+ )*<(?P<range>[^>]*(?:<[^>]*>)*[^>]*)>(?P<at> \S+)?")


def found_by_arguments(clang, folder, names):
    """(file, line, function) of each call in a template of the headers whose function the arguments' types decide, too. Clang's dump
    gives each location relative to the one before."""
    text = "".join(f"#include <{n}>\n" for n in names)
    dump = subprocess.run([clang, "-std=c++20", f"-I{folder}", "-fsyntax-only", "-Xclang", "-ast-dump", "-x", "c++", "-"], input=text,
                          capture_output=True, text=True, check=True).stdout
    found, file, number = set(), "", 0
    for line in dump.splitlines():
        node = NODE.match(line)
        if not node:
            continue
        begin = None
        for place in (*LOCATION.finditer(node["range"]), *LOCATION.finditer(node["at"] or "")):
            file, number = place["file"] or file, int(place["line"] or place["same"] or number)
            begin = begin or (file, number)
        called = re.search(r"\(ADL\) = '([^']+)'", line)
        if called and begin and begin[0].startswith(f"{folder}/") and called[1] not in FOUND_BY_ARGUMENTS:
            found.add((*begin, called[1]))
    return sorted(found)


def self_test(clang):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "wrong.hpp").write_text(
            "namespace kith { template <class T> void help(T) {}\n"
            "template <class T> void call(T t) {\n  kith::help(t);\n  help(t);\n} }\n")
        found = found_by_arguments(clang, folder, ["wrong.hpp"])
    if found != [(f"{folder}/wrong.hpp", 4, "help")]:
        sys.exit(f"headers_test.py: does not see the one call that argument-dependent lookup decides: {found}")


def fault(compiler, included):
    # Included twice, so that a header without `#pragma once` is found too.
    text = "".join(f"#include <{header}>\n" for header in included) * 2
    done = subprocess.run([compiler, *FLAGS, "-"], input=text, capture_output=True, text=True)
    return f"{compiler}: {', '.join(map(str, included))} does not compile:\n{done.stderr}" if done.returncode else None


def main(compilers):
    include = pathlib.Path("include")
    headers = sorted(h.relative_to(include) for h in include.glob("kith/*.hpp"))
    if not headers:
        sys.exit("headers_test.py: no headers under include/kith; run it from the root of the tree")
    # Alone with the first compiler, in one unit with the others: whether a header includes all that it needs depends on the
    # standard library, which is the same.
    pairs = [(compilers[0], [h]) for h in headers] + [(c, headers) for c in compilers[1:]]
    if not_included("#include <vector>\nstd::vector<std::byte> f();  // std::span") != ["cstddef"]:
        sys.exit("headers_test.py: does not see that std::byte needs <cstddef>")
    faults = [f"{h}: names something of <{n}> and does not include it"
              for h in sorted(include.rglob("*.hpp")) for n in not_included(h.read_text())]
    for clang in [c for c in compilers if "clang" in pathlib.Path(c).name][:1]:
        self_test(clang)
        faults += [f"{file}:{line}: {name}() may be a function of the user's namespace; qualify the call"
                   for file, line, name in found_by_arguments(clang, str(include), headers)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults += [f for f in pool.map(lambda p: fault(*p), pairs) if f]
    print("\n".join(faults))
    print(f"{len(headers)} headers, {len(compilers)} compilers, {len(faults)} faults")
    return bool(faults)


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main(sys.argv[1:]))
