// When a stage may begin, so that the budget always holds and no set of jobs can block itself.
//
// The account here is in numbers only. Whoever runs the stages takes the same bytes from the real
// ledger, which then never refuses them: this rule decides first.
//
// Letters: C is the budget less what is fixed and less a reserve for critical work, C* the same
// with the reserve; critical partitions are held against C*, the others against C. R is what jobs
// in flight hold as long as they live (their inputs, and the keys they refer to). I is keys that
// nobody refers to; they are dropped when room is needed. S is what partitions hold. W, a part of
// S, is the witness bytes of the partitions that have no device yet: in the witness stage or
// waiting behind it; V is the same of those that are not critical. d is what a partition needs
// besides its witness bytes w in the device stage. A partition's peak is w + d.
//
// The invariant: for every partition counted in W,
//   R + V + d <= C   where it is not critical,        R + W + d <= C*   where it is.
// The rule:
//   (1) a job enters when it keeps the invariant, S + R <= C (C*) with it, and for each job in
//       flight and itself R + peak <= C (C*)
//   (2) a witness begins when it keeps the invariant, and S + R + w <= C (C*)
//   (3) a device stage begins when  S + R + d <= C (C*)
//   (4) what a partition keeps for finish is not more than what it held before: nothing is asked
//
// Why it cannot block. (1) and (2) keep the invariant, (3) shrinks V and W, ends shrink all. A
// device stage that fails would put its partition back among those that wait, and grow W: it may
// keep its witness only where the invariant still holds, else it gives the witness back and begins
// anew (may_return).
// Suppose jobs in flight and nothing that can go on. Nothing runs, or it would end. Nothing waits
// for finish, since finish asks for nothing. So S = W. A critical partition that waits for a device
// may begin by the invariant and (3), and goes first; so none waits, and S = W = V. Then any other
// that waits may begin likewise; so none waits, and S = 0. Then a partition not yet begun fits by
// (1): R + w + d <= C. If no job is in flight, R = S = 0, and the first of the queue enters,
// because one that alone is too large was refused at its submission. Without the invariant budgets
// are not enough: three witnesses of 10 in a budget of 30, each of which needs 10 more to start,
// would wait for one another for ever.
#pragma once

#include <cstdint>
#include <set>

#include "engine/policy.h"

namespace cuzk::engine {

// The rule's constants. What of them is not for partitions of a priority is never lent to them.
struct MemoryRuleConfig {
  std::uint64_t budget_bytes = 0;            // 0: no budget, everything may begin
  std::uint64_t fixed_bytes = 0;             // of the budget, held always
  std::uint64_t critical_reserve_bytes = 0;  // of the budget, for critical partitions only
};

// Sums never go below zero; that is checked. Not thread-safe.
class MemoryRule {
 public:
  explicit MemoryRule(const MemoryRuleConfig& config);

  // C, or C* for critical work; UINT64_MAX without a budget.
  std::uint64_t capacity_bytes(Priority priority) const;

  // The questions (1) to (3). They change nothing; who gets yes books with the call of the same
  // name below before anything else is asked. `added_bytes` is what R grows by.
  bool may_enter(std::uint64_t added_bytes, std::uint64_t peak_bytes, Priority priority) const;
  // `kept_bytes` more are left free, for a device stage that found no room.
  bool may_begin_witness(const PartitionPlan& plan, Priority priority,
                         std::uint64_t kept_bytes) const;
  bool may_begin_device(const PartitionPlan& plan, Priority priority) const;
  // Whether a partition may go back from the device stage with its witness.
  bool may_return(const PartitionPlan& plan, Priority priority) const {
    return keeps_invariant(0, plan.witness_bytes, plan.device_bytes, priority);
  }
  // What has to go of the idle keys before `bytes` more fit.
  std::uint64_t excess_bytes(std::uint64_t bytes, Priority priority) const;

  // Jobs: `bytes` of their own, `peak_bytes` of their largest partition.
  void enter(std::uint64_t bytes, std::uint64_t peak_bytes, Priority priority);
  void leave(std::uint64_t bytes, std::uint64_t peak_bytes, Priority priority);
  // A key goes from idle to referred, or back; a new one is added as idle and dropped from idle.
  void add_idle_key(std::uint64_t bytes);
  void drop_idle_key(std::uint64_t bytes);
  void refer_key(std::uint64_t bytes);
  void unrefer_key(std::uint64_t bytes);
  // Partitions, along their way.
  void begin_witness(const PartitionPlan& plan, Priority priority);
  void begin_device(const PartitionPlan& plan, Priority priority);
  void end_device(const PartitionPlan& plan);
  void end_finish(const PartitionPlan& plan);
  void drop_witness(const PartitionPlan& plan,
                    Priority priority);  // in the witness stage or waiting behind it
  void return_witness(const PartitionPlan& plan,
                      Priority priority);       // from the device stage to waiting
  void drop_device(const PartitionPlan& plan);  // in the device stage

  // S, R and I together: what the ledger holds on behalf of the scheduler, fixed bytes apart.
  std::uint64_t held_bytes() const { return partition_bytes_ + referred_bytes_ + idle_bytes_; }
  std::uint64_t partition_bytes() const { return partition_bytes_; }
  std::uint64_t key_idle_bytes() const { return idle_bytes_; }
  // The invariant of the argument above, for tests and checks.
  bool holds() const;

 private:
  // The part of the sums that belongs to critical partitions, or to the others.
  struct Waiting {
    std::uint64_t witness_bytes = 0;
    std::multiset<std::uint64_t> device_needs;
    std::multiset<std::uint64_t> peaks;  // of jobs in flight
  };
  Waiting& waiting(Priority priority) {
    // Each half is booked by the priority of its partition, which does not change on its way.
    return priority == Priority::kCritical ? critical_ : others_;
  }
  bool keeps_invariant(std::uint64_t job_bytes, std::uint64_t witness_bytes,
                       std::uint64_t device_bytes, Priority priority) const;

  MemoryRuleConfig config_;
  std::uint64_t referred_bytes_ = 0;   // R
  std::uint64_t idle_bytes_ = 0;       // I
  std::uint64_t partition_bytes_ = 0;  // S
  Waiting critical_, others_;          // V is of others_, W of both
};

}  // namespace cuzk::engine
