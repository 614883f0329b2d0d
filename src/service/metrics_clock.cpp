// A state that a partition leaves gives the time it was in it. Each is counted in the moment that
// it ends; what is cut short by a failure or a crash is not counted, for it says nothing of how
// long a stage takes.
#include "service/metrics_clock.h"

#include <algorithm>

namespace cuzk::service {
namespace {

using engine::EngineEvent;
using engine::PartitionState;
using What = Measured::What;

// The time that a partition has spent when it leaves a state; nothing for those that are no stage.
std::optional<What> stage_of(PartitionState left) {
  switch (left) {
    case PartitionState::kWitness: return What::kWitness;
    case PartitionState::kDeviceQueued: return What::kDeviceWait;
    case PartitionState::kDevice: return What::kDevice;
    case PartitionState::kFinishQueued: return What::kFinishWait;
    case PartitionState::kFinish: return What::kFinish;
    case PartitionState::kQueued:
    case PartitionState::kDone:
    case PartitionState::kEnded: break;
  }
  return std::nullopt;
}

// A clock that was set back gives no negative time.
std::int64_t elapsed_ms(std::int64_t from_ms, std::int64_t to_ms) {
  return std::max<std::int64_t>(0, to_ms - from_ms);
}

}  // namespace

// A job's end is dealt with first: it must not make an entry for a job that has none.
std::vector<Measured> EventClock::observe(const EngineEvent& event) {
  std::vector<Measured> measured;
  if (event.left_out_count > 0) jobs_.clear();  // their ends may be among what was left out
  if (event.kind == EngineEvent::Kind::kEnded) {
    const auto found = jobs_.find(event.request_id);
    if (found == jobs_.end()) return measured;
    if (event.state == engine::JobState::kCompleted) {
      // The end of a job may be heard in place of that of its last partition.
      for (const auto& [index, partition] : found->second.partitions) {
        if (partition.state != PartitionState::kFinish) continue;
        measured.push_back({What::kFinish, elapsed_ms(partition.since_ms, event.at_ms)});
      }
      if (const auto accepted_ms = found->second.accepted_ms) {
        measured.push_back({What::kTotal, elapsed_ms(*accepted_ms, event.at_ms)});
      }
    }
    // Whatever its end was: nothing of it can come any more.
    jobs_.erase(found);
    return measured;
  }
  // A job of an earlier process has no acceptance here, and gives no wait and no total.
  Job& job = jobs_[event.request_id];
  switch (event.kind) {
    case EngineEvent::Kind::kAccepted: job.accepted_ms = event.at_ms; break;
    case EngineEvent::Kind::kStarted:
      // After a crash a job starts once more; it has waited only once.
      if (!job.started && job.accepted_ms) {
        measured.push_back({What::kQueueWait, elapsed_ms(*job.accepted_ms, event.at_ms)});
      }
      job.started = true;
      break;
    case EngineEvent::Kind::kPartitionMoved: {
      Partition& partition = job.partitions[event.partition];
      const bool over = event.partition_state == PartitionState::kEnded;
      // kEnded cuts a stage short.
      if (const auto what = stage_of(partition.state); what && !over) {
        measured.push_back({*what, elapsed_ms(partition.since_ms, event.at_ms)});
      }
      partition = {event.partition_state, event.at_ms};
      break;
    }
    case EngineEvent::Kind::kEnded: break;
  }
  return measured;
}

}  // namespace cuzk::service
