// Laws of the pairing on both curves.
#include "curve/pairing.h"

#include <gtest/gtest.h>

namespace cuzk::curve {
namespace {

template <class C>
class PairingLaws : public ::testing::Test {
 protected:
  using G1Affine = typename C::G1Affine;
  using G2Affine = typename C::G2Affine;
  static G1Affine g1(std::uint64_t k) {
    const auto g = Jacobian<typename C::G1>::from_affine(C::G1::generator());
    return g.scaled(field::Limbs<1>{{k}}).to_affine();
  }
  static G2Affine g2(std::uint64_t k) {
    const auto g = Jacobian<typename C::G2>::from_affine(C::G2::generator());
    return g.scaled(field::Limbs<1>{{k}}).to_affine();
  }
};

using Curves = ::testing::Types<Bls12_381, Bn254>;
TYPED_TEST_SUITE(PairingLaws, Curves);

TYPED_TEST(PairingLaws, IsBilinearAndNotDegenerate) {
  using C = TypeParam;
  const Gt<C> e = pairing<C>(this->g1(1), this->g2(1));
  EXPECT_FALSE(e.is_one());
  EXPECT_TRUE(e.pow(C::Fr::Params::kModulus).is_one());
  const std::uint64_t a = 0x9e3779b97f4a7c15, b = 0x123456789abcdef;
  const Gt<C> expected = e.pow(field::Limbs<1>{{a}}).pow(field::Limbs<1>{{b}});
  EXPECT_EQ(pairing<C>(this->g1(a), this->g2(b)), expected);
  EXPECT_EQ(pairing<C>(this->g1(b), this->g2(a)), expected);
}

}  // namespace
}  // namespace cuzk::curve
