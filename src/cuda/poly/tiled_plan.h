// Which tiles a transform from the host works in: plain arithmetic, for any build.
//
// Larger tiles cost no more copies and make longer runs of each column's rows, so the largest that
// fit are taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace cuzk::cuda::poly {

// Tiles of 2^tile_log2 elements: the whole vector when it fits.
struct TiledPlan {
  std::size_t size_log2 = 0, tile_log2 = 0;
  std::uint64_t scratch_bytes = 0;

  // Rows of the matrix whose rows are tiles: 0 where one tile holds all.
  std::size_t row_log2() const { return size_log2 - tile_log2; }
};

// The largest tiles whose two copies fit scratch_bytes_max. At least 2^10 elements, and at least a
// 2^10th of the vector, as a pass over columns does at most ten levels: 16 MiB of scratch for 2^28.
inline TiledPlan plan_tiles(std::size_t size_log2, std::uint64_t element_bytes,
                            std::uint64_t scratch_bytes_max) {
  constexpr std::size_t kLevelsMax = 10, kTileLog2Min = 10;
  TiledPlan plan = {size_log2, size_log2, element_bytes << size_log2};
  if (plan.scratch_bytes <= scratch_bytes_max || size_log2 <= kTileLog2Min) return plan;
  const std::size_t least =
      std::max(kTileLog2Min, size_log2 > kLevelsMax ? size_log2 - kLevelsMax : 0);
  plan.tile_log2 = size_log2 - 1;
  while (plan.tile_log2 > least && (2 * element_bytes << plan.tile_log2) > scratch_bytes_max) {
    --plan.tile_log2;
  }
  plan.scratch_bytes = 2 * element_bytes << plan.tile_log2;
  CUZK_ASSERT(plan.tile_log2 >= kTileLog2Min && plan.row_log2() <= kLevelsMax);
  return plan;
}

}  // namespace cuzk::cuda::poly
