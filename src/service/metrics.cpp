// Histograms and event counters live in a registry of prometheus-cpp; the report's families are
// made for each scrape.
#include "service/metrics.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <sstream>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/check.h"
#include "service/backend.h"
#include "service/metrics_clock.h"
#include "service/metrics_families.h"
#include "service/process_facts.h"

namespace cuzk::service {
namespace {

constexpr double kMsPerSecond = 1000;
// From a millisecond (a small circuit's stage) to a day (a queue of large proofs).
const std::vector<double> kBoundaries_s = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3,  1,    3,
                                           10,    30,    60,   120,  300, 1800, 7200, 86400};

double now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// A wait has the name of the stage that it is for.
const char* stage_name(Measured::What what) {
  switch (what) {
    case Measured::What::kWitness: return "witness";
    case Measured::What::kDevice: return "device";
    case Measured::What::kFinish: return "finish";
    case Measured::What::kDeviceWait: return "device";
    case Measured::What::kFinishWait: return "finish";
    case Measured::What::kQueueWait:
    case Measured::What::kTotal: break;
  }
  return "job";
}

}  // namespace

// The registry and its families have locks of their own; clock and totals are the mutex's. A
// family's series of a label is made when it is first used, and stays.
struct Metrics::State {
  State(BuildFacts build, Names of)
      : facts(std::move(build)),
        names(std::move(of)),
        submitted(prometheus::BuildCounter()
                      .Name("cuzk_jobs_submitted_total")
                      .Help("Jobs accepted, joined ones not counted.")
                      .Register(registry)),
        errors(prometheus::BuildCounter()
                   .Name("cuzk_job_errors_total")
                   .Help("Failed jobs by class of error.")
                   .Register(registry)),
        answers(prometheus::BuildCounter()
                    .Name("cuzk_requests_total")
                    .Help("Answers of the daemon's doors by code.")
                    .Register(registry)),
        queue_wait(prometheus::BuildHistogram()
                       .Name("cuzk_job_queue_wait_seconds")
                       .Help("From a job's acceptance to its first stage.")
                       .Register(registry)),
        total(prometheus::BuildHistogram()
                  .Name("cuzk_proof_duration_seconds")
                  .Help("From a job's acceptance to its verified proof.")
                  .Register(registry)),
        stage(prometheus::BuildHistogram()
                  .Name("cuzk_stage_duration_seconds")
                  .Help("Time of a partition in a stage.")
                  .Register(registry)),
        stage_wait(prometheus::BuildHistogram()
                       .Name("cuzk_stage_wait_seconds")
                       .Help("Time that a partition waited for a stage.")
                       .Register(registry)) {
    CUZK_ASSERT(names.public_kind != nullptr && names.failure != nullptr);
    CUZK_ASSERT(std::is_sorted(kBoundaries_s.begin(), kBoundaries_s.end()));
    // Every class is there from the beginning, so that a rate over the first failure is seen.
    for (int kind = 0; kind <= static_cast<int>(base::ErrorKind::kInternal); ++kind) {
      errors.Add(error_label(static_cast<base::ErrorKind>(kind)));
    }
  }

  static prometheus::Labels error_label(base::ErrorKind kind) {
    return {{"class", label_word(base::to_string(kind))}};
  }

  // `kind` is the public name. Thread-safe.
  void record(const Measured& measured, const std::string& kind) {
    const double seconds = static_cast<double>(measured.ms) / kMsPerSecond;
    const prometheus::Labels labels = {{"proof_kind", kind}};
    const prometheus::Labels staged = {{"proof_kind", kind}, {"stage", stage_name(measured.what)}};
    // A histogram for each question; the stage is a label of those that are asked of every stage.
    switch (measured.what) {
      case Measured::What::kQueueWait:
        queue_wait.Add(labels, kBoundaries_s).Observe(seconds);
        break;
      case Measured::What::kTotal: total.Add(labels, kBoundaries_s).Observe(seconds); break;
      case Measured::What::kWitness:
      case Measured::What::kDevice:
      case Measured::What::kFinish: stage.Add(staged, kBoundaries_s).Observe(seconds); break;
      case Measured::What::kDeviceWait:
      case Measured::What::kFinishWait:
        stage_wait.Add(staged, kBoundaries_s).Observe(seconds);
        break;
    }
  }

  const BuildFacts facts;
  const Names names;
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>&submitted, &errors, &answers;
  prometheus::Family<prometheus::Histogram>&queue_wait, &total, &stage, &stage_wait;
  std::mutex mutex;  // of what follows
  EventClock clock;
  std::map<std::string, std::pair<double, double>> totals;  // see Families
};

Metrics::Metrics(BuildFacts facts, Names names)
    : state_(std::make_unique<State>(std::move(facts), std::move(names))) {}

Metrics::~Metrics() = default;

// In a thread of the engine's that is this observer's own, in the order of the events.
void Metrics::observe(const engine::EngineEvent& event) {
  const std::string kind = state_->names.public_kind(event.job_kind);
  std::vector<Measured> measured;
  {
    const std::lock_guard lock(state_->mutex);
    measured = state_->clock.observe(event);
  }
  // Without the mutex, which a scrape holds for as long as its families take.
  for (const Measured& one : measured) state_->record(one, kind);
  if (event.kind == engine::EngineEvent::Kind::kAccepted) {
    state_->submitted.Add({{"proof_kind", kind}}).Increment();
  }
  if (event.kind == engine::EngineEvent::Kind::kEnded && event.state == engine::JobState::kFailed) {
    // A job whose record is gone already still counts.
    const auto failure = state_->names.failure(event.request_id);
    state_->errors.Add(State::error_label(failure.value_or(base::ErrorKind::kInternal)))
        .Increment();
  }
}

// From threads of all doors.
void Metrics::count_answer(std::string_view protocol, std::string_view code) {
  state_->answers.Add({{"protocol", std::string(protocol)}, {"code", std::string(code)}})
      .Increment();
}

// Two scrapes at once are one after the other, or their counters would be counted twice.
std::string Metrics::text(const engine::EngineReport& report, const std::string& door_fault) {
  std::vector<prometheus::MetricFamily> all;
  {
    const std::lock_guard lock(state_->mutex);
    Families families(state_->totals);
    families.gauge("cuzk_build_info", "Always 1; the build is in the labels.", 1,
                   {{"version", state_->facts.version},
                    {"commit", state_->facts.commit},
                    {"compiler", state_->facts.compiler}});
    const ProcessFacts process = process_facts();
    families.gauge("process_resident_memory_bytes", "Resident memory of the daemon.",
                   static_cast<double>(process.resident_bytes));
    families.gauge("process_open_fds", "Open files and connections of the daemon.",
                   static_cast<double>(process.open_files));
    families.counter("process_cpu_seconds_total", "CPU time of the daemon.", process.cpu_s);
    families.gauge("cuzk_ready", "1: new jobs are taken and can be proved, as /readyz says.",
                   readiness(report, door_fault).ready ? 1 : 0);
    add_report(report, state_->names.public_kind, now_s(), families);
    all = families.take();
  }
  for (auto& family : state_->registry.Collect()) all.push_back(std::move(family));
  // Out of the lock: events may be heard while the text is written.
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, all);
  return std::move(out).str();
}

}  // namespace cuzk::service
