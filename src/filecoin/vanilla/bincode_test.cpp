// Bincode of Merkle proofs: layouts byte by byte, and refusals that name the field.
//
// Single and compound trees put root and leaf at opposite ends; one read as the other must fail.
#include "filecoin/vanilla/bincode.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

MerkleTree tree_of(const TreeShape& shape, std::size_t leaf_count) {
  std::vector<Node> leaves;
  for (std::size_t i = 0; i < leaf_count; ++i) leaves.push_back(node_of_u64(i + 1));
  return MerkleTree::build(NodeHash::kPoseidon, shape, std::move(leaves));
}

base::Bytes written(const MerkleProof& proof, const TreeShape& shape) {
  base::Bytes out;
  write_merkle_proof(out, proof, shape);
  return out;
}

base::Result<MerkleProof> read_back(base::ByteSpan bytes, const TreeShape& shape,
                                    std::uint64_t leaf_count) {
  base::ByteReader reader(bytes, "bytes");
  CUZK_TRY(MerkleProof proof, read_merkle_proof(reader, shape, leaf_count, "proof"));
  CUZK_TRY_STATUS(expect_end(reader));
  return proof;
}

// Bytes of a path of `levels` levels of arity 8.
std::size_t path_bytes(std::size_t levels) { return 8 + levels * (8 + 7 * 32 + 8); }

TEST(Bincode, RoundTripsEveryShape) {
  const std::pair<TreeShape, std::size_t> cases[] = {
      {{8, 0, 0}, 64}, {{8, 2, 0}, 128}, {{8, 4, 0}, 32}, {{8, 8, 0}, 64}, {{8, 8, 2}, 128}};
  for (const auto& [shape, leaf_count] : cases) {
    const MerkleTree tree = tree_of(shape, leaf_count);
    for (const std::uint64_t leaf : {std::uint64_t{0}, leaf_count / 2, leaf_count - 1}) {
      const MerkleProof proof = tree.proof(leaf);
      const auto read = read_back(written(proof, shape), shape, leaf_count);
      ASSERT_TRUE(read.ok()) << read.error().message;
      EXPECT_EQ(*read, proof) << shape.name();
    }
  }
}

TEST(Bincode, PutsRootAndLeafFirstInASingleTree) {
  const MerkleProof proof = tree_of({8, 0, 0}, 64).proof(10);
  const base::Bytes bytes = written(proof, {8, 0, 0});
  ASSERT_EQ(bytes.size(), 4 + 64 + path_bytes(2));
  EXPECT_EQ(base::load_u32_le(bytes.data()), 0u);
  EXPECT_TRUE(std::equal(proof.root.begin(), proof.root.end(), bytes.begin() + 4));
  EXPECT_TRUE(std::equal(proof.leaf.begin(), proof.leaf.end(), bytes.begin() + 36));
  EXPECT_EQ(base::load_u64_le(bytes.data() + 68), 2u);  // levels
  EXPECT_EQ(base::load_u64_le(bytes.data() + 76), 7u);  // siblings of the first
  EXPECT_EQ(base::load_u64_le(bytes.data() + 84 + 7 * 32), 10u % 8);
}

TEST(Bincode, PutsRootAndLeafLastInACompoundTree) {
  const MerkleProof proof = tree_of({8, 8, 2}, 128).proof(100);
  const base::Bytes bytes = written(proof, {8, 8, 2});
  ASSERT_EQ(bytes.size(), 4 + path_bytes(1) + path_bytes(1) + (8 + 8 + 32 + 8) + 64);
  EXPECT_EQ(base::load_u32_le(bytes.data()), 2u);
  EXPECT_TRUE(std::equal(proof.root.begin(), proof.root.end(), bytes.end() - 64));
  EXPECT_TRUE(std::equal(proof.leaf.begin(), proof.leaf.end(), bytes.end() - 32));
}

TEST(Bincode, RefusesTheFormOfAnotherTree) {
  const base::Bytes single = written(tree_of({8, 0, 0}, 64).proof(1), {8, 0, 0});
  const auto as_sub = read_back(single, {8, 2, 0}, 128);
  ASSERT_FALSE(as_sub.ok());
  EXPECT_NE(as_sub.error().message.find("tag 0, expected 1"), std::string::npos)
      << as_sub.error().message;
  const auto as_deeper = read_back(single, {8, 0, 0}, 512);
  ASSERT_FALSE(as_deeper.ok());
  EXPECT_NE(as_deeper.error().message.find("proof.path has 2 elements, expected 3"),
            std::string::npos)
      << as_deeper.error().message;
}

TEST(Bincode, NamesTheFieldThatIsWrong) {
  const base::Bytes good = written(tree_of({8, 0, 0}, 64).proof(9), {8, 0, 0});
  const auto refuses = [&](std::size_t place, std::uint64_t value, const std::string& words) {
    base::Bytes bytes = good;
    base::store_u64_le(bytes.data() + place, value);
    const auto read = read_back(bytes, {8, 0, 0}, 64);
    ASSERT_FALSE(read.ok()) << words;
    EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
  };
  refuses(68, 3, "proof.path has 3 elements, expected 2");
  refuses(68, ~std::uint64_t{0}, "proof.path has 18446744073709551615 elements");
  refuses(76, 8, "proof.path[0].hashes has 8 elements, expected 7");
  refuses(84 + 7 * 32, 8, "proof.path[0].index is 8, expected below 8");
  refuses(4 + 24, ~std::uint64_t{0}, "proof.root is not a canonical field element");
  refuses(84 + 24, ~std::uint64_t{0}, "proof.path[0].hashes is not a canonical field element");
}

TEST(Bincode, RefusesEveryCutAndWhatFollows) {
  const base::Bytes good = written(tree_of({8, 2, 0}, 128).proof(9), {8, 2, 0});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(read_back(base::ByteSpan(good).first(size), {8, 2, 0}, 128).ok()) << size;
  }
  base::Bytes longer = good;
  longer.push_back(0);
  const auto read = read_back(longer, {8, 2, 0}, 128);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("1 bytes follow"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::filecoin
