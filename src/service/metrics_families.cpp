// Names carry base units (seconds, bytes); labels have few values each. docs/operate.md lists them
// all.
#include "service/metrics_families.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cuzk::service {
namespace {

using engine::EngineReport;

constexpr double kMsPerSecond = 1000;
// In the order of engine::PartitionState.
constexpr std::array<std::string_view, engine::kPartitionStateCount> kPartitionWords = {
    "queued", "witness", "device_queued", "device", "finish_queued", "finish", "done", "ended"};

// A row for each kind of job, and sums over the kinds for those who want one number.
void add_queues(const EngineReport& report,
                const std::function<std::string(std::string_view)>& public_kind, Families& out) {
  std::uint64_t pending = 0, running = 0;
  for (const auto& queue : report.queues) {
    const Labels kind = {{"proof_kind", public_kind(queue.kind)}};
    out.gauge("cuzk_jobs_pending", "Accepted jobs that have not begun.",
              static_cast<double>(queue.pending), kind);
    out.gauge("cuzk_jobs_in_progress", "Jobs that are worked on.",
              static_cast<double>(queue.in_progress), kind);
    out.counter("cuzk_proofs_completed_total", "Jobs that gave a verified proof.",
                static_cast<double>(queue.completed), kind);
    out.counter("cuzk_proofs_failed_total", "Jobs that failed.", static_cast<double>(queue.failed),
                kind);
    out.counter("cuzk_proofs_cancelled_total", "Jobs that were cancelled.",
                static_cast<double>(queue.cancelled), kind);
    pending += queue.pending;
    running += queue.in_progress;
  }
  out.gauge("cuzk_queue_depth", "Accepted jobs that have not begun, of all kinds.",
            static_cast<double>(pending));
  out.gauge("cuzk_waiting_calls", "Calls that wait for the end of a job.",
            static_cast<double>(report.waiting_calls));
  out.gauge("cuzk_running_jobs", "Jobs that are worked on, of all kinds.",
            static_cast<double>(running));
}

// How many partitions are where, and how often the scheduler did not simply take the next.
void add_scheduler(const engine::ExecutorReport& report, Families& out) {
  const auto& counts = report.counts;
  for (std::size_t state = 0; state < engine::kPartitionStateCount; ++state) {
    out.gauge("cuzk_partitions", "Partitions of jobs in flight by state.",
              static_cast<double>(counts.partitions[state]),
              {{"state", std::string(kPartitionWords[state])}});
  }
  out.counter("cuzk_partitions_retried_total", "Partitions that were tried a second time.",
              static_cast<double>(counts.retried_partitions));
  const std::pair<const char*, std::uint64_t> grants[] = {{"inline", counts.inline_grants},
                                                          {"aged", counts.aged_grants}};
  for (const auto& [reason, count] : grants) {
    out.counter("cuzk_scheduler_exceptions_total", "Grants out of order, by reason.",
                static_cast<double>(count), {{"reason", reason}});
  }
  out.counter("cuzk_key_switches_total", "Times that a device changed its proving key.",
              static_cast<double>(counts.key_switches));
  out.counter("cuzk_keys_evicted_total", "Keys dropped to make room.",
              static_cast<double>(counts.evicted_keys));
  const std::pair<const char*, double> alive[] = {
      {"witness", static_cast<double>(report.witnesses_alive)},
      {"pending", static_cast<double>(report.pending_alive)}};
  for (const auto& [stage, count] : alive) {
    out.gauge("cuzk_products_alive", "Results of stages that wait or are worked on.", count,
              {{"stage", stage}});
  }
  out.counter("cuzk_worker_process_restarts_total", "Crashes of the proving process.",
              static_cast<double>(report.process_restarts));
}

// The ledger by category and by account. A category's peaks need not have been at one time.
void add_memory(const engine::ExecutorReport& report, Families& out) {
  const auto& ledger = report.ledger;
  for (std::size_t i = 0; i < base::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<base::MemoryCategory>(i);
    const Labels labels = {{"category", label_word(base::to_string(category))}};
    out.gauge("cuzk_memory_used_bytes", "Host memory in the ledger by category.",
              static_cast<double>(ledger.of(category).used_bytes), labels);
    out.gauge("cuzk_memory_peak_bytes", "Most that a category held at once.",
              static_cast<double>(ledger.of(category).peak_bytes), labels);
  }
  for (const auto& account : ledger.accounts) {
    const Labels labels = {{"account", account.account.name()}};
    out.gauge("cuzk_memory_account_used_bytes", "Memory in the ledger by account.",
              static_cast<double>(account.use.used_bytes), labels);
    out.gauge("cuzk_memory_account_budget_bytes", "Budget of an account; 0: none.",
              static_cast<double>(account.budget_bytes), labels);
  }
  out.gauge("cuzk_memory_budget_bytes", "Budget of the host's memory; 0: none.",
            static_cast<double>(report.budget_bytes));
  out.gauge("cuzk_memory_waiting_requests", "Jobs and partitions that only lack memory.",
            static_cast<double>(report.counts.waiting_for_memory));
  out.gauge("cuzk_proving_resident_memory_bytes", "Resident memory of the process that proves.",
            static_cast<double>(report.rss_bytes));
}

// By number and name: two cards of one name are two series.
void add_devices(const engine::ExecutorReport& report, Families& out) {
  double workers = 0;
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    const auto& device = report.devices[i];
    const Labels labels = {{"device", fmt::format("{}", i)}, {"name", device.name}};
    workers += device.worker_count;
    out.gauge("cuzk_device_usable", "1: takes work; 0: in quarantine or lost.",
              device.usable ? 1 : 0, labels);
    out.gauge("cuzk_device_workers", "Workers of a device.", device.worker_count, labels);
    out.gauge("cuzk_device_busy_workers", "Workers of a device that work.",
              static_cast<double>(device.running.size()), labels);
    out.gauge("cuzk_device_memory_free_bytes", "Free memory of a device; 0 for the CPU.",
              static_cast<double>(device.free_bytes), labels);
    out.gauge("cuzk_device_memory_total_bytes", "Memory of a device; 0 for the CPU.",
              static_cast<double>(device.total_bytes), labels);
    out.counter("cuzk_device_busy_seconds_total", "Time that workers of a device worked.",
                device.busy_s, labels);
    out.counter("cuzk_device_partitions_started_total", "Partitions that a device began.",
                static_cast<double>(device.started_count), labels);
    out.counter("cuzk_device_failures_total", "Partitions that failed through the device.",
                static_cast<double>(device.failure_count), labels);
    out.counter("cuzk_device_wrong_proofs_total", "Proofs of a device that did not verify.",
                static_cast<double>(device.wrong_proof_count), labels);
    out.counter("cuzk_device_streamed_key_bytes_total",
                "Bytes of keys that do not stay on a device, copied to it for proofs.",
                static_cast<double>(device.streamed_bytes), labels);
    out.counter("cuzk_device_shared_key_bytes_total",
                "Bytes of keys that proofs took of copies made for other proofs.",
                static_cast<double>(device.shared_bytes), labels);
  }
  out.gauge("cuzk_gpu_workers", "Workers of all devices.", workers);
}

// Keys that are known, loaded or not: their names come from the configuration, so they are few.
void add_keys(const engine::ExecutorReport& report, Families& out) {
  for (const auto& key : report.keys) {
    const Labels labels = {{"circuit_id", key.name}};
    out.gauge("cuzk_srs_resident_bytes", "Memory of a proving key; 0: not loaded.",
              key.tier == engine::KeyTier::kCold ? 0 : static_cast<double>(key.bytes), labels);
    out.gauge("cuzk_srs_references", "Proofs that hold a proving key.", key.reference_count,
              labels);
  }
}

// The counters among them begin anew with each process; the states of jobs do not.
void add_journal(const engine::JournalStatistics& journal, Families& out) {
  for (std::size_t i = 0; i < engine::kJobStateCount; ++i) {
    const auto state = static_cast<engine::JobState>(i);
    out.gauge("cuzk_journal_jobs", "Jobs kept in the journal by state.",
              static_cast<double>(journal.job_count[i]),
              {{"state", std::string(engine::to_string(state))}});
  }
  const std::pair<const char*, std::uint64_t> submissions[] = {{"new", journal.accepted_count},
                                                               {"joined", journal.joined_count},
                                                               {"retried", journal.retried_count},
                                                               {"refused", journal.refused_count}};
  for (const auto& [outcome, count] : submissions) {
    out.counter("cuzk_submissions_total", "Submissions by what came of them.",
                static_cast<double>(count), {{"outcome", outcome}});
  }
  out.gauge("cuzk_journal_file_bytes", "Size of the journal's database.",
            static_cast<double>(journal.file_bytes));
  out.gauge("cuzk_journal_input_bytes", "Inputs kept for jobs that are not over.",
            static_cast<double>(journal.input_bytes));
}

}  // namespace

// A metric of a family that is made where it is not there yet. The reference is good until the next
// call. A search through the list: a scrape has some tens of families.
prometheus::ClientMetric& Families::add(const std::string& name, const std::string& help,
                                        prometheus::MetricType type, Labels labels) {
  auto family = std::find_if(families_.begin(), families_.end(),
                             [&](const auto& known) { return known.name == name; });
  if (family == families_.end()) family = families_.insert(family, {name, help, type, {}});
  prometheus::ClientMetric& metric = family->metric.emplace_back();
  for (auto& [label, value] : labels) metric.label.push_back({label, std::move(value)});
  return metric;
}

void Families::gauge(const std::string& name, const std::string& help, double value,
                     Labels labels) {
  add(name, help, prometheus::MetricType::Gauge, std::move(labels)).gauge.value = value;
}

// Totals live longer than a scrape (Metrics keeps them), so a process that was started anew goes on
// where the one before it ended.
void Families::counter(const std::string& name, const std::string& help, double value,
                       Labels labels) {
  // Zero bytes part names and values, which have none, so that no two series run into one.
  std::string series = name;
  for (const auto& [label, content] : labels) series += '\0' + label + '\0' + content;
  auto& [total, last] = totals_[series];
  // Less than last time: whoever counts has begun again, so all of it is new.
  total += value >= last ? value - last : value;
  last = value;
  add(name, help, prometheus::MetricType::Counter, std::move(labels)).counter.value = total;
}

// Leaves none behind: for the end of a scrape.
std::vector<prometheus::MetricFamily> Families::take() { return std::move(families_); }

std::string label_word(std::string_view words) {
  std::string word(words);
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return word;
}

// Each part by itself; what is missing in the report makes no series.
void add_report(const EngineReport& report,
                const std::function<std::string(std::string_view)>& public_kind, double now_s,
                Families& families) {
  // Clocks may be set back, and an uptime below zero helps nobody.
  const double started_s = static_cast<double>(report.started_ms) / kMsPerSecond;
  families.gauge("cuzk_uptime_seconds", "Time since the engine was started.",
                 std::max(0.0, now_s - started_s));
  families.gauge("process_start_time_seconds", "When the engine was started, since 1970.",
                 started_s);
  families.gauge("cuzk_draining", "1: no new jobs are taken.", report.draining ? 1 : 0);
  add_queues(report, public_kind, families);
  add_scheduler(report.executor, families);
  add_memory(report.executor, families);
  add_devices(report.executor, families);
  add_keys(report.executor, families);
  add_journal(report.journal, families);
}

}  // namespace cuzk::service
