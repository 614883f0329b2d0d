// PoRep challenges of the three kinds against upstream's answers.
//
// Synthetic ones are followed from the pool to the selection; recorded seals add the large sizes.
#include "filecoin/porep/challenges.h"

#include "filecoin/identity.h"
#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

PorepKind kind_of(const nlohmann::json& record) {
  for (const std::string feature : record["porep_config"]["api_features"]) {
    if (feature == "SyntheticPoRep") return PorepKind::kSynthetic;
    if (feature == "NonInteractivePoRep") return PorepKind::kNonInteractive;
  }
  return PorepKind::kInteractive;
}

TEST(PorepChallenges, SyntheticOnesAreUpstreams) {
  const auto& test = testing::golden()["challenges_synthetic"];
  const Node replica_id = node_of_u64(test["replica_id_fr"]),
             comm_r = node_of_u64(test["comm_r_fr"]);
  const auto pool = synthetic_challenges(replica_id, comm_r, test["sector_nodes"], 21);
  EXPECT_EQ(nlohmann::json(pool), test["synthetic_21"]);
  const Node seed = testing::node_of(test["seed"]);
  std::vector<std::uint32_t> selected;
  for (const auto index : synthetic_selection(replica_id, seed, 21, 0, 10)) {
    selected.push_back(pool[index]);
  }
  EXPECT_EQ(nlohmann::json(selected), test["porep_10_selected_from_the_21"]);
}

TEST(PorepChallenges, AreThoseOfTheFixture) {
  const auto& fixture = testing::golden()["fixtures_derived"]["fixture_2KiB_V1_1"];
  PorepChallengeSource source;
  source.replica_id = testing::node_of(fixture["replica_id"]);
  source.comm_r = testing::node_of(fixture["comm_r"]);
  source.seed = testing::node_of(fixture["seed"]);
  EXPECT_EQ(nlohmann::json(porep_challenges(source, 64, 2, 0)), fixture["challenges_partition0"]);
  source.kind = PorepKind::kSynthetic;
  EXPECT_EQ(nlohmann::json(porep_challenges(source, 64, 2, 0)),
            fixture["synthetic_challenges_partition0"]["challenges"]);
  source.kind = PorepKind::kNonInteractive;
  EXPECT_EQ(nlohmann::json(porep_challenges(source, 64, 2, 0)),
            fixture["ni_challenges_partition0"]);
}

TEST(PorepChallenges, AreThoseOfTheRegressionRecords) {
  std::size_t compared = 0;
  for (const auto& version : testing::golden()["regression_samples"]["records"]) {
    for (const auto& record : version) {
      if (!record.contains("derived_challenges_partition0")) continue;  // synthetic ones
      const SectorShape& shape = **sector_shape(record["porep_config"]["sector_size"]);
      PorepChallengeSource source;
      source.kind = kind_of(record);
      source.replica_id = testing::node_of(record["derived_replica_id"]);
      source.comm_r = testing::node_of(record["comm_r"]);
      source.seed = testing::node_of(record["seed"]);
      const auto challenges =
          porep_challenges(source, shape.node_count(), shape.porep_challenges_per_partition, 0);
      EXPECT_EQ(nlohmann::json(challenges), record["derived_challenges_partition0"]);
      ++compared;
    }
  }
  EXPECT_GE(compared, 10u);
}

TEST(PorepChallenges, PartitionsContinueTheNumbering) {
  for (const PorepKind kind :
       {PorepKind::kInteractive, PorepKind::kSynthetic, PorepKind::kNonInteractive}) {
    const PorepChallengeSource source{kind, node_of_u64(7), node_of_u64(8), node_of_u64(9)};
    const auto whole = porep_challenges(source, 1 << 12, 12, 0);
    std::vector<std::uint32_t> joined;
    for (unsigned k = 0; k < 4; ++k) {
      const auto part = porep_challenges(source, 1 << 12, 3, k);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(joined, whole) << to_string(kind);
    for (const std::uint32_t c : whole) EXPECT_TRUE(c >= 1 && c < 1 << 12);
  }
}

}  // namespace
}  // namespace cuzk::filecoin
