// start, finish, verify; and when verification fails, the search for the one to blame.
//
// Suspects in the order of what it costs to rule them out: the witness (every row is evaluated,
// where the shape carries C), the device (the proof is made again elsewhere, with the same
// blinding), and, when neither is it, the key.
#include "groth16/prove.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
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

namespace {

// Against the key that made it and the inputs but ONE: what a verifier elsewhere will do.
template <class C>
base::Result<bool> verifies(const ProveInputs<C>& inputs, const Proof<C>& proof) {
  CUZK_ASSERT(inputs.key != nullptr && inputs.shape != nullptr && inputs.assignment != nullptr);
  // The start that led here refused an assignment without ONE.
  CUZK_ASSERT(!inputs.assignment->inputs.empty());
  return verify<C>(inputs.key->vk, std::span(inputs.assignment->inputs).subspan(1), proof);
}

// What came of making a proof elsewhere.
template <class C>
struct SecondOpinion {
  bool was_made = false;
  std::optional<Proof<C>> right;  // where it verifies
};

// Makes the proof elsewhere and verifies it there; when it is right the first maker is blamed. An
// elsewhere that fails has no opinion, and the first failure stands; a cancel is passed on.
template <class C>
base::Result<SecondOpinion<C>> second_opinion(PendingProof<C>& pending,
                                              const ProveInputs<C>& inputs,
                                              const Blinding<C>& blinding) {
  SecondOpinion<C> out;
  const auto again = pending.start_elsewhere(inputs, blinding);
  if (again.ok() && *again == nullptr) return out;
  auto proof = again.ok() ? (*again)->finish() : base::Result<Proof<C>>(again.error());
  if (!proof.ok()) {
    if (proof.error().kind == base::ErrorKind::kCancelled) return proof.error();
    return out;
  }
  out.was_made = true;
  CUZK_TRY(const bool is_valid, verifies(inputs, *proof));
  if (!is_valid) return out;
  pending.blame();
  out.right = std::move(proof).value();
  return out;
}

}  // namespace

template <class C>
base::Result<Proof<C>> prove_with_blinding(Backend<C>& backend, const ProveInputs<C>& inputs,
                                           const Blinding<C>& blinding) {
  CUZK_TRY(const auto pending, backend.start(inputs, blinding));
  CUZK_ASSERT(pending != nullptr);
  CUZK_TRY(const auto proof, pending->finish());
  CUZK_TRY(const bool is_valid, verifies(inputs, proof));
  if (is_valid) return proof;
  base::Error failure = verification_failure(inputs);
  // No processor proves a broken constraint: a second opinion would only cost time.
  if (failure.kind == base::ErrorKind::kUnsatisfied) return failure;
  CUZK_TRY(auto second, second_opinion(*pending, inputs, blinding));
  if (second.right) return *std::move(second.right);
  if (!second.was_made && backend.name() != kCpuBackendName) {
    failure.message +=
        "; nor can it be told whether the device computed wrongly, as it was proved "
        "nowhere else: --backend cpu tells";
  }
  return failure;
}

template <class C>
base::Result<Proof<C>> checked_proof(const ProveInputs<C>& inputs, const Proof<C>& proof) {
  CUZK_TRY(const bool is_valid, verifies(inputs, proof));
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
