// Keys and circuits on one device, most recently used first; the least recently used leave when
// another one or a proof wants their room.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/log.h"
#include "cuda/prove/prover.h"
#include "groth16/fit.h"

namespace cuzk::cuda::prove {

// The inputs' run of an assignment, classified as the aux are.
template <class F>
r1cs::CompactWitness<F> compact_inputs(const r1cs::Assignment<F>& assignment) {
  r1cs::CompactWitness<F> out;
  for (const F& value : assignment.inputs) out.push_classified(value);
  return out;
}

// What a shape says, after a check that the key and the assignment belong to it.
template <class C>
base::Result<std::shared_ptr<const CircuitFacts<typename C::Fr>>> checked_facts(
    const groth16::ProveInputs<C>& inputs) {
  auto facts = std::make_shared<const CircuitFacts<typename C::Fr>>(*inputs.shape,
                                                                    inputs.key->has_dense_queries);
  CUZK_TRY_STATUS(groth16::check_key_fits(*inputs.key, *inputs.shape, facts->density));
  CUZK_TRY_STATUS(groth16::check_assignment_fits(*inputs.assignment, *inputs.shape));
  return facts;
}

template <class C>
class CircuitCache {
 public:
  using Fr = typename C::Fr;
  using Loaded = std::shared_ptr<const LoadedCircuit<C>>;
  // What is to be loaded of a key: the device's part of each proof.
  struct Wanted {
    std::shared_ptr<const CircuitFacts<Fr>> facts;
    ProofPart part;
  };

  // The loaded pair of key and shape; when it is not there, what wanted() says is loaded now.
  // Whoever keeps a cache always wants the same part of a pair.
  template <class Describe>
  base::Result<Loaded> get(Context& context, Lane& lane, const groth16::ProveInputs<C>& inputs,
                           const r1cs::CompactWitness<Fr>& input_run, unsigned lanes,
                           const Describe& wanted) {
    const std::lock_guard lock(mutex_);
    entries_.remove_if([](const auto& entry) { return entry->is_expired(); });
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (!(*entry)->is_of(inputs.key, inputs.shape)) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return Loaded(entries_.front());
    }
    CUZK_TRY(Wanted what, wanted());
    const ProofSizes sizes = proof_sizes<C>(inputs, *what.facts, input_run, what.part);
    // With everything else gone, then with what is in use by running proofs left in place.
    CUZK_TRY(ProofPlan plan, plan_proof(sizes, context.budget_bytes(), lanes, KernelScratch<C>()));
    make_room(context, plan.resident_bytes + plan.workspace_bytes);
    if (context.room_bytes() < plan.resident_bytes + plan.workspace_bytes) {
      CUZK_TRY(plan, plan_proof(sizes, context.room_bytes(), lanes, KernelScratch<C>()));
    }
    CUZK_TRY(auto loaded, LoadedCircuit<C>::load(context, lane, inputs.key, inputs.shape,
                                                 std::move(what.facts), what.part, plan));
    entries_.push_front(std::move(loaded));
    return Loaded(entries_.front());
  }

  // Lets idle entries go, the least recently used first, until `bytes` are free or none is idle.
  // Whether one went.
  bool make_room_for_proof(const Context& context, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    return make_room(context, bytes);
  }

 private:
  bool make_room(const Context& context, std::uint64_t bytes) {
    bool has_evicted = false;
    for (auto entry = entries_.end(); entry != entries_.begin();) {
      --entry;
      if (context.room_bytes() >= bytes) break;
      if (entry->use_count() > 1) continue;
      base::log(base::LogLevel::kInfo,
                "a key leaves device " + std::to_string(context.info().index) + " to make room");
      entry = entries_.erase(entry);
      has_evicted = true;
    }
    return has_evicted;
  }

  std::mutex mutex_;
  std::list<std::shared_ptr<const LoadedCircuit<C>>> entries_;
};

// A proof's memory on one device, and the plan that it is for.
struct Workspace {
  ProofPlan plan;
  CountedBuffer memory;
};

// Takes it, waiting for other proofs to end; idle keys make room when nobody holds any.
template <class C>
base::Result<Workspace> take_workspace(Context& context, CircuitCache<C>& cache,
                                       const LoadedCircuit<C>& circuit, const ProofSizes& sizes,
                                       const Lane& lane, unsigned lanes, std::stop_token stop) {
  const KernelScratch<C> scratch;
  while (true) {
    CUZK_TRY(const ProofPlan plan,
             plan_workspace(sizes, circuit.plan(), context.room_bytes(), lanes, scratch));
    auto memory = context.wait_allocate(lane.compute, plan.workspace_bytes, stop);
    if (memory.ok()) return Workspace{plan, std::move(memory).value()};
    const bool may_retry = memory.error().kind == base::ErrorKind::kResourceExhausted &&
                           cache.make_room_for_proof(context, plan.workspace_bytes);
    if (!may_retry) return memory.error();
  }
}

}  // namespace cuzk::cuda::prove
