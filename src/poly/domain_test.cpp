// Transforms against the definition, round trips, cosets, and the refused size.
#include "poly/domain.h"

#include <random>

#include <gtest/gtest.h>

#include "poly/ntt_naive.h"

namespace cuzk::poly {
namespace {

template <class F>
F random_element(std::mt19937_64& rng) {
  field::Limbs<F::kLimbCount> limbs;
  for (std::size_t i = 0; i < F::kLimbCount; ++i) limbs[i] = rng();
  limbs[F::kLimbCount - 1] >>= 64 * F::kLimbCount - F::kBitCount + 1;
  return F::from_montgomery(limbs);
}

// Random values with the borders of the field among them.
template <class F>
std::vector<F> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<F> out;
  const F borders[] = {F::zero(), F::one(), -F::one(), F::from_montgomery(F::Constants::modulus_minus(1))};
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(rng() % 4 == 0 ? borders[rng() % 4] : random_element<F>(rng));
  }
  return out;
}

template <class F>
class DomainTest : public ::testing::Test {};
using Fields = ::testing::Types<field::bls12_381::Fr, field::bn254::Fr>;
TYPED_TEST_SUITE(DomainTest, Fields);

TYPED_TEST(DomainTest, OmegaHasExactOrder) {
  using F = TypeParam;
  for (std::size_t log2 = 0; log2 <= 12; ++log2) {
    const auto domain = Domain<F>::create(log2).value();
    F power = domain.omega();
    for (std::size_t i = 0; i + 1 < log2; ++i) power = power.squared();
    EXPECT_EQ(power, log2 == 0 ? F::one() : -F::one()) << log2;
    EXPECT_TRUE(domain.vanishing_at(domain.omega()).is_zero());
  }
}

TYPED_TEST(DomainTest, EqualsTheDefinitionAtSmallSizes) {
  using F = TypeParam;
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
  using F = TypeParam;
  for (std::size_t log2 = 0; log2 <= 14; ++log2) {
    const auto domain = Domain<F>::create(log2).value();
    const auto coefficients = random_values<F>(domain.size(), 99 + log2);
    const F shift = F::from_u64(11);
    auto plain = coefficients, coset = coefficients;
    domain.forward(plain);
    domain.forward_coset(coset, shift);
    for (const std::size_t place : {std::size_t{0}, std::size_t{1}, domain.size() / 3,
                                    domain.size() - 1}) {
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
  using F = TypeParam;
  const auto domain = Domain<F>::create(18).value();
  const auto coefficients = random_values<F>(domain.size(), 5);
  auto values = coefficients;
  domain.forward(values);
  EXPECT_NE(values, coefficients);
  domain.inverse(values);
  EXPECT_EQ(values, coefficients);
}

TYPED_TEST(DomainTest, RefusesSizesPastTheTwoAdicity) {
  using F = TypeParam;
  const auto domain = Domain<F>::create(F::kTwoAdicity + 1);
  ASSERT_FALSE(domain.ok());
  EXPECT_EQ(domain.error().kind, base::ErrorKind::kInvalidArgument);
}

TYPED_TEST(DomainTest, VanishesOnTheDomainOnly) {
  using F = TypeParam;
  const auto domain = Domain<F>::create(5).value();
  EXPECT_TRUE(domain.vanishing_at(domain.omega().pow(7)).is_zero());
  EXPECT_EQ(domain.vanishing_at(F::from_u64(2)), F::from_u64((1ull << 32) - 1));
}

TEST(DomainSize, IsTheSmallestPowerThatHolds) {
  EXPECT_EQ(domain_size_log2(0), 0u);
  EXPECT_EQ(domain_size_log2(1), 0u);
  EXPECT_EQ(domain_size_log2(2), 1u);
  EXPECT_EQ(domain_size_log2(1024), 10u);
  EXPECT_EQ(domain_size_log2(1025), 11u);
}

}  // namespace
}  // namespace cuzk::poly
