// Uniformity as far as a test can see it: both halves of the range, no repetition, no zero.
#include "groth16/random_scalar.h"

#include <set>

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::groth16 {
namespace {

template <class F>
class RandomScalarTest : public ::testing::Test {};
using Fields = ::testing::Types<field::bls12_381::Fr, field::bn254::Fr>;
TYPED_TEST_SUITE(RandomScalarTest, Fields);

// A draw cut to too few bits, or reduced from too many, would crowd the lower part of the range.
// The fraction above modulus / 2 of 4000 uniform draws leaves 0.5 by six standard deviations
// (0.047) once in a billion runs.
TYPED_TEST(RandomScalarTest, DrawsFallOnBothHalvesAlikeAndDoNotRepeat) {
  using F = TypeParam;
  const auto half = field::half(F::Params::kModulus);
  std::set<std::vector<std::uint64_t>> seen;
  int above = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const auto value = random_scalar<F>().value().to_canonical().value;
    if (field::less(half, value)) ++above;
    seen.insert({value.limb, value.limb + F::kLimbCount});
  }
  EXPECT_EQ(seen.size(), std::size_t{kDraws});
  EXPECT_GT(above, kDraws * 0.453);
  EXPECT_LT(above, kDraws * 0.547);
}

TYPED_TEST(RandomScalarTest, NonzeroIsNotZero) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(random_nonzero_scalar<TypeParam>().value().is_zero());
  }
}

}  // namespace
}  // namespace cuzk::groth16
