// Rows are evaluated in blocks on all threads; the smallest broken row wins.
//
// A block stops at its first broken row, and blocks behind the smallest one known are skipped, so
// the answer does not depend on scheduling. Costs the three matrix products and memory for a block
// a thread. A sentence shows at most kTermsShownMax terms of a side.
#include "r1cs/checker.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/threads.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::r1cs {

namespace {

// Rows of one block: enough to hide what a task costs, few enough to stop soon after a break.
constexpr std::size_t kBlockRows = 4096;
constexpr std::size_t kTermsShownMax = 12;

// Small integers, also negative ones, in decimal; others in hex.
template <class F>
std::string number_text(const F& x) {
  const auto small = [](const F& y) -> std::optional<std::uint64_t> {
    const auto& limbs = y.to_canonical().value;
    for (std::size_t i = 1; i < F::kLimbCount; ++i) {
      if (limbs[i] != 0) return std::nullopt;
    }
    return limbs[0];
  };
  if (const auto value = small(x)) return std::to_string(*value);
  if (const auto value = small(-x)) return "-" + std::to_string(*value);
  std::array<std::uint8_t, F::kByteCount> bytes;
  field::store_be(x.to_canonical().value, bytes.data());
  return "0x" + base::to_hex(bytes);
}

// The value of a column, inputs first, as Shape numbers them.
template <class F>
F value_of(const Shape<F>& shape, const Assignment<F>& assignment, std::uint32_t column) {
  return column < shape.input_count ? assignment.inputs[column]
                                    : assignment.aux.value(column - shape.input_count);
}

// "2*aux 7 [= 1] + ONE", the first few terms of a row.
template <class F>
std::string row_text(const Shape<F>& shape, const SparseMatrix& matrix, std::size_t row,
                     const Assignment<F>& assignment, const Paths* paths) {
  const Row terms = matrix.row(row);
  if (terms.empty()) return "0";
  std::string out;
  for (std::size_t i = 0; i < std::min(terms.size(), kTermsShownMax); ++i) {
    const std::uint32_t column = terms[i].column;
    const bool is_input = column < shape.input_count;
    const std::uint32_t index = is_input ? column : column - shape.input_count;
    if (!out.empty()) out += " + ";
    out += number_text(shape.coefficients[terms[i].coefficient]);
    if (column == 0) continue;
    out += is_input ? "*input " : "*aux ";
    out += std::to_string(index) + " [= " + number_text(value_of(shape, assignment, column));
    const std::string made = paths == nullptr ? std::string()
                             : is_input       ? paths->of_input(index)
                                              : paths->of_aux(index);
    out += made.empty() ? "]" : ", made in " + made + "]";
  }
  if (terms.size() > kTermsShownMax) {
    out += " + " + std::to_string(terms.size() - kTermsShownMax) + " more terms";
  }
  return out;
}

}  // namespace

template <class F>
std::optional<BrokenConstraint<F>> first_broken_constraint(const Shape<F>& shape,
                                                           const Assignment<F>& assignment) {
  CUZK_ASSERT(shape.has_c && shape.b.row_count() == shape.constraint_count() &&
              shape.c.row_count() == shape.constraint_count());
  const std::size_t rows = shape.constraint_count();
  std::atomic<std::size_t> first{std::numeric_limits<std::size_t>::max()};
  const std::size_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  base::parallel_for(0, blocks, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<F> a(kBlockRows), b(kBlockRows), c(kBlockRows);
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t start = block * kBlockRows;
      // A stale value costs a block of work, never an answer.
      if (start >= first.load(std::memory_order_relaxed)) return;
      evaluate_rows<F>(shape, shape.a, assignment, start, a);
      evaluate_rows<F>(shape, shape.b, assignment, start, b);
      evaluate_rows<F>(shape, shape.c, assignment, start, c);
      for (std::size_t i = 0; i < kBlockRows; ++i) {
        if (a[i] * b[i] == c[i]) continue;
        std::size_t known = first.load(std::memory_order_relaxed);
        while (start + i < known && !first.compare_exchange_weak(known, start + i)) {
        }
        return;
      }
    }
  });
  if (first.load() >= rows) return std::nullopt;
  BrokenConstraint<F> broken{first.load(), {}, {}, {}};
  evaluate_rows<F>(shape, shape.a, assignment, broken.row, {&broken.a, 1});
  evaluate_rows<F>(shape, shape.b, assignment, broken.row, {&broken.b, 1});
  evaluate_rows<F>(shape, shape.c, assignment, broken.row, {&broken.c, 1});
  return broken;
}

template <class F>
std::string describe(const BrokenConstraint<F>& broken, const Shape<F>& shape,
                     const Assignment<F>& assignment, const Paths* paths) {
  std::string out = "constraint " + std::to_string(broken.row);
  const std::string path = paths == nullptr ? std::string() : paths->of_row(broken.row);
  if (!path.empty()) out += " in " + path;
  out += " of " + std::to_string(shape.constraint_count()) +
         " is broken: A * B = " + number_text(broken.a) + " * " + number_text(broken.b) + " = " +
         number_text(broken.a * broken.b) + ", but C = " + number_text(broken.c);
  const auto side = [&](const char* name, const SparseMatrix& matrix) {
    out += std::string("; ") + name + ": " + row_text(shape, matrix, broken.row, assignment, paths);
  };
  side("A", shape.a);
  side("B", shape.b);
  side("C", shape.c);
  return out;
}

template <class F>
base::Status check_satisfied(const Shape<F>& shape, const Assignment<F>& assignment,
                             const Paths* paths) {
  using base::Error;
  using base::ErrorKind;
  const auto mismatch = [](const char* what, std::size_t found, std::size_t expected) {
    return Error{ErrorKind::kMismatch, std::string("the witness has ") + std::to_string(found) +
                                           " " + what + ", the circuit has " +
                                           std::to_string(expected)};
  };
  if (!shape.has_c) {
    return Error{ErrorKind::kUnsupported,
                 "the circuit has no C matrix, so a witness cannot be checked against it"};
  }
  if (assignment.inputs.size() != shape.input_count) {
    return mismatch("inputs", assignment.inputs.size(), shape.input_count);
  }
  if (assignment.aux.size() != shape.aux_count) {
    return mismatch("aux variables", assignment.aux.size(), shape.aux_count);
  }
  if (shape.input_count > 0 && !assignment.inputs[0].is_one()) {
    return Error{ErrorKind::kMismatch, "the witness's first input is " +
                                           number_text(assignment.inputs[0]) + ", which must be 1"};
  }
  const auto broken = first_broken_constraint(shape, assignment);
  if (!broken) return base::ok_status();
  return Error{ErrorKind::kUnsatisfied, describe(*broken, shape, assignment, paths)};
}

#define CUZK_INSTANTIATE(F)                                                                        \
  template std::optional<BrokenConstraint<F>> first_broken_constraint(const Shape<F>&,             \
                                                                      const Assignment<F>&);       \
  template std::string describe(const BrokenConstraint<F>&, const Shape<F>&, const Assignment<F>&, \
                                const Paths*);                                                     \
  template base::Status check_satisfied(const Shape<F>&, const Assignment<F>&, const Paths*);
CUZK_INSTANTIATE(field::bls12_381::Fr)
CUZK_INSTANTIATE(field::bn254::Fr)
#undef CUZK_INSTANTIATE

}  // namespace cuzk::r1cs
