// x^-1 mod p for an odd p by division steps, variable time: some ten times faster than Fermat.
//
// Bernstein and Yang, "Fast constant-time gcd computation and modular inversion", ePrint 2019/266,
// with Wuille's start (delta = 1/2) and batches of 62 steps. A step maps (delta, f, g), f odd, to
//   (1 - delta, g, (g - f)/2)        if delta > 0 and g is odd,
//   (1 + delta, f, (g + (g mod 2) f)/2)  otherwise,
// and keeps gcd(f, g). From f = p, g = x it ends at g = 0, f = +-1. Which way 62 steps go depends
// on the low 62 bits of f and g alone, so they are found on words and applied to the integers at
// once as a matrix [u v; q r] / 2^62. The pair (d, e) starts as (0, k) and undergoes the same maps
// modulo p, so that always d x = k f and e x = k g (mod p); at the end d = +-k / x.
//
// Integers are held in signed limbs of 62 bits: all but the top one are in [0, 2^62).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "field/montgomery.h"

namespace cuzk::field {

// One division from start to end. Invariants between the rounds of divide(): f is odd, gcd(f, g) is
// that of p and x, d x = k f and e x = k g (mod p), d and e lie in (-2 p, p). f and g become
// shorter as it goes, and length_ follows them.
template <std::size_t N>
class DivisionSteps {
 public:
  // The k / x mod p, and 0 for x = 0. x and k are below p; p is odd.
  static constexpr Limbs<N> divide(const Limbs<N>& k, const Limbs<N>& x, const Modulus<N>& m) {
    DivisionSteps s(k, x, m);
    while (!s.g_is_zero()) {
      const Matrix t = s.next_matrix();
      s.apply_to_values(t);
      s.apply_to_cofactors(t);
      s.shrink();
    }
    return s.result(m.p);
  }

 private:
  static constexpr std::size_t kBits = 62;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  // Cofactors lie in (-2 p, p), so a sign and two bits more than p are enough.
  static constexpr std::size_t kCount = (64 * N + 2 + kBits - 1) / kBits;
  static_assert(kCount * kBits >= 64 * N + 2 && kCount >= 2, "next_matrix reads two limbs");
  using Wide = __int128;

  // An integer in two's complement over the limbs: the top one carries the sign.
  struct Signed {
    std::int64_t limb[kCount] = {};
  };
  // What 62 steps do, times 2^62. |u| + |v| and |q| + |r| are at most 2^62.
  struct Matrix {
    std::int64_t u = 1, v = 0, q = 0, r = 1;
  };

  static constexpr Signed spread(const Limbs<N>& a) {
    Signed out;
    for (std::size_t i = 0; i < kCount; ++i) {
      out.limb[i] = static_cast<std::int64_t>(a.bits(kBits * i, kBits));
    }
    return out;
  }

  constexpr DivisionSteps(const Limbs<N>& k, const Limbs<N>& x, const Modulus<N>& m)
      : f_(spread(m.p)),
        g_(spread(x)),
        e_(spread(k)),
        p_(f_),
        p_inverse_((~m.negated_inverse + 1) & kMask) {}

  constexpr bool g_is_zero() const {
    std::int64_t any = 0;
    for (std::size_t i = 0; i < length_; ++i) any |= g_.limb[i];
    return any == 0;
  }

  // The matrix of the next 62 steps. eta = -delta - 1/2 counts how many zeros of g may be dropped
  // before f and g change roles. Between changes several steps are taken at once: w f is added so
  // that the lowest bits of g, at most six of them, become zero.
  constexpr Matrix next_matrix() {
    std::uint64_t u = 1, v = 0, q = 0, r = 1;
    std::uint64_t f =
        static_cast<std::uint64_t>(f_.limb[0]) | static_cast<std::uint64_t>(f_.limb[1]) << kBits;
    std::uint64_t g =
        static_cast<std::uint64_t>(g_.limb[0]) | static_cast<std::uint64_t>(g_.limb[1]) << kBits;
    int left = static_cast<int>(kBits);
    for (;;) {
      CUZK_DEBUG_ASSERT((f & 1) != 0);
      const int zeros = std::countr_zero(g | ~std::uint64_t{0} << left);
      g >>= zeros;
      u <<= zeros;
      v <<= zeros;
      eta_ -= zeros;
      left -= zeros;
      if (left == 0) break;
      if (eta_ < 0) {
        eta_ = -eta_;
        exchange(f, g);
        exchange(u, q);
        exchange(v, r);
      }
      // -g / f modulo 2^6 by f (f^2 - 2) = -1 / f mod 2^6 for odd f, cut to the steps allowed.
      const int allowed = eta_ + 1 < left ? eta_ + 1 : left;
      CUZK_DEBUG_ASSERT(allowed > 0 && allowed <= static_cast<int>(kBits));
      const std::uint64_t cut = (~std::uint64_t{0} >> (64 - allowed)) & 63;
      const std::uint64_t w = f * g * (f * f - 2) & cut;
      g += f * w;
      q += u * w;
      r += v * w;
    }
    return {static_cast<std::int64_t>(u), static_cast<std::int64_t>(v),
            static_cast<std::int64_t>(q), static_cast<std::int64_t>(r)};
  }
  // (a, b) becomes (b, -a).
  static constexpr void exchange(std::uint64_t& a, std::uint64_t& b) {
    const std::uint64_t former = a;
    a = b;
    b = ~former + 1;
  }

  // (f, g) = t (f, g) / 2^62, exactly.
  constexpr void apply_to_values(const Matrix& t) {
    Wide cf = Wide{t.u} * f_.limb[0] + Wide{t.v} * g_.limb[0];
    Wide cg = Wide{t.q} * f_.limb[0] + Wide{t.r} * g_.limb[0];
    cf >>= kBits;
    cg >>= kBits;
    for (std::size_t i = 1; i < length_; ++i) {
      cf += Wide{t.u} * f_.limb[i] + Wide{t.v} * g_.limb[i];
      cg += Wide{t.q} * f_.limb[i] + Wide{t.r} * g_.limb[i];
      f_.limb[i - 1] = low(cf);
      g_.limb[i - 1] = low(cg);
      cf >>= kBits;
      cg >>= kBits;
    }
    f_.limb[length_ - 1] = static_cast<std::int64_t>(cf);
    g_.limb[length_ - 1] = static_cast<std::int64_t>(cg);
  }

  // (d, e) = t (d, e) / 2^62 mod p. A multiple of p makes each sum divisible; p is added first for
  // each negative operand, which keeps both in (-2 p, p) because |u| + |v| and |q| + |r| <= 2^62.
  constexpr void apply_to_cofactors(const Matrix& t) {
    const std::int64_t d_sign = d_.limb[kCount - 1] >> 63, e_sign = e_.limb[kCount - 1] >> 63;
    std::int64_t md = (t.u & d_sign) + (t.v & e_sign), me = (t.q & d_sign) + (t.r & e_sign);
    Wide cd = Wide{t.u} * d_.limb[0] + Wide{t.v} * e_.limb[0];
    Wide ce = Wide{t.q} * d_.limb[0] + Wide{t.r} * e_.limb[0];
    md -= clearing_factor(cd, md);
    me -= clearing_factor(ce, me);
    cd = (cd + Wide{p_.limb[0]} * md) >> kBits;
    ce = (ce + Wide{p_.limb[0]} * me) >> kBits;
    for (std::size_t i = 1; i < kCount; ++i) {
      cd += Wide{t.u} * d_.limb[i] + Wide{t.v} * e_.limb[i] + Wide{p_.limb[i]} * md;
      ce += Wide{t.q} * d_.limb[i] + Wide{t.r} * e_.limb[i] + Wide{p_.limb[i]} * me;
      d_.limb[i - 1] = low(cd);
      e_.limb[i - 1] = low(ce);
      cd >>= kBits;
      ce >>= kBits;
    }
    d_.limb[kCount - 1] = static_cast<std::int64_t>(cd);
    e_.limb[kCount - 1] = static_cast<std::int64_t>(ce);
  }
  // The c with sum + p (m - c) = 0 mod 2^62.
  constexpr std::int64_t clearing_factor(Wide sum, std::int64_t m) const {
    const std::uint64_t c =
        p_inverse_ * static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(m);
    return static_cast<std::int64_t>(c & kMask);
  }
  static constexpr std::int64_t low(Wide c) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(c) & kMask);
  }

  // Drops the top limb of f and g when it is only their sign.
  constexpr void shrink() {
    if (length_ <= 2) return;  // next_matrix reads two
    const std::int64_t f_top = f_.limb[length_ - 1], g_top = g_.limb[length_ - 1];
    if ((f_top != 0 && f_top != -1) || (g_top != 0 && g_top != -1)) return;
    f_.limb[length_ - 2] |= shifted_sign(f_top);
    g_.limb[length_ - 2] |= shifted_sign(g_top);
    --length_;
  }
  static constexpr std::int64_t shifted_sign(std::int64_t sign) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(sign) << kBits);
  }

  // d, or -d when f ended at -1, brought into [0, p).
  constexpr Limbs<N> result(const Limbs<N>& p) {
    CUZK_DEBUG_ASSERT(g_is_zero());
    const bool f_is_negative = f_.limb[length_ - 1] < 0;
    Signed value = d_;
    if (f_is_negative) value = combined(Signed{}, d_, -1);
    while (value.limb[kCount - 1] < 0) value = combined(value, p_, 1);
    Limbs<N> out;
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto part = static_cast<std::uint64_t>(value.limb[i]);
      const std::size_t word = kBits * i / 64, shift = kBits * i % 64;
      if (word < N) out[word] |= part << shift;
      if (shift > 64 - kBits && word + 1 < N) out[word + 1] |= part >> (64 - shift);
    }
    while (!less(out, p)) sub_borrow(out, out, p);
    return out;
  }
  // a + sign * b with limbs back in their range.
  static constexpr Signed combined(const Signed& a, const Signed& b, std::int64_t sign) {
    Signed out;
    std::int64_t carry = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::int64_t sum = a.limb[i] + sign * b.limb[i] + carry;
      const bool is_top = i + 1 == kCount;
      out.limb[i] = is_top ? sum : low(sum);
      carry = sum >> kBits;
    }
    return out;
  }

  Signed f_, g_, d_, e_, p_;
  std::uint64_t p_inverse_;  // p^-1 mod 2^62
  // Limbs of f and g in use; those above are what they were before and mean nothing.
  std::size_t length_ = kCount;
  int eta_ = -1;
};

}  // namespace cuzk::field
