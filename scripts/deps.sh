#!/usr/bin/env bash
# Installs what is missing. usage: deps.sh build | test | bench   (each includes the one before)
set -u
build=(build-essential cmake ninja-build pkg-config ccache libhwloc-dev libcli11-dev libfmt-dev nlohmann-json3-dev
       libsqlite3-dev libtomlplusplus-dev libscotch-dev
       libopenblas-dev liblapacke-dev libpng-dev librsvg2-bin python3)
tests=(libgtest-dev libgmock-dev clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev valgrind)
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
missing=()
for p in "${wanted[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "deps: installing ${missing[*]}"
if [ "$(id -u)" = 0 ]; then as_root=()
elif command -v sudo >/dev/null; then as_root=(sudo)
else
  echo "deps: neither root nor sudo. Ask somebody who is to run: apt-get install ${missing[*]}" >&2
  exit 1
fi
log=$(mktemp)
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 "$@" </dev/null >>"$log" 2>&1; }
apt update && apt install -y --no-install-recommends "${missing[@]}"
status=$?
if [ $status -ne 0 ]; then
  tail -n 20 "$log" >&2
  echo "deps: apt-get failed (above; all of it in $log). Missing were: ${missing[*]}" >&2
else
  rm -f "$log"
fi
exit $status
