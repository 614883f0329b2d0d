// PoSt challenges and public inputs against upstream's.
//
// One claim is that of a real 32 GiB proof, a size that our own sealing does not make.
#include "filecoin/post/post.h"

#include "filecoin/circuit_test_support.h"
#include "filecoin/post/post_test_support.h"

namespace cuzk::filecoin {
namespace {

using testing::claim_of;
using testing::kPostCases;

TEST(PostChallenges, AreThoseOfTheFixture) {
  const auto& fixture = testing::golden()["fixtures_derived"]["fixture_post_2KiB"];
  PostClaim claim{*sector_shape_by_name("2KiB"), PostKind::kWindow, ApiVersion::kV1_2_0,
                  testing::node_of(fixture["randomness"])};
  const std::uint64_t id = fixture["sector_id"];
  EXPECT_EQ(nlohmann::json(post_challenges(claim, id, 7)),
            fixture["window_10_leaves_V1_2_any_position"]);
  claim.api_version = ApiVersion::kV1_0_0;
  EXPECT_EQ(nlohmann::json(post_challenges(claim, id, 1)),
            fixture["window_10_leaves_V1_0_sector_index_1"]);
  claim.kind = PostKind::kWinning;
  EXPECT_EQ(nlohmann::json(post_challenges(claim, id, 0)), fixture["winning_66_leaves"]);
}

TEST(PostChallenges, AreThoseOfARealProofOf32GiB) {
  const auto& real = testing::golden()["post_vproof"];
  const PostClaim claim{*sector_shape_by_name("32GiB"), PostKind::kWindow, ApiVersion::kV1_2_0,
                        Node{}};
  EXPECT_EQ(nlohmann::json(post_challenges(claim, real["sector_id"], 0)), real["leaf_challenges"]);
}

TEST(PostPublicInputs, AreUpstreamsForEveryPartition) {
  for (const auto& c : kPostCases) {
    const PostClaim claim = claim_of(c);
    for (unsigned k = 0; k < post_partition_count(claim); ++k) {
      const auto file = testing::read_json("upstream/instance1/" + std::string(c.name) +
                                           ".partition" + std::to_string(k) + ".json");
      auto inputs = post_public_inputs(claim, k).value();
      inputs.insert(inputs.begin(), Fr::one());
      EXPECT_EQ(nlohmann::json(testing::hex_of(inputs)), file["inputs_le_hex"]) << c.name << k;
    }
  }
}

TEST(PostPublicInputs, OfTheForeignWindowProofHaveItsForm) {
  const auto file = testing::read_json("filecoin/window_post_2KiB.json");
  PostClaim claim{*sector_shape(file["sector_size"]), PostKind::kWindow,
                  api_version_by_name(file["api_version"].get<std::string>()).value(),
                  testing::node_of(file["randomness"])};
  for (const auto& sector : file["sectors"]) {
    claim.sectors.push_back({sector["id"], testing::node_of(sector["comm_r"])});
  }
  const auto inputs = post_public_inputs(normalized(claim).value(), 0).value();
  ASSERT_EQ(inputs.size(), 22u);
  // One sector in a circuit of two: repeated with the same leaves.
  EXPECT_TRUE(std::equal(inputs.begin(), inputs.begin() + 11, inputs.begin() + 11));
}

TEST(PostClaim, SortsSectorsAndRefusesWhatIsNoClaim) {
  PostClaim claim = claim_of(kPostCases[3]);
  std::swap(claim.sectors[0], claim.sectors[2]);
  EXPECT_EQ(normalized(claim).value().sectors[0].sector_id, 42u);
  const auto refuses = [&](auto&& change, const std::string& word) {
    PostClaim changed = claim;
    change(changed);
    const auto result = normalized(changed);
    ASSERT_FALSE(result.ok()) << word;
    EXPECT_NE(result.error().message.find(word), std::string::npos) << result.error().message;
  };
  refuses([](PostClaim& c) { c.sectors.clear(); }, "at least one");
  refuses([](PostClaim& c) { c.sectors[1].sector_id = 44; }, "twice");
  refuses([](PostClaim& c) { c.sectors[1].comm_r.fill(0xff); }, "comm_r of sector 43");
  refuses([](PostClaim& c) { c.randomness.fill(0xff); }, "randomness");
  refuses([](PostClaim& c) { c.kind = PostKind::kWinning; }, "one sector");
  refuses(
      [](PostClaim& c) {
        c.kind = PostKind::kWinning;
        c.sectors.resize(1);
      },
      "V1_2_0");
  const auto none = post_public_inputs(normalized(claim).value(), 2);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("2 partitions"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::filecoin
