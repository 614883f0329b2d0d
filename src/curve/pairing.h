// The optimal ate pairing of both curves, as values in Fp12 and as product checks.
//
// Products of several pairings share one Miller loop and one final exponentiation. A point of G2
// that is used again and again (a verifying key's gamma and delta) is prepared once: its lines are
// stored. Points must be in their subgroups; for others the answer means nothing, but nothing
// breaks.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "curve/groups.h"

namespace cuzk::curve {

// Where pairings take their values: the subgroup of order r of Fp12, written multiplicatively. The
// type holds any element of Fp12; only final_exponentiation() leads into the subgroup.
template <class C>
using Gt = field::Dodecic<typename C::Tower>;

// One pair of points of a product of pairings.
template <class C>
struct PairingInput {
  typename C::G1Affine p;
  typename C::G2Affine q;
};

// The lines of the Miller loop of one point of G2: 69 of 288 bytes for BLS12-381, about 90 of 192
// for BN254. Immutable, may be shared by threads.
template <class C>
class PreparedG2 {
 public:
  // A line a + b x_P + c y_P, each coefficient standing at its twist's power of w.
  struct Line {
    typename C::Fp2 a, b, c;
  };

  // Infinity.
  PreparedG2() = default;
  explicit PreparedG2(const typename C::G2Affine& q);

  bool is_infinity() const noexcept { return lines_.empty(); }
  std::span<const Line> lines() const noexcept { return lines_; }

 private:
  std::vector<Line> lines_;
};

// One factor e(p, q); `q` is borrowed.
template <class C>
struct PairingTerm {
  typename C::G1Affine p;
  const PreparedG2<C>* q;
};

// The product of the Miller functions; only its final exponentiation is a pairing value. Products
// of Miller values may be formed before that.
template <class C>
Gt<C> miller_loop(std::span<const PairingTerm<C>> terms);

// f^(k (p^12 - 1) / r) for a fixed k prime to r: 3 for BLS12-381 (Hayashida, Hayasaka, Teruya,
// ePrint 2020/875), 2x (6x^2 + 3x + 1) for BN254 (Fuentes-Castaneda, Knapp, Rodriguez-Henriquez,
// SAC 2011).
template <class C>
Gt<C> final_exponentiation(const Gt<C>& f);

// e(p, q): bilinear, not degenerate, one when either is infinity.
template <class C>
Gt<C> pairing(const typename C::G1Affine& p, const typename C::G2Affine& q);

// The product of all e(p_i, q_i).
template <class C>
Gt<C> pairing_product(std::span<const PairingTerm<C>> terms);

// Whether the product of e(p_i, q_i) is one: one shared Miller loop, one final exponentiation. A
// pair with infinity contributes one. Points must be in their subgroups.
template <class C>
bool pairing_product_is_one(std::span<const PairingInput<C>> pairs);

#define CUZK_PAIRING_EXTERN(C)                                               \
  extern template class PreparedG2<C>;                                       \
  extern template Gt<C> miller_loop<C>(std::span<const PairingTerm<C>>);     \
  extern template Gt<C> final_exponentiation<C>(const Gt<C>&);               \
  extern template Gt<C> pairing<C>(const C::G1Affine&, const C::G2Affine&);  \
  extern template Gt<C> pairing_product<C>(std::span<const PairingTerm<C>>); \
  extern template bool pairing_product_is_one(std::span<const PairingInput<C>>);
CUZK_PAIRING_EXTERN(Bls12_381)
CUZK_PAIRING_EXTERN(Bn254)
#undef CUZK_PAIRING_EXTERN

}  // namespace cuzk::curve
