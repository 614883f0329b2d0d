#!/bin/sh
# Builds the device suite from sources with nvcc and a C++ compiler alone, and runs it.
#
#   tools/cuda_suite.sh [words for the suite: check, time, quick, field, ntt, msm, device NAME]
#
# BUILD (build-cuda) is the build directory, ARCH (sm_90) the device architecture, JOBS the number
# of compilers at once, CHECKER a program to run the suite under, RUN=0 to build only.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build-cuda}
arch=${ARCH:-sm_90}
jobs=${JOBS:-$(nproc)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
mkdir -p "$build"
cd "$root"
{
  for source in $(find src/cuda -name '*.cu' | sort); do
    object="$build/$(echo "$source" | tr / _).o"
    echo "$nvcc -std=c++20 -O3 -arch=$arch --expt-relaxed-constexpr" \
         "-diag-suppress 20012,20050 -Isrc -c $source -o $object"
  done
  for source in $(find src/cuda -name '*.cpp' ! -name '*_test.cpp' | sort) \
                bench/cuda/*_suite.cpp bench/cuda/suite_*.cpp \
                src/base/check.cpp src/base/result.cpp src/curve/groups.cpp; do
    object="$build/$(echo "$source" | tr / _).o"
    echo "g++ -std=c++20 -O2 -Isrc -I. -I$toolkit/include -c $source -o $object"
  done
} > "$build/commands"
rm -f "$build"/*.o
xargs -P "$jobs" -I{} sh -c '{} || { echo "failed: {}"; exit 255; }' < "$build/commands"
"$nvcc" -arch="$arch" "$build"/*.o -o "$build/cuda_suite" -lpthread
if [ "${RUN:-1}" = 1 ]; then
  ${CHECKER:-} "$build/cuda_suite" "$@"
fi
