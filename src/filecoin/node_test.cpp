// Canonical checks at their borders, integers modulo a word, prover ids.
//
// A node is bytes from outside, so what counts is the border at the group order, from both sides.
#include "filecoin/node.h"

#include "filecoin/identity.h"
#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

TEST(Node, CanonicalCheckHoldsAtTheBorders) {
  for (const auto& test : testing::golden()["field"]["canonical_check_last_bytes"]) {
    const Node node = testing::node_of(test["le_hex"]);
    EXPECT_EQ(to_fr(node).has_value(), test["valid"].get<bool>()) << test;
    const auto read = read_fr(node, "comm_r");
    EXPECT_EQ(read.ok(), test["valid"].get<bool>());
    if (!read.ok()) {
      EXPECT_NE(read.error().message.find("comm_r"), std::string::npos);
    }
  }
}

TEST(Node, RoundTripsThroughTheField) {
  for (const Node& node : {Node{}, node_of_u64(1), node_of_u64(~std::uint64_t{0}),
                           to_node(-Fr::one()), testing::sample_seed()}) {
    EXPECT_EQ(to_node(to_fr(node).value()), node);
  }
}

TEST(Node, ReducesLikeLongDivision) {
  Node all_ones;
  all_ones.fill(0xff);
  EXPECT_EQ(mod_u64(all_ones, 1), 0u);
  EXPECT_EQ(mod_u64(all_ones, 255), 0u);  // 2^256 - 1 = (2^8)^32 - 1
  EXPECT_EQ(mod_u64(all_ones, 256), 255u);
  EXPECT_EQ(mod_u64(node_of_u64(1000), 7), 6u);
  // 2^256 mod (2^64 - 59) is 59^4, so 2^256 - 1 leaves 59^4 - 1.
  EXPECT_EQ(mod_u64(all_ones, ~std::uint64_t{0} - 58), 59u * 59 * 59 * 59 - 1);
}

TEST(Node, ReadsHexOfTheRightLengthOnly) {
  const std::string hex = to_hex(testing::sample_ticket());
  EXPECT_EQ(node_from_hex(hex, "ticket").value(), testing::sample_ticket());
  EXPECT_FALSE(node_from_hex(hex.substr(2), "ticket").ok());
  EXPECT_FALSE(node_from_hex(hex + "00", "ticket").ok());
  EXPECT_FALSE(node_from_hex("zz" + hex.substr(2), "ticket").ok());
}

TEST(ProverId, IsLeb128OfTheMinerId) {
  EXPECT_EQ(to_hex(prover_id_of_miner(1000)).substr(0, 6), "e80700");
  EXPECT_EQ(to_hex(prover_id_of_miner(0)).substr(0, 4), "0000");
  EXPECT_EQ(to_hex(prover_id_of_miner(127)).substr(0, 4), "7f00");
  EXPECT_EQ(to_hex(prover_id_of_miner(128)).substr(0, 6), "800100");
  EXPECT_EQ(to_hex(prover_id_of_miner(~std::uint64_t{0})).substr(0, 22), "ffffffffffffffffff0100");
}

TEST(ReplicaId, IsThatOfTheRegressionRecords) {
  std::size_t compared = 0;
  for (const auto& version : testing::golden()["regression_samples"]["records"]) {
    for (const auto& record : version) {
      const ReplicaIdentity identity{
          testing::node_of(record["prover_id"]), record["sector_id"].get<std::uint64_t>(),
          testing::node_of(record["ticket"]), testing::node_of(record["porep_config"]["porep_id"])};
      const Node id = replica_id(identity, testing::node_of(record["comm_d"]));
      EXPECT_EQ(to_hex(id), record["derived_replica_id"].get<std::string>());
      ++compared;
    }
  }
  EXPECT_GE(compared, 10u);
}

}  // namespace
}  // namespace cuzk::filecoin
