#!/bin/sh
# Compiles all device code, without a GPU, for the architectures given (default: all supported).
#
#   tools/cuda_compile.sh [sm_80 sm_86 sm_89 sm_90 sm_120 compute_90]
#   tools/cuda_compile.sh ci      what continuous integration has time for
#
# compute_NN makes PTX, which drivers compile for cards that are newer than all others. JOBS
# compilers run at once; objects go to BUILD. All of it takes 11 minutes of processor time.
#
# "ci" takes one: every kernel to PTX of compute_90 without optimization, the field's kernels, which
# have all of the assembly, to machine code of sm_90, and the syntax of the host code that a build
# without nvcc leaves out. It ends with status 77 where there is no nvcc: skipped.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build-cuda-compile}
jobs=${JOBS:-$(nproc)}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
flags="-std=c++20 --expt-relaxed-constexpr -diag-suppress 20012,20050 -Isrc"
cd "$root"

# Where nvcc's own headers lie, as it says itself: the nvcc on the path may be a wrapper elsewhere.
toolkit_includes() {
  : >"$build/empty.cu"
  "$nvcc" --dryrun "$build/empty.cu" 2>&1 |
    sed -n 's/^#\$ INCLUDES="-I\([^"]*\)".*/-isystem \1/p'
}

ci_commands() {
  echo "$nvcc $flags -O3 -arch=sm_90 -c src/cuda/field/field_probe.cu -o $build/field_probe.o"
  for source in $(find src/cuda -name '*.cu' | sort); do
    echo "$nvcc $flags -Xcicc -O0 -arch=compute_90 -ptx $source" \
         "-o $build/$(echo "$source" | tr / _).ptx"
  done
  includes=$(toolkit_includes)
  for source in $(find src/cuda -name '*.cpp' ! -name '*_test.cpp' | sort); do
    echo "${CXX:-g++} -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Werror" \
         "-fsyntax-only -Isrc $includes $source"
  done
}

all_commands() {
  for arch in "$@"; do
    for source in $(find src/cuda -name '*_g2.cu' | sort) \
                  $(find src/cuda -name '*.cu' ! -name '*_g2.cu' | sort); do
      object="$build/$arch-$(echo "$source" | tr / _).o"
      echo "$nvcc $flags -O3 -gencode arch=compute_${arch#*_},code=$arch -c $source -o $object"
    done
  done
}

# Each line a command; the first that fails stops the rest.
run_lines() { xargs -P "$jobs" -I{} sh -c '{} || { echo "failed: {}"; exit 255; }'; }

if [ "${1:-}" = ci ]; then
  if [ ! -x "$nvcc" ]; then
    echo "skipped: no nvcc on this machine, so the device code was not compiled"
    exit 77
  fi
  mkdir -p "$build"
  ci_commands | run_lines
  echo "compiled: all kernels to PTX, the field's to machine code, the host code checked"
  exit 0
fi
[ $# -gt 0 ] || set -- sm_80 sm_86 sm_89 sm_90 sm_120 compute_90
mkdir -p "$build"
all_commands "$@" | run_lines
echo "compiled for: $*"
