// Filecoin: upstream's proofs by the command line, and our own sector from data to a verified
// proof.
#include <algorithm>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/command.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// The verifying key of a circuit by a part of its name that tells it from the others.
std::string key_file(const std::string& part) {
  const auto folder = find_data("upstream/keys");
  if (!folder) return "";
  for (const auto& entry : fs::directory_iterator(*folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".vk") && name.find(part) != name.npos) return entry.path().string();
  }
  return "";
}

Json instance() {
  const auto path = find_data("upstream/instance1/instance.json");
  return path ? Json::parse(read_text(*path)) : Json();
}

// Flags as a list that single values can be changed in.
using Flags = std::vector<std::pair<std::string, std::string>>;

CommandResult verify(const Flags& flags) {
  std::vector<std::string> arguments = {"filecoin", "verify", "--json"};
  for (const auto& [flag, value] : flags) {
    arguments.push_back(flag);
    arguments.push_back(value);
  }
  return run_cuzk(arguments);
}

Flags with(Flags flags, const std::string& flag, const std::string& value) {
  for (auto& [name, old] : flags) {
    if (name == flag) old = value;
  }
  return flags;
}

std::string other_hex(std::string hex) {
  hex[0] = hex[0] == '0' ? '1' : '0';
  return hex;
}

Flags porep_flags(const Json& sector, const std::string& proof) {
  return {{"--kind", "porep"},
          {"--sector-size", "2KiB"},
          {"--registered-proof", "5"},
          {"--vk", key_file("stacked-proof-of-replication")},
          {"--proof", proof},
          {"--comm-r", sector["comm_r"]},
          {"--comm-d", sector["comm_d"]},
          {"--miner-id", "1000"},
          {"--sector", sector["sector_id"].dump()},
          {"--ticket", sector["ticket"]},
          {"--seed", sector["seed"]}};
}

#define CUZK_UPSTREAM_OR_SKIP(instance_name) \
  const Json instance_name = instance();     \
  if (instance_name.is_null()) GTEST_SKIP() << "needs ../shared/data/upstream/instance1"

TEST(FilecoinVerify, AcceptsUpstreamsPorepAndNothingElse) {
  CUZK_UPSTREAM_OR_SKIP(upstream);
  CUZK_DATA_OR_SKIP(proof, "upstream/instance1/porep-s0.proof");
  const Json sector = upstream["sectors"][0];
  const Flags good = porep_flags(sector, proof.string());
  const CommandResult valid = verify(good);
  EXPECT_EQ(valid.exit_code, 0) << valid.err;
  EXPECT_EQ(valid.json()["valid"], true);
  for (const char* flag : {"--comm-r", "--comm-d", "--ticket", "--seed"}) {
    const std::string key = std::string(flag) == "--comm-r"   ? "comm_r"
                            : std::string(flag) == "--comm-d" ? "comm_d"
                            : std::string(flag) == "--ticket" ? "ticket"
                                                              : "seed";
    EXPECT_EQ(verify(with(good, flag, other_hex(sector[key]))).exit_code, 1) << flag;
  }
  EXPECT_EQ(verify(with(good, "--sector", "43")).exit_code, 1);
  EXPECT_EQ(verify(with(good, "--miner-id", "1001")).exit_code, 1);
  EXPECT_EQ(verify(with(good, "--registered-proof", "0")).exit_code, 1);
  EXPECT_EQ(verify(with(good, "--registered-proof", "6")).exit_code, 2) << "another size";
  EXPECT_EQ(verify(with(good, "--comm-r", "00")).exit_code, 2);
  EXPECT_EQ(verify(with(good, "--sector-size", "3KiB")).exit_code, 2);
}

TEST(FilecoinVerify, TakesThePorepIdInsteadOfTheNumber) {
  CUZK_UPSTREAM_OR_SKIP(upstream);
  CUZK_DATA_OR_SKIP(proof, "upstream/instance1/porep-s0.proof");
  const Json sector = upstream["sectors"][0];
  Flags flags = porep_flags(sector, proof.string());
  flags[2] = {"--porep-id", sector["porep_id"]};
  EXPECT_EQ(verify(flags).exit_code, 2) << "the version is missing";
  flags.emplace_back("--api-version", "V1_1");
  flags[7] = {"--prover-id", sector["prover_id"]};
  EXPECT_EQ(verify(flags).exit_code, 0);
  flags.pop_back();
  flags.emplace_back("--api-version", "V9");
  EXPECT_EQ(verify(flags).exit_code, 2);
}

TEST(FilecoinVerify, RefusesProofsOfAnotherLength) {
  CUZK_UPSTREAM_OR_SKIP(upstream);
  CUZK_DATA_OR_SKIP(proof, "upstream/instance1/porep-s0.proof");
  const TemporaryFolder scratch;
  const Flags good = porep_flags(upstream["sectors"][0], proof.string());
  const std::string bytes = read_text(proof);
  for (const std::string& changed : {std::string(), bytes.substr(1), bytes + std::string(192, '\0'),
                                     bytes + bytes, std::string(192, '\xff')}) {
    write_text(scratch / "proof", changed);
    const CommandResult result = verify(with(good, "--proof", scratch.file("proof")));
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_FALSE(result.json()["reason"].get<std::string>().empty());
  }
}

TEST(FilecoinVerify, AcceptsUpstreamsPostProofs) {
  CUZK_UPSTREAM_OR_SKIP(upstream);
  for (const Json& post : upstream["posts"]) {
    const std::string name = post["name"];
    CUZK_DATA_OR_SKIP(proof, "upstream/instance1/" + name + ".proof");
    const bool is_winning = name.starts_with("winning");
    // The two keys of PoSt differ in their number of public inputs.
    const std::string key = key_file(is_winning ? "fallback-merkletree-poseidon_hasher-8-0-0-3ea0"
                                                : "fallback-merkletree-poseidon_hasher-8-0-0-0170");
    Flags flags = {{"--kind", is_winning ? "winning-post" : "window-post"},
                   {"--sector-size", "2KiB"},
                   {"--vk", key},
                   {"--proof", proof.string()},
                   {"--randomness", upstream["post_randomness"]}};
    if (name.find("V1_0") != name.npos) flags.emplace_back("--api-version", "V1_0");
    for (const Json& id : post["sector_ids"]) {
      const auto same = std::find_if(upstream["sectors"].begin(), upstream["sectors"].end(),
                                     [&](const Json& sector) { return sector["sector_id"] == id; });
      ASSERT_NE(same, upstream["sectors"].end());
      flags.emplace_back("--replica", id.dump() + ":" + (*same)["comm_r"].get<std::string>());
    }
    const CommandResult valid = verify(flags);
    EXPECT_EQ(valid.exit_code, 0) << name << valid.out << valid.err;
    const std::string changed = other_hex(upstream["post_randomness"]);
    EXPECT_EQ(verify(with(flags, "--randomness", changed)).exit_code, 1) << name;
    EXPECT_EQ(verify(with(flags, "--replica", "7")).exit_code, 2) << name;
  }
}

TEST(FilecoinVerify, NamesThePartOrTheLengthOfABadProofOfSeveralParts) {
  CUZK_UPSTREAM_OR_SKIP(upstream);
  CUZK_DATA_OR_SKIP(proof, "upstream/instance1/window-3sectors.proof");
  const TemporaryFolder scratch;
  Flags flags = {{"--kind", "window-post"},
                 {"--sector-size", "2KiB"},
                 {"--vk", key_file("fallback-merkletree-poseidon_hasher-8-0-0-0170")},
                 {"--proof", scratch.file("proof")},
                 {"--randomness", upstream["post_randomness"]}};
  for (const Json& sector : upstream["sectors"]) {
    flags.emplace_back("--replica",
                       sector["sector_id"].dump() + ":" + sector["comm_r"].get<std::string>());
  }
  const std::string bytes = read_text(proof);
  ASSERT_EQ(bytes.size(), 2u * 192u);
  std::string flipped = bytes;
  flipped[192 + 20] = static_cast<char>(flipped[192 + 20] ^ 1);
  const std::pair<std::string, const char*> cases[] = {
      {flipped, "part 2 of 2"},
      {bytes.substr(0, 192), "expected 384"},
      {bytes + std::string(192, '\0'), "expected 384"},
      {bytes.substr(192) + bytes.substr(0, 192), "part 1 of 2"}};
  write_text(scratch / "proof", bytes);
  EXPECT_EQ(verify(flags).exit_code, 0);
  for (const auto& [changed, reason] : cases) {
    write_text(scratch / "proof", changed);
    const CommandResult result = verify(flags);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.json()["reason"].get<std::string>(), HasSubstr(reason));
  }
}

TEST(FilecoinVerify, AcceptsUpstreamsUpdate) {
  CUZK_UPSTREAM_OR_SKIP(upstream);
  CUZK_DATA_OR_SKIP(proof, "upstream/instance1/update.proof");
  const Json update = upstream["update"];
  const Flags flags = {{"--kind", "update"},
                       {"--sector-size", "2KiB"},
                       {"--vk", key_file("empty-sector-update")},
                       {"--proof", proof.string()},
                       {"--comm-r", update["comm_r_new"]},
                       {"--comm-r-old", update["comm_r_old"]},
                       {"--comm-d", update["comm_d_new"]}};
  EXPECT_EQ(verify(flags).exit_code, 0);
  EXPECT_EQ(verify(with(flags, "--comm-r", update["comm_r_old"])).exit_code, 1);
}

TEST(FilecoinSeal, SealsTheSameSectorAsUpstream) {
  CUZK_UPSTREAM_OR_SKIP(upstream);
  CUZK_DATA_OR_SKIP(theirs, "upstream/instance1/porep-s0.c1.json.gz");
  const Json sector = upstream["sectors"][0];
  const TemporaryFolder scratch;
  std::string data(2032, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(7 * i + 3);
  write_text(scratch / "data", data);
  const std::vector<std::string> seal = {"filecoin",      "seal",
                                         "--sector-size", "2KiB",
                                         "--dir",         scratch.file("sector"),
                                         "--data",        scratch.file("data"),
                                         "--miner-id",    "1000",
                                         "--sector",      "42",
                                         "--ticket",      sector["ticket"],
                                         "--json"};
  const CommandResult sealed = run_cuzk(seal);
  ASSERT_EQ(sealed.exit_code, 0) << sealed.err;
  EXPECT_EQ(sealed.json()["comm_r"], sector["comm_r"]);
  EXPECT_EQ(sealed.json()["comm_d"], sector["comm_d"]);
  EXPECT_EQ(sealed.json()["replica_id"], sector["replica_id"]);
  expect_one_sentence(run_cuzk(seal));  // not replaced unasked

  const CommandResult c1 = run_cuzk({"filecoin", "c1", "--dir", scratch.file("sector"), "--out",
                                     scratch.file("c1"), "--seed", sector["seed"], "--inner"});
  ASSERT_EQ(c1.exit_code, 0) << c1.err;
  EXPECT_EQ(read_text(scratch / "c1").size(), sector["c1_json_bytes"].get<std::size_t>());
  const auto unpacked = find_data("upstream/instance1/porep-s0.c1.json");
  if (unpacked) {
    EXPECT_EQ(read_text(scratch / "c1"), read_text(*unpacked));
  }

  std::string replica = read_text(scratch / "sector/replica.dat");
  replica[100] = static_cast<char>(replica[100] ^ 1);
  write_text(scratch / "sector/replica.dat", replica);
  const CommandResult damaged =
      run_cuzk({"filecoin", "c1", "--dir", scratch.file("sector"), "--out", scratch.file("c1")});
  expect_one_sentence(damaged);
  EXPECT_THAT(damaged.err, HasSubstr("replica.dat"));
}

TEST(FilecoinSeal, TheManifestCanBeInspected) {
  const TemporaryFolder scratch;
  const CommandResult sealed = run_cuzk(
      {"filecoin", "seal", "--sector-size", "2KiB", "--dir", scratch.file("sector"), "--json"});
  ASSERT_EQ(sealed.exit_code, 0) << sealed.err;
  const CommandResult told = run_cuzk({"inspect", scratch.file("sector/sector.json"), "--json"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(told.json()["type"], "sector");
  EXPECT_EQ(told.json()["comm_r"], sealed.json()["comm_r"]);
  EXPECT_EQ(told.json()["ticket"], sealed.json()["ticket"]);
  for (const std::string text :
       {"{\"sector_size\": 1, \"replica_id\": 2}", "{\"sector_size\" \"replica_id\""}) {
    write_text(scratch / "no.json", text);
    expect_one_sentence(run_cuzk({"inspect", scratch.file("no.json")}));
  }
}

TEST(FilecoinSeal, KnowsAMinerByItsAddress) {
  const TemporaryFolder scratch;
  for (const char* miner : {"1234", "f01234", "t01234"}) {
    const CommandResult sealed =
        run_cuzk({"filecoin", "seal", "--sector-size", "2KiB", "--dir", scratch.file("sector"),
                  "--force", "--json", "--miner-id", miner});
    ASSERT_EQ(sealed.exit_code, 0) << miner << ": " << sealed.err;
    EXPECT_EQ(sealed.json()["miner_id"], 1234) << miner;
  }
  for (const char* miner : {"f1234", "f0", "f001234", "f0x", "f01234 ", "g01234", "f0-1"}) {
    const CommandResult wrong = run_cuzk({"filecoin", "seal", "--sector-size", "2KiB", "--dir",
                                          scratch.file("none"), "--miner-id", miner});
    expect_one_sentence(wrong);
    EXPECT_THAT(wrong.err, HasSubstr("--miner-id")) << miner;
  }
}

TEST(FilecoinErrors, AreOneSentence) {
  const TemporaryFolder scratch;
  expect_one_sentence(
      run_cuzk({"filecoin", "seal", "--sector-size", "1MiB", "--dir", scratch.file("s")}));
  const CommandResult too_large =
      run_cuzk({"filecoin", "seal", "--sector-size", "32GiB", "--dir", scratch.file("s")});
  expect_one_sentence(too_large);  // for its size, not for memory that was asked for in vain
  EXPECT_THAT(too_large.err, HasSubstr("512MiB"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "s"));
  expect_one_sentence(run_cuzk({"filecoin", "seal", "--sector-size", "2KiB", "--ticket", "xyz",
                                "--dir", scratch.file("s")}));
  expect_one_sentence(
      run_cuzk({"filecoin", "c1", "--dir", scratch.path(), "--out", scratch.file("c1")}));
  expect_one_sentence(run_cuzk({"filecoin", "params", "--sector-size", "2KiB", "--kind", "nothing",
                                "--params-dir", scratch.file("p")}));
  write_text(scratch / "c1.json", "{}");
  expect_one_sentence(run_cuzk({"filecoin", "prove", "--c1", scratch.file("c1.json"),
                                "--params-dir", scratch.path(), "--out", scratch.file("proof")}));
  EXPECT_FALSE(fs::exists(scratch / "proof"));
}

TEST(FilecoinInterrupt, EndsSoonAndLeavesNoFile) {
  const TemporaryFolder scratch;
  const auto start = std::chrono::steady_clock::now();
  const CommandResult result =
      run_program("timeout", {"--foreground", "--preserve-status", "--signal=INT", "1",
                              CUZK_COMMAND, "filecoin", "params", "--sector-size", "2KiB", "--kind",
                              "porep", "--params-dir", scratch.file("params")});
  EXPECT_EQ(result.exit_code, 130) << result.out << result.err;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_TRUE(fs::is_empty(scratch / "params"));
}

// A seal with synthetic challenges, named by its number and by porep_id and version.
void expect_synthetic_seal_verifies(const TemporaryFolder& scratch, const std::string& params,
                                    const std::string& key) {
  const std::string sector = scratch.file("synthetic"), c1 = scratch.file("synthetic.json"),
                    proof = scratch.file("synthetic.bin");
  const CommandResult sealed = run_cuzk({"filecoin", "seal", "--sector-size", "2KiB", "--dir",
                                         sector, "--registered-proof", "10", "--json"});
  ASSERT_EQ(sealed.exit_code, 0) << sealed.err;
  const CommandResult opened = run_cuzk({"filecoin", "c1", "--dir", sector, "--out", c1, "--json"});
  ASSERT_EQ(opened.exit_code, 0) << opened.err;
  const CommandResult proved =
      run_cuzk({"filecoin", "prove", "--c1", c1, "--params-dir", params, "--out", proof, "--json"});
  ASSERT_EQ(proved.exit_code, 0) << proved.err;
  const Json facts = sealed.json();
  Flags flags = {{"--kind", "porep"},
                 {"--sector-size", "2KiB"},
                 {"--registered-proof", "10"},
                 {"--vk", key},
                 {"--proof", proof},
                 {"--comm-r", facts["comm_r"]},
                 {"--comm-d", facts["comm_d"]},
                 {"--miner-id", facts["miner_id"].dump()},
                 {"--sector", facts["sector"].dump()},
                 {"--ticket", facts["ticket"]},
                 {"--seed", opened.json()["seed"]}};
  EXPECT_EQ(verify(flags).exit_code, 0);
  flags[2] = {"--porep-id", "0a" + std::string(62, '0')};
  flags.emplace_back("--api-version", "V1_2");
  EXPECT_EQ(verify(flags).exit_code, 0);
  EXPECT_EQ(verify(with(flags, "--api-version", "V1_1")).exit_code, 2);
  flags.emplace_back("--registered-proof", "10");
  EXPECT_EQ(verify(flags).exit_code, 2) << "both ways at once";
}

// The way of the README: about a minute of two cores and 1.1 GB of disk.
TEST(FilecoinFlow, FromDataToAVerifiedProof) {
  const TemporaryFolder scratch;
  const std::string params = scratch.file("params"), c1 = scratch.file("c1.json"),
                    proof = scratch.file("proof.bin");
  const CommandResult sealed = run_cuzk(
      {"filecoin", "seal", "--sector-size", "2KiB", "--dir", scratch.file("sector"), "--json"});
  ASSERT_EQ(sealed.exit_code, 0) << sealed.err;
  const CommandResult opened =
      run_cuzk({"filecoin", "c1", "--dir", scratch.file("sector"), "--out", c1, "--json"});
  ASSERT_EQ(opened.exit_code, 0) << opened.err;
  const std::vector<std::string> prove = {"filecoin", "prove", "--c1", c1,      "--params-dir",
                                          params,     "--out", proof,  "--json"};
  const CommandResult without_params = run_cuzk(prove);
  expect_one_sentence(without_params);
  EXPECT_THAT(without_params.err, HasSubstr("v28-stacked-proof-of-replication"));
  const CommandResult made = run_cuzk({"filecoin", "params", "--sector-size", "2KiB", "--kind",
                                       "porep", "--params-dir", params, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.json()["insecure"], true);
  EXPECT_TRUE(fs::exists(made.json()["params"].get<std::string>() + ".INSECURE"));
  EXPECT_EQ(fs::file_size(made.json()["params"].get<std::string>()), 1114707768u);
  const CommandResult proved = run_cuzk(prove);
  ASSERT_EQ(proved.exit_code, 0) << proved.err;
  EXPECT_EQ(fs::file_size(proof), 192u);
  const Json facts = sealed.json();
  Flags flags = {{"--kind", "porep"},
                 {"--sector-size", "2KiB"},
                 {"--registered-proof", facts["registered_proof_number"].dump()},
                 {"--vk", made.json()["vk"]},
                 {"--proof", proof},
                 {"--comm-r", facts["comm_r"]},
                 {"--comm-d", facts["comm_d"]},
                 {"--miner-id", facts["miner_id"].dump()},
                 {"--sector", facts["sector"].dump()},
                 {"--ticket", facts["ticket"]},
                 {"--seed", opened.json()["seed"]}};
  EXPECT_EQ(verify(flags).exit_code, 0);
  EXPECT_EQ(verify(with(flags, "--sector", "2")).exit_code, 1);
  // The identity that sealed, and another one.
  std::vector<std::string> identified = prove;
  identified.insert(identified.end(), {"--miner-id", "1001"});
  const CommandResult stranger = run_cuzk(identified);
  expect_one_sentence(stranger);
  EXPECT_THAT(stranger.err, HasSubstr("replica_id"));
  identified.back() = "1000";
  const CommandResult owner = run_cuzk(identified);
  EXPECT_EQ(owner.exit_code, 0) << owner.err;
  EXPECT_EQ(owner.json()["identity_checked"], true);
  expect_synthetic_seal_verifies(scratch, params, made.json()["vk"]);
}

}  // namespace
}  // namespace cuzk::testing
