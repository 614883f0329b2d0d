// Inverses by division steps against powers and against the host's.
#include "cuda/field/word_inverse.h"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/field/samples.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::field {
namespace {

template <class F>
class DivisionStepsLaws : public testing::Test {
 public:
  using T = WordField<typename F::Params>;
  static T word(const F& x) { return std::bit_cast<T>(x); }
};
using Fields = testing::Types<cuzk::field::bls12_381::Fp, cuzk::field::bls12_381::Fr,
                              cuzk::field::bn254::Fp, cuzk::field::bn254::Fr>;
TYPED_TEST_SUITE(DivisionStepsLaws, Fields);

TYPED_TEST(DivisionStepsLaws, InvertLikeAPower) {
  using F = TypeParam;
  for (const F& x : field_samples<F>(50, 11)) {
    const auto inverse = TestFixture::word(x).inverse();
    ASSERT_TRUE(inverse == TestFixture::word(x).inverse_by_power());
    ASSERT_TRUE(x.is_zero() || std::bit_cast<F>(inverse) * x == F::one());
  }
}

TYPED_TEST(DivisionStepsLaws, InvertManyRandomElements) {
  using F = TypeParam;
  for (const F& x : field_samples<F>(5000, 12)) {
    if (x.is_zero()) continue;
    ASSERT_EQ(std::bit_cast<F>(TestFixture::word(x).inverse()) * x, F::one());
  }
}

// Small integers and powers of two, up and down: the shortest and the longest ways to the end.
TYPED_TEST(DivisionStepsLaws, InvertSmallIntegersAndPowersOfTwo) {
  using F = TypeParam;
  std::vector<F> values;
  F power = F::one();
  for (std::size_t i = 0; i < F::kBitCount + 5; ++i, power = power.doubled()) {
    for (const F& x : {power, -power, power + F::one(), power - F::one()}) values.push_back(x);
  }
  for (std::uint64_t k = 0; k < 70; ++k) values.push_back(F::from_u64(k));
  for (const F& x : values) {
    // Both as the Montgomery form and as what the steps see.
    for (const F& y : {x, F::from_montgomery(x.to_canonical().value)}) {
      ASSERT_EQ(std::bit_cast<F>(TestFixture::word(y).inverse()), y.inverse());
    }
  }
}

TYPED_TEST(DivisionStepsLaws, ZeroGivesZero) {
  EXPECT_TRUE(TestFixture::T::zero().inverse().is_zero());
}

// Bounds: |f|, |g| <= p and -2 p < d, e < p after any number of steps, so that no limb overflows.
TYPED_TEST(DivisionStepsLaws, EndWithinTheStepsThatTheNumbersAllow) {
  using F = TypeParam;
  for (const F& x : field_samples<F>(500, 13)) {
    DivisionSteps<typename F::Params> steps(TestFixture::word(x));
    int rounds = 0;
    while (!steps.is_done()) {
      steps.advance();
      ++rounds;
    }
    // The hull of the half-delta variant: (45907 bits + 26313) / 19929 steps.
    ASSERT_LE((rounds - 1) * 30, (45907 * int{F::kBitCount} + 26313) / 19929);
  }
}

}  // namespace
}  // namespace cuzk::cuda::field
