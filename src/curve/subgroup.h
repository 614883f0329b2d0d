// Membership in the subgroup of prime order r: what a decoder asks of a point from outside.
//
// Variable time, for public points only. Being on the curve is a precondition and not checked here.
#pragma once

#include <span>

#include "curve/groups.h"

namespace cuzk::curve {

// Whether r * p is infinity. `p` must be on the curve. Uses the curve's endomorphism where one is
// known (Bowe 2019; Scott 2021), and equals the definition (checked against it in tests).
template <class G>
bool is_in_subgroup(const Affine<G>& p);

extern template bool is_in_subgroup<Bls12_381::G1>(const Affine<Bls12_381::G1>&);
extern template bool is_in_subgroup<Bls12_381::G2>(const Affine<Bls12_381::G2>&);
extern template bool is_in_subgroup<Bn254::G1>(const Affine<Bn254::G1>&);
extern template bool is_in_subgroup<Bn254::G2>(const Affine<Bn254::G2>&);

}  // namespace cuzk::curve
