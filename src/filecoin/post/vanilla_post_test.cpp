// Vanilla PoSt proofs: upstream's bytes read, written, made by us, and refused once changed.
//
// Cuts run through the whole proof and changed bytes are drawn at random: this is what arrives from
// a miner's storage.
#include "filecoin/post/vanilla_post.h"

#include <random>

#include "filecoin/base64.h"
#include "filecoin/post/post_test_support.h"

namespace cuzk::filecoin {
namespace {

using testing::claim_of;
using testing::kPostCases;
using testing::proofs_of;
using testing::vanilla_bytes;

TEST(VanillaPost, ReadsWritesAndVerifiesUpstreamsBytes) {
  for (const auto& c : kPostCases) {
    const PostClaim claim = claim_of(c);
    const auto proofs = proofs_of(c);
    for (std::size_t i = 0; i < proofs.size(); ++i) {
      EXPECT_EQ(write_post_sector_proof(proofs[i], *claim.shape), vanilla_bytes(c, i)) << c.name;
    }
    const auto status = verify_post_proofs(claim, proofs);
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
}

TEST(VanillaPost, OfOurSectorsIsUpstreamsBytes) {
  for (const auto& c : kPostCases) {
    const PostClaim claim = claim_of(c);
    for (std::size_t i = 0; i < c.sector_count; ++i) {
      const auto proof = open_post_sector(testing::instance_sector(i), claim, i);
      EXPECT_EQ(write_post_sector_proof(proof, *claim.shape), vanilla_bytes(c, i)) << c.name;
    }
  }
}

TEST(VanillaPost, ReadsARealWindowProofOf32GiB) {
  const auto& real = testing::golden()["post_vproof"];
  const auto bytes = base64_decode(real["base64"].get<std::string>(), "post_vproof").value();
  const SectorShape& shape = **sector_shape_by_name("32GiB");
  const auto proof = read_post_sector_proof(bytes, shape, PostKind::kWindow, "post.vproof");
  ASSERT_TRUE(proof.ok()) << proof.error().message;
  PostClaim claim{&shape, PostKind::kWindow, ApiVersion::kV1_2_0, Node{}};
  claim.sectors = {{1, proof->comm_r}};
  EXPECT_EQ(to_hex(proof->comm_r), real["comm_r"].get<std::string>());
  const auto status = verify_post_proofs(claim, {*proof});
  EXPECT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(write_post_sector_proof(*proof, shape), bytes);
}

TEST(VanillaPost, AnyChangedByteIsRefused) {
  const auto& c = kPostCases[1];
  const PostClaim claim = claim_of(c);
  const base::Bytes good = vanilla_bytes(c, 0);
  std::mt19937 random(20260101);
  for (int trial = 0; trial < 300; ++trial) {
    base::Bytes bytes = good;
    const std::size_t place = random() % bytes.size();
    bytes[place] = static_cast<std::uint8_t>(bytes[place] ^ (1 + random() % 255));
    const auto proof = read_post_sector_proof(bytes, *claim.shape, claim.kind, "changed");
    if (!proof.ok()) {
      EXPECT_FALSE(proof.error().message.empty());
      continue;
    }
    EXPECT_FALSE(verify_post_proofs(claim, {*proof}).ok()) << "byte " << place;
  }
}

TEST(VanillaPost, EveryCutAndEveryAdditionIsRefused) {
  const auto& c = kPostCases[1];
  const base::Bytes good = vanilla_bytes(c, 0);
  const SectorShape& shape = **sector_shape_by_name("2KiB");
  for (std::size_t size = 0; size < good.size(); size += size < 200 ? 1 : 97) {
    const auto cut =
        read_post_sector_proof(base::ByteSpan(good).first(size), shape, PostKind::kWindow, "cut");
    ASSERT_FALSE(cut.ok());
    EXPECT_EQ(cut.error().message.find("cut"), 0u) << cut.error().message;
  }
  base::Bytes longer = good;
  longer.push_back(0);
  EXPECT_FALSE(read_post_sector_proof(longer, shape, PostKind::kWindow, "longer").ok());
}

TEST(VanillaPost, AnotherSizeOrKindIsRefused) {
  const base::Bytes window = vanilla_bytes(kPostCases[1], 0);
  const auto& big = **sector_shape_by_name("32GiB");
  const auto& small = **sector_shape_by_name("2KiB");
  EXPECT_FALSE(read_post_sector_proof(window, big, PostKind::kWindow, "x").ok());
  EXPECT_FALSE(read_post_sector_proof(window, small, PostKind::kWinning, "x").ok());
}

// The threads that check do not decide which of two wrong sectors is named.
TEST(VanillaPost, NamesTheFirstWrongSectorHoweverManyThereAre) {
  constexpr std::size_t kSectors = 24;
  const auto& sealed = testing::instance_sector(0);
  PostClaim claim = claim_of(kPostCases[1]);
  claim.sectors.assign(kSectors, {sealed.identity.sector_number, sealed.comm_r});
  std::vector<PostSectorProof> good;
  for (std::size_t i = 0; i < kSectors; ++i) good.push_back(open_post_sector(sealed, claim, i));
  ASSERT_TRUE(verify_post_proofs(claim, good).ok());
  for (std::size_t first = 0; first < kSectors; first += 5) {
    for (std::size_t second = first + 1; second < kSectors; second += 7) {
      auto proofs = good;
      proofs[first].inclusion_proofs.pop_back();  // found late, after the roots
      proofs[second].sector_id ^= 1;              // found at once
      for (int run = 0; run < 5; ++run) {
        const auto status = verify_post_proofs(claim, proofs);
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.error().message.find("opens 9 leaves"), std::string::npos)
            << status.error().message;
      }
    }
  }
}

TEST(VanillaPost, ClaimAndProofsMustBelongTogether) {
  const auto& c = kPostCases[3];
  const PostClaim claim = claim_of(c);
  auto proofs = proofs_of(c);
  EXPECT_TRUE(verify_post_proofs(claim, proofs).ok());
  std::swap(proofs[0], proofs[1]);
  EXPECT_FALSE(verify_post_proofs(claim, proofs).ok());
  std::swap(proofs[0], proofs[1]);
  PostClaim other = claim;
  other.randomness[0] ^= 1;
  EXPECT_FALSE(verify_post_proofs(other, proofs).ok());
  proofs.pop_back();
  EXPECT_FALSE(verify_post_proofs(claim, proofs).ok());
}

}  // namespace
}  // namespace cuzk::filecoin
