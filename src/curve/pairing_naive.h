// The ate pairing as a textbook has it: everything in E(Fp12), affine, by the definitions. For
// tests.
//
// Q is carried to E(Fp12), the Miller loop uses chords and tangents with divisions there, and the
// final power is taken digit by digit. Several hundred times slower than pairing.h. It shares with
// it the field tower and the choice of loop, nothing else: not the twist's coordinates, not the
// sparse products, not the cyclotomic squares, not the addition chains.
#pragma once

#include "curve/derived_constants.h"
#include "curve/pairing.h"

namespace cuzk::curve {

template <class C>
class NaivePairing {
 public:
  using Fp12 = Gt<C>;

  // The reduced pairing to the power that final_exponentiation documents.
  static Fp12 evaluate(const typename C::G1Affine& p, const typename C::G2Affine& q) {
    if (p.is_infinity() || q.is_infinity()) return Fp12::one();
    return full_power(miller(p, q));
  }

 private:
  struct Point {
    Fp12 x, y;
  };

  static Fp12 embed(const typename C::Fp& x) {
    Fp12 out = Fp12::zero();
    out.c0.c0.c0 = x;
    return out;
  }
  static Fp12 embed(const typename C::Fp2& x) {
    Fp12 out = Fp12::zero();
    out.c0.c0 = x;
    return out;
  }
  static Point untwist(const typename C::G2Affine& q) {
    Fp12 w = Fp12::zero();
    w.c1.c0 = C::Fp2::one();
    const Fp12 scale = C::kHasMultiplicativeTwist ? w.inverse() : w;
    return {embed(q.x) * scale.squared(), embed(q.y) * scale.squared() * scale};
  }

  // The line through t and s (the tangent when they are equal) at p; moves t to t + s.
  static Fp12 line(Point& t, const Point& s, const Point& p) {
    const Fp12 xx = t.x.squared();
    const Fp12 slope = t.x == s.x ? (xx.doubled() + xx) * t.y.doubled().inverse()
                                  : (s.y - t.y) * (s.x - t.x).inverse();
    const Fp12 value = p.y - t.y - slope * (p.x - t.x);
    const Fp12 x = slope.squared() - t.x - s.x;
    t = {x, slope * (t.x - x) - t.y};
    return value;
  }
  static Point frobenius(const Point& q) {
    const auto& p = C::Fp::Params::kModulus;
    return {q.x.pow(p), q.y.pow(p)};
  }

  static Fp12 miller(const typename C::G1Affine& p_affine, const typename C::G2Affine& q_affine) {
    const Point p = {embed(p_affine.x), embed(p_affine.y)}, q = untwist(q_affine);
    constexpr bool kIsBn = !C::kHasMultiplicativeTwist;
    const field::WideLimb count =
        kIsBn ? field::WideLimb{C::kParameter} * 6 + 2 : field::WideLimb{C::kParameter};
    std::size_t length = 0;
    while (count >> length != 0) ++length;
    Point t = q;
    Fp12 f = Fp12::one();
    for (std::size_t i = length - 1; i > 0; --i) {
      f = f.squared() * line(t, t, p);
      if (count >> (i - 1) & 1) f *= line(t, q, p);
    }
    if (kIsBn) {
      const Point once = frobenius(q);
      Point minus_twice = frobenius(once);
      minus_twice.y = -minus_twice.y;
      f *= line(t, once, p);
      f *= line(t, minus_twice, p);
    }
    return C::kParameterIsNegative ? f.inverse() : f;
  }

  // f^(k (p^12 - 1) / r).
  static Fp12 full_power(const Fp12& f) {
    const auto& p = C::Fp::Params::kModulus;
    Fp12 power6 = f;
    for (int i = 0; i < 6; ++i) power6 = power6.pow(p);
    const Fp12 unitary = power6 * f.inverse();
    const Fp12 easy = unitary.pow(p).pow(p) * unitary;
    if constexpr (C::kHasMultiplicativeTwist) {
      return easy.pow(field::limbs_from_hex<24>(derived::bls12_381::kHardExponent))
          .pow(field::Limbs<1>{{3}});
    } else {
      constexpr field::WideLimb x = C::kParameter;
      const field::Limb factor2 = static_cast<field::Limb>(2 * x);
      const field::WideLimb factor1 = 6 * x * x + 3 * x + 1;
      return easy.pow(field::limbs_from_hex<12>(derived::bn254::kHardExponent))
          .pow(field::Limbs<1>{{factor2}})
          .pow(field::Limbs<2>{
              {static_cast<field::Limb>(factor1), static_cast<field::Limb>(factor1 >> 64)}});
    }
  }
};

}  // namespace cuzk::curve
