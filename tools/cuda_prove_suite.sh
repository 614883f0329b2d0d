#!/bin/sh
# Builds the suite of whole proofs (bench/cuda_prove) with CMake, needing nvcc and the packages of
# tools/setup_debian.sh, and runs it on this machine: byte equality with the CPU, limits of
# device memory, times, several devices, a device that is broken on purpose. About two minutes.
#
#   tools/cuda_prove_suite.sh [words: check time limits devices full LOG2 fault quick proofs N ...]
#
# BUILD (build/cuda_prove) is the build directory, ARCH (native) the architecture, CHECKER a program
# to run the suite under.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/cuda_prove}
mkdir -p "$(dirname "$build")"
cmake -G Ninja -B "$build" -DCMAKE_BUILD_TYPE=Release -DCUZK_CUDA=ON -DCUZK_BUILD_TESTS=OFF \
  -DCMAKE_CUDA_COMPILER="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}" \
  -DCMAKE_CUDA_ARCHITECTURES="${ARCH:-native}" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --target cuda_prove_suite
[ $# -gt 0 ] || set -- check time limits devices fault
[ ! -d ../shared/data ] || set -- "$@" data ../shared/data
${CHECKER:-} "$build/cuda_prove_suite" "$@" data tests/data \
  c1 tests/data/upstream/instance1/porep-s0.c1.json
