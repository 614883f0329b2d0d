// Inputs that are streams: by standard input, by the shell's <(...), by a pipe with a name.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/end_to_end/command.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;

class Streams : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = find_data("circom/mul1000-bn128");
    ASSERT_TRUE(folder.has_value()) << "tests/data/circom/mul1000-bn128 belongs to the repository";
    folder_ = *folder;
  }
  std::string stored(const std::string& name) const { return (folder_ / name).string(); }
  // What the shell makes of `line`, in which cuzk is the command under test.
  CommandResult shell(const std::string& line) const {
    return run_program("bash", {"-c", "cuzk() { " CUZK_COMMAND " \"$@\"; }; " + line});
  }
  std::string outputs() const {
    return " --proof " + scratch_.file("proof.json") + " --public " + scratch_.file("public.json");
  }
  void expect_valid() const {
    EXPECT_EQ(run_cuzk({"verify", "--vkey", stored("verification_key.json"), "--public",
                        scratch_.file("public.json"), "--proof", scratch_.file("proof.json")})
                  .exit_code,
              0);
  }

  fs::path folder_;
  TemporaryFolder scratch_;
};

TEST_F(Streams, AWitnessByStandardInputIsProved) {
  const CommandResult result =
      shell("cat " + stored("witness.wtns") + " | cuzk prove --witness /dev/stdin --zkey " +
            stored("circuit_final.zkey") + outputs());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_valid();
}

TEST_F(Streams, KeyAndWitnessBySubstitutionAreProvedAndVerified) {
  const CommandResult proved =
      shell("cuzk prove --witness <(cat " + stored("witness.wtns") + ") --zkey <(cat " +
            stored("circuit_final.zkey") + ")" + outputs());
  EXPECT_EQ(proved.exit_code, 0) << proved.err;
  expect_valid();
  const CommandResult verified =
      shell("cuzk verify --vkey <(cat " + stored("verification_key.json") + ") --public <(cat " +
            scratch_.file("public.json") + ") --proof <(cat " + scratch_.file("proof.json") + ")");
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
}

TEST_F(Streams, CircuitsAreReadFromThem) {
  const std::string r1cs = " --r1cs <(cat " + stored("circuit.r1cs") + ")";
  const CommandResult checked = shell("cuzk check" + r1cs + " --witness " + stored("witness.wtns"));
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  const CommandResult made = shell("cuzk setup" + r1cs + " --zkey " + scratch_.file("dev.zkey") +
                                   " --vkey " + scratch_.file("dev.json"));
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const CommandResult inspected =
      shell("cat " + stored("circuit.r1cs") + " | cuzk inspect /dev/stdin");
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("Circuit of circom"));
}

TEST_F(Streams, AFilecoinVerifyingKeyAndItsProofAreRead) {
  const auto upstream = find_data("upstream");
  ASSERT_TRUE(upstream.has_value()) << "tests/data/upstream belongs to the repository";
  const CommandResult result =
      shell("cd " + upstream->string() +
            " && cuzk filecoin verify --kind porep --sector-size 2KiB --registered-proof 5"
            " --vk <(cat keys/*stacked*.vk) --proof <(cat instance1/porep-s0.proof) --miner-id 1000"
            " --sector 42 --comm-r 66a10ec82a577ad5528c5b98769ed83d26e2b59613489493da1755cd23e1a458"
            " --comm-d 692fbdbc72e1aa6468e86a183ed3dfc2d43b8ad6fb6639110966b2d6371f5419"
            " --ticket 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
            " --seed 5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a1a");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(Streams, WhatEndsNeverIsRefusedOrBounded) {
  const std::string zkey = " --zkey " + stored("circuit_final.zkey");
  const CommandResult device = shell("cuzk prove --witness /dev/zero" + zkey + outputs());
  expect_one_sentence(device);
  EXPECT_THAT(device.err, HasSubstr("/dev/zero: a device, expected a regular file or a pipe"));
  const CommandResult redirected =
      shell("cuzk prove --witness /dev/stdin" + zkey + outputs() + " < /dev/zero");
  expect_one_sentence(redirected);
  EXPECT_THAT(redirected.err, HasSubstr("a device"));
  const CommandResult endless =
      shell("cuzk prove --memory 64MiB --witness <(cat /dev/zero)" + zkey + outputs());
  expect_one_sentence(endless);
  EXPECT_THAT(endless.err, HasSubstr("read into memory"));
  const CommandResult document = shell("cuzk verify --vkey " + stored("verification_key.json") +
                                       " --public /dev/zero --proof /dev/zero");
  expect_one_sentence(document);
  EXPECT_THAT(document.err, HasSubstr("/dev/zero"));
}

// By Ctrl-C's signal, well before the two seconds after which the handler ends what does not look.
// Without --foreground two signals are sent, and the second ends a command at once.
TEST_F(Streams, AWaitForAWriterIsInterrupted) {
  ASSERT_EQ(::mkfifo(scratch_.file("fifo").c_str(), 0600), 0);
  const CommandResult result =
      run_program("timeout", {"--foreground", "--preserve-status", "-s", "INT", "0.5", CUZK_COMMAND,
                              "inspect", scratch_.file("fifo")});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("fifo: stopped while it was read"));
}

}  // namespace
}  // namespace cuzk::testing
