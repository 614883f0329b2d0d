// Cuts of queries against a walk over single variables.
#include "cuda/prove/query_pieces.h"

#include <random>

#include <gtest/gtest.h>

#include "cuda/prove/witness_view.h"

namespace cuzk::cuda::prove {
namespace {

base::BitVector random_bits(std::size_t size, unsigned of_256, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  base::BitVector out(size);
  for (std::size_t i = 0; i < size; ++i) {
    if ((random() & 255) < of_256) out.set(i);
  }
  return out;
}

struct Variables {
  base::BitVector density, mask, bits;

  Variables(std::size_t size, unsigned dense, std::uint64_t seed)
      : density(random_bits(size, dense, seed)),
        mask(random_bits(size, 40, seed + 1)),
        bits(random_bits(size, 128, seed + 2)) {
    base::BitVector cleared(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (bits.get(i) && !mask.get(i)) cleared.set(i);
    }
    bits = cleared;
  }
};

struct Expected {
  std::vector<bool> one_at;                // by point
  std::vector<std::size_t> scalar_points;  // in variable order
};

// By the definition in groth16/query.h.
Expected walk(const std::array<Variables, 2>& runs, bool is_packed, bool has_density) {
  Expected out;
  for (const Variables& run : runs) {
    for (std::size_t i = 0; i < run.mask.size(); ++i) {
      const bool occurs = !has_density || run.density.get(i);
      if (is_packed && has_density && !occurs) continue;
      out.one_at.push_back(occurs && run.bits.get(i));
      if (occurs && run.mask.get(i)) out.scalar_points.push_back(out.one_at.size() - 1);
    }
  }
  return out;
}

// The pieces of `parts` runs of words, one after the other.
std::vector<QueryPiece> cut_in_parts(const QueryLayout& layout, const ScalarMasks& masks,
                                     std::size_t points_max, std::size_t parts) {
  std::vector<QueryPiece> out;
  std::size_t scalar_count = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const WordRange part = {layout.word_count() * i / parts, layout.word_count() * (i + 1) / parts};
    scalar_count += selected_scalar_count(layout, masks, part);
    for (const QueryPiece& piece : cut_query(layout, masks, points_max, part)) {
      out.push_back(piece);
    }
  }
  EXPECT_EQ(scalar_count, selected_scalar_count(layout, masks, {0, layout.word_count()}));
  return out;
}

void expect_pieces(std::size_t inputs, std::size_t aux, unsigned dense, bool is_packed,
                   bool has_density, std::size_t points_max, std::size_t parts = 1) {
  SCOPED_TRACE(std::to_string(inputs) + " " + std::to_string(aux) + " of " +
               std::to_string(points_max));
  const std::array<Variables, 2> runs = {Variables(inputs, dense, 7), Variables(aux, dense, 9)};
  const Expected expected = walk(runs, is_packed, has_density);
  QueryLayout layout;
  std::array<std::span<const std::uint64_t>, 2> masks;
  for (int r = 0; r < 2; ++r) {
    layout.runs[r] =
        SegmentLayout::of(has_density ? &runs[r].density : nullptr, is_packed, runs[r].mask.size());
    masks[r] = runs[r].mask.words();
  }
  ASSERT_EQ(layout.point_count(), expected.one_at.size());
  EXPECT_EQ(selected_scalar_count(layout, masks, {0, layout.word_count()}),
            expected.scalar_points.size());
  std::vector<bool> one_at(expected.one_at.size());
  std::vector<std::size_t> scalar_points;
  std::size_t next_point = 0;
  for (const QueryPiece& piece : cut_in_parts(layout, masks, points_max, parts)) {
    EXPECT_EQ(piece.first_point, next_point);
    EXPECT_LE(piece.point_count, points_max);
    next_point += piece.point_count;
    std::vector<std::uint64_t> bitmap((piece.point_count + 63) / 64 + 1);
    std::size_t scalars = 0;
    for (int r = 0; r < 2; ++r) {
      SegmentView view;
      view.density = layout.runs[r].density != nullptr ? runs[r].density.words().data() : nullptr;
      view.point_rank = layout.runs[r].is_packed ? layout.runs[r].point_rank.data() : nullptr;
      view.first_point = r == 0 ? 0 : static_cast<std::uint32_t>(layout.runs[0].point_count);
      view.size = layout.runs[r].size;
      for (std::size_t w = piece.words[r].first; w < piece.words[r].last; ++w) {
        const PlacedBits placed = place_ones(view, w, runs[r].bits.words()[w],
                                             static_cast<std::uint32_t>(piece.first_point));
        ASSERT_LT(placed.word, bitmap.size());
        EXPECT_EQ(bitmap[placed.word] & placed.low, 0u);
        bitmap[placed.word] |= placed.low;
        if (placed.high != 0) {
          ASSERT_LT(placed.word + 1, bitmap.size());
          bitmap[placed.word + 1] |= placed.high;
        }
        const std::uint64_t selected = selected_word(view, w);
        for (std::uint64_t left = runs[r].mask.words()[w] & selected; left != 0;
             left &= left - 1, ++scalars) {
          scalar_points.push_back(word_point(view, w) +
                                  point_in_word(view, selected, lowest_bit(left)));
        }
      }
    }
    EXPECT_EQ(scalars, piece.scalar_count);
    for (std::size_t i = 0; i < piece.point_count; ++i) {
      one_at[piece.first_point + i] = bitmap[i / 64] >> (i % 64) & 1;
    }
  }
  EXPECT_EQ(next_point, expected.one_at.size());
  EXPECT_EQ(one_at, expected.one_at);
  EXPECT_EQ(scalar_points, expected.scalar_points);
}

TEST(QueryPieces, FollowTheWalkOverVariablesInEveryLayout) {
  for (const std::size_t points_max : {64, 100, 128, 1000, 100000}) {
    for (const std::size_t inputs : {1, 3, 63, 64, 65, 130}) {
      for (const std::size_t aux : {0, 1, 64, 2000}) {
        expect_pieces(inputs, aux, 200, true, true, points_max);
        expect_pieces(inputs, aux, 200, false, true, points_max);
        expect_pieces(inputs, aux, 200, true, false, points_max);
      }
    }
  }
}

TEST(QueryPieces, SparseFullAndEmptyDensities) {
  for (const unsigned dense : {0u, 3u, 256u}) {
    expect_pieces(70, 3000, dense, true, true, 256);
    expect_pieces(70, 3000, dense, false, true, 256);
  }
}

TEST(QueryPieces, RunsOfWordsThatSeveralDevicesTakeJoinToTheQuery) {
  for (const std::size_t parts : {2, 3, 7, 40}) {
    for (const std::size_t inputs : {0, 1, 64, 130}) {
      for (const bool is_packed : {true, false}) {
        expect_pieces(inputs, 2000, 100, is_packed, true, 192, parts);
        expect_pieces(inputs, 2000, 100, is_packed, false, 100000, parts);
      }
    }
  }
}

TEST(QueryPieces, AQueryWithoutPointsHasNoPiece) {
  QueryLayout layout;
  EXPECT_TRUE(cut_query(layout, {}, 64, {0, 0}).empty());
  EXPECT_EQ(selected_scalar_count(layout, {}, {0, 0}), 0u);
}

}  // namespace
}  // namespace cuzk::cuda::prove
