// The inequalities of memory_rule.h, in its letters.
//
// Questions read sums and two ordered multisets; bookings change them. All cost a constant or the
// logarithm of the partitions in flight, so that the scheduler may ask as often as it likes. Sums
// stay far from 64 bits: the scheduler bounds each plan (kPlanBytesMax).
#include "engine/memory_rule.h"

#include "base/check.h"

namespace cuzk::engine {
namespace {

std::uint64_t largest_of(const std::multiset<std::uint64_t>& values) {
  // A sum of nobody has no need; 0 then binds nothing.
  return values.empty() ? 0 : *values.rbegin();
}

// One of equal values, not all: each stands for a partition or a job of its own.
void take_one(std::multiset<std::uint64_t>& values, std::uint64_t value) {
  const auto found = values.find(value);
  CUZK_ASSERT(found != values.end());
  values.erase(found);
}

// Every subtraction goes through here: a sum below zero would look like free memory of 2^64 bytes.
void lower(std::uint64_t& sum, std::uint64_t bytes) {
  CUZK_ASSERT(sum >= bytes);
  sum -= bytes;
}

}  // namespace

MemoryRule::MemoryRule(const MemoryRuleConfig& config) : config_(config) {
  CUZK_ASSERT(config.budget_bytes == 0 || config.fixed_bytes <= config.budget_bytes);
  CUZK_ASSERT(config.budget_bytes == 0 ||
              config.critical_reserve_bytes <= config.budget_bytes - config.fixed_bytes);
}

std::uint64_t MemoryRule::capacity_bytes(Priority priority) const {
  if (config_.budget_bytes == 0) return UINT64_MAX;
  const std::uint64_t usable = config_.budget_bytes - config_.fixed_bytes;
  return priority == Priority::kCritical ? usable : usable - config_.critical_reserve_bytes;
}

// With so many bytes more in R and in W, and one more partition counted in W that needs
// `device_bytes` (none where all are 0).
bool MemoryRule::keeps_invariant(std::uint64_t job_bytes, std::uint64_t witness_bytes,
                                 std::uint64_t device_bytes, Priority priority) const {
  const bool critical = priority == Priority::kCritical;
  const std::uint64_t referred = referred_bytes_ + job_bytes;
  const std::uint64_t others = others_.witness_bytes + (critical ? 0 : witness_bytes);
  const std::uint64_t all = others + critical_.witness_bytes + (critical ? witness_bytes : 0);
  // Of the many inequalities only that of the largest need binds: R and W are the same in all.
  const std::uint64_t need_others =
      std::max(largest_of(others_.device_needs), critical ? 0 : device_bytes);
  const std::uint64_t need_critical =
      std::max(largest_of(critical_.device_needs), critical ? device_bytes : 0);
  // A sum without partitions binds nobody.
  const bool binds_others = others > 0 || need_others > 0;
  const bool binds_critical =
      !critical_.device_needs.empty() || (critical && witness_bytes > 0) || need_critical > 0;
  return (!binds_others || referred + others + need_others <= capacity_bytes(Priority::kNormal)) &&
         (!binds_critical || referred + all + need_critical <= capacity_bytes(Priority::kCritical));
}

bool MemoryRule::may_enter(std::uint64_t added_bytes, std::uint64_t peak_bytes,
                           Priority priority) const {
  const std::uint64_t referred = referred_bytes_ + added_bytes;
  // For each job in flight its largest partition must fit beside R alone, or it could not begin
  // even when all others are done.
  const auto peaks_fit = [&](const Waiting& waiting, Priority whose, bool with_new) {
    if (waiting.peaks.empty() && !with_new) return true;
    const std::uint64_t peak = std::max(largest_of(waiting.peaks), with_new ? peak_bytes : 0);
    return referred + peak <= capacity_bytes(whose);
  };
  const bool critical = priority == Priority::kCritical;
  return partition_bytes_ + referred <= capacity_bytes(priority) &&
         peaks_fit(critical_, Priority::kCritical, critical) &&
         peaks_fit(others_, Priority::kNormal, !critical) &&
         keeps_invariant(added_bytes, 0, 0, priority);
}

bool MemoryRule::may_begin_witness(const PartitionPlan& plan, Priority priority,
                                   std::uint64_t kept_bytes) const {
  const std::uint64_t capacity = capacity_bytes(priority);
  return partition_bytes_ + referred_bytes_ + plan.witness_bytes + kept_bytes <= capacity &&
         may_return(plan, priority);
}

bool MemoryRule::may_begin_device(const PartitionPlan& plan, Priority priority) const {
  return partition_bytes_ + referred_bytes_ + plan.device_bytes <= capacity_bytes(priority);
}

std::uint64_t MemoryRule::excess_bytes(std::uint64_t bytes, Priority priority) const {
  // With I, unlike the questions: idle keys are what goes.
  const std::uint64_t capacity = capacity_bytes(priority);
  const std::uint64_t wanted = held_bytes() + bytes;
  return wanted > capacity ? wanted - capacity : 0;
}

void MemoryRule::enter(std::uint64_t bytes, std::uint64_t peak_bytes, Priority priority) {
  referred_bytes_ += bytes;
  waiting(priority).peaks.insert(peak_bytes);
}

void MemoryRule::leave(std::uint64_t bytes, std::uint64_t peak_bytes, Priority priority) {
  lower(referred_bytes_, bytes);
  take_one(waiting(priority).peaks, peak_bytes);
}

void MemoryRule::add_idle_key(std::uint64_t bytes) { idle_bytes_ += bytes; }
void MemoryRule::drop_idle_key(std::uint64_t bytes) { lower(idle_bytes_, bytes); }

void MemoryRule::refer_key(std::uint64_t bytes) {
  lower(idle_bytes_, bytes);
  referred_bytes_ += bytes;
}

void MemoryRule::unrefer_key(std::uint64_t bytes) {
  lower(referred_bytes_, bytes);
  idle_bytes_ += bytes;
}

void MemoryRule::begin_witness(const PartitionPlan& plan, Priority priority) {
  CUZK_ASSERT(plan.pending_bytes <= plan.peak_bytes());  // what end_device() relies on
  partition_bytes_ += plan.witness_bytes;
  waiting(priority).witness_bytes += plan.witness_bytes;
  waiting(priority).device_needs.insert(plan.device_bytes);
}

void MemoryRule::begin_device(const PartitionPlan& plan, Priority priority) {
  // From W to none of the waiting sums; S keeps the witness and takes the device's need on top.
  lower(waiting(priority).witness_bytes, plan.witness_bytes);
  take_one(waiting(priority).device_needs, plan.device_bytes);
  partition_bytes_ += plan.device_bytes;
}

void MemoryRule::end_device(const PartitionPlan& plan) {
  CUZK_ASSERT(plan.pending_bytes <= plan.peak_bytes());
  lower(partition_bytes_, plan.peak_bytes() - plan.pending_bytes);
}

void MemoryRule::end_finish(const PartitionPlan& plan) {
  lower(partition_bytes_, plan.pending_bytes);
}

void MemoryRule::drop_witness(const PartitionPlan& plan, Priority priority) {
  lower(partition_bytes_, plan.witness_bytes);
  lower(waiting(priority).witness_bytes, plan.witness_bytes);
  take_one(waiting(priority).device_needs, plan.device_bytes);
}

void MemoryRule::return_witness(const PartitionPlan& plan, Priority priority) {
  lower(partition_bytes_, plan.device_bytes);
  waiting(priority).witness_bytes += plan.witness_bytes;
  waiting(priority).device_needs.insert(plan.device_bytes);
}

void MemoryRule::drop_device(const PartitionPlan& plan) {
  lower(partition_bytes_, plan.peak_bytes());
}

bool MemoryRule::holds() const {
  // keeps_invariant of nothing more looks at both halves, whichever priority it is asked for.
  return held_bytes() <= capacity_bytes(Priority::kCritical) &&
         keeps_invariant(0, 0, 0, Priority::kNormal);
}

}  // namespace cuzk::engine
