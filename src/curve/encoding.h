// Points and field elements as bytes.
//
// BLS12-381: the ZCash encodings (big-endian; three flag bits; G2 has c1 before c0). snarkjs keys:
// native affine (little-endian Montgomery limbs, x then y, infinity all zero), which is exactly our
// memory layout; see PointSource in msm/.
#pragma once

#include <array>

#include "base/bytes.h"
#include "base/result.h"
#include "curve/groups.h"

namespace cuzk::curve {

inline constexpr std::size_t kG1CompressedBytes = 48, kG1UncompressedBytes = 96;
inline constexpr std::size_t kG2CompressedBytes = 96, kG2UncompressedBytes = 192;

// How much a decoder demands of a point; each level includes those above it.
enum class PointCheck {
  kNone,      // flags and canonical coordinates only
  kOnCurve,   // and the curve equation
  kSubgroup,  // and membership in the subgroup of order r
};

// `out` has exactly the encoding's size.
void encode_compressed(const Bls12_381::G1Affine& p, std::span<std::uint8_t> out);
void encode_compressed(const Bls12_381::G2Affine& p, std::span<std::uint8_t> out);
void encode_uncompressed(const Bls12_381::G1Affine& p, std::span<std::uint8_t> out);
void encode_uncompressed(const Bls12_381::G2Affine& p, std::span<std::uint8_t> out);

// `in` has exactly the encoding's size. `what` names the point in the error. Decompression always
// lands on the curve. Infinity is accepted here; callers that forbid it say so themselves.
base::Result<Bls12_381::G1Affine> decode_g1_compressed(base::ByteSpan in, PointCheck check,
                                                       std::string_view what);
base::Result<Bls12_381::G2Affine> decode_g2_compressed(base::ByteSpan in, PointCheck check,
                                                       std::string_view what);
base::Result<Bls12_381::G1Affine> decode_g1_uncompressed(base::ByteSpan in, PointCheck check,
                                                         std::string_view what);
base::Result<Bls12_381::G2Affine> decode_g2_uncompressed(base::ByteSpan in, PointCheck check,
                                                         std::string_view what);

}  // namespace cuzk::curve
