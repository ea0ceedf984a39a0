#!/usr/bin/env bash
# Runs the OpenMP programs of this folder on a library that is built with sanitizers, both by GCC. The first run builds
# it, in a folder of its own, which takes some minutes.
# usage: tests/openmp/sanitized.sh address,undefined|thread
set -eu
cd "$(dirname "$0")/../.."
kind=${1:?usage: tests/openmp/sanitized.sh address,undefined|thread}
build=build/openmp-${kind%%,*}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKITH_SANITIZE="$kind" -DKITH_UNITY=ON -DKITH_BENCH=OFF \
  -DKITH_DEVELOPER=OFF -DKITH_TOOLS=OFF -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
cmake --build "$build" --target kith_gomp
nm -D "$build/libkith_gomp.so" | grep -q "__${kind:0:1}san_" || { echo "$build/libkith_gomp.so has no sanitizer inside; remove $build"; exit 2; }
# Sanitizers must come before all other libraries.
preload=
for name in ${kind//,/ }; do
  case $name in address) library=libasan.so ;; undefined) library=libubsan.so ;; thread) library=libtsan.so ;; *) echo "$kind: unknown"; exit 2 ;; esac
  preload+="$(gcc -print-file-name=$library) "
done
mkdir -p "$build/programs"
failed=0
for source in tests/openmp/*.c tests/openmp/*.cpp; do
  program=$build/programs/$(basename "${source%.*}")
  compiler=gcc
  [ "${source##*.}" = c ] || compiler="g++ -std=c++17"
  $compiler -g -O1 -fsanitize="$kind" -fopenmp -pthread "$source" -o "$program" -lm
  for threads in 1 3; do
    # The libraries of the process are not freed at its end, and stacks are left and come back.
    status=0
    ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 OMP_CANCELLATION=true OMP_NUM_THREADS=$threads \
      LD_PRELOAD="$preload$PWD/$build/libkith_gomp.so" timeout 120 setarch "$(uname -m)" -R "$program" >"$build/output" 2>&1 || status=$?
    [ $status -eq 0 ] || { echo "$(basename "$program"), $threads threads: exit code $status"; head -n 30 "$build/output"; failed=1; }
  done
done
[ $failed -eq 0 ] && echo passed
exit $failed
