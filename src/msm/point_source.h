// Bases of a multi-scalar multiplication, wherever they live: in memory or inside a mapped key
// file.
//
// A source borrows bytes and decodes a run of them at a time into affine Montgomery form, so a key
// file of 44 GiB is never copied. It does not check the points: readers do (curve/encoding.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "curve/groups.h"

namespace cuzk::msm {

enum class PointLayout {
  kNative,             // Affine<G> as in memory; also what snarkjs keys hold, at any alignment
  kZcashUncompressed,  // big-endian x || y with flag bits (BLS12-381 only); bellman parameter files
};

// A view, as cheap to copy as a span; empty by default. Whoever lends the bytes keeps them alive
// and unchanged. Any thread may read. Indices beyond size() are a defect of the caller.
template <class G>
class PointSource {
 public:
  PointSource() = default;
  // Borrows `points`.
  explicit PointSource(std::span<const curve::Affine<G>> points)
      : bytes_(reinterpret_cast<const std::uint8_t*>(points.data())), size_(points.size()) {}
  // Borrows `count` encoded points at `bytes`.
  PointSource(const std::uint8_t* bytes, std::size_t count, PointLayout layout)
      : bytes_(bytes), size_(count), layout_(layout) {}

  std::size_t size() const noexcept { return size_; }
  PointLayout layout() const noexcept { return layout_; }
  const std::uint8_t* bytes() const noexcept { return bytes_; }
  static constexpr std::size_t kPointBytes = sizeof(curve::Affine<G>);

  // Points [first, first + out.size()) into `out`.
  void decode(std::size_t first, std::span<curve::Affine<G>> out) const;
  // Points at `indices` into `out`, same length.
  void gather(std::span<const std::uint32_t> indices, std::span<curve::Affine<G>> out) const;
  curve::Affine<G> at(std::size_t index) const;
  // The part [first, first + count).
  PointSource subset(std::size_t first, std::size_t count) const {
    CUZK_ASSERT(first <= size_ && count <= size_ - first);
    return PointSource(bytes_ + first * kPointBytes, count, layout_);
  }

 private:
  const std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
  PointLayout layout_ = PointLayout::kNative;
};

extern template class PointSource<curve::Bls12_381::G1>;
extern template class PointSource<curve::Bls12_381::G2>;
extern template class PointSource<curve::Bn254::G1>;
extern template class PointSource<curve::Bn254::G2>;

}  // namespace cuzk::msm
