// Optimal ate pairings: Miller loops over |z| (BLS12-381) and 6x + 2 (BN254), and the two final
// exponentiations.
//
// T runs through multiples of Q in Jacobian coordinates on the twist. The line through T with slope
// l, seen from E(Fp12) at P, is
//   y_P - l x_P w + (l x_T - y_T) w^3        for a divisive twist, and, multiplied by w^3,
//   (l x_T - y_T) - l x_P w^2 + y_P w^3      for a multiplicative one.
// It may be scaled by any element of a proper subfield (Fp2, and Fp4 which holds w^3), because the
// final exponentiation sends those to one. Sources: Vercauteren, IEEE Trans. IT 2010 (optimal
// pairings); Costello, Lange, Naehrig, PKC 2010 (lines); Granger and Scott, PKC 2010.
#include "curve/pairing.h"

#include "base/check.h"
#include "curve/endomorphism.h"

namespace cuzk::curve {
namespace {

// Signed binary digits, most significant first, the leading one left out.
struct LoopDigits {
  std::int8_t digit[72] = {};
  std::size_t count = 0;
};

// The non-adjacent form: at most every second digit is not zero.
constexpr LoopDigits non_adjacent_form(unsigned __int128 n) {
  std::int8_t reversed[72] = {};
  std::size_t length = 0;
  for (; n != 0; n >>= 1, ++length) {
    if ((n & 1) == 0) continue;
    reversed[length] = (n & 3) == 1 ? 1 : -1;
    n = (n & 3) == 1 ? n - 1 : n + 1;
  }
  LoopDigits out;
  // The leading digit is one: the loop starts with T = Q.
  for (std::size_t i = length - 1; i > 0; --i) out.digit[out.count++] = reversed[i - 1];
  return out;
}

// The two families differ in twist, loop and final exponentiation; this tells them apart.
template <class C>
constexpr bool kIsBn = !C::kHasMultiplicativeTwist;

// The Miller loop of the curve.
template <class C>
constexpr LoopDigits kLoop = non_adjacent_form(
    kIsBn<C> ? static_cast<unsigned __int128>(C::kParameter) * 6 + 2 : C::kParameter);

// Lines of a point: a tangent for each digit, a chord for each that is not zero, and two chords
// behind the loop of a BN curve.
template <class C>
constexpr std::size_t line_count() {
  std::size_t count = kLoop<C>.count + (kIsBn<C> ? 2 : 0);
  for (std::size_t i = 0; i < kLoop<C>.count; ++i) count += kLoop<C>.digit[i] != 0 ? 1 : 0;
  return count;
}
static_assert(line_count<Bls12_381>() == 69);

// The running multiple of Q. Each step gives the line it used, found before T moves. For Q in the
// subgroup T never meets infinity or +-Q in an addition; for others the lines mean nothing.
template <class C>
struct MillerPoint {
  using Fp2 = typename C::Fp2;
  using Line = typename PreparedG2<C>::Line;
  Fp2 x, y, z;

  // The tangent, scaled by 2 Y Z^3.
  Line double_step() {
    const Fp2 a = x.squared(), b = y.squared(), c = b.squared(), zz = z.squared();
    const Fp2 d = ((x + b).squared() - a - c).doubled();
    const Fp2 e = a.doubled() + a;
    Line line;
    line.a = e * x - b.doubled();
    line.b = -(e * zz);
    z = (y + z).squared() - b - zz;
    line.c = z * zz;
    x = e.squared() - d.doubled();
    y = e * (d - x) - c.doubled().doubled().doubled();
    return line;
  }

  // The chord through q, scaled by Z H.
  Line add_step(const typename C::G2Affine& q) {
    const Fp2 zz = z.squared();
    const Fp2 h = q.x * zz - x, r = q.y * z * zz - y;
    const Fp2 hh = h.squared(), hhh = h * hh, v = x * hh;
    z *= h;
    const Line line = {r * q.x - q.y * z, -r, z};
    x = r.squared() - hhh - v.doubled();
    y = r * (v - x) - y * hhh;
    return line;
  }
};

// f times the line at p, placed where the twist puts it.
template <class C>
Gt<C> times_line(const Gt<C>& f, const typename PreparedG2<C>::Line& line,
                 const typename C::G1Affine& p) {
  const auto at_x = line.b.scaled(p.x), at_y = line.c.scaled(p.y);
  if constexpr (C::kHasMultiplicativeTwist) return f.times_line_023(line.a, at_x, at_y);
  return f.times_line_013(at_y, at_x, line.a);
}

// f^z with the sign of z, for f in the cyclotomic subgroup.
template <class C>
Gt<C> pow_parameter(const Gt<C>& f) {
  const Gt<C> power = f.cyclotomic_pow(C::kParameter);
  return C::kParameterIsNegative ? power.conjugate() : power;
}

// f^(3 (p^4 - p^2 + 1) / r) = f^((z-1)^2 (z + p) (z^2 + p^2 - 1) + 3).
Gt<Bls12_381> hard_part(const Gt<Bls12_381>& f) {
  using C = Bls12_381;
  Gt<C> t = pow_parameter<C>(f) * f.conjugate();
  t = pow_parameter<C>(t) * t.conjugate();
  t = pow_parameter<C>(t) * t.frobenius();
  t = pow_parameter<C>(pow_parameter<C>(t)) * t.frobenius().frobenius() * t.conjugate();
  return t * f.cyclotomic_squared() * f;
}

// f^(2x (6x^2 + 3x + 1) (p^4 - p^2 + 1) / r), whose digits to the base p are
//   1 + 6x + 12x^2 + 12x^3,  4x + 6x^2 + 12x^3,  6x + 6x^2 + 12x^3,  -1 + 4x + 6x^2 + 12x^3.
Gt<Bn254> hard_part(const Gt<Bn254>& f) {
  using C = Bn254;
  const Gt<C> x2 = pow_parameter<C>(f).cyclotomic_squared(), x4 = x2.cyclotomic_squared();
  const Gt<C> x6 = x4 * x2, xx6 = pow_parameter<C>(x6), xx12 = xx6.cyclotomic_squared();
  const Gt<C> xxx12 = pow_parameter<C>(xx12);
  const Gt<C> common = xx6 * xxx12, digit1 = x4 * common;
  const Gt<C> digit0 = f * x6 * xx12 * xxx12, digit2 = x6 * common;
  const Gt<C> digit3 = digit1 * f.conjugate();
  // Horner in the Frobenius.
  return digit0 * (digit1 * (digit2 * digit3.frobenius()).frobenius()).frobenius();
}

}  // namespace

template <class C>
PreparedG2<C>::PreparedG2(const typename C::G2Affine& q) {
  if (q.is_infinity()) return;
  lines_.reserve(2 * kLoop<C>.count);
  MillerPoint<C> t = {q.x, q.y, C::Fp2::one()};
  for (std::size_t i = 0; i < kLoop<C>.count; ++i) {
    lines_.push_back(t.double_step());
    if (kLoop<C>.digit[i] > 0) lines_.push_back(t.add_step(q));
    if (kLoop<C>.digit[i] < 0) lines_.push_back(t.add_step(-q));
  }
  if constexpr (kIsBn<C>) {
    const auto once = psi<C>(q);
    lines_.push_back(t.add_step(once));
    lines_.push_back(t.add_step(-psi<C>(once)));
  }
  CUZK_ASSERT(lines_.size() == line_count<C>());
}

template <class C>
Gt<C> miller_loop(std::span<const PairingTerm<C>> terms) {
  std::vector<PairingTerm<C>> active;
  active.reserve(terms.size());
  for (const PairingTerm<C>& term : terms) {
    if (!term.p.is_infinity() && !term.q->is_infinity()) active.push_back(term);
  }
  Gt<C> f = Gt<C>::one();
  // f is squared once for all terms, which is what a shared loop saves.
  std::size_t next_line = 0;
  const auto take_lines = [&] {
    for (const PairingTerm<C>& term : active) {
      f = times_line<C>(f, term.q->lines()[next_line], term.p);
    }
    ++next_line;
  };
  for (std::size_t i = 0; i < kLoop<C>.count; ++i) {
    f = f.squared();
    take_lines();
    if (kLoop<C>.digit[i] != 0) take_lines();
  }
  if constexpr (kIsBn<C>) {
    take_lines();
    take_lines();
  }
  CUZK_ASSERT(next_line == line_count<C>());
  return C::kParameterIsNegative ? f.conjugate() : f;
}

template <class C>
Gt<C> final_exponentiation(const Gt<C>& f) {
  // The easy part leads into the cyclotomic subgroup, where inverses are conjugates and squares
  // cheap; hard_part relies on both.
  const Gt<C> unitary = f.conjugate() * f.inverse();            // ^(p^6 - 1)
  return hard_part(unitary.frobenius().frobenius() * unitary);  // ^(p^2 + 1)
}

template <class C>
Gt<C> pairing(const typename C::G1Affine& p, const typename C::G2Affine& q) {
  const PreparedG2<C> prepared(q);
  const PairingTerm<C> term = {p, &prepared};
  return pairing_product<C>({&term, 1});
}

template <class C>
Gt<C> pairing_product(std::span<const PairingTerm<C>> terms) {
  return final_exponentiation<C>(miller_loop<C>(terms));
}

template <class C>
bool pairing_product_is_one(std::span<const PairingInput<C>> pairs) {
  std::vector<PreparedG2<C>> prepared;
  std::vector<PairingTerm<C>> terms;
  prepared.reserve(pairs.size());  // terms point into it, so it must not grow
  terms.reserve(pairs.size());
  for (const PairingInput<C>& pair : pairs) {
    prepared.emplace_back(pair.q);
    terms.push_back({pair.p, &prepared.back()});
  }
  return pairing_product<C>(terms).is_one();
}

#define CUZK_PAIRING(C)                                               \
  template class PreparedG2<C>;                                       \
  template Gt<C> miller_loop<C>(std::span<const PairingTerm<C>>);     \
  template Gt<C> final_exponentiation<C>(const Gt<C>&);               \
  template Gt<C> pairing<C>(const C::G1Affine&, const C::G2Affine&);  \
  template Gt<C> pairing_product<C>(std::span<const PairingTerm<C>>); \
  template bool pairing_product_is_one(std::span<const PairingInput<C>>);
CUZK_PAIRING(Bls12_381)
CUZK_PAIRING(Bn254)
#undef CUZK_PAIRING

}  // namespace cuzk::curve
