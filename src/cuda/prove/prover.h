// One proof on one device, from a witness to the five sums.
#pragma once

#include <optional>

#include "cuda/prove/loaded_circuit.h"
#include "groth16/backend.h"

namespace cuzk::cuda::prove {

// What the device computes of a proof.
template <class C>
struct ProofSums {
  cuzk::curve::Jacobian<typename C::G1> h, l, a, b_g1;
  std::optional<cuzk::curve::Jacobian<typename C::G2>> b_g2;  // none when the host sums it
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
};

// The sizes that a proof is planned by.
template <class C>
ProofSizes proof_sizes(const groth16::ProveInputs<C>& inputs,
                       const CircuitFacts<typename C::Fr>& facts,
                       const r1cs::CompactWitness<typename C::Fr>& input_run, bool b_g2_on_device);

// Runs a proof in `workspace`, which holds plan.workspace_bytes. Waits for the device.
template <class C>
base::Result<ProofSums<C>> run_proof(const Context& context, Lane& lane,
                                     const LoadedCircuit<C>& circuit, const ProofSizes& sizes,
                                     const ProofPlan& plan, const device::Buffer& workspace,
                                     const groth16::ProveInputs<C>& inputs,
                                     const r1cs::CompactWitness<typename C::Fr>& input_run,
                                     bool exact_stages);

}  // namespace cuzk::cuda::prove
