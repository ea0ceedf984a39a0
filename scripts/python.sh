#!/usr/bin/env bash
# Makes build/venv, a virtual environment with the Python package kith of this tree, as it is here (edits count at once).
# usage: python.sh [test]     with what its tests need. Does nothing, and needs no network, if all of it is there.
set -u
cd "$(dirname "$0")/.." || exit 2
extra=${1:-}
venv=build/venv
project=python/pyproject.toml
wanted=$(sha256sum "$project" | cut -d' ' -f1)
stamp=$venv/installed${extra:+-$extra}

if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && "$venv/bin/python3" -c 'import kith.command_line' 2>/dev/null; then exit 0; fi
if [ "$extra" = "" ] && [ "$(cat "$venv/installed-test" 2>/dev/null)" = "$wanted" ] &&
  "$venv/bin/python3" -c 'import kith.command_line' 2>/dev/null; then exit 0; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
fail() {
  tail -n 20 "$log" >&2
  echo "python: $1" >&2
  exit 1
}
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>"$log" || fail "python3 of version 3.11 or later is needed"
echo "python: installing the package kith and what it needs into $venv"
mkdir -p build
if ! "$venv/bin/python3" -c '' 2>/dev/null; then  # absent, or of an interpreter that is gone
  rm -rf "$venv"
  python3 -m venv "$venv" >"$log" 2>&1 || fail "python3 -m venv failed (Debian: apt-get install python3-venv)"
fi
pip() { "$venv/bin/python3" -m pip --disable-pip-version-check --quiet install --retries 3 "$@" >"$log" 2>&1; }
# setuptools first (it builds wheels itself since 70.1), so that an editable installation needs no build environment of its own.
pip 'setuptools>=70.1' && pip --no-build-isolation -e "./python${extra:+[$extra]}" ||
  fail "pip failed (above). The verbs report, compare, graph, similarity, top, export and import need the package"
echo "$wanted" >"$stamp"
