#!/usr/bin/env bash
# Installs what is missing. usage: deps.sh build | test | bench   (each includes the one before)
set -u
build=(build-essential cmake ninja-build pkg-config ccache libboost-context-dev libhwloc-dev libcli11-dev libfmt-dev nlohmann-json3-dev
       libsqlite3-dev libtomlplusplus-dev libscotch-dev libcereal-dev
       libopenblas-dev liblapacke-dev libpng-dev librsvg2-bin python3 python3-venv)
tests=(libgtest-dev libgmock-dev clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev valgrind groff-base spin
       libopenmpi-dev openmpi-bin libmpich-dev mpich  # both: places as processes
       chromium chromium-driver  # the report in a browser
       otf2-tools graphviz pajeng  # readers of what kith export writes
       qemu-system-x86 busybox-static cpio)  # machines with several memory nodes, tests/numa
bench=(libomp-19-dev libtbb-dev libstarpu-dev libgomp1 libsimgrid-dev)
case "${1:-build}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${tests[@]}") ;;
  bench) wanted=("${build[@]}" "${tests[@]}" "${bench[@]}") ;;
  *) echo "usage: deps.sh build|test|bench" >&2; exit 2 ;;
esac

command -v apt-get >/dev/null || {
  echo "deps: no apt-get here. Install the equivalents of: ${wanted[*]}; then call make again with KITH_DEPS=no" >&2
  exit 1
}
as_root=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 "$@" </dev/null >>"$log" 2>&1; }
become_root() {
  [ "$(id -u)" = 0 ] && return
  command -v sudo >/dev/null || return
  as_root=(sudo)
}

# A kernel for the virtual machines. Its package is unpacked into build/, and nothing is installed. Without
# it their tests are skipped and say so.
kernel() {
  [ "${1:-build}" = build ] || [ "$(uname -m)" != x86_64 ] && return
  local fetch=(python3 "$(dirname "$0")/../tests/numa/guest_kernel.py")
  "${fetch[@]}" >/dev/null 2>&1 && return
  become_root && apt update
  "${fetch[@]}" >/dev/null || true
}

# A clang-tidy that does not look into system headers, which makes it five times faster than Debian's. It lies in build/;
# without it Debian's is used.
lint_tool() {
  local folder
  folder=$(dirname "$0")/../build/lint-tool
  [ "${1:-build}" = build ] || [ -x "$folder/bin/clang-tidy" ] && return
  { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check clang-tidy==23.1.4; } \
    >>"$log" 2>&1 </dev/null || { rm -rf "$folder"; echo "deps: no clang-tidy from PyPI, so lint takes minutes longer" >&2; }
}

missing=()
for p in "${wanted[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
if [ ${#missing[@]} -eq 0 ]; then
  kernel "$@"
  lint_tool "$@"
  exit 0
fi

echo "deps: installing ${missing[*]}"
become_root || {
  echo "deps: neither root nor sudo. Ask somebody who is to run: apt-get install ${missing[*]}" >&2
  exit 1
}
apt update && apt install -y --no-install-recommends "${missing[@]}"
status=$?
if [ $status -ne 0 ]; then
  tail -n 20 "$log" >&2
  trap - EXIT
  echo "deps: apt-get failed (above; all of it in $log). Missing were: ${missing[*]}" >&2
  exit $status
fi
kernel "$@"
lint_tool "$@"
