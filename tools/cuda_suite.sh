#!/bin/sh
# Builds the device suite of the kernels from sources with nvcc and a C++ compiler alone, and runs
# it. Whole proofs on a device have a suite of their own (cmake/cuda.cmake: cuda_prove_suite).
#
#   tools/cuda_suite.sh [words for the suite: check, time, quick, tiny, memory, field, ntt, msm,
#                        forms, setup, split, device NAME]
#   tools/cuda_suite.sh full      all there is, of whole proofs too: tools/cuda_full_suite.sh
#
# BUILD (build-cuda) is the build directory, ARCH (sm_90) the device architecture, JOBS the number
# of compilers at once, CHECKER a program to run the suite under, RUN=0 to build only. Objects that
# are newer than every source are kept.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ "${1:-}" != full ] || exec "$root/tools/cuda_full_suite.sh"
build=${BUILD:-$root/build-cuda}
arch=${ARCH:-sm_90}
jobs=${JOBS:-$(nproc)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
rooms="src/cuda/device src/cuda/msm src/cuda/poly src/cuda/field src/cuda/curve src/cuda/setup"
mkdir -p "$build"
cd "$root"
{
  # Sums over extension fields take the longest: first.
  for source in $(find $rooms -name '*_g2.cu' | sort) src/cuda/poly/ntt.cu \
                $(find $rooms -name '*.cu' ! -name '*_g2.cu' ! -name ntt.cu | sort); do
    object="$build/$(echo "$source" | tr / _).o"
    echo "$nvcc -std=c++20 -O3 -arch=$arch --expt-relaxed-constexpr" \
         "-diag-suppress 20012,20050 -Isrc -c $source -o $object"
  done
  for source in $(find $rooms -name '*.cpp' ! -name '*_test.cpp' | sort) \
                bench/cuda/*_suite.cpp bench/cuda/suite_*.cpp \
                src/base/check.cpp src/base/result.cpp src/curve/groups.cpp; do
    object="$build/$(echo "$source" | tr / _).o"
    echo "g++ -std=c++20 -O2 -Isrc -I. -I$toolkit/include -c $source -o $object"
  done
} > "$build/commands.new"
if [ ! -x "$build/cuda_suite" ] || ! cmp -s "$build/commands" "$build/commands.new" ||
   [ -n "$(find src bench/cuda -newer "$build/cuda_suite" \( -name '*.h' -o -name '*.cu*' \
           -o -name '*.cpp' \) ! -path 'src/cuda/prove/*' ! -name '*_test.cpp' | head -1)" ]; then
  mv "$build/commands.new" "$build/commands"
  rm -f "$build"/*.o
  xargs -P "$jobs" -I{} sh -c '{} || { echo "failed: {}"; exit 255; }' < "$build/commands"
  "$nvcc" -arch="$arch" "$build"/*.o -o "$build/cuda_suite" -lpthread
fi
[ "${RUN:-1}" = 1 ] || exit 0
${CHECKER:-} "$build/cuda_suite" "$@"
