// Multi-scalar multiplication: sum of k_i P_i.
//
// Complete for every input: infinite, equal and opposite bases, zero scalars, length 0. Scratch is
// counted as kMsmScratch; every operation throws base::OutOfMemory or std::bad_alloc when it is
// refused, for base::catch_out_of_memory of the caller (scratch.h says why).
//
// Operations with a checkpoint come to a border each few milliseconds (base/checkpoint.h). Where it
// said no the result is infinity and means nothing: the caller asks the checkpoint's owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checkpoint.h"
#include "curve/groups.h"
#include "msm/point_source.h"
#include "msm/row_buffer.h"

namespace cuzk::msm {

// Full-size scalars. bases.size() == scalars.size(). Multi-threaded.
template <class G>
curve::Jacobian<G> multiply(const PointSource<G>& bases,
                            std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
                            base::Checkpoint* checkpoint = nullptr);

// The same over a choice of bases: sum of scalars[j] * bases[indices[j]].
template <class G>
curve::Jacobian<G> multiply_indexed(
    const PointSource<G>& bases, std::span<const std::uint32_t> indices,
    std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
    base::Checkpoint* checkpoint = nullptr);

// Upper bound of the memory that either takes for its own use, whatever the scalars; a function of
// group, length, CPU level and thread count.
template <class G>
std::uint64_t multiply_scratch_bytes(std::size_t point_count);

// Sum of the bases whose bit is set: bit i of the bitmap (64 bits a word, least significant first)
// belongs to base i. Bits past bases.size() must be clear. Batched affine additions, no buckets.
template <class G>
curve::Jacobian<G> sum_by_bitmap(const PointSource<G>& bases, std::span<const std::uint64_t> bitmap,
                                 base::Checkpoint* checkpoint = nullptr);

// Upper bound of the memory that sum_by_bitmap takes for its own use over that many bases.
template <class G>
std::uint64_t bitmap_scratch_bytes(std::size_t point_count);

template <class G>
struct PointKernel;
template <class G>
class SegmentSummer;

// Multiples of one base: tables once, then 255 / window additions a scalar, batched over scalars.
// Immutable, so any number of threads may use one.
template <class G>
class FixedBase {
 public:
  // `expected_count` picks the window by cost.
  FixedBase(const curve::Affine<G>& base, std::size_t expected_count);
  // out[i] = scalars[i] * base. Multi-threaded.
  void multiply(std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
                std::span<curve::Affine<G>> out) const;
  std::size_t byte_count() const noexcept { return table_.size_bytes(); }

 private:
  // Steps of multiply(); the types are those of the room's inside (fixed_base_impl.h).
  void multiply_block(SegmentSummer<G>& summer,
                      std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
                      std::span<curve::Affine<G>> out) const;
  void unpack_segments(SegmentSummer<G>& summer,
                       std::span<const field::Canonical<typename G::Scalar::Params>> scalars,
                       std::span<curve::Affine<G>> out) const;

  // The kernel of the CPU level at construction: its rows are what the table holds.
  const PointKernel<G>* kernel_;
  std::size_t window_bits_;
  RowBuffer table_;
};

// Affine form of many points with one inversion a batch. Multi-threaded.
template <class G>
void to_affine(std::span<const curve::Jacobian<G>> points, std::span<curve::Affine<G>> out);

}  // namespace cuzk::msm
