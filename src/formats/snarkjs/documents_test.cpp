// snarkjs's JSON documents: real ones to the byte, and everything that may not be accepted.
#include "formats/snarkjs/documents.h"

#include <gtest/gtest.h>

#include "field/convert.h"
#include "field/square_root.h"
#include "formats/json.h"
#include "formats/test_support.h"
#include "groth16/verify.h"

namespace cuzk::formats {
namespace {

using base::ErrorKind;
using testing::accepted;
using testing::bytes_of;
using testing::refused;
using Bls = curve::Bls12_381;
using Bn = curve::Bn254;

std::string text_of(const std::filesystem::path& path) {
  const auto bytes = cuzk::testing::read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

// A folder with the three documents of one proof.
struct Case {
  const char* folder;
  CurveId curve;
};

class Documents : public ::testing::TestWithParam<Case> {};

template <class C>
void expect_documents_round_trip(const std::filesystem::path& folder) {
  const std::string key_text = text_of(folder / "verification_key.json");
  const std::string proof_text = text_of(folder / "proof.json");
  const std::string public_text = text_of(folder / "public.json");
  const auto key = parse_verification_key<C>(bytes_of(key_text), "verification_key.json");
  const auto proof = parse_proof<C>(bytes_of(proof_text), "proof.json");
  const auto values = parse_public_values<C>(bytes_of(public_text), "public.json");
  ASSERT_TRUE(accepted(key));
  ASSERT_TRUE(accepted(proof));
  ASSERT_TRUE(accepted(values));

  EXPECT_EQ(encode_verification_key(*key), key_text);
  EXPECT_EQ(encode_proof_json(*proof), proof_text);
  EXPECT_EQ(encode_public_values<C>(*values), public_text);

  const auto verdict = groth16::verify<C>(*key, *values, *proof);
  ASSERT_TRUE(accepted(verdict));
  EXPECT_TRUE(*verdict);
  auto changed = *values;
  changed[0] += C::Fr::one();
  const auto second = groth16::verify<C>(*key, changed, *proof);
  ASSERT_TRUE(accepted(second));
  EXPECT_FALSE(*second);
}

TEST_P(Documents, OfSnarkjsComeBackToTheByteAndVerify) {
  CUZK_DATA_OR_SKIP(folder, GetParam().folder);
  const auto curve = read_document_curve(bytes_of(text_of(folder / "verification_key.json")),
                                         "verification_key.json");
  ASSERT_TRUE(accepted(curve));
  ASSERT_EQ(*curve, GetParam().curve);
  if (*curve == CurveId::kBls12_381) {
    expect_documents_round_trip<Bls>(folder);
  } else {
    expect_documents_round_trip<Bn>(folder);
  }
}

INSTANTIATE_TEST_SUITE_P(Circom, Documents,
                         ::testing::Values(Case{"circom/mul1000-bn128", CurveId::kBn254},
                                           Case{"circom/mul1000-bls12381", CurveId::kBls12_381},
                                           Case{"circom/unirep-epochKeyLite", CurveId::kBn254},
                                           Case{"circom/unirep-signup", CurveId::kBn254}),
                         [](const auto& info) {
                           std::string name = info.param.folder;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

// --- public values ---

TEST(PublicValues, LargeOnesAreKeptDigitForDigit) {
  const std::string text =
      "[\n \"18446744073709551616\",\n"
      " \"1606938044258990275541962092341162602522202993782792835301377\",\n"
      " \"21888242871839275222246405745257275088548364400416034343698204186575808495616\",\n"
      " \"0\"\n]";  // 2^64, 2^200 + 1, r - 1, 0
  const auto values = parse_public_values<Bn>(bytes_of(text), "public.json");
  ASSERT_TRUE(accepted(values));
  EXPECT_EQ((*values)[2], -Bn::Fr::one());
  EXPECT_EQ(encode_public_values<Bn>(*values), text);
}

TEST(PublicValues, MayBeNone) {
  const auto values = parse_public_values<Bls>(bytes_of("[]"), "public.json");
  ASSERT_TRUE(accepted(values));
  EXPECT_TRUE(values->empty());
  EXPECT_EQ(encode_public_values<Bls>(*values), "[]");
}

TEST(PublicValues, MayBeInHex) {
  const auto values = parse_public_values<Bn>(
      bytes_of("[\"0x21\", \"0X0\", "
               "\"0x30644E72e131a029b85045b68181585d2833e84879b9709143e1f593f0000000\"]"),
      "public.json");
  ASSERT_TRUE(accepted(values));
  EXPECT_EQ((*values)[0], Bn::Fr::from_u64(33));
  EXPECT_EQ((*values)[1], Bn::Fr::zero());
  EXPECT_EQ((*values)[2], -Bn::Fr::one());
}

TEST(PublicValues, AreRefusedWhenNotCanonical) {
  const char* r = "21888242871839275222246405745257275088548364400416034343698204186575808495617";
  const auto parse = [](std::string entry) {
    return parse_public_values<Bn>(bytes_of("[\"1\", " + entry + "]"), "public.json");
  };
  EXPECT_TRUE(refused(parse("\"" + std::string(r) + "\""), ErrorKind::kMalformed,
                      {"public.json: value 1", "not below the modulus of BN254 Fr"}));
  EXPECT_TRUE(
      refused(parse("\"" + std::string(400, '9') + "\""), ErrorKind::kMalformed, {"value 1"}));
  EXPECT_TRUE(refused(parse("\"007\""), ErrorKind::kMalformed, {"value 1", "leading zero"}));
  EXPECT_TRUE(refused(parse("7"), ErrorKind::kMalformed, {"value 1", "decimal or 0x hex string"}));
  EXPECT_TRUE(refused(parse("\"0x" + std::string(65, '1') + "\""), ErrorKind::kMalformed,
                      {"value 1", "1 to 64 hex digits"}));
  for (const char* entry :
       {"\"\"", "\"-1\"", "\"+1\"", "\" 1\"", "\"1 \"", "\"0x\"", "\"1e3\"", "\"0xg1\"", "\"-0x1\"",
        "\"0x 1\"", "\"1.0\"", "null", "true", "[\"1\"]", "{}", "\"1\\u0000\""}) {
    EXPECT_TRUE(refused(parse(entry), ErrorKind::kMalformed, {"public.json: value 1"})) << entry;
  }
  EXPECT_TRUE(refused(parse_public_values<Bn>(bytes_of("{}"), "public.json"), ErrorKind::kMalformed,
                      {"public.json", "array"}));
}

// --- proofs and keys: one change at a time ---

class DamagedDocuments : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = cuzk::testing::find_data("circom/mul1000-bn128");
    ASSERT_TRUE(folder.has_value()) << "tests/data/circom/mul1000-bn128 belongs to the repository";
    proof_ = Json::parse(text_of(*folder / "proof.json"));
    key_ = Json::parse(text_of(*folder / "verification_key.json"));
  }
  static auto proof(const Json& json) {
    return parse_proof<Bn>(bytes_of(json.dump()), "proof.json");
  }
  static auto key(const Json& json) {
    return parse_verification_key<Bn>(bytes_of(json.dump()), "vk.json");
  }

  Json proof_, key_;
};

TEST_F(DamagedDocuments, AProofOfAnotherProtocolOrCurveIsNamed) {
  proof_["protocol"] = "plonk";
  EXPECT_TRUE(refused(proof(proof_), ErrorKind::kUnsupported, {"proof.json", "PLONK"}));
  proof_["protocol"] = "groth16";
  proof_["curve"] = "bls12381";
  EXPECT_TRUE(refused(proof(proof_), ErrorKind::kMismatch, {"BLS12-381", "expected BN254"}));
  proof_["curve"] = "secq256k1";
  EXPECT_TRUE(refused(proof(proof_), ErrorKind::kUnsupported, {"secq256k1", "bn128"}));
  proof_.erase("curve");
  EXPECT_TRUE(accepted(proof(proof_))) << "rapidsnark leaves the curve out";
  proof_.erase("protocol");
  EXPECT_TRUE(accepted(proof(proof_))) << "nor does everybody write the protocol";
  proof_["protocol"] = "Groth16";
  EXPECT_TRUE(accepted(proof(proof_)));
  proof_["protocol"] = 16;
  EXPECT_TRUE(refused(proof(proof_), ErrorKind::kMalformed, {"protocol"}));
}

// Every number of `value` in hex, as makers of calldata write it.
Json in_hex(const Json& value) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& entry : value) out.push_back(in_hex(entry));
    return out;
  }
  const auto number = field::from_decimal<Bn::Fp>(value.get<std::string>(), "a test's number");
  return field::to_hex_integer(*number);
}

TEST_F(DamagedDocuments, CoordinatesInHexAreTheSameProofAndKey) {
  const auto plain = proof(proof_);
  ASSERT_TRUE(accepted(plain));
  Json hex = proof_;
  for (const char* name : {"pi_a", "pi_b", "pi_c"}) hex[name] = in_hex(proof_[name]);
  const auto read = proof(hex);
  ASSERT_TRUE(accepted(read));
  EXPECT_EQ(encode_proof_json(*read), encode_proof_json(*plain)) << "written as snarkjs writes it";
  Json key_hex = key_;
  for (const char* name : {"vk_alpha_1", "vk_beta_2", "IC"}) key_hex[name] = in_hex(key_[name]);
  key_hex["curve"] = "alt_bn128";
  key_hex.erase("protocol");
  const auto read_key = key(key_hex);
  ASSERT_TRUE(accepted(read_key));
  EXPECT_EQ(Json::parse(encode_verification_key(*read_key)), key_);
  hex["pi_a"][0] = "0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";  // p
  EXPECT_TRUE(refused(proof(hex), ErrorKind::kMalformed, {"pi_a[0]", "not below the modulus"}));
}

// What is no proof, and what is one with points that are none.
// The result of a daemon as curl brings it, and fullProve() of snarkjs.
TEST_F(DamagedDocuments, AProofAndItsPublicValuesInOneFileAreToldApart) {
  for (const char* name : {"public", "publicSignals"}) {
    Json both = Json::object();
    both["proof"] = proof_;
    both[name] = Json::array({"1"});
    const std::string text = both.dump();
    const std::string members = "the members \"proof\" and \"" + std::string(name) + "\"";
    EXPECT_TRUE(refused(parse_proof<Bn>(bytes_of(text), "result.json"), ErrorKind::kMalformed,
                        {"result.json: ", members}));
    EXPECT_TRUE(refused(parse_public_values<Bn>(bytes_of(text), "result.json"),
                        ErrorKind::kMalformed, {"result.json: ", members}));
    EXPECT_TRUE(refused(read_document_curve(bytes_of(text), "result.json"), ErrorKind::kMalformed,
                        {"result.json: ", members}));
  }
}

TEST_F(DamagedDocuments, TheFormOfAProofIsToldFromItsContent) {
  const auto has_form = [](const Json& json) { return has_form_of_proof(bytes_of(json.dump())); };
  EXPECT_TRUE(has_form(proof_));
  EXPECT_FALSE(has_form_of_proof(bytes_of("{")));
  EXPECT_FALSE(has_form(Json::array({proof_})));
  EXPECT_FALSE(has_form(key_));
  for (const char* name : {"pi_a", "pi_b", "pi_c"}) {
    Json other = proof_;
    std::swap(other[name][0], other[name][1]);
    EXPECT_TRUE(has_form(other)) << "off the curve";
    other[name].push_back("1");
    EXPECT_FALSE(has_form(other)) << name;
    other[name] = Json::array({1, 2, 1});
    EXPECT_FALSE(has_form(other)) << name;
    other.erase(name);
    EXPECT_FALSE(has_form(other)) << name;
  }
  for (const char* number : {"", "x", "0x", "0xg", "007", "-1", "1 "}) {
    Json other = proof_;
    other["pi_a"][0] = number;
    EXPECT_FALSE(has_form(other)) << number;
  }
  for (const std::string& number : {std::string("0x0F"), std::string(90, '9')}) {
    Json other = proof_;
    other["pi_a"][0] = number;
    EXPECT_TRUE(has_form(other)) << number;
  }
}

TEST_F(DamagedDocuments, AProofMustHaveThreeAffinePointsOfTheCurve) {
  for (const char* name : {"pi_a", "pi_b", "pi_c"}) {
    Json damaged = proof_;
    damaged.erase(name);
    EXPECT_TRUE(refused(proof(damaged), ErrorKind::kMalformed, {name, "missing"}));
    damaged = proof_;
    damaged[name].erase(2);
    EXPECT_TRUE(refused(proof(damaged), ErrorKind::kMalformed, {name, "2 entries, expected 3"}));
    damaged = proof_;
    damaged[name].push_back("1");
    EXPECT_TRUE(refused(proof(damaged), ErrorKind::kMalformed, {name, "4 entries, expected 3"}));
    damaged = proof_;
    std::swap(damaged[name][0], damaged[name][1]);
    EXPECT_TRUE(refused(proof(damaged), ErrorKind::kMalformed, {name, "not a point of BN254"}));
    damaged = proof_;
    damaged[name][2] = damaged[name][0];
    EXPECT_TRUE(refused(proof(damaged), ErrorKind::kMalformed, {name, "third coordinate"}));
  }
  Json damaged = proof_;
  damaged["pi_b"][0].push_back("0");
  EXPECT_TRUE(refused(proof(damaged), ErrorKind::kMalformed, {"pi_b[0]", "3 entries, expected 2"}));
}

// A wrong name, or none as rapidsnark writes: the points themselves tell.
TEST(ForeignDocuments, PointsOfTheOtherCurveAreToldByTheirCurve) {
  CUZK_DATA_OR_SKIP(bls, "circom/mul1000-bls12381");
  CUZK_DATA_OR_SKIP(bn, "circom/mul1000-bn128");
  const auto renamed = [](const std::filesystem::path& path, const std::string& from,
                          const std::string& to) {
    std::string text = text_of(path);
    text.replace(text.find("\"" + from + "\""), from.size() + 2, "\"" + to + "\"");
    return bytes_of(text);
  };
  EXPECT_TRUE(refused(parse_verification_key<Bn>(
                          renamed(bls / "verification_key.json", "bls12381", "bn128"), "key.json"),
                      ErrorKind::kMismatch,
                      {"key.json: vk_alpha_1: a point of BLS12-381 G1, expected one of BN254 G1"}));
  EXPECT_TRUE(refused(parse_verification_key<Bls>(
                          renamed(bn / "verification_key.json", "bn128", "bls12381"), "key.json"),
                      ErrorKind::kMismatch,
                      {"key.json: vk_alpha_1: a point of BN254 G1, expected one of BLS12-381 G1"}));
  auto document = Json::parse(text_of(bn / "proof.json"));
  document.erase("curve");
  EXPECT_TRUE(refused(parse_proof<Bls>(bytes_of(document.dump()), "proof.json"),
                      ErrorKind::kMismatch, {"proof.json: pi_a: a point of BN254 G1"}));
  // Only the second point: a document whose points are of both curves is of neither.
  document["pi_a"] = Json::parse(text_of(bls / "proof.json"))["pi_a"];
  EXPECT_TRUE(refused(parse_proof<Bls>(bytes_of(document.dump()), "proof.json"),
                      ErrorKind::kMismatch, {"pi_b: a point of BN254 G2", "BLS12-381 G2"}));
}

TEST_F(DamagedDocuments, ACoordinateIsNeverReduced) {
  // x + p is the same residue; a reader that reduces would accept it.
  const char* p = "21888242871839275222246405745257275088696311157297823662689037894645226208583";
  proof_["pi_a"][0] = p;
  EXPECT_TRUE(refused(proof(proof_), ErrorKind::kMalformed,
                      {"pi_a[0]", "not below the modulus of BN254 Fp"}));
}

TEST_F(DamagedDocuments, InfinityInAProofIsReadAndDoesNotVerify) {
  const auto original_key = key(key_);
  ASSERT_TRUE(accepted(original_key));
  for (const char* name : {"pi_a", "pi_c"}) {
    Json damaged = proof_;
    damaged[name] = Json::array({"0", "1", "0"});
    const auto parsed = proof(damaged);
    ASSERT_TRUE(accepted(parsed));
    const std::vector<Bn::Fr> values(2);
    const auto verdict = groth16::verify<Bn>(*original_key, values, *parsed);
    ASSERT_TRUE(accepted(verdict));
    EXPECT_FALSE(*verdict);
    EXPECT_EQ(Json::parse(encode_proof_json(*parsed))[name], damaged[name]);
  }
  proof_["pi_a"] = Json::array({"0", "0", "1"});
  EXPECT_TRUE(refused(proof(proof_), ErrorKind::kMalformed, {"pi_a", "not a point"}))
      << "(0, 0) is how infinity is kept in memory, not how it is written";
}

TEST_F(DamagedDocuments, AKeysCountsMustAgree) {
  Json damaged = key_;
  damaged["nPublic"] = 3;
  EXPECT_TRUE(refused(key(damaged), ErrorKind::kMalformed, {"IC has 3 points", "nPublic 3"}));
  damaged["nPublic"] = "2";
  EXPECT_TRUE(refused(key(damaged), ErrorKind::kMalformed, {"nPublic"}));
  damaged["nPublic"] = -1;
  EXPECT_TRUE(refused(key(damaged), ErrorKind::kMalformed, {"nPublic"}));
  damaged["nPublic"] = 18446744073709551615ull;
  damaged["IC"] = Json::array();
  EXPECT_TRUE(refused(key(damaged), ErrorKind::kMalformed, {"IC has 0 points"}));
}

TEST_F(DamagedDocuments, AKeysPointsMustBeFiniteAndInTheSubgroup) {
  for (const char* name : {"vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2"}) {
    Json damaged = key_;
    damaged[name] = name[std::string_view(name).size() - 1] == '1'
                        ? Json::array({"0", "1", "0"})
                        : Json::array({{"0", "0"}, {"1", "0"}, {"0", "0"}});
    EXPECT_TRUE(refused(key(damaged), ErrorKind::kMalformed, {name, "infinity"}));
    damaged.erase(name);
    EXPECT_TRUE(refused(key(damaged), ErrorKind::kMalformed, {name, "missing"}));
  }
  Json damaged = key_;
  damaged.erase("vk_alphabeta_12");
  EXPECT_TRUE(accepted(key(damaged))) << "it follows from alpha and beta";
}

// A point of the twist outside the subgroup: nearly all are, so the first x with a root serves.
TEST_F(DamagedDocuments, AKeyPointOutsideTheSubgroupIsRefused) {
  for (std::uint64_t k = 1;; ++k) {
    const Bn::Fp2 x{Bn::Fp::from_u64(k), Bn::Fp::zero()};
    const auto y = field::square_root(x.squared() * x + Bn::G2::b());
    if (!y) continue;
    key_["vk_gamma_2"][0] = Json::array({std::to_string(k), "0"});
    key_["vk_gamma_2"][1] = Json::array({field::to_decimal(y->c0), field::to_decimal(y->c1)});
    break;
  }
  EXPECT_TRUE(refused(key(key_), ErrorKind::kMalformed,
                      {"vk_gamma_2", "not in the prime-order subgroup of BN254 G2"}));
}

TEST_F(DamagedDocuments, ShortenedOnesAreRefusedAtEveryLength) {
  const std::string text = to_snarkjs_text(key_);
  testing::expect_every_truncation_refused(bytes_of(text), 400, [](const base::Bytes& bytes) {
    return parse_verification_key<Bn>(bytes, "vk.json");
  });
}

}  // namespace
}  // namespace cuzk::formats
