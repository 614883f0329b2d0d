// Bodies of multiply, multiply_indexed and sum_by_bitmap; included by the instantiating files only.
//
// Scalars of full size go through buckets (bucket_sums.h). Bits go through plain sums of segments,
// one addition for each set bit: with buckets each would be cut into digits and sorted like a
// scalar of full size.
#pragma once

#include "msm/bucket_sums.h"
#include "msm/msm.h"

namespace cuzk::msm {

// The plan for this process. The byte counts and the work itself both ask here, so they agree as
// long as the number of threads does not change between the two.
template <class G>
MultiplyPlan plan_for(std::size_t point_count) {
  PlanInputs inputs;
  inputs.scalar_bits = G::Scalar::kBitCount;
  inputs.thread_count = base::thread_count();
  return plan_multiply(point_count, inputs);
}

// Chunk by chunk, so that memory is bounded whatever the length; `load` gives the points.
template <class G>
curve::Jacobian<G> multiply_loaded(const PointLoader<G>& load, std::span<const ScalarOf<G>> scalars,
                                   base::Checkpoint* checkpoint) {
  if (scalars.empty()) return curve::Jacobian<G>::infinity();
  const MultiplyPlan plan = plan_for<G>(scalars.size());
  BucketSums<G> sums(point_kernel<G>(), plan);
  for (std::size_t first = 0; first < scalars.size(); first += plan.chunk_points) {
    const std::size_t size = std::min(plan.chunk_points, scalars.size() - first);
    if (!sums.add_chunk(load, first, scalars.subspan(first, size), checkpoint)) {
      return curve::Jacobian<G>::infinity();
    }
  }
  return sums.finish(checkpoint);
}

template <class G>
curve::Jacobian<G> multiply(const PointSource<G>& bases, std::span<const ScalarOf<G>> scalars,
                            base::Checkpoint* checkpoint) {
  CUZK_ASSERT(bases.size() == scalars.size());
  return multiply_loaded<G>(
      [&](std::size_t first, std::span<curve::Affine<G>> out) { bases.decode(first, out); },
      scalars, checkpoint);
}

template <class G>
curve::Jacobian<G> multiply_indexed(const PointSource<G>& bases,
                                    std::span<const std::uint32_t> indices,
                                    std::span<const ScalarOf<G>> scalars,
                                    base::Checkpoint* checkpoint) {
  CUZK_ASSERT(indices.size() == scalars.size());
  return multiply_loaded<G>(
      [&](std::size_t first, std::span<curve::Affine<G>> out) {
        bases.gather(indices.subspan(first, out.size()), out);
      },
      scalars, checkpoint);
}

template <class G>
std::uint64_t multiply_scratch_bytes(std::size_t point_count) {
  if (point_count == 0) return 0;
  return BucketSums<G>::byte_count(point_kernel<G>(), plan_for<G>(point_count),
                                   base::thread_count());
}

// The sum of the set bases among [first, last), into `out_row`; the summer has source rows for all.
template <class G>
void sum_bits_of(const PointSource<G>& bases, std::span<const std::uint64_t> bitmap,
                 std::size_t first, std::size_t last, SegmentSummer<G>& summer,
                 std::uint8_t* out_row) {
  CUZK_ASSERT(first % 64 == 0 && first <= last && last <= bases.size());
  const PointKernel<G>& kernel = summer.kernel();
  std::vector<std::uint32_t> entries;
  curve::Affine<G> block[64];
  for (std::size_t word = first / 64; word * 64 < last; ++word) {
    std::size_t size = 0;
    for (std::uint64_t bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      block[size] = bases.at(word * 64 + std::size_t(__builtin_ctzll(bits)));
      if (!block[size].is_infinity()) ++size;
    }
    // Infinite bases are left out, so a piece of nothing else has no entries and stays zero.
    kernel.pack(block, size, summer.source_rows() + entries.size() * kernel.row_bytes);
    for (std::size_t i = 0; i < size; ++i) entries.push_back(operand(entries.size()));
  }
  if (entries.empty()) return;
  const std::uint32_t length = static_cast<std::uint32_t>(entries.size());
  summer.sum(summer.source_rows(), entries, {&length, 1});
  kernel.copy(summer.row(0), false, out_row);
}

// Pieces of whole words, some for each thread, long enough to share inversions well.
inline std::size_t bitmap_piece_points(std::size_t point_count) {
  return std::clamp<std::size_t>(point_count / (8 * base::thread_count()) / 64 * 64, 4096, 32768);
}

template <class G>
std::uint64_t bitmap_scratch_bytes(std::size_t point_count) {
  if (point_count == 0) return 0;
  const PointKernel<G>& kernel = point_kernel<G>();
  const std::size_t piece = bitmap_piece_points(point_count);
  const std::size_t pieces = (point_count + piece - 1) / piece;
  const std::size_t summers = std::min(pieces, base::thread_count());
  return RowBuffer::rounded(pieces * kernel.row_bytes) + 4 * pieces +
         summers *
             (SegmentSummer<G>::byte_count(kernel, std::max(piece, pieces), piece) + 2 * 4 * piece);
}

// Pieces side by side, each to a row of its own; then one more sum over these rows.
template <class G>
curve::Jacobian<G> sum_by_bitmap(const PointSource<G>& bases, std::span<const std::uint64_t> bitmap,
                                 base::Checkpoint* checkpoint) {
  CUZK_ASSERT(bitmap.size() >= (bases.size() + 63) / 64);
  const std::size_t piece = bitmap_piece_points(bases.size());
  const std::size_t pieces = (bases.size() + piece - 1) / piece;
  const PointKernel<G>& kernel = point_kernel<G>();
  RowBuffer partial(pieces * kernel.row_bytes);
  partial.fill_zero();
  SummerPool<G> pool(kernel, std::max(piece, pieces), piece);
  const bool goes_on = base::parallel_tasks(pieces, checkpoint, [&](std::size_t i) {
    typename SummerPool<G>::Loan summer(pool);
    sum_bits_of(bases, bitmap, i * piece, std::min((i + 1) * piece, bases.size()), *summer,
                partial.data() + i * kernel.row_bytes);
  });
  if (pieces == 0 || !goes_on) return curve::Jacobian<G>::infinity();
  std::vector<std::uint32_t> entries(pieces);
  for (std::size_t i = 0; i < pieces; ++i) entries[i] = operand(i);
  // A piece without set bits left a row of zeros, which is infinity and adds nothing.
  const std::uint32_t length = static_cast<std::uint32_t>(pieces);
  typename SummerPool<G>::Loan summer(pool);
  summer->sum(partial.data(), entries, {&length, 1});
  curve::Affine<G> total;
  kernel.unpack(summer->row(0), 1, &total);
  return curve::Jacobian<G>::from_affine(total);
}

}  // namespace cuzk::msm
