// A matrix as blocks of stored rows, and the tiles of stored rows that fit so many bytes.
//
// Rows that a circuit repeats are stored once (r1cs/shape.h); kernels evaluate all copies of a
// stored row together, so a repeated row comes up once a proof even where matrices are not
// resident.
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
    CUZK_ASSERT(repeat.first_stored >= stored);  // in order, and none inside another
    add_plain(repeat.first_stored);
    CUZK_ASSERT(row == repeat.first_row);
    out.push_back({stored, repeat.row_count, row, repeat.row_count,
                   static_cast<std::uint32_t>(repeat.copy_count + 1), repeat.steps});
    stored += repeat.row_count;
    row = repeat.end_row();
  }
  CUZK_ASSERT(stored <= matrix.stored_row_count());
  add_plain(matrix.stored_row_count());
  return out;
}

// The part of a block from stored row `first` on, `count` rows.
inline RowBlock block_part(RowBlock block, std::uint64_t first, std::uint64_t count) {
  CUZK_ASSERT(first >= block.first && first + count <= block.first + block.count);
  block.first_row += first - block.first;
  block.first = first;
  block.count = count;
  return block;
}

// What of `block` stands in rows [first, last) of the circuit, with rows counted from `first` on:
// copies follow each other, so it is a part of one copy, whole ones, and a part of another.
inline std::vector<RowBlock> rows_within(const RowBlock& block, std::uint64_t first,
                                         std::uint64_t last) {
  CUZK_ASSERT(block.copy_count == 1 || block.row_step == block.count);
  std::vector<RowBlock> out;
  const std::uint64_t end_row = block.first_row + block.copy_count * block.count;
  const std::uint64_t end = std::min(last, end_row);
  for (std::uint64_t row = std::max(first, block.first_row); row < end;) {
    const std::uint64_t copy = (row - block.first_row) / block.count;
    const std::uint64_t skipped = (row - block.first_row) % block.count;
    const std::uint64_t whole = skipped == 0 ? (end - row) / block.count : 0;
    RowBlock part = block;
    part.first_row = row - first;
    part.first_copy = block.first_copy + static_cast<std::uint32_t>(copy);
    part.copy_count = static_cast<std::uint32_t>(std::max<std::uint64_t>(whole, 1));
    if (whole == 0) {
      part.first = block.first + skipped;
      part.count = std::min(block.count - skipped, end - row);
    }
    row += part.copy_count * part.count;
    out.push_back(part);
  }
  return out;
}

// Bytes of stored rows [first, last) of a matrix in a tile: their starts, one more for the end, and
// their terms, in the order in which a tile takes them.
inline std::uint64_t tile_row_bytes(const r1cs::SparseMatrix& matrix, std::size_t first,
                                    std::size_t last) {
  CUZK_ASSERT(first <= last && last < matrix.row_begin.size());
  device::Arena arena;
  arena.take<std::uint64_t>(last - first + 1);
  arena.take<r1cs::Term>(matrix.row_begin[last] - matrix.row_begin[first]);
  return arena.used_bytes();
}

// The largest `last` up to `end` such that stored rows [first, last) fit `tile_bytes`; one row
// always has to (plans make tiles as long as the longest row). By halving: bytes grow with `last`.
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
