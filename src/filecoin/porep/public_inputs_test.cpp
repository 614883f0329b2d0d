// PoRep public inputs as the chain derives them.
//
// They are compared with upstream's values and with the inputs of our own witness, since a verifier
// never sees the witness. Recorded seals of the network skip without their file.
#include "filecoin/porep/public_inputs.h"

#include "filecoin/circuit_test_support.h"
#include "filecoin/porep/porep_circuit.h"

namespace cuzk::filecoin {
namespace {

SealClaim claim_of_sector_42() {
  const auto upstream = testing::read_json("upstream/instance1/instance.json")["sectors"][0];
  SealClaim claim;
  claim.config = PorepConfig::of(registered_seal(upstream["registered_seal_proof"]).value());
  claim.prover_id = prover_id_of_miner(upstream["miner_id"]);
  claim.sector_number = upstream["sector_id"];
  claim.ticket = testing::node_of(upstream["ticket"]);
  claim.seed = testing::node_of(upstream["seed"]);
  claim.comm_r = testing::node_of(upstream["comm_r"]);
  claim.comm_d = testing::node_of(upstream["comm_d"]);
  return claim;
}

TEST(PorepPublicInputs, OfSector42AreUpstreams) {
  const auto file = testing::read_json("upstream/instance1/porep-s0.partition0.json");
  auto inputs = porep_public_inputs(porep_claim(claim_of_sector_42()).value(), 0).value();
  inputs.insert(inputs.begin(), Fr::one());
  EXPECT_EQ(nlohmann::json(testing::hex_of(inputs)), file["inputs_le_hex"]);
}

TEST(PorepPublicInputs, AreTheFixturesIndexes) {
  const auto& expected = testing::golden()["fixtures_derived"]["fixture_2KiB_V1_1"]
                                          ["public_inputs_partition0_decimal_or_hexLE"];
  const auto inputs = porep_public_inputs(porep_claim(claim_of_sector_42()).value(), 0).value();
  ASSERT_EQ(inputs.size(), expected.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (expected[i].is_string()) {
      EXPECT_EQ(to_hex(to_node(inputs[i])), expected[i]);
    } else {
      EXPECT_EQ(inputs[i], Fr::from_u64(expected[i])) << i;
    }
  }
}

TEST(PorepPublicInputs, EqualTheInputsOfTheWitnessForEveryKindAndPartition) {
  for (const unsigned number : {0u, 5u, 10u, 15u}) {
    const PorepC1 c1 = testing::sample_c1(number);
    for (unsigned k = 0; k < c1.partitions.size(); k += 6) {
      auto inputs = porep_public_inputs(porep_claim(c1), k).value();
      inputs.insert(inputs.begin(), Fr::one());
      const auto assignment =
          porep_circuit_assignment(PorepCircuit::of(*c1.registered_proof.shape),
                                   statement_of(c1, c1.partitions[k]), c1.partitions[k]);
      EXPECT_EQ(inputs, assignment.inputs) << c1.registered_proof.name() << " partition " << k;
    }
  }
}

TEST(PorepPublicInputs, ForTheRegressionRecordsBeginWithTheirReplicaId) {
  std::size_t compared = 0;
  for (const auto& version : testing::golden()["regression_samples"]["records"]) {
    for (const auto& record : version) {
      const auto& config = record["porep_config"];
      SealClaim claim;
      claim.config.shape = *sector_shape(config["sector_size"]);
      claim.config.porep_id = testing::node_of(config["porep_id"]);
      claim.config.api_version =
          api_version_by_name(config["api_version"].get<std::string>()).value();
      claim.config.kind =
          config["api_features"].empty() ? PorepKind::kInteractive : PorepKind::kSynthetic;
      claim.prover_id = testing::node_of(record["prover_id"]);
      claim.sector_number = record["sector_id"].get<std::uint64_t>();
      claim.ticket = testing::node_of(record["ticket"]);
      claim.seed = testing::node_of(record["seed"]);
      claim.comm_r = testing::node_of(record["comm_r"]);
      claim.comm_d = testing::node_of(record["comm_d"]);
      const auto inputs = porep_public_inputs(porep_claim(claim).value(), 0).value();
      EXPECT_EQ(to_hex(to_node(inputs[0])), record["derived_replica_id"].get<std::string>());
      EXPECT_EQ(inputs.size(), claim.config.shape->porep_public_input_count());
      if (record.contains("derived_challenges_partition0")) {
        EXPECT_EQ(inputs[3], Fr::from_u64(record["derived_challenges_partition0"][0]));
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 21u);
}

Node node_of_array(const nlohmann::json& array) {
  Node out;
  EXPECT_EQ(array.size(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = array[i];
  return out;
}

// The whole file of real records: every one is a claim, with as many partitions as its proof has
// parts.
TEST(PorepPublicInputs, DeriveForEveryRegressionRecord) {
  CUZK_DATA_OR_SKIP(path, "filecoin/seal_regression_records-v18.json");
  std::ifstream stream(path);
  std::size_t records = 0, beyond_doubles = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    const auto record = nlohmann::json::parse(line);
    const auto& config = record["porep_config"];
    SealClaim claim;
    claim.config.shape = *sector_shape(config["sector_size"]);
    claim.config.porep_id = node_of_array(config["porep_id"]);
    claim.config.api_version =
        api_version_by_name(config["api_version"].get<std::string>()).value();
    for (const std::string feature : config["api_features"]) {
      claim.config.kind =
          feature == "SyntheticPoRep" ? PorepKind::kSynthetic : PorepKind::kNonInteractive;
    }
    claim.prover_id = node_of_array(record["prover_id"]);
    claim.sector_number = record["sector_id"].get<std::uint64_t>();
    claim.ticket = node_of_array(record["ticket"]);
    claim.seed = node_of_array(record["seed"]);
    claim.comm_r = node_of_array(record["comm_r"]);
    claim.comm_d = node_of_array(record["comm_d"]);
    ASSERT_EQ(claim.config.partition_count(), config["partitions"]) << line.substr(0, 200);
    const bool is_aggregate = claim.config.kind == PorepKind::kNonInteractive;
    if (!is_aggregate) {
      EXPECT_EQ(record["proof"].size(), 192 * claim.config.partition_count());
    }
    const auto inputs =
        porep_public_inputs(porep_claim(claim).value(), claim.config.partition_count() - 1);
    ASSERT_TRUE(inputs.ok()) << inputs.error().message;
    EXPECT_EQ(inputs->size(), claim.config.shape->porep_public_input_count());
    ++records;
    beyond_doubles += claim.sector_number > (std::uint64_t{1} << 53);
  }
  EXPECT_EQ(records, 113u);
  EXPECT_GT(beyond_doubles, 0u);
}

TEST(PorepClaim, RefusesWhatUpstreamRefuses) {
  const auto refuses = [](auto&& change, const std::string& word) {
    SealClaim claim = claim_of_sector_42();
    change(claim);
    const auto result = porep_claim(claim);
    ASSERT_FALSE(result.ok()) << word;
    EXPECT_NE(result.error().message.find(word), std::string::npos) << result.error().message;
  };
  refuses([](SealClaim& c) { c.comm_r = Node{}; }, "comm_r");
  refuses([](SealClaim& c) { c.comm_d = Node{}; }, "comm_d");
  refuses([](SealClaim& c) { c.seed = Node{}; }, "seed");
  refuses([](SealClaim& c) { c.comm_r.fill(0xff); }, "comm_r");
  refuses([](SealClaim& c) { c.prover_id.fill(0xff); }, "prover id");
  refuses([](SealClaim& c) { c.config.kind = PorepKind::kSynthetic; }, "V1_2_0");
  refuses([](SealClaim& c) { c.config.shape = *sector_shape_by_name("8KiB"); }, "no PoRep");
  const auto none = porep_public_inputs(porep_claim(claim_of_sector_42()).value(), 1);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("1 partitions"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::filecoin
