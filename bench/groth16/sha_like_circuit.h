// A synthetic circuit with the proportions of a PoRep partition, for timing where no real circuit
// is at hand: a quarter of the variables are constrained bits, the rest are exclusive ors of them,
// about one in eighty is a full scalar; every variable is in A, a quarter in B.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "r1cs/assignment.h"
#include "r1cs/shape.h"

namespace cuzk::bench {

template <class F>
struct ShaLikeCircuit {
  std::shared_ptr<r1cs::Shape<F>> shape = std::make_shared<r1cs::Shape<F>>();
  std::shared_ptr<r1cs::Assignment<F>> assignment = std::make_shared<r1cs::Assignment<F>>();

  explicit ShaLikeCircuit(std::uint32_t rows) : state_(rows) {
    shape->coefficients = {F::one(), -F::one(), F::from_u64(2)};
    shape->input_count = 2;
    shape->aux_count = rows;
    assignment->inputs = {F::one(), F::from_u64(7)};
    const std::uint32_t bits = rows / 4, scalars = rows / 80;
    for (std::uint32_t i = 0; i < bits; ++i) {
      assignment->aux.push_bit(random() & 1);
      add_row({{0, 0}, {aux(i), 1}}, {{aux(i), 0}}, {});
    }
    for (std::uint32_t i = bits; i < rows - scalars; ++i) add_exclusive_or(i, bits);
    F value = assignment->inputs[1];
    for (std::uint32_t i = rows - scalars; i < rows; ++i) {
      const std::uint32_t previous = i == rows - scalars ? 1 : aux(i - 1);
      value = value.squared();
      assignment->aux.push_scalar(value);
      add_row({{previous, 0}}, {{previous, 0}}, {{aux(i), 0}});
    }
  }

 private:
  using Terms = std::initializer_list<r1cs::Term>;

  static std::uint32_t aux(std::uint32_t i) { return i + 2; }
  std::uint64_t random() {  // as SplitMix64 with one of its two multiplications: enough for bits
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    return z ^ (z >> 31);
  }
  void add_row(Terms a, Terms b, Terms c) {
    append(shape->a, a);
    append(shape->b, b);
    append(shape->c, c);
  }
  static void append(r1cs::SparseMatrix& matrix, Terms terms) {
    matrix.terms.insert(matrix.terms.end(), terms);
    matrix.row_begin.push_back(matrix.terms.size());
  }
  // 2 x y = x + y - r.
  void add_exclusive_or(std::uint32_t i, std::uint32_t bits) {
    const std::uint32_t x = i - 1, y = std::uint32_t(random() % bits);
    assignment->aux.push_bit(assignment->aux.bit(x) != assignment->aux.bit(y));
    if (x == y) return add_row({{aux(x), 0}}, {{0, 0}}, {{aux(x), 0}, {aux(i), 0}});
    add_row({{aux(x), 2}}, {{aux(y), 0}}, {{aux(x), 0}, {aux(y), 0}, {aux(i), 1}});
  }

  std::uint64_t state_;
};

}  // namespace cuzk::bench
