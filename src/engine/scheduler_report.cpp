// Reports: what follows from a stage that ended well, badly or because it was asked to.
//
// Each report frees the worker, moves the partition or ends it, ends the job where it was the last
// that ran, and lets others enter; in this order, since each step asks for what the one before
// changed. A report for a job that is ending says only that its bytes are free.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/scheduler.h"

namespace cuzk::engine {

void Scheduler::move(Job& job, std::size_t partition, PartitionState state) {
  CUZK_ASSERT(job.in_flight && partition < job.partitions.size());
  Partition& own = job.partitions[partition];
  const auto from = static_cast<std::size_t>(own.state);
  const auto to = static_cast<std::size_t>(state);
  CUZK_ASSERT(job.in_state[from] > 0 && counts_.partitions[from] > 0);
  --job.in_state[from];
  --counts_.partitions[from];
  ++job.in_state[to];
  ++counts_.partitions[to];
  own.state = state;
}

void Scheduler::release_slot(Partition& partition) {
  // Called where a slot may be held; whether it is depends on SlotRelease and on failures before.
  if (!partition.holds_slot) return;
  CUZK_ASSERT(counts_.slots_held > 0);
  --counts_.slots_held;
  partition.holds_slot = false;
}

Scheduler::Running Scheduler::take_running(WorkerId id) {
  Worker& worker = worker_of(id);
  CUZK_ASSERT(!worker.running.empty() && worker.running.size() <= 2);
  const Running running = worker.running.back();
  // Even a job that is ending keeps what runs in its state until this moment.
  const std::vector<Partition>& partitions = job_of(running.job).partitions;
  CUZK_ASSERT(running.partition < partitions.size());
  CUZK_ASSERT(static_cast<std::size_t>(partitions[running.partition].state) ==
              2 * static_cast<std::size_t>(running.stage) + 1);
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
    // What start needed goes; what it left is at most what it had, so nothing is asked for.
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
  CUZK_ASSERT(job.ending);
  end_partition(job, running.partition);
  end_if_over(job, now_ms);
  admit_jobs(now_ms);
}

void Scheduler::done_whole(WorkerId id, std::int64_t now_ms) {
  const Running running = take_running(id);
  Job& job = job_of(running.job);
  CUZK_ASSERT(running.stage == Stage::kWitness);
  if (job.ending) {
    end_partition(job, running.partition);
  } else {
    // Its proof was there: nothing was made, so it goes past device and finish.
    memory_.drop_witness(job.spec.partitions[running.partition], job.rank.priority);
    release_slot(job.partitions[running.partition]);
    move(job, running.partition, PartitionState::kDone);
  }
  end_if_over(job, now_ms);
  admit_jobs(now_ms);
}

void Scheduler::failed(WorkerId id, Fault fault, base::Error reason, std::int64_t now_ms,
                       bool keeps_witness) {
  const Running running = take_running(id);
  Job& job = job_of(running.job);
  Partition& partition = job.partitions[running.partition];
  // A witness has met no device yet, whatever is said of it.
  const bool is_of_device =
      (fault == Fault::kDevice || fault == Fault::kWrongProof) && running.stage != Stage::kWitness;
  const std::uint32_t device = partition.device;
  // Two devices, one partition, two wrong proofs: then key or witness are wrong, not the devices.
  const bool second_opinion = fault == Fault::kWrongProof && partition.attempt > 1 &&
                              partition.first_fault == Fault::kWrongProof &&
                              partition.failed_device.value_or(device) != device;
  if (second_opinion) clear_of_blame(*partition.failed_device);
  if (job.ending) {
    end_partition(job, running.partition);
    end_if_over(job, now_ms);
  } else if (fault == Fault::kNoRoom && running.stage == Stage::kDevice &&
             has_other_device(partition, device)) {
    // No attempt: it says nothing of the partition, only of the device's memory.
    partition.no_room_on.insert(device);
    put_back(job, running.partition, running.stage, keeps_witness);
  } else if (partition.attempt == 1 && fault != Fault::kFinal) {
    partition.first_fault = fault;
    partition.first_failure = std::move(reason.message);
    if (is_of_device) partition.failed_device = device;
    // First failure: its reason is kept, for both are told if the second attempt fails too.
    ++counts_.retried_partitions;
    ++partition.attempt;
    partition.failed_on = id;
    put_back(job, running.partition, running.stage, keeps_witness);
  } else {
    fail_for_good(job, running.partition, running.stage, std::move(reason), now_ms);
  }
  // Last, since it may end all jobs, this one among them.
  if (is_of_device && !second_opinion) blame_device(device, fault, now_ms);
  admit_jobs(now_ms);
}

void Scheduler::fail_for_good(Job& job, std::size_t index, Stage stage, base::Error reason,
                              std::int64_t now_ms) {
  const Partition& partition = job.partitions[index];
  CUZK_ASSERT(!job.ending);
  const std::uint32_t number = job.spec.partitions[index].index;
  std::string sentence;
  if (partition.attempt == 1) {
    sentence = fmt::format("{}: partition {} failed in the {} stage: {}", job.spec.name, number,
                           to_string(stage), reason.message);
  } else {
    sentence = fmt::format(
        "{}: partition {} failed twice, the second time in the {} stage: {}; the first time: {}",
        job.spec.name, number, to_string(stage), reason.message, partition.first_failure);
  }
  end_partition(job, index);
  end_job(job, {reason.kind, std::move(sentence)}, now_ms);
}

// Back to where it can begin again with what it still has.
void Scheduler::put_back(Job& job, std::size_t index, Stage stage, bool keeps_witness) {
  Partition& partition = job.partitions[index];
  const PartitionPlan& plan = job.spec.partitions[index];
  CUZK_ASSERT(!job.ending && job.in_flight);
  switch (stage) {
    case Stage::kWitness: memory_.drop_witness(plan, job.rank.priority); break;
    case Stage::kDevice:
      // The slot went when the device took the witness over; a witness that waits again has one
      // again, beyond the number if need be, for it is there whether it is counted or not.
      CUZK_ASSERT(!partition.holds_slot);
      if (keeps_witness && memory_.may_return(plan, job.rank.priority)) {
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

// A failure of the device: the last of a row takes it out of use, and all jobs with it where no
// other is left.
void Scheduler::blame_device(std::uint32_t index, Fault fault, std::int64_t now_ms) {
  CUZK_ASSERT(index < devices_.size());
  Device& device = devices_[index];
  if (++device.failure_count < config_.quarantine_failures || device.quarantined) return;
  const auto unusable = std::count_if(devices_.begin(), devices_.end(),
                                      [](const Device& d) { return d.quarantined; });
  // Wrong proofs may come of a bad key, which would take one device after the other away.
  const bool is_last = static_cast<std::size_t>(unusable) + 1 == devices_.size();
  if (is_last && fault == Fault::kWrongProof) return;
  device.quarantined = true;
  device.key.reset();
  if (!is_last) return;
  fail_all({base::ErrorKind::kUnavailable,
            fmt::format("device {} failed {} times in a row and no other is left", index,
                        device.failure_count)},
           now_ms);
}

void Scheduler::clear_of_blame(std::uint32_t index) {
  CUZK_ASSERT(index < devices_.size());
  Device& device = devices_[index];
  // Takes back one failure, and the quarantine where that was the one too many.
  if (device.failure_count > 0) --device.failure_count;
  if (device.failure_count < config_.quarantine_failures) device.quarantined = false;
}

}  // namespace cuzk::engine
