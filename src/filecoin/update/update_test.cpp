// Sector updates against upstream's values, and their vanilla proofs.
//
// Any changed byte must be refused, and a partition's proof must not hold in another's place.
#include "filecoin/update/update.h"

#include <random>

#include "filecoin/circuit_values.h"
#include "filecoin/test_support.h"
#include "filecoin/update/vanilla_update.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// Upstream's new data: byte i = (11 i + 5) mod 256.
base::Bytes new_data() {
  base::Bytes out(2032);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(11 * i + 5);
  return out;
}

const UpdatedSector& updated() {
  static const UpdatedSector sector = update_sector(testing::sample_sector(), new_data()).value();
  return sector;
}

const base::Bytes& vanilla_bytes() {
  static const base::Bytes bytes = testing::read_data("upstream/instance1/update.vanilla0.bin");
  return bytes;
}

TEST(Update, OfSector42IsUpstreams) {
  const auto upstream = testing::read_json("upstream/instance1/instance.json")["update"];
  EXPECT_EQ(to_hex(updated().comm_d_new), upstream["comm_d_new"].get<std::string>());
  EXPECT_EQ(to_hex(updated().root_r_new), upstream["comm_r_last_new"].get<std::string>());
  EXPECT_EQ(to_hex(updated().comm_r_new), upstream["comm_r_new"].get<std::string>());
  hash::Sha256 hasher;
  for (const Node& node : updated().replica) hasher.update(node);
  EXPECT_EQ(base::to_hex(hasher.finish()), upstream["new_replica_sha256"].get<std::string>());
}

TEST(Update, RandomValuesAreTheFixtures) {
  const auto& fixture = testing::golden()["fixtures_derived"]["fixture_update_2KiB"];
  const Fr phi = update_phi(checked_fr(updated().comm_d_new), checked_fr(updated().comm_r_old));
  EXPECT_EQ(to_hex(to_node(phi)), fixture["phi_le_hex"].get<std::string>());
  for (std::uint64_t high = 0; high < 2; ++high) {
    EXPECT_EQ(to_hex(to_node(update_randomness(phi, Fr::from_u64(high)))),
              fixture["rhos_le_hex"][high]);
  }
  EXPECT_EQ(nlohmann::json(update_challenges(*updated().shape, updated().comm_r_new, 0)),
            fixture["challenges"]);
}

TEST(Update, ChallengesOfEverySizeAreUpstreams) {
  const auto& test = testing::golden()["challenges_snapdeals"];
  const Node comm_r_new = testing::node_of(test["comm_r_new_le_hex"]);
  for (const auto& [size, partitions] : test["first_five"].items()) {
    for (const auto& [partition, challenges] : partitions.items()) {
      EXPECT_EQ(nlohmann::json(update_challenges(**sector_shape_by_name(size), comm_r_new,
                                                 static_cast<unsigned>(std::stoul(partition)), 5)),
                challenges)
          << size << " partition " << partition;
    }
  }
}

TEST(Update, PublicInputsAreUpstreams) {
  const auto file = testing::read_json("upstream/instance1/update.partition0.json");
  const auto inputs = update_public_inputs(updated().claim(), 0).value();
  ASSERT_EQ(inputs.size(), kUpdatePublicInputCount);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(to_hex(to_node(inputs[i])), file["inputs_le_hex"][i + 1]);
  }
  UpdateClaim claim = updated().claim();
  claim.shape = *sector_shape_by_name("32GiB");
  EXPECT_EQ(update_public_inputs(claim, 5).value()[0], Fr::from_u64(5 + 8 * 16));
  EXPECT_FALSE(update_public_inputs(claim, 16).ok());
  claim.comm_d_new.fill(0xff);
  const auto refused = update_public_inputs(claim, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("comm_d_new"), std::string::npos);
}

TEST(VanillaUpdate, ReadsWritesVerifiesAndMakesUpstreamsBytes) {
  const SectorShape& shape = *updated().shape;
  const auto proof = read_update_partition_proof(vanilla_bytes(), shape, "update.vanilla0.bin");
  ASSERT_TRUE(proof.ok()) << proof.error().message;
  EXPECT_EQ(write_update_partition_proof(*proof, shape), vanilla_bytes());
  const auto status = verify_update_partition(updated().claim(), *proof, 0);
  EXPECT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(open_update_partition(updated(), 0), *proof);
}

TEST(VanillaUpdate, AnyChangedByteIsRefused) {
  const SectorShape& shape = *updated().shape;
  std::mt19937 random(20260102);
  for (int trial = 0; trial < 300; ++trial) {
    base::Bytes bytes = vanilla_bytes();
    const std::size_t place = random() % bytes.size();
    bytes[place] = static_cast<std::uint8_t>(bytes[place] ^ (1 + random() % 255));
    const auto proof = read_update_partition_proof(bytes, shape, "changed");
    if (proof.ok()) {
      EXPECT_FALSE(verify_update_partition(updated().claim(), *proof, 0).ok()) << "byte " << place;
    }
  }
}

TEST(VanillaUpdate, PartitionsOfACompoundSizeVerifyAtTheirPlaceOnly) {
  const SealedSector sector = testing::sealed_sector_of("16KiB");
  const auto update = update_sector(sector, testing::sample_data(1000)).value();
  for (unsigned k = 0; k < 2; ++k) {
    const auto proof = open_update_partition(update, k);
    const auto status = verify_update_partition(update.claim(), proof, k);
    EXPECT_TRUE(status.ok()) << status.error().message;
    EXPECT_FALSE(verify_update_partition(update.claim(), proof, 1 - k).ok());
    const base::Bytes bytes = write_update_partition_proof(proof, *update.shape);
    EXPECT_EQ(read_update_partition_proof(bytes, *update.shape, "x").value(), proof);
  }
}

}  // namespace
}  // namespace cuzk::filecoin
