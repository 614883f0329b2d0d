// Fixed-size unsigned integers as little-endian 64-bit limbs, usable at compile time and on a
// device.
//
// These are plain integers, without a modulus. Everything that a field needs of its modulus is
// derived from here by field/prime_field.h. Loops have a fixed length and no early end (but for
// less() and bit_length(), whose time depends on the value), so compilers unroll them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/host_device.h"

namespace cuzk::field {

using Limb = std::uint64_t;
using WideLimb = unsigned __int128;

// An integer of N limbs, least significant first. Aggregate; value-initialised to zero.
template <std::size_t N>
struct Limbs {
  Limb limb[N] = {};

  static constexpr std::size_t kCount = N;
  static constexpr std::size_t kBitCount = N * 64;

  CUZK_HD constexpr Limb& operator[](std::size_t i) { return limb[i]; }
  CUZK_HD constexpr const Limb& operator[](std::size_t i) const { return limb[i]; }
  CUZK_HD constexpr bool operator==(const Limbs&) const = default;

  CUZK_HD constexpr bool is_zero() const {
    Limb any = 0;
    for (std::size_t i = 0; i < N; ++i) any |= limb[i];
    return any == 0;
  }
  CUZK_HD constexpr bool bit(std::size_t i) const { return (limb[i / 64] >> (i % 64)) & 1; }

  // Bits from `first` on, `count` of them (at most 64); positions past the end read as zero.
  CUZK_HD constexpr Limb bits(std::size_t first, std::size_t count) const {
    const std::size_t word = first / 64, shift = first % 64;
    if (word >= N || count == 0) return 0;
    Limb v = limb[word] >> shift;
    if (shift != 0 && word + 1 < N) v |= limb[word + 1] << (64 - shift);
    return count >= 64 ? v : v & ((Limb{1} << count) - 1);
  }
  // Position of the highest set bit plus one; 0 for zero.
  CUZK_HD constexpr std::size_t bit_length() const {
    for (std::size_t i = N * 64; i > 0; --i) {
      if (bit(i - 1)) return i;
    }
    return 0;
  }
};

static_assert(sizeof(Limbs<4>) == 32 && sizeof(Limbs<6>) == 48 && alignof(Limbs<6>) == 8,
              "elements are read from key files and handed to devices as their limbs, bytewise");
static_assert(std::is_trivially_copyable_v<Limbs<4>> && std::is_standard_layout_v<Limbs<4>>);

// a < b.
template <std::size_t N>
CUZK_HD constexpr bool less(const Limbs<N>& a, const Limbs<N>& b) {
  for (std::size_t i = N; i > 0; --i) {
    if (a[i - 1] != b[i - 1]) return a[i - 1] < b[i - 1];
  }
  return false;
}

// out = a + b mod 2^(64 N); returns the carry. `out` may be an operand, here and below.
template <std::size_t N>
CUZK_HD constexpr Limb add_carry(Limbs<N>& out, const Limbs<N>& a, const Limbs<N>& b) {
  Limb carry = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const WideLimb sum = WideLimb{a[i]} + b[i] + carry;
    out[i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> 64);
  }
  return carry;
}

// out = a - b mod 2^(64 N); returns the borrow.
template <std::size_t N>
CUZK_HD constexpr Limb sub_borrow(Limbs<N>& out, const Limbs<N>& a, const Limbs<N>& b) {
  Limb borrow = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const WideLimb difference = WideLimb{a[i]} - b[i] - borrow;
    out[i] = static_cast<Limb>(difference);
    borrow = static_cast<Limb>(difference >> 64) & 1;
  }
  return borrow;
}

// a >> 1.
template <std::size_t N>
CUZK_HD constexpr Limbs<N> half(const Limbs<N>& a) {
  Limbs<N> out;
  for (std::size_t i = 0; i < N; ++i) {
    out[i] = a[i] >> 1 | (i + 1 < N ? a[i + 1] << 63 : 0);
  }
  return out;
}

// a / divisor, rounded down. `divisor` is not zero.
template <std::size_t N>
CUZK_HD constexpr Limbs<N> quotient(const Limbs<N>& a, Limb divisor) {
  Limbs<N> out;
  Limb remainder = 0;
  for (std::size_t i = N; i > 0; --i) {
    const WideLimb part = WideLimb{remainder} << 64 | a[i - 1];
    out[i - 1] = static_cast<Limb>(part / divisor);
    remainder = static_cast<Limb>(part % divisor);
  }
  return out;
}

// Big-endian hex, digits only, lower case, at most 16 N of them. For constants in source, where
// nothing of that is checked: text from outside goes through base/bytes.h.
template <std::size_t N>
constexpr Limbs<N> limbs_from_hex(std::string_view digits) {
  Limbs<N> out;
  std::size_t position = 0;
  for (std::size_t i = digits.size(); i > 0; --i, ++position) {
    const char c = digits[i - 1];
    const Limb digit = c <= '9' ? static_cast<Limb>(c - '0') : static_cast<Limb>(c - 'a' + 10);
    out[position / 16] |= digit << (4 * (position % 16));
  }
  return out;
}

// The integer as big-endian or little-endian bytes, exactly 8 N of them, at any alignment. Byte by
// byte on purpose: it is right on every machine, and compilers see the plain loads in it.
template <std::size_t N>
CUZK_HD constexpr void store_be(const Limbs<N>& a, std::uint8_t* out) {
  for (std::size_t i = 0; i < 8 * N; ++i) {
    out[8 * N - 1 - i] = static_cast<std::uint8_t>(a[i / 8] >> (8 * (i % 8)));
  }
}
template <std::size_t N>
CUZK_HD constexpr void store_le(const Limbs<N>& a, std::uint8_t* out) {
  for (std::size_t i = 0; i < 8 * N; ++i) {
    out[i] = static_cast<std::uint8_t>(a[i / 8] >> (8 * (i % 8)));
  }
}
template <std::size_t N>
CUZK_HD constexpr Limbs<N> load_be(const std::uint8_t* in) {
  Limbs<N> a;
  for (std::size_t i = 0; i < 8 * N; ++i) a[i / 8] |= Limb{in[8 * N - 1 - i]} << (8 * (i % 8));
  return a;
}
template <std::size_t N>
CUZK_HD constexpr Limbs<N> load_le(const std::uint8_t* in) {
  Limbs<N> a;
  for (std::size_t i = 0; i < 8 * N; ++i) a[i / 8] |= Limb{in[i]} << (8 * (i % 8));
  return a;
}

}  // namespace cuzk::field
