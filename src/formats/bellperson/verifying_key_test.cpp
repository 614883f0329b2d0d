// .vk and .meta files.
#include "formats/bellperson/verifying_key.h"

#include <gtest/gtest.h>

#include "curve/encoding.h"
#include "formats/bellperson/params.h"
#include "formats/test_support.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using testing::accepted;
using testing::bytes_of;
using testing::refused;
using Bls = curve::Bls12_381;

constexpr const char* kVkFiles[] = {
    "upstream/mimc/mimc.vk",
    "zcash/sapling-output.vk",
    "upstream/keys/v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
    "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194.vk",
    "upstream/keys/v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
    "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.vk",
    "upstream/keys/v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
    "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e.vk",
    "upstream/keys/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
    "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk"};

Bytes mimc_vk() {
  const auto path = cuzk::testing::find_data("upstream/mimc/mimc.vk");
  return path ? cuzk::testing::read_bytes(*path) : Bytes{};
}

auto parse(const Bytes& bytes, KeyCheck check = KeyCheck::kSubgroup) {
  return parse_bellperson_vk(bytes, "mimc.vk", check);
}

TEST(BellpersonVk, OfOthersAreRewrittenToTheByte) {
  for (const char* relative : kVkFiles) {
    CUZK_DATA_OR_SKIP(path, relative);
    const auto key = open_bellperson_vk(path);
    ASSERT_TRUE(accepted(key)) << relative;
    const Bytes original = cuzk::testing::read_bytes(path);
    const auto encoded = encode_bellperson_vk(*key);
    ASSERT_TRUE(accepted(encoded));
    EXPECT_EQ(*encoded, original) << relative;
    EXPECT_EQ(original.size(), 868 + 96 * (key->public_input_count() + 1));
  }
}

TEST(BellpersonVk, IsTheHeadOfItsParams) {
  CUZK_DATA_OR_SKIP(params, "upstream/mimc/mimc.params");
  const auto loaded = open_params(params);
  ASSERT_TRUE(accepted(loaded));
  const auto key = parse(mimc_vk());
  ASSERT_TRUE(accepted(key));
  EXPECT_EQ(loaded->key->vk, *key);
}

TEST(BellpersonVk, IsWrittenAsAFile) {
  const auto key = parse(mimc_vk());
  ASSERT_TRUE(accepted(key));
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(accepted(write_bellperson_vk(folder / "a.vk", *key)));
  EXPECT_EQ(cuzk::testing::read_bytes(folder / "a.vk"), mimc_vk());
}

TEST(BellpersonVk, MustHaveItsExactLength) {
  Bytes bytes = mimc_vk();
  testing::expect_every_truncation_refused(
      bytes, bytes.size(), [](const Bytes& cut) { return parse(cut, KeyCheck::kCanonical); });
  bytes.push_back(0);
  EXPECT_TRUE(refused(parse(bytes), ErrorKind::kMalformed,
                      {"mimc.vk", "1 bytes behind the last ic point", "has 1060 bytes"}));
}

TEST(BellpersonVk, CountIsHeldAgainstTheFile) {
  Bytes bytes = mimc_vk();
  base::store_u32_be(bytes.data() + 864, 3);
  EXPECT_TRUE(
      refused(parse(bytes), ErrorKind::kMalformed, {"ic has 3 records", "192 bytes are left"}));
  base::store_u32_be(bytes.data() + 864, 0xffffffff);
  EXPECT_TRUE(refused(parse(bytes), ErrorKind::kMalformed, {"4294967295 records"}));
  base::store_u32_be(bytes.data() + 864, 0);
  EXPECT_TRUE(refused(parse(bytes), ErrorKind::kMalformed, {"0 ic points"}));
}

// Every flip breaks the count, a flag, or a coordinate; a changed coordinate fits the curve
// equation with the other one no better than by chance, one in p.
TEST(BellpersonVk, EveryFlipIsRefused) {
  const Bytes bytes = mimc_vk();
  const std::size_t count = testing::try_every_flip(
      bytes, 0, bytes.size(),
      [](const Bytes& changed) { return parse(changed, KeyCheck::kOnCurve); });
  EXPECT_EQ(count, 3 * bytes.size());
}

TEST(BellpersonVk, ErrorsNameTheFieldAndThePlace) {
  const struct {
    std::size_t at;
    const char* field;
  } cases[] = {{95, "byte 0: alpha_g1"},    {191, "byte 96: beta_g1"},
               {383, "byte 192: beta_g2"},  {575, "byte 384: gamma_g2"},
               {671, "byte 576: delta_g1"}, {863, "byte 672: delta_g2"},
               {1059, "ic: point 1 of 2"}};
  for (const auto& [at, field] : cases) {
    Bytes bytes = mimc_vk();
    bytes[at] ^= 1;
    EXPECT_TRUE(refused(parse(bytes), ErrorKind::kMalformed, {"mimc.vk", field}));
  }
}

TEST(BellpersonVk, ChecksAreAsDeepAsAsked) {
  Bytes bytes = mimc_vk();
  bytes[95] ^= 1;  // alpha leaves the curve
  EXPECT_TRUE(accepted(parse(bytes, KeyCheck::kCanonical)));
  EXPECT_TRUE(accepted(parse(bytes, KeyCheck::kNone)));
  EXPECT_FALSE(parse(bytes, KeyCheck::kOnCurve).ok());
  bytes[0] = 0x3f;  // x is above p
  EXPECT_FALSE(parse(bytes, KeyCheck::kNone).ok()) << "a value must be a value";
}

TEST(BellpersonVk, WithInfinityIsNotWritten) {
  auto key = parse(mimc_vk());
  ASSERT_TRUE(accepted(key));
  auto damaged = *key;
  damaged.ic[1] = Bls::G1Affine::infinity();
  EXPECT_TRUE(refused(encode_bellperson_vk(damaged), ErrorKind::kInvalidArgument,
                      {"ic point 1", "infinity"}));
  damaged = *key;
  damaged.gamma_g2 = Bls::G2Affine::infinity();
  EXPECT_TRUE(refused(encode_bellperson_vk(damaged), ErrorKind::kInvalidArgument, {"gamma_g2"}));
  damaged = *key;
  damaged.ic.clear();
  EXPECT_TRUE(refused(encode_bellperson_vk(damaged), ErrorKind::kInvalidArgument, {"0 ic points"}));
}

TEST(BellpersonMeta, RoundTripsAndIsStrict) {
  CUZK_DATA_OR_SKIP(
      path,
      "upstream/keys/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-"
      "sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"
      ".meta");
  const Bytes bytes = cuzk::testing::read_bytes(path);
  const auto size = parse_bellperson_meta(bytes, "a.meta");
  ASSERT_TRUE(accepted(size));
  EXPECT_EQ(*size, 2048u);
  EXPECT_EQ(bytes_of(encode_bellperson_meta(*size)), bytes);
  EXPECT_EQ(encode_bellperson_meta(68719476736), "{\"sector_size\":68719476736}");
  for (const char* text : {"", "{}", "[]", "{\"sector_size\":\"2048\"}", "{\"sector_size\":-1}",
                           "{\"sector_size\":2048.5}", "{\"sector_size\":1,\"sector_size\":2}"}) {
    EXPECT_TRUE(
        refused(parse_bellperson_meta(bytes_of(text), "a.meta"), ErrorKind::kMalformed, {"a.meta"}))
        << text;
  }
  EXPECT_TRUE(refused(parse_bellperson_meta(Bytes(100000, ' '), "a.meta"), ErrorKind::kMalformed,
                      {"100000 bytes", "at most 4096"}));
}

// bellman's files of that curve: the same order, 64 bytes a point of G1 and 128 a point of G2.
TEST(BellpersonVk, OfBn254IsToldByItsCurve) {
  using Bn = curve::Bn254;
  const auto append = [](Bytes& out, const Bn::G1Affine& point) {
    for (const Bn::Fp& coordinate : {point.x, point.y}) {
      out.resize(out.size() + Bn::Fp::kByteCount);
      field::store_be(coordinate.to_canonical().value,
                      out.data() + out.size() - Bn::Fp::kByteCount);
    }
  };
  Bytes bytes;
  append(bytes, -Bn::G1::generator());
  for (int i = 0; i < 12; ++i) append(bytes, Bn::G1::generator());
  EXPECT_TRUE(refused(parse_bellperson_vk(bytes, "bn.vk"), ErrorKind::kMismatch,
                      {"bn.vk: at byte 0", "alpha_g1", "BN254", "expected BLS12-381"}));
  EXPECT_TRUE(refused(read_params(testing::file_of(bytes, "bn.params")), ErrorKind::kMismatch,
                      {"bn.params: at byte 0", "BN254"}));
  // One bit less, and it is no point of any curve.
  bytes[63] ^= 1;
  EXPECT_TRUE(refused(parse_bellperson_vk(bytes, "bn.vk"), ErrorKind::kMalformed, {"alpha_g1"}));
}

}  // namespace
}  // namespace cuzk::formats
