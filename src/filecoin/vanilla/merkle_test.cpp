// Trees of every shape against a recursive twin; proofs that hold and proofs that do not.
//
// A proof must hold at its own index only, and any changed part must be refused by its place.
#include "filecoin/vanilla/merkle.h"

#include "filecoin/test_support.h"
#include "hash/poseidon.h"

namespace cuzk::filecoin {
namespace {

std::vector<Node> leaves_of(std::size_t count) {
  std::vector<Node> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(to_node(Fr::from_u64(i * i + 1).pow(5)));
  return out;
}

// The root by splitting from the top: top level first, then sub, then base trees.
Node root_naive(NodeHash hash, std::span<const Node> leaves, std::vector<std::size_t> arities) {
  if (arities.empty()) return leaves[0];
  const std::size_t arity = arities.back();
  arities.pop_back();
  std::vector<Node> children;
  const std::size_t part = leaves.size() / arity;
  for (std::size_t i = 0; i < arity; ++i) {
    children.push_back(root_naive(hash, leaves.subspan(i * part, part), arities));
  }
  return hash_children(hash, children);
}

struct Case {
  NodeHash hash;
  TreeShape shape;
  std::size_t leaf_count;
};

const Case kCases[] = {
    {NodeHash::kSha256, kBinaryTree, 1},   {NodeHash::kSha256, kBinaryTree, 2},
    {NodeHash::kSha256, kBinaryTree, 64},  {NodeHash::kPoseidon, {8, 0, 0}, 64},
    {NodeHash::kPoseidon, {8, 2, 0}, 128}, {NodeHash::kPoseidon, {8, 4, 0}, 32},
    {NodeHash::kPoseidon, {8, 8, 0}, 512}, {NodeHash::kPoseidon, {8, 8, 2}, 1024},
    {NodeHash::kPoseidon, {2, 0, 0}, 8},   {NodeHash::kPoseidon, {4, 0, 0}, 16},
};

TEST(MerkleTree, RootEqualsTheRecursiveTwin) {
  for (const Case& c : kCases) {
    const auto leaves = leaves_of(c.leaf_count);
    const auto arities = level_arities(c.shape, c.leaf_count);
    EXPECT_EQ(MerkleTree::build(c.hash, c.shape, leaves).root(),
              root_naive(c.hash, leaves, arities))
        << c.shape.name();
  }
}

TEST(MerkleTree, EveryLeafHasAProofThatHoldsAtItsIndexOnly) {
  for (const Case& c : kCases) {
    const MerkleTree tree = MerkleTree::build(c.hash, c.shape, leaves_of(c.leaf_count));
    const auto arities = level_arities(c.shape, c.leaf_count);
    for (std::uint64_t i = 0; i<c.leaf_count; i += c.leaf_count> 100 ? 37 : 1) {
      const MerkleProof proof = tree.proof(i);
      EXPECT_EQ(path_index(proof, arities), i);
      const auto status = check_merkle_proof(proof, c.hash, arities, i, "proof");
      EXPECT_TRUE(status.ok()) << status.error().message;
      EXPECT_FALSE(check_merkle_proof(proof, c.hash, arities, i ^ 1, "proof").ok());
      EXPECT_FALSE(check_merkle_proof(proof, c.hash, arities, i + c.leaf_count, "proof").ok());
    }
  }
}

TEST(MerkleProof, AnyChangedPartIsRefusedWithItsPlace) {
  const MerkleTree tree = MerkleTree::build(NodeHash::kPoseidon, {8, 2, 0}, leaves_of(128));
  const auto arities = level_arities({8, 2, 0}, 128);
  const MerkleProof good = tree.proof(77);
  std::vector<MerkleProof> bad(8, good);
  bad[0].root[0] ^= 1;
  bad[1].leaf[5] ^= 4;
  bad[2].path[1].hashes[6][31] ^= 1;
  bad[3].path[2].index ^= 1;
  bad[4].path.pop_back();
  bad[5].path[0].hashes.pop_back();
  bad[6].path.push_back(bad[6].path.back());
  bad[7].path[0].hashes[3].fill(0xff);  // not canonical
  for (const MerkleProof& proof : bad) {
    const auto status = check_merkle_proof(proof, NodeHash::kPoseidon, arities, 77, "a.b[2]");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message.find("a.b[2]"), 0u) << status.error().message;
  }
}

TEST(MerkleTree, ZeroSubtreesAreTheGoldenDigests) {
  const auto& values =
      testing::golden()["poseidon"]["zero_subtree_digests_arity8_le_hex"]["values"];
  Node node{};
  for (std::size_t height = 0; height < values.size(); ++height) {
    EXPECT_EQ(to_hex(node), values[height]);
    node = hash_children(NodeHash::kPoseidon, std::vector<Node>(8, node));
  }
}

TEST(MerkleTree, CacheFilesHoldOneBaseTreeEach) {
  const MerkleTree tree = MerkleTree::build(NodeHash::kPoseidon, {8, 2, 0}, leaves_of(128));
  const base::Bytes second = tree.base_tree_bytes(1, 0);
  ASSERT_EQ(second.size(), (64u + 8 + 1) * 32);
  EXPECT_TRUE(std::equal(tree.level(0)[64].begin(), tree.level(0)[64].end(), second.begin()));
  EXPECT_TRUE(std::equal(tree.level(2)[1].begin(), tree.level(2)[1].end(), second.end() - 32));
}

}  // namespace
}  // namespace cuzk::filecoin
