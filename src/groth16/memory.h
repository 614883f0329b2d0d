// How much memory a proof takes: one account, for the backend's plan and for who only has a key.
//
// The figures are what the ledger will see (whole pages), save small buffers that stay on the heap.
// Scratch depends on the CPU level and on the number of threads. A plan that is too small would let
// the ledger admit what then fails half-way; a test compares it with the peak that proofs reach.
#pragma once

#include <cstdint>

#include "groth16/backend.h"
#include "groth16/keys.h"

namespace cuzk::groth16 {

// What a plan needs to know of circuit and witness.
struct WitnessCounts {
  std::uint64_t input_count = 0, aux_count = 0;
  std::uint64_t scalar_count = 0;    // variables that are scalars; all of them when not known
  std::uint64_t b_scalar_count = 0;  // those that the B query holds
};

// The memory of one proof on the CPU with `key`.
template <class C>
MemoryPlan plan_memory(const ProvingKey<C>& key, const WitnessCounts& counts);

// Upper bound of what one proof with this key takes at its peak, whatever the witness: the plan's
// peak and the assignment. Not included: the key's file (mapped) and the circuit's matrices.
template <class C>
std::uint64_t proving_bytes(const ProvingKey<C>& key);

extern template MemoryPlan plan_memory(const ProvingKey<curve::Bls12_381>&, const WitnessCounts&);
extern template MemoryPlan plan_memory(const ProvingKey<curve::Bn254>&, const WitnessCounts&);
extern template std::uint64_t proving_bytes(const ProvingKey<curve::Bls12_381>&);
extern template std::uint64_t proving_bytes(const ProvingKey<curve::Bn254>&);

}  // namespace cuzk::groth16
