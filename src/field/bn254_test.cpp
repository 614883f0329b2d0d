// The field laws in every field of the curve's tower, and the family's own relations.
//
// The moduli are literals in the header; here they are computed from the parameter x.
#include "field/bn254.h"

#include "field/field_laws_test_support.h"

namespace cuzk::field {
namespace {

namespace curve = bn254;
using Bn254Fields = ::testing::Types<curve::Fp, curve::Fr, curve::Fp2, curve::Fp6, curve::Fp12>;
INSTANTIATE_TYPED_TEST_SUITE_P(Bn254, FieldLaws, Bn254Fields);

// Both moduli are polynomials in x that differ by 6 x^2.
TEST(Bn254Fields, ModuliFollowFromTheFamilyParameter) {
  using curve::Fp;
  using curve::Fr;
  constexpr std::uint64_t kX = 4965661367192848881;
  // p - r = 6 x^2 as integers: 127 bits.
  Limbs<4> difference;
  EXPECT_EQ(sub_borrow(difference, Fp::Params::kModulus, Fr::Params::kModulus), 0u);
  const WideLimb six_x_squared = WideLimb{kX} * kX * 6;
  const Limbs<4> expected = {
      {static_cast<Limb>(six_x_squared), static_cast<Limb>(six_x_squared >> 64)}};
  EXPECT_EQ(difference, expected);
  // 36x^4 + 36x^3 + 24x^2 + 6x + 1 = p is zero modulo p, and likewise with 18x^2 modulo r.
  const auto polynomial = []<class F>(F x, std::uint64_t square_factor) {
    const F x2 = x.squared();
    return x2.squared() * F::from_u64(36) + x2 * x * F::from_u64(36) +
           x2 * F::from_u64(square_factor) + x * F::from_u64(6) + F::one();
  };
  EXPECT_TRUE(polynomial(Fp::from_u64(kX), 24).is_zero());
  EXPECT_TRUE(polynomial(Fr::from_u64(kX), 18).is_zero());
}

TEST(Bn254Fields, ScalarsHaveARootOfUnityOfOrder2To28) {
  curve::Fr root = curve::Fr::two_adic_root();
  for (int i = 0; i < 27; ++i) root = root.squared();
  EXPECT_EQ(root, -curve::Fr::one());
}

}  // namespace
}  // namespace cuzk::field
