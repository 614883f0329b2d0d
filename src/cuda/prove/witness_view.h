// A witness, a matrix and a query's layout as arrays, and what single threads do with them.
//
// Written for host tests and devices alike: evaluation.cu and selection.cu only spread these
// functions over threads. Variables come in words of 64; a variable is a bit (its value in `bits`)
// or a scalar (marked in `mask`), as in r1cs/assignment.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "cuda/device/code.h"
#include "r1cs/shape.h"

namespace cuzk::cuda::prove {

// Set bits of a word.
CUZK_HD CUZK_INLINE unsigned bit_count(std::uint64_t word) {
#if CUZK_DEVICE_CODE
  return static_cast<unsigned>(__popcll(word));
#else
  return static_cast<unsigned>(__builtin_popcountll(word));
#endif
}
// The place of the lowest set bit of a word that is not zero.
CUZK_HD CUZK_INLINE unsigned lowest_bit(std::uint64_t word) {
#if CUZK_DEVICE_CODE
  return static_cast<unsigned>(__ffsll(static_cast<long long>(word)) - 1);
#else
  return static_cast<unsigned>(__builtin_ctzll(word));
#endif
}
CUZK_HD CUZK_INLINE std::uint64_t below_bit(unsigned bit) { return (std::uint64_t{1} << bit) - 1; }

// One run of variables. T is the device's form of the scalar field.
template <class T>
struct RunView {
  const std::uint64_t* bits = nullptr;
  const std::uint64_t* mask = nullptr;
  const std::uint32_t* rank = nullptr;  // scalars before each word
  const T* scalars = nullptr;
  std::size_t size = 0;
};

// A full assignment: the inputs as elements, where constraints read them, and both runs.
template <class T>
struct WitnessView {
  const T* inputs = nullptr;
  std::uint32_t input_count = 0;
  RunView<T> aux;
};

// The column of a stored term in copy number `copy` of its block: r1cs::ColumnSteps::moved, for
// devices too.
CUZK_HD CUZK_INLINE std::uint32_t moved_column(const r1cs::ColumnSteps& steps, std::uint32_t column,
                                               std::uint32_t copy) {
  if (column < steps.aux_begin) {
    return column + (column >= steps.input_from ? copy * steps.input_step : 0);
  }
  if (column >= steps.aux_from) return column + copy * steps.aux_step;
  const bool is_in_window = column >= steps.window_begin && column < steps.window_end;
  return column + (is_in_window ? copy * steps.window_step : 0);
}

// Rows [first, first + count) of a matrix's stored ones, which stand copy_count times in the whole
// circuit: stored row first + i is row first_row + copy * row_step + i, with its columns moved by
// first_copy + copy steps.
struct RowBlock {
  std::uint64_t first = 0, count = 0;
  std::uint64_t first_row = 0, row_step = 0;
  std::uint32_t copy_count = 1;
  r1cs::ColumnSteps steps;
  std::uint32_t first_copy = 0;  // the number of the first of these copies among all
};

// coefficients[t.coefficient] z[t.column], added to `sum`. Column 0 is the constant one. Most
// variables are bits: a set one costs an addition, a clear one nothing, and only a scalar costs a
// product.
template <class T>
CUZK_HD CUZK_INLINE void add_term(const WitnessView<T>& witness, const T* coefficients,
                                  r1cs::Term term, T& sum) {
  if (term.column == 0) {
    sum += coefficients[term.coefficient];
    return;
  }
  if (term.column < witness.input_count) {
    sum += coefficients[term.coefficient].times(witness.inputs[term.column]);
    return;
  }
  const std::uint32_t variable = term.column - witness.input_count;
  const std::uint32_t word = variable / 64, bit = variable % 64;
  const std::uint64_t mask = witness.aux.mask[word];
  if ((mask >> bit & 1) != 0) {
    // Scalars of a run lie without gaps: those before the word, then those before it in the word.
    const T scalar = witness.aux.scalars[witness.aux.rank[word] + bit_count(mask & below_bit(bit))];
    sum += coefficients[term.coefficient].times(scalar);
  } else if ((witness.aux.bits[word] >> bit & 1) != 0) {
    sum += coefficients[term.coefficient];
  }
}

// One stored row's terms, and which copy of them is meant.
struct RowTerms {
  const r1cs::Term* terms;
  std::uint64_t first, last;
  std::uint32_t copy;
};

// The sum over the terms number lane, lane + lane_count, ... of one row; of all with lane_count 1.
template <class T>
CUZK_HD CUZK_INLINE T sum_terms(const WitnessView<T>& witness, const T* coefficients,
                                const RowTerms& row, const r1cs::ColumnSteps& steps, unsigned lane,
                                unsigned lane_count) {
  T sum = T::zero();
  for (std::uint64_t i = row.first + lane; i < row.last; i += lane_count) {
    r1cs::Term term = row.terms[i];
    if (row.copy != 0) term.column = moved_column(steps, term.column, row.copy);
    add_term(witness, coefficients, term, sum);
  }
  return sum;
}

// How a query lays out the points of one run of variables: groth16/query.h, as arrays.
struct SegmentView {
  const std::uint64_t* density = nullptr;     // variables that occur; null: all
  const std::uint32_t* point_rank = nullptr;  // packed: points of the run before each word
  std::uint32_t first_point = 0;              // points of the query before the run
  std::size_t size = 0;                       // variables of the run
};

// The variables of a word that occur in the query, as its bits; past the run's end there are none.
CUZK_HD CUZK_INLINE std::uint64_t selected_word(const SegmentView& segment, std::size_t word) {
  if (segment.density != nullptr) return segment.density[word];
  const std::size_t left = segment.size - 64 * word;
  return left >= 64 ? ~std::uint64_t{0} : below_bit(static_cast<unsigned>(left));
}
// The place of the first point that the query holds for a word of variables.
CUZK_HD CUZK_INLINE std::uint32_t word_point(const SegmentView& segment, std::size_t word) {
  return segment.first_point + (segment.point_rank != nullptr
                                    ? segment.point_rank[word]
                                    : static_cast<std::uint32_t>(64 * word));
}
// The place, from the word's first, of the point of the variable at `bit`.
CUZK_HD CUZK_INLINE std::uint32_t point_in_word(const SegmentView& segment, std::uint64_t selected,
                                                unsigned bit) {
  return segment.point_rank != nullptr ? bit_count(selected & below_bit(bit)) : bit;
}

// Up to 64 bits that belong at bit `place` of a bitmap; `high` is what passes into its next word.
struct PlacedBits {
  std::size_t word;
  std::uint64_t low, high;
};

// The ones among one word of variables, placed among the query's points from `first` on.
CUZK_HD inline PlacedBits place_ones(const SegmentView& segment, std::size_t word,
                                     std::uint64_t bits, std::uint32_t first) {
  const std::uint64_t selected = selected_word(segment, word);
  const std::uint64_t ones = bits & selected;
  // A packed query has points for the selected alone: each one moves down to its rank among them.
  std::uint64_t packed = ones;
  if (segment.point_rank != nullptr && selected != ~std::uint64_t{0}) {
    packed = 0;
    for (std::uint64_t left = ones; left != 0; left &= left - 1) {
      packed |= std::uint64_t{1} << bit_count(selected & below_bit(lowest_bit(left)));
    }
  }
  const std::uint32_t place = word_point(segment, word) - first;
  const unsigned shift = place % 64;
  // A shift by 64 is not defined, on hosts or devices.
  return {place / 64, packed << shift, shift == 0 ? 0 : packed >> (64 - shift)};
}

}  // namespace cuzk::cuda::prove
