// Multiples of single points and short sums, for verification and set-up of a few points.
//
// Many points belong to msm/. Jacobian::scaled is the naive twin of all of these. Variable time:
// the scalars are public, or the caller's own blinding on the caller's own machine.
#pragma once

#include <span>

#include "curve/groups.h"

namespace cuzk::curve {

// k p for any point of the curve, in the subgroup or not, any k.
template <class G>
Jacobian<G> scale(const Affine<G>& p, const field::Limbs<4>& k);

// k p for p in the subgroup of order r (for others the answer is wrong). The scalar is split by the
// curve's endomorphism, which halves the doublings in G1 of BLS12-381 and G2 of BN254 and quarters
// them in G2 of BLS12-381.
template <class G>
Jacobian<G> scale_member(const Affine<G>& p, const typename G::Scalar& k);

// The sum of k_i p_i for members, sharing all doublings: right for up to some dozens of points.
// points.size() == scalars.size().
template <class G>
Jacobian<G> scale_members(std::span<const Affine<G>> points,
                          std::span<const typename G::Scalar> scalars);

#define CUZK_SCALAR_MULTIPLY_EXTERN(G)                                             \
  extern template Jacobian<G> scale<G>(const Affine<G>&, const field::Limbs<4>&);  \
  extern template Jacobian<G> scale_member<G>(const Affine<G>&, const G::Scalar&); \
  extern template Jacobian<G> scale_members<G>(std::span<const Affine<G>>,         \
                                               std::span<const G::Scalar>);
CUZK_SCALAR_MULTIPLY_EXTERN(Bls12_381::G1)
CUZK_SCALAR_MULTIPLY_EXTERN(Bls12_381::G2)
CUZK_SCALAR_MULTIPLY_EXTERN(Bn254::G1)
CUZK_SCALAR_MULTIPLY_EXTERN(Bn254::G2)
#undef CUZK_SCALAR_MULTIPLY_EXTERN

}  // namespace cuzk::curve
