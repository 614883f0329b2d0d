// The quadratic arithmetic program of a shape: its domain, its coset and its Lagrange basis.
//
// Letters (docs/math/groth16.md): m the domain's size, omega its generator, g the shift of the
// coset on which the quotient is formed, z = g^m - 1 the vanishing polynomial's constant value
// there.
#pragma once

#include <span>

#include "base/result.h"
#include "groth16/keys.h"
#include "poly/domain.h"
#include "r1cs/shape.h"

namespace cuzk::groth16 {

// A domain with the shift that a convention prescribes. The coset shift * domain never meets the
// domain, so the vanishing polynomial has an inverse on it.
template <class F>
struct QapDomain {
  poly::Domain<F> domain;
  F shift;
};

// The primitive 2^kTwoAdicity-th root of unity that snarkjs builds on: n^odd for the smallest
// quadratic non-residue n, where bellman takes the smallest multiplicative generator. They agree on
// BN254 (both 5) and differ on BLS12-381 (5 and 7).
template <class F>
F smallest_nonresidue_root();

// The generator of a domain and the shift of its coset.
template <class F>
struct QapRoots {
  F omega, shift;
};

// Of the domain of size 2^log2 and the coset of `convention`: for kCoefficients bellman's omega and
// the multiplicative generator as shift; for kOddCosetLagrange snarkjs's omega and the root of
// order 2 m that squares to it, so z = -2. Fails when the field has no root of the order needed.
template <class F>
base::Result<QapRoots<F>> qap_roots(QapConvention convention, std::size_t size_log2);

// The domain that has those roots.
template <class F>
base::Result<QapDomain<F>> make_qap_domain(QapConvention convention, std::size_t size_log2);

// out[i - first] = scale * L_i(x) for i in [first, first + out.size()), where L_i is 1 at omega^i
// and 0 elsewhere on the domain: L_i(x) = omega^i (x^m - 1) / (m (x - omega^i)). x must not lie in
// the domain. Multi-threaded; one inversion a block.
template <class F>
void lagrange_basis_at(const poly::Domain<F>& domain, const F& x, const F& scale, std::size_t first,
                       std::span<F> out);

// The appended row "input_i * 0 = 0" makes row constraint_count() + i of a the value of input i and
// of b and c zero. out[j] = row first_row + j of a (rows past the last are zero). Single-threaded,
// as r1cs::evaluate_rows: callers give blocks of rows to threads.
template <class F>
void evaluate_a_rows(const r1cs::Shape<F>& shape, const r1cs::Assignment<F>& assignment,
                     std::size_t first_row, std::span<F> out);

#define CUZK_GROTH16_QAP(FIELD)                                                                   \
  extern template FIELD smallest_nonresidue_root<FIELD>();                                        \
  extern template base::Result<QapRoots<FIELD>> qap_roots(QapConvention, std::size_t);            \
  extern template base::Result<QapDomain<FIELD>> make_qap_domain(QapConvention, std::size_t);     \
  extern template void lagrange_basis_at(const poly::Domain<FIELD>&, const FIELD&, const FIELD&,  \
                                         std::size_t, std::span<FIELD>);                          \
  extern template void evaluate_a_rows(const r1cs::Shape<FIELD>&, const r1cs::Assignment<FIELD>&, \
                                       std::size_t, std::span<FIELD>)
CUZK_GROTH16_QAP(field::bls12_381::Fr);
CUZK_GROTH16_QAP(field::bn254::Fr);
#undef CUZK_GROTH16_QAP

}  // namespace cuzk::groth16
