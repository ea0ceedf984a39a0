#!/usr/bin/env bash
# All checks, stage by stage. usage: test.sh [full]
# A stage that fails does not stop the others; each prints its seconds, and all failures are named at the end.
set -u
cd "$(dirname "$0")/.." || exit 2
full=${1:-}
export CTEST_OUTPUT_ON_FAILURE=1
[ "$full" = full ] && export KITH_TEST_SCALE=${KITH_TEST_SCALE:-10}
jobs=$(nproc)
lint_limit=${KITH_LINT_SECONDS:-1500}
passed=0 failed=0 skipped=0 failures=()

# stage NAME COMMAND...: runs it. It counts as one check, unless it is a ctest run, whose tests count.
stage() {
  local name=$1 log begin status summary
  shift
  log=$(mktemp)
  begin=$SECONDS
  "$@" >"$log" 2>&1
  status=$?
  # ctest counts a skipped test as passed in its summary and lists it below.
  summary=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' "$log" | tail -n 1)
  if [ -n "$summary" ]; then
    local bad all skip
    bad=$(sed -E 's/.*passed, ([0-9]+) tests failed.*/\1/' <<<"$summary")
    all=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$summary")
    skip=$(grep -cE '\(Skipped\)$' "$log")
    passed=$((passed + all - bad - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
    [ "$skip" -gt 0 ] && grep -E '\(Skipped\)$' "$log"
    grep -oE 'vm: (skipped: .*|[0-9]+ nodes, .*)' "$log" | sort | uniq  # of each virtual machine, or why there is none
  elif [ $status -eq 0 ]; then passed=$((passed + 1))
  else failed=$((failed + 1)); fi
  if [ $status -eq 0 ]; then
    printf '== %-34s ok      %4d s\n' "$name" $((SECONDS - begin))
  else
    printf '== %-34s FAILED  %4d s\n' "$name" $((SECONDS - begin))
    [ -n "$summary" ] && awk '/^ *[0-9]+\/[0-9]+ Test +#/ { failed = /\*\*\*/ } failed && !/^ +Start /' "$log" | head -n 400
    tail -n 80 "$log"
    failures+=("$name")
  fi
  rm -f "$log"
  return $status
}

configure_and_build() { # PRESET [TARGET...]
  local preset=$1 targets=()
  shift
  [ $# -gt 0 ] && targets=(--target "$@")
  cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" "${targets[@]}"
}
run_tests() { # PRESET [CTEST ARGS...]
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --no-tests=error -j "$jobs" "$@"
}
# Sanitizers reserve addresses where the kernel may already have put the program; without address
# randomisation the kernel never does.
run_sanitized() { # PRESET
  local fixed=(setarch "$(uname -m)" -R)
  "${fixed[@]}" true 2>/dev/null || fixed=()
  "${fixed[@]}" ctest --test-dir "build/$1" --no-tests=error -L 'unit|conformance|random' -j "$jobs"
}
sources() { find src include tools apps bench tests examples -name '*.cpp' -o -name '*.hpp'; }
formatted() { sources | xargs clang-format-19 --dry-run --Werror; }
# All compiled code except tests, with its headers; several files of a layer at once, so that headers are read less often.
# What is compiled again, with callbacks, is read once.
linted() {
  local tidy=build/lint-tool/bin/clang-tidy
  [ -x "$tidy" ] || tidy=clang-tidy-19
  cmake --preset lint || return
  sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/lint/compile_commands.json | grep -vE '/(tests|examples)/|/openmp\.cpp$|/kith_(traced|counted)_programs\.dir/' |
    sort -u | xargs ls -S | timeout "$lint_limit" xargs -P "$jobs" -n 1 \
    "$tidy" -p build/lint --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 |
    grep -vE 'warnings? generated\.|Processing file'
  local status=${PIPESTATUS[4]}
  [ "$status" -eq 124 ] && echo "lint: stopped after $lint_limit s; KITH_LINT_SECONDS sets another limit"
  return "$status"
}

dependencies() { scripts/deps.sh bench && scripts/ulfm.sh; }
# The Python package and the verbs that use it, with the tool of the release build.
python_tests() {
  if [ "${KITH_DEPS:-yes}" = yes ]; then scripts/python.sh test || return; fi
  KITH_TOOL=$PWD/build/release/kith build/venv/bin/python3 -m pytest tests/python -n "$jobs" --dist loadfile
}

# Runs all fuzzers at once; together they take three times the seconds of processor time.
fuzzed() { # SECONDS
  tests/fuzz/run.sh build/asan "$1"
}

finish() { # the last line is the sum of all stages
  [ ${#failures[@]} -gt 0 ] && printf 'failed: %s\n' "${failures[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  exit $((${#failures[@]} > 0))
}

if [ "${KITH_DEPS:-yes}" = yes ]; then
  stage "dependencies" dependencies || finish
fi
stage "format" formatted
without=numa
[ "$full" = full ] && without='numa|soak'  # the stage below runs it for longer
if stage "build (gcc, release)" configure_and_build release; then
  stage "tests (gcc, release)" run_tests release -LE "$without"
  stage "numa (virtual machines)" run_tests release -L numa -V
  if [ "$full" = full ]; then
    stage "soak (10^9 tasks)" env KITH_TEST_SCALE=25 build/release/tests/kith_soak_tests
    first=$(date +%s)000  # other programs each time
    stage "random programs from $first" build/release/tests/random_programs/kith_random_programs_tests \
      --gtest_brief=1 --programs="$first:1000000000" --seconds=200  # each of three tests
  fi
  stage "lint" linted
  stage "python" python_tests
fi
# Both by Clang, so that each change passes two compilers.
sanitized=(kith_unit_tests kith_conformance_tests kith_random_programs_tests)
fuzzers=(kith_fuzz_recordings kith_fuzz_machines kith_fuzz_messages)
if stage "build (address, undefined)" configure_and_build asan "${sanitized[@]}" "${fuzzers[@]}"; then
  stage "tests (address, undefined)" run_sanitized asan
  if [ "$full" = full ]; then stage "fuzz (an hour)" fuzzed 3600; else stage "fuzz (a minute)" fuzzed 30; fi
fi
if stage "build (thread)" configure_and_build tsan "${sanitized[@]}"; then
  stage "tests (thread)" run_sanitized tsan
fi
if [ "$full" = full ]; then
  stage "build (debug)" configure_and_build debug && stage "tests (debug)" run_tests debug
  stage "build (clang, release)" configure_and_build clang && stage "tests (clang, release)" run_tests clang -LE "$without"
fi

finish
