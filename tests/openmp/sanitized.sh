#!/usr/bin/env bash
# Runs the OpenMP programs of this folder on libraries that are built with sanitizers by GCC: its own programs with
# sanitizers inside, and those of Clang, whose sanitizers have another library, without. The first run builds the
# libraries, in a folder of their own, which takes some minutes.
# usage: tests/openmp/sanitized.sh address,undefined|thread
set -eu
cd "$(dirname "$0")/../.."
kind=${1:?usage: tests/openmp/sanitized.sh address,undefined|thread}
build=build/openmp-${kind%%,*}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKITH_SANITIZE="$kind" -DKITH_UNITY=ON -DKITH_BENCH=OFF \
  -DKITH_DEVELOPER=OFF -DKITH_TOOLS=OFF -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
cmake --build "$build" --target kith_gomp kith_omp
nm -D "$build/libkith_gomp.so" | grep -q "__${kind:0:1}san_" || { echo "$build/libkith_gomp.so has no sanitizer inside; remove $build"; exit 2; }
# Sanitizers must come before all other libraries.
preload=
for name in ${kind//,/ }; do
  case $name in address) library=libasan.so ;; undefined) library=libubsan.so ;; thread) library=libtsan.so ;; *) echo "$kind: unknown"; exit 2 ;; esac
  preload+="$(gcc -print-file-name=$library) "
done
failed=0
# run_programs NAME LIBRARY C_COMPILER CXX_COMPILER OPTIONS...
run_programs() {
  local name=$1 library=$2 c=$3 cxx=$4 source program compiler threads status
  shift 4
  mkdir -p "$build/$name"
  for source in tests/openmp/*.c tests/openmp/*.cpp; do
    program=$build/$name/$(basename "${source%.*}")
    compiler=$c
    [ "${source##*.}" = c ] || compiler="$cxx -std=c++17"
    $compiler -g -O1 -w -fopenmp -pthread "$source" -o "$program" -lm "$@"
    for threads in 1 3; do
      # The libraries of the process are not freed at its end, and stacks are left and come back.
      status=0
      ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 OMP_CANCELLATION=true OMP_NUM_THREADS=$threads \
        LD_PRELOAD="$preload$PWD/$build/$library" timeout 120 setarch "$(uname -m)" -R "$program" >"$build/output" 2>&1 || status=$?
      [ $status -eq 0 ] || { echo "$name: $(basename "$program"), $threads threads: exit code $status"; head -n 30 "$build/output"; failed=1; }
    done
  done
}
run_programs gcc libkith_gomp.so gcc g++ -fsanitize="$kind"
run_programs clang libkith_omp.so clang-19 clang++-19 -latomic
[ $failed -eq 0 ] && echo passed
exit $failed
