// The constants that the C++ code derives equal those that tools/derive_constants.py derives.
//
// The script shares no code with the product and starts from the family's parameter, so an error
// would have to be made twice.
#include "curve/derived_constants.h"

#include <gtest/gtest.h>

#include "curve/endomorphism.h"
#include "curve/groups.h"
#include "field/tower.h"

namespace cuzk::curve {
namespace {

template <class F>
F element(std::string_view hex) {
  return F::from_canonical({field::limbs_from_hex<F::kLimbCount>(hex)});
}

// The constants of one field, by prefix; a macro because they are names in a namespace.
#define CUZK_EXPECT_FIELD(F, SPACE, PREFIX)                                                    \
  do {                                                                                         \
    constexpr std::size_t kLimbs = F::kLimbCount;                                              \
    EXPECT_EQ(F::Params::kModulus, field::limbs_from_hex<kLimbs>(SPACE::PREFIX##Modulus));     \
    EXPECT_EQ(F::kR, field::limbs_from_hex<kLimbs>(SPACE::PREFIX##R));                         \
    EXPECT_EQ(F::kRSquared, field::limbs_from_hex<kLimbs>(SPACE::PREFIX##RSquared));           \
    EXPECT_EQ(F::kNegatedInverse, field::limbs_from_hex<1>(SPACE::PREFIX##NegatedInverse)[0]); \
    EXPECT_EQ(F::kTwoAdicity, field::limbs_from_hex<1>(SPACE::PREFIX##TwoAdicity)[0]);         \
    EXPECT_EQ(F::two_adic_root(), element<F>(SPACE::PREFIX##TwoAdicRoot));                     \
  } while (false)

#define CUZK_EXPECT_FROBENIUS(C, SPACE, I)                    \
  EXPECT_EQ(field::Dodecic<C::Tower>::frobenius_powers()[I],  \
            (C::Fp2{element<C::Fp>(SPACE::kFrobenius##I##C0), \
                    element<C::Fp>(SPACE::kFrobenius##I##C1)}))

#define CUZK_EXPECT_CURVE(C, SPACE)                                          \
  do {                                                                       \
    CUZK_EXPECT_FIELD(C::Fp, SPACE, kFp);                                    \
    CUZK_EXPECT_FIELD(C::Fr, SPACE, kFr);                                    \
    EXPECT_EQ(cube_root_of_one<C>(), element<C::Fp>(SPACE::kCubeRootOfOne)); \
    CUZK_EXPECT_FROBENIUS(C, SPACE, 1);                                      \
    CUZK_EXPECT_FROBENIUS(C, SPACE, 2);                                      \
    CUZK_EXPECT_FROBENIUS(C, SPACE, 3);                                      \
    CUZK_EXPECT_FROBENIUS(C, SPACE, 4);                                      \
    CUZK_EXPECT_FROBENIUS(C, SPACE, 5);                                      \
  } while (false)

TEST(DerivedConstants, OfBls12_381AgreeWithTheScript) {
  CUZK_EXPECT_CURVE(Bls12_381, derived::bls12_381);
}

TEST(DerivedConstants, OfBn254AgreeWithTheScript) { CUZK_EXPECT_CURVE(Bn254, derived::bn254); }

}  // namespace
}  // namespace cuzk::curve
