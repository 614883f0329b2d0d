// Keys and circuits on one device as its backends ask for them: what is loaded, what a proof takes
// beside it, and what is done where that does not fit. key_shelf.h has the order of who leaves.
//
// Here the shelf's untyped items get their type back: an item's owner is the cache that put it
// there, which is of one curve. Backends of one device and of several have one cache a device.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cuda/prove/key_shelf.h"
#include "cuda/prove/prover.h"
#include "cuda/prove/room.h"
#include "groth16/fit.h"

namespace cuzk::cuda::prove {

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

// A loaded pair of key and shape, while a proof uses it.
template <class C>
class Loaded {
 public:
  Loaded() = default;
  explicit Loaded(KeyShelf::Use use) : use_(std::move(use)) {}
  const LoadedCircuit<C>& operator*() const {
    return *static_cast<const LoadedCircuit<C>*>(use_.item());
  }
  const LoadedCircuit<C>* operator->() const { return &**this; }
  void begin_run() { use_.begin_run(); }
  void retire() { use_.retire(); }

 private:
  KeyShelf::Use use_;
};

// What one backend has on the shelf of its device.
template <class C>
class CircuitCache {
 public:
  using Fr = typename C::Fr;
  // What is to be loaded of a key: the device's part of each proof.
  struct Wanted {
    std::shared_ptr<const CircuitFacts<Fr>> facts;
    ProofPart part;
  };

  explicit CircuitCache(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  CircuitCache(const CircuitCache&) = delete;
  ~CircuitCache() { context_->keys().forget(this); }

  // The loaded pair of key and shape; when it is not there, what wanted() says is loaded now. In a
  // turn alone also when the one that is there leaves no room for this witness, as it was laid out
  // for another one. `never_fits` as plan_key. Whoever keeps a cache always wants the same part of
  // a pair.
  template <class Describe>
  base::Result<Loaded<C>> get(Lane& lane, const groth16::ProveInputs<C>& inputs,
                              const r1cs::CompactWitness<Fr>& input_run, unsigned lanes,
                              KeyShelf::Turn turn, bool& never_fits, const Describe& wanted) {
    const std::stop_token& stop = inputs.control.cancel;
    const auto load = [&](KeyShelf::Loading& loading) -> base::Result<KeyShelf::Item> {
      CUZK_TRY(Wanted what, wanted());
      ProofSizes sizes = proof_sizes<C>(inputs, *what.facts, input_run, what.part);
      CUZK_TRY(const ProofPlan plan,
               plan_key(
                   loading, context_->budget_bytes(), [&] { return context_->room_bytes(); },
                   [&](std::uint64_t room_bytes) {
                     auto made = plan_proof(sizes, room_bytes, lanes, KernelScratch<C>());
                     // First planned for an empty device: where that keeps vectors there, others
                     // are waited for rather than vectors sent to the host.
                     if (made.ok()) sizes.evaluation_buffers_least = least_vectors(*made);
                     return made;
                   },
                   stop, never_fits));
      CUZK_TRY(auto loaded, LoadedCircuit<C>::load(*context_, lane, inputs.key, inputs.shape,
                                                   std::move(what.facts), what.part, plan, stop));
      return KeyShelf::Item(std::move(loaded));
    };
    const auto fits = [&](const void* item) {
      const auto& circuit = *static_cast<const LoadedCircuit<C>*>(item);
      const ProofSizes sizes = proof_sizes<C>(inputs, circuit.facts(), input_run, circuit.part());
      const std::uint64_t budget = context_->budget_bytes(), own = circuit.plan().resident_bytes;
      return own <= budget &&
             plan_workspace(sizes, circuit.plan(), budget - own, lanes, KernelScratch<C>()).ok();
    };
    CUZK_TRY(auto use,
             context_->keys().take({this, inputs.key, inputs.shape}, turn, stop, load, fits));
    return Loaded<C>(std::move(use));
  }

 private:
  const std::shared_ptr<Context> context_;
};

// A proof's memory on one device, and the plan that it is for.
struct Workspace {
  ProofPlan plan;
  CountedBuffer memory;
};

// Takes it, waiting for other proofs to end; idle keys make room when nobody holds any.
template <class C>
base::Result<Workspace> take_workspace(Context& context, Loaded<C>& circuit,
                                       const ProofSizes& sizes, const Lane& lane, unsigned lanes,
                                       const std::stop_token& stop) {
  CUZK_TRY(Workspace workspace,
           take_beside_keys(
               context.keys(),
               [&] {
                 return plan_workspace(sizes, circuit->plan(), context.room_bytes(), lanes,
                                       KernelScratch<C>());
               },
               [&](const ProofPlan& plan) -> base::Result<Workspace> {
                 CUZK_TRY(auto memory,
                          context.wait_allocate(lane.compute, plan.workspace_bytes, stop));
                 return Workspace{plan, std::move(memory)};
               }));
  circuit.begin_run();
  return workspace;
}

}  // namespace cuzk::cuda::prove
