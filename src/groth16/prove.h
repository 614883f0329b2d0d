// A proof from inputs: start, finish, verify. The only way that product code obtains a proof.
#pragma once

#include "groth16/backend.h"

namespace cuzk::groth16 {

// r and s uniform below the group order, from the operating system. Fails when it has no randomness.
template <class C>
base::Result<Blinding<C>> random_blinding();

// Draws blinding, proves on `backend`, verifies the result against the key's verifying key and the
// assignment's public inputs, and returns it only then. A proof that does not verify is an error of
// kind kVerificationFailed that says what to suspect (witness, key, QAP convention).
template <class C>
base::Result<Proof<C>> prove(Backend<C>& backend, const ProveInputs<C>& inputs);

// The same with given blinding. For tests.
template <class C>
base::Result<Proof<C>> prove_with_blinding(Backend<C>& backend, const ProveInputs<C>& inputs,
                                           const Blinding<C>& blinding);

}  // namespace cuzk::groth16
