// The label circuit against upstream's unit test and against the native label.
//
// Both numbers of parents are tried: 6 in the first layer, 14 above it.
#include "filecoin/porep/label_circuit.h"

#include "filecoin/circuit_test_support.h"
#include "filecoin/circuit_values.h"
#include "filecoin/vanilla/label.h"
#include "r1cs/builder.h"
#include "r1cs/witness_builder.h"

namespace cuzk::filecoin {
namespace {

template <class Cs>
typename Cs::BitString allocated_bits(Cs& cs, const Node& node) {
  typename Cs::BitString bits;
  for (unsigned i = 0; i < 256; ++i) {
    bits.push_back(r1cs::gadgets::alloc_bit(cs, (node[i / 8] >> (7 - i % 8)) & 1));
  }
  return bits;
}

template <class Cs>
typename Cs::Number label_over_bits(Cs& cs, const Node& replica_id, const LabelParents& parents,
                                    std::uint32_t layer, std::uint64_t node) {
  std::vector<typename Cs::BitString> parent_bits;
  for (const Node& parent : parents) parent_bits.push_back(allocated_bits(cs, parent));
  const auto replica_id_bits = allocated_bits(cs, replica_id);
  typename Cs::BitString node_bits;
  node_bits.append_constant(node, 64);
  return create_label(cs, replica_id_bits, std::span<const typename Cs::BitString>(parent_bits),
                      layer, node_bits);
}

TEST(LabelCircuit, IsUpstreams) {
  r1cs::ShapeBuilder<Fr> cs;
  label_over_bits(cs, {}, {}, 3, 22);
  testing::expect_circuit(std::move(cs).finish(),
                          "create_label_test(38x256 bits allocated: 37 parents then id; layer=3 "
                          "const, node=22 const)");
}

TEST(LabelCircuit, ComputesTheNativeLabel) {
  LabelParents parents;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    parents[i] = to_node(Fr::from_u64(i + 2).pow(77));
  }
  for (const std::uint64_t node :
       {std::uint64_t{1}, std::uint64_t{0xffffffff}, std::uint64_t{1} << 40}) {
    r1cs::WitnessBuilder<Fr> cs;
    const auto label = label_over_bits(cs, testing::sample_ticket(), parents, 11, node);
    EXPECT_EQ(to_node(label.number_value),
              label_of_parents(testing::sample_ticket(), 11, node, parents));
  }
}

TEST(LabelCircuit, RepeatsParentsAsTheNativeLabelDoes) {
  std::vector<Node> labels;
  for (unsigned i = 0; i < kParentCount; ++i)
    labels.push_back(to_node(Fr::from_u64(i + 3).pow(50)));
  for (const std::size_t count : {kBaseParentCount, kParentCount}) {
    r1cs::WitnessBuilder<Fr> cs;
    const auto replica_id = allocated_bits(cs, testing::sample_ticket());
    const auto node = r1cs::gadgets::alloc_public_u64(cs, 9);
    std::vector<r1cs::WitnessBits> parents;
    for (std::size_t i = 0; i < count; ++i) {
      parents.push_back(hashed_bits(cs, cs.new_number(checked_fr(labels[i]))));
    }
    const auto label =
        create_label(cs, replica_id, std::span<const r1cs::WitnessBits>(parents), 2, node);
    EXPECT_EQ(to_node(label.number_value),
              label_of_parents(testing::sample_ticket(), 2, 9,
                               repeat_parents(std::span(labels).first(count))));
  }
}

}  // namespace
}  // namespace cuzk::filecoin
