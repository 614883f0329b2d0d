// Proofs as Filecoin and ZCash write them: A (G1), B (G2), C (G1) compressed, 192 bytes, BLS12-381.
//
// The points are big-endian x with three flag bits on top (ZCash protocol specification, encoding
// of BLS12-381). This is the only form of a proof that a chain sees, so reading is strict: one
// proof has one encoding. Proofs of snarkjs are JSON and live in formats/.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "groth16/keys.h"

namespace cuzk::groth16 {

inline constexpr std::size_t kProofBytes = 192;

// Any proof, also one that does not verify.
std::array<std::uint8_t, kProofBytes> encode_proof(const Proof<curve::Bls12_381>& proof);
// The proofs one after the other.
base::Bytes encode_proofs(std::span<const Proof<curve::Bls12_381>> proofs);

// Exactly kProofBytes. Refuses non-canonical coordinates, points off the curve or outside the
// subgroup, and infinity; the error names `what` and the point (A, B or C).
base::Result<Proof<curve::Bls12_381>> decode_proof(base::ByteSpan bytes, std::string_view what);

// One or more proofs one after the other, as many as the length says: an error names the first bad
// part ("part 7 of 10"), or the length when it is no positive multiple of 192.
base::Result<std::vector<Proof<curve::Bls12_381>>> decode_proofs(base::ByteSpan bytes,
                                                                 std::string_view what);

}  // namespace cuzk::groth16
