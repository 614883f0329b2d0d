// Opened nodes: what they hold, and that they open any node of any shape.
//
// First layer, first and last nodes and compound trees are the borders; every partition is filled
// for each kind of challenge.
#include "filecoin/porep/prove_vanilla.h"

#include "filecoin/porep/challenges.h"
#include "filecoin/test_support.h"
#include "filecoin/vanilla/label.h"

namespace cuzk::filecoin {
namespace {

Graph graph_of(const SealedSector& sector) {
  return Graph(sector.config.shape->node_count(), sector.config.porep_id,
               sector.config.api_version);
}

TEST(OpenNode, HoldsTheNodeItsParentsAndTheirLabels) {
  const SealedSector& sector = testing::sample_sector();
  const Graph graph = graph_of(sector);
  for (const std::uint32_t node : {1u, 2u, 32u, 63u}) {
    const PorepProof proof = open_node(sector, graph, node);
    const Parents parents = graph.parents(node);
    EXPECT_EQ(proof.c_x.index, node);
    EXPECT_EQ(proof.comm_d_proof.leaf, sector.tree_d.level(0)[node]);
    EXPECT_EQ(proof.comm_r_last_proof.leaf, sector.replica[node]);
    for (unsigned i = 0; i < kParentCount; ++i) {
      EXPECT_EQ(proof.parent(i).index, parents[i]);
      EXPECT_EQ(proof.parent(i).rows, sector.column(parents[i]));
      EXPECT_EQ(proof.parent(i).inclusion.leaf, column_hash(proof.parent(i).rows));
    }
    ASSERT_EQ(proof.labeling_proofs.size(), 2u);
    for (std::uint32_t layer = 1; layer <= 2; ++layer) {
      const LabelingProof& labeling = proof.labeling_proofs[layer - 1];
      LabelParents repeated;
      std::copy(labeling.parents.begin(), labeling.parents.end(), repeated.begin());
      EXPECT_EQ(label_of_parents(sector.replica_id, layer, node, repeated),
                sector.layers[layer - 1][node]);
    }
    EXPECT_EQ(proof.encoding_proof, proof.labeling_proofs.back());
  }
}

TEST(OpenNode, FirstLayerHashesBaseParentsOnly) {
  const SealedSector& sector = testing::sample_sector();
  const PorepProof proof = open_node(sector, graph_of(sector), 40);
  const auto& first = proof.labeling_proofs[0].parents;
  const auto& second = proof.labeling_proofs[1].parents;
  for (std::size_t i = 0; i < kLabelParentCount; ++i) {
    EXPECT_EQ(first[i], proof.drg_parents[i % kBaseParentCount].rows[0]);
    const unsigned parent = static_cast<unsigned>(i % kParentCount);
    EXPECT_EQ(second[i], proof.parent(parent).rows[parent < kBaseParentCount ? 1 : 0]);
  }
}

TEST(OpenNode, OpensEveryNodeOfACompoundTree) {
  const SealedSector sector = testing::sealed_sector_of("4KiB");
  const Graph graph = graph_of(sector);
  const auto arities = level_arities(sector.config.shape->tree, 128);
  for (std::uint32_t node = 1; node < 128; node += 9) {
    const PorepProof proof = open_node(sector, graph, node);
    EXPECT_TRUE(
        check_merkle_proof(proof.c_x.inclusion, NodeHash::kPoseidon, arities, node, "c_x").ok());
    EXPECT_TRUE(
        check_merkle_proof(proof.comm_r_last_proof, NodeHash::kPoseidon, arities, node, "r").ok());
    EXPECT_EQ(proof.comm_r_last_proof.root, sector.comm_r_last);
  }
}

TEST(OpenChallenges, FollowTheKindAndFillEveryPartition) {
  for (const unsigned number : {5u, 10u, 15u}) {
    const SealedSector& sector = testing::sample_sector(number);
    const auto partitions = open_challenges(sector, testing::sample_seed());
    ASSERT_EQ(partitions.size(), sector.config.partition_count());
    const PorepChallengeSource source{sector.config.kind, sector.replica_id, sector.comm_r,
                                      testing::sample_seed()};
    for (unsigned k = 0; k < partitions.size(); ++k) {
      const auto challenges = porep_challenges(source, 64, 2, k);
      ASSERT_EQ(partitions[k].size(), challenges.size());
      for (std::size_t i = 0; i < challenges.size(); ++i) {
        EXPECT_EQ(partitions[k][i].labeling_proofs[0].node, challenges[i]);
      }
    }
  }
}

TEST(CommitPhase1, RefusesAnotherRegisteredProof) {
  const SealedSector& sector = testing::sample_sector(5);
  for (const unsigned number : {0u, 6u, 10u}) {
    const auto c1 = commit_phase_1(sector, registered_seal(number).value(), testing::sample_seed());
    ASSERT_FALSE(c1.ok());
    EXPECT_EQ(c1.error().kind, base::ErrorKind::kMismatch);
    EXPECT_NE(c1.error().message.find(registered_seal(number).value().name()), std::string::npos);
  }
}

}  // namespace
}  // namespace cuzk::filecoin
