// circom circuits from files to proofs, against snarkjs in both directions.
//
// Through the built command and files, as a user works. Files that snarkjs made lie in tests/data;
// tests in which it runs itself are skipped by name where it is not installed.
#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/command.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCases[] = {"mul1000-bn128", "mul1000-bls12381", "unirep-signup",
                                  "unirep-epochKeyLite", "rapidsnark"};

class CircomCase : public ::testing::TestWithParam<const char*> {
 protected:
  std::string input(const std::string& name) const {
    const auto found = find_data("circom/" + std::string(GetParam()) + "/" + name);
    return found ? found->string() : "";
  }
  bool present() const { return !input("circuit_final.zkey").empty(); }
  CommandResult prove() const {
    return run_cuzk({"prove", "--zkey", input("circuit_final.zkey"), "--witness",
                     input("witness.wtns"), "--proof", proof(), "--public", values(), "--json"});
  }
  CommandResult verify(const std::string& proof_file, const std::string& public_file) const {
    return run_cuzk({"verify", "--vkey", input("verification_key.json"), "--public", public_file,
                     "--proof", proof_file, "--json"});
  }
  std::string proof() const { return scratch_.file("proof.json"); }
  std::string values() const { return scratch_.file("public.json"); }

  TemporaryFolder scratch_;
};

#define CUZK_CASE_OR_SKIP() \
  if (!present()) GTEST_SKIP() << "needs ../shared/data/circom/" << GetParam()

TEST_P(CircomCase, IsProvedAndVerified) {
  CUZK_CASE_OR_SKIP();
  const CommandResult proved = prove();
  ASSERT_EQ(proved.exit_code, 0) << proved.err;
  EXPECT_EQ(proved.json()["valid"], true);
  EXPECT_GT(proved.json()["peak_rss_bytes"].get<std::uint64_t>(), 0u);
  const CommandResult verified = verify(proof(), values());
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_EQ(verified.json()["valid"], true);
  const std::string theirs = input("public.json");
  if (!theirs.empty()) {
    EXPECT_EQ(nlohmann::json::parse(read_text(values())), nlohmann::json::parse(read_text(theirs)));
  }
}

TEST_P(CircomCase, SnarkjsProofsAreAccepted) {
  CUZK_CASE_OR_SKIP();
  if (input("proof.json").empty()) GTEST_SKIP() << GetParam() << " has no proof of snarkjs";
  EXPECT_EQ(verify(input("proof.json"), input("public.json")).exit_code, 0);
}

TEST_P(CircomCase, OurProofsAreAcceptedBySnarkjs) {
  CUZK_CASE_OR_SKIP();
  CUZK_SNARKJS_OR_SKIP(snarkjs);
  ASSERT_EQ(prove().exit_code, 0);
  const CommandResult verdict = run_program(
      "node", {snarkjs, "groth16", "verify", input("verification_key.json"), values(), proof()});
  EXPECT_EQ(verdict.exit_code, 0) << verdict.out << verdict.err;
  EXPECT_THAT(verdict.out, HasSubstr("OK!"));
}

TEST_P(CircomCase, ChangedStatementsAreNotValid) {
  CUZK_CASE_OR_SKIP();
  ASSERT_EQ(prove().exit_code, 0);
  auto changed = nlohmann::json::parse(read_text(values()));
  std::string digits = changed[0];
  digits.back() = digits.back() == '0' ? '1' : '0';
  changed[0] = digits;
  write_text(scratch_ / "changed.json", changed.dump());
  const CommandResult verdict = verify(proof(), scratch_.file("changed.json"));
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.json()["valid"], false);
}

TEST_P(CircomCase, ChangedProofsAreNotValid) {
  CUZK_CASE_OR_SKIP();
  ASSERT_EQ(prove().exit_code, 0);
  const auto good = nlohmann::json::parse(read_text(proof()));
  auto off_curve = good;
  std::string digits = off_curve["pi_a"][0];
  digits.back() = digits.back() == '0' ? '1' : '0';
  off_curve["pi_a"][0] = digits;
  write_text(scratch_ / "off_curve.json", off_curve.dump());
  const CommandResult first = verify(scratch_.file("off_curve.json"), values());
  EXPECT_EQ(first.exit_code, 1) << first.err;
  EXPECT_FALSE(first.json()["reason"].get<std::string>().empty());
  auto swapped = good;
  swapped["pi_c"] = good["pi_a"];
  write_text(scratch_ / "swapped.json", swapped.dump());
  EXPECT_EQ(verify(scratch_.file("swapped.json"), values()).exit_code, 1);
  auto lacking = good;
  lacking.erase("pi_b");
  write_text(scratch_ / "lacking.json", lacking.dump());
  EXPECT_EQ(verify(scratch_.file("lacking.json"), values()).exit_code, 2);
}

// What other makers leave out or write otherwise is the same proof; what is no proof is an error
// and not a verdict.
TEST_P(CircomCase, ProofsOfOtherMakersAreReadAndOtherDocumentsAreErrors) {
  CUZK_CASE_OR_SKIP();
  ASSERT_EQ(prove().exit_code, 0);
  const auto good = nlohmann::json::parse(read_text(proof()));
  const auto verdict_of = [&](const nlohmann::json& json) {
    write_text(scratch_ / "other.json", json.dump());
    return verify(scratch_.file("other.json"), values());
  };
  auto other = good;
  other.erase("protocol");
  other["pi_a"][2] = "0x1";
  other["pi_b"][2] = {"0x01", "0x00"};
  other["curve"] = good["curve"] == "bn128" ? "alt_bn128" : "BLS12-381";
  EXPECT_EQ(verdict_of(other).exit_code, 0);
  std::vector<nlohmann::json> wrong(5, good);
  wrong[0]["pi_a"].erase(2);
  wrong[1]["pi_b"] = good["pi_a"];
  wrong[2]["pi_c"][0] = 17;
  wrong[3]["pi_a"][1] = "0xyz";
  wrong[4]["protocol"] = nullptr;
  for (const nlohmann::json& json : wrong) {
    const CommandResult result = verdict_of(json);
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr("other.json"));
  }
}

TEST_P(CircomCase, WrongCountsOfPublicValuesNameBothCounts) {
  CUZK_CASE_OR_SKIP();
  ASSERT_EQ(prove().exit_code, 0);
  auto list = nlohmann::json::parse(read_text(values()));
  const std::size_t right = list.size();
  list.push_back("1");
  write_text(scratch_ / "more.json", list.dump());
  list.erase(0);
  list.erase(0);
  write_text(scratch_ / "fewer.json", list.dump());
  for (const auto& [file, count] :
       {std::pair{"more.json", right + 1}, std::pair{"fewer.json", right - 1}}) {
    const CommandResult result = verify(proof(), scratch_.file(file));
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr(std::to_string(count)));
    EXPECT_THAT(result.err, HasSubstr(std::to_string(right)));
    EXPECT_THAT(result.err, ::testing::Not(HasSubstr("malformed")));
  }
}

TEST_P(CircomCase, TheWitnessChecksAgainstTheKey) {
  CUZK_CASE_OR_SKIP();
  const CommandResult checked = run_cuzk(
      {"check", "--zkey", input("circuit_final.zkey"), "--witness", input("witness.wtns")});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
}

// Swaps the first two points, `size` bytes each, of a section of a snarkjs file: every point stays
// good, the key does not.
void swap_first_points_of_section(std::string& file, std::uint32_t section, std::size_t size) {
  std::size_t at = 12;
  while (at + 12 <= file.size()) {
    std::uint32_t id = 0;
    std::uint64_t length = 0;
    std::memcpy(&id, file.data() + at, 4);
    std::memcpy(&length, file.data() + at + 4, 8);
    at += 12;
    if (id == section) {
      ASSERT_NE(file.substr(at, size), file.substr(at + size, size));
      std::swap_ranges(file.begin() + at, file.begin() + at + size, file.begin() + at + size);
      return;
    }
    at += length;
  }
  FAIL() << "no section " << section;
}

INSTANTIATE_TEST_SUITE_P(Circom, CircomCase, ::testing::ValuesIn(kCases), [](const auto& param) {
  std::string name = param.param;
  std::erase(name, '-');
  return name;
});

// The two small circuits of our own carry their r1cs file.
class CircomSetup : public ::testing::TestWithParam<const char*> {
 protected:
  fs::path folder() const { return fs::path(CUZK_TEST_DATA) / "circom" / GetParam(); }
  CommandResult set_up(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "setup", "--r1cs", folder() / "circuit.r1cs", "--zkey", zkey(), "--vkey", vkey(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_cuzk(arguments);
  }
  std::string zkey() const { return scratch_.file("circuit.zkey"); }
  std::string vkey() const { return scratch_.file("verification_key.json"); }
  TemporaryFolder scratch_;
};

// snarkjs adds a row for the constant and for each public value.
TEST_P(CircomSetup, InspectTellsTheCircuitsConstraintsFromTheKeysRows) {
  const auto circuit = run_cuzk({"inspect", folder() / "circuit.r1cs", "--json"}).json();
  const auto key = run_cuzk({"inspect", folder() / "circuit_final.zkey", "--json"}).json();
  EXPECT_EQ(key["constraint_count"], circuit["constraint_count"]);
  EXPECT_EQ(
      key["row_count"].get<std::uint64_t>(),
      key["constraint_count"].get<std::uint64_t>() + key["public_count"].get<std::uint64_t>() + 1);
  const CommandResult text = run_cuzk({"inspect", folder() / "circuit_final.zkey"});
  EXPECT_THAT(text.out, HasSubstr("rows, with those of the constant and the public values"));
}

TEST_P(CircomSetup, MakesAMarkedKeyThatProves) {
  const CommandResult made = set_up();
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.json()["insecure"], true);
  EXPECT_THAT(read_text(zkey() + ".INSECURE"), HasSubstr("never use it"));
  const std::string proof = scratch_.file("p.json"), values = scratch_.file("v.json");
  ASSERT_EQ(run_cuzk({"prove", "--zkey", zkey(), "--witness", folder() / "witness.wtns", "--proof",
                      proof, "--public", values, "--check-key", "subgroup"})
                .exit_code,
            0);
  EXPECT_EQ(run_cuzk({"verify", "--vkey", vkey(), "--public", values, "--proof", proof}).exit_code,
            0);
  // Another key's proof is no proof under this one.
  EXPECT_EQ(run_cuzk({"verify", "--vkey", folder() / "verification_key.json", "--public", values,
                      "--proof", proof})
                .exit_code,
            1);
}

// The disk "fills" while the proving key is written.
TEST_P(CircomSetup, AnUnfinishedKeyHasItsMarkAndItsVerifyingKeyAlready) {
  const std::string command = "ulimit -f 64; exec " + std::string(CUZK_COMMAND) + " setup --r1cs " +
                              (folder() / "circuit.r1cs").string() + " --zkey " + zkey() +
                              " --vkey " + vkey();
  const CommandResult cut = run_program("sh", {"-c", command});
  expect_one_sentence(cut);
  EXPECT_FALSE(fs::exists(zkey()));
  EXPECT_TRUE(fs::exists(zkey() + ".INSECURE"));
  EXPECT_TRUE(fs::exists(vkey()));
  EXPECT_EQ(set_up().exit_code, 2) << "the verifying key is there, and not replaced unasked";
  EXPECT_EQ(set_up({"--force"}).exit_code, 0);
}

// What the mark says belongs to the key that was made, not to one put in its place.
TEST_P(CircomSetup, WarnsOfTheKeyThatIsMarkedAndOfNoOther) {
  ASSERT_EQ(set_up().exit_code, 0);
  const auto warned = [&] {
    const CommandResult proved =
        run_cuzk({"prove", "--zkey", zkey(), "--witness", folder() / "witness.wtns", "--proof",
                  scratch_.file("p"), "--public", scratch_.file("v")});
    EXPECT_EQ(proved.exit_code, 0) << proved.err;
    return proved.out.find("forge proofs") != std::string::npos;
  };
  EXPECT_TRUE(warned());
  write_text(zkey(), read_text(folder() / "circuit_final.zkey"));
  EXPECT_FALSE(warned());
}

TEST_P(CircomSetup, DoesNotReplaceAKeyUnasked) {
  ASSERT_EQ(set_up().exit_code, 0);
  const std::string before = read_text(zkey());
  const CommandResult again = set_up();
  expect_one_sentence(again);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(read_text(zkey()), before);
  EXPECT_EQ(set_up({"--force"}).exit_code, 0);
  EXPECT_NE(read_text(zkey()), before);
}

TEST_P(CircomSetup, SnarkjsTakesOurKeyAndItsProofs) {
  CUZK_SNARKJS_OR_SKIP(snarkjs);
  ASSERT_EQ(set_up().exit_code, 0);
  const std::string proof = scratch_.file("p.json"), values = scratch_.file("v.json");
  const CommandResult proved = run_program(
      "node", {snarkjs, "groth16", "prove", zkey(), folder() / "witness.wtns", proof, values});
  ASSERT_EQ(proved.exit_code, 0) << proved.out << proved.err;
  EXPECT_EQ(run_cuzk({"verify", "--vkey", vkey(), "--public", values, "--proof", proof}).exit_code,
            0);
  ASSERT_EQ(run_cuzk({"prove", "--zkey", zkey(), "--witness", folder() / "witness.wtns", "--proof",
                      proof, "--public", values})
                .exit_code,
            0);
  const CommandResult verdict =
      run_program("node", {snarkjs, "groth16", "verify", vkey(), values, proof});
  EXPECT_THAT(verdict.out, HasSubstr("OK!")) << verdict.err;
}

TEST_P(CircomSetup, CheckNamesTheBrokenConstraint) {
  const std::string r1cs = folder() / "circuit.r1cs";
  std::string witness = read_text(folder() / "witness.wtns");
  write_text(scratch_ / "good.wtns", witness);
  EXPECT_EQ(run_cuzk({"check", "--r1cs", r1cs, "--witness", scratch_.file("good.wtns")}).exit_code,
            0);
  witness[witness.size() - 32] ^= 1;  // the last wire
  write_text(scratch_ / "bad.wtns", witness);
  const CommandResult broken =
      run_cuzk({"check", "--r1cs", r1cs, "--witness", scratch_.file("bad.wtns"), "--json"});
  EXPECT_EQ(broken.exit_code, 1) << broken.err;
  EXPECT_EQ(broken.json()["satisfied"], false);
  EXPECT_LT(broken.json()["constraint_index"].get<int>(), 1000);
  EXPECT_FALSE(broken.json()["explanation"].get<std::string>().empty());
  const CommandResult by_key = run_cuzk(
      {"check", "--zkey", folder() / "circuit_final.zkey", "--witness", scratch_.file("bad.wtns")});
  expect_one_sentence(by_key);
  EXPECT_THAT(by_key.err, HasSubstr("not shown to satisfy"));
  const CommandResult proved = run_cuzk({"prove", "--zkey", folder() / "circuit_final.zkey",
                                         "--witness", scratch_.file("bad.wtns"), "--proof",
                                         scratch_.file("p"), "--public", scratch_.file("v")});
  expect_one_sentence(proved);
  EXPECT_FALSE(fs::exists(scratch_ / "p"));
  EXPECT_FALSE(fs::exists(scratch_ / "v"));
}

INSTANTIATE_TEST_SUITE_P(Circom, CircomSetup,
                         ::testing::Values("mul1000-bn128", "mul1000-bls12381"),
                         [](const auto& param) { return std::string(param.param).substr(8); });

// The witness is good, the key is not: nothing may say that the witness is at fault.
TEST(CircomCheck, ADamagedKeyDoesNotBlameTheWitness) {
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const TemporaryFolder scratch;
  std::string zkey = read_text(folder / "circuit_final.zkey");
  const auto checked = [&](const std::string& bytes) {
    write_text(scratch / "key.zkey", bytes);
    return run_cuzk({"check", "--zkey", scratch.file("key.zkey"), "--witness",
                     folder / "witness.wtns", "--json"});
  };
  EXPECT_EQ(checked(zkey).exit_code, 0);
  swap_first_points_of_section(zkey, 8, 64);
  const CommandResult result = checked(zkey);
  expect_one_sentence(result);
  EXPECT_EQ(result.json()["error"]["kind"], "verification_failed");
  EXPECT_THAT(result.err, HasSubstr("not shown to satisfy"));
  EXPECT_THAT(result.err, HasSubstr("key"));
}

TEST(CircomRefusal, PlonkKeysAreRefusedWithOneSentence) {
  CUZK_DATA_OR_SKIP(zkey, "circom/refuse/plonk.zkey");
  CUZK_DATA_OR_SKIP(witness, "circom/mul1000-bn128/witness.wtns");
  const TemporaryFolder scratch;
  const CommandResult result =
      run_cuzk({"prove", "--zkey", zkey.string(), "--witness", witness.string(), "--proof",
                scratch.file("p"), "--public", scratch.file("v"), "--json"});
  expect_one_sentence(result);
  EXPECT_THAT(result.err, HasSubstr("PLONK"));
  EXPECT_EQ(result.json()["error"]["kind"], "unsupported");
}

TEST(CircomRefusal, AWitnessOfAnotherCompilationIsRefused) {
  CUZK_DATA_OR_SKIP(zkey, "circom/mul1000-bn128/circuit_final.zkey");
  const TemporaryFolder scratch;
  for (const char* other :
       {"circom/unirep-epochKeyLite/witness.wtns", "circom/mul1000-bls12381/witness.wtns"}) {
    CUZK_DATA_OR_SKIP(witness, other);
    const CommandResult result =
        run_cuzk({"prove", "--zkey", zkey.string(), "--witness", witness.string(), "--proof",
                  scratch.file("p"), "--public", scratch.file("v"), "--json"});
    expect_one_sentence(result);
    EXPECT_EQ(result.json()["error"]["kind"], "mismatch");
  }
}

TEST(CircomVerify, NamesTheFileWithTooFewPublicValues) {
  CUZK_DATA_OR_SKIP(bn, "circom/mul1000-bn128");
  const TemporaryFolder scratch;
  write_text(scratch / "one.json", "[\"1\"]");
  const CommandResult few = run_cuzk({"verify", "--vkey", bn / "verification_key.json", "--public",
                                      scratch.file("one.json"), "--proof", bn / "proof.json"});
  expect_one_sentence(few);
  EXPECT_THAT(few.err, HasSubstr(scratch.file("one.json") + ": found 1 public values, expected 2"));
}

TEST(CircomVerify, RefusesFilesOfAnotherCurve) {
  CUZK_DATA_OR_SKIP(bn, "circom/mul1000-bn128");
  CUZK_DATA_OR_SKIP(bls, "circom/mul1000-bls12381");
  const CommandResult result =
      run_cuzk({"verify", "--vkey", bn / "verification_key.json", "--public", bn / "public.json",
                "--proof", bls / "proof.json"});
  expect_one_sentence(result);
  // The right public values, so that the proof alone is of another curve or protocol.
  const TemporaryFolder scratch;
  auto proof = nlohmann::json::parse(read_text(bn / "proof.json"));
  for (const auto& [member, value] : {std::pair{"curve", "bls12381"}, {"protocol", "plonk"}}) {
    auto changed = proof;
    changed[member] = value;
    write_text(scratch / "proof.json", changed.dump());
    expect_one_sentence(run_cuzk({"verify", "--vkey", bn / "verification_key.json", "--public",
                                  bn / "public.json", "--proof", scratch.file("proof.json")}));
  }
}

}  // namespace
}  // namespace cuzk::testing
