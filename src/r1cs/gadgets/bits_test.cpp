// Boolean gadgets for all kinds of operands: value, tag, cost and soundness.
//
// Every pair of kinds (constant, variable, negation) and values is tried; soundness means that a
// wrong result in the witness breaks a row.
#include "r1cs/gadgets/bits.h"

#include <gtest/gtest.h>

#include "r1cs/gadgets/test_support.h"

namespace cuzk::r1cs::gadgets {
namespace {

using namespace testing;

// The six kinds of operand: two constants, and a variable of either value, plain or negated.
struct Operand {
  BitKind kind;
  bool variable;  // or the constant's value
  bool value() const { return kind == BitKind::kNot ? !variable : variable; }
};
std::vector<Operand> all_operands() {
  std::vector<Operand> out;
  for (const BitKind kind : {BitKind::kConstant, BitKind::kIs, BitKind::kNot}) {
    for (const bool value : {false, true}) out.push_back({kind, value});
  }
  return out;
}
template <class Cs>
typename Cs::Bit make(Cs& cs, const Operand& operand) {
  if (operand.kind == BitKind::kConstant) return Cs::Bit::constant(operand.variable);
  const auto bit = alloc_bit(cs, operand.variable);
  return operand.kind == BitKind::kNot ? bit.negated() : bit;
}

// What one gadget did with given operands, in both passes.
struct Outcome {
  bool value;
  BitKind kind;
  std::size_t allocated, rows;
};
template <class Gadget>
Outcome run(const std::vector<Operand>& operands, const Gadget& gadget) {
  ShapeCs shape_cs;
  WitnessCs witness_cs;
  std::vector<ShapeCs::Bit> shape_bits;
  std::vector<WitnessCs::Bit> witness_bits;
  for (const Operand& operand : operands) {
    shape_bits.push_back(make(shape_cs, operand));
    witness_bits.push_back(make(witness_cs, operand));
  }
  const std::size_t aux = shape_cs.aux_count(), rows = shape_cs.constraint_count();
  const auto from_shape = gadget(shape_cs, shape_bits);
  const auto from_witness = gadget(witness_cs, witness_bits);
  EXPECT_EQ(from_shape.kind, from_witness.kind);
  if (from_shape.is_constant()) {
    EXPECT_EQ(from_shape.value(), from_witness.value());
  }
  const Outcome out{from_witness.value(), from_witness.kind, shape_cs.aux_count() - aux,
                    shape_cs.constraint_count() - rows};
  // The result as a number must be the value, also to the rows.
  Linear<F> result;
  from_shape.add_to(result.terms(), F::one());
  shape_cs.enforce(result, Linear<F>{{kOne, F::one()}},
                   Linear<F>{{kOne, from_witness.value() ? F::one() : F::zero()}});
  const Shape<F> shape = std::move(shape_cs).finish();
  EXPECT_EQ(shape.aux_count, witness_cs.assignment().aux.size());
  const auto status = check_satisfied(shape, witness_cs.assignment());
  EXPECT_TRUE(status.ok()) << status.error().message;
  // Other operands may give the same result, but another result is never accepted.
  expect_every_change_caught(shape, witness_cs.assignment(), 10, aux);
  return out;
}

TEST(Bits, AllocatedOnesAreForcedToBeBits) {
  for (const std::uint64_t value : {0, 1, 2}) {
    ShapeCs cs;
    alloc_bit(cs, false);
    Assignment<F> assignment;
    assignment.inputs = {F::one()};
    assignment.aux.push_scalar(F::from_u64(value));
    EXPECT_EQ(check_satisfied(std::move(cs).finish(), assignment).ok(), value < 2);
  }
}

TEST(Bits, XorFollowsItsRulesForAllOperands) {
  for (const Operand& a : all_operands()) {
    for (const Operand& b : all_operands()) {
      const Outcome out =
          run({a, b}, [](auto& cs, const auto& x) { return bit_xor(cs, x[0], x[1]); });
      EXPECT_EQ(out.value, a.value() != b.value());
      const bool folded = a.kind == BitKind::kConstant || b.kind == BitKind::kConstant;
      EXPECT_EQ(out.allocated, folded ? 0u : 1u);
      EXPECT_EQ(out.rows, out.allocated);
      if (!folded) {
        EXPECT_EQ(out.kind, a.kind == b.kind ? BitKind::kIs : BitKind::kNot);
      }
    }
  }
}

TEST(Bits, AndFollowsItsRulesForAllOperands) {
  for (const Operand& a : all_operands()) {
    for (const Operand& b : all_operands()) {
      const Outcome out =
          run({a, b}, [](auto& cs, const auto& x) { return bit_and(cs, x[0], x[1]); });
      EXPECT_EQ(out.value, a.value() && b.value());
      const bool folded = a.kind == BitKind::kConstant || b.kind == BitKind::kConstant;
      EXPECT_EQ(out.allocated, folded ? 0u : 1u);
      if (!folded) {
        EXPECT_EQ(out.kind, BitKind::kIs);
      }
    }
  }
}

// How many variables two- and three-operand rules allocate: one for an "and" of two variables.
std::size_t and_cost(const Operand& a, const Operand& b) {
  return a.kind != BitKind::kConstant && b.kind != BitKind::kConstant ? 1 : 0;
}

TEST(Bits, ChoiceFollowsItsRulesForAllOperands) {
  const auto is_constant = [](const Operand& x) { return x.kind == BitKind::kConstant; };
  for (const Operand& a : all_operands()) {
    for (const Operand& b : all_operands()) {
      for (const Operand& c : all_operands()) {
        const Outcome out = run(
            {a, b, c}, [](auto& cs, const auto& x) { return bit_choice(cs, x[0], x[1], x[2]); });
        EXPECT_EQ(out.value, a.value() ? b.value() : c.value());
        std::size_t expected = 1;
        if (is_constant(a) && is_constant(b) && is_constant(c)) {
          expected = 0;
        } else if (is_constant(a) && !a.variable) {
          expected = 0;
        } else if (is_constant(b) && !b.variable) {
          expected = and_cost(a, c);
        } else if (is_constant(c)) {
          expected = and_cost(a, b);
        } else if (is_constant(b)) {
          expected = and_cost(a, c);
        }
        EXPECT_EQ(out.allocated, expected);
        EXPECT_EQ(out.rows, expected);
      }
    }
  }
}

TEST(Bits, MajorityFollowsItsRulesForAllOperands) {
  const auto is_constant = [](const Operand& x) { return x.kind == BitKind::kConstant; };
  for (const Operand& a : all_operands()) {
    for (const Operand& b : all_operands()) {
      for (const Operand& c : all_operands()) {
        const Outcome out = run(
            {a, b, c}, [](auto& cs, const auto& x) { return bit_majority(cs, x[0], x[1], x[2]); });
        EXPECT_EQ(out.value, int{a.value()} + int{b.value()} + int{c.value()} >= 2);
        const int constants = int{is_constant(a)} + int{is_constant(b)} + int{is_constant(c)};
        EXPECT_EQ(out.allocated, constants == 0 ? 2u : constants == 1 ? 1u : 0u);
        EXPECT_EQ(out.rows, out.allocated);
      }
    }
  }
}

// The result of a majority is allocated before the product that its row needs.
TEST(Bits, MajorityAllocatesItsResultFirst) {
  WitnessCs cs;
  const auto a = cs.new_bit(true), b = cs.new_bit(true), c = cs.new_bit(false);
  bit_majority(cs, a, b, c);
  ASSERT_EQ(cs.assignment().aux.size(), 5u);
  EXPECT_TRUE(cs.assignment().aux.bit(3));
  EXPECT_FALSE(cs.assignment().aux.bit(4));
}

}  // namespace
}  // namespace cuzk::r1cs::gadgets
