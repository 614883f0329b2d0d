// Subgroup checks by endomorphisms.
//
// phi and psi satisfy a quadratic equation on the whole curve, so an identity a + b psi = 0 at P
// makes P a point whose order divides the norm a^2 + a b t + b^2 p. Where that norm and the curve's
// order have greatest common divisor r, the identity proves that P is in the subgroup; on the
// subgroup itself psi is the eigenvalue, which makes the identity true. tools/derive_constants.py
// checks the divisors; subgroup_test.cpp compares with the definition. Sources: Bowe, ePrint
// 2019/814; Scott, ePrint 2021/1130; El Housni, Guillevic, Piellard, ePrint 2022/352; Dai, Lin,
// Zhao, Zhou, ePrint 2022/348 (the short form for BN curves).
#include "curve/subgroup.h"

#include "base/check.h"
#include "curve/endomorphism.h"

namespace cuzk::curve {
namespace {

// [|z|] P: few set bits in z for BLS12-381, so plain double-and-add.
template <class C, class G, class Point>
Jacobian<G> times_parameter(const Point& p) {
  static_assert(C::kParameter != 0, "the leading bit is taken before the loop");
  Jacobian<G> out = Jacobian<G>::infinity() + p;
  const field::Limbs<1> z = {{C::kParameter}};
  for (std::size_t i = z.bit_length() - 1; i > 0; --i) {
    out = out.doubled();
    if (z.bit(i - 1)) out += p;
  }
  return out;
}

// [-z^2] P = phi(P): norm z^4 - z^2 + 1 = r.
bool is_member(const Affine<Bls12_381::G1>& p) {
  using G1 = Bls12_381::G1;
  const auto z_squared_p = times_parameter<Bls12_381, G1>(times_parameter<Bls12_381, G1>(p));
  return -z_squared_p == Jacobian<G1>::from_affine(phi(p, phi_factor()));
}

// [z] P = psi(P): norm z^2 - z t + p = (z - 1)^2 r / 3, whose cofactor is coprime to that of G2.
bool is_member(const Affine<Bls12_381::G2>& p) {
  using G2 = Bls12_381::G2;
  static_assert(Bls12_381::kParameterIsNegative);
  const auto z_p = -times_parameter<Bls12_381, G2>(p);
  return z_p == Jacobian<G2>::from_affine(psi<Bls12_381>(p));
}

// The curve's order is r: every point is a member (kCofactorG1 of derived_constants.h).
bool is_member(const Affine<Bn254::G1>&) { return true; }

// [x + 1] P + psi([x] P) + psi^2([x] P) = psi^3([2x] P).
bool is_member(const Affine<Bn254::G2>& p) {
  using G2 = Bn254::G2;
  static_assert(!Bn254::kParameterIsNegative);
  // psi wants affine points, so one inversion; it also makes the additions below mixed ones.
  const Affine<G2> x_p = times_parameter<Bn254, G2>(p).to_affine();
  const Affine<G2> once = psi<Bn254>(x_p), twice = psi<Bn254>(once);
  auto left = Jacobian<G2>::from_affine(x_p) + p;
  left += once;
  left += twice;
  return left == Jacobian<G2>::from_affine(psi<Bn254>(twice)).doubled();
}

}  // namespace

template <class G>
bool is_in_subgroup(const Affine<G>& p) {
  CUZK_DEBUG_ASSERT(p.is_on_curve());
  return p.is_infinity() || is_member(p);
}

template bool is_in_subgroup<Bls12_381::G1>(const Affine<Bls12_381::G1>&);
template bool is_in_subgroup<Bls12_381::G2>(const Affine<Bls12_381::G2>&);
template bool is_in_subgroup<Bn254::G1>(const Affine<Bn254::G1>&);
template bool is_in_subgroup<Bn254::G2>(const Affine<Bn254::G2>&);

}  // namespace cuzk::curve
