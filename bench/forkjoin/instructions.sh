#!/usr/bin/env bash
# Instructions per spawn of `kith-bench forkjoin`, counted by callgrind with one worker. Two sizes are run, and the
# difference is divided by the difference in spawns, so that start-up does not count.
#
#   bench/forkjoin/instructions.sh [BUILD_FOLDER] [SYSTEM...]      (default: build/release, all that were built but OpenMP)
set -euo pipefail
build=${1:-build/release}
[ $# -gt 0 ] && shift
systems=("$@")
[ ${#systems[@]} -gt 0 ] || systems=(kith-join kith-coroutine kith-spawn serial onetbb rayon chili lace libfork)
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is not installed (Debian package valgrind)" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# count PROGRAM N: prints "<instructions> <spawns>"
count() {
  local answer instructions
  answer=$(printf 'dag fib 0 %s 0 0\nquit\n' "$2" | timeout 300 valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
    "$1" --workers 1 2>"$scratch/log") || return 1
  [[ $answer == ok* ]] || return 1
  instructions=$(sed -n 's/^\(summary\|totals\): //p' "$scratch/out" | tail -1)
  [ -n "$instructions" ] || return 1
  echo "$instructions" "$(cut -d' ' -f3 <<<"$answer")"
}

echo "| instructions per spawn, one worker | fib |"
echo "| --- | --- |"
for system in "${systems[@]}"; do
  program=$build/kith-bench-fork-$system
  [ -x "$program" ] || program=$build/rust/release/kith-bench-fork-$system
  if [ ! -x "$program" ]; then
    echo "instructions.sh: $system is left out: it was not built" >&2
    continue
  fi
  if a=$(count "$program" 16) && b=$(count "$program" 21); then
    read -r i1 t1 <<<"$a"
    read -r i2 t2 <<<"$b"
    echo "| $system | $(((i2 - i1 + (t2 - t1) / 2) / (t2 - t1))) |"
  else
    echo "| $system | - |"
  fi
done
