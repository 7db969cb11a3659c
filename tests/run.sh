#!/bin/sh
# Runs the tests: C and C++, then Python: unit tests, workflows, browser.
# Usage: tests/run.sh VENV_BIN BUILD_DIR [all]; with `all` the native tests run under the sanitizers, and Python tests
# that are marked `long` run as well.
set -eu
bin=$1
build=$2
extent=${3:-}
# nproc heeds OMP_NUM_THREADS, which the Makefile sets to 1.
jobs=$(env -u OMP_NUM_THREADS nproc)

native_build=$build
selection="not long"
if [ "$extent" = all ]; then
  native_build=build-sanitize
  selection=
  # The native tests that the sanitizers cannot follow.
  cmake --build "$build" -j "$jobs" --target native_tests_without_sanitizers >> "$build.log" 2>&1 \
    || { tail -n 60 "$build.log"; exit 1; }
  ctest --test-dir "$build" --output-on-failure -j "$jobs" -L without_sanitizers

  # A build under AddressSanitizer and UndefinedBehaviorSanitizer, which has the tutorial's application as well, from
  # outside the tree; a Python test runs that.
  cmake -S . -B "$native_build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g1" \
    -DCMAKE_C_FLAGS_DEBUG="-O0 -g1" -DMANYNODE_SANITIZE=ON -DMANYNODE_SKELETON_DIRS="$PWD/docs/examples/ring" \
    > "$native_build.log" 2>&1 || { cat "$native_build.log"; exit 1; }
  cmake --build "$native_build" -j "$jobs" --target manynode-skeleton manynode_app_ring \
    >> "$native_build.log" 2>&1 || { tail -n 60 "$native_build.log"; exit 1; }
fi

# The native tests, beside the Python tests: with the lowest priority they take only the time in which those wait.
# setsid: a group of processes that can be ended as one.
setsid nice -n 19 sh -eu -c '
  cmake --build "$2" -j "$1" --target native_tests >> "$2.log" 2>&1 || { tail -n 60 "$2.log"; exit 1; }
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 ctest --test-dir "$2" --output-on-failure -j "$1"
' native_tests "$jobs" "$native_build" > "$build-native-tests.log" 2>&1 &
native=$!
trap 'kill -- -"$native" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

# A file of tests stays in one process: its tests share what they run once. The demo, which several files wait for, comes
# first, then whole workflows; the many short unit tests fill all processes at the end. Workflows wait often enough for
# one process more than there are cores.
failed=0
"$bin/python" -m pytest tests/workflow/test_demo.py tests/workflow tests/unit -n $((jobs + 1)) --dist loadfile \
  --no-loadscope-reorder -m "$selection" || failed=1
wait "$native" || failed=1
trap - EXIT INT TERM
cat "$build-native-tests.log"
exit "$failed"
