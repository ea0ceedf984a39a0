#!/usr/bin/env bash
# Installs the built tree, then builds and runs one program with find_package and one with pkg-config. Then
# does the same with a shared library that is built as part of another project.
# usage: run.sh BUILD_FOLDER COMPILER
set -eu
build=$1 compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { # COMMAND...: prints its output only if it fails
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; exit 1; }
}
prints_42() { # WHAT PROGRAM
  [ "$("$2")" = 42 ] || { echo "$1: the program did not print 42"; exit 1; }
}
consume() { # KIND PREFIX
  local kind=$1 prefix=$2 pc
  cp "$here/consumer/CMakeLists.txt" "$root/examples/hello/hello.cpp" "$work/"
  quietly cmake -S "$work" -B "$work/$kind-cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler"
  quietly cmake --build "$work/$kind-cmake"
  prints_42 "$kind library, find_package" "$work/$kind-cmake/consumer"
  pc=$(dirname "$(find "$prefix" -name kith.pc)")
  # shellcheck disable=SC2046  # the flags must be split into words
  quietly "$compiler" -std=c++20 "$work/hello.cpp" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs kith) -o "$work/$kind-pkg"
  LD_LIBRARY_PATH=$(dirname "$pc") prints_42 "$kind library, pkg-config" "$work/$kind-pkg"
}

quietly cmake --install "$build" --prefix "$work/prefix"
mv "$work/prefix" "$work/moved"  # an installed tree must be movable
consume installed "$work/moved"
quietly "$work/moved/bin/kith" machine --json
"$work/moved/bin/kith" machines xeon-e7-8860 | grep -q "^$work/moved/share/kith/machines/" || { echo "the machines are not those that were installed"; exit 1; }
for file in share/man/man1/kith.1 share/man/man1/kith-sim.1 share/bash-completion/completions/kith share/zsh/site-functions/_kith \
  share/fish/vendor_completions.d/kith.fish share/doc/kith/README.md share/doc/kith/docs/tutorial.md share/doc/kith/examples; do
  [ -e "$work/moved/$file" ] || { echo "not installed: $file"; exit 1; }
done
# A program that records what its tasks touch.
mkdir "$work/traced"
cp "$here/traced/CMakeLists.txt" "$root/examples/check/stencil.cpp" "$work/traced/"
quietly cmake -S "$work/traced" -B "$work/traced/build" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_COMPILER="$compiler"
quietly cmake --build "$work/traced/build"
quietly "$work/moved/bin/kith" record --addresses -o "$work/traced/rec" -- "$work/traced/build/stencil"
"$work/moved/bin/kith" check "$work/traced/rec" >"$work/log" 2>&1 && { echo "kith check found nothing in the example"; exit 1; }
grep -q 'stencil.cpp:.*smooth:1: reads (not declared)' "$work/log" || { cat "$work/log"; echo "kith check: not the mistake of the example"; exit 1; }
[ "$(uname -m)" != x86_64 ] || quietly "$work/moved/bin/kith" record --addresses --counted "$work/traced/build/counting" -o "$work/traced/counted" -- \
  "$work/traced/build/stencil"
# OpenMP programs on the installed libraries.
if [ -e "$build/libkith_gomp.so" ]; then
  for c in gcc clang-19; do
    command -v "$c" >/dev/null || continue
    quietly "$c" -fopenmp "$here/../openmp/single.c" -o "$work/single"
    quietly "$work/moved/bin/kith" run --threads 2 --record "$work/single.rec" -- "$work/single"
    [ -e "$work/single.rec" ] || { echo "$c: an OpenMP program did not run on Kith"; exit 1; }
    rm "$work/single.rec"
  done
fi
# A policy from outside the tree, in its own library.
mkdir "$work/policy"
cp "$here/policy_library/CMakeLists.txt" "$root/examples/policies/by_type.cpp" "$work/policy/"
quietly cmake -S "$work/policy" -B "$work/policy/build" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_COMPILER="$compiler"
quietly cmake --build "$work/policy/build"
quietly "$work/moved/bin/kith" app life --small --policy-library "$work/policy/build/libby_type.so" --policy by-type:steal=off
quietly "$work/moved/bin/kith" app --policy-library "$work/policy/build/libwith_kith.so" life --small --policy by-type
quietly "$work/moved/bin/kith" policies --policy-library "$work/policy/build/libby_type.so" by-type
quietly "$work/moved/bin/kith" record -o "$work/policy/rec" -- "$work/moved/bin/kith" app life --small \
  --policy-library "$work/policy/build/libby_type.so" --policy by-type
quietly "$work/moved/bin/kith" why "$work/policy/rec" 5 --policy-library "$work/policy/build/libby_type.so"
quietly "$work/moved/bin/kith" sim "$work/policy/rec" --policy-library "$work/policy/build/libby_type.so" --policy auto,by-type:steal=off
grep -q '^by-type:steal=off$' "$work/log" || { cat "$work/log"; echo "kith sim: nothing of the policy from outside"; exit 1; }
"$work/moved/bin/kith" policies --policy-library "$work/policy/build/libby_type.so" --policy-library "$work/policy/build/libwith_kith.so" >"$work/log" 2>&1 &&
  { echo "a policy was added twice"; exit 1; }
grep -q "libwith_kith.so: register_policy(): there is a policy 'by-type' already" "$work/log" || { cat "$work/log"; exit 1; }
quietly python3 "$here/links.py" "$work/moved/share/doc/kith"

# Quick to compile: nothing is optimised. Clang takes less time, and the program below is compiled by $compiler.
quick=-O0 quick_compiler=clang++-19
command -v "$quick_compiler" >/dev/null || quick_compiler=$compiler
quietly cmake -S "$here/subproject" -B "$work/subproject" -DKITH_SOURCE="$root" -DCMAKE_CXX_COMPILER="$quick_compiler" \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="$quick" -DKITH_UNITY=ON \
  -DCMAKE_INSTALL_PREFIX="$work/as-shared"
quietly cmake --build "$work/subproject" -j 2
prints_42 "add_subdirectory" "$work/subproject/program"
quietly cmake --install "$work/subproject"
consume shared "$work/as-shared"
[ ! -e "$work/as-shared/bin/kith" ] || { echo "add_subdirectory: the tools were built, though nobody asked for them"; exit 1; }
echo "the installed package, the shared library and the part of another project: each program prints 42"
