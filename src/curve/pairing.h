// The optimal ate pairing of both curves.
#pragma once

#include <span>
#include <utility>

#include "curve/groups.h"

namespace cuzk::curve {

template <class C>
struct PairingInput {
  typename C::G1Affine p;
  typename C::G2Affine q;
};

// Whether the product of e(p_i, q_i) is one: one shared Miller loop, one final exponentiation. A pair
// with infinity contributes one. Points must be in their subgroups.
template <class C>
bool pairing_product_is_one(std::span<const PairingInput<C>> pairs);

extern template bool pairing_product_is_one<Bls12_381>(std::span<const PairingInput<Bls12_381>>);
extern template bool pairing_product_is_one<Bn254>(std::span<const PairingInput<Bn254>>);

}  // namespace cuzk::curve
