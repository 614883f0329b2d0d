#!/bin/sh
# Compiles all device code, without a GPU, for the architectures given (default: all supported).
#
#   tools/cuda_compile.sh [sm_80 sm_86 sm_89 sm_90 sm_120 compute_90]
#
# One architecture is for continuous integration. compute_NN makes PTX, which drivers compile for
# cards that are newer than all others. JOBS compilers run at once; objects go to BUILD.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build-cuda-compile}
jobs=${JOBS:-$(nproc)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ $# -gt 0 ] || set -- sm_80 sm_86 sm_89 sm_90 sm_120 compute_90
mkdir -p "$build"
cd "$root"
for arch in "$@"; do
  for source in $(find src/cuda -name '*_g2.cu' | sort) \
                $(find src/cuda -name '*.cu' ! -name '*_g2.cu' | sort); do
    object="$build/$arch-$(echo "$source" | tr / _).o"
    echo "$nvcc -std=c++20 -O3 -gencode arch=compute_${arch#*_},code=$arch" \
         "--expt-relaxed-constexpr -diag-suppress 20012,20050 -Isrc -c $source -o $object"
  done
done | xargs -P "$jobs" -I{} sh -c '{} || { echo "failed: {}"; exit 255; }'
echo "compiled for: $*"
