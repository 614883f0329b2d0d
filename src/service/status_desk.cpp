// Questions gather while a report is made; the next one serves them all. So there is one report
// under way and one in the lane at most, however many ask.
#include "service/status_desk.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/heap.h"
#include "base/log.h"
#include "engine/guarded.h"

namespace cuzk::service {

StatusDesk::StatusDesk(std::function<StatusReport()> make_report)
    : make_report_(std::move(make_report)), lane_("grpc-status", 1, 1) {
  CUZK_ASSERT(make_report_ != nullptr);
}

// Under one lock, so that a round is posted for the first question and for no other; the round
// begins by taking the lock. Posted first: a question without a round would be waited for, a round
// without a question (memory for it was refused) does nothing.
bool StatusDesk::ask(Answer answer) {
  const std::lock_guard lock(mutex_);
  CUZK_ASSERT(answer != nullptr);
  if (asked_.empty() && !lane_.post_always([this] { serve(); })) return false;
  asked_.push_back(std::move(answer));
  return true;
}

// In the lane's one thread: one report is made at a time.
void StatusDesk::serve() {
  std::vector<Answer> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(asked_);
    if (asked.empty()) return;
    ++report_count_;
  }
  // After the swap: a question that comes from now on may be about something newer.
  const Made made = engine::guarded(
      [this]() -> Made { return std::make_shared<const StatusReport>(make_report_()); });
  for (const Answer& answer : asked) {
    const auto told = engine::guarded([&]() -> base::Status {
      answer(made);
      return base::ok_status();
    });
    if (!told.ok()) {
      base::log(base::LogLevel::kError, "a question for the status: " + told.error().message);
    }
  }
}

// How many reports were begun; far fewer than questions where many ask.
std::uint64_t StatusDesk::report_count() const {
  const std::lock_guard lock(mutex_);
  return report_count_;
}

namespace {

// A job beyond these runs without its name.
constexpr std::size_t kRunningMax = 1000;

// Names of the jobs that run, where a device says that it works on one.
std::map<engine::JobId, StatusContext::RunningJob> running_jobs(
    const Backend& backend, const engine::EngineReport& report) {
  std::map<engine::JobId, StatusContext::RunningJob> running;
  const auto& devices = report.executor.devices;
  const bool any = std::any_of(devices.begin(), devices.end(),
                               [](const auto& device) { return !device.running.empty(); });
  // The journal is asked only where there is something to name.
  if (!any) return running;
  engine::JobQuery query;
  query.states = {engine::JobState::kRunning};
  query.count_max = kRunningMax;
  const auto jobs = backend.engine->list(query);
  if (!jobs.ok()) return running;
  for (const engine::JobView& job : *jobs) {
    running[job.record.sequence] = {job.record.request_id, job.record.kind};
  }
  return running;
}

}  // namespace

// A report of the engine, then the names: a job that ends between is on a device without one.
StatusReport make_status_report(const Backend& backend, std::uint64_t max_message_bytes) {
  StatusReport report;
  report.engine = backend.engine->report();
  report.context.running = running_jobs(backend, report.engine);
  report.context.max_message_bytes = max_message_bytes;
  report.context.now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count();
  report.context.daemon_rss_bytes = base::resident_bytes().value_or(0);
  report.context.version = backend.version;
  report.context.door_fault = backend.faults->first();
  report.context.public_kind_name = backend.public_kind_name;
  return report;
}

}  // namespace cuzk::service
