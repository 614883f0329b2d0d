// Reports as JSON. Pure functions. What the Rust daemon calls synthesis is the witness, what it
// calls gpu is a device, be it the CPU.
#include "service/http_status.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "service/backend.h"

namespace cuzk::service {
namespace {

using Json = nlohmann::ordered_json;
using engine::PartitionState;

constexpr std::int64_t kMsPerSecond = 1000;
// The Rust daemon shows a job for so long after its end.
constexpr std::int64_t kEndedShown_ms = 30'000;

// Its words for the states of a partition. A wait for the finish is still "gpu" there: the monitor
// has no word for it.
const char* state_word(PartitionState state) {
  switch (state) {
    case PartitionState::kQueued: return "pending";
    case PartitionState::kWitness: return "synthesizing";
    case PartitionState::kDeviceQueued: return "synth_done";
    case PartitionState::kDevice:
    case PartitionState::kFinishQueued:
    case PartitionState::kFinish: return "gpu";
    case PartitionState::kDone: return "done";
    case PartitionState::kEnded: break;
  }
  return "failed";
}

// Whole seconds; a clock that was set back gives none.
std::int64_t seconds_since(std::int64_t then_ms, std::int64_t now_ms) {
  return std::max<std::int64_t>(0, (now_ms - then_ms) / kMsPerSecond);
}

// Milliseconds that a partition spent in `state`, the current one up to now.
std::int64_t spent_ms(const std::vector<DashboardFeed::Span>& spans, PartitionState state,
                      std::int64_t now_ms) {
  std::int64_t total_ms = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].state != state) continue;
    const std::int64_t end_ms = i + 1 < spans.size() ? spans[i + 1].begin_ms : now_ms;
    total_ms += std::max<std::int64_t>(0, end_ms - spans[i].begin_ms);
  }
  return total_ms;
}

// A job as the monitor draws it. A partition that no event has told of is not shown.
Json pipeline_json(const DashboardFeed::Job& job, const StatusFacts& facts) {
  Json out;
  out["job_id"] = job.id;
  out["proof_kind"] = facts.public_kind(job.kind);
  out["started_secs_ago"] = seconds_since(job.started_ms, facts.now_ms);
  out["total_partitions"] = job.partitions.size();
  std::size_t done = 0;
  Json partitions = Json::array();
  for (const auto& [index, spans] : job.partitions) {
    if (spans.empty()) continue;
    done += spans.back().state == PartitionState::kDone;
    partitions.push_back({{"index", index},
                          {"state", state_word(spans.back().state)},
                          {"synth_ms", spent_ms(spans, PartitionState::kWitness, facts.now_ms)},
                          {"gpu_ms", spent_ms(spans, PartitionState::kDevice, facts.now_ms)}});
  }
  out["partitions_done"] = done;
  out["partitions"] = std::move(partitions);
  return out;
}

// A worker of a device, and which partition it has: the feed knows what is on which device.
Json workers_json(const engine::EngineReport& report, const std::vector<DashboardFeed::Job>& jobs,
                  std::int64_t now_ms) {
  struct Running {
    const DashboardFeed::Job* job;
    std::size_t partition;
    std::int64_t since_ms;
  };
  // Which worker of a device has which partition nobody says; they are dealt out in order.
  std::multimap<std::uint32_t, Running> on_device;
  for (const auto& job : jobs) {
    for (const auto& [index, spans] : job.partitions) {
      if (job.ended_ms == 0 && !spans.empty() && spans.back().state == PartitionState::kDevice) {
        on_device.insert({spans.back().device, {&job, index, spans.back().begin_ms}});
      }
    }
  }
  Json workers = Json::array();
  const auto& devices = report.executor.devices;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    auto [next, end] = on_device.equal_range(static_cast<std::uint32_t>(device));
    for (std::uint32_t i = 0; i < devices[device].worker_count; ++i) {
      Json worker = {
          {"worker_id", workers.size()}, {"gpu_ordinal", device},        {"state", "idle"},
          {"current_job", nullptr},      {"current_partition", nullptr}, {"busy_secs", 0}};
      if (next != end) {
        worker["state"] = "proving";
        worker["current_job"] = next->second.job->id;
        worker["current_partition"] = next->second.partition;
        worker["busy_secs"] = seconds_since(next->second.since_ms, now_ms);
        ++next;
      }
      workers.push_back(std::move(worker));
    }
  }
  return workers;
}

// Keys in memory. `pce`, a cache of the Rust daemon's, has no counterpart here and is empty.
Json allocations_json(const engine::EngineReport& report, const DashboardFeed& feed,
                      std::int64_t now_ms) {
  Json keys = Json::array();
  for (const auto& key : report.executor.keys) {
    if (key.tier == engine::KeyTier::kCold) continue;
    const std::int64_t used_ms = feed.key_used_ms(key.name);
    keys.push_back({{"circuit_id", key.name},
                    {"bytes", key.bytes},
                    {"last_used_secs_ago", used_ms == 0 ? 0 : seconds_since(used_ms, now_ms)},
                    {"evictable", key.reference_count == 0}});
  }
  return {{"srs", std::move(keys)}, {"pce", Json::array()}};
}

// Since the engine was made.
Json counters_json(const engine::EngineReport& report, const StatusFacts& facts) {
  std::uint64_t completed = 0, failed = 0, pending = 0;
  Json completed_by = Json::object(), failed_by = Json::object();
  for (const auto& queue : report.queues) {
    completed += queue.completed;
    failed += queue.failed;
    pending += queue.pending;
    completed_by[facts.public_kind(queue.kind)] = queue.completed;
    failed_by[facts.public_kind(queue.kind)] = queue.failed;
  }
  return {{"total_completed", completed},
          {"total_failed", failed},
          {"completed_by_kind", std::move(completed_by)},
          {"failed_by_kind", std::move(failed_by)},
          {"queue_depth", pending}};
}

// The ledger; without a budget nothing is called available.
Json memory_json(const engine::EngineReport& report) {
  const auto& executor = report.executor;
  const std::uint64_t used = executor.ledger.total.used_bytes;
  Json categories = Json::object();
  for (std::size_t i = 0; i < base::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<base::MemoryCategory>(i);
    categories[std::string(base::to_string(category))] = executor.ledger.of(category).used_bytes;
  }
  return {{"total_bytes", executor.budget_bytes},
          {"used_bytes", used},
          {"available_bytes", executor.budget_bytes > used ? executor.budget_bytes - used : 0},
          {"rss_bytes", executor.rss_bytes},
          {"by_category", std::move(categories)}};
}

}  // namespace

// `buffers` counts what stages hold for one another, in the Rust daemon's words.
Json status_json(const engine::EngineReport& report, const DashboardFeed& feed,
                 const StatusFacts& facts) {
  const auto jobs = feed.active(facts.now_ms - kEndedShown_ms);
  const auto& executor = report.executor;
  const auto& counts = executor.counts;
  Json out;
  out["uptime_secs"] = seconds_since(report.started_ms, facts.now_ms);
  out["version"] = facts.version;
  out["draining"] = report.draining;
  out["memory"] = memory_json(report);
  // Counts of the scheduler, not of the feed: they are right from the first moment on.
  out["synthesis"] = {{"max_concurrent", executor.witness_workers},
                      {"active", counts.in_state(PartitionState::kWitness)}};
  out["pipelines"] = Json::array();
  for (const auto& job : jobs) out["pipelines"].push_back(pipeline_json(job, facts));
  out["gpu_workers"] = workers_json(report, jobs, facts.now_ms);
  out["allocations"] = allocations_json(report, feed, facts.now_ms);
  out["counters"] = counters_json(report, facts);
  const auto on_device = counts.in_state(PartitionState::kDevice);
  out["buffers"] = {{"synth_in_flight", counts.in_state(PartitionState::kWitness)},
                    {"provers_in_flight", on_device},
                    {"aux_in_flight", executor.witnesses_alive},
                    {"shells_in_flight", executor.pending_alive},
                    {"pending_handles", executor.pending_alive}};
  return out;
}

// Small and the same size whatever the number of jobs; those come as changes.
Json overview_json(const engine::EngineReport& report, const StatusFacts& facts) {
  const auto& executor = report.executor;
  Json out;
  out["now_ms"] = facts.now_ms;
  out["started_ms"] = report.started_ms;
  out["version"] = facts.version;
  out["draining"] = report.draining;
  out["not_ready_reason"] = readiness(report, facts.door_fault).reason;
  out["memory"] = memory_json(report);
  out["memory"]["peak_bytes"] = executor.ledger.total.peak_bytes;
  out["memory"]["waiting_requests"] = executor.counts.waiting_for_memory;
  out["category_names"] = Json::array();
  for (std::size_t i = 0; i < base::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<base::MemoryCategory>(i);
    out["category_names"].push_back(std::string(base::to_string(category)));
  }
  out["devices"] = Json::array();
  for (const auto& device : executor.devices) {
    out["devices"].push_back({{"name", device.name},
                              {"usable", device.usable},
                              {"fallback_only", device.fallback_only},
                              {"workers", device.worker_count},
                              {"busy", device.running.size()},
                              {"free_bytes", device.free_bytes},
                              {"total_bytes", device.total_bytes},
                              {"started", device.started_count},
                              {"failures", device.failure_count},
                              {"wrong_proofs", device.wrong_proof_count},
                              {"streamed_bytes", device.streamed_bytes},
                              {"shared_bytes", device.shared_bytes},
                              {"busy_s", device.busy_s}});
  }
  out["keys"] = Json::array();
  for (const auto& key : executor.keys) {
    out["keys"].push_back({{"name", key.name},
                           {"tier", std::string(engine::to_string(key.tier))},
                           {"bytes", key.bytes},
                           {"references", key.reference_count}});
  }
  out["queues"] = Json::array();
  for (const auto& queue : report.queues) {
    out["queues"].push_back({{"kind", facts.public_kind(queue.kind)},
                             {"pending", queue.pending},
                             {"in_progress", queue.in_progress},
                             {"completed", queue.completed},
                             {"failed", queue.failed},
                             {"cancelled", queue.cancelled}});
  }
  out["workers"] = {{"witness", executor.witness_workers},
                    {"finish", executor.finish_workers},
                    {"jobs_in_flight_max", executor.jobs_in_flight_max}};
  out["restarts"] = executor.process_restarts;
  return out;
}

}  // namespace cuzk::service
