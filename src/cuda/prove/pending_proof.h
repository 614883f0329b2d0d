// What is left of a proof when the device is done with it: five sums, the blinding, the key.
//
// Nothing of the device is held here, so a proof that waits to be finished keeps no lane and no
// device memory from the next one; it may be finished on any thread, or dropped.
#pragma once

#include <memory>

#include "base/check.h"
#include "cuda/prove/prover.h"
#include "groth16/query_sum.h"

namespace cuzk::cuda::prove {

// The B query's ones and scalars for a sum over G2 on the host, copied out of the assignment, which
// may go after start.
template <class F>
struct HostB {
  groth16::CountedOnes ones;
  groth16::SelectedScalars<F> scalars;
};

// Started, then finished: finish() takes the key along, and a second call is an error of its
// caller's.
template <class C>
class CudaPendingProof final : public groth16::PendingProof<C> {
 public:
  using Fr = typename C::Fr;
  using G1 = typename C::G1;
  using G2 = typename C::G2;

  // `host_b` is there when sums.b_g2 is not.
  CudaPendingProof(const groth16::ProveInputs<C>& inputs, const groth16::Blinding<C>& blinding,
                   ProofSums<C> sums, std::optional<HostB<Fr>> host_b)
      : key_(inputs.key),
        control_(inputs.control),
        blinding_(blinding),
        sums_(std::move(sums)),
        host_b_(std::move(host_b)) {
    CUZK_ASSERT(key_ != nullptr && sums_.b_g2.has_value() != host_b_.has_value());
  }

  base::Result<groth16::Proof<C>> finish() override;
  std::uint64_t byte_count() const override;

 private:
  std::shared_ptr<const groth16::ProvingKey<C>> key_;  // null once finished
  groth16::Control control_;
  groth16::Blinding<C> blinding_;
  ProofSums<C> sums_;
  std::optional<HostB<Fr>> host_b_;
};

// Selects what a sum over G2 on the host needs: bytes of category kPending, by the ledger.
// kResourceExhausted where it has no room for them.
template <class C>
base::Result<HostB<typename C::Fr>> select_host_b(
    const groth16::ProveInputs<C>& inputs, const r1cs::Density& density,
    const r1cs::CompactWitness<typename C::Fr>& input_run);

}  // namespace cuzk::cuda::prove
