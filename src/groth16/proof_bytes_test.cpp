// Round trips, and every way in which proof bytes can be wrong: length, part, point, infinity.
#include "groth16/proof_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using C = curve::Bls12_381;

Proof<C> sample_proof(std::uint64_t seed) {
  testing::Random random(seed);
  const auto g1 = [&] {
    const auto k = random.element<C::Fr>().to_canonical().value;
    return C::G1Jacobian::from_affine(C::G1::generator()).scaled(k).to_affine();
  };
  const auto k = random.element<C::Fr>().to_canonical().value;
  const auto a = g1();
  return {a, C::G2Jacobian::from_affine(C::G2::generator()).scaled(k).to_affine(), g1()};
}

TEST(ProofBytes, DecodeIsTheInverseOfEncode) {
  std::vector<Proof<C>> proofs;
  for (std::uint64_t i = 0; i < 10; ++i) proofs.push_back(sample_proof(i));
  const auto bytes = encode_proofs(proofs);
  ASSERT_EQ(bytes.size(), 1920u);
  EXPECT_EQ(decode_proofs(bytes, "proof").value(), proofs);
  const auto first = encode_proof(proofs[0]);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), bytes.begin()));
  EXPECT_EQ(decode_proof(first, "proof").value(), proofs[0]);
}

TEST(ProofBytes, RefusesEveryOtherLength) {
  const auto bytes = encode_proofs(std::vector{sample_proof(1), sample_proof(2)});
  const base::ByteSpan all(bytes);
  for (const std::size_t size : {0, 1, 191, 193, 383}) {
    const auto one = decode_proof(all.first(size), "proof");
    ASSERT_FALSE(one.ok());
    EXPECT_EQ(one.error().kind, base::ErrorKind::kMalformed);
    const auto many = decode_proofs(all.first(size), "proof.bin");
    ASSERT_FALSE(many.ok());
    EXPECT_THAT(many.error().message,
                AllOf(HasSubstr("proof.bin"), HasSubstr(std::to_string(size) + " bytes")));
  }
}

TEST(ProofBytes, NamesThePartAndThePointThatAreBad) {
  std::vector<Proof<C>> proofs;
  for (std::uint64_t i = 0; i < 10; ++i) proofs.push_back(sample_proof(i));
  auto bytes = encode_proofs(proofs);
  bytes[6 * kProofBytes + 48] ^= 0x80;  // B of part 7 no longer says that it is compressed
  const auto result = decode_proofs(bytes, "proof");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("part 7 of 10"), HasSubstr("point B")));
}

TEST(ProofBytes, RefusesInfinityInEachPlace) {
  for (int which = 0; which < 3; ++which) {
    auto proof = sample_proof(3);
    if (which == 0) proof.a = {};
    if (which == 1) proof.b = {};
    if (which == 2) proof.c = {};
    const auto result = decode_proof(encode_proof(proof), "proof");
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message,
                AllOf(HasSubstr("infinity"), HasSubstr(std::string("point ") + "ABC"[which])));
  }
}

// The padding that a client might append, and appended whole zero proofs.
TEST(ProofBytes, RefusesZeroBytes) {
  auto bytes = encode_proofs(std::vector{sample_proof(1)});
  bytes.resize(2 * kProofBytes);
  const auto result = decode_proofs(bytes, "proof");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("part 2 of 2"));
}

// Every one-bit change either fails to decode or decodes to another proof, never to the same.
TEST(ProofBytes, NoTwoByteStringsAreOneProof) {
  const auto proof = sample_proof(4);
  auto bytes = encode_proof(proof);
  for (std::size_t bit = 0; bit < 8 * kProofBytes; bit += 7) {
    bytes[bit / 8] ^= std::uint8_t(1 << bit % 8);
    const auto result = decode_proof(bytes, "proof");
    EXPECT_TRUE(!result.ok() || result.value() != proof) << bit;
    bytes[bit / 8] ^= std::uint8_t(1 << bit % 8);
  }
}

}  // namespace
}  // namespace cuzk::groth16
