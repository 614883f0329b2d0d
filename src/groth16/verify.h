// Verification of one proof or many.
//
// Takes any three points for a proof, whoever sent them. The key is trusted: its reader has checked
// its points. Runs on all threads; a proof takes some milliseconds.
#pragma once

#include <span>

#include "base/result.h"
#include "groth16/keys.h"

namespace cuzk::groth16 {

// e(A, B) = e(alpha, beta) e(sum x_i IC_i, gamma) e(C, delta). `public_inputs` are without ONE. A
// wrong count of inputs is an error with both counts; "no" is the value false. Infinity in A, B or
// C, and points outside the subgroup, are refused with false.
template <class C>
base::Result<bool> verify(const VerifyingKey<C>& key, std::span<const typename C::Fr> public_inputs,
                          const Proof<C>& proof);

// One pairing product for n proofs under one key, weighted with random 128-bit factors; false when
// any of them is wrong (error probability 2^-128). Empty input is an error.
template <class C>
base::Result<bool> verify_batch(const VerifyingKey<C>& key,
                                std::span<const std::vector<typename C::Fr>> public_inputs,
                                std::span<const Proof<C>> proofs);

#define CUZK_GROTH16_VERIFY(CURVE)                                                            \
  extern template base::Result<bool> verify(const VerifyingKey<CURVE>&,                       \
                                            std::span<const CURVE::Fr>, const Proof<CURVE>&); \
  extern template base::Result<bool> verify_batch(const VerifyingKey<CURVE>&,                 \
                                                  std::span<const std::vector<CURVE::Fr>>,    \
                                                  std::span<const Proof<CURVE>>)
CUZK_GROTH16_VERIFY(curve::Bls12_381);
CUZK_GROTH16_VERIFY(curve::Bn254);
#undef CUZK_GROTH16_VERIFY

}  // namespace cuzk::groth16
