#!/bin/sh
# Runs every test: C and C++, then Python: unit tests, workflows, browser.
# Usage: tests/run.sh VENV_BIN BUILD_DIR
set -eu
bin=$1
build=$2
# nproc heeds OMP_NUM_THREADS, which the Makefile sets to 1.
jobs=$(env -u OMP_NUM_THREADS nproc)

# The native tests under AddressSanitizer and UndefinedBehaviorSanitizer, in a build of their own, which has the
# tutorial's application as well, from outside the tree.
cmake -S . -B build-sanitize -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g1" \
  -DCMAKE_C_FLAGS_DEBUG="-O0 -g1" -DMANYNODE_SANITIZE=ON -DMANYNODE_SKELETON_DIRS="$PWD/docs/examples/ring" \
  > build-sanitize.log 2>&1 || { cat build-sanitize.log; exit 1; }
cmake --build build-sanitize -j "$jobs" --target native_tests manynode-skeleton manynode_app_ring \
  >> build-sanitize.log 2>&1 || { tail -n 60 build-sanitize.log; exit 1; }
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
  ctest --test-dir build-sanitize --output-on-failure -j "$jobs"

# Those that the sanitizers cannot follow.
cmake --build "$build" -j "$jobs" --target native_tests_without_sanitizers >> "$build.log" 2>&1 \
  || { tail -n 60 "$build.log"; exit 1; }
ctest --test-dir "$build" --output-on-failure -j "$jobs" -L without_sanitizers

# A file of tests stays in one process: its tests share what they run once. The demo, which several files wait for, comes
# first, then whole workflows; the many short unit tests fill all processes at the end. Workflows wait often enough for
# one process more than there are cores.
"$bin/python" -m pytest tests/workflow/test_demo.py tests/workflow tests/unit -n $((jobs + 1)) --dist loadfile \
  --no-loadscope-reorder
