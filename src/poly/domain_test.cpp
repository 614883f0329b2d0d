// Transforms against the definition, round trips, cosets, and the refused size.
#include "poly/domain.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/checkpoint_test_support.h"
#include "base/cpu.h"
#include "base/scratch.h"
#include "field/samples.h"
#include "poly/bit_reversal.h"
#include "poly/kernels/ntt_kernel.h"
#include "poly/ntt_naive.h"

namespace cuzk::poly {
namespace {

// Random values with the borders of the field among them.
template <class F>
std::vector<F> random_values(std::size_t count, std::uint64_t seed) {
  field::SampleGenerator generator(seed);
  const std::vector<F> borders = field::edge_elements<F>();
  std::vector<F> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t choice = generator.next_u64();
    out.push_back(choice % 4 == 0 ? borders[choice / 4 % borders.size()] : generator.next<F>());
  }
  return out;
}

// A field and the CPU level that its transforms run on.
template <class FieldType, base::CpuLevel Level>
struct Case {
  using F = FieldType;
  static constexpr base::CpuLevel kLevel = Level;
};

template <class C>
class DomainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (base::machine_cpu_level() < C::kLevel) GTEST_SKIP() << to_string(C::kLevel);
    base::force_cpu_level(C::kLevel);
  }
  void TearDown() override { base::force_cpu_level(before_); }

 private:
  const base::CpuLevel before_ = base::cpu_level();
};
using Cases = ::testing::Types<Case<field::bls12_381::Fr, base::CpuLevel::kPortable>,
                               Case<field::bls12_381::Fr, base::CpuLevel::kIfma>,
                               Case<field::bn254::Fr, base::CpuLevel::kPortable>,
                               Case<field::bn254::Fr, base::CpuLevel::kIfma>>;
TYPED_TEST_SUITE(DomainTest, Cases);

TYPED_TEST(DomainTest, RunsTheKernelOfItsLevel) {
  using F = typename TypeParam::F;
  const std::string expected(TypeParam::kLevel == base::CpuLevel::kIfma ? "ifma" : "portable");
  EXPECT_EQ(ntt_kernel<F>().name, expected);
}

// The largest values everywhere, so that sums and quotients reach their bounds.
TYPED_TEST(DomainTest, IsExactForConstantAndExtremeVectors) {
  using F = typename TypeParam::F;
  const F extremes[] = {F::from_montgomery(F::Constants::modulus_minus(1)), -F::one(), F::one(),
                        F::zero()};
  for (const std::size_t log2 : {6, 7, 8, 11}) {
    const auto domain = Domain<F>::create(log2).value();
    for (const F& x : extremes) {
      std::vector<F> values(domain.size(), x);
      domain.forward(values);
      EXPECT_EQ(values[0], x * F::from_u64(domain.size()));
      for (std::size_t i = 1; i < values.size(); ++i) ASSERT_TRUE(values[i].is_zero()) << i;
      domain.inverse(values);
      EXPECT_EQ(values, std::vector<F>(domain.size(), x));
      for (std::size_t i = 0; i < values.size(); i += 2) values[i] = -values[i];
      domain.forward(values);
      EXPECT_EQ(values[domain.size() / 2], -(x * F::from_u64(domain.size())));
      EXPECT_TRUE(values[0].is_zero());
    }
  }
}

TYPED_TEST(DomainTest, OmegaHasExactOrder) {
  using F = typename TypeParam::F;
  for (std::size_t log2 = 0; log2 <= 12; ++log2) {
    const auto domain = Domain<F>::create(log2).value();
    F power = domain.omega();
    for (std::size_t i = 0; i + 1 < log2; ++i) power = power.squared();
    EXPECT_EQ(power, log2 == 0 ? F::one() : -F::one()) << log2;
    EXPECT_TRUE(domain.vanishing_at(domain.omega()).is_zero());
  }
}

TYPED_TEST(DomainTest, EqualsTheDefinitionAtSmallSizes) {
  using F = typename TypeParam::F;
  for (std::size_t log2 = 0; log2 <= 7; ++log2) {
    const auto domain = Domain<F>::create(log2).value();
    const auto coefficients = random_values<F>(domain.size(), 17 + log2);
    const F shift = F::generator();
    auto plain = coefficients, coset = coefficients;
    domain.forward(plain);
    domain.forward_coset(coset, shift);
    EXPECT_EQ(plain, ntt_naive<F>(coefficients, domain.omega(), F::one())) << log2;
    EXPECT_EQ(coset, ntt_naive<F>(coefficients, domain.omega(), shift)) << log2;
  }
}

// Horner at a few points only, where the full definition would take too long.
TYPED_TEST(DomainTest, EqualsHornerAtChosenPointsAndInvertsAtAllSizes) {
  using F = typename TypeParam::F;
  for (std::size_t log2 = 0; log2 <= 14; ++log2) {
    const auto domain = Domain<F>::create(log2).value();
    const auto coefficients = random_values<F>(domain.size(), 99 + log2);
    const F shift = F::from_u64(11);
    auto plain = coefficients, coset = coefficients;
    domain.forward(plain);
    domain.forward_coset(coset, shift);
    for (const std::size_t place :
         {std::size_t{0}, std::size_t{1}, domain.size() / 3, domain.size() - 1}) {
      const std::size_t i = place % domain.size();
      F x = domain.omega().pow(i), at_x = F::zero(), at_shifted = F::zero();
      for (std::size_t j = domain.size(); j > 0; --j) {
        at_x = at_x * x + coefficients[j - 1];
        at_shifted = at_shifted * (x * shift) + coefficients[j - 1];
      }
      EXPECT_EQ(plain[i], at_x) << log2 << " " << i;
      EXPECT_EQ(coset[i], at_shifted) << log2 << " " << i;
    }
    domain.inverse(plain);
    domain.inverse_coset(coset, shift);
    EXPECT_EQ(plain, coefficients) << log2;
    EXPECT_EQ(coset, coefficients) << log2;
  }
}

TYPED_TEST(DomainTest, RoundTripAtTwoToEighteen) {
  using F = typename TypeParam::F;
  const auto domain = Domain<F>::create(18).value();
  const auto coefficients = random_values<F>(domain.size(), 5);
  auto values = coefficients;
  domain.forward(values);
  EXPECT_NE(values, coefficients);
  domain.inverse(values);
  EXPECT_EQ(values, coefficients);
}

TYPED_TEST(DomainTest, RefusesSizesPastTheTwoAdicity) {
  using F = typename TypeParam::F;
  const auto domain = Domain<F>::create(F::kTwoAdicity + 1);
  ASSERT_FALSE(domain.ok());
  EXPECT_EQ(domain.error().kind, base::ErrorKind::kInvalidArgument);
  // At once, also where no loop over the exponent would end.
  constexpr auto kMost = std::numeric_limits<std::size_t>::max();
  const auto endless = Domain<F>::create(kMost, F::one());
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().kind, base::ErrorKind::kInvalidArgument);
}

TYPED_TEST(DomainTest, VanishesOnTheDomainOnly) {
  using F = typename TypeParam::F;
  const auto domain = Domain<F>::create(5).value();
  EXPECT_TRUE(domain.vanishing_at(domain.omega().pow(7)).is_zero());
  EXPECT_EQ(domain.vanishing_at(F::from_u64(2)), F::from_u64((1ull << 32) - 1));
}

TEST(BitReversal, EqualsTheDefinitionAtAllSizes) {
  for (std::size_t log2 = 0; log2 <= 13; ++log2) {
    std::vector<std::uint64_t> values(std::size_t{1} << log2);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i;
    bit_reverse<std::uint64_t>(values, log2);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], reverse_bits(i, log2));
  }
}

TEST(DomainSize, IsTheSmallestPowerThatHolds) {
  EXPECT_EQ(domain_size_log2(0), 0u);
  EXPECT_EQ(domain_size_log2(1), 0u);
  EXPECT_EQ(domain_size_log2(2), 1u);
  EXPECT_EQ(domain_size_log2(1024), 10u);
  EXPECT_EQ(domain_size_log2(1025), 11u);
  EXPECT_EQ(domain_size_log2(std::size_t{1} << 63), 63u);
  EXPECT_EQ(domain_size_log2((std::size_t{1} << 63) + 1), 64u);  // for Domain to refuse
  EXPECT_EQ(domain_size_log2(std::numeric_limits<std::size_t>::max()), 64u);
}

TEST(DomainCheckpoint, TransformsAreTheSameHoweverOftenTheyAreSetAside) {
  using F = field::bls12_381::Fr;
  const auto domain = Domain<F>::create(12).value();
  std::vector<F> values(domain.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = F::from_u64(i * i + 7);
  const F shift = F::from_u64(7);
  auto expected = values;
  domain.forward_coset(expected, shift);
  for (const int every : {2, 3, 7}) {
    base::testing::CountingCheckpoint checkpoint(every, -1);
    auto found = values;
    domain.forward_coset(found, shift, &checkpoint);
    EXPECT_EQ(found, expected);
    EXPECT_GT(checkpoint.pass_count, 0);
    domain.inverse_coset(found, shift, &checkpoint);
    EXPECT_EQ(found, values);
    domain.forward(found, &checkpoint);
    domain.inverse(found, &checkpoint);
    EXPECT_EQ(found, values);
  }
  base::testing::CountingCheckpoint stopped(2, 1);
  auto left = values;
  domain.forward(left, &stopped);
  EXPECT_EQ(stopped.pass_count, 1);
}

// Large transforms count their scratch, within the formula, and pass a refusal on.
TEST(DomainScratch, IsCountedWithinTheFormulaAndMayBeRefused) {
  using F = field::bn254::Fr;
  constexpr std::size_t kLog2 = 18;
  constexpr auto kCategory = base::MemoryCategory::kMsmScratch;
  const auto domain = Domain<F>::create(kLog2).value();
  std::vector<F> values(domain.size(), F::one());
  auto& ledger = base::Ledger::process();
  ledger.reset_peaks();
  domain.forward(values);
  const auto use = ledger.snapshot().of(kCategory);
  EXPECT_GT(use.peak_bytes, 0u);
  EXPECT_LE(use.peak_bytes, transform_scratch_bytes<F>(kLog2));
  EXPECT_EQ(use.used_bytes, 0u);
  ledger.set_budget(4096);
  EXPECT_THROW(domain.forward(values), base::OutOfMemory);
  ledger.set_budget(0);
  EXPECT_EQ(ledger.snapshot().of(kCategory).used_bytes, 0u);
  EXPECT_EQ(transform_scratch_bytes<F>(3), 0u);
}

}  // namespace
}  // namespace cuzk::poly
