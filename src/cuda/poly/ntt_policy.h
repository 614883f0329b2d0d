// How a transform is cut into passes, and the sizes of tiles and tables.
//
// One pass does up to ten levels of butterflies on tiles in shared memory and touches each element
// once, so 2^27 elements take three passes over device memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/check.h"

namespace cuzk::cuda::poly {

// The numbers that passes are cut by. Sizes of registers and shared memory bound them from above.
// They move time, not results; 1 <= pass_levels_max <= kRootsLog2.
struct NttPolicy {
  int pass_levels_max = 9;     // nine levels leave two columns of 32 bytes in a tile: 64-byte runs
  int tile_log2 = 10;          // elements of a tile, eight a thread; at most kThreadsMax threads
  int direct_table_log2 = 18;  // twiddles up to this order are looked up, above it multiplied
};

inline constexpr int kElementsPerThreadLog2 = 3;
inline constexpr int kThreadsMax = 256, kBlocksPerMultiprocessor = 2;
inline constexpr int kRootsLog2 = 10;  // the table of roots inside a tile
static_assert(kThreadsMax << kElementsPerThreadLog2 >= 1 << NttPolicy{}.tile_log2);
static_assert(NttPolicy{}.pass_levels_max <= kRootsLog2 && kRootsLog2 <= NttPolicy{}.tile_log2,
              "the levels of a pass find their roots in the table and their rows in a tile");

// Levels of each pass, from the largest blocks to the smallest; as even as possible, and one pass
// fewer when ten levels a pass allow it.
inline std::vector<int> pass_levels(int size_log2, const NttPolicy& policy) {
  CUZK_ASSERT(size_log2 >= 1 && policy.pass_levels_max >= 1);
  const int with_most = (size_log2 + kRootsLog2 - 1) / kRootsLog2;
  const int with_preferred = (size_log2 + policy.pass_levels_max - 1) / policy.pass_levels_max;
  const int count = std::max(1, std::min(with_most, with_preferred));
  std::vector<int> out;
  // floor((k + i) / n) for i < n sum to k, the smallest first.
  for (int i = 0; i < count; ++i) out.push_back((size_log2 + i) / count);
  std::reverse(out.begin(), out.end());
  CUZK_ASSERT(out.front() <= kRootsLog2);
  return out;
}

// The order of the first table of a two-level power table of 2^size_log2 powers: halves, so that
// both tables together are as small as they can be (2^14 elements each for 2^28 powers).
inline constexpr int table_split_log2(int size_log2) { return (size_log2 + 1) / 2; }

}  // namespace cuzk::cuda::poly
