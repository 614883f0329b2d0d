// Proof bytes: a proof has one encoding, so what is accepted is encoded to the same bytes.
//
// A refusal has to carry a sentence. Whether a proof verifies is not asked.
#include <algorithm>

#include "fuzz/target.h"
#include "groth16/proof_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  // Decompression takes three square roots a proof; three proofs say as much as thirty.
  if (size > 3 * groth16::kProofBytes) return 0;
  const auto proofs = groth16::decode_proofs({data, size}, "fuzz.proof");
  CUZK_FUZZ_REQUIRE(proofs.ok() || !proofs.error().message.empty());
  if (!proofs.ok()) return 0;
  const base::Bytes again = groth16::encode_proofs(*proofs);
  CUZK_FUZZ_REQUIRE(again.size() == size && std::equal(again.begin(), again.end(), data));
  return 0;
}

std::vector<cuzk::base::Bytes> cuzk::fuzz::seeds() {
  return {data_file("upstream/mimc/mimc.proof"), data_file("upstream/instance1/porep-s0.proof"),
          data_file("upstream/instance1/window-3sectors.proof")};
}
