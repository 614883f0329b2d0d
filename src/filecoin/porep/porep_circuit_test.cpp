// The PoRep circuit against upstream's: counts, hash, all values of the real witness.
//
// Large sizes are compared by counts only. Compound trees have no upstream witness; there our own
// must satisfy the rows. A wrong value has to break a row whose path says where.
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

TEST(PorepCircuit, LargeShapesHaveUpstreamsCounts) {
  for (const char* size : {"8MiB", "1GiB"}) {
    expect_circuit(porep_circuit_shape(PorepCircuit::of(**sector_shape_by_name(size))),
                   "porep_" + std::string(size) + "_layers2_ch2", false);
  }
}

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

TEST(PorepCircuit, WrongValuesBreakARowWithItsPath) {
  r1cs::Paths paths;
  const PorepCircuit circuit = PorepCircuit::of(**sector_shape_by_name("2KiB"));
  const auto shape = porep_circuit_shape(circuit, &paths);
  PorepC1 c1 = testing::sample_c1();
  c1.partitions[0][1].drg_parents[4].rows[0][3] ^= 1;
  const auto assignment =
      porep_circuit_assignment(circuit, statement_of(c1, c1.partitions[0]), c1.partitions[0]);
  const auto status = r1cs::check_satisfied(shape, assignment, &paths);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("challenge[1]/parent[4]/inclusion"), std::string::npos)
      << status.error().message;
}

class PorepCircuitOf : public ::testing::TestWithParam<const char*> {};

TEST_P(PorepCircuitOf, CompoundTreesIsUpstreamsAndSatisfied) {
  const SealedSector sector = testing::sealed_sector_of(GetParam());
  const SectorShape& shape = *sector.config.shape;
  const auto recorded = porep_circuit_shape(PorepCircuit::of(shape));
  expect_circuit(recorded, "porep_" + std::string(GetParam()) + "_layers2_ch2", false);
  const auto proofs = open_challenges(sector, testing::sample_seed());
  const PorepStatement statement{sector.replica_id, sector.comm_d, sector.comm_r,
                                 sector.comm_r_last, sector.comm_c};
  const auto assignment = porep_circuit_assignment(PorepCircuit::of(shape), statement, proofs[0]);
  const auto status = r1cs::check_satisfied(recorded, assignment);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

INSTANTIATE_TEST_SUITE_P(Sizes, PorepCircuitOf, ::testing::Values("4KiB", "16KiB", "32KiB"));

}  // namespace
}  // namespace cuzk::filecoin
