// Where a tile of matrix rows ends that is to fit so many bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "cuda/device/buffer.h"
#include "r1cs/shape.h"

namespace cuzk::cuda::prove {

// Bytes of rows [first, last) of a matrix in a tile.
inline std::uint64_t tile_row_bytes(const r1cs::SparseMatrix& matrix, std::size_t first,
                                    std::size_t last) {
  device::Arena arena;
  arena.take<std::uint64_t>(last - first + 1);
  arena.take<r1cs::Term>(matrix.row_begin[last] - matrix.row_begin[first]);
  return arena.used_bytes();
}

// The largest `last` such that rows [first, last) fit `tile_bytes`; one row always has to.
inline std::size_t tile_end(const r1cs::SparseMatrix& matrix, std::size_t first,
                            std::uint64_t tile_bytes) {
  std::size_t low = first + 1, high = matrix.row_count();
  CUZK_CHECK(low <= high && tile_row_bytes(matrix, first, low) <= tile_bytes);
  while (low < high) {
    const std::size_t middle = low + (high - low + 1) / 2;
    if (tile_row_bytes(matrix, first, middle) <= tile_bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace cuzk::cuda::prove
