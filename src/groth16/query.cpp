// Prefix counts over words of 64 variables, so that any block of a witness can be read alone.
//
// The rank of a variable (how many before it are selected, how many are scalars) is a note at the
// block's start plus popcounts inside it: the two-level rank directory of succinct bit vectors
// (Jacobson 1989), with one level walked instead of stored.
#include "groth16/query.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/threads.h"

namespace cuzk::groth16 {
namespace {

// Words between two notes of the counts so far: few notes, and a block is work enough for a task.
constexpr std::size_t kBlockWords = 256;

// The word of variables that the segment selects; past the last variable every bit is clear.
std::uint64_t selected_word(const QuerySegment& segment, std::size_t word, std::size_t size) {
  CUZK_DEBUG_ASSERT(64 * word < size);
  if (segment.density != nullptr) return segment.density->words()[word];
  const std::size_t left = size - 64 * word;
  return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

// Points that the query holds for one word of variables.
std::size_t word_points(const QuerySegment& segment, std::uint64_t selected, std::size_t word,
                        std::size_t size) {
  if (segment.is_packed) return std::size_t(std::popcount(selected));
  return std::min<std::size_t>(64, size - 64 * word);
}

// The bits of `value` under `mask`, moved together at the low end.
std::uint64_t compressed(std::uint64_t value, std::uint64_t mask) {
  std::uint64_t out = 0;
  unsigned place = 0;
  for (; mask != 0; mask &= mask - 1, ++place) {
    out |= (value >> std::countr_zero(mask) & 1) << place;
  }
  return out;
}

}  // namespace

template <class F>
QueryWalk<F>::QueryWalk(const r1cs::CompactWitness<F>& inputs, QuerySegment input_segment,
                        const r1cs::CompactWitness<F>& aux, QuerySegment aux_segment) {
  append_run(inputs, input_segment, runs_[0]);
  append_run(aux, aux_segment, runs_[1]);
  CUZK_ASSERT(scalar_count_ <= point_count_);
  // Places are 32-bit numbers: check_key_fits refuses more variables than that.
  CUZK_ASSERT(point_count_ <= std::uint64_t{1} << 32);
}

template <class F>
void QueryWalk<F>::append_run(const r1cs::CompactWitness<F>& witness, QuerySegment segment,
                              Run& run) {
  CUZK_ASSERT(segment.density == nullptr || segment.density->size() == witness.size());
  run.witness = &witness;
  run.segment = segment;
  const auto mask = witness.scalar_mask().words();
  CUZK_ASSERT(mask.size() == witness.bits().words().size());
  std::size_t scalar_rank = 0;
  // The run continues the counts of the one before it: its points lie behind that one's.
  for (std::size_t word = 0; word < mask.size(); ++word) {
    if (word % kBlockWords == 0) {
      run.blocks.push_back({word, point_count_, scalar_rank, scalar_count_});
    }
    const std::uint64_t selected = selected_word(segment, word, witness.size());
    point_count_ += word_points(segment, selected, word, witness.size());
    scalar_count_ += std::size_t(std::popcount(mask[word] & selected));
    scalar_rank += std::size_t(std::popcount(mask[word]));
  }
}

template <class F>
base::BitVector QueryWalk<F>::ones() const {
  base::BitVector out;
  out.reserve(point_count_);
  for (const Run& run : runs_) {
    const auto bits = run.witness->bits().words();
    for (std::size_t word = 0; word < bits.size(); ++word) {
      const std::uint64_t selected = selected_word(run.segment, word, run.witness->size());
      const std::size_t count = word_points(run.segment, selected, word, run.witness->size());
      const std::uint64_t value = bits[word] & selected;
      // In an unpacked segment a variable that is not selected keeps its place, as a zero.
      const bool is_gathered = run.segment.is_packed && count < 64;
      out.push(is_gathered ? compressed(value, selected) : value, unsigned(count));
    }
  }
  CUZK_ASSERT(out.size() == point_count_);
  return out;
}

template <class F>
void QueryWalk<F>::scalars(std::size_t first, std::span<std::uint32_t> indices,
                           std::span<Canonical> values) const {
  CUZK_ASSERT(indices.size() == values.size() && first + values.size() <= scalar_count_);
  // Each block writes places of its own. One behind the range is left at once, one before it is
  // only counted over.
  for (const Run& run : runs_) {
    base::parallel_for(0, run.blocks.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        scalars_of_block(run, run.blocks[i], first, indices, values);
      }
    });
  }
}

template <class F>
void QueryWalk<F>::scalars_of_block(const Run& run, const Block& block, std::size_t first,
                                    std::span<std::uint32_t> indices,
                                    std::span<Canonical> values) const {
  const auto mask = run.witness->scalar_mask().words();
  const auto all = run.witness->scalars();
  const std::size_t last = first + values.size();
  const std::size_t word_end = std::min(block.word + kBlockWords, mask.size());
  std::size_t point = block.point_rank, rank = block.scalar_rank, place = block.selected_before;
  for (std::size_t word = block.word; word < word_end && place < last; ++word) {
    const std::uint64_t selected = selected_word(run.segment, word, run.witness->size());
    // Its place among the points and among the scalars is the number of those below it.
    for (std::uint64_t left = mask[word] & selected; left != 0; left &= left - 1) {
      const std::uint64_t below = (left & -left) - 1;
      if (place >= first && place < last) {
        const std::size_t offset = run.segment.is_packed
                                       ? std::size_t(std::popcount(selected & below))
                                       : std::size_t(std::popcount(below));
        indices[place - first] = static_cast<std::uint32_t>(point + offset);
        values[place - first] =
            all[rank + std::size_t(std::popcount(mask[word] & below))].to_canonical();
      }
      ++place;
    }
    point += word_points(run.segment, selected, word, run.witness->size());
    rank += std::size_t(std::popcount(mask[word]));
  }
}

template class QueryWalk<field::bls12_381::Fr>;
template class QueryWalk<field::bn254::Fr>;

}  // namespace cuzk::groth16
