// The layout of a key's queries over a circuit's variables, and its cut into pieces.
//
// A piece is a run of whole words of variables, first of the inputs, then of the aux, and so a run
// of the query's points: it can be uploaded and summed alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_vector.h"

namespace cuzk::cuda::prove {

// One run of variables in one query (groth16/query.h, QuerySegment), with places counted.
struct SegmentLayout {
  const base::BitVector* density = nullptr;  // null: all variables occur
  bool is_packed = false;                    // whether the query omits the others
  std::size_t size = 0;                      // variables of the run
  std::vector<std::uint32_t> point_rank;     // packed: points before each word
  std::size_t point_count = 0;

  // `density` covers the run and outlives the layout; without one a packed run omits nothing.
  static SegmentLayout of(const base::BitVector* density, bool is_packed, std::size_t size);
  std::size_t word_count() const { return (size + 63) / 64; }
  // The variables of a word that occur, as its bits.
  std::uint64_t selected_word(std::size_t word) const;
  // Points of the run before a word; of the whole run for one past the last.
  std::size_t point_before(std::size_t word) const;
};

// A query over both runs. The L query has an empty run of inputs.
struct QueryLayout {
  std::array<SegmentLayout, 2> runs;
  std::size_t point_count() const { return runs[0].point_count + runs[1].point_count; }
  // Words of both runs in order, those of the inputs first, and the points before one of them.
  std::size_t word_count() const { return runs[0].word_count() + runs[1].word_count(); }
  std::size_t point_before(std::size_t word) const;
};

// Words [first, last), of one run or of both runs in order.
struct WordRange {
  std::size_t first = 0, last = 0;
  bool operator==(const WordRange&) const = default;
};
// A run of the query's points, how many of them have scalars, and the words of each run it is from.
struct QueryPiece {
  std::size_t first_point = 0, point_count = 0, scalar_count = 0;
  std::array<WordRange, 2> words;
};

// Which variables of each run are scalars of a witness rather than bits; borrowed.
using ScalarMasks = std::array<std::span<const std::uint64_t>, 2>;

// Bits of both runs' masks that the words `part` of a query select: the scalars of its sum.
std::size_t selected_scalar_count(const QueryLayout& layout, const ScalarMasks& masks,
                                  WordRange part);

// Pieces of at most `points_max` points (at least 64) over the words `part`, in order; none where
// they have no points. Places count from the query's first point.
std::vector<QueryPiece> cut_query(const QueryLayout& layout, const ScalarMasks& masks,
                                  std::size_t points_max, WordRange part);

}  // namespace cuzk::cuda::prove
