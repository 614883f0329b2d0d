// Gadgets over field elements at the borders of the field and of its capacity.
//
// The witness must be the canonical bits, also where the rows would accept x + r as well; packing
// is tried just below, at and above the capacity.
#include "r1cs/gadgets/numbers.h"

#include <gtest/gtest.h>

#include "r1cs/gadgets/test_support.h"

namespace cuzk::r1cs::gadgets {
namespace {

using namespace testing;

// Checks both passes of a description and returns its shape.
template <class Description>
Shape<F> expect_satisfied(const Description& description) {
  const Shape<F> shape = shape_of<F>(description);
  const Assignment<F> witness = assignment_of<F>(description);
  const auto status = check_satisfied(shape, witness);
  EXPECT_TRUE(status.ok()) << status.error().message;
  expect_every_change_caught(shape, witness, 40);
  return shape;
}

TEST(Numbers, ProductSquareAndSumAreOneRowEach) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 10; ++round) {
    const F a = troublesome_element(random), b = troublesome_element(random);
    const auto circuit = [&](auto& cs) {
      const auto x = cs.new_number(a), y = cs.new_number(b);
      const auto product = multiply(cs, x, y), sum = add(cs, x, y), squared = square(cs, x);
      if constexpr (!std::decay_t<decltype(cs)>::kRecordsRows) {
        EXPECT_EQ(cs.value(product), a * b);
        EXPECT_EQ(cs.value(sum), a + b);
        EXPECT_EQ(cs.value(squared), a * a);
      }
    };
    const Shape<F> shape = shape_of<F>(circuit);
    EXPECT_TRUE(check_satisfied(shape, assignment_of<F>(circuit)).ok());
    EXPECT_EQ(counts_of(shape), (Counts{3, 5, 1, 4, 3, 3}));
  }
}

TEST(Numbers, InputizeMakesOneEqualInput) {
  const Shape<F> shape =
      expect_satisfied([](auto& cs) { inputize(cs, cs.new_number(F::from_u64(42))); });
  EXPECT_EQ(counts_of(shape), (Counts{1, 1, 2, 1, 1, 1}));
  EXPECT_EQ(shape.a.row(0)[0].column, 1u);  // input | 1 | number
  EXPECT_EQ(shape.c.row(0)[0].column, 2u);
}

TEST(Numbers, EqualityRefusesDifferentNumbers) {
  const auto circuit = [](auto& cs) {
    enforce_equal(cs, cs.new_number(F::from_u64(1)), cs.new_number(F::from_u64(2)));
  };
  EXPECT_FALSE(check_satisfied(shape_of<F>(circuit), assignment_of<F>(circuit)).ok());
}

TEST(Numbers, DecomposeIntoTheirCanonicalBits) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20; ++round) {
    const F value = troublesome_element(random);
    const auto circuit = [&](auto& cs) {
      const auto bits = to_bits_le(cs, cs.new_number(value));
      ASSERT_EQ(bits.size(), 255u);
      if constexpr (!std::decay_t<decltype(cs)>::kRecordsRows) {
        const auto canonical = value.to_canonical().value;
        for (std::size_t i = 0; i < 255; ++i) ASSERT_EQ(bits[i].value(), canonical.bit(i));
      }
    };
    const Shape<F> shape = shape_of<F>(circuit);
    EXPECT_EQ(counts_of(shape), (Counts{256, 256, 1, 510, 255, 256}));  // golden: to_bits_le
    const Assignment<F> witness = assignment_of<F>(circuit);
    ASSERT_EQ(witness.aux.size(), 256u);
    EXPECT_EQ(witness.aux.scalar_count(), 1u);
    EXPECT_TRUE(check_satisfied(shape, witness).ok());
    if (round == 0) expect_every_change_caught(shape, witness, 300);
  }
}

TEST(Numbers, PackTheFirstBitsOfTheCapacity) {
  std::mt19937_64 random(3);
  for (const std::size_t size : {0, 1, 64, 65, 253, 254, 255, 300}) {
    std::vector<bool> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = random() % 2 == 1;
    F expected = F::zero();
    for (std::size_t i = std::min<std::size_t>(size, 254); i > 0; --i) {
      expected = expected.doubled() + (values[i - 1] ? F::one() : F::zero());
    }
    const auto circuit = [&](auto& cs) {
      const auto number = pack_bits(cs, new_bits(cs, values));
      if constexpr (!std::decay_t<decltype(cs)>::kRecordsRows) {
        EXPECT_EQ(cs.value(number), expected);
      }
    };
    const Shape<F> shape = shape_of<F>(circuit);
    EXPECT_EQ(shape.constraint_count(), size + 1);
    EXPECT_TRUE(check_satisfied(shape, assignment_of<F>(circuit)).ok());
  }
}

TEST(Numbers, PackBitsIntoAsManyInputsAsNeeded) {
  for (const std::size_t size : {1, 64, 254, 255, 508, 509}) {
    const std::vector<bool> values(size, true);
    const Shape<F> shape =
        expect_satisfied([&](auto& cs) { pack_into_inputs(cs, new_bits(cs, values)); });
    EXPECT_EQ(shape.input_count, 1 + (size + 253) / 254);
    EXPECT_EQ(shape.constraint_count(), size + shape.input_count - 1);
  }
}

TEST(Numbers, PublicIntegersCostSixtyFiveRows) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    const auto circuit = [&](auto& cs) { alloc_public_u64(cs, value); };
    EXPECT_EQ(counts_of(expect_satisfied(circuit)),
              (Counts{65, 64, 2, 192, 65, 1}));  // golden: uint64 alloc and pack
    EXPECT_EQ(assignment_of<F>(circuit).inputs[1], F::from_u64(value));
  }
}

TEST(Numbers, ConstantAndNegatedBitsPackToo) {
  const auto circuit = [](auto& cs) {
    using Cs = std::decay_t<decltype(cs)>;
    typename Cs::BitString bits;
    bits.push_back(alloc_bit(cs, false).negated());
    bits.push_back(Cs::Bit::constant(true));
    bits.push_back(Cs::Bit::constant(false));
    bits.push_back(alloc_bit(cs, true));
    pack_into_inputs(cs, bits);
  };
  const Assignment<F> witness = assignment_of<F>(circuit);
  EXPECT_EQ(witness.inputs[1], F::from_u64(11));
  EXPECT_TRUE(check_satisfied(shape_of<F>(circuit), witness).ok());
}

TEST(Numbers, ReverseAString) {
  WitnessCs cs;
  const auto bits = reversed(new_bits(cs, {true, false, false}));
  EXPECT_FALSE(bits[0].value());
  EXPECT_TRUE(bits[2].value());
}

}  // namespace
}  // namespace cuzk::r1cs::gadgets
