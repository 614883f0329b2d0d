// Scalars as signed digits, without carries from window to window.
//
// With windows of c bits, add h = sum_w 2^(c-1) 2^(c w) to the scalar k once. Window w of k + h,
// less 2^(c-1), is a digit in [-2^(c-1), 2^(c-1)), and sum digit_w 2^(c w) = k. So any digit can be
// read on its own. Raw digits (before the subtraction) fit 16 bits for c <= 16.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "field/limbs.h"

namespace cuzk::msm {

using RawDigit = std::uint16_t;

// Immutable; any thread may read. k is below 2^bits and window_count is that of plan.h for as many
// bits: then the top window takes the last carry and nothing is lost.
template <std::size_t N>
class DigitReader {
 public:
  DigitReader(std::size_t window_bits, std::size_t window_count)
      : window_bits_(window_bits), zero_(static_cast<RawDigit>(1u << (window_bits - 1))) {
    CUZK_ASSERT(window_bits > 0 && window_bits <= 8 * sizeof(RawDigit));
    CUZK_ASSERT(window_bits * window_count <= 64 * (N + 1));
    for (std::size_t w = 0; w < window_count; ++w) {
      const std::size_t bit = w * window_bits + window_bits - 1;
      offset_[bit / 64] |= field::Limb{1} << (bit % 64);
    }
  }
  // The raw digit that stands for zero.
  RawDigit zero() const noexcept { return zero_; }

  // k + h, for raw_digit. One limb more than k: h and the top window reach beyond it.
  field::Limbs<N + 1> shifted(const field::Limbs<N>& k) const {
    field::Limbs<N + 1> wide;
    for (std::size_t i = 0; i < N; ++i) wide[i] = k[i];
    add_carry(wide, wide, offset_);
    return wide;
  }
  RawDigit raw_digit(const field::Limbs<N + 1>& shifted_scalar, std::size_t window) const {
    return static_cast<RawDigit>(shifted_scalar.bits(window * window_bits_, window_bits_));
  }

  // Bucket (|digit| - 1) and sign of a raw digit that is not zero().
  std::uint32_t bucket(RawDigit raw) const {
    CUZK_DEBUG_ASSERT(raw != zero_);
    return raw < zero_ ? std::uint32_t{zero_} - raw - 1u : std::uint32_t{raw} - zero_ - 1u;
  }
  bool negative(RawDigit raw) const { return raw < zero_; }

 private:
  std::size_t window_bits_;
  RawDigit zero_;
  field::Limbs<N + 1> offset_;
};

}  // namespace cuzk::msm
