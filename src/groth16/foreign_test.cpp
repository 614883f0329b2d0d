// The room against keys, witnesses and proofs that other programs made.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "groth16/foreign_files.h"
#include "groth16/proof_bytes.h"
#include "groth16/prove.h"
#include "groth16/test_circuits.h"
#include "groth16/verify.h"
#include "tests/support/data.h"

namespace cuzk::groth16 {
namespace {

using curve::Bls12_381;
using curve::Bn254;
using testing::Circuit;
using testing::kOne;
using testing::Variable;
using Fr = Bls12_381::Fr;

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream);
}

// The MiMC circuit of bellman's example: per round t = (x_l + c)^2 and x_l' = x_r + t (x_l + c),
// the last x_l' public.
Circuit<Fr> mimc_circuit(const nlohmann::json& fixture) {
  Circuit<Fr> circuit;
  const Fr one = Fr::one();
  const auto& constants = fixture["constants_le_hex"];
  Variable left = circuit.aux(testing::scalar_from_hex_le<Fr>(fixture["xl_le_hex"]));
  Variable right = circuit.aux(testing::scalar_from_hex_le<Fr>(fixture["xr_le_hex"]));
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const Fr constant = testing::scalar_from_hex_le<Fr>(constants[i]);
    const Fr sum = circuit.value(left) + constant;
    const Variable square = circuit.aux(sum.squared());
    circuit.enforce({{left, one}, {kOne, constant}}, {{left, one}, {kOne, constant}},
                    {{square, one}});
    const Fr next = sum * circuit.value(square) + circuit.value(right);
    const bool is_last = i + 1 == constants.size();
    const Variable result = is_last ? circuit.input(next) : circuit.aux(next);
    circuit.enforce({{square, one}}, {{left, one}, {kOne, constant}},
                    {{result, one}, {right, -one}});
    right = left;
    left = result;
  }
  return circuit;
}

// The key that bellperson wrote, its points borrowed where they lie in the file.
std::shared_ptr<const ProvingKey<Bls12_381>> borrowed_key(
    const std::shared_ptr<testing::BellmanParams>& params, std::size_t domain_log2) {
  auto key = std::make_shared<ProvingKey<Bls12_381>>();
  constexpr auto kLayout = msm::PointLayout::kZcashUncompressed;
  const auto g1 = [&](const char* name) {
    const base::ByteSpan bytes = params->sections.at(name);
    return msm::PointSource<Bls12_381::G1>(bytes.data(), bytes.size() / 96, kLayout);
  };
  key->name = "mimc.params";
  key->vk = params->vk;
  key->domain_log2 = domain_log2;
  key->has_dense_queries = true;
  key->h = g1("h");
  key->l = g1("l");
  key->a = g1("a");
  key->b_g1 = g1("b_g1");
  const base::ByteSpan b = params->sections.at("b_g2");
  key->b_g2 = {b.data(), b.size() / 192, kLayout};
  key->owner = params;
  return key;
}

TEST(Mimc, ProofFromBellpersonsKeyWitnessAndBlindingIsItsProofToTheByte) {
  CUZK_DATA_OR_SKIP(json_path, "upstream/mimc/mimc.json");
  CUZK_DATA_OR_SKIP(params_path, "upstream/mimc/mimc.params");
  CUZK_DATA_OR_SKIP(proof_path, "upstream/mimc/mimc.proof");
  const auto fixture = read_json(json_path);
  const auto circuit = mimc_circuit(fixture);
  const auto params =
      std::make_shared<testing::BellmanParams>(cuzk::testing::read_bytes(params_path));
  const ProveInputs<Bls12_381> inputs{borrowed_key(params, 10), circuit.shape(),
                                      circuit.assignment()};
  EXPECT_EQ(circuit.public_inputs().at(0),
            testing::scalar_from_hex_le<Fr>(fixture["public_inputs_le_hex"][0]));
  const Blinding<Bls12_381> blinding{testing::scalar_from_hex_le<Fr>(fixture["r_le_hex"]),
                                     testing::scalar_from_hex_le<Fr>(fixture["s_le_hex"])};
  const auto backend = make_cpu_backend<Bls12_381>();
  const auto proof = prove_with_blinding(*backend, inputs, blinding);
  ASSERT_TRUE(proof.ok()) << proof.error().message;
  const auto bytes = encode_proof(proof.value());
  EXPECT_EQ(std::vector(bytes.begin(), bytes.end()), cuzk::testing::read_bytes(proof_path));
}

template <class G>
base::Bytes encode_all(const msm::PointSource<G>& points) {
  constexpr std::size_t kSize = msm::PointSource<G>::kPointBytes;
  base::Bytes out(points.size() * kSize);
  for (std::size_t i = 0; i < points.size(); ++i) {
    curve::encode_uncompressed(points.at(i), std::span(out).subspan(i * kSize, kSize));
  }
  return out;
}

TEST(Mimc, SetupFromBellpersonsSecretsIsItsKeyToTheByte) {
  CUZK_DATA_OR_SKIP(json_path, "upstream/mimc/mimc.json");
  CUZK_DATA_OR_SKIP(params_path, "upstream/mimc/mimc.params");
  CUZK_DATA_OR_SKIP(keys_path, "upstream/keys/keys.json");
  const auto secrets = read_json(keys_path)["secrets_le_hex"];
  const auto secret = [&](const char* name) {
    return testing::scalar_from_hex_le<Fr>(secrets[name]);
  };
  const ToxicWaste<Bls12_381> waste{secret("alpha"), secret("beta"), secret("gamma"),
                                    secret("delta"), secret("tau")};
  const testing::BellmanParams params(cuzk::testing::read_bytes(params_path));
  const auto key = setup<Bls12_381>(*mimc_circuit(read_json(json_path)).shape(), waste,
                                    QapConvention::kCoefficients);
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_EQ((*key)->vk, params.vk);
  const auto section = [&](const char* name) {
    const base::ByteSpan bytes = params.sections.at(name);
    return base::Bytes(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(encode_all((*key)->h), section("h"));
  EXPECT_EQ(encode_all((*key)->l), section("l"));
  EXPECT_EQ(encode_all((*key)->a), section("a"));
  EXPECT_EQ(encode_all((*key)->b_g1), section("b_g1"));
  EXPECT_EQ(encode_all((*key)->b_g2), section("b_g2"));
}

// Proves with a key and witness of circom users; the proof must verify under the key's own vk.
template <class C>
void expect_snarkjs_case_proves(const std::string& folder) {
  CUZK_DATA_OR_SKIP(key_path, folder + "/circuit_final.zkey");
  CUZK_DATA_OR_SKIP(witness_path, folder + "/witness.wtns");
  const testing::SnarkjsKey<C> zkey(cuzk::testing::read_bytes(key_path));
  const ProveInputs<C> inputs{
      zkey.key, zkey.shape,
      testing::read_wtns<typename C::Fr>(cuzk::testing::read_bytes(witness_path),
                                         zkey.shape->input_count)};
  const auto backend = make_cpu_backend<C>();
  const auto proof = prove(*backend, inputs);
  EXPECT_TRUE(proof.ok()) << proof.error().message;
}

TEST(SnarkjsKeys, SignupProves) { expect_snarkjs_case_proves<Bn254>("circom/unirep-signup"); }

TEST(SnarkjsKeys, EpochKeyProves) {
  expect_snarkjs_case_proves<Bn254>("circom/unirep-epochKeyLite");
}

TEST(SnarkjsKeys, RapidsnarksCaseProves) { expect_snarkjs_case_proves<Bn254>("circom/rapidsnark"); }

TEST(SnarkjsKeys, ThousandProductsProveOverBn254) {
  expect_snarkjs_case_proves<Bn254>("circom/mul1000-bn128");
}

// Needs snarkjs's own root of unity, which differs from bellman's on this curve.
TEST(SnarkjsKeys, ThousandProductsProveOverBls12381) {
  expect_snarkjs_case_proves<Bls12_381>("circom/mul1000-bls12381");
}

TEST(ZcashProofs, AllVerifyAndNoneAfterAChangeOfOneBit) {
  CUZK_DATA_OR_SKIP(key_path, "zcash/sapling-output.vk");
  CUZK_DATA_OR_SKIP(proofs_path, "zcash/proofs.json");
  const testing::BellmanParams params(cuzk::testing::read_bytes(key_path));
  const auto cases = read_json(proofs_path);
  ASSERT_EQ(cases.size(), 40u);
  std::vector<std::vector<Fr>> all_inputs;
  std::vector<Proof<Bls12_381>> all_proofs;
  for (const auto& item : cases) {
    std::vector<Fr> inputs;
    for (const std::string text : item["public_inputs"]) {
      auto limbs = field::limbs_from_hex<4>(text.substr(2));
      inputs.push_back(Fr::from_canonical(Bls12_381::FrCanonical::from_limbs(limbs).value()));
    }
    auto bytes = base::from_hex(item["proof"].get<std::string>(), "proof").value();
    const auto proof = decode_proof(bytes, "proof");
    ASSERT_TRUE(proof.ok()) << proof.error().message;
    EXPECT_TRUE(verify<Bls12_381>(params.vk, inputs, *proof).value());
    auto other_inputs = inputs;
    other_inputs[0] += Fr::one();
    EXPECT_FALSE(verify<Bls12_381>(params.vk, other_inputs, *proof).value());
    bytes[191] ^= 1;
    const auto changed = decode_proof(bytes, "proof");
    EXPECT_TRUE(!changed.ok() || !verify<Bls12_381>(params.vk, inputs, *changed).value());
    all_inputs.push_back(inputs);
    all_proofs.push_back(*proof);
  }
  EXPECT_TRUE(verify_batch<Bls12_381>(params.vk, all_inputs, all_proofs).value());
  std::swap(all_proofs[11], all_proofs[29]);
  EXPECT_FALSE(verify_batch<Bls12_381>(params.vk, all_inputs, all_proofs).value());
}

}  // namespace
}  // namespace cuzk::groth16
