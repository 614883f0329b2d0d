// The point that a witness makes of a query: the sum of the bases of its ones, and a Pippenger over
// its scalars, piece by piece.
//
// In sealing circuits most variables are bits, so a query of a hundred million points is mostly one
// addition a set bit (msm::sum_by_bitmap) and only some per cent of it a real multiplication.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "base/ledger.h"
#include "base/scratch.h"
#include "groth16/control.h"
#include "groth16/query.h"
#include "msm/msm.h"

namespace cuzk::groth16 {

// Scalars in one multiplication. Large enough that the buckets' cost is small beside it (a window
// of 16 bits has 2^15 buckets, cleared by some 3 * 2^15 additions; the scalars are 2^22), small
// enough to bound memory. A stop is noticed within a piece, too.
inline constexpr std::size_t kPieceScalars = std::size_t{1} << 22;

// A query's scalars with the places of their points, owned.
template <class F>
struct SelectedScalars {
  using Canonical = field::Canonical<typename F::Params>;
  base::Buffer<std::uint32_t> indices;
  base::Buffer<Canonical> values;

  static base::Result<SelectedScalars> allocate(std::size_t count, base::MemoryCategory category,
                                                std::string_view owner) {
    SelectedScalars out;
    CUZK_TRY(out.indices, base::Buffer<std::uint32_t>::allocate(count, category, owner));
    CUZK_TRY(out.values, base::Buffer<Canonical>::allocate(count, category, owner));
    return out;
  }
  // What allocate takes, and what a value holds.
  static std::uint64_t byte_count(std::uint64_t count) {
    return base::page_rounded(count * sizeof(std::uint32_t)) +
           base::page_rounded(count * sizeof(Canonical));
  }
  std::uint64_t byte_count() const { return indices.byte_count() + values.byte_count(); }
};

// The ones of a query as a bitmap, counted. Admitted before it is built: the bitmap of a large
// circuit is many megabytes.
struct CountedOnes {
  base::Permit permit;
  base::BitVector bits;

  template <class F>
  static base::Result<CountedOnes> of(const QueryWalk<F>& walk, base::MemoryCategory category,
                                      std::string_view owner) {
    CountedOnes out;
    CUZK_TRY(out.permit,
             base::Ledger::process().admit((walk.point_count() + 63) / 64 * 8, category, owner));
    out.bits = walk.ones();
    return out;
  }
};

// The sums throw base::OutOfMemory or std::bad_alloc when the scratch of msm/ is refused: start and
// finish of the backend catch it.

// sum of values[j] * bases[indices[j]] plus the bases whose bit is set in `ones`, in pieces of
// `piece_scalars` scalars. Stops with kCancelled within some milliseconds.
template <class G, class F>
base::Result<curve::Jacobian<G>> sum_selected(const msm::PointSource<G>& bases,
                                              const base::BitVector& ones,
                                              const SelectedScalars<F>& scalars,
                                              const Control& control, std::string_view stage,
                                              std::size_t piece_scalars = kPieceScalars) {
  CUZK_ASSERT(ones.size() == bases.size() && piece_scalars > 0);
  CUZK_ASSERT(scalars.indices.size() == scalars.values.size());
  control.begin_stage(stage, 1 + scalars.values.size());
  ControlCheckpoint checkpoint(control);
  auto sum = msm::sum_by_bitmap<G>(bases, ones.words(), &checkpoint);
  control.advance(1);
  for (std::size_t first = 0; first < scalars.values.size(); first += piece_scalars) {
    CUZK_TRY_STATUS(control.check(stage));
    const std::size_t count = std::min(piece_scalars, scalars.values.size() - first);
    sum += msm::multiply_indexed<G>(bases, scalars.indices.span().subspan(first, count),
                                    scalars.values.span().subspan(first, count), &checkpoint);
    control.advance(count);
  }
  CUZK_TRY_STATUS(control.check(stage));
  return sum;
}

// The same for scalars that nobody needs afterwards: converted one piece at a time.
template <class G, class F>
base::Result<curve::Jacobian<G>> sum_walk(const msm::PointSource<G>& bases,
                                          const QueryWalk<F>& walk, const Control& control,
                                          std::string_view stage,
                                          std::size_t piece_scalars = kPieceScalars) {
  CUZK_ASSERT(walk.point_count() == bases.size() && piece_scalars > 0);
  control.begin_stage(stage, 1 + walk.scalar_count());
  ControlCheckpoint checkpoint(control);
  auto sum = curve::Jacobian<G>::infinity();
  {
    // The bitmap goes before the scalars come: the plan (memory.cpp) counts the larger of the two.
    CUZK_TRY(const auto ones,
             CountedOnes::of(walk, base::MemoryCategory::kMsmScratch, "ones of one query"));
    sum = msm::sum_by_bitmap<G>(bases, ones.bits.words(), &checkpoint);
  }
  control.advance(1);
  const std::size_t piece = std::min(piece_scalars, walk.scalar_count());
  CUZK_TRY(auto scalars, SelectedScalars<F>::allocate(piece, base::MemoryCategory::kMsmScratch,
                                                      "scalars of one query"));
  for (std::size_t first = 0; first < walk.scalar_count(); first += piece) {
    CUZK_TRY_STATUS(control.check(stage));
    const std::size_t count = std::min(piece, walk.scalar_count() - first);
    const auto indices = scalars.indices.span().first(count);
    const auto values = scalars.values.span().first(count);
    walk.scalars(first, indices, values);
    sum += msm::multiply_indexed<G>(bases, indices, values, &checkpoint);
    control.advance(count);
  }
  CUZK_TRY_STATUS(control.check(stage));
  return sum;
}

// The sum over a full query without indices, all of whose scalars are there: H.
template <class G>
base::Result<curve::Jacobian<G>> sum_all(
    const msm::PointSource<G>& bases,
    std::span<const field::Canonical<typename G::Scalar::Params>> scalars, const Control& control,
    std::string_view stage, std::size_t piece_scalars = kPieceScalars) {
  CUZK_ASSERT(scalars.size() <= bases.size() && piece_scalars > 0);
  control.begin_stage(stage, scalars.size());
  ControlCheckpoint checkpoint(control);
  auto sum = curve::Jacobian<G>::infinity();
  for (std::size_t first = 0; first < scalars.size(); first += piece_scalars) {
    CUZK_TRY_STATUS(control.check(stage));
    const std::size_t count = std::min(piece_scalars, scalars.size() - first);
    sum += msm::multiply<G>(bases.subset(first, count), scalars.subspan(first, count), &checkpoint);
    control.advance(count);
  }
  CUZK_TRY_STATUS(control.check(stage));
  return sum;
}

}  // namespace cuzk::groth16
