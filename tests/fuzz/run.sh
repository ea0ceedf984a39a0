#!/usr/bin/env bash
# Runs the fuzzers side by side, from their corpora. usage: run.sh BUILD_FOLDER SECONDS [NAME...]
# In an hour or more the fuzzer of messages runs ten million of them, in as long as that takes. Input that makes one fail
# stays in BUILD_FOLDER/fuzz/; once the fault is fixed, it goes into corpus/.
set -u
build=$(cd "${1:?usage: run.sh BUILD_FOLDER SECONDS [NAME...]}" && pwd) seconds=${2:?seconds} here=$(dirname "$0")
shift 2
[ $# -gt 0 ] || set -- recordings machines messages
status=0 pids=()
# The timeout is in wall-clock time: long enough for a busy machine, short enough to find input that never ends.
for what in "$@"; do
  found="$build/fuzz/$what"
  mkdir -p "$found"
  more=(-max_len=512 -len_control=0)
  [ "$what" = machines ] && more=("$here/../../machines" "$here/../data/machines" -dict="$here/machines.dict" -max_len=16384)
  limit="-max_total_time=$seconds"
  [ "$what" = messages ] && [ "$seconds" -ge 3600 ] && limit=-runs=10000000
  "$build/tests/fuzz/kith_fuzz_$what" "$found" "$here/corpus/$what" "${more[@]}" "$limit" -timeout=600 \
    -rss_limit_mb=3072 -print_final_stats=1 -artifact_prefix="$build/fuzz/$what-" >"$build/fuzz/$what.log" 2>&1 &
  pids+=($!)
done
i=0
for what in "$@"; do
  wait "${pids[i]}" || { status=1; tail -n 60 "$build/fuzz/$what.log"; }
  i=$((i + 1))
done
for what in "$@"; do grep -hE 'stat::(number_of_executed_units|new_units_added)|cov: ' "$build/fuzz/$what.log" | tail -n 3; done
exit $status
