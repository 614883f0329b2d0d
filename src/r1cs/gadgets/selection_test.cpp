// Pick, select and insert for every index.
//
// Indexes are tried exhaustively, in the value and in the rows, as their number is small.
#include "r1cs/gadgets/selection.h"

#include <gtest/gtest.h>

#include "r1cs/gadgets/numbers.h"
#include "r1cs/gadgets/test_support.h"

namespace cuzk::r1cs::gadgets {
namespace {

using namespace testing;

std::vector<F> some_values(std::size_t count) {
  std::vector<F> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(F::from_u64(1000 + i));
  return out;
}

TEST(Selection, PickTakesEitherSide) {
  for (const bool condition : {false, true}) {
    for (const int kind : {0, 1, 2}) {  // variable, negated, constant
      const auto circuit = [&](auto& cs) {
        using Cs = std::decay_t<decltype(cs)>;
        const auto a = cs.new_number(F::from_u64(5)), b = cs.new_number(F::from_u64(6));
        const auto bit = kind == 0   ? alloc_bit(cs, condition)
                         : kind == 1 ? alloc_bit(cs, !condition).negated()
                                     : Cs::Bit::constant(condition);
        const auto c = pick(cs, bit, a, b);
        if constexpr (!Cs::kRecordsRows) {
          EXPECT_EQ(cs.value(c), F::from_u64(condition ? 5 : 6));
        }
      };
      const Shape<F> shape = shape_of<F>(circuit);
      const Assignment<F> witness = assignment_of<F>(circuit);
      EXPECT_TRUE(check_satisfied(shape, witness).ok());
      // The result, the last aux, is bound.
      EXPECT_FALSE(
          check_satisfied(shape, with_aux(witness, witness.aux.size() - 1, F::from_u64(7))).ok());
    }
  }
}

TEST(Selection, SelectFindsEveryIndex) {
  for (const unsigned bit_count : {0u, 1u, 2u, 3u, 5u}) {
    const std::vector<F> values = some_values(std::size_t{1} << bit_count);
    for (std::size_t index = 0; index < values.size(); ++index) {
      std::size_t rows_before = 0;
      const auto circuit = [&](auto& cs) {
        using Cs = std::decay_t<decltype(cs)>;
        const auto elements = new_numbers(cs, values);
        const auto bits = alloc_integer_bits(cs, index, bit_count);
        if constexpr (Cs::kRecordsRows) rows_before = cs.constraint_count();
        const auto chosen = select(cs, std::span<const typename Cs::Number>(elements), bits);
        if constexpr (!Cs::kRecordsRows) {
          EXPECT_EQ(cs.value(chosen), values[index]);
        }
      };
      const Shape<F> shape = shape_of<F>(circuit);
      EXPECT_EQ(shape.constraint_count() - rows_before, values.size() - 1);
      EXPECT_TRUE(check_satisfied(shape, assignment_of<F>(circuit)).ok());
    }
  }
}

TEST(Selection, InsertPutsTheElementAtEveryPlace) {
  const std::size_t costs[] = {0, 2, 8, 22};
  for (const unsigned bit_count : {1u, 2u, 3u}) {
    const std::vector<F> others = some_values((std::size_t{1} << bit_count) - 1);
    for (std::size_t index = 0; index <= others.size(); ++index) {
      std::vector<F> expected = others;
      expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(index), F::from_u64(7));
      std::size_t rows_before = 0;
      const auto circuit = [&](auto& cs) {
        using Cs = std::decay_t<decltype(cs)>;
        const auto element = cs.new_number(F::from_u64(7));
        const auto bits = alloc_integer_bits(cs, index, bit_count);
        const auto rest = new_numbers(cs, others);
        if constexpr (Cs::kRecordsRows) rows_before = cs.constraint_count();
        const auto list = insert(cs, element, bits, std::span<const typename Cs::Number>(rest));
        if constexpr (!Cs::kRecordsRows) {
          for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(cs.value(list[i]), expected[i]);
        }
      };
      const Shape<F> shape = shape_of<F>(circuit);
      EXPECT_EQ(shape.constraint_count() - rows_before, costs[bit_count]);
      const Assignment<F> witness = assignment_of<F>(circuit);
      EXPECT_TRUE(check_satisfied(shape, witness).ok());
      // Aux: element, bits, others, then results; a changed result is noticed.
      for (std::size_t i = 1 + bit_count + others.size(); i < witness.aux.size(); ++i) {
        EXPECT_FALSE(check_satisfied(shape, with_aux(witness, i, F::from_u64(99))).ok()) << i;
      }
    }
  }
}

}  // namespace
}  // namespace cuzk::r1cs::gadgets
