#!/bin/sh
# The CMake options with which a build uses this machine's NVIDIA cards: one line, empty where there
# is no card or nothing to compile for it with, which standard error then says in a sentence.
#
#     cmake --preset release $(tools/gpu_options.sh)
#
# NVCC names the compiler; otherwise the one on the path is taken, or the one of /usr/local/cuda.
# Only this machine's cards are compiled for: seconds instead of minutes.
set -eu

say() { echo "gpu: $*" >&2; }

cards=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
          sed -n 's/^ *\([0-9][0-9]*\)\.\([0-9]\) *$/\1\2/p' | sort -nu) || cards=
if [ -z "$cards" ]; then
  [ ! -e /proc/driver/nvidia/version ] ||
    say "the NVIDIA driver is here, but nvidia-smi finds no card: building for the CPU"
  exit 0
fi
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$nvcc" ]; then
  say "this machine has an NVIDIA card but no CUDA toolkit (nvcc): building for the CPU." \
      "Install CUDA 12 or newer and run this again to use the card"
  exit 0
fi
release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
if [ "${release:-0}" -lt 12 ]; then
  say "nvcc at $nvcc is of CUDA ${release:-unknown}, 12 or newer is needed: building for the CPU"
  exit 0
fi
known=$("$nvcc" --list-gpu-arch)
architectures=
for card in $cards; do
  if [ "$card" -lt 80 ]; then
    say "a card of compute capability $card (tens and ones) is older than 80 and will not be used"
  elif echo "$known" | grep -qx "compute_$card"; then
    architectures="$architectures;$card-real"
  else  # newer than the toolkit: the driver compiles what the newest known one would get
    newest=$(echo "$known" | sed -n 's/^compute_\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
    architectures="$architectures;$newest-virtual"
  fi
done
[ -n "$architectures" ] || exit 0
echo "-DCUZK_CUDA=ON -DCMAKE_CUDA_COMPILER=$nvcc -DCMAKE_CUDA_ARCHITECTURES=${architectures#;}"
