// Decoding of bases: a byte copy for native rows, a byte swap and one product for ZCash rows.
//
// One product a coordinate takes it into Montgomery form, a few per cent of what the sums do with
// the point. Nothing is checked here: a coordinate that is not below p gives a wrong sum and never
// a wrong access, and the proof made of it fails its self-check.
#include "msm/point_source.h"

#include <cstring>
#include <type_traits>

#include "base/check.h"

namespace cuzk::msm {
namespace {

using curve::Affine;

// Flag bits of the ZCash encoding, in the first byte of a point (curve/encoding.cpp has them all).
constexpr std::uint8_t kInfinityFlag = 0x40;
constexpr std::uint8_t kFlagMask = 0xe0;

// One big-endian coordinate in the base field; `mask` clears flag bits of the first byte.
template <class Fp>
Fp read_coordinate(const std::uint8_t* in, std::uint8_t mask) {
  std::uint8_t bytes[Fp::kByteCount];
  std::memcpy(bytes, in, sizeof bytes);
  bytes[0] &= mask;
  return Fp::from_canonical({field::load_be<Fp::kLimbCount>(bytes)});
}

template <class Fp>
void read_zcash(const std::uint8_t* in, std::uint8_t mask, Fp& out) {
  out = read_coordinate<Fp>(in, mask);
}
// The encoding puts c1 before c0.
template <class Fp>
void read_zcash(const std::uint8_t* in, std::uint8_t mask, field::Quadratic<Fp>& out) {
  out.c1 = read_coordinate<Fp>(in, mask);
  out.c0 = read_coordinate<Fp>(in + Fp::kByteCount, 0xff);
}

// One point; the flag of infinity decides, whatever the other bytes are.
template <class G>
Affine<G> read_point(const std::uint8_t* in, PointLayout layout) {
  Affine<G> out;
  if (layout == PointLayout::kNative) {
    static_assert(std::is_trivially_copyable_v<Affine<G>>);
    std::memcpy(static_cast<void*>(&out), in, sizeof out);
    return out;
  }
  static_assert(sizeof(Affine<G>) == 2 * sizeof(typename G::Field), "x || y, without gaps");
  if ((in[0] & kInfinityFlag) != 0) return out;
  read_zcash(in, static_cast<std::uint8_t>(~kFlagMask), out.x);
  read_zcash(in + sizeof(typename G::Field), 0xff, out.y);
  return out;
}

// ZCash's encoding needs three spare bits in the first byte, which BN254 does not have.
template <class G>
constexpr bool has_layout(PointLayout layout) {
  return layout == PointLayout::kNative || std::is_same_v<typename G::Curve, curve::Bls12_381>;
}

}  // namespace

template <class G>
void PointSource<G>::decode(std::size_t first, std::span<Affine<G>> out) const {
  CUZK_ASSERT(has_layout<G>(layout_));
  CUZK_ASSERT(first <= size_ && out.size() <= size_ - first);
  if (out.empty()) return;
  const std::uint8_t* in = bytes_ + first * kPointBytes;
  if (layout_ == PointLayout::kNative) {
    std::memcpy(static_cast<void*>(out.data()), in, out.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = read_point<G>(in + i * kPointBytes, layout_);
  }
}

template <class G>
void PointSource<G>::gather(std::span<const std::uint32_t> indices,
                            std::span<Affine<G>> out) const {
  CUZK_ASSERT(indices.size() == out.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = at(indices[i]);
}

template <class G>
Affine<G> PointSource<G>::at(std::size_t index) const {
  CUZK_ASSERT(has_layout<G>(layout_) && index < size_);
  return read_point<G>(bytes_ + index * kPointBytes, layout_);
}

template class PointSource<curve::Bls12_381::G1>;
template class PointSource<curve::Bls12_381::G2>;
template class PointSource<curve::Bn254::G1>;
template class PointSource<curve::Bn254::G2>;

}  // namespace cuzk::msm
