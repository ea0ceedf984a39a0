# Thin fronts; CMakePresets.json and scripts/ do the work. KITH_DEPS=no skips the installation of packages.
.DEFAULT_GOAL := help
.PHONY: help deps build python demo test test-full bench format clean

help:  ## this text
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 18

deps:  ## install what is missing (Debian packages, as root or with sudo)
	@test "$(KITH_DEPS)" = no || scripts/deps.sh build

configure = cmake --preset release > build-configure.log 2>&1 || { cat build-configure.log; rm -f build-configure.log; exit 1; }; \
  rm -f build-configure.log

build: deps  ## configure and build into build/release
	@$(configure)
	@cmake --build --preset release -j "$$(nproc)"

python: deps  ## the Python package, into build/venv: kith report, graph, similarity, export and others
	@scripts/python.sh

demo: deps  ## where tasks run matters: heat on eight sockets, simulated; then programs on this machine
	@$(configure)
	@cmake --build --preset release -j "$$(nproc)" --target kith_tool
	@scripts/python.sh || echo "make: without it kith demo runs all the same"
	@build/release/kith demo --picture build/demo.svg

test:  ## every check; what continuous integration runs
	@scripts/test.sh

test-full:  ## the same with long stress tests
	@scripts/test.sh full

bench:  ## Kith beside libgomp, libomp, oneTBB and StarPU, in one run
	@test "$(KITH_DEPS)" = no || scripts/deps.sh bench
	@$(MAKE) --no-print-directory build
	@build/release/kith-bench dag
	@build/release/kith-bench metg
	@build/release/kith-bench forkjoin
	@build/release/kith-bench graph
	@build/release/kith-bench loops

format:  ## format all sources
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-19 -i

clean:  ## remove build/
	@rm -rf build
