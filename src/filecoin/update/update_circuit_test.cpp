// The update circuit against upstream's: counts, hash, all values of the real witness.
//
// A compound size has several partitions, each of which must satisfy the one circuit.
#include "filecoin/update/update_circuit.h"

#include "filecoin/circuit_test_support.h"
#include "filecoin/job.h"

namespace cuzk::filecoin {
namespace {

TEST(UpdateCircuit, Of1KiBAnd2KiBIsUpstreams) {
  for (const auto& [size, name] :
       {std::pair{"1KiB", "update_1KiB_8_4_0"}, std::pair{"2KiB", "update_2KiB_8_0_0"}}) {
    testing::expect_circuit(
        circuit_shape(CircuitKind::kUpdate, **sector_shape_by_name(size)).value(), name);
  }
}

TEST(UpdateCircuit, WitnessOf2KiBIsUpstreams) {
  const SectorShape& shape = **sector_shape_by_name("2KiB");
  const auto file = testing::read_json("upstream/instance1/instance.json")["update"];
  const UpdateClaim claim{&shape, testing::node_of(file["comm_r_old"]),
                          testing::node_of(file["comm_d_new"]),
                          testing::node_of(file["comm_r_new"])};
  const auto proof = read_update_partition_proof(
      testing::read_data("upstream/instance1/update.vanilla0.bin"), shape, "update.vanilla0.bin");
  const auto assignment = update_partition_assignment(claim, proof.value(), 0);
  testing::expect_assignment(assignment,
                             testing::read_json("upstream/instance1/update.partition0.json"));
  const auto status =
      r1cs::check_satisfied(update_circuit_shape(UpdateCircuit::of(shape)), assignment);
  EXPECT_TRUE(status.ok()) << status.error().message;
}

TEST(UpdateCircuit, BothPartitionsOfACompoundSizeSatisfyUpstreamsCircuit) {
  const SealedSector sector = testing::sealed_sector_of("16KiB");
  const auto update = update_sector(sector, testing::sample_data(1000)).value();
  const auto shape = update_circuit_shape(UpdateCircuit::of(*update.shape));
  testing::expect_circuit(shape, "update_16KiB_8_8_0", false);
  for (unsigned k = 0; k < 2; ++k) {
    const auto assignment =
        update_partition_assignment(update.claim(), open_update_partition(update, k), k);
    const auto status = r1cs::check_satisfied(shape, assignment);
    EXPECT_TRUE(status.ok()) << status.error().message;
    auto inputs = update_public_inputs(update.claim(), k).value();
    inputs.insert(inputs.begin(), Fr::one());
    EXPECT_EQ(inputs, assignment.inputs);
  }
}

// Whatever part of the proof is wrong, some row says so.
TEST(UpdateCircuit, WrongValuesBreakARowWithItsPath) {
  const auto update = update_sector(testing::sample_sector(), testing::sample_data(99)).value();
  const UpdateClaim claim = update.claim();
  r1cs::Paths paths;
  const auto shape = update_circuit_shape(UpdateCircuit::of(*update.shape), &paths);
  const UpdatePartitionProof good = open_update_partition(update, 0);
  ASSERT_TRUE(r1cs::check_satisfied(shape, update_partition_assignment(claim, good, 0)).ok());
  const auto breaks = [&](auto&& change, const std::string& place) {
    UpdatePartitionProof proof = good;
    change(proof);
    EXPECT_FALSE(verify_update_partition(claim, proof, 0).ok()) << place;
    const auto status =
        r1cs::check_satisfied(shape, update_partition_assignment(claim, proof, 0), &paths);
    ASSERT_FALSE(status.ok()) << place;
    EXPECT_NE(status.error().message.find(place), std::string::npos) << status.error().message;
  };
  const auto bump = [](Node& node) { node[0] ^= 1; };
  breaks([&](auto& p) { bump(p.comm_c); }, "prologue");
  breaks([&](auto& p) { bump(p.apex_leaves[3]); }, "prologue/apex");
  breaks([&](auto& p) { bump(p.challenges[2].proof_r_old.leaf); }, "challenge[2]/inclusion");
  breaks([&](auto& p) { bump(p.challenges[4].proof_d_new.leaf); }, "challenge[4]/inclusion");
  breaks([&](auto& p) { bump(p.challenges[9].proof_r_new.path[1].hashes[0]); },
         "challenge[9]/inclusion");
  breaks([&](auto& p) { bump(p.challenges[7].proof_d_new.path[0].hashes[0]); },
         "challenge[7]/inclusion");
}

}  // namespace
}  // namespace cuzk::filecoin
