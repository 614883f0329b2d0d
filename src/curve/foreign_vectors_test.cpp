// Known answers made by others: zkcrypto's multiples, constantine's scalar products, the KZG
// ceremony, and the proofs of the Filecoin network as encodings.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "curve/encoding.h"
#include "curve/pairing.h"
#include "curve/samples.h"
#include "curve/subgroup.h"
#include "tests/support/data.h"

namespace cuzk::curve {
namespace {

using base::Bytes;
using base::ByteSpan;
using G1 = Bls12_381::G1;
using G2 = Bls12_381::G2;

TEST(ZkcryptoVectors, MultiplesOfTheGeneratorOfG1) {
  CUZK_DATA_OR_SKIP(path, "vectors/zkcrypto/g1_compressed_valid_test_vectors.dat");
  const Bytes bytes = testing::read_bytes(path);
  ASSERT_EQ(bytes.size(), 1000 * kG1CompressedBytes);
  auto multiple = Jacobian<G1>::infinity();
  for (std::size_t k = 0; k < 1000; ++k, multiple += G1::generator()) {
    const ByteSpan in(bytes.data() + k * kG1CompressedBytes, kG1CompressedBytes);
    const Affine<G1> expected = multiple.to_affine();
    ASSERT_EQ(*decode_g1_compressed(in, PointCheck::kSubgroup, "point"), expected) << k;
    Bytes out(kG1CompressedBytes);
    encode_compressed(expected, out);
    ASSERT_TRUE(std::equal(out.begin(), out.end(), in.begin())) << k;
  }
}

TEST(ZkcryptoVectors, MultiplesOfTheGeneratorOfG2) {
  CUZK_DATA_OR_SKIP(path, "vectors/zkcrypto/g2_uncompressed_valid_test_vectors.dat");
  const Bytes bytes = testing::read_bytes(path);
  ASSERT_EQ(bytes.size(), 1000 * kG2UncompressedBytes);
  auto multiple = Jacobian<G2>::infinity();
  for (std::size_t k = 0; k < 1000; ++k, multiple += G2::generator()) {
    const ByteSpan in(bytes.data() + k * kG2UncompressedBytes, kG2UncompressedBytes);
    const Affine<G2> expected = multiple.to_affine();
    ASSERT_EQ(*decode_g2_uncompressed(in, PointCheck::kSubgroup, "point"), expected) << k;
    Bytes out(kG2UncompressedBytes);
    encode_uncompressed(expected, out);
    ASSERT_TRUE(std::equal(out.begin(), out.end(), in.begin())) << k;
  }
}

// constantine's JSON: hex integers with "0x", Fp2 as {c0, c1}.
template <std::size_t N>
field::Limbs<N> limbs_of(const nlohmann::json& json) {
  return field::limbs_from_hex<N>(json.get<std::string>().substr(2));
}
template <class P>
void read(const nlohmann::json& json, field::PrimeField<P>& out) {
  out = field::PrimeField<P>::from_canonical({limbs_of<P::kLimbCount>(json)});
}
template <class F>
void read(const nlohmann::json& json, field::Quadratic<F>& out) {
  read(json["c0"], out.c0);
  read(json["c1"], out.c1);
}
template <class G>
Affine<G> point_of(const nlohmann::json& json) {
  Affine<G> out;
  read(json["x"], out.x);
  read(json["y"], out.y);
  return out;
}

template <class G>
void expect_scalar_products(const std::filesystem::path& path) {
  const auto json = nlohmann::json::parse(std::ifstream(path));
  EXPECT_EQ(limbs_of<G::Scalar::kLimbCount>(json["order"]), G::Scalar::Params::kModulus);
  ASSERT_FALSE(json["vectors"].empty());
  for (const auto& vector : json["vectors"]) {
    const auto p = point_of<G>(vector["P"]), expected = point_of<G>(vector["Q"]);
    const auto k = limbs_of<G::Scalar::kLimbCount>(vector["scalar"]);
    EXPECT_TRUE(p.is_on_curve() && is_in_subgroup(p)) << vector["id"];
    EXPECT_EQ(Jacobian<G>::from_affine(p).scaled(k).to_affine(), expected) << vector["id"];
  }
}

#define CUZK_CONSTANTINE_TEST(NAME, G, FILE)                 \
  TEST(ConstantineVectors, NAME) {                           \
    CUZK_DATA_OR_SKIP(path, "vectors/constantine/tv_" FILE); \
    expect_scalar_products<G>(path);                         \
  }
CUZK_CONSTANTINE_TEST(Bls12_381G1Wide, G1, "BLS12_381_scalar_mul_G1_255bit.json")
CUZK_CONSTANTINE_TEST(Bls12_381G1Narrow, G1, "BLS12_381_scalar_mul_G1_64bit.json")
CUZK_CONSTANTINE_TEST(Bls12_381G2Wide, G2, "BLS12_381_scalar_mul_G2_255bit.json")
CUZK_CONSTANTINE_TEST(Bls12_381G2Narrow, G2, "BLS12_381_scalar_mul_G2_64bit.json")
CUZK_CONSTANTINE_TEST(Bn254G1Wide, Bn254::G1, "BN254_Snarks_scalar_mul_G1_254bit.json")
CUZK_CONSTANTINE_TEST(Bn254G1Narrow, Bn254::G1, "BN254_Snarks_scalar_mul_G1_64bit.json")
CUZK_CONSTANTINE_TEST(Bn254G2Wide, Bn254::G2, "BN254_Snarks_scalar_mul_G2_254bit.json")
CUZK_CONSTANTINE_TEST(Bn254G2Narrow, Bn254::G2, "BN254_Snarks_scalar_mul_G2_64bit.json")
#undef CUZK_CONSTANTINE_TEST

// The Ethereum KZG ceremony: L_i(tau) G in Lagrange form, tau^i H, tau^i G.
class KzgCeremony : public ::testing::Test {
 protected:
  static constexpr std::size_t kG1Count = 4096, kG2Count = 65;
  // Subgroup checks and pairings on every kStride-th point only; all are decoded.
  static constexpr std::size_t kStride = 32;

  void read(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::size_t g1_count = 0, g2_count = 0;
    in >> g1_count >> g2_count;
    ASSERT_EQ(g1_count, kG1Count);
    ASSERT_EQ(g2_count, kG2Count);
    for (std::size_t i = 0; i < kG1Count; ++i) lagrange_.push_back(next_g1(in, i));
    for (std::size_t i = 0; i < kG2Count; ++i) {
      std::string hex;
      in >> hex;
      powers_g2_.push_back(*decode_g2_compressed(*base::from_hex(hex, "power"),
                                                 PointCheck::kSubgroup, "power in G2"));
    }
    for (std::size_t i = 0; i < kG1Count; ++i) powers_g1_.push_back(next_g1(in, i));
  }

  std::vector<Affine<G1>> lagrange_, powers_g1_;
  std::vector<Affine<G2>> powers_g2_;

 private:
  static Affine<G1> next_g1(std::ifstream& in, std::size_t index) {
    std::string hex;
    in >> hex;
    const auto check = index % kStride == 0 ? PointCheck::kSubgroup : PointCheck::kOnCurve;
    return *decode_g1_compressed(*base::from_hex(hex, "point"), check, "point in G1");
  }
};

TEST_F(KzgCeremony, PointsDecodeAndBelongTogether) {
  CUZK_DATA_OR_SKIP(path, "vectors/kzg/trusted_setup.txt");
  read(path);
  EXPECT_EQ(powers_g1_[0], G1::generator());
  EXPECT_EQ(powers_g2_[0], G2::generator());
  auto sum = Jacobian<G1>::infinity();
  for (const auto& p : lagrange_) sum += p;
  EXPECT_EQ(sum.to_affine(), G1::generator());
  // e(tau^i G, H) = e(tau^(i-j) G, tau^j H)
  for (const std::size_t i : {64, 1000, 4095}) {
    for (const std::size_t j : {1, 2, 64}) {
      const PairingInput<Bls12_381> pairs[] = {{powers_g1_[i], powers_g2_[0]},
                                               {-powers_g1_[i - j], powers_g2_[j]}};
      EXPECT_TRUE(pairing_product_is_one<Bls12_381>(pairs)) << i << " " << j;
      const PairingInput<Bls12_381> wrong[] = {{powers_g1_[i], powers_g2_[0]},
                                               {-powers_g1_[i - j], powers_g2_[j - 1]}};
      EXPECT_FALSE(pairing_product_is_one<Bls12_381>(wrong)) << i << " " << j;
    }
  }
}

// A Groth16 proof is A in G1, B in G2, C in G1, compressed: 192 bytes.
void expect_valid_points(ByteSpan proof, const std::string& name) {
  Bytes again(192);
  const auto a = decode_g1_compressed(proof.subspan(0, 48), PointCheck::kSubgroup, name + " A");
  const auto b = decode_g2_compressed(proof.subspan(48, 96), PointCheck::kSubgroup, name + " B");
  const auto c = decode_g1_compressed(proof.subspan(144, 48), PointCheck::kSubgroup, name + " C");
  ASSERT_TRUE(a.ok()) << a.error().message;
  ASSERT_TRUE(b.ok()) << b.error().message;
  ASSERT_TRUE(c.ok()) << c.error().message;
  encode_compressed(*a, std::span(again).subspan(0, 48));
  encode_compressed(*b, std::span(again).subspan(48, 96));
  encode_compressed(*c, std::span(again).subspan(144, 48));
  EXPECT_TRUE(std::equal(again.begin(), again.end(), proof.begin())) << name;
}

TEST(FilecoinProofs, PointsOfEveryOnchainProofAreMembers) {
  CUZK_DATA_OR_SKIP(path, "filecoin/onchain_proofs.json");
  const auto json = nlohmann::json::parse(std::ifstream(path));
  std::size_t count = 0;
  for (const auto& message : json) {
    const std::string name = message["vector"];
    for (const auto& hex : message["proofs"]) {
      const Bytes bytes = *base::from_hex(hex.get<std::string>(), name);
      ASSERT_EQ(bytes.size() % 192, 0u);
      for (std::size_t at = 0; at < bytes.size(); at += 192, ++count) {
        expect_valid_points(ByteSpan(bytes).subspan(at, 192), name);
      }
    }
  }
  EXPECT_EQ(count, 596u);
}

TEST(FilecoinProofs, PointsOfEveryRegressionRecordAreMembers) {
  CUZK_DATA_OR_SKIP(path, "filecoin/seal_regression_records-v18.json");
  std::ifstream in(path);
  std::size_t count = 0, record = 0;
  for (std::string line; std::getline(in, line); ++record) {
    const Bytes bytes = nlohmann::json::parse(line)["proof"];
    const bool is_aggregate = bytes.size() % 192 != 0;
    if (is_aggregate) continue;
    for (std::size_t at = 0; at < bytes.size(); at += 192, ++count) {
      expect_valid_points(ByteSpan(bytes).subspan(at, 192), "record " + std::to_string(record));
    }
  }
  EXPECT_EQ(record, 113u);
  EXPECT_EQ(count, 98u);
}

}  // namespace
}  // namespace cuzk::curve
