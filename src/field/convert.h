// Field elements from and to bytes and decimals, with an error that names the field.
//
// Only canonical integers (below the modulus) are accepted; nothing is reduced silently, or two
// texts would stand for one statement. Compiled once for the four prime fields (convert.cpp), as
// messages are long and no loop of arithmetic needs these inlined.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::field {

// `bytes` has exactly F::kByteCount bytes (a wrong length is an error); `what` names the value,
// e.g. "witness.wtns: value 17". kMalformed when the integer is not below the modulus.
template <class F>
base::Result<F> from_bytes_le(base::ByteSpan bytes, std::string_view what);
template <class F>
base::Result<F> from_bytes_be(base::ByteSpan bytes, std::string_view what);

// The canonical integer.
template <class F>
std::array<std::uint8_t, F::kByteCount> to_bytes_le(const F& x);
template <class F>
std::array<std::uint8_t, F::kByteCount> to_bytes_be(const F& x);

// Decimal digits only, as snarkjs writes them: no sign, no space, at least one digit; leading zeros
// are accepted up to 160 digits in all.
template <class F>
base::Result<F> from_decimal(std::string_view text, std::string_view what);
template <class F>
std::string to_decimal(const F& x);

// "0x" and the canonical integer in lower-case hex without leading zeros. For messages.
template <class F>
std::string to_hex_integer(const F& x);

#define CUZK_FIELD_CONVERT_EXTERN(F)                                                   \
  extern template base::Result<F> from_bytes_le<F>(base::ByteSpan, std::string_view);  \
  extern template base::Result<F> from_bytes_be<F>(base::ByteSpan, std::string_view);  \
  extern template std::array<std::uint8_t, F::kByteCount> to_bytes_le<F>(const F&);    \
  extern template std::array<std::uint8_t, F::kByteCount> to_bytes_be<F>(const F&);    \
  extern template base::Result<F> from_decimal<F>(std::string_view, std::string_view); \
  extern template std::string to_decimal<F>(const F&);                                 \
  extern template std::string to_hex_integer<F>(const F&);
CUZK_FIELD_CONVERT_EXTERN(bls12_381::Fp)
CUZK_FIELD_CONVERT_EXTERN(bls12_381::Fr)
CUZK_FIELD_CONVERT_EXTERN(bn254::Fp)
CUZK_FIELD_CONVERT_EXTERN(bn254::Fr)
#undef CUZK_FIELD_CONVERT_EXTERN

}  // namespace cuzk::field
