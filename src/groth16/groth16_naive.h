// Groth16 by its definition, for tests: with the secrets known, every point of a proof is one
// multiple of a generator, and the scalars come from polynomials evaluated at tau by Lagrange's
// formula. No transform, no query, no multi-scalar multiplication. Quadratic in the number of rows.
#pragma once

#include <vector>

#include "base/check.h"
#include "groth16/backend.h"
#include "groth16/qap.h"
#include "groth16/setup.h"
#include "r1cs/shape.h"

namespace cuzk::groth16 {

// The points of the domain in row order: omega of the convention's root, by squaring down.
template <class F>
std::vector<F> naive_domain(QapConvention convention, std::size_t size) {
  F omega = convention == QapConvention::kCoefficients ? F::two_adic_root()
                                                       : smallest_nonresidue_root<F>();
  for (std::size_t order = std::size_t{1} << F::kTwoAdicity; order > size; order /= 2) {
    omega = omega.squared();
  }
  std::vector<F> points = {F::one()};
  while (points.size() < size) points.push_back(points.back() * omega);
  return points;
}

// L_i(x) for all i, by the product over the other points.
template <class F>
std::vector<F> naive_lagrange(const std::vector<F>& points, const F& x) {
  std::vector<F> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    F numerator = F::one(), denominator = F::one();
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (j == i) continue;
      numerator *= x - points[j];
      denominator *= points[i] - points[j];
    }
    out.push_back(numerator * denominator.inverse());
  }
  return out;
}

// The values of a matrix's column polynomials at tau.
template <class F>
std::vector<F> naive_columns(const r1cs::Shape<F>& shape, const r1cs::SparseMatrix& matrix,
                             const std::vector<F>& lagrange) {
  CUZK_ASSERT(matrix.row_count() <= lagrange.size());
  std::vector<F> out(shape.variable_count());
  for (std::size_t row = 0; row < matrix.row_count(); ++row) {
    for (const auto term : matrix.row(row)) {
      out[term.column] += shape.coefficients[term.coefficient] * lagrange[row];
    }
  }
  return out;
}

// The proof that the definition gives for a satisfied circuit with at most 2^10 rows. Letters of
// Groth 2016, section 3.2: u, v, w the column polynomials at tau, z the assignment.
template <class C>
Proof<C> naive_proof(const r1cs::Shape<typename C::Fr>& shape,
                     const r1cs::Assignment<typename C::Fr>& assignment, const ToxicWaste<C>& waste,
                     QapConvention convention, const Blinding<C>& blinding) {
  using Fr = typename C::Fr;
  std::size_t size = 1;
  while (size < shape.qap_row_count()) size *= 2;
  const auto lagrange = naive_lagrange(naive_domain<Fr>(convention, size), waste.tau);
  auto u = naive_columns(shape, shape.a, lagrange);
  const auto v = naive_columns(shape, shape.b, lagrange);
  const auto w = naive_columns(shape, shape.c, lagrange);
  // The appended rows "input_i * 0 = 0" have their one entry in A.
  for (std::size_t i = 0; i < shape.input_count && !shape.has_input_rows; ++i) {
    u[i] += lagrange[shape.constraint_count() + i];
  }
  Fr a, b, c, private_part;
  for (std::size_t i = 0; i < shape.variable_count(); ++i) {
    const bool is_input = i < shape.input_count;
    const Fr z = is_input ? assignment.inputs[i] : assignment.aux.value(i - shape.input_count);
    a += z * u[i];
    b += z * v[i];
    c += z * w[i];
    if (!is_input) private_part += z * (waste.beta * u[i] + waste.alpha * v[i] + w[i]);
  }
  const Fr quotient_part = a * b - c;  // h(tau) (tau^m - 1)
  const Fr proof_a = waste.alpha + a + blinding.r * waste.delta;
  const Fr proof_b = waste.beta + b + blinding.s * waste.delta;
  const Fr proof_c = (private_part + quotient_part) * waste.delta.inverse() + blinding.s * proof_a +
                     blinding.r * proof_b - blinding.r * blinding.s * waste.delta;
  const auto multiple = [](const auto& generator, const Fr& scalar) {
    return generator.scaled(scalar.to_canonical().value).to_affine();
  };
  const auto g1 = C::G1Jacobian::from_affine(C::G1::generator());
  const auto g2 = C::G2Jacobian::from_affine(C::G2::generator());
  return {multiple(g1, proof_a), multiple(g2, proof_b), multiple(g1, proof_c)};
}

}  // namespace cuzk::groth16
