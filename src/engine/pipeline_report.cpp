// What the pipeline says of itself.
//
// Figures of ledger, keys and cards are read before the lock is taken, for a card may take its
// time; so they may be a moment older than the counts beside them. check_invariants() alone
// compares both, and says when it may.
#include <tuple>

#include "base/check.h"
#include "base/heap.h"
#include "engine/pipeline_core.h"

namespace cuzk::engine {

using base::MutexLock;

std::optional<JobProgress> PipelineCore::progress(JobId id) const {
  const MutexLock lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return std::nullopt;
  JobProgress progress;
  progress.in_flight = scheduler_.in_flight(id);
  for (std::size_t p = 0; p < found->second->parts.size(); ++p) {
    // Where the scheduler is done with it and the table is not: over, as far as anybody may see.
    const auto state = scheduler_.partition_state(id, p).value_or(PartitionState::kEnded);
    ++progress.partitions[static_cast<std::size_t>(state)];
  }
  return progress;
}

ExecutorReport PipelineCore::report() const {
  ExecutorReport report;
  report.ledger = ledger_.snapshot();
  report.budget_bytes = report.ledger.budget_bytes;
  report.rss_bytes = base::resident_bytes().value_or(0);
  report.keys = store_.report();
  report.witness_workers = options_.witness_workers;
  report.finish_workers = options_.finish_workers;
  report.jobs_in_flight_max = options_.jobs_in_flight_max;
  report.witnesses_alive = witnesses_alive_.load();
  report.pending_alive = pending_alive_.load();
  for (const ProvingDevice& device : options_.devices) {
    DeviceReport row;
    row.name = device.name;
    row.identifier = device.identifier;
    row.fallback_only = device.fallback_only;
    row.worker_count = device.worker_count + device.critical_worker_count;
    if (device.free_and_total_bytes) {
      std::tie(row.free_bytes, row.total_bytes) = device.free_and_total_bytes();
    }
    if (device.streamed_and_shared_bytes) {
      std::tie(row.streamed_bytes, row.shared_bytes) = device.streamed_and_shared_bytes();
    }
    report.devices.push_back(std::move(row));
  }
  const MutexLock lock(mutex_);
  CUZK_ASSERT(report.devices.size() == device_counts_.size());
  report.counts = scheduler_.counts();
  report.counts.failed_jobs += failed_again_count_;
  report.counts.cancelled_jobs += cancelled_again_count_;
  for (std::uint32_t d = 0; d < report.devices.size(); ++d) {
    DeviceReport& row = report.devices[d];
    const DeviceCounts& counts = device_counts_[d];
    row.usable = scheduler_.device_usable(d);
    row.started_count = counts.started_count;
    row.failure_count = counts.failure_count;
    row.wrong_proof_count = counts.wrong_proof_count;
    row.busy_s = static_cast<double>(counts.busy_ms) / 1000;
  }
  for (const auto& worker : workers_) {
    for (const Assignment& running : worker->running) {
      if (running.stage != Stage::kDevice) continue;
      CUZK_ASSERT(running.device < report.devices.size());
      report.devices[running.device].running.push_back(running.job);
    }
  }
  return report;
}

// For tests, at any moment and from any thread.
void PipelineCore::check_invariants() const {
  const MutexLock lock(mutex_);
  // First the numbers among themselves, then the real ledger beside them.
  scheduler_.check_invariants();
  // What runs takes within its grant, new grants need the mutex: so this holds at any moment at
  // which nothing is being freed.
  if (clearing_.empty()) {
    const std::uint64_t held = scheduler_.counts().held_bytes;
    CUZK_ASSERT(ledger_.snapshot().total.used_bytes <= foreign_bytes_ + held);
  }
  CUZK_ASSERT(!jobs_.empty() || (witnesses_alive_.load() == 0 && pending_alive_.load() == 0));
}

}  // namespace cuzk::engine
