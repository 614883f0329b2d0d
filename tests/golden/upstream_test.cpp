// Our keys and proofs against those that the Filecoin project's own code made, byte for byte.
//
// For each 2 KiB circuit: set-up with upstream's secrets gives a .params file whose sections and
// whole have the published digests, and the published .vk; with upstream's inputs and its r and s
// the proofs are the published bytes, and they verify for public inputs that we derive. This pins
// circuit, witness, QAP convention, point encoding and proof at once. The digests cover files that
// are not stored (PoRep: 1.1 GB), so the bytes are hashed as they are written.
#include <algorithm>
#include <iterator>

#include <gtest/gtest.h>

#include "filecoin/job.h"
#include "filecoin/post/post_test_support.h"
#include "formats/bellperson/params.h"
#include "formats/bellperson/verifying_key.h"
#include "groth16/proof_bytes.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "tests/support/gzip.h"

namespace cuzk {
namespace {

using curve::Bls12_381;
using filecoin::CircuitKind;
using filecoin::Fr;
using filecoin::testing::read_data;
using filecoin::testing::read_json;
using nlohmann::json;

const json& instance() {
  static const json values = read_json("upstream/instance1/instance.json");
  return values;
}

Fr scalar_of(const json& le_hex) {
  return filecoin::read_fr(filecoin::testing::node_of(le_hex), "a test value").value();
}

groth16::ToxicWaste<Bls12_381> upstream_secrets(const json& keys) {
  const json& secrets = keys["secrets_le_hex"];
  return {scalar_of(secrets["alpha"]), scalar_of(secrets["beta"]), scalar_of(secrets["gamma"]),
          scalar_of(secrets["delta"]), scalar_of(secrets["tau"])};
}

// SHA-256 of a stream as a whole and of each of its stretches.
class SectionHasher {
 public:
  explicit SectionHasher(std::vector<std::uint64_t> sizes_bytes) : sizes_(std::move(sizes_bytes)) {}

  void update(base::ByteSpan bytes) {
    whole_.update(bytes);
    while (!bytes.empty()) {
      if (digests_.size() == sizes_.size()) {
        excess_bytes_ += bytes.size();
        return;
      }
      const auto count = std::min<std::uint64_t>(bytes.size(), sizes_[digests_.size()] - done_);
      section_.update(bytes.first(count));
      bytes = bytes.subspan(count);
      done_ += count;
      if (done_ < sizes_[digests_.size()]) return;
      digests_.push_back(base::to_hex(section_.finish()));
      section_ = {};
      done_ = 0;
    }
  }
  // Of the complete sections.
  const std::vector<std::string>& section_digests() const { return digests_; }
  std::uint64_t excess_bytes() const { return excess_bytes_; }
  std::string whole_digest() { return base::to_hex(whole_.finish()); }

 private:
  std::vector<std::uint64_t> sizes_;
  hash::Sha256 whole_, section_;
  std::vector<std::string> digests_;
  std::uint64_t done_ = 0;  // bytes of the open section
  std::uint64_t excess_bytes_ = 0;
};

constexpr const char* kSections[] = {"vk", "h", "l", "a", "b_g1", "b_g2"};

// The 2 KiB circuit of a kind with the key that upstream's secrets give.
class Upstream2KiB {
 public:
  Upstream2KiB(CircuitKind kind, const std::string& circuit_name)
      : kind_(kind), keys_(read_json("upstream/keys/keys.json")) {
    for (const json& params : keys_["params"]) {
      if (params["circuit"] == circuit_name) params_ = params;
    }
    if (params_.is_null()) throw std::runtime_error("no key of " + circuit_name);
  }

  void set_up() {
    const auto& sector = *filecoin::sector_shape_by_name("2KiB").value();
    EXPECT_EQ(filecoin::parameter_set_name(kind_, sector) + ".params",
              params_["file"].get<std::string>());
    auto shape = filecoin::circuit_shape(kind_, sector);
    ASSERT_TRUE(shape.ok()) << shape.error().message;
    shape_ = std::make_shared<const r1cs::Shape<Fr>>(std::move(shape).value());
    const auto key = groth16::setup<Bls12_381>(*shape_, upstream_secrets(keys_),
                                               groth16::QapConvention::kCoefficients);
    ASSERT_TRUE(key.ok()) << key.error().message;
    key_ = *key;
  }

  void expect_published_key() const {
    const json& sections = params_["sections"];
    std::vector<std::uint64_t> sizes;
    for (const char* name : kSections) sizes.push_back(sections[name]["bytes"]);
    SectionHasher hasher(sizes);
    const auto written = formats::write_params(
        [&](base::ByteSpan bytes) {
          hasher.update(bytes);
          return base::ok_status();
        },
        "params", *key_);
    ASSERT_TRUE(written.ok()) << written.error().message;
    ASSERT_EQ(hasher.section_digests().size(), std::size(kSections));
    for (std::size_t i = 0; i < std::size(kSections); ++i) {
      EXPECT_EQ(hasher.section_digests()[i], sections[kSections[i]]["sha256"].get<std::string>())
          << kSections[i];
    }
    EXPECT_EQ(hasher.excess_bytes(), 0u);
    EXPECT_EQ(hasher.whole_digest(), params_["sha256"].get<std::string>());

    const auto vk = formats::encode_bellperson_vk(key_->vk);
    ASSERT_TRUE(vk.ok()) << vk.error().message;
    EXPECT_EQ(*vk, read_data("upstream/keys/" + params_["vk_file"].get<std::string>()));
  }

  // One proof a partition. Verified under the published key, for inputs that are not the prover's.
  void expect_published_proof(const std::string& name, std::vector<r1cs::Assignment<Fr>> partitions,
                              const std::vector<std::vector<Fr>>& public_inputs, const json& rs) {
    SCOPED_TRACE(name);
    ASSERT_EQ(partitions.size(), rs.size());
    ASSERT_EQ(partitions.size(), public_inputs.size());
    const auto vk = formats::parse_bellperson_vk(
        read_data("upstream/keys/" + params_["vk_file"].get<std::string>()), "vk");
    ASSERT_TRUE(vk.ok()) << vk.error().message;
    const auto backend = groth16::make_cpu_backend<Bls12_381>();
    base::Bytes bytes;
    for (std::size_t k = 0; k < partitions.size(); ++k) {
      const groth16::ProveInputs<Bls12_381> inputs{
          key_, shape_, std::make_shared<const r1cs::Assignment<Fr>>(std::move(partitions[k]))};
      const auto proof = groth16::prove_with_blinding<Bls12_381>(
          *backend, inputs, {scalar_of(rs[k]["r_le_hex"]), scalar_of(rs[k]["s_le_hex"])});
      ASSERT_TRUE(proof.ok()) << proof.error().message;
      const auto is_valid = groth16::verify<Bls12_381>(*vk, public_inputs[k], *proof);
      ASSERT_TRUE(is_valid.ok()) << is_valid.error().message;
      EXPECT_TRUE(*is_valid);
      const auto part = groth16::encode_proof(*proof);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    EXPECT_EQ(base::to_hex(bytes),
              base::to_hex(read_data("upstream/instance1/" + name + ".proof")));
  }

  void expect_published_post_proof(const filecoin::testing::PostCase& c) {
    const auto claim = filecoin::testing::claim_of(c);
    const auto proofs = filecoin::testing::proofs_of(c);
    const auto is_sound = filecoin::verify_post_proofs(claim, proofs);
    ASSERT_TRUE(is_sound.ok()) << is_sound.error().message;
    std::vector<r1cs::Assignment<Fr>> partitions;
    std::vector<std::vector<Fr>> public_inputs;
    for (unsigned k = 0; k < filecoin::post_partition_count(claim); ++k) {
      partitions.push_back(filecoin::post_partition_assignment(claim, proofs, k));
      public_inputs.push_back(filecoin::post_public_inputs(claim, k).value());
    }
    for (const json& post : instance()["posts"]) {
      if (post["name"] != c.name) continue;
      return expect_published_proof(c.name, std::move(partitions), public_inputs, post["rs"]);
    }
    ADD_FAILURE() << "no r and s of " << c.name;
  }

 private:
  CircuitKind kind_;
  json keys_, params_;
  std::shared_ptr<const r1cs::Shape<Fr>> shape_;
  std::shared_ptr<const formats::BlsProvingKey> key_;
};

// Proves the cases whose names begin with `prefix`; how many there are is stated by the caller.
void expect_published_post_proofs(Upstream2KiB& circuit, const std::string& prefix,
                                  std::size_t expected_count) {
  std::size_t count = 0;
  for (const auto& c : filecoin::testing::kPostCases) {
    if (!std::string_view(c.name).starts_with(prefix)) continue;
    circuit.expect_published_post_proof(c);
    ++count;
  }
  EXPECT_EQ(count, expected_count);
}

TEST(UpstreamBytes, OfTheWinningPostKeyAndProof) {
  Upstream2KiB circuit(CircuitKind::kWinningPost, "winning_2KiB");
  ASSERT_NO_FATAL_FAILURE(circuit.set_up());
  circuit.expect_published_key();
  expect_published_post_proofs(circuit, "winning", 1);
}

// One, two and three sectors (filled up, full, two partitions), and the first version's challenges.
TEST(UpstreamBytes, OfTheWindowPostKeyAndProofs) {
  Upstream2KiB circuit(CircuitKind::kWindowPost, "window_2KiB");
  ASSERT_NO_FATAL_FAILURE(circuit.set_up());
  circuit.expect_published_key();
  expect_published_post_proofs(circuit, "window", 4);
}

TEST(UpstreamBytesRelease, OfTheUpdateKeyAndProof) {
  Upstream2KiB circuit(CircuitKind::kUpdate, "update_2KiB");
  ASSERT_NO_FATAL_FAILURE(circuit.set_up());
  circuit.expect_published_key();

  const json& update = instance()["update"];
  const auto& sector = *filecoin::sector_shape_by_name("2KiB").value();
  const auto node_of = filecoin::testing::node_of;
  const filecoin::UpdateClaim claim{&sector, node_of(update["comm_r_old"]),
                                    node_of(update["comm_d_new"]), node_of(update["comm_r_new"])};
  const auto vanilla = filecoin::read_update_partition_proof(
      read_data("upstream/instance1/update.vanilla0.bin"), sector, "update.vanilla0.bin");
  ASSERT_TRUE(vanilla.ok()) << vanilla.error().message;
  const auto is_sound = filecoin::verify_update_partition(claim, *vanilla, 0);
  ASSERT_TRUE(is_sound.ok()) << is_sound.error().message;
  std::vector<r1cs::Assignment<Fr>> partitions;
  partitions.push_back(filecoin::update_partition_assignment(claim, *vanilla, 0));
  circuit.expect_published_proof("update", std::move(partitions),
                                 {filecoin::update_public_inputs(claim, 0).value()}, update["rs"]);
}

TEST(UpstreamBytesRelease, OfThePorepKeyAndProof) {
  Upstream2KiB circuit(CircuitKind::kPorep, "porep_2KiB");
  ASSERT_NO_FATAL_FAILURE(circuit.set_up());
  circuit.expect_published_key();

  const auto packed = testing::find_data("upstream/instance1/porep-s0.c1.json.gz");
  ASSERT_TRUE(packed);
  const std::string text = testing::read_gzip(*packed);
  const auto file = filecoin::read_c1(filecoin::testing::as_bytes(text), "porep-s0.c1.json");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto is_sound = filecoin::verify_c1(file->c1);
  ASSERT_TRUE(is_sound.ok()) << is_sound.error().message;

  // The claim as a chain knows it: nothing of the file.
  const json& sealed = instance()["sectors"][0];
  const auto node_of = filecoin::testing::node_of;
  const auto claim = filecoin::porep_claim(filecoin::SealClaim{
      filecoin::PorepConfig::of(filecoin::registered_seal(sealed["registered_seal_proof"]).value()),
      node_of(sealed["prover_id"]), sealed["sector_id"], node_of(sealed["ticket"]),
      node_of(sealed["seed"]), node_of(sealed["comm_r"]), node_of(sealed["comm_d"])});
  ASSERT_TRUE(claim.ok()) << claim.error().message;
  ASSERT_EQ(filecoin::porep_partition_count(file->c1), 1u);
  std::vector<r1cs::Assignment<Fr>> partitions;
  partitions.push_back(filecoin::porep_partition_assignment(file->c1, 0));
  circuit.expect_published_proof("porep-s0", std::move(partitions),
                                 {filecoin::porep_public_inputs(*claim, 0).value()},
                                 sealed["porep_proof_rs"]);
}

}  // namespace
}  // namespace cuzk
