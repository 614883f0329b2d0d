// Jobs: how they are taken, enter, and end.
//
// Bytes of a job's own (input, reference to its key) are booked when it enters and given back when
// nothing of it runs any more; those of partitions are in scheduler_grant.cpp and
// scheduler_report.cpp. Whatever frees something lets jobs enter at once, so that nobody has to
// call for it and no freed byte is overlooked.
#include "engine/scheduler.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t kPartitionCountMax = 4096;
constexpr std::uint32_t kWorkerCountMax = 4096;
// How far behind the first of the queue a job with a loaded key is looked for: a bound on the cost
// of each admission, not on what is right.
constexpr std::size_t kGroupingLookAhead = 64;
// In the sentence of every refusal for good; says_never_fits() looks for it.
constexpr std::string_view kNeverFits = "can never fit";
// Keeps sums of plans far from 64 bits.
constexpr std::uint64_t kPlanBytesMax = std::uint64_t{1} << 50;
static_assert(kPlanBytesMax <= UINT64_MAX / kPartitionCountMax, "one job's plans have a sum");

// A field of configuration or plan that cannot be.
Error invalid(std::string sentence) { return {ErrorKind::kInvalidArgument, std::move(sentence)}; }

bool is_running(PartitionState state) {
  return state == PartitionState::kWitness || state == PartitionState::kDevice ||
         state == PartitionState::kFinish;
}

std::size_t index_of(PartitionState state) { return static_cast<std::size_t>(state); }

}  // namespace

bool says_never_fits(const Error& error) {
  return error.kind == ErrorKind::kResourceExhausted &&
         error.message.find(kNeverFits) != std::string::npos;
}

std::uint64_t JobSpec::peak_bytes() const {
  std::uint64_t peak = 0;
  for (const PartitionPlan& plan : partitions) peak = std::max(peak, plan.peak_bytes());
  return peak;
}

base::Status Scheduler::check(const SchedulerConfig& config) {
  const auto in_range = [](std::uint32_t count) { return count >= 1 && count <= kWorkerCountMax; };
  if (!in_range(config.witness_workers)) return invalid("witness_workers: expected 1 to 4096");
  if (!in_range(config.finish_workers)) return invalid("finish_workers: expected 1 to 4096");
  if (config.jobs_in_flight_max < 1) return invalid("jobs_in_flight_max: expected at least 1");
  if (config.devices.empty()) return invalid("devices: expected at least one; the CPU is one");
  if (std::all_of(config.devices.begin(), config.devices.end(),
                  [](const DeviceSetup& d) { return d.fallback_only; })) {
    return invalid("devices: expected one that is not fallback_only");
  }
  for (const DeviceSetup& device : config.devices) {
    if (!in_range(device.worker_count)) return invalid("device workers: expected 1 to 4096");
    if (device.critical_worker_count > kWorkerCountMax) {
      return invalid("device workers for critical work: expected at most 4096");
    }
  }
  if (config.ageing_ms < 1) return invalid("ageing_ms: expected at least 1");
  if (config.quarantine_failures < 1) return invalid("quarantine_failures: expected at least 1");
  const MemoryRuleConfig& memory = config.memory;
  // Not as a sum of the two, which could exceed 64 bits.
  const bool has_room = memory.fixed_bytes <= memory.budget_bytes &&
                        memory.critical_reserve_bytes <= memory.budget_bytes - memory.fixed_bytes;
  if (memory.budget_bytes != 0 && !has_room) {
    return invalid(
        fmt::format("budget: {} bytes do not hold the {} fixed and the {} kept for "
                    "critical work",
                    memory.budget_bytes, memory.fixed_bytes, memory.critical_reserve_bytes));
  }
  return base::ok_status();
}

Scheduler::Scheduler(SchedulerConfig config) : config_(std::move(config)), memory_(config_.memory) {
  CUZK_ASSERT(check(config_).ok());
  workers_[static_cast<std::size_t>(Stage::kWitness)].resize(config_.witness_workers);
  workers_[static_cast<std::size_t>(Stage::kFinish)].resize(config_.finish_workers);
  // All devices' workers stand in one list, each device's in a row: the ordinary ones, then those
  // that take critical partitions alone.
  auto& device_workers = workers_[static_cast<std::size_t>(Stage::kDevice)];
  for (std::uint32_t d = 0; d < config_.devices.size(); ++d) {
    Device device;
    device.worker_begin = static_cast<std::uint32_t>(device_workers.size());
    Worker worker;
    worker.device = d;
    device_workers.insert(device_workers.end(), config_.devices[d].worker_count, worker);
    worker.critical_only = true;
    device_workers.insert(device_workers.end(), config_.devices[d].critical_worker_count, worker);
    device.worker_end = static_cast<std::uint32_t>(device_workers.size());
    devices_.push_back(device);
    CUZK_ASSERT(device.worker_begin < device.worker_end);
  }
}

// Alone in the engine, with no other key loaded: does it fit? If not, waiting is in vain, and a
// refusal with the arithmetic is the only useful answer.
base::Status Scheduler::check_fits(const JobSpec& spec) const {
  const MemoryRuleConfig& memory = config_.memory;
  if (memory.budget_bytes == 0) return base::ok_status();
  const std::uint64_t needed = spec.key.bytes + spec.input_bytes + spec.peak_bytes();
  const std::uint64_t capacity = memory_.capacity_bytes(spec.priority);
  if (needed <= capacity) return base::ok_status();
  return Error{ErrorKind::kResourceExhausted,
               fmt::format("{} {}: {} for its key, {} for its input and {} for its largest "
                           "partition are {} bytes; the budget of {} less {} fixed and {} kept for "
                           "critical work leaves {}",
                           spec.name, kNeverFits, spec.key.bytes, spec.input_bytes,
                           spec.peak_bytes(), needed, memory.budget_bytes, memory.fixed_bytes,
                           memory.budget_bytes - memory.fixed_bytes - capacity, capacity)};
}

base::Status Scheduler::submit(JobSpec spec, std::int64_t now_ms) {
  if (draining_) return Error{ErrorKind::kUnavailable, "draining: no new jobs are taken"};
  if (std::all_of(devices_.begin(), devices_.end(),
                  [](const Device& d) { return d.quarantined; })) {
    return Error{ErrorKind::kUnavailable, "every device is in quarantine"};
  }
  if (jobs_.count(spec.id) != 0) {
    return Error{ErrorKind::kAlreadyExists, fmt::format("job {} is there already", spec.id)};
  }
  // Limits before sums: after them no sum of plans can overflow.
  if (spec.partitions.empty() || spec.partitions.size() > kPartitionCountMax) {
    return invalid(fmt::format("{}: {} partitions, expected 1 to {}", spec.name,
                               spec.partitions.size(), kPartitionCountMax));
  }
  if (spec.key.bytes > kPlanBytesMax || spec.input_bytes > kPlanBytesMax) {
    return invalid(spec.name + ": its key or input is larger than any machine");
  }
  for (const PartitionPlan& plan : spec.partitions) {
    if (plan.witness_bytes > kPlanBytesMax || plan.device_bytes > kPlanBytesMax) {
      return invalid(spec.name + ": a partition is larger than any machine");
    }
    if (plan.pending_bytes > plan.peak_bytes()) {
      return invalid(
          fmt::format("{}: partition {} keeps {} bytes for finish, more than the {} it "
                      "had",
                      spec.name, plan.index, plan.pending_bytes, plan.peak_bytes()));
    }
  }
  CUZK_TRY_STATUS(check_fits(spec));
  // Nothing was changed until here, nothing fails from here on.
  Job job;
  job.rank = {spec.priority, spec.deadline_ms.value_or(Rank::kNoDeadline), arrival_count_++};
  job.partitions.resize(spec.partitions.size());
  job.in_state[index_of(PartitionState::kQueued)] =
      static_cast<std::uint32_t>(spec.partitions.size());
  job.submitted_ms = now_ms;
  job.spec = std::move(spec);
  const JobId id = job.spec.id;
  Job& kept = jobs_.emplace(id, std::move(job)).first->second;
  queued_.emplace(kept.rank, &kept);
  queued_by_arrival_.emplace(kept.rank.arrival, &kept);
  ++counts_.queued_jobs;
  CUZK_ASSERT(queued_.size() == counts_.queued_jobs &&
              queued_by_arrival_.size() == counts_.queued_jobs);
  admit_jobs(now_ms);
  return base::ok_status();
}

// The first job in the same class whose key is there, when that of the best one is not.
Scheduler::Job* Scheduler::same_key_in_queue(const Job& best) const {
  CUZK_ASSERT(!best.in_flight);
  // A deadline is worth more than a load that is saved.
  if (best.rank.deadline_ms != Rank::kNoDeadline || keys_.present(best.spec.key.id) ||
      admission_grouped_ >= config_.grouping_max) {
    return nullptr;
  }
  std::size_t looked_at = 0;
  for (const auto& [rank, job] : queued_) {
    if (rank.priority != best.rank.priority || ++looked_at > kGroupingLookAhead) break;
    if (keys_.present(job->spec.key.id)) return job;
  }
  return nullptr;
}

// The job that enters next, whether or not the memory lets it now.
Scheduler::Entry Scheduler::next_to_enter(std::int64_t now_ms) const {
  if (queued_.empty()) return {};
  Job* const best = queued_.begin()->second;
  if (best->rank.priority == Priority::kCritical) return {best};
  // Age is arrival here: deadlines reorder the queue, and who is always overtaken by them is old.
  Job* const oldest = queued_by_arrival_.begin()->second;
  const bool is_aged = oldest != best && now_ms - oldest->submitted_ms >= config_.ageing_ms;
  const Entry aged{oldest, GrantReason::kAged};
  if (is_aged && admission_turns_ + 1 >= kAgedTurn && has_place(aged)) return aged;
  if (Job* const grouped = same_key_in_queue(*best)) return {grouped, GrantReason::kGrouped};
  return {best};
}

bool Scheduler::has_place(const Entry& entry) const {
  // Only jobs of the same or more urgency count, so a critical one enters beside any number of
  // others.
  CUZK_ASSERT(entry.job != nullptr);
  std::uint32_t ahead = 0;
  const auto priority = static_cast<std::size_t>(entry.job->rank.priority);
  for (std::size_t p = 0; p <= priority; ++p) ahead += flying_by_priority_[p];
  if (ahead < config_.jobs_in_flight_max) return true;
  // An aged job enters past the more urgent ones when none of its own kind is in flight.
  return entry.reason == GrantReason::kAged && flying_by_priority_[priority] == 0;
}

bool Scheduler::may_enter(const Entry& entry) const {
  const Job& job = *entry.job;
  CUZK_ASSERT(!job.in_flight && !job.ending);
  const SharedKey& key = job.spec.key;
  // A key that others refer to is paid for already; an idle one moves from I to R and is new in R.
  const std::uint64_t added = job.spec.input_bytes + (keys_.referred(key.id) ? 0 : key.bytes);
  return has_place(entry) && memory_.may_enter(added, job.spec.peak_bytes(), job.rank.priority);
}

void Scheduler::admit_jobs(std::int64_t now_ms) {
  for (;;) {
    const Entry entry = next_to_enter(now_ms);
    if (entry.job == nullptr || !may_enter(entry)) return;
    // Both exceptions are counted here and nowhere else, so that their bounds hold over all calls.
    if (entry.reason == GrantReason::kAged) {
      admission_turns_ = 0;
      ++counts_.aged_grants;
    } else {
      ++admission_turns_;
    }
    admission_grouped_ = entry.reason == GrantReason::kGrouped ? admission_grouped_ + 1 : 0;
    enter(*entry.job, now_ms);
  }
}

void Scheduler::make_room(std::uint64_t bytes, Priority priority) {
  while (memory_.excess_bytes(bytes, priority) > 0) {
    const auto dropped = keys_.drop_oldest_idle();
    if (!dropped) {
      // The rule decided without idle keys, so what is left fits.
      CUZK_ASSERT(memory_.key_idle_bytes() == 0);
      return;
    }
    memory_.drop_idle_key(dropped->bytes);
    evictions_.push_back(dropped->id);
    ++counts_.evicted_keys;
  }
}

void Scheduler::enter(Job& job, std::int64_t now_ms) {
  const SharedKey& key = job.spec.key;
  CUZK_ASSERT(!job.in_flight && !job.ending);
  const bool was_referred = keys_.referred(key.id);
  // Referred to before room is made, or the key itself could be what is dropped.
  const bool added = keys_.refer(key);
  if (!added && !was_referred) memory_.refer_key(key.bytes);
  make_room(job.spec.input_bytes + (added ? key.bytes : 0), job.rank.priority);
  if (added) {
    memory_.add_idle_key(key.bytes);
    memory_.refer_key(key.bytes);
  }
  memory_.enter(job.spec.input_bytes, job.spec.peak_bytes(), job.rank.priority);
  queued_.erase(job.rank);
  queued_by_arrival_.erase(job.rank.arrival);
  flying_.emplace(job.rank, &job);
  ++flying_by_priority_[static_cast<std::size_t>(job.rank.priority)];
  job.in_flight = true;
  job.waiting_since_ms.fill(now_ms);
  CUZK_ASSERT(counts_.queued_jobs > 0);
  --counts_.queued_jobs;
  ++counts_.in_flight_jobs;
  CUZK_ASSERT(flying_.size() == counts_.in_flight_jobs);
  counts_.partitions[index_of(PartitionState::kQueued)] += job.partitions.size();
  CUZK_DEBUG_ASSERT(memory_.holds());
}

void Scheduler::end_partition(Job& job, std::size_t partition) {
  const PartitionPlan& plan = job.spec.partitions[partition];
  CUZK_ASSERT(job.in_flight);
  Partition& own = job.partitions[partition];
  CUZK_ASSERT(own.state != PartitionState::kDone);
  // Each state has its own holdings (policy.h); the rest of the switch holds nothing.
  switch (own.state) {
    case PartitionState::kWitness:
    case PartitionState::kDeviceQueued: memory_.drop_witness(plan, job.rank.priority); break;
    case PartitionState::kDevice: memory_.drop_device(plan); break;
    case PartitionState::kFinishQueued:
    case PartitionState::kFinish: memory_.end_finish(plan); break;
    case PartitionState::kQueued:
    case PartitionState::kDone:
    case PartitionState::kEnded: break;
  }
  release_slot(own);
  CUZK_ASSERT(!own.holds_slot);
  move(job, partition, PartitionState::kEnded);
}

// The one way in which a job ends before all is done: failure, cancel and withdrawal differ in the
// error and in a mark.
void Scheduler::end_job(Job& job, Error failure, std::int64_t now_ms) {
  if (job.ending) return;
  // Set first: what is called below asks for it.
  job.ending = true;
  job.failure = std::move(failure);
  if (!job.in_flight) {
    queued_.erase(job.rank);
    queued_by_arrival_.erase(job.rank.arrival);
    CUZK_ASSERT(counts_.queued_jobs > 0);
    --counts_.queued_jobs;
  } else {
    // What runs holds its bytes until its worker reports; the pipeline asks it to stop.
    for (std::size_t p = 0; p < job.partitions.size(); ++p) {
      const PartitionState state = job.partitions[p].state;
      if (!is_running(state) && state != PartitionState::kDone) end_partition(job, p);
    }
  }
  end_if_over(job, now_ms);
}

void Scheduler::end_if_over(Job& job, std::int64_t now_ms) {
  const auto running = [&job](PartitionState state) { return job.in_state[index_of(state)]; };
  if (running(PartitionState::kWitness) + running(PartitionState::kDevice) +
          running(PartitionState::kFinish) >
      0) {
    return;
  }
  const bool all_done = job.in_state[index_of(PartitionState::kDone)] == job.partitions.size();
  if (!job.ending && !all_done) return;
  if (job.in_flight) {
    memory_.leave(job.spec.input_bytes, job.spec.peak_bytes(), job.rank.priority);
    if (keys_.unrefer(job.spec.key.id, now_ms)) memory_.unrefer_key(job.spec.key.bytes);
    flying_.erase(job.rank);
    auto& flying = flying_by_priority_[static_cast<std::size_t>(job.rank.priority)];
    CUZK_ASSERT(flying > 0 && counts_.in_flight_jobs > 0);
    --flying;
    --counts_.in_flight_jobs;
    CUZK_ASSERT(flying_.size() == counts_.in_flight_jobs);
    for (std::size_t s = 0; s < kPartitionStateCount; ++s) {
      CUZK_ASSERT(counts_.partitions[s] >= job.in_state[s]);
      counts_.partitions[s] -= job.in_state[s];
    }
  }
  if (job.withdrawn) {
    // Its owner has it.
  } else if (!job.failure) {
    ++counts_.completed_jobs;
  } else {
    ++(job.failure->kind == ErrorKind::kCancelled ? counts_.cancelled_jobs : counts_.failed_jobs);
  }
  // The outcome first: it takes the failure out of what is erased then.
  outcomes_.push_back({job.spec.id, std::move(job.failure), job.withdrawn});
  jobs_.erase(outcomes_.back().job);
}

void Scheduler::fail_all(const Error& reason, std::int64_t now_ms) {
  // By a copy of the ids, for each end may erase its job.
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs_) ids.push_back(id);
  for (const JobId id : ids) end_job(jobs_.at(id), reason, now_ms);
}

base::Status Scheduler::cancel(JobId id, std::int64_t now_ms) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    return Error{ErrorKind::kNotFound, fmt::format("no job {} is queued or in flight", id)};
  }
  end_job(found->second, {ErrorKind::kCancelled, found->second.spec.name + " was cancelled"},
          now_ms);
  admit_jobs(now_ms);
  return base::ok_status();
}

void Scheduler::open(JobId id) {
  const auto found = jobs_.find(id);
  if (found != jobs_.end()) found->second.spec.opens_later = false;
}

void Scheduler::withdraw(JobId id, Error reason, std::int64_t now_ms) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.ending) return;
  found->second.withdrawn = true;
  end_job(found->second, std::move(reason), now_ms);
  admit_jobs(now_ms);
}

void Scheduler::withdraw_all(const Error& reason, std::int64_t now_ms) {
  for (auto& [id, job] : jobs_) {
    if (!job.ending) job.withdrawn = true;
  }
  fail_all(reason, now_ms);
}

// A key without a job: R grows as if a job of no input and no partition entered.
base::Status Scheduler::hold_key(const SharedKey& key, std::int64_t now_ms) {
  const std::uint64_t capacity = memory_.capacity_bytes(Priority::kNormal);
  if (key.bytes > capacity) {
    return Error{ErrorKind::kResourceExhausted,
                 fmt::format("the key {}: it takes {} bytes and the budget leaves {}", kNeverFits,
                             key.bytes, capacity)};
  }
  // As for a job that has a key and no partition.
  const bool was_referred = keys_.referred(key.id);
  if (!was_referred && !memory_.may_enter(key.bytes, 0, Priority::kNormal)) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("the key takes {} bytes, which the jobs in flight do not leave of {}",
                             key.bytes, capacity)};
  }
  const bool added = keys_.refer(key);
  if (!added && !was_referred) memory_.refer_key(key.bytes);
  if (added) {
    make_room(key.bytes, Priority::kNormal);
    memory_.add_idle_key(key.bytes);
    memory_.refer_key(key.bytes);
  }
  admit_jobs(now_ms);
  return base::ok_status();
}

void Scheduler::release_key(const SharedKey& key, std::int64_t now_ms) {
  if (keys_.unrefer(key.id, now_ms)) memory_.unrefer_key(key.bytes);
  admit_jobs(now_ms);
}

base::Result<bool> Scheduler::drop_key(KeyId id, std::int64_t now_ms) {
  if (!keys_.present(id)) return false;
  if (keys_.referred(id)) {
    return Error{ErrorKind::kUnavailable, "the key is in use"};
  }
  memory_.drop_idle_key(keys_.drop_idle(id).bytes);
  evictions_.push_back(id);
  ++counts_.evicted_keys;
  admit_jobs(now_ms);
  return true;
}

void Scheduler::restore_device(std::uint32_t device) {
  devices_.at(device).quarantined = false;
  devices_.at(device).failure_count = 0;
}

std::vector<JobOutcome> Scheduler::take_outcomes() { return std::exchange(outcomes_, {}); }
std::vector<KeyId> Scheduler::take_evictions() { return std::exchange(evictions_, {}); }

SchedulerCounts Scheduler::counts() const {
  SchedulerCounts result = counts_;
  result.held_bytes = memory_.held_bytes();
  result.waiting_for_memory = waiting_for_memory();
  return result;
}

std::uint64_t Scheduler::waiting_for_memory() const {
  // Finish asks for no memory, so nothing waits for it there.
  std::uint64_t count =
      partitions_refused_memory(Stage::kWitness) + partitions_refused_memory(Stage::kDevice);
  if (queued_.empty()) return count;
  // Whoever is first and does not fit keeps back those behind it.
  const Entry first{queued_.begin()->second};
  if (has_place(first) && !may_enter(first)) count += queued_.size();
  return count;
}

std::optional<PartitionState> Scheduler::partition_state(JobId id, std::size_t partition) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || partition >= found->second.partitions.size()) return std::nullopt;
  return found->second.partitions[partition].state;
}

bool Scheduler::in_flight(JobId id) const {
  const auto found = jobs_.find(id);
  return found != jobs_.end() && found->second.in_flight;
}

bool Scheduler::ending(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() || found->second.ending;
}

void Scheduler::check_invariants() const {
  // All from the states of partitions, which are the truth; each counter and sum beside them is a
  // shortcut that has to agree.
  std::uint64_t slots = 0, partition_bytes = 0, flying = 0;
  std::array<std::uint64_t, kPartitionStateCount> in_state{};
  for (const auto& [id, job] : jobs_) {
    if (!job.in_flight) continue;
    ++flying;
    for (std::size_t p = 0; p < job.partitions.size(); ++p) {
      const PartitionPlan& plan = job.spec.partitions[p];
      const PartitionState state = job.partitions[p].state;
      ++in_state[index_of(state)];
      slots += job.partitions[p].holds_slot ? 1 : 0;
      if (state == PartitionState::kWitness || state == PartitionState::kDeviceQueued) {
        partition_bytes += plan.witness_bytes;
      } else if (state == PartitionState::kDevice) {
        partition_bytes += plan.peak_bytes();
      } else if (state == PartitionState::kFinishQueued || state == PartitionState::kFinish) {
        partition_bytes += plan.pending_bytes;
      }
    }
  }
  std::uint64_t running = 0;
  for (const auto& workers : workers_) {
    for (const Worker& worker : workers) running += worker.running.size();
  }
  CUZK_ASSERT(in_state == counts_.partitions && slots == counts_.slots_held);
  CUZK_ASSERT(partition_bytes == memory_.partition_bytes() && memory_.holds());
  CUZK_ASSERT(flying == counts_.in_flight_jobs && flying == flying_.size());
  CUZK_ASSERT(queued_by_arrival_.size() == queued_.size());
  CUZK_ASSERT(queued_.size() == counts_.queued_jobs && queued_.size() + flying == jobs_.size());
  CUZK_ASSERT(running == in_state[index_of(PartitionState::kWitness)] +
                             in_state[index_of(PartitionState::kDevice)] +
                             in_state[index_of(PartitionState::kFinish)]);
  const bool nothing_left = jobs_.empty() && !keys_.any_referred();
  CUZK_ASSERT(!nothing_left || memory_.held_bytes() == memory_.key_idle_bytes());
}

}  // namespace cuzk::engine
