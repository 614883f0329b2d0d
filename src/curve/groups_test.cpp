// The group laws in all four groups, and the curve constants.
//
// The laws themselves are in group_laws_test_support.h. Generators are published values, so that
// they lie on their curves has to be shown here.
#include "curve/groups.h"

#include "curve/group_laws_test_support.h"

namespace cuzk::curve {
namespace {

using Groups = ::testing::Types<Bls12_381::G1, Bls12_381::G2, Bn254::G1, Bn254::G2>;
INSTANTIATE_TYPED_TEST_SUITE_P(AllCurves, GroupLaws, Groups);

template <class C>
class CurveConstants : public ::testing::Test {};
using Curves = ::testing::Types<Bls12_381, Bn254>;
TYPED_TEST_SUITE(CurveConstants, Curves);

TYPED_TEST(CurveConstants, TwistFollowsFromG1) {
  using C = TypeParam;
  using Fp2 = typename C::Fp2;
  const Fp2 b = {C::G1::b(), C::Fp::zero()}, xi = C::Tower::times_xi(Fp2::one());
  EXPECT_EQ(C::G2::b(), C::kHasMultiplicativeTwist ? b * xi : b * xi.inverse());
}

// The point (0, 0) stands for infinity, which is sound because no curve here passes through it.
TYPED_TEST(CurveConstants, NoCurvePassesThroughTheOrigin) {
  EXPECT_FALSE(TypeParam::G1::b().is_zero());
  EXPECT_FALSE(TypeParam::G2::b().is_zero());
}

}  // namespace
}  // namespace cuzk::curve
