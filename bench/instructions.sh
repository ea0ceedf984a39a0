#!/usr/bin/env bash
# Instructions per task of `dag`, counted by callgrind. They are exact and repeatable, which times are not. Two sizes
# are run for each case, and the difference is divided by the difference in tasks, so that start-up does not count.
#
#   bench/instructions.sh [BUILD_FOLDER] [SYSTEM...]      (default: build/release, all that were built)
#
# With one worker (valgrind runs one thread at a time): what a task costs its creator and its executor,
# without spinning and stealing. libgomp and libomp are left out unless named, because with one thread they
# run each task at its creation.
set -euo pipefail
build=${1:-build/release}
[ $# -gt 0 ] && shift
systems=("$@")
[ ${#systems[@]} -gt 0 ] || systems=(kith onetbb starpu)
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is not installed (Debian package valgrind)" >&2; exit 1; }
[ -d "$build" ] || { echo "instructions.sh: no folder $build; expected a build with the benchmarks (make build)" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# count SYSTEM COMMAND: prints "<instructions> <tasks>"
count() {
  local answer
  answer=$(printf '%s\nquit\n' "$2" | STARPU_SILENT=1 timeout 300 valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
    "$build/kith-bench-peer-$1" --workers 1 2>"$scratch/log") || return 1
  [[ $answer == ok* ]] || return 1
  local instructions
  instructions=$(sed -n 's/^\(summary\|totals\): //p' "$scratch/out" | tail -1)
  [ -n "$instructions" ] || return 1
  echo "$instructions" "$(cut -d' ' -f3 <<<"$answer")"
}

# each CASE SMALL LARGE, and whether prebuilt
each=("wavefront 60 120" "cholesky 16 28" "independent 3000 13000")
echo "| instructions per task, one worker | wavefront | cholesky | independent |"
echo "| --- | --- | --- | --- |"
for system in "${systems[@]}"; do
  if [ ! -x "$build/kith-bench-peer-$system" ]; then
    echo "instructions.sh: $system is left out: $build/kith-bench-peer-$system was not built" >&2
    continue
  fi
  for prebuilt in 0 1; do
    [ "$prebuilt" = 1 ] && [ "$system" != onetbb ] && continue
    line="| $system"
    [ "$prebuilt" = 0 ] || line+=", prebuilt"
    for what in "${each[@]}"; do
      read -r case small large <<<"$what"
      if a=$(count "$system" "dag $case 0 $small 0 $prebuilt") && b=$(count "$system" "dag $case 0 $large 0 $prebuilt"); then
        read -r i1 t1 <<<"$a"
        read -r i2 t2 <<<"$b"
        line+=" | $(((i2 - i1) / (t2 - t1)))"
      else
        line+=" | -"
      fi
    done
    echo "$line |"
  done
done
