// Signed digits of a scalar, for host tests and devices alike.
//
// With s = k or r - k, whichever is below r / 2, and K = sum_w 2^(first_w + bits_w - 1), the
// unsigned digits of s + K less 2^(bits_w - 1) are signed digits of s in [-2^(bits_w - 1),
// 2^(bits_w - 1)): no digit waits for another's carry. A digit d goes to bucket |d| - 1; zero goes
// nowhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/host_device.h"
#include "cuda/msm/msm_policy.h"

namespace cuzk::cuda::msm {

inline constexpr std::uint32_t kNoDigit = 0xffffffff;
inline constexpr std::uint32_t kSignBit = 0x80000000;
static_assert(std::uint32_t{1} << (kWindowBitsMax - 1) <= kSignBit,
              "buckets of a window and the sign share a word, and neither is kNoDigit");

// How scalars lie on the device: as integers, or as a field's elements do, times 2^256.
enum class ScalarForm { kCanonical, kMontgomery };

// A scalar of four 64-bit limbs and what its field says.
struct ScalarParams {
  std::uint64_t modulus[4];
  std::uint64_t half[4];          // (r - 1) / 2: the largest scalar that is not negated
  std::uint64_t offset[4];        // K of the layout
  std::uint64_t negated_inverse;  // -1 / modulus mod 2^64
};

// scalar / 2^256 modulo the modulus, for a scalar below it: Montgomery, "Modular multiplication
// without trial division" (1985), a limb at a time. In place.
CUZK_HD inline void from_montgomery(std::uint64_t* scalar, const ScalarParams& params) {
  using Wide = unsigned __int128;
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t m = scalar[0] * params.negated_inverse;
    std::uint64_t carry = 0;
    for (int i = 0; i < 4; ++i) {
      const Wide sum = Wide{m} * params.modulus[i] + scalar[i] + carry;
      if (i > 0) scalar[i - 1] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    scalar[3] = carry;
  }
  // (scalar + m modulus) / 2^256 is at most the modulus, and the modulus only for a multiple of it.
  bool is_modulus = true;
  for (int i = 0; i < 4; ++i) is_modulus = is_modulus && scalar[i] == params.modulus[i];
  for (int i = 0; i < 4; ++i) scalar[i] = is_modulus ? 0 : scalar[i];
}

// s + K, from which digits are cut, and whether s is r - k.
struct RecodedScalar {
  std::uint64_t limb[4];
  bool is_negated;
};

// `scalar` is four limbs, below the modulus.
CUZK_HD inline RecodedScalar recode(const std::uint64_t* scalar, const ScalarParams& params) {
  RecodedScalar out = {};
  bool above = false, decided = false;
  for (int i = 3; i >= 0; --i) {
    if (!decided && scalar[i] != params.half[i]) {
      above = scalar[i] > params.half[i];
      decided = true;
    }
  }
  out.is_negated = above;
  std::uint64_t borrow = 0, carry = 0;
  for (int i = 0; i < 4; ++i) {
    std::uint64_t value = scalar[i];
    if (above) {
      const std::uint64_t difference = params.modulus[i] - value;
      const std::uint64_t next = (params.modulus[i] < value) | (difference < borrow);
      value = difference - borrow;
      borrow = next;
    }
    const std::uint64_t sum = value + params.offset[i];
    const std::uint64_t with_carry = sum + carry;
    carry = (sum < value) | (with_carry < sum);
    out.limb[i] = with_carry;
  }
  return out;
}

// The bucket of a digit with kSignBit for a negative multiple of the point, or kNoDigit. The
// digit's bits may lie in two limbs; a window that begins in the top limb ends there, as layouts
// stay below bit 256.
CUZK_HD inline std::uint32_t digit_at(const RecodedScalar& scalar, int first_bit, int bit_count) {
  const int word = first_bit / 64, shift = first_bit % 64;
  std::uint64_t bits = scalar.limb[word] >> shift;
  if (shift != 0 && word + 1 < 4) bits |= scalar.limb[word + 1] << (64 - shift);
  const int digit =
      static_cast<int>(bits & ((std::uint64_t{1} << bit_count) - 1)) - (1 << (bit_count - 1));
  if (digit == 0) return kNoDigit;
  const bool is_negative = (digit < 0) != scalar.is_negated;
  const std::uint32_t bucket = static_cast<std::uint32_t>(digit < 0 ? -digit : digit) - 1;
  return bucket | (is_negative ? kSignBit : 0);
}

// The numbers of `layout` for a modulus of four limbs.
inline ScalarParams scalar_params(const std::uint64_t* modulus, const WindowLayout& layout) {
  ScalarParams out = {};
  for (int i = 0; i < 4; ++i) {
    out.modulus[i] = modulus[i];
    out.half[i] = modulus[i] >> 1 | (i + 1 < 4 ? modulus[i + 1] << 63 : 0);
  }
  // K: half of each window's range. Windows do not overlap, so its bits meet no carry.
  CUZK_ASSERT((modulus[0] & 1) == 1 && layout.window_count <= kWindowsMax);
  for (int w = 0; w < layout.window_count; ++w) {
    const int bit = layout.first_bit[w] + layout.bit_count[w] - 1;
    out.offset[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  // Newton's iteration: each step doubles the bits that are right, beginning with three.
  std::uint64_t inverse = modulus[0];
  for (int i = 0; i < 5; ++i) inverse *= 2 - modulus[0] * inverse;
  CUZK_ASSERT(modulus[0] * inverse == 1);
  out.negated_inverse = 0 - inverse;
  return out;
}

}  // namespace cuzk::cuda::msm
