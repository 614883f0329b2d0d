// Conversions at the border of the IFMA point kernel, in portable code.
//
// The vector field works with R' = 2^(52 L) where the portable one has R = 2^(64 N). Point addition
// does not use the curve's b, so it may run on the isomorphic curve (x, y) -> (u^2 x, u^3 y). With
// u^2 = R / R' the stored words of x are already right, and only y is multiplied, by u.
//
// Rows: a coordinate of 8 limbs takes 8 words, one limb each; a coordinate of 5 limbs takes 4
// words, the integer in radix 2^64. x before y, c0 before c1. Values lie in [0, (1 + 2^-11) p).
#pragma once

#include <cstring>

#include "msm/kernels/point_kernel.h"

namespace cuzk::msm::ifma_rows {

using field::Limb;

template <class F>
struct Format {
  static constexpr std::size_t kLimbCount = F::kBitCount > 256 ? 8 : 5;
  static constexpr std::size_t kWordCount = kLimbCount == 8 ? 8 : 4;
  static constexpr std::size_t kShift = 52 * kLimbCount - 64 * F::kLimbCount;  // R' = 2^kShift R
  static_assert(kShift % 2 == 0, "R / R' must be a square");

  // (R' / R)^2 as an element, so that a product with it multiplies the stored integer by that.
  static constexpr F kInverseFactor =
      F::from_montgomery(F::Constants::power_of_two(64 * F::kLimbCount + 2 * kShift));
};

template <class F>
void write_words(const F& x, Limb* words) {
  const auto& limbs = x.montgomery_limbs();
  for (std::size_t i = 0; i < Format<F>::kWordCount; ++i) {
    words[i] = Format<F>::kLimbCount == 8 ? limbs.bits(52 * i, 52) : limbs[i];
  }
}

// Words of a value below 2 p, not checked; the result is fully reduced.
template <class F>
F read_words(const Limb* words) {
  field::Limbs<F::kLimbCount> limbs;
  if constexpr (Format<F>::kLimbCount == 8) {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t word = 52 * i / 64, shift = 52 * i % 64;
      if (word < F::kLimbCount) limbs[word] |= words[i] << shift;
      if (shift > 12 && word + 1 < F::kLimbCount) limbs[word + 1] |= words[i] >> (64 - shift);
    }
  } else {
    for (std::size_t i = 0; i < F::kLimbCount; ++i) limbs[i] = words[i];
  }
  field::Limbs<F::kLimbCount> lower;
  if (field::sub_borrow(lower, limbs, F::Params::kModulus) == 0) limbs = lower;
  return F::from_montgomery(limbs);
}

// The base field beside its coordinates: one word block each.
template <class P>
void write_coordinate(const field::PrimeField<P>& x, Limb* words) {
  write_words(x, words);
}
template <class F>
void write_coordinate(const field::Quadratic<F>& x, Limb* words) {
  write_words(x.c0, words);
  write_words(x.c1, words + Format<F>::kWordCount);
}
template <class P>
void read_coordinate(const Limb* words, field::PrimeField<P>& out) {
  out = read_words<field::PrimeField<P>>(words);
}
template <class F>
void read_coordinate(const Limb* words, field::Quadratic<F>& out) {
  out = {read_words<F>(words), read_words<F>(words + Format<F>::kWordCount)};
}
template <class G>
struct Rows {
  using Base = typename G::Curve::Fp;
  static constexpr std::size_t kCoordinateWords =
      Format<Base>::kWordCount * (sizeof(typename G::Field) / sizeof(Base));
  static constexpr std::size_t kRowBytes = 16 * kCoordinateWords;
  static_assert(sizeof(typename G::Field) % sizeof(Base) == 0, "Fp or an extension of it");
  static_assert(kRowBytes % 64 == 0, "rows stay aligned as their buffer is");

  static void copy(const std::uint8_t* row, bool negated, std::uint8_t* out) {
    std::memcpy(out, row, kRowBytes);
    if (!negated) return;
    auto* words = reinterpret_cast<Limb*>(out) + kCoordinateWords;
    typename G::Field y;
    read_coordinate(words, y);
    write_coordinate(-y, words);
  }
};

// For x R' as words of a value below 2 p, x^-1 R'. Called once per batch from the vector code.
template <class F>
void invert(const std::uint64_t* in, std::uint64_t* out) {
  write_words(read_words<F>(in).inverse() * Format<F>::kInverseFactor, out);
}

}  // namespace cuzk::msm::ifma_rows
