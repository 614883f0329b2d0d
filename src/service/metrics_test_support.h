// A report with something in every place, and events, for tests of what shows them.
#pragma once

#include <string>

#include "engine/engine.h"

namespace cuzk::service {

inline engine::EngineEvent event(engine::EngineEvent::Kind kind, std::string id, std::int64_t at_ms,
                                 engine::JobState state = engine::JobState::kQueued) {
  engine::EngineEvent made;
  made.kind = kind;
  made.request_id = std::move(id);
  made.job_kind = "porep";
  made.state = state;
  made.at_ms = at_ms;
  return made;
}

inline engine::EngineEvent moved(std::string id, std::size_t partition,
                                 engine::PartitionState state, std::int64_t at_ms) {
  auto made = event(engine::EngineEvent::Kind::kPartitionMoved, std::move(id), at_ms,
                    engine::JobState::kRunning);
  made.partition = partition;
  made.partition_state = state;
  return made;
}

inline engine::EngineReport sample_report() {
  engine::EngineReport report;
  report.started_ms = 1'000;
  report.queues = {{"porep", 3, 2, 10, 1, 4}, {"circom", 0, 0, 5, 0, 0}};
  auto& executor = report.executor;
  executor.counts.partitions = {1, 2, 3, 4, 5, 6, 7, 8};
  executor.counts.retried_partitions = 9;
  executor.budget_bytes = 1 << 30;
  executor.rss_bytes = 123 << 20;
  executor.ledger.budget_bytes = 1 << 30;
  executor.ledger.total.used_bytes = 5 << 20;
  executor.ledger.by_category[0] = {3 << 20, 4 << 20};
  executor.ledger.by_category[3] = {2 << 20, 2 << 20};
  executor.ledger.accounts = {{base::Account::host(), 1 << 30, {5 << 20, 6 << 20}}};
  engine::DeviceReport device;
  device.name = "odd \"card\"\n\\";
  device.worker_count = 2;
  device.running = {7};
  device.started_count = 40;
  device.failure_count = 2;
  device.wrong_proof_count = 1;
  device.busy_s = 12.5;
  device.free_bytes = 1 << 20;
  device.total_bytes = 1 << 21;
  device.streamed_bytes = 3 << 20;
  device.shared_bytes = 5 << 20;
  executor.devices = {device};
  executor.keys = {{"porep-2k", engine::KeyTier::kWarm, 1 << 20, 1},
                   {"porep-32g", engine::KeyTier::kCold, 1 << 30, 0}};
  executor.process_restarts = 1;
  report.journal.accepted_count = 20;
  report.journal.job_count[0] = 3;
  return report;
}

}  // namespace cuzk::service
