// The PoRep circuit against upstream's: counts, hash, all values of the real witness.
#include "filecoin/porep/porep_circuit.h"

#include "filecoin/circuit_test_support.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_circuit;

const r1cs::Shape<Fr>& shape_2kib() {
  static const r1cs::Shape<Fr> shape =
      porep_circuit_shape(PorepCircuit::of(**sector_shape_by_name("2KiB")));
  return shape;
}

TEST(PorepCircuit, SmallShapesAreUpstreams) {
  expect_circuit(porep_circuit_shape({{2, 0, 0}, 8, 2, 1}),
                 "stacked_test_poseidon_2_nodes8_layers2_ch1");
  expect_circuit(porep_circuit_shape({{8, 4, 2}, 64, 2, 1}),
                 "stacked_test_poseidon_8_4_2_nodes64_layers2_ch1");
}

TEST(PorepCircuit, Of2KiBIsUpstreams) { expect_circuit(shape_2kib(), "porep_2KiB_layers2_ch2"); }

TEST(PorepCircuit, WitnessOf2KiBIsUpstreams) {
  const PorepC1 c1 = testing::sample_c1();
  const auto assignment =
      porep_circuit_assignment(PorepCircuit::of(*c1.registered_proof.shape),
                               statement_of(c1, c1.partitions[0]), c1.partitions[0]);
  testing::expect_assignment(assignment,
                             testing::read_json("upstream/instance1/porep-s0.partition0.json"));
  const auto status = r1cs::check_satisfied(shape_2kib(), assignment);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

}  // namespace
}  // namespace cuzk::filecoin
