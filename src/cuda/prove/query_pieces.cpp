// One walk over the words of both runs.
#include "cuda/prove/query_pieces.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace cuzk::cuda::prove {

SegmentLayout SegmentLayout::of(const base::BitVector* density, bool is_packed, std::size_t size) {
  CUZK_CHECK(density == nullptr || density->size() == size);
  SegmentLayout out;
  // A packed run without a density omits nothing, so it lies as an unpacked one.
  out.is_packed = is_packed && density != nullptr;
  out.density = density;
  out.size = size;
  out.point_count = size;
  if (!out.is_packed) return out;
  out.point_count = 0;
  out.point_rank.reserve(out.word_count());
  for (const std::uint64_t word : density->words()) {
    out.point_rank.push_back(static_cast<std::uint32_t>(out.point_count));
    out.point_count += static_cast<std::size_t>(std::popcount(word));
  }
  return out;
}

std::uint64_t SegmentLayout::selected_word(std::size_t word) const {
  if (density != nullptr) return density->words()[word];
  const std::size_t left = size - 64 * word;
  return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

std::size_t SegmentLayout::point_before(std::size_t word) const {
  if (word >= word_count()) return point_count;
  return is_packed ? point_rank[word] : 64 * word;
}

std::size_t selected_scalar_count(const QueryLayout& layout,
                                  const std::array<std::span<const std::uint64_t>, 2>& masks) {
  std::size_t count = 0;
  for (int r = 0; r < 2; ++r) {
    for (std::size_t word = 0; word < layout.runs[r].word_count(); ++word) {
      count += static_cast<std::size_t>(
          std::popcount(masks[r][word] & layout.runs[r].selected_word(word)));
    }
  }
  return count;
}

std::vector<QueryPiece> cut_query(const QueryLayout& layout,
                                  const std::array<std::span<const std::uint64_t>, 2>& masks,
                                  std::size_t points_max) {
  CUZK_CHECK(points_max >= 64);
  std::vector<QueryPiece> pieces;
  QueryPiece piece;
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
    for (std::size_t word = 0; word < run.word_count(); ++word) {
      const std::size_t points = run.point_before(word + 1) - run.point_before(word);
      if (piece.point_count + points > points_max) close();
      piece.point_count += points;
      piece.scalar_count +=
          static_cast<std::size_t>(std::popcount(masks[r][word] & run.selected_word(word)));
      piece.words[r].last = word + 1;
    }
  }
  close();
  return pieces;
}

}  // namespace cuzk::cuda::prove
