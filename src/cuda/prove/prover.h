// One proof on one device, from a witness to the five sums; or a device's part of one.
//
// It takes no device memory and no lane itself: those are found before (circuit_cache.h), by sizes
// that are worked out here. Blinding and assembly are the host's (pending_proof.h).
#pragma once

#include <optional>

#include "cuda/prove/loaded_circuit.h"
#include "cuda/prove/quotient_handover.h"
#include "groth16/backend.h"

namespace cuzk::cuda::prove {

// What the device computes of a proof. The sums of several parts are added.
template <class C>
struct ProofSums {
  cuzk::curve::Jacobian<typename C::G1> h, l, a, b_g1;
  std::optional<cuzk::curve::Jacobian<typename C::G2>> b_g2;  // none where it is summed elsewhere

  void add(const ProofSums& other) {
    h += other.h;
    l += other.l;
    a += other.a;
    b_g1 += other.b_g1;
    if (!other.b_g2) return;
    if (!b_g2) b_g2.emplace();
    *b_g2 += *other.b_g2;
  }
};

// What joins a part of a proof to the parts of other devices; nothing for a whole proof.
struct Sharing {
  QuotientHandover* handover = nullptr;
  std::size_t seat = 0;
};

// A witness as it travels to the device: the sizes of its arrays, in one order.
template <class F>
struct WitnessArrays {
  device::DeviceSpan<F> inputs, input_scalars, aux_scalars;
  device::DeviceSpan<std::uint64_t> input_bits, input_mask, aux_bits, aux_mask;
  device::DeviceSpan<std::uint32_t> input_rank, aux_rank;

  WitnessArrays(device::Arena& arena, const r1cs::Assignment<F>& assignment,
                const r1cs::CompactWitness<F>& input_run);
};

// The scratch that the kernels of a curve ask for.
template <class C>
struct KernelScratch final : ScratchModel {
  std::uint64_t multiply_bytes(const MultiplySizes& sizes) const override;
  std::uint64_t bitmap_bytes(bool in_g2, std::uint64_t count) const override;
  TableOffer tables(const MultiplySizes& sizes, std::uint64_t scratch_bytes,
                    const TableWish& wish) const override;
};

// What a division of the proof among devices goes by; borrows from all arguments.
template <class C>
SharedWork shared_work(const groth16::ProveInputs<C>& inputs,
                       const CircuitFacts<typename C::Fr>& facts,
                       const r1cs::CompactWitness<typename C::Fr>& input_run, bool b_g2_on_device);

// The sizes that a part of a proof is planned by.
template <class C>
ProofSizes proof_sizes(const groth16::ProveInputs<C>& inputs,
                       const CircuitFacts<typename C::Fr>& facts,
                       const r1cs::CompactWitness<typename C::Fr>& input_run,
                       const ProofPart& part);

// Runs the circuit's part of a proof in `workspace`, which holds plan.workspace_bytes. Waits for
// the device. Where the proof is shared, the other parts' runs must be under way or begin, and all
// workspaces outlive all runs.
template <class C>
base::Result<ProofSums<C>> run_proof(const Context& context, Lane& lane,
                                     const LoadedCircuit<C>& circuit, const ProofSizes& sizes,
                                     const ProofPlan& plan, const device::Buffer& workspace,
                                     const groth16::ProveInputs<C>& inputs,
                                     const r1cs::CompactWitness<typename C::Fr>& input_run,
                                     bool exact_stages, const Sharing& sharing = {});

}  // namespace cuzk::cuda::prove
