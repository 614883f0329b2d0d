// The field laws in every field of the curve's tower, and the family's own relations.
//
// The moduli are literals in the header; here they are computed from the parameter z.
#include "field/bls12_381.h"

#include "field/field_laws_test_support.h"

namespace cuzk::field {
namespace {

namespace curve = bls12_381;
using Bls12_381Fields = ::testing::Types<curve::Fp, curve::Fr, curve::Fp2, curve::Fp6, curve::Fp12>;
INSTANTIATE_TYPED_TEST_SUITE_P(Bls12_381, FieldLaws, Bls12_381Fields);

// The family parameter is -kZ.
constexpr std::uint64_t kZ = 0xd201000000010000;

// With integers wider than a limb held as elements of the other field, where they do not wrap:
// r = z^4 - z^2 + 1 as an element of Fp.
TEST(Bls12_381Fields, ModuliFollowFromTheFamilyParameter) {
  using curve::Fp;
  using curve::Fr;
  const Fp z2 = Fp::from_u64(kZ).squared();
  Limbs<6> r;
  for (std::size_t i = 0; i < 4; ++i) r[i] = Fr::Params::kModulus[i];
  EXPECT_EQ(z2.squared() - z2 + Fp::one(), Fp::from_canonical({r}));
  // 3 (p - z) = (z - 1)^2 r; modulo p this says -3 z = (z - 1)^2 r, with z = -kZ.
  const Fp z = -Fp::from_u64(kZ), z_minus_1 = z - Fp::one();
  EXPECT_EQ(-(z + z + z), z_minus_1.squared() * Fp::from_canonical({r}));
}

TEST(Bls12_381Fields, ScalarsHaveARootOfUnityOfOrder2To32) {
  curve::Fr root = curve::Fr::two_adic_root();
  for (int i = 0; i < 31; ++i) root = root.squared();
  EXPECT_EQ(root, -curve::Fr::one());
}

}  // namespace
}  // namespace cuzk::field
