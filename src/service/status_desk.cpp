// Questions gather while a report is made; the next one serves them all.
#include "service/status_desk.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/heap.h"

namespace cuzk::service {

StatusDesk::StatusDesk(std::function<StatusReport()> make_report)
    : make_report_(std::move(make_report)), lane_("grpc-status", 1, 1) {}

bool StatusDesk::ask(Answer answer) {
  const std::lock_guard lock(mutex_);
  asked_.push_back(std::move(answer));
  if (asked_.size() > 1) return true;  // a round that takes it along is posted
  if (lane_.post_always([this] { serve(); })) return true;
  asked_.clear();
  return false;
}

void StatusDesk::serve() {
  std::vector<Answer> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(asked_);
    ++report_count_;
  }
  const auto report = std::make_shared<const StatusReport>(make_report_());
  for (const Answer& answer : asked) answer(report);
}

std::uint64_t StatusDesk::report_count() const {
  const std::lock_guard lock(mutex_);
  return report_count_;
}

namespace {

constexpr std::size_t kRunningMax = 1000;

// Names of the jobs that run, where a device says that it works on one.
std::map<engine::JobId, StatusContext::RunningJob> running_jobs(
    const Backend& backend, const engine::EngineReport& report) {
  std::map<engine::JobId, StatusContext::RunningJob> running;
  const auto& devices = report.executor.devices;
  const bool any = std::any_of(devices.begin(), devices.end(),
                               [](const auto& device) { return !device.running.empty(); });
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
  report.context.public_kind_name = backend.public_kind_name;
  return report;
}

}  // namespace cuzk::service
