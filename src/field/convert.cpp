// Strict conversions, instantiated for both fields of both curves; see convert.h for the contract.
//
// Decimals are read a digit and written nineteen digits at a time. The number of digits is bounded
// before any arithmetic, so hostile text costs little and is quoted cut short.
#include "field/convert.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::field {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

constexpr std::size_t kDecimalDigitsMax = 160;
constexpr Limb kTenTo19 = 10'000'000'000'000'000'000ULL;  // largest power of ten in a limb
constexpr std::size_t kDigitsPerLimb = 19;
static_assert(kDigitsPerLimb == std::numeric_limits<Limb>::digits10);
static_assert(kTenTo19 / 10 == 1'000'000'000'000'000'000ULL && kTenTo19 % 10 == 0);

// "0x" and the digits, without leading zeros but for zero itself.
template <std::size_t N>
std::string hex_integer(const Limbs<N>& limbs) {
  std::uint8_t bytes[8 * N];
  store_be(limbs, bytes);
  const std::string digits = base::to_hex({bytes, 8 * N});
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return "0x" + digits.substr(first);
}

// Names the value, shows it, and says of which field it is too large.
template <class F>
Error not_canonical(const Limbs<F::kLimbCount>& found, std::string_view what) {
  return Error{ErrorKind::kMalformed, fmt::format("{}: {} is not below the modulus of {}", what,
                                                  hex_integer(found), F::Params::kName)};
}

// The one door into the field: nothing above the modulus passes, and nothing is reduced.
template <class F>
Result<F> from_integer(const Limbs<F::kLimbCount>& limbs, std::string_view what) {
  const auto canonical = Canonical<typename F::Params>::from_limbs(limbs);
  if (!canonical) return not_canonical<F>(limbs, what);
  return F::from_canonical(*canonical);
}

// Lengths first, as loads read a fixed number of bytes.
template <class F>
Result<std::monostate> check_size(base::ByteSpan bytes, std::string_view what) {
  if (bytes.size() == F::kByteCount) return base::ok_status();
  return Error{ErrorKind::kMalformed,
               fmt::format("{}: an element of {} has {} bytes, found {}", what, F::Params::kName,
                           F::kByteCount, bytes.size())};
}

// value = value * factor + addend; false when it no longer fits.
template <std::size_t N>
bool multiply_add(Limbs<N>& value, Limb factor, Limb addend) {
  Limb carry = addend;
  for (std::size_t i = 0; i < N; ++i) {
    const WideLimb wide = WideLimb{value[i]} * factor + carry;
    value[i] = static_cast<Limb>(wide);
    carry = static_cast<Limb>(wide >> 64);
  }
  return carry == 0;
}

}  // namespace

template <class F>
Result<F> from_bytes_le(base::ByteSpan bytes, std::string_view what) {
  CUZK_TRY_STATUS(check_size<F>(bytes, what));
  return from_integer<F>(load_le<F::kLimbCount>(bytes.data()), what);
}

template <class F>
Result<F> from_bytes_be(base::ByteSpan bytes, std::string_view what) {
  CUZK_TRY_STATUS(check_size<F>(bytes, what));
  return from_integer<F>(load_be<F::kLimbCount>(bytes.data()), what);
}

template <class F>
std::array<std::uint8_t, F::kByteCount> to_bytes_le(const F& x) {
  std::array<std::uint8_t, F::kByteCount> out;
  store_le(x.to_canonical().value, out.data());
  return out;
}

template <class F>
std::array<std::uint8_t, F::kByteCount> to_bytes_be(const F& x) {
  std::array<std::uint8_t, F::kByteCount> out;
  store_be(x.to_canonical().value, out.data());
  return out;
}

template <class F>
Result<F> from_decimal(std::string_view text, std::string_view what) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) {
    return Error{ErrorKind::kMalformed, fmt::format("{}: expected a decimal integer, found \"{}\"",
                                                    what, text.substr(0, kDecimalDigitsMax))};
  }
  if (text.size() > kDecimalDigitsMax) {
    return Error{ErrorKind::kMalformed,
                 fmt::format("{}: a decimal of {} digits is too long for an element of {}", what,
                             text.size(), F::Params::kName)};
  }
  static_assert(F::kBitCount * 30103 / 100000 + 1 <= kDecimalDigitsMax, "all elements fit");
  Limbs<F::kLimbCount> value;
  for (const char c : text) {
    if (multiply_add(value, 10, static_cast<Limb>(c - '0'))) continue;
    return Error{ErrorKind::kMalformed, fmt::format("{}: {} is not below the modulus of {}", what,
                                                    text, F::Params::kName)};
  }
  return from_integer<F>(value, what);
}

// Least significant digits first, then turned round.
template <class F>
std::string to_decimal(const F& x) {
  auto value = x.to_canonical().value;
  std::string reversed;
  while (!value.is_zero()) {
    const auto next = quotient(value, kTenTo19);
    Limb part = value[0] - next[0] * kTenTo19;  // the remainder fits a limb, so wrapping is exact
    CUZK_ASSERT(part < kTenTo19);
    value = next;
    // Nineteen digits with their zeros, but for the last part: there zeros would lead.
    for (std::size_t i = 0; i < kDigitsPerLimb && (part != 0 || !value.is_zero()); ++i) {
      reversed.push_back(static_cast<char>('0' + part % 10));
      part /= 10;
    }
  }
  if (reversed.empty()) return "0";
  return {reversed.rbegin(), reversed.rend()};
}

template <class F>
std::string to_hex_integer(const F& x) {
  return hex_integer(x.to_canonical().value);
}

// Both curves' fields and no more: whoever adds a field adds it here and in the header.
#define CUZK_FIELD_CONVERT(F)                                                \
  template Result<F> from_bytes_le<F>(base::ByteSpan, std::string_view);     \
  template Result<F> from_bytes_be<F>(base::ByteSpan, std::string_view);     \
  template std::array<std::uint8_t, F::kByteCount> to_bytes_le<F>(const F&); \
  template std::array<std::uint8_t, F::kByteCount> to_bytes_be<F>(const F&); \
  template Result<F> from_decimal<F>(std::string_view, std::string_view);    \
  template std::string to_decimal<F>(const F&);                              \
  template std::string to_hex_integer<F>(const F&);
CUZK_FIELD_CONVERT(bls12_381::Fp)
CUZK_FIELD_CONVERT(bls12_381::Fr)
CUZK_FIELD_CONVERT(bn254::Fp)
CUZK_FIELD_CONVERT(bn254::Fr)
#undef CUZK_FIELD_CONVERT

}  // namespace cuzk::field
