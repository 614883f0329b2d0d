// Repeated blocks against the same rows written out: row by row, flattened, and through everything
// that reads rows.
#include "r1cs/sparse_matrix.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "r1cs/builder.h"
#include "r1cs/checker.h"
#include "r1cs/fingerprint.h"
#include "r1cs/witness_builder.h"

namespace cuzk::r1cs {
namespace {

using F = field::bls12_381::Fr;

// Two repeated blocks with single rows before, between and behind. Run over either builder; with
// `unrolled` every block is described anew.
template <class Cs>
void describe_circuit(Cs& cs, bool unrolled) {
  const F one = F::one();
  const auto square = [&](const typename Cs::Number& x) {
    const auto y = cs.new_number(cs.value(x) * cs.value(x));
    if constexpr (Cs::kRecordsRows) {
      cs.enforce({{x.variable, one}}, {{x.variable, one}}, {{y.variable, one}});
    }
    return y;
  };
  const auto root = cs.new_number(F::from_u64(3));
  const auto shared = square(root);
  for (const std::size_t times : {4, 9}) {
    const auto block = [&] {
      const auto input = cs.new_input(F::from_u64(5));
      const auto sum = cs.new_number(cs.value(shared) + cs.value(input).doubled());
      if constexpr (Cs::kRecordsRows) {
        cs.enforce({{shared.variable, one}, {input.variable, one.doubled()}}, {{kOne, one}},
                   {{sum.variable, one}});
      }
      square(square(sum));
    };
    if constexpr (Cs::kRecordsRows) {
      const CircuitPosition start = cs.position();
      block();
      for (std::size_t k = 1; unrolled && k < times; ++k) block();
      if (!unrolled) cs.repeat_since(start, times - 1);
    } else {
      for (std::size_t k = 0; k < times; ++k) block();
    }
    square(root);
  }
}

struct Pair {
  Shape<F> repeated, unrolled;
};
Pair both() {
  ShapeBuilder<F> repeated, unrolled;
  describe_circuit(repeated, false);
  describe_circuit(unrolled, true);
  return {std::move(repeated).finish(), std::move(unrolled).finish()};
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> terms_of(const Row& row) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const Term term : row) out.emplace_back(term.column, term.coefficient);
  return out;
}

TEST(SparseMatrix, RepeatedBlocksReadLikeStoredOnes) {
  const Pair shapes = both();
  ASSERT_FALSE(shapes.repeated.is_flat());
  ASSERT_TRUE(shapes.unrolled.is_flat());
  ASSERT_EQ(shapes.repeated.constraint_count(), 1u + 3 * 4 + 1 + 3 * 9 + 1);
  const SparseMatrix* repeated[] = {&shapes.repeated.a, &shapes.repeated.b, &shapes.repeated.c};
  const SparseMatrix* unrolled[] = {&shapes.unrolled.a, &shapes.unrolled.b, &shapes.unrolled.c};
  for (std::size_t m = 0; m < 3; ++m) {
    ASSERT_EQ(repeated[m]->row_count(), unrolled[m]->row_count());
    EXPECT_EQ(repeated[m]->term_count(), unrolled[m]->term_count());
    EXPECT_LT(repeated[m]->terms.size(), unrolled[m]->terms.size());
    const SparseMatrix flat = flattened(*repeated[m]);
    EXPECT_EQ(flat.row_begin, unrolled[m]->row_begin);
    for (std::size_t r = 0; r < unrolled[m]->row_count(); ++r) {
      const auto expected = terms_of(unrolled[m]->row(r));
      EXPECT_EQ(terms_of(repeated[m]->row(r)), expected) << r;
      EXPECT_EQ(terms_of(flat.row(r)), expected) << r;
      if (!expected.empty()) {
        EXPECT_EQ(repeated[m]->row(r).back().column, expected.back().first);
        EXPECT_EQ(repeated[m]->row(r)[0].column, expected.front().first);
      }
    }
  }
}

TEST(SparseMatrix, RepeatedBlocksHaveTheSameDensitiesAndFingerprint) {
  const Pair shapes = both();
  EXPECT_EQ(fingerprint(shapes.repeated), fingerprint(shapes.unrolled));
  const Density repeated = density_of(shapes.repeated), unrolled = density_of(shapes.unrolled);
  EXPECT_EQ(repeated.a_aux, unrolled.a_aux);
  EXPECT_EQ(repeated.b_aux, unrolled.b_aux);
  EXPECT_EQ(repeated.b_input, unrolled.b_input);
}

TEST(SparseMatrix, RepeatedBlocksEvaluateAndNameTheBrokenRow) {
  const Pair shapes = both();
  WitnessBuilder<F> witness;
  describe_circuit(witness, true);
  const Assignment<F> good = std::move(witness).finish();
  EXPECT_TRUE(check_satisfied(shapes.repeated, good).ok());
  for (std::size_t wrong = 1; wrong < shapes.repeated.input_count; ++wrong) {
    Assignment<F> bad = good;
    bad.inputs[wrong] += F::one();
    const auto repeated = first_broken_constraint(shapes.repeated, bad);
    const auto unrolled = first_broken_constraint(shapes.unrolled, bad);
    ASSERT_TRUE(repeated.has_value() && unrolled.has_value());
    EXPECT_EQ(repeated->row, unrolled->row);
    EXPECT_EQ(describe(*repeated, shapes.repeated, bad, nullptr),
              describe(*unrolled, shapes.unrolled, bad, nullptr));
  }
}

}  // namespace
}  // namespace cuzk::r1cs
