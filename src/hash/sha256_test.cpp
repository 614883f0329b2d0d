// SHA-256 against the standard, OpenSSL and Filecoin's commitments of empty sectors.
//
// Lengths run around a block's border; all paths that the machine has agree on chains of blocks.
#include "hash/sha256.h"

#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

#include "base/cpu.h"
#include "tests/support/data.h"

namespace cuzk::hash {
namespace {

base::Bytes random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  base::Bytes out(size);
  for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
  return out;
}

Digest by_openssl(base::ByteSpan bytes) {
  Digest out;
  unsigned size = 0;
  EXPECT_EQ(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, EVP_sha256(), nullptr), 1);
  return out;
}

base::ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// FIPS 180-4 examples (NIST, "SHA256.pdf").
TEST(Sha256, AnswersTheStandardsExamples) {
  EXPECT_EQ(base::to_hex(sha256(as_bytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(base::to_hex(sha256({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(
      base::to_hex(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, EqualsOpensslAtEveryLengthAroundTheBlockBorders) {
  const base::Bytes data = random_bytes(300, 1);
  for (std::size_t size = 0; size <= data.size(); ++size) {
    const base::ByteSpan part = base::ByteSpan(data).first(size);
    ASSERT_EQ(sha256(part), by_openssl(part)) << size;
  }
}

TEST(Sha256, DoesNotCareHowTheMessageIsCut) {
  const base::Bytes data = random_bytes(1000, 2);
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    Sha256 hasher;
    for (std::size_t at = 0; at < data.size();) {
      const std::size_t size = std::min<std::size_t>(random() % 150, data.size() - at);
      hasher.update(base::ByteSpan(data).subspan(at, size));
      at += size;
    }
    ASSERT_EQ(hasher.finish(), by_openssl(data));
  }
}

// The portable level means it: no instruction that some processor lacks.
TEST(Sha256, PortableLevelTakesThePortablePath) {
  const base::CpuLevel level = base::cpu_level();
  const Digest usual = sha256(random_bytes(1000, 1));
  base::force_cpu_level(base::CpuLevel::kPortable);
  EXPECT_EQ(sha256_default_path(), Sha256Path::kPortable);
  EXPECT_EQ(sha256(random_bytes(1000, 1)), usual);
  base::force_cpu_level(level);
  EXPECT_EQ(sha256_default_path() == Sha256Path::kShaExtensions,
            level >= base::CpuLevel::kAdx && sha256_path_available(Sha256Path::kShaExtensions));
}

TEST(Sha256, PathsAgreeOnChainsOfBlocks) {
  if (!sha256_path_available(Sha256Path::kShaExtensions)) {
    GTEST_SKIP() << "this CPU has no SHA extensions";
  }
  const bool is_allowed = base::cpu_level() >= base::CpuLevel::kAdx;
  EXPECT_EQ(sha256_default_path(), is_allowed ? Sha256Path::kShaExtensions : Sha256Path::kPortable);
  for (std::size_t blocks = 0; blocks < 20; ++blocks) {
    const base::Bytes data = random_bytes(blocks * kSha256BlockBytes, blocks);
    Sha256State plain = kSha256InitialState, fast = kSha256InitialState;
    sha256_compress_on(Sha256Path::kPortable, plain, data.data(), blocks);
    sha256_compress_on(Sha256Path::kShaExtensions, fast, data.data(), blocks);
    ASSERT_EQ(plain, fast) << blocks;
  }
}

TEST(Sha256, CompressesExtremeWordsAlikeOnEveryPath) {
  for (const std::uint8_t fill : {0x00, 0xff, 0x80, 0x7f}) {
    const base::Bytes block(kSha256BlockBytes, fill);
    Sha256State state, portable;
    state.fill(0x01010101u * fill);
    portable = state;
    sha256_compress(state, block.data(), 1);
    sha256_compress_on(Sha256Path::kPortable, portable, block.data(), 1);
    EXPECT_EQ(state, portable) << int{fill};
  }
}

TEST(Sha256TreeNode, IsTheTruncatedHashOfBothChildren) {
  const base::Bytes data = random_bytes(64, 5);
  Digest left, right;
  std::copy_n(data.begin(), 32, left.begin());
  std::copy_n(data.begin() + 32, 32, right.begin());
  const Digest full = by_openssl(data), node = sha256_tree_node(left, right);
  EXPECT_TRUE(std::equal(node.begin(), node.end() - 1, full.begin()));
  EXPECT_EQ(node[31], full[31] & 0x3f);
  EXPECT_EQ(truncated_to_254_bits(full), node);
}

// golden.json, sha256_tree_d: roots of all-zero sectors of each size.
TEST(Sha256TreeNode, GivesTheCommitmentsOfEmptySectors) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  std::ifstream stream(path);
  const auto golden = nlohmann::json::parse(stream);
  const auto& values = golden["sha256_tree_d"]["zero_comm_d_le_hex_by_padded_bytes"]["values"];
  ASSERT_GE(values.size(), 5u);
  Digest node{};
  std::size_t found = 0;
  for (std::uint64_t size = 64; size <= std::uint64_t{1} << 36; size *= 2) {
    node = sha256_tree_node(node, node);
    const auto entry = values.find(std::to_string(size));
    if (entry == values.end()) continue;
    EXPECT_EQ(base::to_hex(node), entry->get<std::string>()) << size;
    ++found;
  }
  EXPECT_EQ(found, values.size());
}

}  // namespace
}  // namespace cuzk::hash
