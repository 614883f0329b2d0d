// Densities and row products. A term on a bit costs a field addition or nothing; only terms on true
// scalars with a coefficient other than 1 and -1 cost a product.
#include "r1cs/shape.h"

#include <algorithm>

#include "base/check.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::r1cs {

template <class F>
Density density_of(const Shape<F>& shape) {
  Density density{base::BitVector(shape.aux_count), base::BitVector(shape.input_count),
                  base::BitVector(shape.aux_count)};
  for (const Term& term : shape.a.terms) {
    if (term.column >= shape.input_count) density.a_aux.set(term.column - shape.input_count);
  }
  for (const Term& term : shape.b.terms) {
    if (term.column >= shape.input_count) {
      density.b_aux.set(term.column - shape.input_count);
    } else {
      density.b_input.set(term.column);
    }
  }
  return density;
}

namespace {

// sum += coefficient * value.
template <class F>
void add_product(F& sum, const F& coefficient, const F& minus_one, const F& value) {
  if (coefficient.is_one()) {
    sum += value;
  } else if (coefficient == minus_one) {
    sum -= value;
  } else {
    sum += coefficient * value;
  }
}

template <class F>
F evaluate_row(const Shape<F>& shape, std::span<const Term> row, const Assignment<F>& assignment,
               const F& minus_one) {
  const F* const coefficients = shape.coefficients.data();
  const CompactWitness<F>& aux = assignment.aux;
  F sum = F::zero();
  for (const Term& term : row) {
    const F& coefficient = coefficients[term.coefficient];
    if (term.column == 0) {  // ONE
      sum += coefficient;
    } else if (term.column < shape.input_count) {
      add_product(sum, coefficient, minus_one, assignment.inputs[term.column]);
    } else {
      const std::size_t i = term.column - shape.input_count;
      if (aux.bit(i)) {  // a scalar's bit is zero
        sum += coefficient;
      } else if (aux.is_scalar(i)) {
        add_product(sum, coefficient, minus_one, aux.scalars()[aux.scalar_rank(i)]);
      }
    }
  }
  return sum;
}

}  // namespace

template <class F>
void evaluate_rows(const Shape<F>& shape, const SparseMatrix& matrix,
                   const Assignment<F>& assignment, std::size_t first_row, std::span<F> out) {
  CUZK_CHECK(assignment.inputs.size() == shape.input_count);
  CUZK_CHECK(assignment.aux.size() == shape.aux_count);
  CUZK_CHECK(shape.input_count == 0 || assignment.inputs[0].is_one());
  const F minus_one = -F::one();
  const std::size_t rows = matrix.row_count();
  const std::size_t present =
      first_row < rows ? std::min(out.size(), rows - first_row) : std::size_t{0};
  for (std::size_t i = 0; i < present; ++i) {
    out[i] = evaluate_row(shape, matrix.row(first_row + i), assignment, minus_one);
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(present), out.end(), F::zero());
}

#define CUZK_INSTANTIATE(F)                                                               \
  template Density density_of(const Shape<F>&);                                           \
  template void evaluate_rows(const Shape<F>&, const SparseMatrix&, const Assignment<F>&, \
                              std::size_t, std::span<F>);
CUZK_INSTANTIATE(field::bls12_381::Fr)
CUZK_INSTANTIATE(field::bn254::Fr)
#undef CUZK_INSTANTIATE

}  // namespace cuzk::r1cs
