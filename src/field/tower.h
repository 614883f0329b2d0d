// Fp6 = Fp2[v] / (v^3 - xi) and Fp12 = Fp6[w] / (w^2 - v): where pairings take their values.
//
// A parameter struct T gives Fp2 and times_xi(a) = xi a. In powers of w an element of Fp12 reads
// c0.c0 + c1.c0 w + c0.c1 w^2 + c1.c1 w^3 + c0.c2 w^4 + c1.c2 w^5, with w^6 = xi.
// Frobenius constants follow from the modulus: w^p = w xi^((p-1)/6), since p = 1 mod 6.
// Sources: Devegili, O hEigeartaigh, Scott, Dahab, ePrint 2006/471 (products and squares);
// Granger and Scott, PKC 2010 (squares in the cyclotomic subgroup).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "field/limbs.h"
#include "field/power.h"

namespace cuzk::field {

// c0 + c1 v + c2 v^2 with v^3 = xi. Product: six products of Fp2.
template <class T>
struct Cubic {
  using Fp2 = typename T::Fp2;
  Fp2 c0, c1, c2;

  CUZK_HD static constexpr Cubic zero() { return {}; }
  CUZK_HD static constexpr Cubic one() { return {Fp2::one(), {}, {}}; }
  CUZK_HD constexpr bool operator==(const Cubic&) const = default;
  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero() && c2.is_zero(); }

  CUZK_HD friend constexpr Cubic operator+(const Cubic& a, const Cubic& b) {
    return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
  }
  CUZK_HD friend constexpr Cubic operator-(const Cubic& a, const Cubic& b) {
    return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
  }
  CUZK_HD constexpr Cubic operator-() const { return {-c0, -c1, -c2}; }
  CUZK_HD constexpr Cubic& operator+=(const Cubic& b) { return *this = *this + b; }
  CUZK_HD constexpr Cubic& operator-=(const Cubic& b) { return *this = *this - b; }
  CUZK_HD constexpr Cubic& operator*=(const Cubic& b) { return *this = *this * b; }
  CUZK_HD constexpr Cubic doubled() const { return *this + *this; }
  // Karatsuba on each pair of coefficients: six products instead of nine.
  CUZK_HD friend constexpr Cubic operator*(const Cubic& a, const Cubic& b) {
    const Fp2 low = a.c0 * b.c0, mid = a.c1 * b.c1, high = a.c2 * b.c2;
    return {low + T::times_xi((a.c1 + a.c2) * (b.c1 + b.c2) - mid - high),
            (a.c0 + a.c1) * (b.c0 + b.c1) - low - mid + T::times_xi(high),
            (a.c0 + a.c2) * (b.c0 + b.c2) - low - high + mid};
  }
  // The second method of Chung and Hasan (ARITH 2007): two products and three squares.
  CUZK_HD constexpr Cubic squared() const {
    const Fp2 s0 = c0.squared(), s1 = (c0 * c1).doubled();
    const Fp2 s2 = (c0 - c1 + c2).squared(), s3 = (c1 * c2).doubled(), s4 = c2.squared();
    return {s0 + T::times_xi(s3), s1 + T::times_xi(s4), s1 + s2 + s3 - s0 - s4};
  }
  // this * (b0 + b1 v): five products.
  CUZK_HD constexpr Cubic times_sparse(const Fp2& b0, const Fp2& b1) const {
    const Fp2 low = c0 * b0, mid = c1 * b1;
    return {low + T::times_xi((c1 + c2) * b1 - mid), (c0 + c1) * (b0 + b1) - low - mid,
            (c0 + c2) * b0 - low + mid};
  }
  CUZK_HD constexpr Cubic scaled(const Fp2& k) const { return {c0 * k, c1 * k, c2 * k}; }
  template <std::size_t M>
  CUZK_HD constexpr Cubic pow(const Limbs<M>& e) const {
    return power(*this, e);
  }
  // Coefficients move up; v^3 comes back as xi.
  CUZK_HD constexpr Cubic times_v() const { return {T::times_xi(c2), c0, c1}; }
  // Zero for zero. By the norm down to Fp2: one inverse there, nine products and three squares.
  CUZK_HD constexpr Cubic inverse() const {
    const Fp2 a = c0.squared() - T::times_xi(c1 * c2);
    const Fp2 b = T::times_xi(c2.squared()) - c0 * c1;
    const Fp2 c = c1.squared() - c0 * c2;
    const Fp2 scale = (T::times_xi(c2 * b + c1 * c) + c0 * a).inverse();
    return {a * scale, b * scale, c * scale};
  }
};

// c0 + c1 w with w^2 = v. Operations that say "cyclotomic" give nonsense for elements outside of
// that subgroup, where the final exponentiation of a pairing brings them.
template <class T>
struct Dodecic {
  using Fp2 = typename T::Fp2;
  using Fp6 = Cubic<T>;
  Fp6 c0, c1;

  CUZK_HD static constexpr Dodecic zero() { return {}; }
  CUZK_HD static constexpr Dodecic one() { return {Fp6::one(), {}}; }
  CUZK_HD constexpr bool operator==(const Dodecic&) const = default;
  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  CUZK_HD constexpr bool is_one() const { return *this == one(); }

  CUZK_HD friend constexpr Dodecic operator+(const Dodecic& a, const Dodecic& b) {
    return {a.c0 + b.c0, a.c1 + b.c1};
  }
  CUZK_HD friend constexpr Dodecic operator-(const Dodecic& a, const Dodecic& b) {
    return {a.c0 - b.c0, a.c1 - b.c1};
  }
  CUZK_HD constexpr Dodecic operator-() const { return {-c0, -c1}; }
  CUZK_HD constexpr Dodecic& operator+=(const Dodecic& b) { return *this = *this + b; }
  CUZK_HD constexpr Dodecic& operator-=(const Dodecic& b) { return *this = *this - b; }
  CUZK_HD constexpr Dodecic& operator*=(const Dodecic& b) { return *this = *this * b; }
  CUZK_HD constexpr Dodecic doubled() const { return *this + *this; }
  CUZK_HD friend constexpr Dodecic operator*(const Dodecic& a, const Dodecic& b) {
    const Fp6 low = a.c0 * b.c0, high = a.c1 * b.c1;
    return {low + high.times_v(), (a.c0 + a.c1) * (b.c0 + b.c1) - low - high};
  }
  // Two products of Fp6 (complex squaring over v), where a product has three.
  CUZK_HD constexpr Dodecic squared() const {
    const Fp6 cross = c0 * c1;
    return {(c0 + c1) * (c0 + c1.times_v()) - cross - cross.times_v(), cross.doubled()};
  }
  // this * (l0 + l2 w^2 + l3 w^3): a line of a multiplicative twist.
  CUZK_HD constexpr Dodecic times_line_023(const Fp2& l0, const Fp2& l2, const Fp2& l3) const {
    const Fp6 low = c0.times_sparse(l0, l2);
    const Fp6 high = c1.scaled(l3).times_v();
    return {low + high.times_v(), (c0 + c1).times_sparse(l0, l2 + l3) - low - high};
  }
  // this * (l0 + l1 w + l3 w^3): a line of a divisive twist.
  CUZK_HD constexpr Dodecic times_line_013(const Fp2& l0, const Fp2& l1, const Fp2& l3) const {
    const Fp6 low = c0.scaled(l0), high = c1.times_sparse(l1, l3);
    return {low + high.times_v(), (c0 + c1).times_sparse(l0 + l1, l3) - low - high};
  }
  // this^(p^6), which in the cyclotomic subgroup is the inverse.
  CUZK_HD constexpr Dodecic conjugate() const { return {c0, -c1}; }
  // Zero for zero. By the norm down to Fp6.
  CUZK_HD constexpr Dodecic inverse() const {
    const Fp6 scale = (c0.squared() - c1.squared().times_v()).inverse();
    return {c0 * scale, -(c1 * scale)};
  }
  template <std::size_t M>
  CUZK_HD constexpr Dodecic pow(const Limbs<M>& e) const {
    return power(*this, e);
  }

  // this^p: conjugates of the parts, times what w^i picks up. Five products of Fp2.
  Dodecic frobenius() const {
    const auto& g = frobenius_powers();
    return {{c0.c0.conjugate(), c0.c1.conjugate() * g[2], c0.c2.conjugate() * g[4]},
            {c1.c0.conjugate() * g[1], c1.c1.conjugate() * g[3], c1.c2.conjugate() * g[5]}};
  }
  // The six w^(i (p - 1)) = xi^(i (p - 1) / 6), i < 6, computed at first use, by any thread, and
  // kept. Not for devices, which have no such statics: nor is frobenius().
  static const std::array<Fp2, 6>& frobenius_powers() {
    static const std::array<Fp2, 6> powers = [] {
      using Fp = typename Fp2::Base;
      constexpr auto order = Fp::Constants::modulus_minus(1), exponent = quotient(order, 6);
      static_assert(exponent[0] * 6 == order[0], "p = 1 mod 6, so the division leaves no rest");
      const Fp2 root = T::times_xi(Fp2::one()).pow(exponent);
      std::array<Fp2, 6> out = {Fp2::one()};
      for (std::size_t i = 1; i < out.size(); ++i) out[i] = out[i - 1] * root;
      return out;
    }();
    return powers;
  }

  // The square of an element of the cyclotomic subgroup (order dividing p^4 - p^2 + 1): three
  // squares in Fp4 = Fp2[w^3] instead of a general square.
  CUZK_HD constexpr Dodecic cyclotomic_squared() const {
    const Fp4 first = Fp4{c0.c0, c1.c1}.squared();
    const Fp4 second = Fp4{c1.c0, c0.c2}.squared();
    const Fp4 third = Fp4{c0.c1, c1.c2}.squared();
    return {{tripled_minus_double(first.a, c0.c0), tripled_minus_double(second.a, c0.c1),
             tripled_minus_double(third.a, c0.c2)},
            {tripled_plus_double(T::times_xi(third.b), c1.c0), tripled_plus_double(first.b, c1.c1),
             tripled_plus_double(second.b, c1.c2)}};
  }
  // this^e for an element of the cyclotomic subgroup. One bit after the other: the exponents are
  // the curves' parameters, of which z has 6 bits set and x 28. A square costs a third of a
  // product.
  CUZK_HD constexpr Dodecic cyclotomic_pow(std::uint64_t e) const {
    Dodecic out = one();
    for (int i = 63; i >= 0; --i) {
      out = out.cyclotomic_squared();
      if (e >> i & 1) out *= *this;
    }
    return out;
  }

 private:
  // a + b s with s^2 = xi: the subfield in which s is w^3. A square is three squares of Fp2.
  struct Fp4 {
    Fp2 a, b;
    CUZK_HD constexpr Fp4 squared() const {
      const Fp2 aa = a.squared(), bb = b.squared();
      return {aa + T::times_xi(bb), (a + b).squared() - aa - bb};
    }
  };
  CUZK_HD static constexpr Fp2 tripled_minus_double(const Fp2& t, const Fp2& z) {
    return (t - z).doubled() + t;
  }
  CUZK_HD static constexpr Fp2 tripled_plus_double(const Fp2& t, const Fp2& z) {
    return (t + z).doubled() + t;
  }
};

}  // namespace cuzk::field
