// Curve names and recognition.
#include "formats/curve_id.h"

#include <gtest/gtest.h>

namespace cuzk::formats {
namespace {

TEST(CurveId, NamesGoBothWays) {
  for (const CurveId curve : {CurveId::kBls12_381, CurveId::kBn254}) {
    EXPECT_EQ(curve_of_snarkjs_name(snarkjs_curve_name(curve)), curve);
  }
  EXPECT_EQ(curve_name(kCurveId<curve::Bls12_381>), "BLS12-381");
  EXPECT_EQ(snarkjs_curve_name(kCurveId<curve::Bn254>), "bn128");
  for (const char* name : {"bn254", "BN254", "BN128", "alt_bn128", "altbn128"}) {
    EXPECT_EQ(curve_of_snarkjs_name(name), CurveId::kBn254) << name;
  }
  for (const char* name : {"bls12_381", "BLS12-381", "BLS12381"}) {
    EXPECT_EQ(curve_of_snarkjs_name(name), CurveId::kBls12_381) << name;
  }
  for (const char* name : {"", "bn", "bn1280", "bn256", "bls12377", "bls12-377", " bn128"}) {
    EXPECT_EQ(curve_of_snarkjs_name(name), std::nullopt) << name;
  }
}

TEST(CurveId, PrimesMustMatchInWidthAndValue) {
  std::uint8_t prime[48] = {};
  field::store_le(curve::Bls12_381::Fr::Params::kModulus, prime);
  EXPECT_EQ(curve_of_scalar_modulus({prime, 32}), CurveId::kBls12_381);
  EXPECT_EQ(curve_of_scalar_modulus({prime, 40}), std::nullopt);
  EXPECT_EQ(curve_of_base_modulus({prime, 32}), std::nullopt);
  prime[31] ^= 0x80;
  EXPECT_EQ(curve_of_scalar_modulus({prime, 32}), std::nullopt);
}

}  // namespace
}  // namespace cuzk::formats
