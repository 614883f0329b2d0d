// Grants: which partition a worker gets, in order, and how the three exceptions are bounded.
//
// Choosing changes nothing and is asked often (also to know who should yield and what waits for
// memory); grant() alone books. The jobs in flight are walked in order of rank, which is cheap as
// long as they are few, and they are: `jobs_in_flight_max` bounds them.
#include <algorithm>

#include "base/check.h"
#include "engine/scheduler.h"

namespace cuzk::engine {
namespace {

constexpr std::size_t index_of(Stage stage) { return static_cast<std::size_t>(stage); }

// The state in which a partition waits for the stage; the state in which it is while there.
constexpr PartitionState waiting_for(Stage stage) {
  switch (stage) {
    case Stage::kWitness: return PartitionState::kQueued;
    case Stage::kDevice: return PartitionState::kDeviceQueued;
    case Stage::kFinish: return PartitionState::kFinishQueued;
  }
  return PartitionState::kQueued;
}
constexpr PartitionState running_in(Stage stage) {
  switch (stage) {
    case Stage::kWitness: return PartitionState::kWitness;
    case Stage::kDevice: return PartitionState::kDevice;
    case Stage::kFinish: return PartitionState::kFinish;
  }
  return PartitionState::kWitness;
}

constexpr bool runs_behind_waiting(Stage stage) {
  return index_of(stage) * 2 == static_cast<std::size_t>(waiting_for(stage)) &&
         index_of(stage) * 2 + 1 == static_cast<std::size_t>(running_in(stage));
}
static_assert(runs_behind_waiting(Stage::kWitness) && runs_behind_waiting(Stage::kDevice) &&
              runs_behind_waiting(Stage::kFinish));

}  // namespace

Scheduler::Worker& Scheduler::worker_of(WorkerId id) {
  return workers_[index_of(id.kind)].at(id.index);
}
const Scheduler::Worker& Scheduler::worker_of(WorkerId id) const {
  return workers_[index_of(id.kind)].at(id.index);
}

// Whether the device is usable, and had room for the partition as far as is known.
bool Scheduler::may_take(const Partition& partition, std::uint32_t device) const {
  return !devices_[device].quarantined && partition.no_room_on.count(device) == 0;
}

bool Scheduler::has_other_device(const Partition& partition, std::uint32_t apart_from) const {
  // A fallback device counts: it is there for what failed elsewhere.
  for (std::uint32_t d = 0; d < devices_.size(); ++d) {
    if (d != apart_from && may_take(partition, d)) return true;
  }
  return false;
}

// Whether the partition should rather run elsewhere: none where there was no room for it, a second
// attempt not where the first failed, a first one not on a device that is kept for second ones.
// Where there is no elsewhere it runs here.
bool Scheduler::avoids(const Partition& partition, Stage stage, const Worker& worker,
                       WorkerId id) const {
  if (stage != Stage::kDevice) {
    return partition.failed_on == id && workers_[index_of(id.kind)].size() > 1;
  }
  CUZK_ASSERT(worker.device.has_value());
  const std::uint32_t own = *worker.device;
  if (!may_take(partition, own)) return has_other_device(partition, own);
  if (!partition.failed_device && config_.devices[own].fallback_only) {
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      if (!config_.devices[d].fallback_only && may_take(partition, d)) return true;
    }
    return false;
  }
  if (partition.failed_device == own && has_other_device(partition, own)) return true;
  // The same device after all: another worker of it, where there is one.
  return partition.failed_on == id && config_.devices[own].worker_count > 1;
}

std::optional<std::size_t> Scheduler::candidate(const Job& job, Stage stage, const Worker& worker,
                                                WorkerId id) const {
  const PartitionState wanted = waiting_for(stage);
  // The counter answers for most jobs without a look at their partitions.
  if (job.in_state[static_cast<std::size_t>(wanted)] == 0) return std::nullopt;
  const auto running = job.in_state[static_cast<std::size_t>(PartitionState::kWitness)];
  // Until open() the partition in the witness stage is the one that fetches input and key.
  if (stage == Stage::kWitness && job.spec.opens_later && running > 0) return std::nullopt;
  for (std::size_t p = 0; p < job.partitions.size(); ++p) {
    const Partition& partition = job.partitions[p];
    if (partition.state == wanted && !avoids(partition, stage, worker, id)) return p;
  }
  return std::nullopt;
}

Scheduler::Choice Scheduler::first_in_order(Stage stage, const Worker& worker, WorkerId id) const {
  // flying_ is in order of rank, so critical jobs stand first and the first hit is the answer.
  for (const auto& [rank, job] : flying_) {
    if (worker.critical_only && rank.priority != Priority::kCritical) break;
    if (const auto partition = candidate(*job, stage, worker, id)) return {job, *partition};
  }
  return {};
}

Scheduler::Choice Scheduler::aged(Stage stage, const Worker& worker, WorkerId id,
                                  std::int64_t now_ms) const {
  Choice oldest;
  if (worker.critical_only) return oldest;
  for (const auto& [rank, job] : flying_) {
    const std::int64_t since_ms = job->waiting_since_ms[index_of(stage)];
    if (rank.priority == Priority::kCritical || now_ms - since_ms < config_.ageing_ms) continue;
    if (oldest.job != nullptr && oldest.job->waiting_since_ms[index_of(stage)] <= since_ms) {
      continue;
    }
    // Only who could use a grant counts: a job that waits for something else is not passed over.
    if (const auto partition = candidate(*job, stage, worker, id)) {
      oldest = {job, *partition, GrantReason::kAged};
    }
  }
  return oldest;
}

Scheduler::Choice Scheduler::grouped(const Choice& best, const Worker& worker, WorkerId id) const {
  CUZK_ASSERT(best.job != nullptr && worker.device.has_value());
  const Device& device = devices_[*worker.device];
  // Nothing to gain where the best one has the device's key; nothing to risk where it has a
  // deadline.
  const bool may_group = device.key && *device.key != best.job->spec.key.id &&
                         best.job->rank.deadline_ms == Rank::kNoDeadline &&
                         device.grouped_count < config_.grouping_max;
  if (!may_group) return {};
  for (const auto& [rank, job] : flying_) {
    if (rank.priority != best.job->rank.priority || job->spec.key.id != *device.key) continue;
    if (const auto partition = candidate(*job, Stage::kDevice, worker, id)) {
      return {job, *partition, GrantReason::kGrouped};
    }
  }
  return {};
}

Scheduler::Choice Scheduler::choose(Stage stage, const Worker& worker, WorkerId id,
                                    std::int64_t now_ms) const {
  const Choice best = first_in_order(stage, worker, id);
  if (best.job == nullptr || best.job->rank.priority == Priority::kCritical) return best;
  // Age before grouping: the first is a promise, the second a saving.
  if (turns_[index_of(stage)] + 1 >= kAgedTurn) {
    if (const Choice oldest = aged(stage, worker, id, now_ms); oldest.job != nullptr) return oldest;
  }
  if (stage == Stage::kDevice) {
    if (const Choice same_key = grouped(best, worker, id); same_key.job != nullptr) return same_key;
  }
  return best;
}

// Critical work takes a witness slot beyond the number, or it would wait for a witness of others.
bool Scheduler::has_slot(const Job& job) const {
  return counts_.slots_held < config_.witness_workers || job.rank.priority == Priority::kCritical;
}

// All that wait for the stage, where an idle worker has something to do and the memory refuses it.
std::uint64_t Scheduler::partitions_refused_memory(Stage stage) const {
  const auto& workers = workers_[index_of(stage)];
  for (std::uint32_t i = 0; i < workers.size(); ++i) {
    const Worker& worker = workers[i];
    if (!worker.running.empty()) continue;
    if (worker.device && devices_[*worker.device].quarantined) continue;
    const Choice choice = first_in_order(stage, worker, {stage, i});
    if (choice.job == nullptr || (stage == Stage::kWitness && !has_slot(*choice.job))) continue;
    // One such worker is enough: who is first and does not fit keeps back all behind it.
    if (!fits(choice, stage)) return counts_.in_state(waiting_for(stage));
  }
  return 0;
}

// What an idle device worker would need now and does not find: new witnesses leave it free.
std::uint64_t Scheduler::starved_device_bytes() const {
  std::uint64_t bytes = 0;
  const auto& workers = workers_[index_of(Stage::kDevice)];
  for (std::uint32_t i = 0; i < workers.size(); ++i) {
    const Worker& worker = workers[i];
    if (!worker.running.empty() || devices_[*worker.device].quarantined) continue;
    const Choice choice = first_in_order(Stage::kDevice, worker, {Stage::kDevice, i});
    if (choice.job == nullptr) continue;
    const PartitionPlan& plan = choice.job->spec.partitions[choice.partition];
    if (memory_.may_begin_device(plan, choice.job->rank.priority)) continue;
    // The largest and not the sum: one start that fits gets things moving again.
    bytes = std::max(bytes, plan.device_bytes);
  }
  return bytes;
}

bool Scheduler::fits(const Choice& choice, Stage stage) const {
  CUZK_ASSERT(choice.job != nullptr);
  const Priority priority = choice.job->rank.priority;
  const PartitionPlan& plan = choice.job->spec.partitions[choice.partition];
  if (stage == Stage::kFinish) return true;
  if (stage == Stage::kDevice) return memory_.may_begin_device(plan, priority);
  const std::uint64_t kept = priority == Priority::kCritical ? 0 : starved_device_bytes();
  return has_slot(*choice.job) && memory_.may_begin_witness(plan, priority, kept);
}

std::optional<Assignment> Scheduler::next(WorkerId id, std::int64_t now_ms) {
  Worker& worker = worker_of(id);
  CUZK_ASSERT(worker.running.empty());
  admit_jobs(now_ms);
  if (worker.device && devices_[*worker.device].quarantined) return std::nullopt;
  // Whoever is chosen and does not fit keeps the worker idle: what is behind it must not begin, or
  // the small would starve the large.
  const Choice choice = choose(id.kind, worker, id, now_ms);
  if (choice.job == nullptr || !fits(choice, id.kind)) return std::nullopt;
  note_turn(id.kind, choice, aged(id.kind, worker, id, now_ms));
  return grant(choice, id.kind, id, now_ms);
}

// Counts the grants that pass over an aged job; only while one waits.
void Scheduler::note_turn(Stage stage, const Choice& choice, const Choice& oldest) {
  std::uint32_t& turns = turns_[index_of(stage)];
  if (choice.reason == GrantReason::kAged) {
    turns = 0;
    ++counts_.aged_grants;
  } else if (oldest.job == nullptr) {
    turns = 0;
  } else if (choice.job->rank.priority != Priority::kCritical) {
    ++turns;
  }
}

void Scheduler::note_key(Device& device, const Job& job, GrantReason reason) {
  // A first key is no switch, and neither is one after a quarantine.
  if (device.key != job.spec.key.id) {
    if (device.key) ++counts_.key_switches;
    device.key = job.spec.key.id;
  }
  device.grouped_count = reason == GrantReason::kGrouped ? device.grouped_count + 1 : 0;
}

// Room first: idle keys go before the bytes are booked, so that S + R + I stays within the budget
// at every moment, and whoever drops their pages does it before the stage begins.
Assignment Scheduler::grant(const Choice& choice, Stage stage, WorkerId id, std::int64_t now_ms) {
  Job& job = *choice.job;
  Partition& partition = job.partitions[choice.partition];
  const PartitionPlan& plan = job.spec.partitions[choice.partition];
  Worker& worker = worker_of(id);
  CUZK_ASSERT(partition.state == waiting_for(stage) && !job.ending);
  CUZK_ASSERT(worker.running.size() < 2);
  CUZK_ASSERT(partition.attempt == 1 || partition.attempt == 2);
  if (stage == Stage::kWitness) {
    CUZK_ASSERT(!partition.holds_slot);
    make_room(plan.witness_bytes, job.rank.priority);
    memory_.begin_witness(plan, job.rank.priority);
    partition.holds_slot = true;
    ++counts_.slots_held;
  } else if (stage == Stage::kDevice) {
    CUZK_ASSERT(worker.device.has_value());
    make_room(plan.device_bytes, job.rank.priority);
    memory_.begin_device(plan, job.rank.priority);
    release_slot(partition);
    CUZK_ASSERT(!partition.holds_slot);
    partition.device = *worker.device;
    note_key(devices_[*worker.device], job, choice.reason);
  }
  CUZK_DEBUG_ASSERT(memory_.holds());
  move(job, choice.partition, running_in(stage));
  job.waiting_since_ms[index_of(stage)] = now_ms;
  worker.running.push_back({job.spec.id, choice.partition, stage});
  CUZK_ASSERT(partition.state == running_in(stage));
  return {job.spec.id, choice.partition, stage, partition.attempt, partition.device, choice.reason};
}

bool Scheduler::should_stop(WorkerId id) const {
  const Worker& worker = worker_of(id);
  return !worker.running.empty() && jobs_.at(worker.running.back().job).ending;
}

// Whether an idle worker of the stage would take a critical partition.
bool Scheduler::idle_worker_takes_critical(Stage stage) const {
  const auto& workers = workers_[index_of(stage)];
  for (std::uint32_t i = 0; i < workers.size(); ++i) {
    const Worker& worker = workers[i];
    if (!worker.running.empty() || (worker.device && devices_[*worker.device].quarantined))
      continue;
    const Choice choice = first_in_order(stage, worker, {stage, i});
    if (choice.job != nullptr && choice.job->rank.priority == Priority::kCritical) return true;
  }
  return false;
}

// The critical partition that this busy worker should run in between. The last stages first: they
// are the shortest way to an end.
Scheduler::Choice Scheduler::critical_choice(WorkerId id, Stage& stage) const {
  const Worker& worker = worker_of(id);
  if (worker.running.size() != 1) return {};
  if (worker.device && !config_.devices[*worker.device].takes_inline) return {};
  if (jobs_.at(worker.running[0].job).rank.priority == Priority::kCritical) return {};
  for (const Stage wanted : {Stage::kFinish, Stage::kDevice, Stage::kWitness}) {
    // Any worker can do witness and finish, which need the CPU alone; a start needs a device.
    const bool able =
        wanted != Stage::kDevice || (worker.device && !devices_[*worker.device].quarantined);
    if (!able || idle_worker_takes_critical(wanted)) continue;
    Choice choice = first_in_order(wanted, worker, id);
    if (choice.job == nullptr || choice.job->rank.priority != Priority::kCritical) continue;
    if (!fits(choice, wanted)) continue;
    CUZK_ASSERT(choice.job->in_flight && !choice.job->ending);
    choice.reason = GrantReason::kInline;
    stage = wanted;
    return choice;
  }
  return {};
}

bool Scheduler::critical_waits() const {
  for (const auto& [rank, job] : flying_) {
    if (rank.priority != Priority::kCritical) break;
    for (const Stage stage : {Stage::kWitness, Stage::kDevice, Stage::kFinish}) {
      if (job->in_state[static_cast<std::size_t>(waiting_for(stage))] > 0) return true;
    }
  }
  return false;
}

bool Scheduler::should_yield(WorkerId id) const {
  Stage stage = Stage::kWitness;
  return critical_choice(id, stage).job != nullptr;
}

std::optional<Assignment> Scheduler::take_inline(WorkerId id, std::int64_t now_ms) {
  Stage stage = Stage::kWitness;
  const Choice choice = critical_choice(id, stage);
  // It may be gone since should_yield(): an idle worker took it, or its job ended.
  if (choice.job == nullptr) return std::nullopt;
  ++counts_.inline_grants;
  return grant(choice, stage, id, now_ms);
}

}  // namespace cuzk::engine
