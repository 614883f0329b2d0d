// The six transforms against polynomial division by definition.
#include "groth16/quotient.h"

#include <gtest/gtest.h>

#include "groth16/groth16_naive.h"
#include "groth16/test_circuits.h"

namespace cuzk::groth16 {
namespace {

template <class F>
class QuotientTest : public ::testing::Test {};
using Fields = ::testing::Types<field::bls12_381::Fr, field::bn254::Fr>;
TYPED_TEST_SUITE(QuotientTest, Fields);

// Values of a row polynomial's Lagrange interpolation at x.
template <class F>
F interpolate(const std::vector<F>& lagrange, const std::vector<F>& rows) {
  F sum;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += lagrange[i] * rows[i];
  return sum;
}

template <class F>
struct Rows {
  std::vector<F> a, b, c;
  Rows(const r1cs::Shape<F>& shape, const r1cs::Assignment<F>& assignment, std::size_t size)
      : a(size), b(size), c(size) {
    evaluate_a_rows(shape, assignment, 0, std::span(a));
    r1cs::evaluate_rows(shape, shape.b, assignment, 0, std::span(b));
    for (std::size_t i = 0; i < size; ++i) c[i] = a[i] * b[i];
  }
  // (a b - c)(x).
  F difference_at(const std::vector<F>& points, const F& x) const {
    const auto lagrange = naive_lagrange(points, x);
    return interpolate(lagrange, a) * interpolate(lagrange, b) - interpolate(lagrange, c);
  }
};

TYPED_TEST(QuotientTest, CoefficientsAreThoseOfTheDivisionByTheVanishingPolynomial) {
  using F = TypeParam;
  for (const std::size_t bits : {0, 2, 30}) {
    const auto circuit = testing::mixed<F>(bits, 3);
    const auto shape = circuit.shape();
    const auto assignment = circuit.assignment();
    const std::size_t log2 = poly::domain_size_log2(shape->qap_row_count());
    const auto h = quotient_scalars<F>(*shape, *assignment, QapConvention::kCoefficients, log2, {});
    ASSERT_TRUE(h.ok()) << h.error().message;
    const std::size_t m = std::size_t{1} << log2;
    ASSERT_EQ(h->values().size(), m - 1);
    const auto points = naive_domain<F>(QapConvention::kCoefficients, m);
    const Rows<F> rows(*shape, *assignment, m);
    const F x = F::from_u64(987654321);
    F at_x, power = F::one();
    for (const auto& coefficient : h->values()) {
      at_x += F::from_canonical(coefficient) * power;
      power *= x;
    }
    EXPECT_EQ(at_x * (x.pow(m) - F::one()), rows.difference_at(points, x));
  }
}

TYPED_TEST(QuotientTest, OddCosetScalarsAreTheValuesOfTheDifferenceThere) {
  using F = TypeParam;
  const auto circuit = testing::mixed<F>(9, 4);
  const auto shape = circuit.shape();
  const auto assignment = circuit.assignment();
  const std::size_t log2 = poly::domain_size_log2(shape->qap_row_count());
  constexpr auto kConvention = QapConvention::kOddCosetLagrange;
  const auto scalars = quotient_scalars<F>(*shape, *assignment, kConvention, log2, {});
  ASSERT_TRUE(scalars.ok()) << scalars.error().message;
  const std::size_t m = std::size_t{1} << log2;
  ASSERT_EQ(scalars->values().size(), m);
  const auto points = naive_domain<F>(kConvention, m);
  const auto qap = make_qap_domain<F>(kConvention, log2).value();
  const Rows<F> rows(*shape, *assignment, m);
  for (std::size_t i = 0; i < m; ++i) {
    EXPECT_EQ(F::from_canonical(scalars->values()[i]),
              rows.difference_at(points, qap.shift * points[i]));
  }
}

// One row, the constant's: a b = 0, and a key of either convention has 0 or 1 points.
TYPED_TEST(QuotientTest, DomainOfOneRowGivesNoQuotient) {
  using F = TypeParam;
  r1cs::Shape<F> shape;
  shape.input_count = 1;
  r1cs::Assignment<F> assignment{{F::one()}, {}};
  const auto plain = quotient_scalars<F>(shape, assignment, QapConvention::kCoefficients, 0, {});
  EXPECT_EQ(plain->values().size(), 0u);
  const auto odd = quotient_scalars<F>(shape, assignment, QapConvention::kOddCosetLagrange, 0, {});
  ASSERT_EQ(odd->values().size(), 1u);
  EXPECT_TRUE(odd->values()[0].is_zero());
}

TYPED_TEST(QuotientTest, StopsWhenAsked) {
  using F = TypeParam;
  const auto circuit = testing::squarings<F>(20);
  std::stop_source source;
  source.request_stop();
  const auto result =
      quotient_scalars<F>(*circuit.shape(), *circuit.assignment(), QapConvention::kCoefficients, 5,
                          Control{nullptr, source.get_token()});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, base::ErrorKind::kCancelled);
}

TYPED_TEST(QuotientTest, HoldsTwoBuffersAtItsPeakAndOneAfterwards) {
  using F = TypeParam;
  const auto circuit = testing::squarings<F>(5000);
  auto& ledger = base::Ledger::process();
  constexpr auto kCategory = base::MemoryCategory::kEvaluation;
  const auto before = ledger.snapshot().of(kCategory).used_bytes;
  ledger.reset_peaks();
  const auto scalars = quotient_scalars<F>(*circuit.shape(), *circuit.assignment(),
                                           QapConvention::kCoefficients, 13, {});
  const auto after = ledger.snapshot().of(kCategory);
  EXPECT_EQ(after.peak_bytes - before, quotient_bytes<F>(13));
  EXPECT_EQ(after.used_bytes - before, quotient_bytes<F>(13) / 2);
}

}  // namespace
}  // namespace cuzk::groth16
