#!/bin/bash
# Installs what is missing, builds, and runs the tests: the whole suite in Release, the rooms named
# below again under the address and undefined-behaviour sanitizers and under the thread sanitizer.
#
#     tools/test.sh [release|asan-ubsan|tsan]...     (default: all three)
#     tools/test.sh asan-ubsan-whole|tsan-whole      everything under a sanitizer, PoReps of 2 KiB
#                                                    included: minutes on 16 cores, hours on two
set -euo pipefail
cd "$(dirname "$0")/.."

jobs="${CUZK_JOBS:-$(nproc)}"
# Clones of one machine share what ccache keeps, wherever they lie.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:history_size=7:suppressions=$PWD/tools/tsan_suppressions.txt
# A room's name is added here once its suite was seen clean and the whole ends in time.
sanitized_rooms=(base field curve poly msm hash r1cs groth16 formats filecoin cuda engine service)
threaded_rooms=(base poly msm cuda engine)
# Rooms beside libraries that are not built with the thread sanitizer: what these do with memory is
# not looked at, only how they order it.
threaded_rooms_with_libraries=(service)

say() { printf '\n== %s (%s s so far)\n' "$*" "$SECONDS"; }

# configure and build a preset's targets: all of them when none is named. The release preset has
# device code too where the machine has a card: its tests then run on the card as well.
build() {
  local preset=$1 gpu_options=()
  shift
  say "building $preset"
  [ "$preset" != release ] || read -ra gpu_options <<<"$(tools/gpu_options.sh)"
  cmake --preset "$preset" -DCUZK_UNITY=ON "${gpu_options[@]}" \
    >"build/configure-$preset.log" 2>&1 ||
    { cat "build/configure-$preset.log"; return 1; }
  cmake --build "build/$preset" --parallel "$jobs" -- --quiet "$@"
}

run_tests() {
  local preset=$1
  shift
  say "testing $preset"
  local status=0
  ctest --test-dir "build/$preset" --no-tests=error --output-on-failure --parallel "$jobs" "$@" ||
    status=$?
  [ "$status" -eq 0 ] && return
  say "what failed once more, so that its output is the last there is; the verdict stays"
  ctest --test-dir "build/$preset" --rerun-failed --output-on-failure || true
  return "$status"
}

run_release() {
  build release
  run_tests release
}

# The tests of some rooms under one preset; "fuzz" stands for the smoke runs of the fuzz targets.
# Left out: what takes minutes under a sanitizer or measures time (named in cmake/rooms.cmake).
run_rooms() {
  local preset=$1 targets labels
  shift
  labels=("${@/%/_test}")
  labels=("${labels[@]/#fuzz_test/fuzz}")
  targets=("${labels[@]/%fuzz/fuzz_targets}")
  build "$preset" "${targets[@]}"
  run_tests "$preset" -L "^($(IFS='|'; echo "${labels[*]}"))$" -LE '^release_only$'
}

run_asan_ubsan() { run_rooms asan-ubsan "${sanitized_rooms[@]}" fuzz; }

run_tsan() {
  run_rooms tsan "${threaded_rooms[@]}"
  TSAN_OPTIONS=$TSAN_OPTIONS:ignore_noninstrumented_modules=1 \
    run_rooms tsan "${threaded_rooms_with_libraries[@]}"
}

# Every test but those that measure time, in a folder of its own: optimised, since whole PoReps do
# not end otherwise. A command that does not look at Ctrl-C in time is ended with its threads in it,
# which is no leak of them.
run_whole() {
  local preset=$1
  say "building $preset, optimised"
  cmake --preset "$preset" -B "build/$preset-whole" -DCUZK_SANITIZE_LEVEL=-O2 \
    >"build/configure-$preset-whole.log" 2>&1 ||
    { cat "build/configure-$preset-whole.log"; return 1; }
  cmake --build "build/$preset-whole" --parallel "$jobs" -- --quiet
  TSAN_OPTIONS=$TSAN_OPTIONS:ignore_noninstrumented_modules=1:report_thread_leaks=0 \
    run_tests "$preset-whole" -E 'ConformanceTiming|MsmTime|UpstreamBytesReleaseFullSize'
}

main() {
  local suites=("$@") suite
  [ ${#suites[@]} -gt 0 ] || suites=(release asan-ubsan tsan)
  say "installing what is missing"
  tools/setup_debian.sh test
  mkdir -p build
  if CUZK_SNARKJS=$(tools/setup_snarkjs.sh); then
    export CUZK_SNARKJS
  elif [ -n "${CUZK_REQUIRE_SNARKJS:-}" ]; then
    echo "snarkjs could not be installed, and CUZK_REQUIRE_SNARKJS demands its tests" >&2
    return 1
  else
    echo "The tests that need snarkjs will be reported as skipped."
  fi
  if CUZK_GRPCJS=$(tools/setup_grpcjs.sh); then
    export CUZK_GRPCJS
  elif [ -n "${CUZK_REQUIRE_GRPCJS:-}" ]; then
    echo "grpc-js could not be installed, and CUZK_REQUIRE_GRPCJS demands its tests" >&2
    return 1
  else
    echo "The tests that need grpc-js will be reported as skipped."
  fi
  if CUZK_PLAYWRIGHT=$(tools/setup_browser.sh); then
    export CUZK_PLAYWRIGHT
  elif [ -n "${CUZK_REQUIRE_BROWSER:-}" ]; then
    echo "the browser could not be installed, and CUZK_REQUIRE_BROWSER demands its tests" >&2
    return 1
  else
    echo "The tests that need a browser will be reported as skipped."
  fi
  if [ -z "${CUZK_FOREIGN_PROTO:-}" ]; then
    if CUZK_FOREIGN_PROTO=$(tools/setup_curio_proto.sh); then
      export CUZK_FOREIGN_PROTO
    else
      unset CUZK_FOREIGN_PROTO
      echo "The daemon's tests will use this repository's copy of the interface."
    fi
  fi
  for suite in "${suites[@]}"; do
    case "$suite" in
      release) run_release ;;
      asan-ubsan) run_asan_ubsan ;;
      tsan) run_tsan ;;
      asan-ubsan-whole) run_whole asan-ubsan ;;
      tsan-whole) run_whole tsan ;;
      *) echo "unknown suite: $suite" >&2; exit 2 ;;
    esac
  done
  say "all of it passed: ${suites[*]}"
}

main "$@"
