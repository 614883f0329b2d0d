// One walk over the words of both runs.
//
// Cuts fall between words of 64 variables, so that a kernel selects whole words and a piece's
// points are a run. A word's points are counted by its density, its scalars by mask and density.
#include "cuda/prove/query_pieces.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace cuzk::cuda::prove {

SegmentLayout SegmentLayout::of(const base::BitVector* density, bool is_packed, std::size_t size) {
  CUZK_ASSERT(density == nullptr || density->size() == size);
  SegmentLayout out;
  // A packed run without a density omits nothing, so it lies as an unpacked one.
  out.is_packed = is_packed && density != nullptr;
  out.density = density;
  out.size = size;
  out.point_count = size;
  if (!out.is_packed) return out;
  // Ranks are of 32 bits: a query has fewer than 2^32 points.
  out.point_count = 0;
  out.point_rank.reserve(out.word_count());
  for (const std::uint64_t word : density->words()) {
    out.point_rank.push_back(static_cast<std::uint32_t>(out.point_count));
    out.point_count += static_cast<std::size_t>(std::popcount(word));
  }
  CUZK_ASSERT(out.point_rank.size() == out.word_count() && out.point_count <= size);
  return out;
}

std::uint64_t SegmentLayout::selected_word(std::size_t word) const {
  CUZK_DEBUG_ASSERT(word < word_count());
  if (density != nullptr) return density->words()[word];
  const std::size_t left = size - 64 * word;
  return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

std::size_t SegmentLayout::point_before(std::size_t word) const {
  if (word >= word_count()) return point_count;
  return is_packed ? point_rank[word] : 64 * word;
}

std::size_t QueryLayout::point_before(std::size_t word) const {
  const std::size_t inputs = runs[0].word_count();
  return word <= inputs ? runs[0].point_before(word)
                        : runs[0].point_count + runs[1].point_before(word - inputs);
}

namespace {

// The words of run r that are among the words `part` of both runs.
WordRange words_of_run(const QueryLayout& layout, int r, WordRange part) {
  const std::size_t before = r == 0 ? 0 : layout.runs[0].word_count();
  const std::size_t count = layout.runs[r].word_count();
  const auto within = [&](std::size_t word) {
    return word <= before ? 0 : std::min(word - before, count);
  };
  return {within(part.first), within(part.last)};
}

// Scalars that the query's sum has among one word's variables.
std::size_t scalars_of_word(const SegmentLayout& run, std::span<const std::uint64_t> mask,
                            std::size_t word) {
  CUZK_DEBUG_ASSERT(word < mask.size());
  return static_cast<std::size_t>(std::popcount(mask[word] & run.selected_word(word)));
}

}  // namespace

// A popcount a word: 42,000 words for the 2.7 million variables of a PoRep of 2 KiB.
std::size_t selected_scalar_count(const QueryLayout& layout, const ScalarMasks& masks,
                                  WordRange part) {
  std::size_t count = 0;
  for (int r = 0; r < 2; ++r) {
    const WordRange words = words_of_run(layout, r, part);
    for (std::size_t word = words.first; word < words.last; ++word) {
      count += scalars_of_word(layout.runs[r], masks[r], word);
    }
  }
  return count;
}

std::vector<QueryPiece> cut_query(const QueryLayout& layout, const ScalarMasks& masks,
                                  std::size_t points_max, WordRange part) {
  CUZK_ASSERT(points_max >= 64);
  const std::array<WordRange, 2> runs = {words_of_run(layout, 0, part),
                                         words_of_run(layout, 1, part)};
  std::vector<QueryPiece> pieces;
  QueryPiece piece;
  piece.first_point = layout.point_before(part.first);
  for (int r = 0; r < 2; ++r) piece.words[r] = {runs[r].first, runs[r].first};
  // Ends the piece and begins the next where it ends. Words without points are in no piece of their
  // own: nothing is selected in them.
  const auto close = [&] {
    if (piece.point_count > 0) pieces.push_back(piece);
    const std::size_t next = piece.first_point + piece.point_count;
    piece = {next,
             0,
             0,
             {WordRange{piece.words[0].last, piece.words[0].last},
              WordRange{piece.words[1].last, piece.words[1].last}}};
  };
  for (int r = 0; r < 2; ++r) {
    const SegmentLayout& run = layout.runs[r];
    for (std::size_t word = runs[r].first; word < runs[r].last; ++word) {
      const std::size_t points = run.point_before(word + 1) - run.point_before(word);
      // A word has at most 64 points, so one always fits an empty piece.
      if (piece.point_count + points > points_max) close();
      piece.point_count += points;
      piece.scalar_count += scalars_of_word(run, masks[r], word);
      piece.words[r].last = word + 1;
    }
  }
  close();
  CUZK_DEBUG_ASSERT(std::all_of(pieces.begin(), pieces.end(), [&](const QueryPiece& each) {
    return each.point_count <= points_max && each.scalar_count <= each.point_count;
  }));
  return pieces;
}

}  // namespace cuzk::cuda::prove
