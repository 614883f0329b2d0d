// From files to proofs: real keys and witnesses, keys of our own set-up, and keys with one wrong
// bit.
#include <algorithm>

#include <gtest/gtest.h>

#include "formats/snarkjs/documents.h"
#include "formats/snarkjs/r1cs_file.h"
#include "formats/snarkjs/wtns.h"
#include "formats/snarkjs/zkey.h"
#include "formats/test_support.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"
#include "groth16/verify.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using groth16::QapConvention;
using testing::accepted;
using testing::Container;
using testing::file_of;
using testing::refused;
using Bls = curve::Bls12_381;
using Bn = curve::Bn254;

template <class C>
base::Result<groth16::Proof<C>> prove_with(const LoadedZkey<C>& zkey, base::ByteSpan witness) {
  const WtnsExpectation expected{"the key", zkey.header.wire_count, zkey.header.public_count};
  CUZK_TRY(const auto assignment, read_wtns<C>(witness, "witness.wtns", expected));
  const auto backend = groth16::make_cpu_backend<C>();
  return groth16::prove<C>(*backend, {zkey.key, zkey.shape, assignment});
}

// Proves a stored case and has the proof judged under the key that snarkjs exported.
template <class C>
void expect_case_proves(const char* folder) {
  CUZK_DATA_OR_SKIP(path, std::string(folder) + "/circuit_final.zkey");
  const auto zkey = open_zkey<C>(path);
  ASSERT_TRUE(accepted(zkey));
  const auto base = path.parent_path();
  const auto proof = prove_with(*zkey, cuzk::testing::read_bytes(base / "witness.wtns"));
  ASSERT_TRUE(accepted(proof));
  const auto key = parse_verification_key<C>(
      cuzk::testing::read_bytes(base / "verification_key.json"), "verification_key.json");
  ASSERT_TRUE(accepted(key));
  // The text that a user would get is what is judged.
  const auto text = encode_proof_json(*proof);
  const auto again = parse_proof<C>(testing::bytes_of(text), "proof.json");
  ASSERT_TRUE(accepted(again));
  std::vector<typename C::Fr> values;
  if (const auto stored = cuzk::testing::find_data(std::string(folder) + "/public.json")) {
    const auto parsed = parse_public_values<C>(cuzk::testing::read_bytes(*stored), "public.json");
    ASSERT_TRUE(accepted(parsed));
    values = *parsed;
  } else {
    const auto assignment = open_wtns<C>(
        base / "witness.wtns", {"the key", zkey->header.wire_count, zkey->header.public_count});
    ASSERT_TRUE(accepted(assignment));
    values.assign((*assignment)->inputs.begin() + 1, (*assignment)->inputs.end());
  }
  const auto verdict = groth16::verify<C>(*key, values, *again);
  ASSERT_TRUE(accepted(verdict));
  EXPECT_TRUE(*verdict);
}

TEST(ZkeyProve, Mul1000OnBn254) { expect_case_proves<Bn>("circom/mul1000-bn128"); }
TEST(ZkeyProve, Mul1000OnBls12381) { expect_case_proves<Bls>("circom/mul1000-bls12381"); }
TEST(ZkeyProve, EpochKeyLite) { expect_case_proves<Bn>("circom/unirep-epochKeyLite"); }
TEST(ZkeyProve, Signup) { expect_case_proves<Bn>("circom/unirep-signup"); }
TEST(ZkeyProve, Rapidsnark) { expect_case_proves<Bn>("circom/rapidsnark"); }

// --- keys of our own set-up, through files ---

template <class C>
struct OwnKey {
  std::shared_ptr<const r1cs::Shape<typename C::Fr>> shape;
  std::shared_ptr<const groth16::ProvingKey<C>> key;
  Bytes witness;
  std::vector<typename C::Fr> values;
};

template <class C>
OwnKey<C> own_key(const groth16::testing::Circuit<typename C::Fr>& circuit) {
  OwnKey<C> out;
  out.shape = *read_r1cs<C>(encode_r1cs<C>(*circuit.shape()), "own.r1cs");
  out.key = *groth16::setup<C>(*out.shape, groth16::testing::test_waste<C>(),
                               QapConvention::kOddCosetLagrange);
  out.witness = encode_wtns<C>(*circuit.assignment());
  out.values = circuit.public_inputs();
  return out;
}

template <class C>
void expect_own_key_proves() {
  const auto own = own_key<C>(groth16::testing::mixed<typename C::Fr>(50, 9));
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(accepted(write_zkey(folder / "own.zkey", *own.key, *own.shape)));
  const auto zkey = open_zkey<C>(folder / "own.zkey", {.queries = KeyCheck::kSubgroup});
  ASSERT_TRUE(accepted(zkey));
  EXPECT_EQ(zkey->key->vk, own.key->vk);
  const auto proof = prove_with(*zkey, own.witness);
  ASSERT_TRUE(accepted(proof));
  const auto verdict = groth16::verify<C>(own.key->vk, own.values, *proof);
  ASSERT_TRUE(accepted(verdict));
  EXPECT_TRUE(*verdict);
}

TEST(ZkeyProve, KeysOfOurSetUpWorkThroughFiles) {
  expect_own_key_proves<Bn>();
  expect_own_key_proves<Bls>();
}

TEST(ZkeyProve, LargePublicValuesReturnDigitForDigit) {
  using Fr = Bn::Fr;
  const Fr two = Fr::from_u64(2), one = Fr::one();
  const std::vector<Fr> values = {two.pow(64), two.pow(200) + one, -one};
  groth16::testing::Circuit<Fr> circuit;
  for (const Fr& value : values) {
    const auto input = circuit.input(value);
    const auto copy = circuit.aux(value);
    circuit.enforce({{input, one}}, {{groth16::testing::kOne, one}}, {{copy, one}});
  }
  const auto own = own_key<Bn>(circuit);
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(accepted(write_zkey(folder / "own.zkey", *own.key, *own.shape)));
  const auto zkey = open_zkey<Bn>(folder / "own.zkey");
  ASSERT_TRUE(accepted(zkey));
  const auto proof = prove_with(*zkey, own.witness);
  ASSERT_TRUE(accepted(proof));
  const std::string text = encode_public_values<Bn>(own.values);
  EXPECT_EQ(text,
            "[\n \"18446744073709551616\",\n"
            " \"1606938044258990275541962092341162602522202993782792835301377\",\n"
            " \"2188824287183927522224640574525727508854836440041603434369820418657580849561"
            "6\"\n]");
  const auto parsed = parse_public_values<Bn>(testing::bytes_of(text), "public.json");
  ASSERT_TRUE(accepted(parsed));
  const auto verdict = groth16::verify<Bn>(own.key->vk, *parsed, *proof);
  ASSERT_TRUE(accepted(verdict));
  EXPECT_TRUE(*verdict);
}

// --- keys with one wrong bit: no proof leaves ---

class SuspectZkey : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = cuzk::testing::find_data("circom/mul1000-bn128/circuit_final.zkey");
    ASSERT_TRUE(path.has_value()) << "tests/data/circom/mul1000-bn128 belongs to the repository";
    container_ = Container::parse(cuzk::testing::read_bytes(*path));
    witness_ = cuzk::testing::read_bytes(path->parent_path() / "witness.wtns");
  }
  void expect_no_proof(const Container& container) const {
    const auto zkey = read_zkey<Bn>(file_of(container.encode(), "suspect.zkey"));
    ASSERT_TRUE(accepted(zkey));
    EXPECT_TRUE(refused(prove_with(*zkey, witness_), ErrorKind::kVerificationFailed,
                        {"suspect.zkey", "key", "QAP convention"}));
  }

  Container container_;
  Bytes witness_;
};

// A coordinate's low bits, in point 20 of each section.
TEST_F(SuspectZkey, OneBitInAnyQueryYieldsNoProof) {
  for (const std::uint32_t id : {5u, 6u, 7u, 8u, 9u}) {
    Container damaged = container_;
    const std::size_t point_bytes = id == 7 ? sizeof(Bn::G2Affine) : sizeof(Bn::G1Affine);
    const auto point = damaged.section(id).begin() + static_cast<std::ptrdiff_t>(20 * point_bytes);
    ASSERT_TRUE(std::any_of(point, point + static_cast<std::ptrdiff_t>(point_bytes),
                            [](std::uint8_t byte) { return byte != 0; }))
        << "a point at infinity would not be read";
    point[3] ^= 2;
    const auto zkey = read_zkey<Bn>(file_of(damaged.encode(), "suspect.zkey"));
    ASSERT_TRUE(accepted(zkey));
    const auto proof = prove_with(*zkey, witness_);
    EXPECT_TRUE(refused(proof, ErrorKind::kVerificationFailed, {"suspect.zkey", "key"}))
        << "section " << id;
  }
}

TEST_F(SuspectZkey, AKeyWithoutContributionsProvesNormally) {
  container_.remove(10);
  const auto zkey = read_zkey<Bn>(file_of(container_.encode(), "bare.zkey"));
  ASSERT_TRUE(accepted(zkey));
  EXPECT_FALSE(zkey->header.has_contributions_section);
  const auto proof = prove_with(*zkey, witness_);
  ASSERT_TRUE(accepted(proof));
  const auto values = parse_public_values<Bn>(
      cuzk::testing::read_bytes(*cuzk::testing::find_data("circom/mul1000-bn128/public.json")),
      "public.json");
  ASSERT_TRUE(accepted(values));
  const auto verdict = groth16::verify<Bn>(zkey->key->vk, *values, *proof);
  ASSERT_TRUE(accepted(verdict));
  EXPECT_TRUE(*verdict);
}

// snarkjs writes a record for each term of the .r1cs, so a wire that a combination there names
// twice has two records, and their sum counts.
TEST_F(SuspectZkey, ACoefficientInTwoRecordsIsTheirSum) {
  Bytes& section = container_.section(4);
  // As stored; that it is v R^2 does not matter to a sum.
  const auto part = Bn::Fr::from_u64(5);
  constexpr std::ptrdiff_t kRecordAt = 4 + 44 * 30;
  Bytes second(section.begin() + kRecordAt, section.begin() + kRecordAt + 44);
  const auto whole =
      Bn::Fr::from_canonical({field::load_le<Bn::Fr::kLimbCount>(second.data() + 12)});
  field::store_le((whole - part).to_canonical().value, section.data() + kRecordAt + 12);
  expect_no_proof(container_);
  field::store_le(part.to_canonical().value, second.data() + 12);
  section.insert(section.end(), second.begin(), second.end());
  base::store_u32_le(section.data(), base::load_u32_le(section.data()) + 1);
  const auto zkey = read_zkey<Bn>(file_of(container_.encode(), "parts.zkey"));
  ASSERT_TRUE(accepted(zkey));
  EXPECT_TRUE(accepted(prove_with(*zkey, witness_)));
}

TEST_F(SuspectZkey, OneBitInACoefficientYieldsNoProof) {
  container_.section(4)[4 + 44 * 30 + 12] ^= 1;
  expect_no_proof(container_);
}

// The H points of another library's set-up: powers of tau, for a quotient given by coefficients.
TEST(SuspectZkeyConvention, HPointsOfThePlainDomainYieldNoProof) {
  const auto circuit = groth16::testing::mixed<Bn::Fr>(50, 9);
  const auto own = own_key<Bn>(circuit);
  const auto plain = groth16::setup<Bn>(*own.shape, groth16::testing::test_waste<Bn>(),
                                        QapConvention::kCoefficients);
  ASSERT_TRUE(accepted(plain));
  std::vector<Bn::G1Affine> h(own.key->h.size(), Bn::G1::generator());
  (*plain)->h.decode(0, std::span(h).first((*plain)->h.size()));
  groth16::ProvingKey<Bn> mislabelled = *own.key;
  mislabelled.h = msm::PointSource<Bn::G1>(std::span<const Bn::G1Affine>(h));
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(accepted(write_zkey(folder / "foreign.zkey", mislabelled, *own.shape)));
  const auto zkey = open_zkey<Bn>(folder / "foreign.zkey", {.queries = KeyCheck::kSubgroup});
  ASSERT_TRUE(accepted(zkey)) << "every point is fine, only not the right one";
  EXPECT_TRUE(refused(prove_with(*zkey, own.witness), ErrorKind::kVerificationFailed,
                      {"foreign.zkey", "QAP convention"}));
}

}  // namespace
}  // namespace cuzk::formats
