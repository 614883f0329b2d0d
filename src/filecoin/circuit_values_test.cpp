// Openings: digits become an index, siblings keep their order; blanks have the same lengths.
//
// The shape pass runs on blanks, so a length that differed would record another circuit.
#include "filecoin/circuit_values.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

TEST(Opening, JoinsDigitsAndSiblingsLeafLevelFirst) {
  const std::vector<std::size_t> arities = {8, 8, 2};
  MerkleProof proof = blank_merkle_proof(arities);
  proof.path[0].index = 5;
  proof.path[1].index = 2;
  proof.path[2].index = 1;
  std::uint64_t number = 0;
  for (PathElement& element : proof.path) {
    for (Node& hash : element.hashes) hash = node_of_u64(++number);
  }
  const MerkleOpening opening = opening_of(proof, arities);
  EXPECT_EQ(opening.index, 5u + 8 * 2 + 64 * 1);
  ASSERT_EQ(opening.siblings.size(), 7u + 7 + 1);
  for (std::size_t i = 0; i < opening.siblings.size(); ++i) {
    EXPECT_EQ(opening.siblings[i], Fr::from_u64(i + 1));
  }
}

TEST(Opening, OfABlankHasTheLengthsOfARealOne) {
  const SealedSector& sector = testing::sample_sector();
  const auto arities = level_arities(sector.config.shape->tree, 64);
  const MerkleProof real = sector.tree_r.proof(33), blank = blank_merkle_proof(arities);
  ASSERT_EQ(real.path.size(), blank.path.size());
  EXPECT_EQ(opening_of(real, arities).siblings.size(), opening_of(blank, arities).siblings.size());
  EXPECT_EQ(opening_of(real, arities).index, 33u);
  EXPECT_EQ(opening_of(blank, arities).index, 0u);
}

}  // namespace
}  // namespace cuzk::filecoin
