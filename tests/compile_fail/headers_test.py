#!/usr/bin/env python3
"""Each public header compiles alone, and includes what it names of the standard library itself.

usage: headers_test.py COMPILER...      from the root of the tree
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

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


def fault(compiler, header):
    # Included twice, so that a header without `#pragma once` is found too.
    text = f"#include <{header}>\n" * 2
    done = subprocess.run([compiler, *FLAGS, "-"], input=text, capture_output=True, text=True)
    return f"{compiler}: {header} does not compile alone:\n{done.stderr}" if done.returncode else None


def main(compilers):
    include = pathlib.Path("include")
    headers = sorted(h.relative_to(include) for h in include.glob("kith/*.hpp"))
    if not headers:
        sys.exit("headers_test.py: no headers under include/kith; run it from the root of the tree")
    pairs = [(c, h) for c in compilers for h in headers]
    if not_included("#include <vector>\nstd::vector<std::byte> f();  // std::span") != ["cstddef"]:
        sys.exit("headers_test.py: does not see that std::byte needs <cstddef>")
    faults = [f"{h}: names something of <{n}> and does not include it"
              for h in sorted(include.rglob("*.hpp")) for n in not_included(h.read_text())]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults += [f for f in pool.map(lambda p: fault(*p), pairs) if f]
    print("\n".join(faults))
    print(f"{len(headers)} headers, {len(compilers)} compilers, {len(faults)} faults")
    return bool(faults)


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main(sys.argv[1:]))
