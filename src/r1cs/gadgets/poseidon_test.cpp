// Poseidon circuits: shapes against upstream, witnesses against the native hash.
//
// The native hash has its own tests; here it is the twin. Shapes skip without upstream's table.
#include "r1cs/gadgets/poseidon.h"

#include <gtest/gtest.h>

#include "r1cs/gadgets/test_support.h"

namespace cuzk::r1cs::gadgets {
namespace {

using namespace testing;

auto poseidon_circuit(const std::vector<F>& inputs, const F& tag) {
  return [inputs, tag](auto& cs) {
    using Cs = std::decay_t<decltype(cs)>;
    const auto numbers = new_numbers(cs, inputs);
    const auto digest = poseidon(cs, std::span<const typename Cs::Number>(numbers), tag);
    if constexpr (!Cs::kRecordsRows) {
      EXPECT_EQ(cs.value(digest), hash::poseidon(inputs, tag));
    }
  };
}

class PoseidonCircuit : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Arities, PoseidonCircuit, ::testing::Values(2, 4, 8, 11, 16, 24, 36));

TEST_P(PoseidonCircuit, HasTheUpstreamShape) {
  const std::size_t arity = GetParam(), t = arity + 1;
  const Shape<F> shape =
      shape_of<F>(poseidon_circuit(std::vector<F>(arity), hash::poseidon_merkle_tag(arity)));
  EXPECT_EQ(shape.constraint_count(),
            3 * (t - 1) + 28 * t + 4 * hash::poseidon_constants(arity).partial_rounds + 1);
  EXPECT_EQ(shape.aux_count, arity + shape.constraint_count());
  if (arity == 24) {  // no upstream run; the count is asserted by upstream's own test
    EXPECT_EQ(shape.constraint_count(), 1009u);
    return;
  }
  CUZK_DATA_OR_SKIP(path, "upstream/circuits.json");
  expect_upstream(shape, upstream_circuit(path, "poseidon_arity_" + std::to_string(arity) +
                                                    "_over_prealloc_inputs"));
}

TEST_P(PoseidonCircuit, WitnessEqualsTheNativeHashAndSatisfies) {
  std::mt19937_64 random(GetParam());
  for (int round = 0; round < 2; ++round) {
    std::vector<F> inputs(GetParam());
    for (F& input : inputs) input = troublesome_element(random);
    const auto circuit = poseidon_circuit(inputs, hash::poseidon_merkle_tag(GetParam()));
    const Shape<F> shape = shape_of<F>(circuit);
    const Assignment<F> witness = assignment_of<F>(circuit);
    const auto status = check_satisfied(shape, witness);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(witness.aux.scalar_count(), witness.aux.size());
    if (round == 0) expect_every_change_caught(shape, witness, 30);
  }
}

TEST(PoseidonGadget, HasTheUpstreamShapeUnderTheGeneratorTag) {
  CUZK_DATA_OR_SKIP(path, "upstream/circuits.json");
  expect_upstream(
      shape_of<F>(poseidon_circuit({F::zero(), F::zero()}, hash::poseidon_custom_tag(1))),
      upstream_circuit(path, "poseidon_gen_randomness_2"));
}

// The result is the last variable; its row is the last row.
TEST(PoseidonGadget, BindsItsResult) {
  const auto circuit = poseidon_circuit({F::from_u64(1), F::from_u64(2)}, F::from_u64(3));
  const Shape<F> shape = shape_of<F>(circuit);
  const Assignment<F> witness = assignment_of<F>(circuit);
  const std::size_t last = witness.aux.size() - 1;
  EXPECT_EQ(witness.aux.value(last),
            hash::poseidon(std::vector<F>{F::from_u64(1), F::from_u64(2)}, F::from_u64(3)));
  const auto broken = first_broken_constraint(shape, with_aux(witness, last, F::from_u64(123)));
  ASSERT_TRUE(broken.has_value());
  EXPECT_EQ(broken->row, shape.constraint_count() - 1);
}

}  // namespace
}  // namespace cuzk::r1cs::gadgets
