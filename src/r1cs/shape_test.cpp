// Row products and densities against their definitions, over random shapes of both fields.
//
// Rows of bits have a fast way of their own and are made long enough to take it. Blocks begin and
// end anywhere, past the last row too.
#include "r1cs/shape.h"

#include <random>

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::r1cs {
namespace {

template <class F>
F random_element(std::mt19937_64& random) {
  F x = F::from_u64(random());
  for (int limb = 0; limb < 3; ++limb) x = x * F::from_u64(random()) + F::from_u64(random());
  return x;
}

// A matrix of rows of 0 to 12 terms, ascending columns, over a table with 1, -1 and others.
template <class F>
SparseMatrix random_matrix(const Shape<F>& shape, std::size_t rows, std::mt19937_64& random) {
  SparseMatrix out;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t gap = random() % 5 == 0 ? shape.variable_count() : 1 + random() % 40;
    for (std::size_t column = random() % gap; column < shape.variable_count();
         column += 1 + random() % gap) {
      out.terms.push_back({static_cast<std::uint32_t>(column),
                           static_cast<std::uint32_t>(random() % shape.coefficients.size())});
    }
    out.row_begin.push_back(out.terms.size());
  }
  return out;
}

template <class F>
struct Sample {
  Shape<F> shape;
  Assignment<F> assignment;
};

template <class F>
Sample<F> random_sample(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Sample<F> out;
  out.shape.input_count = 1 + static_cast<std::uint32_t>(random() % 5);
  out.shape.aux_count = 150 + static_cast<std::uint32_t>(random() % 80);
  out.shape.coefficients = {F::one(), -F::one(), F::from_u64(2), random_element<F>(random)};
  for (SparseMatrix* matrix : {&out.shape.a, &out.shape.b, &out.shape.c}) {
    *matrix = random_matrix(out.shape, 60, random);
  }
  out.assignment.inputs.push_back(F::one());
  for (std::uint32_t i = 1; i < out.shape.input_count; ++i) {
    out.assignment.inputs.push_back(random_element<F>(random));
  }
  for (std::uint32_t i = 0; i < out.shape.aux_count; ++i) {
    switch (random() % 4) {
      case 0: out.assignment.aux.push_scalar(random_element<F>(random)); break;
      case 1: out.assignment.aux.push_scalar(F::zero()); break;
      default: out.assignment.aux.push_bit(random() % 2); break;
    }
  }
  return out;
}

template <class F>
F naive_row(const Sample<F>& sample, const SparseMatrix& matrix, std::size_t row) {
  F sum = F::zero();
  for (const Term term : matrix.row(row)) {
    const std::uint32_t inputs = sample.shape.input_count;
    const F value = term.column < inputs ? sample.assignment.inputs[term.column]
                                         : sample.assignment.aux.value(term.column - inputs);
    sum += sample.shape.coefficients[term.coefficient] * value;
  }
  return sum;
}

template <class F>
class ShapeOver : public ::testing::Test {};
using Fields = ::testing::Types<field::bls12_381::Fr, field::bn254::Fr>;
TYPED_TEST_SUITE(ShapeOver, Fields);

TYPED_TEST(ShapeOver, EvaluatesRowsLikeTheDefinition) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Sample<TypeParam> sample = random_sample<TypeParam>(seed);
    for (const SparseMatrix* m : {&sample.shape.a, &sample.shape.b, &sample.shape.c}) {
      std::vector<TypeParam> out(m->row_count());
      evaluate_rows<TypeParam>(sample.shape, *m, sample.assignment, 0, out);
      for (std::size_t r = 0; r < out.size(); ++r) ASSERT_EQ(out[r], naive_row(sample, *m, r));
    }
  }
}

// Long rows of large coefficients, where unreduced sums carry; small coefficients at the front of
// the table, where they are summed as integers, and behind it; sums beyond the usual small
// multiples.
TYPED_TEST(ShapeOver, EvaluatesLongRowsOfBits) {
  std::mt19937_64 random(11);
  Sample<TypeParam> sample;
  Shape<TypeParam>& shape = sample.shape;
  shape.input_count = 2;
  shape.aux_count = 3000;
  for (const std::uint64_t k : {0, 1, 2, 3}) {
    shape.coefficients.push_back(TypeParam::from_u64(k));
    shape.coefficients.push_back(-TypeParam::from_u64(k));
  }
  for (int i = 0; i < 20; ++i) shape.coefficients.push_back(random_element<TypeParam>(random));
  for (std::uint64_t k = 0; k < 3; ++k) shape.coefficients.push_back(-TypeParam::from_u64(k));
  sample.assignment.inputs = {TypeParam::one(), -TypeParam::one()};
  for (std::uint32_t i = 0; i < shape.aux_count; ++i) {
    if (i % 100 == 7)
      sample.assignment.aux.push_scalar(-TypeParam::from_u64(i % 3));
    else
      sample.assignment.aux.push_bit(i % 5 != 0);
  }
  // Rows of one coefficient each, then rows of all in turn.
  for (std::size_t r = 0; r < shape.coefficients.size() + 3; ++r) {
    for (std::uint32_t column = 0; column < shape.variable_count(); ++column) {
      const std::size_t index = r < shape.coefficients.size() ? r : r + column;
      shape.a.terms.push_back(
          {column, static_cast<std::uint32_t>(index % shape.coefficients.size())});
    }
    shape.a.row_begin.push_back(shape.a.terms.size());
  }
  std::vector<TypeParam> out(shape.a.row_count());
  evaluate_rows<TypeParam>(shape, shape.a, sample.assignment, 0, out);
  for (std::size_t r = 0; r < out.size(); ++r) ASSERT_EQ(out[r], naive_row(sample, shape.a, r));
}

TYPED_TEST(ShapeOver, EvaluatesAnyBlockAndPadsWithZeros) {
  const Sample<TypeParam> sample = random_sample<TypeParam>(7);
  const std::size_t rows = sample.shape.a.row_count();
  for (const std::size_t first : {std::size_t{0}, std::size_t{17}, rows - 1, rows, rows + 5}) {
    std::vector<TypeParam> out(rows, TypeParam::from_u64(99));
    evaluate_rows<TypeParam>(sample.shape, sample.shape.a, sample.assignment, first, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const TypeParam expected =
          first + i < rows ? naive_row(sample, sample.shape.a, first + i) : TypeParam::zero();
      ASSERT_EQ(out[i], expected) << first << " + " << i;
    }
  }
}

TYPED_TEST(ShapeOver, DensityMarksWhatOccurs) {
  const Sample<TypeParam> sample = random_sample<TypeParam>(3);
  const Shape<TypeParam>& shape = sample.shape;
  const Density density = density_of(shape);
  ASSERT_EQ(density.a_aux.size(), shape.aux_count);
  ASSERT_EQ(density.b_aux.size(), shape.aux_count);
  ASSERT_EQ(density.b_input.size(), shape.input_count);
  const auto occurs = [&](const SparseMatrix& m, std::size_t column) {
    for (const Term& term : m.terms) {
      if (term.column == column) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < shape.variable_count(); ++i) {
    if (i < shape.input_count) {
      EXPECT_EQ(density.b_input.get(i), occurs(shape.b, i));
    } else {
      EXPECT_EQ(density.a_aux.get(i - shape.input_count), occurs(shape.a, i));
      EXPECT_EQ(density.b_aux.get(i - shape.input_count), occurs(shape.b, i));
    }
  }
}

TYPED_TEST(ShapeOver, CountsTheInputRowsOnce) {
  Shape<TypeParam> shape = random_sample<TypeParam>(4).shape;
  EXPECT_EQ(shape.qap_row_count(), shape.constraint_count() + shape.input_count);
  shape.has_input_rows = true;
  EXPECT_EQ(shape.qap_row_count(), shape.constraint_count());
}

TYPED_TEST(ShapeOver, AnEmptyShapeEvaluatesToZeros) {
  Shape<TypeParam> shape;
  shape.input_count = 1;
  Assignment<TypeParam> assignment;
  assignment.inputs = {TypeParam::one()};
  std::vector<TypeParam> out(3, TypeParam::one());
  evaluate_rows<TypeParam>(shape, shape.a, assignment, 0, out);
  for (const TypeParam& value : out) EXPECT_TRUE(value.is_zero());
}

TEST(Shape, ItsOwnRowsAreThoseWithoutTheInputRowsThatWereAdded) {
  Shape<field::bn254::Fr> shape;
  shape.input_count = 3;
  shape.a.row_begin.assign(11, 0);  // ten rows
  EXPECT_EQ(shape.own_row_count(), 10u);
  shape.has_input_rows = true;
  EXPECT_EQ(shape.own_row_count(), 7u);
  shape.a.row_begin.assign(3, 0);
  EXPECT_EQ(shape.own_row_count(), 0u) << "a key that was made up";
}

}  // namespace
}  // namespace cuzk::r1cs
