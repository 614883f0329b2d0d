// Places of A, B and C in 192 bytes, and the checks that a received proof must pass.
//
// Reading takes the square roots and the subgroup checks of three points; the length is looked at
// before that, so that a file of another kind costs nothing.
#include "groth16/proof_bytes.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "curve/encoding.h"

namespace cuzk::groth16 {
namespace {

using curve::Bls12_381;
using curve::kG1CompressedBytes;
using curve::kG2CompressedBytes;

constexpr std::size_t kBegin_B = kG1CompressedBytes;
constexpr std::size_t kBegin_C = kBegin_B + kG2CompressedBytes;
static_assert(kG1CompressedBytes == 48 && kG2CompressedBytes == 96);
static_assert(kBegin_C + kG1CompressedBytes == kProofBytes);

// Writes to all of `out`, which is one proof long.
void encode_into(const Proof<Bls12_381>& proof, std::span<std::uint8_t> out) {
  CUZK_ASSERT(out.size() == kProofBytes);
  curve::encode_compressed(proof.a, out.first(kBegin_B));
  curve::encode_compressed(proof.b, out.subspan(kBegin_B, kG2CompressedBytes));
  curve::encode_compressed(proof.c, out.subspan(kBegin_C));
}

// The encoding has a sign for infinity, but verify would say no to it (verify.cpp).
base::Status refuse_infinity(bool is_infinity, const std::string& point) {
  if (!is_infinity) return base::ok_status();
  return base::Error{base::ErrorKind::kMalformed, point + " is the point at infinity"};
}

}  // namespace

std::array<std::uint8_t, kProofBytes> encode_proof(const Proof<Bls12_381>& proof) {
  std::array<std::uint8_t, kProofBytes> out{};
  encode_into(proof, out);
  return out;
}

base::Bytes encode_proofs(std::span<const Proof<Bls12_381>> proofs) {
  base::Bytes out(proofs.size() * kProofBytes);
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    encode_into(proofs[i], std::span(out).subspan(i * kProofBytes, kProofBytes));
  }
  return out;
}

base::Result<Proof<Bls12_381>> decode_proof(base::ByteSpan bytes, std::string_view what) {
  const std::string name(what);
  if (bytes.size() != kProofBytes) {
    return base::Error{base::ErrorKind::kMalformed,
                       name + " has " + std::to_string(bytes.size()) + " bytes, a proof has 192"};
  }
  constexpr auto kCheck = curve::PointCheck::kSubgroup;
  const std::string a = name + ": point A", b = name + ": point B", c = name + ": point C";
  Proof<Bls12_381> proof;
  CUZK_TRY(proof.a, curve::decode_g1_compressed(bytes.first(kBegin_B), kCheck, a));
  CUZK_TRY(proof.b,
           curve::decode_g2_compressed(bytes.subspan(kBegin_B, kG2CompressedBytes), kCheck, b));
  CUZK_TRY(proof.c, curve::decode_g1_compressed(bytes.subspan(kBegin_C), kCheck, c));
  CUZK_TRY_STATUS(refuse_infinity(proof.a.is_infinity(), a));
  CUZK_TRY_STATUS(refuse_infinity(proof.b.is_infinity(), b));
  CUZK_TRY_STATUS(refuse_infinity(proof.c.is_infinity(), c));
  return proof;
}

base::Result<std::vector<Proof<Bls12_381>>> decode_proofs(base::ByteSpan bytes,
                                                          std::string_view what) {
  if (bytes.empty() || bytes.size() % kProofBytes != 0) {
    return base::Error{base::ErrorKind::kMalformed,
                       std::string(what) + " has " + std::to_string(bytes.size()) +
                           " bytes, expected a positive multiple of 192"};
  }
  const std::size_t count = bytes.size() / kProofBytes;
  std::vector<Proof<Bls12_381>> proofs;
  proofs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string part(what);
    if (count > 1) part += ", part " + std::to_string(i + 1) + " of " + std::to_string(count);
    CUZK_TRY(auto proof, decode_proof(bytes.subspan(i * kProofBytes, kProofBytes), part));
    proofs.push_back(proof);
  }
  return proofs;
}

}  // namespace cuzk::groth16
