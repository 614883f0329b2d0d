// 300 single-byte changes of each thing that a verifier or prover is given: all refused, none
// crashes.
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "filecoin/porep/c1_json.h"
#include "filecoin/porep/public_inputs.h"
#include "filecoin/porep/verify_vanilla.h"
#include "formats/bellperson/verifying_key.h"
#include "groth16/proof_bytes.h"
#include "groth16/verify.h"
#include "tests/support/data.h"
#include "tests/support/gzip.h"

namespace cuzk::testing {
namespace {

using curve::Bls12_381;
using filecoin::Node;

constexpr int kChangeCount = 300;

// Changes one byte to another value; the same sequence on every run.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}
  template <class Bytes>
  std::size_t change(Bytes& bytes) {
    const std::size_t place = random_() % bytes.size();
    bytes[place] = static_cast<typename Bytes::value_type>(bytes[place] ^ (1 + random_() % 255));
    return place;
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  std::mt19937 random_;
};

// Sector 42 of upstream's instances, as a verifier of the seal is told of it.
class PorepMutation : public ::testing::Test {
 protected:
  void SetUp() override {
    CUZK_DATA_OR_SKIP(instance, "upstream/instance1/instance.json");
    CUZK_DATA_OR_SKIP(proof, "upstream/instance1/porep-s0.proof");
    CUZK_DATA_OR_SKIP(keys, "upstream/keys");
    const auto sector = nlohmann::json::parse(std::ifstream(instance))["sectors"][0];
    claim_.config = filecoin::PorepConfig::of(filecoin::registered_seal(5).value());
    const auto node = [&](const char* key) {
      return filecoin::node_from_hex(sector[key].get<std::string>(), key).value();
    };
    claim_.prover_id = node("prover_id");
    claim_.sector_number = 42;
    claim_.ticket = node("ticket");
    claim_.seed = node("seed");
    claim_.comm_r = node("comm_r");
    claim_.comm_d = node("comm_d");
    proof_ = read_bytes(proof);
    for (const auto& entry : std::filesystem::directory_iterator(keys)) {
      const std::string name = entry.path().filename().string();
      if (name.find("replication") != name.npos && name.ends_with(".vk")) {
        key_ = formats::open_bellperson_vk(entry.path(), formats::KeyCheck::kOnCurve).value();
      }
    }
  }

  // Whether a verifier accepts: any error on the way is a refusal.
  bool accepts(const filecoin::SealClaim& seal, const base::Bytes& proof) const {
    const auto claim = filecoin::porep_claim(seal);
    if (!claim.ok()) return false;
    const auto inputs = filecoin::porep_public_inputs(*claim, 0);
    if (!inputs.ok()) return false;
    const auto decoded = groth16::decode_proofs(proof, "proof");
    if (!decoded.ok() || decoded->size() != 1) return false;
    const auto valid = groth16::verify<Bls12_381>(key_, *inputs, decoded->front());
    return valid.ok() && *valid;
  }

  filecoin::SealClaim claim_;
  base::Bytes proof_;
  formats::BlsVerifyingKey key_;
};

TEST_F(PorepMutation, TheUnchangedProofIsAccepted) { EXPECT_TRUE(accepts(claim_, proof_)); }

TEST_F(PorepMutation, ChangedProofsAreRefused) {
  Mutator mutator(1);
  for (int i = 0; i < kChangeCount; ++i) {
    base::Bytes changed = proof_;
    const std::size_t place = mutator.change(changed);
    EXPECT_FALSE(accepts(claim_, changed)) << "byte " << place << " is " << int(changed[place]);
  }
}

TEST_F(PorepMutation, ChangedPublicStatementsAreRefused) {
  Mutator mutator(2);
  for (int i = 0; i < kChangeCount; ++i) {
    filecoin::SealClaim changed = claim_;
    Node* const fields[] = {&changed.prover_id, &changed.ticket, &changed.seed, &changed.comm_r,
                            &changed.comm_d};
    const std::size_t field = mutator.below(6);
    if (field == 5) {
      changed.sector_number ^= std::uint64_t{1} << mutator.below(64);
    } else {
      mutator.change(*fields[field]);
    }
    EXPECT_FALSE(accepts(changed, proof_)) << "field " << field;
  }
}

TEST_F(PorepMutation, ChangedPublicInputsAreRefused) {
  Mutator mutator(3);
  const auto inputs =
      filecoin::porep_public_inputs(filecoin::porep_claim(claim_).value(), 0).value();
  const auto proof = groth16::decode_proofs(proof_, "proof").value().front();
  for (int count = 0; count < kChangeCount;) {
    auto changed = inputs;
    const std::size_t place = mutator.below(changed.size());
    Node bytes = filecoin::to_node(changed[place]);
    mutator.change(bytes);
    const auto value = filecoin::to_fr(bytes);
    if (!value) continue;  // not canonical, so no verifier takes it, and it does not count
    ++count;
    changed[place] = *value;
    const auto valid = groth16::verify<Bls12_381>(key_, changed, proof);
    EXPECT_TRUE(valid.ok() && !*valid) << "input " << place;
  }
}

TEST_F(PorepMutation, ChangedC1FilesAreRefused) {
  CUZK_DATA_OR_SKIP(packed, "upstream/instance1/porep-s0.c1.json.gz");
  const std::string text = read_gzip(packed);
  const auto accepts_c1 = [&](const std::string& json) {
    const base::ByteSpan bytes(reinterpret_cast<const std::uint8_t*>(json.data()), json.size());
    const auto file = filecoin::read_c1(bytes, "c1.json");
    if (!file.ok()) return false;
    const filecoin::C1Identity identity{claim_.prover_id, claim_.sector_number};
    return filecoin::verify_c1(file->c1, identity).ok();
  };
  ASSERT_TRUE(accepts_c1(text));
  Mutator mutator(4);
  for (int i = 0; i < kChangeCount; ++i) {
    std::string changed = text;
    const std::size_t place = mutator.change(changed);
    EXPECT_FALSE(accepts_c1(changed)) << "byte " << place << " is " << int(changed[place]);
  }
}

}  // namespace
}  // namespace cuzk::testing
