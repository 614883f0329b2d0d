// Reports: what follows from a stage that ended well, badly or because it was asked to.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/scheduler.h"

namespace cuzk::engine {

void Scheduler::move(Job& job, std::size_t partition, PartitionState state) {
  Partition& own = job.partitions[partition];
  const auto from = static_cast<std::size_t>(own.state);
  const auto to = static_cast<std::size_t>(state);
  CUZK_CHECK(job.in_state[from] > 0 && counts_.partitions[from] > 0);
  --job.in_state[from];
  --counts_.partitions[from];
  ++job.in_state[to];
  ++counts_.partitions[to];
  own.state = state;
}

void Scheduler::release_slot(Partition& partition) {
  if (!partition.holds_slot) return;
  CUZK_CHECK(counts_.slots_held > 0);
  --counts_.slots_held;
  partition.holds_slot = false;
}

Scheduler::Running Scheduler::take_running(WorkerId id) {
  Worker& worker = worker_of(id);
  CUZK_CHECK(!worker.running.empty());
  const Running running = worker.running.back();
  worker.running.pop_back();
  return running;
}

void Scheduler::done(WorkerId id, std::int64_t now_ms) {
  const Running running = take_running(id);
  Job& job = job_of(running.job);
  Partition& partition = job.partitions[running.partition];
  const PartitionPlan& plan = job.spec.partitions[running.partition];
  if (job.ending) {
    end_partition(job, running.partition);
  } else if (running.stage == Stage::kWitness) {
    move(job, running.partition, PartitionState::kDeviceQueued);
    if (config_.slot_release == SlotRelease::kAtWitnessEnd) release_slot(partition);
  } else if (running.stage == Stage::kDevice) {
    memory_.end_device(plan);
    move(job, running.partition, PartitionState::kFinishQueued);
  } else {
    memory_.end_finish(plan);
    devices_[partition.device].failure_count = 0;  // only a proof that verified clears a device
    move(job, running.partition, PartitionState::kDone);
  }
  end_if_over(job, now_ms);
  admit_jobs(now_ms);
}

void Scheduler::stopped(WorkerId id, std::int64_t now_ms) {
  const Running running = take_running(id);
  Job& job = job_of(running.job);
  CUZK_CHECK(job.ending);
  end_partition(job, running.partition);
  end_if_over(job, now_ms);
  admit_jobs(now_ms);
}

void Scheduler::failed(WorkerId id, Fault fault, base::Error reason, std::int64_t now_ms) {
  const Running running = take_running(id);
  Job& job = job_of(running.job);
  Partition& partition = job.partitions[running.partition];
  // A witness has met no device yet, whatever is said of it.
  const bool blames_device = fault != Fault::kWork && running.stage != Stage::kWitness;
  const std::uint32_t device = partition.device;
  if (job.ending) {
    end_partition(job, running.partition);
    end_if_over(job, now_ms);
  } else if (partition.attempt == 1) {
    partition.first_failure = std::move(reason.message);
    if (blames_device) partition.failed_device = device;
    retry(job, running.partition, running.stage, id);
  } else {
    const auto sentence = fmt::format(
        "{}: partition {} failed twice, the second time in the {} stage: {}; the first time: {}",
        job.spec.name, job.spec.partitions[running.partition].index, to_string(running.stage),
        reason.message, partition.first_failure);
    end_partition(job, running.partition);
    end_job(job, {reason.kind, sentence}, now_ms);
  }
  if (blames_device) blame_device(device, now_ms);
  admit_jobs(now_ms);
}

// Back to where it can begin again with what it still has.
void Scheduler::retry(Job& job, std::size_t index, Stage stage, WorkerId id) {
  Partition& partition = job.partitions[index];
  const PartitionPlan& plan = job.spec.partitions[index];
  ++counts_.retried_partitions;
  ++partition.attempt;
  partition.failed_on = id;
  switch (stage) {
    case Stage::kWitness: memory_.drop_witness(plan, job.rank.priority); break;
    case Stage::kDevice:
      if (memory_.may_return(plan, job.rank.priority)) {
        memory_.return_witness(plan, job.rank.priority);
        if (config_.slot_release == SlotRelease::kAtDelivery) {
          partition.holds_slot = true;
          ++counts_.slots_held;
        }
        move(job, index, PartitionState::kDeviceQueued);
        return;
      }
      memory_.drop_device(plan);
      break;
    case Stage::kFinish: memory_.end_finish(plan); break;
  }
  release_slot(partition);
  move(job, index, PartitionState::kQueued);
}

void Scheduler::blame_device(std::uint32_t index, std::int64_t now_ms) {
  Device& device = devices_[index];
  if (++device.failure_count < config_.quarantine_failures || device.quarantined) return;
  device.quarantined = true;
  device.key.reset();
  const bool none_left =
      std::all_of(devices_.begin(), devices_.end(), [](const Device& d) { return d.quarantined; });
  if (!none_left) return;
  fail_all({base::ErrorKind::kUnavailable,
            fmt::format("device {} failed {} times in a row and no other is left", index,
                        device.failure_count)},
           now_ms);
}

}  // namespace cuzk::engine
