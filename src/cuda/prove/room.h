// What is done where a key or a proof finds no room on its device, apart from CUDA.
//
// Three rules, each over functions that plan and take, so that tests make them up: a key is planned
// for an empty device first; a proof drives out idle keys; and who still lacks room gives up what
// it has and comes again alone. Nobody waits for room while holding some, so none of it can lock
// up.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>

#include "cuda/prove/key_shelf.h"
#include "cuda/prove/proof_plan.h"

namespace cuzk::cuda::prove {

// The plan that a key is loaded by: with everything else gone, else with what is in use left in
// place. `plan_in(bytes)` plans within so many. `never_fits` becomes true where the device has too
// little even then.
template <class PlanIn>
base::Result<ProofPlan> plan_key(KeyShelf::Loading& loading, std::uint64_t budget_bytes,
                                 const std::function<std::uint64_t()>& room_bytes,
                                 const PlanIn& plan_in, const std::stop_token& stop,
                                 bool& never_fits) {
  auto planned = plan_in(budget_bytes);
  never_fits = !planned.ok();
  CUZK_TRY(ProofPlan plan, std::move(planned));
  // The workspace of one proof too: a key without room for its proof would be loaded for nothing.
  CUZK_TRY(const bool is_free,
           loading.make_room(plan.resident_bytes + plan.workspace_bytes, room_bytes, stop));
  if (is_free) return plan;
  return plan_in(room_bytes());
}

// Plans and takes the memory of one proof beside the keys; where it lacks room idle keys leave one
// by one, and when none is idle the lack is the answer.
template <class Plan, class Take>
auto take_beside_keys(KeyShelf& shelf, const Plan& plan, const Take& take)
    -> decltype(take(plan().value())) {
  // Planned anew each time, as the room is another: each turn lets one idle key go.
  while (true) {
    const auto planned = plan();
    auto taken =
        planned.ok() ? take(planned.value()) : decltype(take(plan().value()))(planned.error());
    const bool lacks_room =
        !taken.ok() && taken.error().kind == base::ErrorKind::kResourceExhausted;
    if (!lacks_room || !shelf.evict_oldest()) return taken;
  }
}

// A proof beside others; where it finds no room, once more after those have ended, unless it never
// fits. `attempt(turn, never_fits)` holds nothing of the device when it returns an error.
template <class Attempt>
auto with_room(const Attempt& attempt) {
  bool never_fits = false;  // said by an attempt that planned its key and found even that too much
  auto first = attempt(KeyShelf::Turn::kShared, never_fits);
  const bool lacks_room = !first.ok() && first.error().kind == base::ErrorKind::kResourceExhausted;
  if (!lacks_room || never_fits) return first;
  return attempt(KeyShelf::Turn::kAlone, never_fits);
}

}  // namespace cuzk::cuda::prove
