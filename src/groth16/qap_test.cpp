// Roots, cosets and Lagrange values against their definitions.
#include "groth16/qap.h"

#include <gtest/gtest.h>

#include "groth16/groth16_naive.h"
#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

template <class F>
class QapTest : public ::testing::Test {};
using Fields = ::testing::Types<field::bls12_381::Fr, field::bn254::Fr>;
TYPED_TEST_SUITE(QapTest, Fields);

constexpr QapConvention kBoth[] = {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange};

TYPED_TEST(QapTest, NonresidueRootHasTheFullOrder) {
  using F = TypeParam;
  F x = smallest_nonresidue_root<F>();
  for (std::size_t i = 1; i < F::kTwoAdicity; ++i) x = x.squared();
  EXPECT_EQ(x, -F::one());
}

// The two conventions order BLS12-381's domains differently, and BN254's alike.
TEST(Qap, RootsOfTheConventionsDifferOnBls12381Only) {
  using Bls = field::bls12_381::Fr;
  using Bn = field::bn254::Fr;
  EXPECT_NE(smallest_nonresidue_root<Bls>(), Bls::two_adic_root());
  EXPECT_EQ(smallest_nonresidue_root<Bls>(), Bls::from_u64(5).pow(Bls::Constants::odd_part()));
  EXPECT_EQ(smallest_nonresidue_root<Bn>(), Bn::two_adic_root());
}

TYPED_TEST(QapTest, OddCosetHasMinusTwoAsVanishingValue) {
  using F = TypeParam;
  for (const std::size_t log2 : {0, 1, 5, 12}) {
    const auto qap = make_qap_domain<F>(QapConvention::kOddCosetLagrange, log2).value();
    EXPECT_EQ(qap.domain.vanishing_at(qap.shift), -F::from_u64(2));
    EXPECT_EQ(qap.shift.squared(), qap.domain.omega());
  }
}

TYPED_TEST(QapTest, RefusesDomainsThatTheFieldDoesNotHave) {
  using F = TypeParam;
  const auto plain = make_qap_domain<F>(QapConvention::kCoefficients, F::kTwoAdicity + 1);
  ASSERT_FALSE(plain.ok());
  EXPECT_EQ(plain.error().kind, base::ErrorKind::kUnsupported);
  const auto odd = make_qap_domain<F>(QapConvention::kOddCosetLagrange, F::kTwoAdicity);
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.error().message.find("2^" + std::to_string(F::kTwoAdicity - 1)), std::string::npos);
}

TYPED_TEST(QapTest, LagrangeBasisEqualsTheProductFormula) {
  using F = TypeParam;
  testing::Random random(3);
  for (const QapConvention convention : kBoth) {
    for (const std::size_t log2 : {0, 1, 2, 6}) {
      const auto qap = make_qap_domain<F>(convention, log2).value();
      const F x = random.template element<F>(), scale = random.template element<F>();
      const auto expected = naive_lagrange(naive_domain<F>(convention, qap.domain.size()), x);
      std::vector<F> basis(qap.domain.size());
      lagrange_basis_at(qap.domain, x, scale, 0, std::span(basis));
      for (std::size_t i = 0; i < basis.size(); ++i) EXPECT_EQ(basis[i], expected[i] * scale);
    }
  }
}

// omega has the domain's exact order; the shift's powers tell the conventions apart
// (docs/math/groth16.md).
TYPED_TEST(QapTest, RootsHaveTheirOrders) {
  using F = TypeParam;
  for (const std::size_t log2 : {1, 5, 20}) {
    const std::uint64_t m = std::uint64_t{1} << log2;
    for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
      const auto roots = qap_roots<F>(convention, log2).value();
      EXPECT_EQ(roots.omega.pow(m / 2), -F::one());
      const F z = roots.shift.pow(m) - F::one();
      EXPECT_FALSE(z.is_zero());
      EXPECT_EQ(z == -F::from_u64(2), convention == QapConvention::kOddCosetLagrange);
    }
  }
}

// Blocks end and begin inside the range; the basis sums to one.
TYPED_TEST(QapTest, LagrangeBasisOfManyBlocksIsSeamless) {
  using F = TypeParam;
  const auto qap = make_qap_domain<F>(QapConvention::kCoefficients, 14).value();
  const F x = F::from_u64(12345);
  std::vector<F> whole(qap.domain.size()), part(5000);
  lagrange_basis_at(qap.domain, x, F::one(), 0, std::span(whole));
  lagrange_basis_at(qap.domain, x, F::one(), 4095, std::span(part));
  F sum;
  for (const F& value : whole) sum += value;
  EXPECT_TRUE(sum.is_one());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 4095));
}

TYPED_TEST(QapTest, InputRowsFollowTheConstraintsUnlessTheyAreAmongThem) {
  using F = TypeParam;
  const auto circuit = testing::mixed<F>(4, 1);
  auto shape = circuit.shape();
  const auto assignment = circuit.assignment();
  const std::size_t constraints = shape->constraint_count();
  std::vector<F> rows(4);
  evaluate_a_rows(*shape, *assignment, constraints - 1, std::span(rows));
  EXPECT_EQ(rows[1], assignment->inputs[0]);
  EXPECT_EQ(rows[2], assignment->inputs[1]);
  EXPECT_EQ(rows[3], assignment->inputs[2]);
  evaluate_a_rows(*shape, *assignment, constraints + 2, std::span(rows));
  EXPECT_EQ(rows[0], assignment->inputs[2]);
  EXPECT_TRUE(rows[1].is_zero());
  shape->has_input_rows = true;
  evaluate_a_rows(*shape, *assignment, constraints, std::span(rows));
  EXPECT_TRUE(rows[0].is_zero());
}

}  // namespace
}  // namespace cuzk::groth16
