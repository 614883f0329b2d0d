// Counts of a matrix with repeated blocks, and its flat form.
//
// A repeat's block is stored once, so each count is that of the stored rows and, for every repeat,
// its block's once more a copy.
#include "r1cs/sparse_matrix.h"

namespace cuzk::r1cs {

std::size_t SparseMatrix::row_count() const noexcept {
  std::size_t count = stored_row_count();
  for (const RowRepeat& repeat : repeats) count += repeat.row_count * repeat.copy_count;
  return count;
}

std::uint64_t SparseMatrix::term_count() const noexcept {
  std::uint64_t count = terms.size();
  for (const RowRepeat& repeat : repeats) {
    const std::uint64_t last = repeat.first_stored + repeat.row_count;
    CUZK_ASSERT(last <= stored_row_count());
    count += (row_begin[last] - row_begin[repeat.first_stored]) * repeat.copy_count;
  }
  return count;
}

SparseMatrix flattened(const SparseMatrix& matrix) {
  SparseMatrix out;
  const std::size_t rows = matrix.row_count();
  out.row_begin.reserve(rows + 1);
  out.terms.reserve(matrix.term_count());
  for (std::size_t r = 0; r < rows; ++r) {
    for (const Term term : matrix.row(r)) out.terms.push_back(term);
    out.row_begin.push_back(out.terms.size());
  }
  CUZK_ASSERT(out.is_flat() && out.stored_row_count() == rows);
  CUZK_ASSERT(out.terms.size() == matrix.term_count());
  return out;
}

}  // namespace cuzk::r1cs
