// The executor's face of a proving process: calls become questions.
//
// A question gets a number, goes over the socket, and waits for its answer or for the end of the
// process. What is asked while no process is ready is lost at once; only run() waits for one, since
// its caller cannot do anything better.
#include "engine/worker_process.h"

#include <utility>

#include <fmt/format.h>

#include "engine/worker_process_state.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::MutexLock;
using base::Result;
using base::Status;
using internal::MessageKind;
using internal::WireOutcome;

namespace {

// One failed start may be a moment's lack of memory or processes.
constexpr std::uint32_t kFailedStartsMax = 3;
// What a status page may wait for fresh figures.
constexpr std::chrono::milliseconds kReportPatience(40);

// Takes what is large out of the request; the input stays, it travels when the process asks for it.
internal::WireRun wire_of(RunRequest& request) {
  internal::WireRun wire;
  wire.id = request.id;
  wire.name = request.name;
  wire.kind = request.kind;
  wire.priority = request.priority;
  wire.has_deadline = request.deadline_ms ? 1 : 0;
  wire.deadline_ms = request.deadline_ms.value_or(0);
  wire.has_plan = request.plan ? 1 : 0;
  if (request.plan) wire.plan = std::move(*request.plan);
  wire.finished = std::move(request.finished);
  return wire;
}

}  // namespace

WorkerProcess::State::State(WorkerProcessOptions options, ExecutorEvents& events)
    : options_(std::move(options)),
      events_(events),
      log_level_(options_.log_level),
      inputs_(std::make_unique<internal::CallThread>()),
      outbox_(std::make_unique<internal::CallThread>()) {}

WorkerProcess::State::~State() { stop(); }

// Returns when the first process is ready, or has ended with the reason why it cannot be.
Status WorkerProcess::State::start() {
  if (options_.command.empty()) {
    return Error{ErrorKind::kInvalidArgument, "the proving process has no command"};
  }
  supervisor_ = std::thread([this] { supervise(); });
  const MutexLock hold(mutex_);
  while (phase_ == Phase::kStarting) changed_.wait(mutex_);
  if (phase_ == Phase::kReady) return base::ok_status();
  return failure_.value_or(Error{ErrorKind::kUnavailable, "the proving process did not start"});
}

bool WorkerProcess::State::has_failed() const {
  return failed_starts_ >= kFailedStartsMax && Clock::now() - down_since_ >= options_.down_patience;
}

std::optional<WireOutcome> WorkerProcess::State::ask(MessageKind kind, base::Bytes payload,
                                                     std::optional<Clock::time_point> until,
                                                     std::optional<std::uint64_t> generation,
                                                     std::optional<JobId> run_of) {
  // The number is taken and the question put down before it is sent: the answer may come at once.
  const auto question = std::make_shared<Question>();
  question->run_of = run_of;
  std::shared_ptr<internal::Channel> way;
  std::uint64_t number = 0;
  {
    const MutexLock hold(mutex_);
    if (phase_ != Phase::kReady) return std::nullopt;
    if (generation && *generation != generation_) return std::nullopt;
    CUZK_ASSERT(channel_ != nullptr);
    way = channel_;
    number = ++question_count_;
    questions_.emplace(number, question);
  }
  outbox_->post([this, way = std::move(way), kind, number, payload = std::move(payload)] {
    Status sent = way->send(kind, number, payload);
    // Where the other end is gone, the end of the process loses all questions.
    if (sent.ok() || sent.error().kind == ErrorKind::kUnavailable) return;
    WireOutcome refused;
    refused.is_ok = 0;
    refused.error = std::move(sent).error();
    take_answer(number, std::move(refused));
  });
  const MutexLock hold(mutex_);
  while (!question->answer && !question->lost) {
    if (!until) {
      question->wake.wait(mutex_);
    } else if (question->wake.wait_until(mutex_, *until) == std::cv_status::timeout) {
      break;
    }
  }
  if (question->answer || question->lost || !run_of) {
    questions_.erase(number);
  } else {
    question->left = true;
    ++left_count_;
  }
  return std::move(question->answer);
}

// The job is in the table before the process hears of it, since its events may come before the
// answer does. A crash clears the table; the generation keeps the question from going to the next
// process.
Status WorkerProcess::State::run(RunRequest request) {
  const JobId id = request.id;
  std::uint64_t generation = 0;
  std::optional<Clock::time_point> until;
  {
    const MutexLock hold(mutex_);
    // A process that answers to none answers to nobody who comes after it.
    if (request.patience) {
      until = Clock::now() + (left_count_ > 0 ? std::chrono::milliseconds(0) : *request.patience);
    }
    // Each failed start wakes this.
    while (!stopping_ && phase_ == Phase::kDown && !has_failed()) {
      if (!until) {
        changed_.wait(mutex_);
      } else if (changed_.wait_until(mutex_, *until) == std::cv_status::timeout) {
        return Error{ErrorKind::kUnavailable, "the proving process is being started again"};
      }
    }
    if (stopping_) return Error{ErrorKind::kUnavailable, "the proving process is being stopped"};
    if (phase_ != Phase::kReady) {
      return Error{ErrorKind::kUnavailable,
                   "the proving process cannot be started: " +
                       (failure_ ? failure_->message : std::string("it ends at once"))};
    }
    generation = generation_;
    Job job;
    job.input = std::move(request.input);
    if (!jobs_.try_emplace(id, std::move(job)).second) {
      return Error{ErrorKind::kAlreadyExists, request.name + " is there already"};
    }
  }
  const auto answer = ask(MessageKind::kRun, encode(wire_of(request)), until, generation, id);
  // Lost: crashed() has told of it. Late: take_answer() tells of a refusal.
  if (!answer || answer->is_ok != 0) return base::ok_status();
  const MutexLock hold(mutex_);
  jobs_.erase(id);
  return answer->error;
}

Status WorkerProcess::State::cancel(JobId id) {
  std::shared_ptr<internal::Channel> way;
  {
    const MutexLock hold(mutex_);
    if (jobs_.find(id) == jobs_.end()) {
      return Error{ErrorKind::kNotFound, fmt::format("job {} does not run", id)};
    }
    way = channel_;
  }
  // Where it does not arrive the process is ending, and the crash tells of the job.
  if (way == nullptr) return base::ok_status();
  outbox_->post([way = std::move(way), payload = encode(internal::WirePartition{id})] {
    (void)way->send(MessageKind::kCancel, 0, payload);
  });
  return base::ok_status();
}

std::optional<JobProgress> WorkerProcess::State::progress(JobId id) {
  const MutexLock hold(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return std::nullopt;
  JobProgress progress;
  progress.in_flight = found->second.started;
  for (const PartitionState state : found->second.partitions) {
    ++progress.partitions[static_cast<std::size_t>(state)];
  }
  return progress;
}

Result<std::uint64_t> WorkerProcess::State::ask_about_key(MessageKind kind,
                                                          const std::string& name) {
  auto answer = ask(kind, base::Bytes(name.begin(), name.end()), std::nullopt);
  if (!answer) return Error{ErrorKind::kUnavailable, "the proving process is being restarted"};
  if (answer->is_ok == 0) return std::move(answer->error);
  return answer->number;
}

ExecutorReport WorkerProcess::State::report() {
  const auto answer = ask(MessageKind::kReport, {}, Clock::now() + kReportPatience);
  std::optional<ExecutorReport> fresh;
  if (answer) {
    auto report = internal::decode_report(answer->bytes);
    if (report.ok()) fresh = std::move(report).value();
  }
  const MutexLock hold(mutex_);
  if (fresh) report_ = std::move(*fresh);
  ExecutorReport out = report_;
  out.process_restarts = restart_count_;
  // Figures of the process before, less what cannot be true any more.
  if (phase_ != Phase::kReady) {
    for (DeviceReport& device : out.devices) {
      device.usable = false;
      device.running.clear();
    }
  }
  return out;
}

int WorkerProcess::State::process_id() {
  const MutexLock hold(mutex_);
  return process_id_;
}

void WorkerProcess::State::stop() {
  std::shared_ptr<internal::Channel> way;
  {
    const MutexLock hold(mutex_);
    if (stopping_) {
      while (phase_ != Phase::kStopped) changed_.wait(mutex_);
      return;
    }
    stopping_ = true;
    stop_at_ = Clock::now() + options_.stop_timeout;
    way = channel_;
  }
  changed_.notify_all();
  // Not waited for: a process that hangs reads nothing.
  if (way != nullptr) (void)way->try_send(MessageKind::kStop, 0);
  if (supervisor_.joinable()) supervisor_.join();
  std::vector<JobId> unfinished;
  {
    const MutexLock hold(mutex_);
    for (const auto& [id, job] : jobs_) unfinished.push_back(id);
    jobs_.clear();
  }
  for (const JobId id : unfinished) {
    // After the supervisor's thread has ended, so that no other event of the job follows.
    events_.job_ended(id, Error{ErrorKind::kUnavailable, "the proving process was stopped"}, {});
  }
  const MutexLock hold(mutex_);
  phase_ = Phase::kStopped;
  changed_.notify_all();
}

WorkerProcess::WorkerProcess(std::unique_ptr<State> state) : state_(std::move(state)) {
  CUZK_ASSERT(state_ != nullptr);
}
WorkerProcess::~WorkerProcess() = default;

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(WorkerProcessOptions options,
                                                            ExecutorEvents& events) {
  auto state = std::make_unique<State>(std::move(options), events);
  CUZK_TRY_STATUS(state->start());
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(std::move(state)));
}

Status WorkerProcess::run(RunRequest request) { return state_->run(std::move(request)); }
Status WorkerProcess::cancel(JobId id) { return state_->cancel(id); }
std::optional<JobProgress> WorkerProcess::progress(JobId id) const { return state_->progress(id); }
Result<bool> WorkerProcess::preload(const std::string& key_name) {
  CUZK_TRY(const std::uint64_t was_loaded, state_->ask_about_key(MessageKind::kPreload, key_name));
  return was_loaded != 0;
}
Result<std::uint64_t> WorkerProcess::evict(const std::string& key_name) {
  return state_->ask_about_key(MessageKind::kEvict, key_name);
}
ExecutorReport WorkerProcess::report() const { return state_->report(); }
void WorkerProcess::stop() { state_->stop(); }
void WorkerProcess::set_log_level(base::LogLevel level) { state_->set_log_level(level); }
int WorkerProcess::process_id() const { return state_->process_id(); }

}  // namespace cuzk::engine
