// Poseidon against upstream answers, and the optimised form against the definition.
//
// Answers fix the constants, and the definition fixes the optimisation: either comparison alone
// would let an error pass that the other shows. Needs the golden values, else those tests skip.
#include "hash/poseidon.h"

#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "hash/poseidon_constants.h"
#include "tests/support/data.h"

namespace cuzk::hash {
namespace {

using Fr = PoseidonField;
using FrCanonical = field::bls12_381::FrCanonical;

std::string to_hex_be(const Fr& x) {
  std::uint8_t bytes[32];
  field::store_be(x.to_canonical().value, bytes);
  return base::to_hex(bytes);
}

Fr from_hex_le(const std::string& hex) {
  const auto bytes = base::from_hex_sized(hex, 32, "test value");
  EXPECT_TRUE(bytes.ok());
  const auto x = FrCanonical::from_bytes_le(bytes->data());
  EXPECT_TRUE(x.has_value());
  return Fr::from_canonical(*x);
}

std::vector<Fr> counting(std::size_t arity) {
  std::vector<Fr> out;
  for (std::size_t i = 0; i < arity; ++i) out.push_back(Fr::from_u64(i));
  return out;
}

std::vector<Fr> random_elements(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Fr> out;
  for (std::size_t i = 0; i < count; ++i) {
    Fr x = Fr::from_u64(random());
    for (int limb = 0; limb < 3; ++limb) x = x * Fr::from_u64(random()) + Fr::from_u64(random());
    out.push_back(x);
  }
  return out;
}

nlohmann::json golden_poseidon(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream)["poseidon"];
}

class PoseidonArity : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Arities, PoseidonArity, ::testing::Values(2, 4, 8, 11, 16, 24, 36));

TEST_P(PoseidonArity, AnswersTheUpstreamTests) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const auto golden = golden_poseidon(path);
  const std::string expected =
      golden["hash_of_0_to_arity_minus_1_be_hex"][std::to_string(GetParam())];
  EXPECT_EQ(to_hex_be(poseidon(counting(GetParam()))), expected);
}

TEST_P(PoseidonArity, OptimisedFormEqualsTheDefinition) {
  const std::size_t arity = GetParam();
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<Fr> inputs = random_elements(arity, seed);
    if (seed == 1) inputs[0] = Fr::zero();
    if (seed == 2) std::fill(inputs.begin(), inputs.end(), -Fr::one());
    const Fr tag = seed == 0 ? poseidon_merkle_tag(arity) : Fr::from_u64(seed);
    ASSERT_EQ(poseidon(inputs, tag), poseidon_plain(inputs, tag));
  }
}

TEST_P(PoseidonArity, DependsOnEveryInputAndTheTag) {
  const std::vector<Fr> inputs = random_elements(GetParam(), 9);
  const Fr tag = poseidon_merkle_tag(GetParam()), base = poseidon(inputs, tag);
  EXPECT_NE(poseidon(inputs, tag + Fr::one()), base);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Fr> changed = inputs;
    changed[i] += Fr::one();
    ASSERT_NE(poseidon(changed, tag), base) << i;
  }
}

// With these a wrong answer can be located: first and last constants of each derivation step.
TEST(PoseidonConstants, EqualTheSelectedGoldenOnes) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const auto golden = golden_poseidon(path);
  for (const std::size_t arity : {2, 4, 8, 11}) {
    const auto& expected = golden["constants_be_hex"]["values"][std::to_string(arity)];
    const PoseidonConstants& c = poseidon_constants(arity);
    EXPECT_EQ(c.partial_rounds, golden["R_P"][std::to_string(arity)].get<std::size_t>());
    EXPECT_EQ(to_hex_be(c.round_constants.front()), expected["rc0"]);
    EXPECT_EQ(to_hex_be(c.round_constants.back()), expected["rclast"]);
    EXPECT_EQ(to_hex_be(c.compressed_constants[c.width]), expected["crc[t]"]);
    EXPECT_EQ(to_hex_be(c.compressed_constants.back()), expected["crclast"]);
    EXPECT_EQ(to_hex_be(c.pre_sparse.front()), expected["pre00"]);
    EXPECT_EQ(to_hex_be(c.sparse.front().column[1]), expected["w0_1"]);
    EXPECT_EQ(to_hex_be(c.sparse.front().row[0]), expected["v0_0"]);
    EXPECT_EQ(to_hex_be(c.mds.front()), expected["m00"]);
  }
}

TEST(PoseidonConstants, GrainStreamIsAPrefixOfItsContinuation) {
  const auto few = internal::poseidon_grain(3, 55, 5), many = internal::poseidon_grain(3, 55, 50);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(internal::poseidon_grain(3, 56, 1)[0], few[0]);
}

TEST(PoseidonConstants, AreMadeOnceForAllThreads) {
  std::vector<const PoseidonConstants*> seen(4);
  std::vector<std::thread> threads;
  for (auto& slot : seen) threads.emplace_back([&slot] { slot = &poseidon_constants(4); });
  for (auto& thread : threads) thread.join();
  for (const auto* pointer : seen) EXPECT_EQ(pointer, seen[0]);
}

TEST(Poseidon, KnowsItsArities) {
  std::size_t supported = 0;
  for (std::size_t arity = 0; arity < 64; ++arity) supported += poseidon_arity_supported(arity);
  EXPECT_EQ(supported, 7u);
  EXPECT_TRUE(poseidon_arity_supported(11));
  EXPECT_FALSE(poseidon_arity_supported(3));
}

TEST(Poseidon, TagsEqualTheGoldenOnes) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const auto golden = golden_poseidon(path);
  for (const auto& [arity, tag] : golden["domain_tag_merkle"].items()) {
    EXPECT_EQ(poseidon_merkle_tag(std::stoul(arity)), Fr::from_u64(tag.get<std::uint64_t>()));
  }
  EXPECT_EQ(poseidon_custom_tag(1),
            Fr::from_u64(golden["domain_tag_gen_randomness_arity2"].get<std::uint64_t>()));
}

TEST(Poseidon, AnswersUnderTheGeneratorTag) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const std::string expected = golden_poseidon(path)["gen_randomness_hash_of_0_1_be_hex"]["value"];
  EXPECT_EQ(to_hex_be(poseidon(counting(2), poseidon_custom_tag(1))), expected);
}

TEST(Poseidon, AnswersTheByteLevelNode) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const auto golden = golden_poseidon(path)["arity8_byte_kat"];
  std::vector<Fr> inputs;
  for (const auto& hex : golden["inputs_le_hex"]) inputs.push_back(from_hex_le(hex));
  EXPECT_EQ(poseidon(inputs), from_hex_le(golden["output_le_hex"]));
}

TEST(Poseidon, BuildsTheUpstreamBinaryTree) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const auto golden = golden_poseidon(path)["binary_tree_leaves_1_0_0_1"];
  const Fr zero = Fr::zero(), one = Fr::one();
  const Fr left = poseidon(std::vector<Fr>{one, zero}),
           right = poseidon(std::vector<Fr>{zero, one});
  EXPECT_EQ(to_hex_be(left), golden["node_of_1_0_be_hex"]);
  EXPECT_EQ(to_hex_be(poseidon(std::vector<Fr>{left, right})), golden["root_be_hex"]);
}

TEST(Poseidon, BuildsTheZeroSubtreesOfArityEight) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const auto values = golden_poseidon(path)["zero_subtree_digests_arity8_le_hex"]["values"];
  Fr node = Fr::zero();
  for (const auto& expected : values) {
    ASSERT_EQ(node, from_hex_le(expected));
    node = poseidon(std::vector<Fr>(8, node));
  }
}

// Merkle-Damgard chaining over the arity-36 instance: 36 elements, then the result and 35 more.
TEST(Poseidon, ChainsSeventyOneOnes) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  std::vector<Fr> group(36, Fr::one());
  group[0] = poseidon(group);
  EXPECT_EQ(to_hex_be(poseidon(group)), golden_poseidon(path)["hash_md_71_ones_arity36"]["be_hex"]);
}

}  // namespace
}  // namespace cuzk::hash
