// Signed digits give back the scalar, for every layout that the policy may choose.
//
// Also what the sort relies on: windows cover all bits once, and no window is wider than two levels
// of counters can hold.
#include "cuda/msm/digits.h"

#include <vector>

#include <gtest/gtest.h>

#include "cuda/field/samples.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::msm {
namespace {

template <class F>
class DigitLaws : public testing::Test {};
using Scalars = testing::Types<cuzk::field::bls12_381::Fr, cuzk::field::bn254::Fr>;
TYPED_TEST_SUITE(DigitLaws, Scalars);

// Sum of digit times 2^first_bit, in the field.
template <class F>
F value_of(const F& k, const WindowLayout& layout) {
  const ScalarParams params = scalar_params(F::Params::kModulus.limb, layout);
  const RecodedScalar recoded = recode(k.to_canonical().value.limb, params);
  F sum = F::zero(), weight = F::one();
  for (int w = 0; w < layout.window_count; ++w) {
    const std::uint32_t digit = digit_at(recoded, layout.first_bit[w], layout.bit_count[w]);
    if (digit != kNoDigit) {
      const std::uint32_t bucket = digit & ~kSignBit;
      EXPECT_LT(bucket, layout.bucket_count(w));
      const F term = F::from_u64(bucket + 1) * weight;
      sum = (digit & kSignBit) != 0 ? sum - term : sum + term;
    }
    for (int i = 0; i < layout.bit_count[w]; ++i) weight = weight.doubled();
  }
  return sum;
}

TYPED_TEST(DigitLaws, GiveBackTheScalarInEveryLayout) {
  using F = TypeParam;
  std::vector<F> scalars = cuzk::cuda::field::field_samples<F>(20, 1);
  const F half = F::from_u64(2).inverse();  // (r + 1) / 2 as an integer: the border of negation
  for (int k = 0; k < 3; ++k) {
    scalars.push_back(half - F::from_u64(k));
    scalars.push_back(F::from_u64(k));
    scalars.push_back(-F::from_u64(k));
  }
  for (int windows = 12; windows <= kWindowsMax; ++windows) {
    const WindowLayout layout = WindowLayout::of(F::kBitCount, windows);
    for (const F& k : scalars) ASSERT_EQ(value_of(k, layout), k) << windows;
  }
}

// Windows of one set are table_shift bits apart, so that one table serves them.
TYPED_TEST(DigitLaws, GiveBackTheScalarWhenTablesShareBuckets) {
  using F = TypeParam;
  std::vector<F> scalars = cuzk::cuda::field::field_samples<F>(10, 2);
  const F half = F::from_u64(2).inverse();
  for (int k = 0; k < 3; ++k) {
    scalars.push_back(half - F::from_u64(k));
    scalars.push_back(-F::from_u64(k));
  }
  for (int tables = 1; tables <= 20; ++tables) {
    for (int sets = 1; sets * tables <= kWindowsMax; ++sets) {
      const WindowLayout layout = WindowLayout::shared(F::kBitCount, tables, sets);
      ASSERT_LE(layout.window_count, sets * tables);
      for (int w = 0; w < layout.window_count; ++w) {
        const int set = w % sets, table = w / sets;
        ASSERT_EQ(layout.first_bit[w], layout.first_bit[set] + table * layout.table_shift);
        ASSERT_LE(layout.bit_count[w], layout.bit_count[set]);
      }
      if (layout.bit_count_max > 30) continue;  // wider than a digit's type; the policy has 22
      for (const F& k : scalars) ASSERT_EQ(value_of(k, layout), k) << tables << " by " << sets;
    }
  }
}

TYPED_TEST(DigitLaws, TakeMontgomeryFormsAsTheirIntegers) {
  using F = TypeParam;
  const ScalarParams params =
      scalar_params(F::Params::kModulus.limb, WindowLayout::of(F::kBitCount, 16));
  std::vector<F> scalars = cuzk::cuda::field::field_samples<F>(50, 3);
  scalars.push_back(F::zero());
  scalars.push_back(F::one());
  scalars.push_back(-F::one());
  for (const F& k : scalars) {
    auto limbs = k.montgomery_limbs();
    from_montgomery(limbs.limb, params);
    ASSERT_EQ(limbs, k.to_canonical().value);
  }
}

TYPED_TEST(DigitLaws, ZeroHasNoDigits) {
  const WindowLayout layout = WindowLayout::of(TypeParam::kBitCount, 16);
  const ScalarParams params = scalar_params(TypeParam::Params::kModulus.limb, layout);
  const std::uint64_t zero[4] = {};
  for (int w = 0; w < layout.window_count; ++w) {
    EXPECT_EQ(digit_at(recode(zero, params), layout.first_bit[w], layout.bit_count[w]), kNoDigit);
  }
}

TEST(WindowLayout, CoversAllBitsOnceAndFitsTheSort) {
  for (const std::size_t count : {1, 1000, 1 << 20, 1 << 22, 1 << 26, 1 << 28}) {
    for (const int bits : {254, 255}) {
      const WindowLayout layout = choose_windows(bits, count, MsmPolicy{});
      int next = 0;
      for (int w = 0; w < layout.window_count; ++w) {
        EXPECT_EQ(layout.first_bit[w], next);
        next += layout.bit_count[w];
        EXPECT_LE(layout.bit_count[w], kWindowBitsMax);
      }
      EXPECT_EQ(next, bits);
    }
  }
}

TEST(WindowLayout, WidensWithTheCount) {
  int windows_before = kWindowsMax;
  for (int log2 = 4; log2 <= 28; log2 += 4) {
    const int windows = choose_windows(255, std::size_t{1} << log2, MsmPolicy{}).window_count;
    EXPECT_LE(windows, windows_before);
    windows_before = windows;
  }
  EXPECT_EQ(windows_before, 12);
}

}  // namespace
}  // namespace cuzk::cuda::msm
