// Straus's interleaving of width-5 non-adjacent forms over scalars split by endomorphisms.
//
// A split writes k = k_0 + k_1 s + k_2 s^2 + ... with an eigenvalue s (up to sign) of an
// endomorphism, by plain division: no lattice is needed where the eigenvalue is about as long as
// the parts.
//   BLS12-381 G1: s = z^2 = -phi, two parts of 128 bits
//   BLS12-381 G2: s = |z| = -psi, four parts of 64 bits
//   BN254 G2:     s = 6 x^2 = psi, two parts of 127 bits
//   BN254 G1:     one part
// Odd multiples 1, 3, ..., 15 of each point are made affine with one inversion for all; those of an
// endomorphism's image are the images of these. Sources: Gallant, Lambert, Vanstone, CRYPTO 2001;
// Galbraith, Lin, Scott, EUROCRYPT 2009; Straus, Amer. Math. Monthly 1964.
#include "curve/scalar_multiply.h"

#include <array>
#include <vector>

#include "base/check.h"
#include "curve/endomorphism.h"

namespace cuzk::curve {
namespace {

constexpr std::size_t kWindow = 5, kOddCount = std::size_t{1} << (kWindow - 2);
constexpr std::size_t kDigitsMax = 4 * 64 + 1;  // a negative digit may carry beyond the top
static_assert(kWindow >= 2 && kWindow <= 8, "a digit is below 2^(kWindow - 1) and fits eight bits");
static_assert(Bls12_381::Fr::kLimbCount == 4 && Bn254::Fr::kLimbCount == 4);

// Digits of k, least significant first: zero, or odd with an absolute value below 16.
struct Digits {
  std::array<std::int8_t, kDigitsMax> digit = {};
  std::size_t count = 0;
};

// Width-5 non-adjacent form: after a digit that is not zero come four zeros.
Digits window_digits(field::Limbs<4> k) {
  Digits out;
  field::Limb carry = 0;  // what a negative digit borrowed from above
  const std::size_t length = k.bit_length();
  for (std::size_t i = 0; i < length || carry != 0;) {
    const field::Limb bit = (i < length && k.bit(i) ? 1 : 0) + carry;
    if (bit % 2 == 0) {
      carry = bit >> 1;
      ++i;
      continue;
    }
    const auto window = static_cast<int>(k.bits(i, kWindow) + carry);
    const bool is_negative = window >= 1 << (kWindow - 1);
    CUZK_DEBUG_ASSERT(i < kDigitsMax && window % 2 != 0 && window < 1 << kWindow);
    out.digit[i] = static_cast<std::int8_t>(is_negative ? window - (1 << kWindow) : window);
    carry = is_negative ? 1 : 0;
    out.count = i + 1;
    i += kWindow;
  }
  return out;
}

// value = value / divisor; returns the remainder.
field::Limb divide(field::Limbs<4>& value, field::Limb divisor) {
  const field::Limbs<4> q = quotient(value, divisor);
  const field::Limb remainder = value[0] - q[0] * divisor;  // exact modulo 2^64
  value = q;
  return remainder;
}

// A 128-bit integer as limbs.
field::Limbs<4> wide(field::WideLimb v) {
  return {{static_cast<field::Limb>(v), static_cast<field::Limb>(v >> 64)}};
}

// How a group splits scalars: `parts` of k, and the image of a point whose multiples carry part i,
// found from the image for part i - 1.
template <class G>
struct Split;

template <>
struct Split<Bls12_381::G1> {
  static constexpr std::size_t kParts = 2;
  static std::array<field::Limbs<4>, kParts> parts(field::Limbs<4> k) {
    constexpr field::Limb z = Bls12_381::kParameter;
    const field::WideLimb low = divide(k, z);
    const field::WideLimb high = divide(k, z);
    CUZK_DEBUG_ASSERT(k.bit_length() <= 128);  // k < r < z^4
    return {wide(low + high * z), k};
  }
  static Affine<Bls12_381::G1> next(const Affine<Bls12_381::G1>& p) {
    return -phi(p, phi_factor());
  }
};

template <>
struct Split<Bls12_381::G2> {
  static constexpr std::size_t kParts = 4;
  static std::array<field::Limbs<4>, kParts> parts(field::Limbs<4> k) {
    constexpr field::Limb z = Bls12_381::kParameter;
    std::array<field::Limbs<4>, kParts> out;
    for (std::size_t i = 0; i + 1 < kParts; ++i) out[i] = wide(divide(k, z));
    CUZK_DEBUG_ASSERT(k.bit_length() <= 64);
    out[kParts - 1] = k;
    return out;
  }
  static Affine<Bls12_381::G2> next(const Affine<Bls12_381::G2>& p) { return -psi<Bls12_381>(p); }
};

template <>
struct Split<Bn254::G1> {
  static constexpr std::size_t kParts = 1;
  static std::array<field::Limbs<4>, kParts> parts(const field::Limbs<4>& k) { return {k}; }
  static Affine<Bn254::G1> next(const Affine<Bn254::G1>& p) { return p; }
};

template <>
struct Split<Bn254::G2> {
  static constexpr std::size_t kParts = 2;
  // 6 x^2 is wider than a limb's square, so the division goes by x, x and 6.
  static std::array<field::Limbs<4>, kParts> parts(field::Limbs<4> k) {
    constexpr field::Limb x = Bn254::kParameter;
    const field::WideLimb low = divide(k, x), middle = divide(k, x), high = divide(k, 6);
    CUZK_DEBUG_ASSERT(k.bit_length() <= 128);  // k < r, about 36 x^4
    return {wide(low + x * (middle + x * high)), k};
  }
  static Affine<Bn254::G2> next(const Affine<Bn254::G2>& p) { return psi<Bn254>(p); }
};

template <class G>
using OddMultiples = std::array<Affine<G>, kOddCount>;

// 1, 3, ..., 15 times each point: one doubling and seven additions a point, and one inversion for
// all. Affine, because each is added many times, and mixed additions cost a third less.
template <class G>
std::vector<OddMultiples<G>> odd_multiples(std::span<const Affine<G>> points) {
  using Field = typename G::Field;
  std::vector<Jacobian<G>> multiples;
  multiples.reserve(points.size() * kOddCount);
  for (const Affine<G>& p : points) {
    const Jacobian<G> twice = Jacobian<G>::from_affine(p).doubled();
    multiples.push_back(Jacobian<G>::from_affine(p));
    for (std::size_t i = 1; i < kOddCount; ++i) multiples.push_back(multiples.back() + twice);
  }
  std::vector<Field> z, scratch(multiples.size());
  for (const Jacobian<G>& p : multiples) z.push_back(p.z);
  field::batch_inverse<Field>(z, scratch);
  CUZK_ASSERT(multiples.size() == points.size() * kOddCount && z.size() == multiples.size());
  std::vector<OddMultiples<G>> out(points.size());
  for (std::size_t i = 0; i < multiples.size(); ++i) {
    const Field square = z[i].squared();  // zero for infinity, whose affine form is all zero
    out[i / kOddCount][i % kOddCount] = {multiples[i].x * square, multiples[i].y * square * z[i]};
  }
  return out;
}

// One scalar with the table of its point.
template <class G>
struct Term {
  const OddMultiples<G>* table;
  Digits digits;
};

// Straus: one chain of doublings for all terms, each adding from its own table.
template <class G>
Jacobian<G> interleaved_sum(std::span<const Term<G>> terms) {
  std::size_t length = 0;
  for (const Term<G>& term : terms) length = std::max(length, term.digits.count);
  auto sum = Jacobian<G>::infinity();
  for (std::size_t i = length; i > 0; --i) {
    sum = sum.doubled();
    for (const Term<G>& term : terms) {
      const int digit = term.digits.digit[i - 1];
      // Odd multiple number d / 2 is d times the point.
      if (digit > 0) sum += (*term.table)[static_cast<std::size_t>(digit / 2)];
      if (digit < 0) sum += -(*term.table)[static_cast<std::size_t>(-digit / 2)];
    }
  }
  return sum;
}

}  // namespace

template <class G>
Jacobian<G> scale(const Affine<G>& p, const field::Limbs<4>& k) {
  const auto tables = odd_multiples<G>({&p, 1});
  const Term<G> term = {&tables.front(), window_digits(k)};
  return interleaved_sum<G>({&term, 1});
}

template <class G>
Jacobian<G> scale_members(std::span<const Affine<G>> points,
                          std::span<const typename G::Scalar> scalars) {
  CUZK_ASSERT(points.size() == scalars.size());
  constexpr std::size_t kParts = Split<G>::kParts;
  auto tables = odd_multiples<G>(points);
  // All at once: terms keep pointers to tables.
  tables.resize(points.size() * kParts);  // part j of point i at j * points.size() + i
  std::vector<Term<G>> terms;
  terms.reserve(tables.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto parts = Split<G>::parts(scalars[i].to_canonical().value);
    for (std::size_t j = 0; j < kParts; ++j) {
      OddMultiples<G>& table = tables[j * points.size() + i];
      if (j > 0) {
        const OddMultiples<G>& former = tables[(j - 1) * points.size() + i];
        for (std::size_t d = 0; d < kOddCount; ++d) table[d] = Split<G>::next(former[d]);
      }
      terms.push_back({&table, window_digits(parts[j])});
    }
  }
  CUZK_ASSERT(terms.size() == tables.size());
  return interleaved_sum<G>(terms);
}

template <class G>
Jacobian<G> scale_member(const Affine<G>& p, const typename G::Scalar& k) {
  return scale_members<G>({&p, 1}, {&k, 1});
}

#define CUZK_SCALAR_MULTIPLY(G)                                             \
  template Jacobian<G> scale<G>(const Affine<G>&, const field::Limbs<4>&);  \
  template Jacobian<G> scale_member<G>(const Affine<G>&, const G::Scalar&); \
  template Jacobian<G> scale_members<G>(std::span<const Affine<G>>, std::span<const G::Scalar>);
CUZK_SCALAR_MULTIPLY(Bls12_381::G1)
CUZK_SCALAR_MULTIPLY(Bls12_381::G2)
CUZK_SCALAR_MULTIPLY(Bn254::G1)
CUZK_SCALAR_MULTIPLY(Bn254::G2)
#undef CUZK_SCALAR_MULTIPLY

}  // namespace cuzk::curve
