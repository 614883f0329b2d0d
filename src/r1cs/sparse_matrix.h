// Rows of sparse terms, in which blocks that repeat are stored once.
//
// Reading a repeated row costs a search over the few repeats and one addition a term; a flat matrix
// costs neither, so who has the memory flattens.
//
// The circuits of large sectors are one block of rows many times over, each time with its own
// variables: PoRep of 32 GiB has 18 challenges of 7.2 million rows. Row and column numbers are
// those of the whole circuit; only what is kept in memory is the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/check.h"

namespace cuzk::r1cs {

// One non-zero entry of a row.
struct Term {
  std::uint32_t column;
  std::uint32_t coefficient;  // index into Shape::coefficients
};

// How columns move from a block to its first copy; k times as far to copy k. A column moves when it
// belongs to the block itself (from input_from among inputs, from aux_from among aux) or lies in
// the window, a range of older variables of which each copy uses the next part. Columns of the
// first kind count as in Shape: inputs, then aux.
struct ColumnSteps {
  std::uint32_t aux_begin = 0;  // the column of the first aux: what is below is an input
  std::uint32_t input_from = 0, aux_from = 0;
  std::uint32_t input_step = 0, aux_step = 0;
  std::uint32_t window_begin = 0, window_end = 0, window_step = 0;

  std::uint32_t moved(std::uint32_t column, std::uint32_t copy) const {
    if (column < aux_begin) return column + (column >= input_from ? copy * input_step : 0);
    if (column >= aux_from) return column + copy * aux_step;
    return column + (column >= window_begin && column < window_end ? copy * window_step : 0);
  }
};

// A row as it is read: its terms, each with the column that it has in this row.
class Row {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Term;
    using difference_type = std::ptrdiff_t;
    using pointer = const Term*;
    using reference = Term;

    Iterator(const Row* row, const Term* term) : row_(row), term_(term) {}
    Term operator*() const { return row_->at(*term_); }
    Iterator& operator++() {
      ++term_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return term_ == other.term_; }

   private:
    const Row* row_;
    const Term* term_;
  };

  Row(const Term* first, const Term* last, const ColumnSteps* steps, std::uint32_t copy)
      : first_(first), last_(last), steps_(steps), copy_(copy) {}
  Iterator begin() const { return {this, first_}; }
  Iterator end() const { return {this, last_}; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(last_ - first_); }
  bool empty() const noexcept { return first_ == last_; }
  Term operator[](std::size_t i) const { return at(first_[i]); }
  Term front() const { return at(*first_); }
  Term back() const { return at(last_[-1]); }
  // Whether stored columns are those of the row, so that stored_begin() to stored_end() is it.
  bool is_stored() const noexcept { return copy_ == 0; }
  const Term* stored_begin() const noexcept { return first_; }
  const Term* stored_end() const noexcept { return last_; }

 private:
  Term at(const Term& term) const {
    if (copy_ == 0) return term;
    return {steps_->moved(term.column, copy_), term.coefficient};
  }
  const Term *first_, *last_;
  const ColumnSteps* steps_;
  std::uint32_t copy_;
};

// A block of stored rows that stands `copy_count` more times behind itself.
struct RowRepeat {
  std::uint64_t first_row = 0;     // of the block, among all rows
  std::uint64_t first_stored = 0;  // the same among stored rows
  std::uint64_t row_count = 0;     // of the block, at least 1
  std::uint64_t copy_count = 0;
  ColumnSteps steps;

  std::uint64_t end_row() const { return first_row + row_count * (copy_count + 1); }
};

// Compressed rows. Stored row r owns terms [row_begin[r], row_begin[r + 1]).
struct SparseMatrix {
  std::vector<std::uint64_t> row_begin = {0};
  std::vector<Term> terms;
  std::vector<RowRepeat> repeats;  // ascending, disjoint; empty: every row is stored

  std::size_t stored_row_count() const noexcept { return row_begin.size() - 1; }
  bool is_flat() const noexcept { return repeats.empty(); }
  // Of the whole circuit, repeated ones each time. One pass over the repeats.
  std::size_t row_count() const noexcept;
  std::uint64_t term_count() const noexcept;
  std::uint64_t byte_count() const noexcept {
    return row_begin.capacity() * sizeof(std::uint64_t) + terms.capacity() * sizeof(Term);
  }

  // Row `r` of the whole circuit, which must exist. Borrows the matrix.
  Row row(std::size_t r) const {
    CUZK_DEBUG_ASSERT(r < row_count());
    // From the last repeat backwards: the first one that does not begin behind the row has it, or
    // the stored rows behind its copies do.
    for (std::size_t i = repeats.size(); i-- > 0;) {
      const RowRepeat& repeat = repeats[i];
      if (r < repeat.first_row) continue;
      const std::uint64_t offset = r - repeat.first_row;
      if (r < repeat.end_row()) {
        const std::uint64_t copy = offset / repeat.row_count;
        return stored_row(repeat.first_stored + offset % repeat.row_count, &repeat.steps,
                          static_cast<std::uint32_t>(copy));
      }
      return stored_row(repeat.first_stored + offset - repeat.row_count * repeat.copy_count);
    }
    return stored_row(r);
  }

 private:
  Row stored_row(std::size_t r, const ColumnSteps* steps = nullptr, std::uint32_t copy = 0) const {
    return {terms.data() + row_begin[r], terms.data() + row_begin[r + 1], steps, copy};
  }
};

// The same rows, each stored.
SparseMatrix flattened(const SparseMatrix& matrix);

}  // namespace cuzk::r1cs
