// Section 4 of a zkey as matrices: A and B with their rows, from records in any order.
//
// Two passes over the records, which lie in a file that others may write to at the same time. A
// change between the passes is an error or another well-formed pair of matrices (whose proof then
// does not verify), never an access out of bounds.
//
// Counting and placing (a counting sort by row) takes 8 bytes a term and 16 a row beside the file;
// a list of records sorted in memory would take 44 a term. Terms keep the file's order inside a
// row, and more than one for a place stay apart: their sum is what counts, and rows are read as
// sums.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/check.h"
#include "formats/snarkjs/raw_coefficient_table.h"
#include "formats/snarkjs/zkey_layout.h"
#include "r1cs/shape.h"

namespace cuzk::formats::zkey_layout {

using base::Error;
using base::ErrorKind;

// One record of section 4, copied out of the file: what is checked is what is used.
template <class F>
struct Record {
  std::uint32_t matrix, row, wire;
  field::Limbs<F::kLimbCount> value;

  explicit Record(const std::uint8_t* bytes)
      : matrix(base::load_u32_le(bytes)),
        row(base::load_u32_le(bytes + 4)),
        wire(base::load_u32_le(bytes + 8)),
        value(field::load_le<F::kLimbCount>(bytes + kRecordHeadBytes)) {}
};

// snarkjs stores v as v R^2 mod r (R the Montgomery radix), so that one Montgomery product with a
// canonical witness value gives the Montgomery form. Our own form is v R: divide by R once.
template <class F>
F from_double_montgomery(const field::Limbs<F::kLimbCount>& stored) {
  return F::from_montgomery(F::from_montgomery(stored).to_canonical().value);
}

// Sorts the records into the rows of A and B (they may come in any order).
template <class F, class RecordAt>
class MatrixBuilder {
 public:
  MatrixBuilder(const ZkeyHeader& header, const std::string& source, const RecordAt& record_at)
      : header_(header), source_(source), read_record_(record_at) {}

  base::Result<std::shared_ptr<const r1cs::Shape<F>>> build() {
    static_assert(F::kByteCount == kScalarBytes);
    CUZK_ASSERT(header_.wire_count > header_.public_count);
    auto shape = std::make_shared<r1cs::Shape<F>>();
    shape->input_count = header_.public_count + 1;
    shape->aux_count = header_.wire_count - shape->input_count;
    shape->has_c = false;
    shape->has_input_rows = true;
    // First pass: every record is checked, and each row's terms are counted one place further on.
    const std::size_t domain = std::size_t{1} << header_.domain_log2;
    shape->a.row_begin.assign(domain + 1, 0);
    shape->b.row_begin.assign(domain + 1, 0);
    std::size_t row_count = 0;
    for (std::size_t i = 0; i < header_.coefficient_count; ++i) {
      const Record<F> record = record_at(i);
      CUZK_TRY_STATUS(check(record, i));
      if (record.value.is_zero()) continue;
      row_count = std::max<std::size_t>(row_count, std::size_t{record.row} + 1);
      ++matrix_of(*shape, record).row_begin[std::size_t{record.row} + 1];
    }
    // Rows end with the last one that has a term in A or in B; the domain's other rows are zero.
    make_room(shape->a, row_count);
    make_room(shape->b, row_count);
    CUZK_TRY_STATUS(fill(*shape, row_count));
    return std::shared_ptr<const r1cs::Shape<F>>(std::move(shape));
  }

 private:
  // Read from the file anew with each call.
  Record<F> record_at(std::size_t i) const { return Record<F>(read_record_(i)); }
  static r1cs::SparseMatrix& matrix_of(r1cs::Shape<F>& shape, const Record<F>& record) {
    CUZK_DEBUG_ASSERT(record.matrix <= 1);  // check() has passed it
    return record.matrix == 0 ? shape.a : shape.b;
  }
  // What any record obeys. In both passes, as the file may change in between.
  base::Status check(const Record<F>& record, std::size_t i) const {
    const auto refuse = [&](std::string sentence) {
      return Error{ErrorKind::kMalformed,
                   fmt::format("{}: section 4 (coefficients): record {} of {}: {}", source_, i,
                               header_.coefficient_count, sentence)};
    };
    const std::uint64_t domain = std::uint64_t{1} << header_.domain_log2;
    if (record.matrix > 1) {
      return refuse(fmt::format("matrix {}, expected 0 (A) or 1 (B)", record.matrix));
    }
    if (record.row >= domain) {
      return refuse(fmt::format("row {}, expected below the domain size {}", record.row, domain));
    }
    if (record.wire >= header_.wire_count) {
      return refuse(
          fmt::format("wire {}, expected below nVars {}", record.wire, header_.wire_count));
    }
    if (!field::less(record.value, F::Params::kModulus)) {
      return refuse("the value is not below the modulus of the scalar field");
    }
    return base::ok_status();
  }
  // Turns counts into starts and cuts the table behind the last row.
  static void make_room(r1cs::SparseMatrix& matrix, std::size_t row_count) {
    CUZK_ASSERT(row_count < matrix.row_begin.size());
    matrix.row_begin.resize(row_count + 1);
    matrix.row_begin.shrink_to_fit();
    for (std::size_t r = 0; r < row_count; ++r) matrix.row_begin[r + 1] += matrix.row_begin[r];
    matrix.terms.resize(matrix.row_begin.back());
  }
  Error changed() const {
    return Error{ErrorKind::kIo,
                 fmt::format("{}: section 4 (coefficients) changed while it was read", source_)};
  }
  // Second pass: each term goes to the next free place of its row. The starts serve as cursors,
  // which leaves each at the start of the row behind it; one shift puts them right again. The file
  // may have been written to since the first pass, so nothing that it said then is relied on: each
  // record is checked again, and so are the cursors.
  base::Status fill(r1cs::Shape<F>& shape, std::size_t row_count) const {
    RawCoefficientTable<F> table;
    std::size_t written_count = 0;
    for (std::size_t i = 0; i < header_.coefficient_count; ++i) {
      const Record<F> record = record_at(i);
      CUZK_TRY_STATUS(check(record, i));
      if (record.value.is_zero()) continue;
      r1cs::SparseMatrix& matrix = matrix_of(shape, record);
      if (record.row >= row_count) return changed();
      std::uint64_t& cursor = matrix.row_begin[record.row];
      if (cursor >= matrix.terms.size()) return changed();
      matrix.terms[cursor++] = {record.wire,
                                table.index_of(record.value, from_double_montgomery<F>)};
      ++written_count;
    }
    if (written_count != shape.a.terms.size() + shape.b.terms.size()) return changed();
    for (r1cs::SparseMatrix* matrix : {&shape.a, &shape.b}) {
      auto& starts = matrix->row_begin;
      std::copy_backward(starts.begin(), starts.end() - 1, starts.end());
      starts.front() = 0;
      if (starts.back() != matrix->terms.size() || !std::is_sorted(starts.begin(), starts.end())) {
        return changed();
      }
    }
    shape.coefficients = table.take_values();
    return base::ok_status();
  }

  const ZkeyHeader& header_;
  const std::string& source_;
  const RecordAt& read_record_;
};

// The matrices of a zkey without C. `record_at(i)` gives the kRecordBytes bytes of record i and is
// called at least twice for each. Errors: kMalformed for a record that is not below r or whose row
// or wire does not exist; kIo when the records changed in between.
template <class F, class RecordAt>
base::Result<std::shared_ptr<const r1cs::Shape<F>>> build_matrices(const ZkeyHeader& header,
                                                                   const std::string& source,
                                                                   const RecordAt& record_at) {
  return MatrixBuilder<F, RecordAt>(header, source, record_at).build();
}

}  // namespace cuzk::formats::zkey_layout
