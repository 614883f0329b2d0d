// Which of the two curves a file is about: names, and recognition by the primes in its header.
//
// Files name a curve in their own ways (a prime, "bn128", nothing at all); from here on it is one
// value. with_curve.h takes it to the type that code is written for.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "base/bytes.h"
#include "curve/groups.h"

namespace cuzk::formats {

// All there are; with_curve.h and the tables of curve_id.cpp list them, too.
enum class CurveId { kBls12_381, kBn254 };

// "BLS12-381" or "BN254", as the curve types name themselves.
std::string_view curve_name(CurveId curve) noexcept;

// What snarkjs writes under "curve": "bls12381" or "bn128".
std::string_view snarkjs_curve_name(CurveId curve) noexcept;

// The curve of a "curve" entry: snarkjs's name or another that is in use ("bn254", "alt_bn128",
// "BLS12-381"), in capitals or not. Nothing for other names.
std::optional<CurveId> curve_of_snarkjs_name(std::string_view name) noexcept;

// The curve whose base field (p) or scalar field (r) has the modulus `little_endian`; the span must
// have exactly the field's width.
std::optional<CurveId> curve_of_base_modulus(base::ByteSpan little_endian) noexcept;
std::optional<CurveId> curve_of_scalar_modulus(base::ByteSpan little_endian) noexcept;

// From the type back to the value.
template <class C>
inline constexpr CurveId kCurveId =
    std::is_same_v<C, curve::Bls12_381> ? CurveId::kBls12_381 : CurveId::kBn254;

}  // namespace cuzk::formats
