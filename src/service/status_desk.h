// Answers questions for the state of the engine. All that wait when a report is begun share it, so
// that any rate of polling costs a bounded part of one thread; no answer is older than its
// question.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "service/backend.h"
#include "service/wire_proving.h"
#include "service/work_lane.h"

namespace cuzk::service {

// A report, with the names of the jobs that run in it.
struct StatusReport {
  engine::EngineReport engine;
  StatusContext context;
};

// Thread-safe.
class StatusDesk {
 public:
  // Why there is none, where making it threw (refused memory).
  using Made = base::Result<std::shared_ptr<const StatusReport>>;
  using Answer = std::function<void(const Made&)>;
  explicit StatusDesk(std::function<StatusReport()> make_report);

  // Calls `answer` once from the desk's thread, whatever becomes of the report and of the answers
  // before it; what an answer throws is its own loss and a line in the log. False: stopped.
  bool ask(Answer answer);
  std::uint64_t report_count() const;
  void stop() { lane_.stop(); }

 private:
  void serve();

  // A round is posted before the first question and takes all that are there when it begins, so
  // one is in the lane whenever asked_ is not empty.
  const std::function<StatusReport()> make_report_;
  mutable std::mutex mutex_;
  std::vector<Answer> asked_;
  std::uint64_t report_count_ = 0;
  WorkLane lane_;
};

// The report of the engine behind `backend`.
StatusReport make_status_report(const Backend& backend, std::uint64_t max_message_bytes);

}  // namespace cuzk::service
