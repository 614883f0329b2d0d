// The proving process's side of the socket.
//
// The main thread receives and answers what is quick. Commands that may wait for an input run in
// order on one thread, loading and dropping of keys on another. When the other end is gone there is
// nobody to work for: the process ends at once.
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/engine_notify.h"
#include "engine/worker_process.h"
#include "engine/worker_wire.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::MutexLock;
using base::Result;
using base::Status;

namespace internal {
namespace {

// ok, or the error; what else an answer carries is added by the caller.
WireOutcome outcome_of(const Status& status) {
  WireOutcome outcome;
  if (!status.ok()) {
    outcome.is_ok = 0;
    outcome.error = status.error();
  }
  return outcome;
}

// Numbers beyond the last level mean that one.
void set_log_level(std::uint64_t number) {
  constexpr auto kLast = static_cast<std::uint64_t>(base::LogLevel::kOff);
  base::set_log_level(static_cast<base::LogLevel>(std::min(number, kLast)));
}

// Threads: the main one receives; two CallThreads run what may wait; the executor's events come
// from a thread of its own. All may send. Once it serves, the process ends by _exit() alone, so no
// destructor races with them.
class WorkerServer final : public ExecutorEvents {
 public:
  explicit WorkerServer(int descriptor) : channel_(descriptor) {}

  int serve(const MakeWorker& make);

  void job_started(JobId id) override { tell(MessageKind::kStarted, {.id = id}); }
  void partition_moved(JobId id, std::size_t partition, PartitionState state, std::uint32_t attempt,
                       std::uint32_t device) override {
    tell(MessageKind::kMoved, {id, partition, state, attempt, device, {}});
  }
  void partition_proved(JobId id, std::size_t partition, const base::Bytes& proof) override {
    tell(MessageKind::kProved, {.id = id, .partition = partition, .proof = proof});
  }
  void job_ended(JobId id, Result<base::Bytes> outcome, const JobTimes& times) override {
    WireOutcome wire;
    wire.id = id;
    wire.times = times;
    if (outcome.ok()) {
      wire.bytes = std::move(outcome).value();
    } else {
      wire.is_ok = 0;
      wire.error = std::move(outcome).error();
    }
    send(MessageKind::kEnded, 0, encode(wire));
  }
  // An executor in this process does not outlive its own crash.
  void crashed(const std::vector<JobId>&, const std::string& sentence) override {
    base::log(base::LogLevel::kError, sentence);
    std::abort();
  }

 private:
  // Nothing can be told when the other end is gone: then this process ends.
  void send(MessageKind kind, std::uint64_t call, base::ByteSpan payload) {
    const Status sent = channel_.send(kind, call, payload);
    if (sent.ok()) return;
    base::log(base::LogLevel::kError, "the proving process ends: " + sent.error().message);
    ::_exit(1);
  }
  void tell(MessageKind kind, const WirePartition& partition) { send(kind, 0, encode(partition)); }
  void answer(std::uint64_t call, const WireOutcome& outcome) {
    send(MessageKind::kAnswer, call, encode(outcome));
  }
  // The first messages: levels of the log, then the settings. False where there is nothing to
  // serve; the other end has the reason then, if it is still there.
  bool setup(const MakeWorker& make);
  // Whether to go on.
  bool handle(Message message);
  // The executor's answer to a job, which may take as long as reading its input does.
  void run(std::uint64_t call, base::ByteSpan payload);
  Result<RunRequest> request_of(WireRun wire);
  // Waits for the other end. Called by the executor's threads, several at once.
  Result<SharedBytes> ask_for_input(JobId id) CUZK_EXCLUDES(mutex_);
  void take_input(Message message) CUZK_EXCLUDES(mutex_);

  // A stage that waits for its job's input; on its stack.
  struct Question {
    std::optional<Result<SharedBytes>> answer;
    std::condition_variable_any wake;
  };

  Channel channel_;
  WorkerParts parts_;
  base::Mutex mutex_;
  std::map<std::uint64_t, Question*> questions_ CUZK_GUARDED_BY(mutex_);
  std::uint64_t question_count_ CUZK_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<CallThread> commands_, keys_;
};

bool WorkerServer::setup(const MakeWorker& make) {
  auto first = channel_.receive();
  while (first.ok() && first->has_value() && (*first)->kind == MessageKind::kLogLevel) {
    set_log_level((*first)->call);
    first = channel_.receive();
  }
  if (!first.ok() || !first->has_value() || (*first)->kind != MessageKind::kSetup) return false;
  CUZK_ASSERT(make != nullptr);
  auto parts = make((*first)->payload, *this);
  if (!parts.ok()) {
    answer((*first)->call, outcome_of(parts.error()));
    return false;
  }
  parts_ = std::move(parts).value();
  CUZK_ASSERT(parts_.executor != nullptr);
  commands_ = std::make_unique<CallThread>();
  keys_ = std::make_unique<CallThread>();
  send(MessageKind::kReady, (*first)->call, encode_report(parts_.executor->report()));
  return true;
}

// Ends only by _exit() once it serves: threads of the executor may be anywhere then, and waiting
// for them is what a process that is no longer wanted must not do.
int WorkerServer::serve(const MakeWorker& make) {
  if (!setup(make)) return 1;
  while (true) {
    auto message = channel_.receive();
    if (!message.ok()) {
      base::log(base::LogLevel::kError, message.error().message);
      ::_exit(1);
    }
    if (!message->has_value()) ::_exit(0);  // the threads have nobody to work for
    if (!handle(std::move(**message))) break;
  }
  // Those who wait for an input must not wait for this thread.
  std::thread stopping([this] {
    parts_.executor->stop();
    send(MessageKind::kStopped, 0, {});
    ::_exit(0);
  });
  while (true) {
    auto message = channel_.receive();
    if (!message.ok() || !message->has_value()) ::_exit(0);
    (void)handle(std::move(**message));
  }
}

// What is quick is done here; what may wait goes to a thread, so that a ping is always answered. A
// process that answers none is taken for one that hangs.
bool WorkerServer::handle(Message message) {
  const std::uint64_t call = message.call;
  const auto text = [&] { return std::string(message.payload.begin(), message.payload.end()); };
  switch (message.kind) {
    case MessageKind::kStop: return false;
    case MessageKind::kLogLevel: set_log_level(call); return true;
    case MessageKind::kInput:
    case MessageKind::kNoInput: take_input(std::move(message)); return true;
    case MessageKind::kPing:
    case MessageKind::kReport: {
      WireOutcome outcome;
      outcome.bytes = encode_report(parts_.executor->report());
      answer(call, outcome);
      return true;
    }
    case MessageKind::kRun:
      // In order on one thread, so a cancel cannot pass the run that it belongs to.
      commands_->post([this, call, payload = std::move(message.payload)] { run(call, payload); });
      return true;
    case MessageKind::kCancel: {
      const auto wire = decode<WirePartition>(message.payload);
      if (wire.ok()) commands_->post([this, id = wire->id] { (void)parts_.executor->cancel(id); });
      return true;
    }
    case MessageKind::kPreload:
      keys_->post([this, call, name = text()] {
        const auto loaded = parts_.executor->preload(name);
        WireOutcome outcome = loaded.ok() ? WireOutcome{} : outcome_of(loaded.error());
        if (loaded.ok()) outcome.number = *loaded ? 1 : 0;
        answer(call, outcome);
      });
      return true;
    case MessageKind::kEvict:
      keys_->post([this, call, name = text()] {
        const auto freed = parts_.executor->evict(name);
        WireOutcome outcome = freed.ok() ? WireOutcome{} : outcome_of(freed.error());
        if (freed.ok()) outcome.number = *freed;
        answer(call, outcome);
      });
      return true;
    // Of a newer or confused other end: it asks again or ends us.
    default: return true;
  }
}

void WorkerServer::run(std::uint64_t call, base::ByteSpan payload) {
  auto wire = decode<WireRun>(payload);
  auto request =
      wire.ok() ? request_of(std::move(wire).value()) : Result<RunRequest>(std::move(wire).error());
  // A request that cannot be read is the same to the other end as one that is refused.
  answer(call, outcome_of(request.ok() ? parts_.executor->run(std::move(request).value())
                                       : Status(std::move(request).error())));
}

// The same request that the engine made, with an input that comes over the socket.
Result<RunRequest> WorkerServer::request_of(WireRun wire) {
  RunRequest request;
  request.id = wire.id;
  request.name = std::move(wire.name);
  request.kind = std::move(wire.kind);
  request.priority = wire.priority;
  if (wire.has_deadline != 0) request.deadline_ms = wire.deadline_ms;
  request.finished = std::move(wire.finished);
  request.input = [this, id = wire.id] { return ask_for_input(id); };
  if (wire.has_plan != 0 && parts_.types != nullptr) {
    // The plan's numbers travel, its key's functions are this process's own; where the key has no
    // name here, the job is read to know it.
    auto key = parts_.types->find_key(wire.plan.key.name);
    if (key.ok() && key->bytes == wire.plan.key.bytes) {
      request.plan = std::move(wire.plan);
      request.plan->key = std::move(key).value();
    }
  }
  return request;
}

Result<SharedBytes> WorkerServer::ask_for_input(JobId id) {
  Question question;
  std::uint64_t number = 0;
  {
    const MutexLock hold(mutex_);
    number = ++question_count_;
    questions_.emplace(number, &question);
  }
  // Put down first: the main thread may have the answer before this one waits.
  send(MessageKind::kNeedInput, number, encode(WirePartition{.id = id}));
  const MutexLock hold(mutex_);
  // No time limit: the other end answers each question, or is gone, and this process with it.
  while (!question.answer) question.wake.wait(mutex_);
  questions_.erase(number);
  return std::move(*question.answer);
}

void WorkerServer::take_input(Message message) {
  std::optional<Result<SharedBytes>> answer;
  if (message.kind == MessageKind::kInput) {
    answer.emplace(std::make_shared<const base::Bytes>(std::move(message.payload)));
  } else {
    auto outcome = decode<WireOutcome>(message.payload);
    answer.emplace(outcome.ok() ? std::move(outcome->error) : std::move(outcome).error());
  }
  // The bytes were shared before the lock, which is then held for a moment only.
  const MutexLock hold(mutex_);
  const auto found = questions_.find(message.call);
  if (found == questions_.end()) return;
  CUZK_ASSERT(found->second != nullptr);
  found->second->answer = std::move(answer);
  found->second->wake.notify_one();
}

}  // namespace
}  // namespace internal

int serve_worker(int descriptor, const MakeWorker& make) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  // Ends with the process that started it, however that ends; until this holds, and where the
  // thread that started it ends first, the closed socket says the same.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // When memory runs out, this process is the one to go: it can be started again.
  std::ofstream("/proc/self/oom_score_adj") << 500;
  return internal::WorkerServer(descriptor).serve(make);
}

}  // namespace cuzk::engine
