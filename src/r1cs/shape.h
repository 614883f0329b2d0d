// A circuit's matrices, recorded once per circuit shape and shared by every proof of it.
//
// Row i says <A_i, z> * <B_i, z> = <C_i, z>. The columns of z are the inputs (0 is ONE), then aux.
// Coefficients repeat heavily, so a term is a column and an index into one table per shape: 8 bytes
// instead of 36. Zero coefficients are never stored. Blocks of rows that repeat may be stored once
// (sparse_matrix.h). Immutable after it is built, so any number of proofs may share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_vector.h"
#include "r1cs/assignment.h"
#include "r1cs/sparse_matrix.h"

namespace cuzk::r1cs {

// Which variables occur, with a non-zero coefficient, where a Groth16 key keeps a point for them.
struct Density {
  base::BitVector a_aux, b_input, b_aux;
};

// The circuit. a, b and c have equally many rows, unless has_c is false and c is empty.
template <class F>
struct Shape {
  std::uint32_t input_count = 0;  // with ONE
  std::uint32_t aux_count = 0;
  SparseMatrix a, b, c;
  // False for proving keys that carry no C matrix (snarkjs zkey).
  bool has_c = true;
  // Whether the rows "input_i * 0 = 0" are already among the rows (snarkjs zkey) or have to be
  // appended by whoever forms the QAP (bellman circuits, r1cs files).
  bool has_input_rows = false;
  std::vector<F> coefficients;

  std::size_t constraint_count() const noexcept { return a.row_count(); }
  // The rows that the circuit itself has: without the input rows where they are among the rows,
  // which they end. Zero where there are fewer rows than inputs, which only a made-up key has.
  std::size_t own_row_count() const noexcept {
    const std::size_t added = has_input_rows ? input_count : 0;
    const std::size_t rows = constraint_count();
    return rows > added ? rows - added : 0;
  }
  // Whether all rows are stored, so that the matrices' arrays are the rows.
  bool is_flat() const noexcept { return a.is_flat() && b.is_flat() && c.is_flat(); }
  // What it takes of memory.
  std::uint64_t byte_count() const noexcept {
    return a.byte_count() + b.byte_count() + c.byte_count() + coefficients.capacity() * sizeof(F);
  }
  std::size_t variable_count() const noexcept { return std::size_t{input_count} + aux_count; }
  // Rows of the QAP: the constraints and, unless present, one row per input.
  std::size_t qap_row_count() const noexcept {
    return constraint_count() + (has_input_rows ? 0 : input_count);
  }
};

// Reads all terms of a and b once.
template <class F>
Density density_of(const Shape<F>& shape);

// out[i] = <row first_row + i of `matrix`, assignment>. Single-threaded: callers split the rows
// into blocks. Rows past the last evaluate to zero, so a padded domain needs no special case. Does
// not append input rows.
template <class F>
void evaluate_rows(const Shape<F>& shape, const SparseMatrix& matrix,
                   const Assignment<F>& assignment, std::size_t first_row, std::span<F> out);

}  // namespace cuzk::r1cs
