// A proof of ten parts, as a miner of twenty sectors hands in, damaged in the ways that were seen.
//
// The statement is a true one of window PoSt, the circuit is not: it takes the same public inputs
// and demands nothing of them, so that ten parts are proved in moments. What ties each part to its
// own inputs, and so to its place, is Groth16 itself.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filecoin/post/post.h"
#include "formats/bellperson/verifying_key.h"
#include "groth16/proof_bytes.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"
#include "tests/end_to_end/command.h"

namespace cuzk::testing {
namespace {

using curve::Bls12_381;
using filecoin::Fr;
using ::testing::HasSubstr;

constexpr std::size_t kPartCount = 10, kPartBytes = 192;

class TenParts : public ::testing::Test {
 protected:
  void SetUp() override {
    filecoin::PostClaim claim;
    claim.shape = filecoin::sector_shape_by_name("2KiB").value();
    claim.kind = filecoin::PostKind::kWindow;
    claim.api_version = filecoin::ApiVersion::kV1_2_0;
    claim.randomness = filecoin::node_of_u64(7);
    arguments_ = {"filecoin",
                  "verify",
                  "--json",
                  "--kind",
                  "window-post",
                  "--sector-size",
                  "2KiB",
                  "--vk",
                  scratch_.file("key.vk"),
                  "--proof",
                  scratch_.file("proof"),
                  "--randomness",
                  filecoin::to_hex(claim.randomness)};
    for (std::uint64_t id = 1; id <= 2 * kPartCount; ++id) {
      filecoin::PostSector sector;
      sector.sector_id = id;
      sector.comm_r = filecoin::node_of_u64(1000 + id);
      claim.sectors.push_back(sector);
      arguments_.push_back("--replica");
      arguments_.push_back(std::to_string(id) + ":" + filecoin::to_hex(sector.comm_r));
    }
    const auto normal = filecoin::normalized(claim);
    ASSERT_TRUE(normal.ok()) << normal.error().message;
    ASSERT_EQ(filecoin::post_partition_count(*normal), kPartCount);
    prove_parts(*normal);
  }

  static groth16::testing::Circuit<Fr> circuit_of(const std::vector<Fr>& inputs) {
    groth16::testing::Circuit<Fr> circuit;
    const groth16::testing::Combination<Fr> one = {{groth16::testing::kOne, Fr::one()}};
    circuit.enforce(one, one, one);
    for (const Fr& value : inputs) {
      const auto input = circuit.input(value);
      const auto square = circuit.aux(value.squared());
      circuit.enforce({{input, Fr::one()}}, {{input, Fr::one()}}, {{square, Fr::one()}});
    }
    return circuit;
  }

  void prove_parts(const filecoin::PostClaim& claim) {
    const auto first = circuit_of(filecoin::post_public_inputs(claim, 0).value());
    const auto waste = groth16::random_toxic_waste<Bls12_381>().value();
    const auto key =
        groth16::setup<Bls12_381>(*first.shape(), waste, groth16::QapConvention::kCoefficients, {});
    ASSERT_TRUE(key.ok()) << key.error().message;
    ASSERT_TRUE(formats::write_bellperson_vk(scratch_ / "key.vk", (*key)->vk).ok());
    const auto backend = groth16::make_cpu_backend<Bls12_381>();
    std::vector<groth16::Proof<Bls12_381>> parts;
    for (unsigned part = 0; part < kPartCount; ++part) {
      const auto circuit = circuit_of(filecoin::post_public_inputs(claim, part).value());
      const groth16::ProveInputs<Bls12_381> inputs{*key, circuit.shape(), circuit.assignment(), {}};
      const auto proof = groth16::prove(*backend, inputs);
      ASSERT_TRUE(proof.ok()) << proof.error().message;
      parts.push_back(*proof);
    }
    const auto bytes = groth16::encode_proofs(parts);
    proof_.assign(bytes.begin(), bytes.end());
  }

  CommandResult verify(const std::string& proof) const {
    write_text(scratch_ / "proof", proof);
    return run_cuzk(arguments_);
  }
  std::string part(std::size_t number) const {
    return proof_.substr((number - 1) * kPartBytes, kPartBytes);
  }
  void expect_refused(const std::string& changed, const char* reason) const {
    const CommandResult result = verify(changed);
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.json()["reason"].get<std::string>(), HasSubstr(reason));
  }

  TemporaryFolder scratch_;
  std::vector<std::string> arguments_;
  std::string proof_;
};

TEST_F(TenParts, AreValidTogetherAndInOrderOnly) {
  ASSERT_EQ(proof_.size(), 1920u);
  const CommandResult valid = verify(proof_);
  ASSERT_EQ(valid.exit_code, 0) << valid.out << valid.err;
  EXPECT_EQ(valid.json()["partition_count"], 10);
  for (const std::size_t place : {0, 20, 47, 48, 100, 150, 191}) {  // in A, B and C
    std::string flipped = proof_;
    char& byte = flipped[6 * kPartBytes + place];
    byte = static_cast<char>(byte ^ 1);
    expect_refused(flipped, "part 7 of 10");
  }
  expect_refused(proof_.substr(0, 1920 - kPartBytes), "1728 bytes, expected 1920");
  expect_refused(proof_ + std::string(kPartBytes, '\0'), "2112 bytes, expected 1920");
  std::string swapped = proof_;
  swapped.replace(kPartBytes, 2 * kPartBytes, part(3) + part(2));
  expect_refused(swapped, "part 2 of 10");
  std::string twice = proof_;
  twice.replace(9 * kPartBytes, kPartBytes, part(9));
  expect_refused(twice, "part 10 of 10");
}

}  // namespace
}  // namespace cuzk::testing
