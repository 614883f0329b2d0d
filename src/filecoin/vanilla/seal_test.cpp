// Sealing against the sectors that upstream sealed from the same data.
//
// Equal commitments, layers and replica mean that every step agreed, for one registered proof of
// each version and kind.
#include "filecoin/vanilla/seal.h"

#include "filecoin/test_support.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

using testing::node_of;

std::string sha256_hex(std::span<const Node> nodes) {
  hash::Sha256 hasher;
  for (const Node& node : nodes) hasher.update(node);
  return base::to_hex(hasher.finish());
}

// Digests of cache files are compared where the instance has them (a synthetic sector keeps few).
void expect_sector(const SealedSector& sector, const nlohmann::json& upstream) {
  EXPECT_EQ(to_hex(sector.comm_d), upstream["comm_d"].get<std::string>());
  EXPECT_EQ(to_hex(sector.replica_id), upstream["replica_id"].get<std::string>());
  EXPECT_EQ(to_hex(sector.comm_r), upstream["comm_r"].get<std::string>());
  EXPECT_EQ(to_hex(sector.comm_c) + to_hex(sector.comm_r_last),
            upstream["p_aux_hex"].get<std::string>());
  EXPECT_EQ(sha256_hex(sector.replica), upstream["replica_sha256"]);
  EXPECT_EQ(sha256_hex(sector.tree_d.level(0)), upstream["padded_data_sha256"]);
  const auto& files = upstream["cache_files"];
  for (std::size_t l = 0; l < sector.layers.size(); ++l) {
    const std::string name = "sc-02-data-layer-" + std::to_string(l + 1) + ".dat";
    if (files.contains(name)) {
      EXPECT_EQ(sha256_hex(sector.layers[l]), files[name]["sha256"]);
    }
  }
}

class SealOf : public ::testing::TestWithParam<std::pair<unsigned, const char*>> {};

TEST_P(SealOf, EqualsUpstreamsSector42) {
  const auto [number, folder] = GetParam();
  const auto instance =
      testing::read_json("upstream/" + std::string(folder) + "/instance.json")["sectors"][0];
  ASSERT_EQ(instance["registered_seal_proof"], number);
  expect_sector(testing::sample_sector(number), instance);
}

INSTANTIATE_TEST_SUITE_P(Versions, SealOf,
                         ::testing::Values(std::pair{5u, "instance1"},
                                           std::pair{0u, "instance1-v1"},
                                           std::pair{10u, "instance1-synth"},
                                           std::pair{15u, "instance1-ni"}));

TEST(SealSize, IsJudgedBeforeThereIsData) {
  EXPECT_TRUE(check_seal_size(*sector_shape_by_name("512MiB").value()).ok());
  const auto refused = check_seal_size(*sector_shape_by_name("32GiB").value());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().message.find("32GiB"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::filecoin
