// Square roots against their definition, in Fp and Fp2 of both curves.
//
// In Fp2 real and purely imaginary values take paths of their own and are tried apart.
#include "field/square_root.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "field/samples.h"

namespace cuzk::field {
namespace {

template <class F>
class SquareRoot : public ::testing::Test {};
using Fields = ::testing::Types<bls12_381::Fp, bls12_381::Fp2, bn254::Fp, bn254::Fp2>;
TYPED_TEST_SUITE(SquareRoot, Fields);

TYPED_TEST(SquareRoot, OfASquareIsOneOfTheTwoRoots) {
  SampleGenerator generator(1);
  for (int i = 0; i < 20; ++i) {
    const auto x = generator.next<TypeParam>();
    const auto root = square_root(x.squared());
    ASSERT_TRUE(root.has_value());
    EXPECT_TRUE(*root == x || *root == -x);
  }
  EXPECT_EQ(square_root(TypeParam::zero()), TypeParam::zero());
  EXPECT_TRUE(square_root(TypeParam::one()).has_value());
}

TYPED_TEST(SquareRoot, HalfOfTheElementsHaveNone) {
  SampleGenerator generator(2);
  int found = 0;
  const int kRounds = 200;
  for (int i = 0; i < kRounds; ++i) {
    const auto x = generator.next<TypeParam>();
    const auto root = square_root(x);
    if (!root) continue;
    ++found;
    EXPECT_EQ(root->squared(), x);
  }
  EXPECT_GT(found, kRounds / 3);
  EXPECT_LT(found, kRounds * 2 / 3);
}

// c1 = 0 with c0 a square or not, and c0 = 0: where the complex method divides by zero if careless.
template <class Fp2>
void expect_real_and_imaginary_roots() {
  using Fp = typename Fp2::Base;
  for (const Fp& c : edge_elements<Fp>()) {
    const auto of_real = square_root(Fp2{c, Fp::zero()});
    ASSERT_TRUE(of_real.has_value());
    EXPECT_EQ(of_real->squared(), (Fp2{c, Fp::zero()}));
    // u c is a square for some c only; whatever is returned must be a root.
    if (const auto root = square_root(Fp2{Fp::zero(), c})) {
      EXPECT_EQ(root->squared(), (Fp2{Fp::zero(), c}));
    }
  }
  EXPECT_EQ(square_root(-Fp2::one())->squared(), -Fp2::one());
}

TEST(SquareRootInFp2, HandlesRealAndImaginaryValues) {
  expect_real_and_imaginary_roots<bls12_381::Fp2>();
  expect_real_and_imaginary_roots<bn254::Fp2>();
}

}  // namespace
}  // namespace cuzk::field
