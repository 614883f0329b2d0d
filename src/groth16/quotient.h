// The scalars of the H query from a witness: six transforms over two buffers of the domain's size.
//
// On the domain c = a b, so C is never evaluated: with the evaluations of a and b moved to the
// coset and multiplied there, the inverse coset transform gives the coefficients of c + z h, those
// of c come from one inverse transform of a b, and h = (cosetINTT(A B) - INTT(a b)) / z. The rows
// of a and b are evaluated a second time for a b, which costs a small part of one transform and
// saves a third buffer of the domain's size. docs/math/groth16.md derives it.
#pragma once

#include "base/ledger.h"
#include "base/result.h"
#include "groth16/control.h"
#include "groth16/qap.h"

namespace cuzk::groth16 {

// The scalars of an H query in canonical form, in the buffer they were computed in. Movable; the
// span stays valid, as the buffer's pages do not move.
template <class F>
class QuotientScalars {
 public:
  using Canonical = field::Canonical<typename F::Params>;
  // Converts the first `count` of `values` where they lie; the rest is not looked at.
  QuotientScalars(base::Buffer<F> values, std::size_t count);
  std::span<const Canonical> values() const noexcept { return values_; }

 private:
  base::Buffer<F> storage_;
  std::span<const Canonical> values_;
};

// Peak bytes of quotient_scalars; what it returns holds half of them.
template <class F>
std::uint64_t quotient_bytes(std::size_t domain_log2) {
  return 2 * (std::uint64_t{sizeof(F)} << domain_log2);
}

// kCoefficients: the m - 1 coefficients of h. kOddCosetLagrange: the m values of a b - c on the
// coset. The assignment need not satisfy the circuit: then the scalars belong to no valid proof.
template <class F>
base::Result<QuotientScalars<F>> quotient_scalars(const r1cs::Shape<F>& shape,
                                                  const r1cs::Assignment<F>& assignment,
                                                  QapConvention convention, std::size_t domain_log2,
                                                  const Control& control);

extern template class QuotientScalars<field::bls12_381::Fr>;
extern template class QuotientScalars<field::bn254::Fr>;
extern template base::Result<QuotientScalars<field::bls12_381::Fr>> quotient_scalars(
    const r1cs::Shape<field::bls12_381::Fr>&, const r1cs::Assignment<field::bls12_381::Fr>&,
    QapConvention, std::size_t, const Control&);
extern template base::Result<QuotientScalars<field::bn254::Fr>> quotient_scalars(
    const r1cs::Shape<field::bn254::Fr>&, const r1cs::Assignment<field::bn254::Fr>&, QapConvention,
    std::size_t, const Control&);

}  // namespace cuzk::groth16
