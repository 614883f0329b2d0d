// start, finish, verify; and when verification fails, the search for the one to blame.
#include "groth16/prove.h"

#include <string>
#include <vector>

#include "groth16/random_scalar.h"
#include "groth16/verify.h"
#include "r1cs/checker.h"

namespace cuzk::groth16 {
namespace {

// Why a proof that was computed to the end does not verify.
template <class C>
base::Error verification_failure(const ProveInputs<C>& inputs) {
  const std::string key = inputs.key->name;
  if (!inputs.shape->has_c) {
    return {base::ErrorKind::kVerificationFailed,
            "the proof made with " + key +
                " does not verify: either the witness does not satisfy the circuit, or the key is "
                "damaged or was made for another QAP convention; the key carries no C matrix, so "
                "which of them cannot be told from here (check the witness against the r1cs file)"};
  }
  if (const auto broken = r1cs::first_broken_constraint(*inputs.shape, *inputs.assignment)) {
    return {base::ErrorKind::kUnsatisfied,
            "there is no proof, the witness does not satisfy the circuit: " +
                r1cs::describe(*broken, *inputs.shape, *inputs.assignment)};
  }
  const bool is_odd_coset = inputs.key->convention == QapConvention::kOddCosetLagrange;
  return {base::ErrorKind::kVerificationFailed,
          "the proof made with " + key +
              " does not verify although the witness satisfies the circuit: the key is suspect "
              "(damaged, made for another circuit, or its H query does not follow " +
              (is_odd_coset ? "snarkjs's" : "bellman's") + " QAP convention, as assumed)"};
}

}  // namespace

template <class C>
base::Result<Blinding<C>> random_blinding() {
  Blinding<C> blinding;
  CUZK_TRY(blinding.r, random_scalar<typename C::Fr>());
  CUZK_TRY(blinding.s, random_scalar<typename C::Fr>());
  return blinding;
}

template <class C>
base::Result<Proof<C>> prove_with_blinding(Backend<C>& backend, const ProveInputs<C>& inputs,
                                           const Blinding<C>& blinding) {
  CUZK_TRY(const auto pending, backend.start(inputs, blinding));
  CUZK_TRY(const auto proof, pending->finish());
  return checked_proof(inputs, proof);
}

template <class C>
base::Result<Proof<C>> checked_proof(const ProveInputs<C>& inputs, const Proof<C>& proof) {
  const std::span<const typename C::Fr> public_inputs =
      std::span(inputs.assignment->inputs).subspan(1);
  CUZK_TRY(const bool is_valid, verify<C>(inputs.key->vk, public_inputs, proof));
  if (!is_valid) return verification_failure(inputs);
  return proof;
}

template <class C>
base::Result<Proof<C>> prove(Backend<C>& backend, const ProveInputs<C>& inputs) {
  CUZK_TRY(const auto blinding, random_blinding<C>());
  return prove_with_blinding(backend, inputs, blinding);
}

#define CUZK_GROTH16_PROVE(CURVE)                                                        \
  template base::Result<Blinding<CURVE>> random_blinding();                              \
  template base::Result<Proof<CURVE>> prove(Backend<CURVE>&, const ProveInputs<CURVE>&); \
  template base::Result<Proof<CURVE>> prove_with_blinding(                               \
      Backend<CURVE>&, const ProveInputs<CURVE>&, const Blinding<CURVE>&);               \
  template base::Result<Proof<CURVE>> checked_proof(const ProveInputs<CURVE>&, const Proof<CURVE>&)
CUZK_GROTH16_PROVE(curve::Bls12_381);
CUZK_GROTH16_PROVE(curve::Bn254);

}  // namespace cuzk::groth16
