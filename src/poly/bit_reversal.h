// The permutation i -> bits of i reversed, in place and in cache-sized tiles.
//
// With the index split as (high, middle, low), three bits at either end, the 8 x 8 tile of a fixed
// middle goes, transposed, to the tile of the reversed middle. So each access moves a run of eight
// elements instead of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/threads.h"

namespace cuzk::poly {

// The lowest `count` bits of i in reverse order.
constexpr std::size_t reverse_bits(std::size_t i, std::size_t count) {
  std::size_t out = 0;
  for (std::size_t b = 0; b < count; ++b) out |= ((i >> b) & 1) << (count - 1 - b);
  return out;
}

static_assert(reverse_bits(0b0011, 4) == 0b1100 && reverse_bits(1, 1) == 1);

namespace internal {

// Runs of eight elements of 32 bytes: four cache lines at a time, and a tile is 2 KiB.
inline constexpr std::size_t kTileLog2 = 3, kTile = std::size_t{1} << kTileLog2;

// The tile with the given middle bits: kTile runs of kTile elements.
template <class F>
struct Tile {
  F value[kTile][kTile];

  static Tile read(std::span<const F> values, std::size_t log2, std::size_t middle) {
    Tile out;
    for (std::size_t high = 0; high < kTile; ++high) {
      const F* run = values.data() + (high << (log2 - kTileLog2)) + (middle << kTileLog2);
      for (std::size_t low = 0; low < kTile; ++low) out.value[high][low] = run[low];
    }
    return out;
  }
  // Writes element (high, low) to (reversed low, middle, reversed high).
  void write_reversed(std::span<F> values, std::size_t log2, std::size_t middle) const {
    for (std::size_t low = 0; low < kTile; ++low) {
      const std::size_t row = reverse_bits(low, kTileLog2);
      F* run = values.data() + (row << (log2 - kTileLog2)) + (middle << kTileLog2);
      for (std::size_t high = 0; high < kTile; ++high) {
        run[reverse_bits(high, kTileLog2)] = value[high][low];
      }
    }
  }
};

}  // namespace internal

// values.size() == 2^log2. Each element is read once and written once. Tiles are exchanged in
// pairs, each pair by the one of smaller number, so threads never touch the same tile.
template <class F>
void bit_reverse(std::span<F> values, std::size_t log2) {
  CUZK_ASSERT(values.size() == std::size_t{1} << log2);
  using Tile = internal::Tile<F>;
  if (log2 < 2 * internal::kTileLog2) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t j = reverse_bits(i, log2);
      if (i < j) std::swap(values[i], values[j]);
    }
    return;
  }
  const std::size_t middle_log2 = log2 - 2 * internal::kTileLog2;
  base::parallel_for(0, std::size_t{1} << middle_log2, 256,
                     [&](std::size_t first, std::size_t last) {
                       for (std::size_t middle = first; middle < last; ++middle) {
                         const std::size_t partner = reverse_bits(middle, middle_log2);
                         if (partner < middle) continue;
                         const Tile tile = Tile::read(values, log2, middle);
                         if (partner != middle)
                           Tile::read(values, log2, partner).write_reversed(values, log2, middle);
                         tile.write_reversed(values, log2, partner);
                       }
                     });
}

}  // namespace cuzk::poly
