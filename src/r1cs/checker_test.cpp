// The checker finds the first broken row and says why.
//
// Breaks are put at the borders of the blocks that threads take, and the sentence is read in full:
// it is what an author of a circuit sees.
#include "r1cs/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "r1cs/gadgets/test_support.h"
#include "r1cs/test_circuits.h"

namespace cuzk::r1cs {
namespace {

using F = field::bls12_381::Fr;
using ::testing::HasSubstr;
using testing::with_aux;

Shape<F> chain_shape(std::size_t length) {
  return testing::shape_of<F>(
      [&](auto& cs) { testing::product_chain_circuit(cs, length, F::zero()); });
}
Assignment<F> chain_witness(std::size_t length) {
  return testing::assignment_of<F>(
      [&](auto& cs) { testing::product_chain_circuit(cs, length, F::from_u64(3)); });
}

TEST(Checker, AcceptsAGoodWitness) {
  EXPECT_TRUE(check_satisfied(chain_shape(100), chain_witness(100)).ok());
  EXPECT_FALSE(first_broken_constraint(chain_shape(100), chain_witness(100)).has_value());
}

// Aux i + 1 is the product of row i, so changing it breaks row i first.
TEST(Checker, NamesTheFirstBrokenRowAcrossBlocks) {
  constexpr std::size_t kLength = 10000;  // several blocks
  const Shape<F> shape = chain_shape(kLength);
  const Assignment<F> good = chain_witness(kLength);
  for (const std::size_t row : {0, 1, 4095, 4096, 4097, 8191, 9999}) {
    const auto broken = first_broken_constraint(shape, with_aux(good, row + 1, F::from_u64(77)));
    ASSERT_TRUE(broken.has_value());
    EXPECT_EQ(broken->row, row);
    EXPECT_EQ(broken->c, F::from_u64(77));
    EXPECT_EQ(broken->a, good.aux.value(row));
    EXPECT_NE(broken->a * broken->b, broken->c);
  }
}

TEST(Checker, FindsAWrongPublicInput) {
  const Shape<F> shape = chain_shape(5);
  Assignment<F> bad = chain_witness(5);
  bad.inputs[1] += F::one();
  const auto broken = first_broken_constraint(shape, bad);
  ASSERT_TRUE(broken.has_value());
  EXPECT_EQ(broken->row, shape.constraint_count() - 1);
}

TEST(Checker, SentenceSaysWhereAndWhy) {
  using Builder = ShapeBuilder<F>;
  Builder cs(Builder::PathRecording::kOn);
  {
    const auto scope = cs.scope("gadget", 4);
    const Variable x = cs.new_number().variable, y = cs.new_number().variable;
    const Variable i = cs.new_input().variable;
    cs.enforce({{x, F::from_u64(3)}, {kOne, -F::one()}}, {{y, F::one()}}, {{i, F::one()}});
  }
  const Paths paths = cs.take_paths();
  const Shape<F> shape = std::move(cs).finish();
  Assignment<F> assignment;
  assignment.inputs = {F::one(), -F::from_u64(5)};
  assignment.aux.push_scalar(F::from_u64(7));
  assignment.aux.push_scalar(F::from_u64(2));
  const base::Status status = check_satisfied(shape, assignment, &paths);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, base::ErrorKind::kUnsatisfied);
  EXPECT_EQ(status.error().message,
            "constraint 0 in gadget[4] of 1 is broken: A * B = 20 * 2 = 40, but C = -5; "
            "A: -1 + 3*aux 0 [= 7, made in gadget[4]]; B: 1*aux 1 [= 2, made in gadget[4]]; "
            "C: 1*input 1 [= -5, made in gadget[4]]");
  const base::Status unnamed = check_satisfied(shape, assignment);
  EXPECT_THAT(unnamed.error().message, HasSubstr("constraint 0 of 1 is broken"));
}

TEST(Checker, ShortensLongRowsAndShowsLargeValuesInHex) {
  ShapeBuilder<F> cs;
  Linear<F> sum;
  for (std::uint64_t i = 0; i < 40; ++i) sum.add(cs.new_number().variable);
  cs.enforce(sum, Linear<F>{{kOne, F::one()}}, Linear<F>());
  const Shape<F> shape = std::move(cs).finish();
  Assignment<F> assignment;
  assignment.inputs = {F::one()};
  for (std::uint64_t i = 0; i < 40; ++i) {
    assignment.aux.push_classified(F::from_u64(2).inverse());
  }
  const std::string message = check_satisfied(shape, assignment).error().message;
  EXPECT_THAT(message, HasSubstr("+ 28 more terms"));
  EXPECT_THAT(message, HasSubstr("[= 0x39f6d3a994cebea4"));  // (r + 1) / 2
}

TEST(Checker, RefusesWhatDoesNotBelongToTheCircuit) {
  const Shape<F> shape = chain_shape(5);
  Assignment<F> assignment = chain_witness(5);
  assignment.inputs.push_back(F::one());
  EXPECT_EQ(check_satisfied(shape, assignment).error().kind, base::ErrorKind::kMismatch);
  assignment = chain_witness(6);
  EXPECT_THAT(check_satisfied(shape, assignment).error().message,
              HasSubstr("7 aux variables, the circuit has 6"));
  assignment = chain_witness(5);
  assignment.inputs[0] = F::from_u64(2);
  EXPECT_THAT(check_satisfied(shape, assignment).error().message, HasSubstr("must be 1"));
}

TEST(Checker, RefusesAShapeWithoutC) {
  Shape<F> shape = chain_shape(5);
  shape.has_c = false;
  shape.c = {};
  EXPECT_EQ(check_satisfied(shape, chain_witness(5)).error().kind, base::ErrorKind::kUnsupported);
}

TEST(Checker, ChecksTheOtherFieldToo) {
  using G = field::bn254::Fr;
  const auto circuit = [](auto& cs) { testing::mimc_circuit(cs, G::from_u64(1), G::from_u64(2)); };
  Assignment<G> assignment = testing::assignment_of<G>(circuit);
  EXPECT_TRUE(check_satisfied(testing::shape_of<G>(circuit), assignment).ok());
  assignment.inputs[1] += G::one();
  EXPECT_FALSE(check_satisfied(testing::shape_of<G>(circuit), assignment).ok());
}

}  // namespace
}  // namespace cuzk::r1cs
