// The ZCash encodings of BLS12-381, strict in both directions.
//
// Top three bits of the first byte: 0x80 compressed, 0x40 infinity, 0x20 y is the larger of the two
// roots (compressed only). Everything that is not the one encoding of a point is refused: a flag
// that does not belong, a coordinate not below p, infinity with any other bit set, an uncompressed
// (0, 0). Source: ZCash protocol specification, section 5.4.9.2; zkcrypto's notes on serialization.
#include "curve/encoding.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "curve/subgroup.h"
#include "field/convert.h"
#include "field/square_root.h"

namespace cuzk::curve {
namespace {

using base::ByteSpan;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

using Fp = Bls12_381::Fp;
using Fp2 = Bls12_381::Fp2;
constexpr std::uint8_t kCompressedFlag = 0x80, kInfinityFlag = 0x40, kLargerFlag = 0x20;
constexpr std::uint8_t kFlags = kCompressedFlag | kInfinityFlag | kLargerFlag;
static_assert(Fp::kBitCount + 3 <= 8 * Fp::kByteCount, "the flags stand where no coordinate does");
static_assert(kG1CompressedBytes == Fp::kByteCount && kG1UncompressedBytes == 2 * Fp::kByteCount);
static_assert(kG2CompressedBytes == sizeof(Fp2) && kG2UncompressedBytes == 2 * sizeof(Fp2));

// Every refusal of this file: the name of the point, then the reason.
Error malformed(std::string_view what, std::string_view sentence) {
  return Error{ErrorKind::kMalformed, fmt::format("{}: {}", what, sentence)};
}

// y > -y as integers; for Fp2 the c1 part decides unless it is zero.
bool is_larger(const Fp& y) {
  return less(Fp::Params::kModulus, [&] {
    // 2 y > p exactly when y > (p - 1) / 2; 2 y fits because p has three spare bits.
    auto doubled = y.to_canonical().value;
    add_carry(doubled, doubled, doubled);
    return doubled;
  }());
}
bool is_larger(const Fp2& y) { return y.c1.is_zero() ? is_larger(y.c0) : is_larger(y.c1); }

// Coordinates big-endian; of an element of Fp2 c1 comes first.
void store(const Fp& x, std::uint8_t* out) { store_be(x.to_canonical().value, out); }
void store(const Fp2& x, std::uint8_t* out) {
  store(x.c1, out);
  store(x.c0, out + Fp::kByteCount);
}

// One base field element; `mask` clears flag bits of the first byte.
Result<Fp> load_base(const std::uint8_t* in, std::uint8_t mask, std::string_view what,
                     std::string_view coordinate) {
  std::uint8_t bytes[Fp::kByteCount];
  std::copy_n(in, Fp::kByteCount, bytes);
  bytes[0] &= mask;
  if (const auto canonical = field::Canonical<Fp::Params>::from_bytes_be(bytes)) {
    return Fp::from_canonical(*canonical);
  }
  return malformed(what, fmt::format("{} is 0x{}, which is not below the field modulus", coordinate,
                                     base::to_hex({bytes, Fp::kByteCount})));
}

// Size and strict loading of a coordinate of either group.
template <class F>
struct Coordinates;

template <>
struct Coordinates<Fp> {
  static constexpr std::size_t kBytes = Fp::kByteCount;
  static Result<Fp> load(const std::uint8_t* in, std::uint8_t mask, std::string_view what,
                         std::string_view coordinate) {
    return load_base(in, mask, what, coordinate);
  }
};

template <>
struct Coordinates<Fp2> {
  static constexpr std::size_t kBytes = 2 * Fp::kByteCount;
  static Result<Fp2> load(const std::uint8_t* in, std::uint8_t mask, std::string_view what,
                          std::string_view coordinate) {
    CUZK_TRY(const Fp c1, load_base(in, mask, what, fmt::format("{}.c1", coordinate)));
    CUZK_TRY(const Fp c0,
             load_base(in + Fp::kByteCount, 0xff, what, fmt::format("{}.c0", coordinate)));
    return Fp2{c0, c1};
  }
};

// The length and the compressed flag.
Status check_form(ByteSpan in, std::size_t size, bool compressed, std::string_view what) {
  if (in.size() != size) {
    return malformed(what, fmt::format("a point has {} bytes here, found {}", size, in.size()));
  }
  if (((in[0] & kCompressedFlag) != 0) != compressed) {
    return malformed(what, fmt::format("first byte 0x{:02x} marks {} point, expected {}", in[0],
                                       compressed ? "an uncompressed" : "a compressed",
                                       compressed ? "a compressed one" : "an uncompressed one"));
  }
  return base::ok_status();
}

// For bytes that carry the infinity flag: all other bits must be zero.
Status check_infinity(ByteSpan in, std::string_view what) {
  CUZK_ASSERT(!in.empty() && (in[0] & kInfinityFlag) != 0);
  if ((in[0] & kLargerFlag) != 0 || (in[0] & ~kFlags) != 0) {
    return malformed(what,
                     fmt::format("infinity with other bits set (first byte 0x{:02x})", in[0]));
  }
  const auto rest = in.subspan(1);
  const auto bad = std::find_if(rest.begin(), rest.end(), [](std::uint8_t b) { return b != 0; });
  if (bad == rest.end()) return base::ok_status();
  return malformed(what, fmt::format("infinity with byte {} equal to 0x{:02x}, expected zero",
                                     bad - rest.begin() + 1, *bad));
}

// The last and dearest check, left out unless asked for.
template <class G>
Result<Affine<G>> checked_subgroup(const Affine<G>& p, PointCheck check, std::string_view what) {
  if (check == PointCheck::kSubgroup && !is_in_subgroup(p)) {
    return malformed(
        what, fmt::format("the point is on the curve but not in the subgroup of {}", G::kName));
  }
  return p;
}

// Form, infinity, x, then the root that the sign flag names.
template <class G>
Result<Affine<G>> decode_compressed(ByteSpan in, PointCheck check, std::string_view what) {
  using Field = typename G::Field;
  CUZK_TRY_STATUS(check_form(in, Coordinates<Field>::kBytes, true, what));
  if ((in[0] & kInfinityFlag) != 0) {
    CUZK_TRY_STATUS(check_infinity(in, what));
    return Affine<G>::infinity();
  }
  // The length is known to be right: loads, the root and the subgroup are what is left to go wrong.
  CUZK_TRY(const Field x, Coordinates<Field>::load(in.data(), ~kFlags & 0xff, what, "x"));
  auto y = square_root(x.squared() * x + G::b());
  if (!y) return malformed(what, "no point of the curve has this x");
  if (is_larger(*y) != ((in[0] & kLargerFlag) != 0)) y = -*y;
  return checked_subgroup(Affine<G>{x, *y}, check, what);
}

// Form, infinity, sign flag, coordinates, then the curve.
template <class G>
Result<Affine<G>> decode_uncompressed(ByteSpan in, PointCheck check, std::string_view what) {
  using Field = typename G::Field;
  constexpr std::size_t kHalf = Coordinates<Field>::kBytes;
  CUZK_TRY_STATUS(check_form(in, 2 * kHalf, false, what));
  if ((in[0] & kInfinityFlag) != 0) {
    CUZK_TRY_STATUS(check_infinity(in, what));
    return Affine<G>::infinity();
  }
  if ((in[0] & kLargerFlag) != 0) {
    return malformed(what,
                     fmt::format("first byte 0x{:02x} has the sign flag, which only compressed "
                                 "points carry",
                                 in[0]));
  }
  CUZK_TRY(const Field x, Coordinates<Field>::load(in.data(), 0xff, what, "x"));
  CUZK_TRY(const Field y, Coordinates<Field>::load(in.data() + kHalf, 0xff, what, "y"));
  const Affine<G> p = {x, y};
  // (0, 0) is our infinity in memory; in bytes it is no point, whatever the check.
  if (p.is_infinity() || (check != PointCheck::kNone && !p.is_on_curve())) {
    return malformed(what, "the point is not on the curve");
  }
  return checked_subgroup(p, check, what);
}

// The one encoding of the point; the inverse of what decoding accepts.
template <class G>
void encode(const Affine<G>& p, bool compressed, std::span<std::uint8_t> out) {
  constexpr std::size_t kHalf = Coordinates<typename G::Field>::kBytes;
  CUZK_ASSERT(out.size() == (compressed ? kHalf : 2 * kHalf));
  const std::uint8_t form = compressed ? kCompressedFlag : 0;
  if (p.is_infinity()) {
    std::fill(out.begin(), out.end(), std::uint8_t{0});
    out[0] = form | kInfinityFlag;
    return;
  }
  store(p.x, out.data());
  if (!compressed) return store(p.y, out.data() + kHalf);
  out[0] |= form;
  if (is_larger(p.y)) out[0] |= kLargerFlag;
}

}  // namespace

void encode_compressed(const Bls12_381::G1Affine& p, std::span<std::uint8_t> out) {
  encode(p, true, out);
}
void encode_compressed(const Bls12_381::G2Affine& p, std::span<std::uint8_t> out) {
  encode(p, true, out);
}
void encode_uncompressed(const Bls12_381::G1Affine& p, std::span<std::uint8_t> out) {
  encode(p, false, out);
}
void encode_uncompressed(const Bls12_381::G2Affine& p, std::span<std::uint8_t> out) {
  encode(p, false, out);
}

Result<Bls12_381::G1Affine> decode_g1_compressed(ByteSpan in, PointCheck check,
                                                 std::string_view what) {
  return decode_compressed<Bls12_381::G1>(in, check, what);
}
Result<Bls12_381::G2Affine> decode_g2_compressed(ByteSpan in, PointCheck check,
                                                 std::string_view what) {
  return decode_compressed<Bls12_381::G2>(in, check, what);
}
Result<Bls12_381::G1Affine> decode_g1_uncompressed(ByteSpan in, PointCheck check,
                                                   std::string_view what) {
  return decode_uncompressed<Bls12_381::G1>(in, check, what);
}
Result<Bls12_381::G2Affine> decode_g2_uncompressed(ByteSpan in, PointCheck check,
                                                   std::string_view what) {
  return decode_uncompressed<Bls12_381::G2>(in, check, what);
}

}  // namespace cuzk::curve
