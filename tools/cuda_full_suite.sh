#!/bin/bash
# Builds both device suites with CMake and runs all there is on this machine: timings first, with
# the device to themselves, then all checks and compute-sanitizer's four tools side by side, then a
# device that is broken on purpose. Under eight minutes on an H200 with 16 cores, building included.
#
#   tools/cuda_suite.sh full
#
# Needs nvcc and, of the packages of tools/setup_debian.sh, those of the provers. BUILD
# (build/cuda_full) is the build directory with the logs, ARCH (native) the architecture, FULL (0)
# the size of the large proof as a power of two, 0 for none, JOBS the number of compilers at once.
# PARTS (time check fault) says what is run.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/cuda_full}
parts=" ${PARTS:-time check fault} "
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
checker=${SANITIZER:-$(command -v compute-sanitizer ||
                        echo "$(dirname "$(readlink -f "$nvcc")")/compute-sanitizer")}
data=(data tests/data)
[ ! -d ../shared/data ] || data+=(data ../shared/data)
c1=(c1 tests/data/upstream/instance1/porep-s0.c1.json)
failed=()

say() { printf '\n== %s (%s s so far)\n' "$*" "$SECONDS"; }

# run NAME COMMAND...: its output in NAME.log; what failed is told at the end.
run() {
  local name=$1 begin=$SECONDS status=0
  shift
  timeout 400 "$@" >"$build/$name.log" 2>&1 || status=$?
  echo "$status" >"$build/$name.status"
  printf '%-22s %4d s, status %d: %s\n' "$name" $((SECONDS - begin)) "$status" \
    "$(grep -E 'checks so far|ERROR SUMMARY|RACECHECK SUMMARY' "$build/$name.log" | tail -2 |
       tr '\n' ' ')"
}

say "building"
mkdir -p "$build"
cmake -G Ninja -B "$build" -DCMAKE_BUILD_TYPE=Release -DCUZK_CUDA=ON -DCUZK_PROVERS_ONLY=ON \
  -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES="${ARCH:-native}" \
  >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target cuda_suite cuda_prove_suite \
  >"$build/build.log" 2>&1 || { grep -E 'error|FAILED' "$build/build.log"; exit 1; }
rm -f "$build"/*.status
nvidia-smi --query-gpu=name,clocks.sm,clocks.max.sm,memory.total --format=csv,noheader || true

if [[ $parts == *" time "* ]]; then
  say "timings"
  run kernel_times "$build/cuda_suite" time
  run proof_times "$build/cuda_prove_suite" time limits devices "${c1[@]}"
  [ "${FULL:-0}" = 0 ] || run full_size "$build/cuda_prove_suite" full "${FULL:-0}"
fi

if [[ $parts == *" check "* ]]; then
  say "checks and sanitizers, side by side"
  run kernel_checks "$build/cuda_suite" check &
  run proof_checks "$build/cuda_prove_suite" check "${data[@]}" &
  # Sums under racecheck take longest, so what it sees is smallest.
  for tool in memcheck synccheck initcheck racecheck; do
    amount=quick
    [ $tool = memcheck ] || amount=tiny
    run "kernels_$tool" "$checker" --tool $tool --error-exitcode 9 "$build/cuda_suite" check \
      $amount &
    leaks=()
    [ $tool != memcheck ] || leaks=(--leak-check full)
    run "proofs_$tool" "$checker" --tool $tool "${leaks[@]}" --error-exitcode 9 \
      "$build/cuda_prove_suite" tiny check &
  done
  run pinned_memcheck "$checker" --tool memcheck --leak-check full --error-exitcode 9 \
    "$build/cuda_prove_suite" tiny pinned-fault vectors &
  wait
fi

if [[ $parts == *" fault "* ]]; then
  say "a device that is lost"
  run fault "$build/cuda_prove_suite" fault
  run shared_fault "$build/cuda_prove_suite" shared-fault
fi

for log in "$build"/*_times.log "$build/full_size.log"; do
  [ ! -f "${log%.log}.status" ] || { say "$(basename "$log" .log)"; cat "$log"; }
done
for status in "$build"/*.status; do
  [ "$(cat "$status")" = 0 ] || failed+=("$(basename "$status" .status)")
done
for name in "${failed[@]}"; do
  say "failed: $name"
  tail -40 "$build/$name.log"
done
say "all of it: ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
