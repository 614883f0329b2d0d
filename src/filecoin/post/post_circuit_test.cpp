// The PoSt circuits against upstream's: counts, hashes, all values of real witnesses.
//
// A window partition that is not full is among the cases: it is filled up with its last sector.
#include "filecoin/post/post_circuit.h"

#include "filecoin/circuit_test_support.h"
#include "filecoin/job.h"
#include "filecoin/post/post_test_support.h"

namespace cuzk::filecoin {
namespace {

using testing::expect_circuit;

TEST(PostCircuit, TestShapesAreUpstreams) {
  expect_circuit(post_circuit_shape({{8, 0, 0}, 64, 3, 5}), "post_test_8_leaves64_ch5_sectors3");
  expect_circuit(post_circuit_shape({{8, 0, 0}, 64, 2, 5}), "post_test_8_leaves64_ch5_sectors2");
  expect_circuit(post_circuit_shape({{8, 4, 0}, 256, 3, 5}),
                 "post_test_8_4_leaves256_ch5_sectors3");
  expect_circuit(post_circuit_shape({{8, 4, 2}, 512, 3, 5}),
                 "post_test_8_4_2_leaves512_ch5_sectors3");
}

TEST(PostCircuit, WindowOfEverySmallSizeIsUpstreams) {
  for (const char* size : {"2KiB", "4KiB", "16KiB", "32KiB", "8MiB", "16MiB", "512MiB", "1GiB"}) {
    const SectorShape& shape = **sector_shape_by_name(size);
    expect_circuit(circuit_shape(CircuitKind::kWindowPost, shape).value(),
                   "window_post_" + std::string(size) + "_ch10_sectors2");
  }
}

TEST(PostCircuit, WinningOfSmallestAndLargestSizesIsUpstreams) {
  for (const char* size : {"2KiB", "32KiB", "64GiB"}) {
    const SectorShape& shape = **sector_shape_by_name(size);
    expect_circuit(circuit_shape(CircuitKind::kWinningPost, shape).value(),
                   "winning_post_" + std::string(size) + "_ch1_sectors66");
  }
}

TEST(PostCircuit, WitnessesAreUpstreamsAndSatisfyTheCircuit) {
  for (const auto& c : testing::kPostCases) {
    const PostClaim claim = testing::claim_of(c);
    const auto proofs = testing::proofs_of(c);
    const auto shape = post_circuit_shape(PostCircuit::of(*claim.shape, claim.kind));
    for (unsigned k = 0; k < post_partition_count(claim); ++k) {
      const auto assignment = post_partition_assignment(claim, proofs, k);
      testing::expect_assignment(assignment,
                                 testing::read_json("upstream/instance1/" + std::string(c.name) +
                                                    ".partition" + std::to_string(k) + ".json"));
      const auto status = r1cs::check_satisfied(shape, assignment);
      EXPECT_TRUE(status.ok()) << status.error().message;
    }
  }
}

TEST(PostCircuit, WrongValuesBreakARowWithItsPath) {
  const auto& c = testing::kPostCases[1];
  const PostClaim claim = testing::claim_of(c);
  r1cs::Paths paths;
  const auto shape = post_circuit_shape(PostCircuit::of(*claim.shape, claim.kind), &paths);
  auto proofs = testing::proofs_of(c);
  proofs[0].inclusion_proofs[3].leaf = node_of_u64(5);
  const auto status =
      r1cs::check_satisfied(shape, post_partition_assignment(claim, proofs, 0), &paths);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("sector[0]/challenge[3]/inclusion"), std::string::npos)
      << status.error().message;
  EXPECT_NE(paths.of_row(shape.constraint_count() - 1).find("sector[1]/challenge[9]/"),
            std::string::npos);
}

}  // namespace
}  // namespace cuzk::filecoin
