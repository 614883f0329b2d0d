// The efficient endomorphisms of both curves: multiplication by known eigenvalues for almost
// nothing.
//
// On G1, phi(x, y) = (beta x, y) with beta a cube root of one; phi^2 + phi + 1 = 0. On G2, psi =
// untwist, p-power Frobenius, twist; psi^2 - t psi + p = 0 with t the trace of E(Fp). On the
// subgroup of order r, phi is a cube root of one mod r (-z^2 or z^2 - 1 for BLS12-381) and psi is
// [p] = [t - 1]: [z] for BLS12-381, [6 x^2] for BN254.
#pragma once

#include "curve/groups.h"

namespace cuzk::curve {

// A cube root of one in C::Fp, not one: generator^((p-1)/3).
template <class C>
const typename C::Fp& cube_root_of_one();

// The cube root of one with phi = [-z^2] on the subgroup of BLS12-381 G1; the other belongs to z^2
// - 1.
const Bls12_381::Fp& phi_factor();

// (beta x, y). Maps infinity to itself.
template <class G>
Affine<G> phi(const Affine<G>& p, const typename G::Field& beta) {
  return {p.x * beta, p.y};
}

// psi of a point of G2's curve, of any order. Maps infinity to itself.
template <class C>
typename C::G2Affine psi(const typename C::G2Affine& p);

extern template const Bls12_381::Fp& cube_root_of_one<Bls12_381>();
extern template const Bn254::Fp& cube_root_of_one<Bn254>();
extern template Bls12_381::G2Affine psi<Bls12_381>(const Bls12_381::G2Affine&);
extern template Bn254::G2Affine psi<Bn254>(const Bn254::G2Affine&);

}  // namespace cuzk::curve
