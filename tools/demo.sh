#!/bin/bash
# From a clean Debian 12 to a verified Filecoin proof: installs what is missing, builds cuzk, seals
# a sample sector of 2 KiB, makes development parameters, proves and verifies. Needs root or sudo
# only for packages; an NVIDIA card is used where one is. What it makes lies in build/demo.
#
#     tools/demo.sh
set -euo pipefail
cd "$(dirname "$0")/.."

cuzk=$PWD/build/release/cuzk
demo=$PWD/build/demo

say() { printf '%s\n' "$*"; }

# The value of one line "  label: value" of a command's answer.
fact() { sed -n "s/^  $1: //p" "$2"; }

# With device code where this machine has an NVIDIA card and a compiler for it.
build() {
  local gpu_options
  mkdir -p build
  read -ra gpu_options <<<"$(tools/gpu_options.sh)"
  [ ${#gpu_options[@]} -eq 0 ] || say "   an NVIDIA card is here: its code is built too"
  cmake --preset release -DCUZK_UNITY=ON "${gpu_options[@]}" \
    -DCUZK_BUILD_TESTS=OFF -DCUZK_BUILD_FUZZ=OFF -DCUZK_BUILD_BENCH=OFF \
    >build/configure-demo.log 2>&1 || { cat build/configure-demo.log; return 1; }
  cmake --build build/release --target cuzk --parallel "${CUZK_JOBS:-$(nproc)}" \
    >build/build-demo.log 2>&1 || { tail -n 40 build/build-demo.log; return 1; }
}

make_params() {
  # The .params file is written last, but older runs may have left one alone: both must be there.
  if ls "$demo"/params/*replication*.params >/dev/null 2>&1 &&
    ls "$demo"/params/*replication*.vk >/dev/null 2>&1; then
    return
  fi
  "$cuzk" filecoin params --sector-size 2KiB --kind porep --params-dir "$demo/params" --force \
    >"$demo/params.txt"
}

verify() {
  local vk
  vk=$(ls "$demo"/params/*replication*.vk)
  "$cuzk" filecoin verify --kind porep --sector-size 2KiB --vk "$vk" --proof "$demo/proof.bin" \
    --registered-proof "$(fact number "$demo/seal.txt")" \
    --comm-r "$(fact 'comm_r (the replica)' "$demo/seal.txt")" \
    --comm-d "$(fact 'comm_d (the data)' "$demo/seal.txt")" \
    --miner-id "$(fact miner "$demo/seal.txt")" --sector "$1" \
    --ticket "$(fact ticket "$demo/seal.txt")" --seed "$(fact seed "$demo/c1.txt")"
}

main() {
  say "1. Installing the packages that are missing, and building cuzk ..."
  tools/setup_debian.sh build
  build
  mkdir -p "$demo"
  say "2. Sealing a sample sector: 2 KiB of data become a replica that is its owner's alone."
  "$cuzk" filecoin seal --sector-size 2KiB --dir "$demo/sector" --force >"$demo/seal.txt"
  say "   commitment to the replica: $(fact 'comm_r (the replica)' "$demo/seal.txt")"
  say "3. Opening the places that a random seed picks (commit phase 1) ..."
  "$cuzk" filecoin c1 --dir "$demo/sector" --out "$demo/c1.json" >"$demo/c1.txt"
  say "4. Making development parameters (1.1 GB; for tests only, a network uses a ceremony's) ..."
  make_params
  say "5. Proving with Groth16 that the sector was sealed rightly (commit phase 2) ..."
  "$cuzk" filecoin prove --c1 "$demo/c1.json" --params-dir "$demo/params" \
    --out "$demo/proof.bin" >"$demo/prove.txt"
  say "   $(wc -c <"$demo/proof.bin") bytes of proof, in $(fact time "$demo/prove.txt") and with" \
    "$(fact 'peak memory' "$demo/prove.txt") of memory (made by: $(fact backend "$demo/prove.txt"))"
  say "6. Verifying it with nothing but what a blockchain knows: $(verify 1 | head -n 1)"
  say "   The same proof for another sector number: $(verify 2 | head -n 1)"
  say "Done in $SECONDS s. The command is $cuzk (try --help); everything made is in $demo."
}

main "$@"
