#!/usr/bin/env python3
"""Checks that no static object of the library is constructed behind a lock that a child of fork() may find held (src/base/fork.hpp
says why).

usage: static_objects_test.py LIBRARY.a
"""
import re
import subprocess
import sys

# Constructed before main(), when there are no other threads; that of stack_bottom() belongs to one thread.
MADE_IN_TIME = {
    "kith::block_table::of_process()::table",
    "kith::(anonymous namespace)::kept_locks()::r",
    "kith::(anonymous namespace)::registered()::all",
    "kith::(anonymous namespace)::types()::r",
    "kith::(anonymous namespace)::scopes()::p",
    "kith::keep_over_fork(std::mutex&, void (*)() noexcept)::watched",
    "kith::membarrier_serves()::serves",
    "kith::detail::when_all_type()::type",
    "kith::native::(anonymous namespace)::engines()::list",
    "kith::native::stack_bottom()::bottom",
}


def main():
    names = subprocess.run(["nm", "-C", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    guarded = set(re.findall(r"guard variable for (kith::.*)", names))
    if not guarded & MADE_IN_TIME:
        sys.exit(f"{sys.argv[1]}: no guarded statics were found at all; expected the symbols of a static library")
    for name in sorted(guarded - MADE_IN_TIME):
        print(f"{name}: a local static, made behind a guard; use made_once (src/base/made_once.hpp), or make it before main() "
              "and list it here")
    print(f"{len(guarded)} guarded statics")
    sys.exit(bool(guarded - MADE_IN_TIME))


main()
