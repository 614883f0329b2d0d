// The standard domains: omega from the field's two-adic root, the coset shift its generator. Apart
// from ntt.cu because it computes with the host field, which nvcc would compile for the device too.
// Proofs bring the roots of their key's convention instead (groth16/qap.h).
#include <algorithm>

#include "cuda/poly/ntt.h"

namespace cuzk::cuda::poly {

template <class F>
base::Result<Transform<F>> Transform<F>::create(const device::Stream& stream,
                                                std::size_t size_log2) {
  // Sizes above the two-adicity leave the root as it is: create() refuses them with a sentence.
  F omega = F::two_adic_root();
  for (std::size_t i = std::min(size_log2, F::kTwoAdicity); i < F::kTwoAdicity; ++i) {
    omega = omega.squared();
  }
  return create(stream, size_log2, omega, F::generator());
}

template base::Result<Transform<cuzk::field::bls12_381::Fr>>
Transform<cuzk::field::bls12_381::Fr>::create(const device::Stream&, std::size_t);
template base::Result<Transform<cuzk::field::bn254::Fr>> Transform<cuzk::field::bn254::Fr>::create(
    const device::Stream&, std::size_t);

}  // namespace cuzk::cuda::poly
