#!/bin/sh
# Runs every test: C and C++, then Python: unit tests, workflows, browser.
# Usage: tests/run.sh VENV_BIN BUILD_DIR
set -eu
bin=$1
build=$2
# nproc heeds OMP_NUM_THREADS, which the Makefile sets to 1.
jobs=$(env -u OMP_NUM_THREADS nproc)

# The native tests that the sanitizers cannot follow.
cmake --build "$build" -j "$jobs" --target native_tests_without_sanitizers >> "$build.log" 2>&1 \
  || { tail -n 60 "$build.log"; exit 1; }
ctest --test-dir "$build" --output-on-failure -j "$jobs" -L without_sanitizers

# A build under AddressSanitizer and UndefinedBehaviorSanitizer, which has the tutorial's application as well, from
# outside the tree; a Python test runs that.
cmake -S . -B build-sanitize -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g1" \
  -DCMAKE_C_FLAGS_DEBUG="-O0 -g1" -DMANYNODE_SANITIZE=ON -DMANYNODE_SKELETON_DIRS="$PWD/docs/examples/ring" \
  > build-sanitize.log 2>&1 || { cat build-sanitize.log; exit 1; }
cmake --build build-sanitize -j "$jobs" --target manynode-skeleton manynode_app_ring \
  >> build-sanitize.log 2>&1 || { tail -n 60 build-sanitize.log; exit 1; }

# All other native tests in that build, beside the Python tests: with the lowest priority they take only the time in
# which those wait. setsid: a group of processes that can be ended as one.
setsid nice -n 19 sh -eu -c '
  cmake --build build-sanitize -j "$1" --target native_tests > build-sanitize.log 2>&1 \
    || { tail -n 60 build-sanitize.log; exit 1; }
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
    ctest --test-dir build-sanitize --output-on-failure -j "$1"
' native_tests "$jobs" > build-sanitize-tests.log 2>&1 &
native=$!
trap 'kill -- -"$native" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

# A file of tests stays in one process: its tests share what they run once. The demo, which several files wait for, comes
# first, then whole workflows; the many short unit tests fill all processes at the end. Workflows wait often enough for
# one process more than there are cores.
failed=0
"$bin/python" -m pytest tests/workflow/test_demo.py tests/workflow tests/unit -n $((jobs + 1)) --dist loadfile \
  --no-loadscope-reorder || failed=1
wait "$native" || failed=1
trap - EXIT INT TERM
cat build-sanitize-tests.log
exit "$failed"
