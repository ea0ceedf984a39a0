#!/usr/bin/env bash
# Installs the built tree, then builds and runs a program with find_package and one with pkg-config.
# usage: run.sh BUILD_FOLDER COMPILER
set -eu
build=$1 compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cp "$here/consumer/CMakeLists.txt" "$here/../../examples/hello/hello.cpp" "$work/"

cmake -S "$work" -B "$work/with-cmake" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$work/with-cmake" >/dev/null
[ "$("$work/with-cmake/consumer")" = 42 ] || { echo "find_package: the program did not print 42"; exit 1; }

pc=$(dirname "$(find "$work/prefix" -name kith.pc)")
PKG_CONFIG_PATH=$pc "$compiler" -std=c++20 "$work/hello.cpp" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs kith) -o "$work/hello"
[ "$("$work/hello")" = 42 ] || { echo "pkg-config: the program did not print 42"; exit 1; }
"$work/prefix/bin/kith" machine --json >/dev/null || { echo "the installed kith does not run"; exit 1; }
echo "installed package: both programs print 42"
