// Vanilla verification: what holds, and that nothing in a C1 file can be changed unnoticed.
//
// Bytes and digits are changed one at a time, and each change has to be refused by the reader or by
// the verifier.
#include "filecoin/porep/verify_vanilla.h"

#include <functional>
#include <random>

#include "filecoin/porep/c1_json.h"
#include "filecoin/porep/public_inputs.h"
#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

using testing::sample_c1;

C1Identity identity_of(std::uint64_t sector_number) {
  return {prover_id_of_miner(1000), sector_number};
}

TEST(VerifyC1, AcceptsEveryKindAndItsIdentity) {
  for (const unsigned number : {0u, 5u, 10u, 15u}) {
    const PorepC1 c1 = sample_c1(number);
    const auto status = verify_c1(c1, identity_of(42));
    EXPECT_TRUE(status.ok()) << c1.registered_proof.name() << ": " << status.error().message;
    EXPECT_TRUE(verify_c1(c1).ok());
  }
}

TEST(VerifyC1, RefusesAnotherIdentity) {
  const PorepC1 c1 = sample_c1();
  EXPECT_FALSE(verify_c1(c1, identity_of(43)).ok());
  EXPECT_FALSE(verify_c1(c1, C1Identity{prover_id_of_miner(1001), 42}).ok());
  PorepC1 changed = c1;
  changed.ticket[0] ^= 1;
  const auto status = verify_c1(changed, identity_of(42));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("replica_id"), std::string::npos);
}

TEST(VerifyC1, RefusesAnotherRegisteredProofOfTheSameSize) {
  for (const unsigned number : {0u, 10u}) {
    PorepC1 c1 = sample_c1(5);
    c1.registered_proof = registered_seal(number).value();
    EXPECT_FALSE(verify_c1(c1).ok()) << number;
  }
}

// Each part of a proof, changed, is refused with an error that names it. Some of these the circuit
// never reads.
TEST(VerifyC1, NamesThePartThatDisagrees) {
  using Change = std::function<void(PorepProof&)>;
  const std::pair<Change, const char*> changes[] = {
      {[](PorepProof& p) { p.comm_d_proof.root[0] ^= 1; }, "comm_d_proofs"},
      {[](PorepProof& p) { p.comm_d_proof.leaf[0] ^= 1; }, "comm_d_proofs"},
      {[](PorepProof& p) { p.comm_d_proof.path[5].hashes[0][3] ^= 1; }, "comm_d_proofs"},
      {[](PorepProof& p) { p.comm_d_proof.path[2].index ^= 1; }, "comm_d_proofs: path element 2"},
      {[](PorepProof& p) { p.comm_r_last_proof.root[9] ^= 1; }, "comm_r_last_proof"},
      {[](PorepProof& p) { p.comm_r_last_proof.leaf[9] ^= 1; }, "comm_r_last_proof"},
      {[](PorepProof& p) { p.comm_r_last_proof.path[1].hashes[6][1] ^= 1; }, "comm_r_last_proof"},
      {[](PorepProof& p) { p.c_x.index ^= 1; }, "c_x.column.index"},
      {[](PorepProof& p) { p.c_x.rows[1][30] ^= 1; }, "c_x.inclusion_proof"},
      {[](PorepProof& p) { p.c_x.inclusion.leaf[0] ^= 1; }, "c_x.inclusion_proof"},
      {[](PorepProof& p) { p.c_x.inclusion.root[0] ^= 1; }, "c_x.inclusion_proof"},
      {[](PorepProof& p) { p.drg_parents[5].index ^= 1; }, "drg_parents[5].column.index"},
      {[](PorepProof& p) { p.drg_parents[5].rows[0][0] ^= 1; }, "drg_parents[5].inclusion_proof"},
      {[](PorepProof& p) { p.exp_parents[7].rows[1][0] ^= 1; }, "exp_parents[7].inclusion_proof"},
      {[](PorepProof& p) { p.exp_parents[0].inclusion.path[0].hashes[0][0] ^= 1; },
       "exp_parents[0].inclusion_proof"},
      {[](PorepProof& p) { std::swap(p.drg_parents[2], p.drg_parents[3]); }, "drg_parents[2]"},
      {[](PorepProof& p) { p.labeling_proofs[0].parents[36][0] ^= 1; },
       "labeling_proofs[0].parents[36]"},
      {[](PorepProof& p) { p.labeling_proofs[1].layer_index = 1; },
       "labeling_proofs[1].layer_index"},
      {[](PorepProof& p) { p.labeling_proofs[0].node ^= 1; }, "labeling_proofs[0].node"},
      {[](PorepProof& p) { p.encoding_proof.parents[0][0] ^= 1; }, "encoding_proof.parents[0]"},
      {[](PorepProof& p) { p.encoding_proof.node ^= 1; }, "encoding_proof.node"},
      {[](PorepProof& p) { p.encoding_proof.layer_index = 1; }, "encoding_proof.layer_index"},
      {[](PorepProof& p) { p.labeling_proofs.pop_back(); }, "labeling_proofs"},
      {[](PorepProof& p) { p.exp_parents.pop_back(); }, "exp_parents"},
  };
  const PorepC1 good = sample_c1();
  for (const auto& [change, name] : changes) {
    PorepC1 c1 = good;
    change(c1.partitions[0][1]);
    const auto status = verify_c1(c1);
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_EQ(status.error().message.find("vanilla_proofs.StackedDrg2KiBV1[0][1]."), 0u)
        << status.error().message;
    EXPECT_NE(status.error().message.find(name), std::string::npos) << status.error().message;
  }
}

TEST(VerifyC1, RefusesChangedCommitmentsAndSeed) {
  const PorepC1 good = sample_c1();
  for (Node PorepC1::*member :
       {&PorepC1::comm_r, &PorepC1::comm_d, &PorepC1::replica_id, &PorepC1::seed}) {
    PorepC1 c1 = good;
    (c1.*member)[1] ^= 4;
    EXPECT_FALSE(verify_c1(c1).ok());
    c1.*member = Node{};
    const auto zero = verify_c1(c1);
    ASSERT_FALSE(zero.ok());
    EXPECT_NE(zero.error().message.find("all zero"), std::string::npos);
  }
}

TEST(VerifyVanillaProofs, HoldForCompoundTreesAndOnlyForTheirClaim) {
  for (const char* size : {"4KiB", "16KiB", "32KiB"}) {
    const SealedSector sector = testing::sealed_sector_of(size);
    PorepClaim claim{sector.config, sector.replica_id, sector.comm_d, sector.comm_r,
                     testing::sample_seed()};
    const auto partitions = open_challenges(sector, claim.seed);
    const auto status = verify_vanilla_proofs(claim, partitions, "proofs");
    EXPECT_TRUE(status.ok()) << status.error().message;
    claim.seed[0] ^= 1;
    EXPECT_FALSE(verify_vanilla_proofs(claim, partitions, "proofs").ok());
  }
}

// Reads and verifies as a prover does; the error's sentence, or nothing when all is accepted.
std::string refusal(base::ByteSpan json) {
  const auto file = read_c1(json, "c1.json");
  if (!file.ok()) return file.error().message;
  const auto status = verify_c1(file->c1, identity_of(file->sector_number.value_or(42)));
  return status.ok() ? "" : status.error().message;
}

void expect_changes_refused(const std::string& good, std::uint32_t seed) {
  ASSERT_EQ(refusal(testing::as_bytes(good)), "");
  std::mt19937 random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    std::string changed = good;
    char& place = changed[random() % changed.size()];
    place = static_cast<char>(place ^ (1 + random() % 255));
    EXPECT_NE(refusal(testing::as_bytes(changed)), "")
        << "trial " << trial << ", byte " << (&place - changed.data());
  }
}

TEST(VerifyC1, AnyChangedByteOfTheInnerFormIsRefused) {
  const auto bytes = testing::read_data("upstream/instance1/porep-s0.c1.json");
  expect_changes_refused(std::string(bytes.begin(), bytes.end()), 1);
}

TEST(VerifyC1, AnyChangedByteOfTheOuterFormIsRefused) {
  expect_changes_refused(write_c1_outer(sample_c1(), 42), 2);
}

// Digits are what a careless editor or a bad disk changes without breaking the syntax.
TEST(VerifyC1, AnyChangedDigitIsRefused) {
  const std::string good = write_c1_inner(sample_c1());
  std::mt19937 random(3);
  for (int trial = 0; trial < 300;) {
    std::string changed = good;
    char& place = changed[random() % changed.size()];
    if (place < '0' || place > '9') continue;
    ++trial;
    place = static_cast<char>('0' + (place - '0' + 1 + random() % 9) % 10);
    EXPECT_NE(refusal(testing::as_bytes(changed)), "") << (&place - changed.data());
  }
}

}  // namespace
}  // namespace cuzk::filecoin
