// A proof from inputs: start, finish, verify. Product code obtains proofs here: by prove, or, where
// stages of several proofs overlap, by a backend's start and finish followed by checked_proof.
//
// Why every proof is verified: a damaged key, a witness that breaks a row or a processor that
// computes wrongly all give three well-formed points. A verification costs milliseconds, a rejected
// proof on a chain much more.
#pragma once

#include "groth16/backend.h"

namespace cuzk::groth16 {

// r and s uniform below the group order, from the operating system. Fails when it has no
// randomness.
template <class C>
base::Result<Blinding<C>> random_blinding();

// Draws blinding, proves on `backend`, verifies the result against the key's verifying key and the
// assignment's public inputs, and returns it only then. One that does not verify although no
// constraint is known to be broken is made once more where the backend has an elsewhere (a pool of
// devices does); if that one verifies the device is to blame. Else a proof that does not verify is
// an error of kind kUnsatisfied or kVerificationFailed that says what to suspect (checked_proof).
template <class C>
base::Result<Proof<C>> prove(Backend<C>& backend, const ProveInputs<C>& inputs);

// Verifies a finished proof against the inputs it was started from and returns it, or the error
// that says why there is none: kUnsatisfied with the first broken constraint when the shape carries
// C and the witness breaks it, else kVerificationFailed with the suspects. For callers that run
// start and finish themselves.
template <class C>
base::Result<Proof<C>> checked_proof(const ProveInputs<C>& inputs, const Proof<C>& proof);

// prove with given blinding. For tests.
template <class C>
base::Result<Proof<C>> prove_with_blinding(Backend<C>& backend, const ProveInputs<C>& inputs,
                                           const Blinding<C>& blinding);

#define CUZK_GROTH16_PROVE(CURVE)                                                               \
  extern template base::Result<Blinding<CURVE>> random_blinding();                              \
  extern template base::Result<Proof<CURVE>> prove(Backend<CURVE>&, const ProveInputs<CURVE>&); \
  extern template base::Result<Proof<CURVE>> checked_proof(const ProveInputs<CURVE>&,           \
                                                           const Proof<CURVE>&);                \
  extern template base::Result<Proof<CURVE>> prove_with_blinding(                               \
      Backend<CURVE>&, const ProveInputs<CURVE>&, const Blinding<CURVE>&)
CUZK_GROTH16_PROVE(curve::Bls12_381);
CUZK_GROTH16_PROVE(curve::Bn254);
#undef CUZK_GROTH16_PROVE

}  // namespace cuzk::groth16
