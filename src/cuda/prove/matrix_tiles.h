// A matrix as blocks of stored rows, and the tiles of stored rows that fit so many bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "cuda/device/buffer.h"
#include "cuda/prove/witness_view.h"
#include "r1cs/shape.h"

namespace cuzk::cuda::prove {

// The blocks that repeat and what lies between them, in the order of the rows.
inline std::vector<RowBlock> row_blocks(const r1cs::SparseMatrix& matrix) {
  std::vector<RowBlock> out;
  std::uint64_t stored = 0, row = 0;
  const auto add_plain = [&](std::uint64_t end) {
    if (end == stored) return;
    out.push_back({stored, end - stored, row, 0, 1, {}});
    row += end - stored;
    stored = end;
  };
  for (const r1cs::RowRepeat& repeat : matrix.repeats) {
    add_plain(repeat.first_stored);
    CUZK_ASSERT(row == repeat.first_row);
    out.push_back({stored, repeat.row_count, row, repeat.row_count,
                   static_cast<std::uint32_t>(repeat.copy_count + 1), repeat.steps});
    stored += repeat.row_count;
    row = repeat.end_row();
  }
  add_plain(matrix.stored_row_count());
  return out;
}

// The part of a block from stored row `first` on, `count` rows.
inline RowBlock block_part(RowBlock block, std::uint64_t first, std::uint64_t count) {
  block.first_row += first - block.first;
  block.first = first;
  block.count = count;
  return block;
}

// Bytes of stored rows [first, last) of a matrix in a tile.
inline std::uint64_t tile_row_bytes(const r1cs::SparseMatrix& matrix, std::size_t first,
                                    std::size_t last) {
  device::Arena arena;
  arena.take<std::uint64_t>(last - first + 1);
  arena.take<r1cs::Term>(matrix.row_begin[last] - matrix.row_begin[first]);
  return arena.used_bytes();
}

// The largest `last` up to `end` such that stored rows [first, last) fit `tile_bytes`; one row
// always has to.
inline std::size_t tile_end(const r1cs::SparseMatrix& matrix, std::size_t first, std::size_t end,
                            std::uint64_t tile_bytes) {
  std::size_t low = first + 1, high = end;
  CUZK_ASSERT(low <= high && tile_row_bytes(matrix, first, low) <= tile_bytes);
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
