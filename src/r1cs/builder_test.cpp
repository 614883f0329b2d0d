// What the two builders record: numbering, merged rows, coefficients, scopes, parts.
//
// Upstream's keys depend on the numbering, so it is fixed here by literal expectations.
#include "r1cs/builder.h"

#include <gtest/gtest.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "r1cs/checker.h"
#include "r1cs/fingerprint.h"
#include "r1cs/witness_builder.h"

namespace cuzk::r1cs {
namespace {

using F = field::bls12_381::Fr;

std::vector<std::pair<std::uint32_t, F>> row(const Shape<F>& shape, const SparseMatrix& matrix,
                                             std::size_t r) {
  std::vector<std::pair<std::uint32_t, F>> out;
  for (const Term term : matrix.row(r)) {
    out.emplace_back(term.column, shape.coefficients[term.coefficient]);
  }
  return out;
}
using Row = std::vector<std::pair<std::uint32_t, F>>;

TEST(ShapeBuilder, NumbersInputsAndAuxApartAndPutsInputsFirst) {
  ShapeBuilder<F> cs;
  const auto x = cs.new_number(), i = cs.new_input(), y = cs.new_number(), j = cs.new_input();
  EXPECT_EQ(cs.input_count(), 3u);
  EXPECT_EQ(cs.aux_count(), 2u);
  const F one = F::one();
  cs.enforce(
      {{y.variable, one}, {j.variable, one}, {x.variable, one}, {i.variable, one}, {kOne, one}},
      {{x.variable, one}}, {});
  const Shape<F> shape = std::move(cs).finish();
  EXPECT_EQ(row(shape, shape.a, 0), (Row{{0, one}, {1, one}, {2, one}, {3, one}, {4, one}}));
  EXPECT_EQ(row(shape, shape.b, 0), (Row{{3, one}}));
  EXPECT_TRUE(row(shape, shape.c, 0).empty());
  EXPECT_FALSE(shape.has_input_rows);
  EXPECT_EQ(shape.qap_row_count(), 4u);
}

TEST(ShapeBuilder, MergesTermsAndDropsZeros) {
  ShapeBuilder<F> cs;
  const Variable x = cs.new_number().variable, y = cs.new_number().variable;
  const F one = F::one(), five = F::from_u64(5);
  // In every place where merging can happen: first, last, between, and alone.
  cs.enforce({{x, one}, {y, five}, {x, one}}, {{y, one}, {x, F::zero()}, {y, -one}},
             {{x, F::zero()}});
  cs.enforce({{y, five}, {x, one}, {y, -five}}, {{kOne, five}, {y, one}, {kOne, five}}, {});
  const Shape<F> shape = std::move(cs).finish();
  EXPECT_EQ(row(shape, shape.a, 0), (Row{{1, one.doubled()}, {2, five}}));
  EXPECT_TRUE(row(shape, shape.b, 0).empty());
  EXPECT_TRUE(row(shape, shape.c, 0).empty());
  EXPECT_EQ(row(shape, shape.a, 1), (Row{{1, one}}));
  EXPECT_EQ(row(shape, shape.b, 1), (Row{{0, five.doubled()}, {2, one}}));
}

TEST(ShapeBuilder, StoresEachCoefficientOnce) {
  ShapeBuilder<F> cs;
  const Variable x = cs.new_number().variable;
  for (std::uint64_t i = 0; i < 100; ++i) {
    cs.enforce({{x, F::from_u64(2 + i % 7)}}, {{x, F::one()}}, {{x, -F::one()}});
  }
  const Shape<F> shape = std::move(cs).finish();
  EXPECT_EQ(shape.coefficients.size(), 2u + 7u);
  for (std::size_t i = 0; i < shape.coefficients.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(shape.coefficients[i], shape.coefficients[j]);
  }
}

TEST(ShapeBuilder, AcceptsLinearCombinationsInAnyOrder) {
  ShapeBuilder<F> cs;
  const Variable x = cs.new_number().variable;
  Linear<F> a;
  a.add(x).add_constant(F::from_u64(3)).add(x, F::from_u64(2));
  cs.enforce(a, Linear<F>{{x, F::one()}}, Linear<F>());
  const Shape<F> shape = std::move(cs).finish();
  EXPECT_EQ(row(shape, shape.a, 0), (Row{{0, F::from_u64(3)}, {1, F::from_u64(3)}}));
}

// Blocks that refer to ONE, to shared inputs and aux, and to their own, recorded one by one or
// once.
TEST(ShapeBuilder, RepeatsABlockAsIfItWereRecordedAgain) {
  const auto block = [](ShapeBuilder<F>& cs, Variable shared, Variable shared_input) {
    const F one = F::one();
    const Variable x = cs.new_number().variable, i = cs.new_input().variable;
    const Variable y = cs.new_number().variable;
    cs.enforce({{x, one}, {shared, F::from_u64(3)}}, {{y, one}, {kOne, -one}}, {{i, one}});
    cs.enforce({{shared_input, one}}, {{i, one}, {shared_input, one}}, {});
  };
  for (const std::size_t times : {0, 1, 2, 17}) {
    ShapeBuilder<F> once, again;
    for (ShapeBuilder<F>* cs : {&once, &again}) {
      const Variable shared = cs->new_number().variable, input = cs->new_input().variable;
      cs->enforce({{shared, F::one()}}, {}, {{input, F::one()}});
      const CircuitPosition start = cs->position();
      block(*cs, shared, input);
      if (cs == &once) {
        cs->repeat_since(start, times);
      } else {
        for (std::size_t k = 0; k < times; ++k) block(*cs, shared, input);
      }
      const Variable after = cs->new_number().variable;  // recording goes on
      cs->enforce({{after, F::one()}}, {{shared, F::one()}}, {});
    }
    const Shape<F> repeated = std::move(once).finish(), recorded = std::move(again).finish();
    EXPECT_EQ(repeated.aux_count, 1 + 2 * (times + 1) + 1);
    EXPECT_EQ(fingerprint(repeated), fingerprint(recorded)) << times;
  }
}

// Each block uses its own two of the variables made for all blocks before.
TEST(ShapeBuilder, RepeatsABlockThatReadsItsOwnPartOfAWindow) {
  constexpr std::size_t kBlocks = 5;
  const auto block = [](ShapeBuilder<F>& cs, Variable shared, const Variable* own) {
    const F one = F::one();
    const Variable x = cs.new_number().variable;
    cs.enforce({{shared, one}, {own[1], one}, {x, one}}, {{own[0], F::from_u64(7)}}, {{x, -one}});
  };
  ShapeBuilder<F> once, again;
  for (ShapeBuilder<F>* cs : {&once, &again}) {
    const Variable shared = cs->new_number().variable;
    std::vector<Variable> window;
    const std::uint32_t begin = cs->aux_count();
    for (std::size_t i = 0; i < 2 * kBlocks; ++i) window.push_back(cs->new_number().variable);
    const CircuitPosition start = cs->position();
    for (std::size_t k = 0; k < (cs == &once ? 1 : kBlocks); ++k)
      block(*cs, shared, &window[2 * k]);
    if (cs == &once) cs->repeat_since(start, kBlocks - 1, {begin, begin + 2, 2});
    EXPECT_EQ(cs->constraint_count(), kBlocks);
  }
  const Shape<F> repeated = std::move(once).finish(), recorded = std::move(again).finish();
  EXPECT_LT(repeated.a.terms.size(), recorded.a.terms.size());
  EXPECT_EQ(repeated.a.term_count(), recorded.a.terms.size());
  EXPECT_EQ(fingerprint(repeated), fingerprint(recorded));
}

TEST(ShapeBuilder, WorksOverTheOtherField) {
  using G = field::bn254::Fr;
  ShapeBuilder<G> cs;
  const Variable x = cs.new_number().variable;
  cs.enforce({{x, G::one()}}, {{x, G::one()}}, {{kOne, G::from_u64(9)}});
  const Shape<G> shape = std::move(cs).finish();
  WitnessBuilder<G> witness;
  witness.new_number(G::from_u64(3));
  EXPECT_TRUE(check_satisfied(shape, witness.assignment()).ok());
}

TEST(ShapeBuilder, KeepsPathsOnlyOnDemand) {
  for (const bool on : {false, true}) {
    using Builder = ShapeBuilder<F>;
    Builder cs(on ? Builder::PathRecording::kOn : Builder::PathRecording::kOff);
    const F one = F::one();
    {
      const auto outer = cs.scope("outer", 3);
      const Variable x = cs.new_number().variable;
      cs.enforce({{x, one}}, {{x, one}}, {{x, one}});
      const auto inner = cs.scope("inner");
      cs.new_input();
      cs.enforce({{x, one}}, {{x, one}}, {});
    }
    cs.enforce({}, {}, {});
    const Paths paths = cs.take_paths();
    EXPECT_EQ(paths.of_row(0), on ? "outer[3]" : "");
    EXPECT_EQ(paths.of_row(1), on ? "outer[3]/inner" : "");
    EXPECT_EQ(paths.of_row(2), "");
    EXPECT_EQ(paths.of_aux(0), on ? "outer[3]" : "");
    EXPECT_EQ(paths.of_input(1), on ? "outer[3]/inner" : "");
  }
}

TEST(WitnessBuilder, KeepsInputsAndAuxInOrder) {
  WitnessBuilder<F> cs;
  cs.new_number(F::from_u64(5));
  cs.new_input(F::from_u64(6));
  cs.new_bit(true);
  const Assignment<F> assignment = std::move(cs).finish();
  ASSERT_EQ(assignment.inputs.size(), 2u);
  EXPECT_TRUE(assignment.inputs[0].is_one());
  EXPECT_EQ(assignment.inputs[1], F::from_u64(6));
  ASSERT_EQ(assignment.aux.size(), 2u);
  EXPECT_TRUE(assignment.aux.is_scalar(0));
  EXPECT_FALSE(assignment.aux.is_scalar(1));
  EXPECT_TRUE(assignment.aux.value(1).is_one());
}

TEST(WitnessBuilder, PartsJoinLikeOneRun) {
  const auto part = [](auto& cs, std::uint64_t i) {
    cs.new_number(F::from_u64(100 + i));
    cs.new_bit(i % 2 == 0);
    cs.new_input(F::from_u64(i));
  };
  WitnessBuilder<F> whole, joined;
  for (std::uint64_t i = 0; i < 100; ++i) {
    part(whole, i);
    WitnessBuilder<F> piece;
    part(piece, i);
    joined.append(piece);
  }
  EXPECT_EQ(whole.assignment().inputs, joined.assignment().inputs);
  ASSERT_EQ(whole.assignment().aux.size(), joined.assignment().aux.size());
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(whole.assignment().aux.value(i), joined.assignment().aux.value(i));
  }
}

}  // namespace
}  // namespace cuzk::r1cs
