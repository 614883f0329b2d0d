// Inside WorkerProcess: the supervisor's thread, the table of jobs and the open questions.
//
// One thread makes, listens to and collects one process after the other, and tells the events, so
// they are in order. A second one reads inputs, which may take a while; a third one writes what is
// asked, so that no caller stands still with the process. The mutex is not held while events are
// told, inputs are read or the socket is written.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "engine/engine_notify.h"
#include "engine/worker_process.h"
#include "engine/worker_spawn.h"
#include "engine/worker_wire.h"

namespace cuzk::engine {

// Phases: kStarting only before the first process is ready; then kReady and kDown in turn; kStopped
// at the end. channel_ is set from the making of a process until it was mourned, process_id_
// likewise. What belongs to one process and might be taken for another's is told apart by
// generation_.
class WorkerProcess::State {
 public:
  using Clock = std::chrono::steady_clock;

  State(WorkerProcessOptions options, ExecutorEvents& events);
  ~State();

  // The first process, until it is ready or over.
  base::Status start() CUZK_EXCLUDES(mutex_);
  base::Status run(RunRequest request) CUZK_EXCLUDES(mutex_);
  base::Status cancel(JobId id) CUZK_EXCLUDES(mutex_);
  std::optional<JobProgress> progress(JobId id) CUZK_EXCLUDES(mutex_);
  // A question about a key; waits for the answer.
  base::Result<std::uint64_t> ask_about_key(internal::MessageKind kind, const std::string& name)
      CUZK_EXCLUDES(mutex_);
  ExecutorReport report() CUZK_EXCLUDES(mutex_);
  void stop() CUZK_EXCLUDES(mutex_);
  int process_id() CUZK_EXCLUDES(mutex_);
  void set_log_level(base::LogLevel level) { log_level_.store(level); }

 private:
  enum class Phase : std::uint8_t { kStarting, kReady, kDown, kStopped };
  // From run() to its end or to a crash. The input's function is called by the thread of inputs.
  struct Job {
    std::function<base::Result<SharedBytes>()> input;
    bool started = false;
    bool reading = false;                    // its input is there, and it has not started yet
    std::vector<PartitionState> partitions;  // as far as they were told
  };
  // Shared by who asks and the table. Answered by the process, or lost with it; the answer counts
  // where the process ends before it was taken.
  struct Question {
    std::optional<JobId> run_of;  // the job that is given
    std::optional<internal::WireOutcome> answer;
    bool lost = false;
    bool left = false;  // whoever asked did not wait; of a job that is given
    std::condition_variable_any wake;
  };

  // The supervisor (worker_supervisor.cpp).
  void supervise();
  // One process from its start to its end. Returns why it ended.
  std::string live_and_die() CUZK_EXCLUDES(mutex_);
  std::string listen(internal::ChildProcess& child, internal::Channel& channel)
      CUZK_EXCLUDES(mutex_);
  // The reason to end it, or nothing.
  std::optional<std::string> check_time(internal::Channel& channel) CUZK_EXCLUDES(mutex_);
  // False when the message makes no sense.
  bool handle(internal::Channel& channel, internal::Message message) CUZK_EXCLUDES(mutex_);
  // One kind of message each. False where it makes no sense; a message about a job that is no
  // longer here is fine, for its end and a message may cross.
  bool handle_event(const internal::Message& message) CUZK_EXCLUDES(mutex_);
  bool handle_end(const internal::Message& message) CUZK_EXCLUDES(mutex_);
  bool handle_answer(const internal::Message& message) CUZK_EXCLUDES(mutex_);
  // To who asked. A refusal that nobody waits for any more ends its job.
  void take_answer(std::uint64_t call, internal::WireOutcome outcome) CUZK_EXCLUDES(mutex_);
  bool send_input(const internal::Message& message) CUZK_EXCLUDES(mutex_);
  // Tells the process a level that was set since.
  void tell_log_level(internal::Channel& channel);
  // Takes what the process wrote to standard error, without waiting, and logs whole lines.
  void read_log(internal::ChildProcess& child);
  // Logs one line under its own level and remembers it, in case it was the last.
  void log_line(std::string line);
  void mourn(const std::string& reason) CUZK_EXCLUDES(mutex_);
  // In the log: that a start failed, once for each reason, and that one went well again.
  void tell_failed_start(const std::string& reason);
  void tell_good_start(std::uint32_t failed_starts);
  void pause() CUZK_EXCLUDES(mutex_);

  bool has_failed() const CUZK_REQUIRES(mutex_);
  // Waits for the answer, until `until` when given. Nothing: late, or lost with the process, or
  // this is not the process of `generation` any more.
  std::optional<internal::WireOutcome> ask(internal::MessageKind kind, base::Bytes payload,
                                           std::optional<Clock::time_point> until,
                                           std::optional<std::uint64_t> generation = {},
                                           std::optional<JobId> run_of = {}) CUZK_EXCLUDES(mutex_);

  const WorkerProcessOptions options_;
  ExecutorEvents& events_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;  // phase_, stopping_
  Phase phase_ CUZK_GUARDED_BY(mutex_) = Phase::kStarting;
  bool stopping_ CUZK_GUARDED_BY(mutex_) = false;
  bool was_ready_ CUZK_GUARDED_BY(mutex_) = false;
  std::shared_ptr<internal::Channel> channel_ CUZK_GUARDED_BY(mutex_);
  int process_id_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint32_t failed_starts_ CUZK_GUARDED_BY(mutex_) = 0;     // in a row
  std::optional<base::Error> failure_ CUZK_GUARDED_BY(mutex_);  // of the last start
  std::uint64_t generation_ CUZK_GUARDED_BY(mutex_) = 0;        // processes that were made
  std::uint64_t restart_count_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint32_t young_deaths_ CUZK_GUARDED_BY(mutex_) = 0;
  std::unordered_map<JobId, Job> jobs_ CUZK_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::shared_ptr<Question>> questions_ CUZK_GUARDED_BY(mutex_);
  std::uint64_t question_count_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_count_ CUZK_GUARDED_BY(mutex_) = 0;  // questions that are left
  ExecutorReport report_ CUZK_GUARDED_BY(mutex_);         // the last one
  Clock::time_point down_since_ CUZK_GUARDED_BY(mutex_);  // the last time it was well
  Clock::time_point heard_at_ CUZK_GUARDED_BY(mutex_);
  std::optional<Clock::time_point> ready_at_ CUZK_GUARDED_BY(mutex_);  // of this process
  Clock::time_point stop_at_ CUZK_GUARDED_BY(mutex_);

  std::atomic<base::LogLevel> log_level_;

  // The supervisor's own.
  base::LogLevel told_level_ = base::LogLevel::kWarning;
  Clock::time_point asked_at_;
  std::string log_rest_, last_line_;
  std::string told_failure_;  // of a start, as it was told last; empty: none since a good one
  std::unique_ptr<internal::CallThread> inputs_;
  std::thread supervisor_;
  // What is said to the process, in order: it waits here while a process that stands still leaves
  // no room in the socket. Dies first.
  std::unique_ptr<internal::CallThread> outbox_;
};

}  // namespace cuzk::engine
