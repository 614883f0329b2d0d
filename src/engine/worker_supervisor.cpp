// The life of one proving process after the other.
//
// One thread makes the process, listens to socket and standard error together, looks at the clock a
// few times a second, and collects it. All that goes wrong (an end, silence, nonsense, a stop that
// takes too long) leads to one place: the process is killed if it still lives, its last words are
// read, and the engine is told which jobs ran.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/worker_process_state.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::LogLevel;
using base::MutexLock;
using internal::ChildProcess;
using internal::Message;
using internal::MessageKind;
using internal::WireOutcome;
using internal::WirePartition;

namespace {

// How late a silence, a stop or a changed log level may be noticed.
constexpr std::chrono::milliseconds kLookInterval(200);
// A line that has no end by then is told in pieces: what crashes may write anything.
constexpr std::size_t kLineBytesMax = 4096;

// The levels that our own log writes in front of its lines; what libraries write has none.
LogLevel level_of(const std::string& line) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    if (line.starts_with(std::string(base::to_string(level)) + ": ")) return level;
  }
  return LogLevel::kWarning;
}

}  // namespace

// The only loop over lives. A first process that does not come up ends it, for start() waits for
// that one and says why; later ones are tried for as long as the engine wants.
void WorkerProcess::State::supervise() {
  while (true) {
    mourn(live_and_die());
    {
      const MutexLock hold(mutex_);
      if (stopping_ || !was_ready_) return;  // the first one must be well
      ++restart_count_;
    }
    pause();
  }
}

// One process from its start to its end; returns why it ended, in words for the log and for its
// jobs. The channel is this life's own: a word that is still on its way when the process dies
// cannot reach the next one.
std::string WorkerProcess::State::live_and_die() {
  auto pair = internal::Channel::make_pair();
  if (!pair.ok()) return pair.error().message;
  const std::shared_ptr<internal::Channel> channel = std::move(pair->first);
  auto child = ChildProcess::start(options_.command, pair->second);
  if (!child.ok()) return child.error().message;
  {
    const MutexLock hold(mutex_);
    channel_ = channel;
    process_id_ = (*child)->id();
    ++generation_;
    ready_at_.reset();
    failure_.reset();
    heard_at_ = Clock::now();
  }
  asked_at_ = Clock::now();
  log_rest_.clear();
  last_line_.clear();
  told_level_ = log_level_.load();
  (void)channel->send(MessageKind::kLogLevel, static_cast<std::uint64_t>(told_level_), {});
  std::string reason = channel->send(MessageKind::kSetup, 0, options_.setup).ok()
                           ? listen(**child, *channel)
                           : std::string();
  // Dead in every case before the next one begins, so that no two ever share the machine.
  (*child)->kill();
  read_log(**child);
  const std::string end = (*child)->collect();
  read_log(**child);  // its last words
  if (!log_rest_.empty()) log_line(std::exchange(log_rest_, {}));
  if (reason.empty()) reason = end;
  return "the proving process " + reason +
         (last_line_.empty() ? "" : fmt::format("; its last words: {}", last_line_));
}

// Empty where the process ended by itself or as it was asked to; else what it is ended for. Its log
// is read before its messages: the last lines before an end explain it.
std::string WorkerProcess::State::listen(ChildProcess& child, internal::Channel& channel) {
  while (true) {
    pollfd ends[2] = {{channel.descriptor(), POLLIN, 0}, {child.error_output(), POLLIN, 0}};
    const int ready = ::poll(ends, 2, static_cast<int>(kLookInterval.count()));
    if (ready < 0 && errno != EINTR) return "cannot be listened to";
    if (ready > 0 && ends[1].revents != 0) read_log(child);
    if (ready > 0 && ends[0].revents != 0) {
      auto message = channel.receive();
      if (!message.ok()) return "was ended: " + message.error().message;
      if (!message->has_value()) return {};  // collect() says how
      if ((*message)->kind == MessageKind::kStopped) return {};
      const MessageKind kind = (*message)->kind;
      if (!handle(channel, std::move(**message))) {
        return fmt::format("was ended: its message of kind {} makes no sense",
                           static_cast<int>(kind));
      }
    }
    if (auto reason = check_time(channel)) return *reason;
    tell_log_level(channel);
  }
}

// Only this thread tells it, so that the last one counts; where there is no room, the next turn.
void WorkerProcess::State::tell_log_level(internal::Channel& channel) {
  const LogLevel level = log_level_.load();
  if (level == told_level_) return;
  if (channel.try_send(MessageKind::kLogLevel, static_cast<std::uint64_t>(level))) {
    told_level_ = level;
  }
}

// Pings are sent only while it is ready; before that it opens devices and reads keys, and has a
// patience of its own for that. While it stops, each ping is the request to stop once more.
std::optional<std::string> WorkerProcess::State::check_time(internal::Channel& channel) {
  const auto now = Clock::now();
  bool is_ready = false, is_stopping = false;
  {
    const MutexLock hold(mutex_);
    is_stopping = stopping_;
    is_ready = phase_ == Phase::kReady;
    const auto patience = is_ready ? options_.heartbeat_timeout : options_.start_timeout;
    if (now - heard_at_ > patience) {
      return fmt::format("was ended: it gave no sign of life for {} s",
                         std::chrono::duration_cast<std::chrono::seconds>(patience).count());
    }
    if (stopping_ && now > stop_at_) return "was ended: it did not stop in time";
  }
  const auto interval = is_stopping ? kLookInterval : options_.heartbeat_interval;
  if (is_ready && now - asked_at_ >= interval) {
    asked_at_ = now;
    // Where the socket is full the next turn tries again: that is no sign of life either.
    (void)channel.try_send(is_stopping ? MessageKind::kStop : MessageKind::kPing, 0);
  }
  return std::nullopt;
}

// False: the message makes no sense, and who sent it is not to be trusted with the next one. Both
// ends are one program, so that is memory gone bad or a descriptor that somebody else writes to.
bool WorkerProcess::State::handle(internal::Channel& channel, Message message) {
  switch (message.kind) {
    case MessageKind::kReady: {
      bool stop_it = false, is_restart = false;
      std::uint32_t failed_starts = 0;
      auto report = internal::decode_report(message.payload);
      if (!report.ok()) return false;
      {
        const MutexLock hold(mutex_);
        report_ = std::move(report).value();
        phase_ = Phase::kReady;
        is_restart = std::exchange(was_ready_, true);
        failed_starts = std::exchange(failed_starts_, 0);
        ready_at_ = heard_at_ = Clock::now();
        stop_it = stopping_;
      }
      changed_.notify_all();
      if (is_restart) tell_good_start(failed_starts);
      return !stop_it || channel.try_send(MessageKind::kStop, 0);
    }
    case MessageKind::kAnswer: return handle_answer(message);
    case MessageKind::kEnded: return handle_end(message);
    case MessageKind::kNeedInput: return send_input(message);
    case MessageKind::kStarted:
    case MessageKind::kMoved:
    case MessageKind::kProved: return handle_event(message);
    default: return false;
  }
}

// Call 0 is nobody's question: a heartbeat with its report, or, as an error, the reason why the
// process cannot begin.
bool WorkerProcess::State::handle_answer(const Message& message) {
  auto outcome = internal::decode<WireOutcome>(message.payload);
  if (!outcome.ok()) return false;
  std::optional<ExecutorReport> report;
  if (message.call == 0 && outcome->is_ok != 0) {  // a heartbeat
    auto decoded = internal::decode_report(outcome->bytes);
    if (!decoded.ok()) return false;
    report = std::move(decoded).value();
  }
  {
    const MutexLock hold(mutex_);
    heard_at_ = Clock::now();
    if (report) {
      report_ = std::move(*report);
      return true;
    }
    if (message.call == 0) {  // it cannot begin
      failure_ = std::move(outcome->error);
      return true;
    }
  }
  take_answer(message.call, std::move(outcome).value());
  return true;
}

// Who asked may have left (its patience was over) and the job with it stays: then the answer
// decides here what it would have decided there, and a refusal ends the job.
void WorkerProcess::State::take_answer(std::uint64_t call, WireOutcome outcome) {
  std::optional<JobId> refused;
  {
    const MutexLock hold(mutex_);
    const auto found = questions_.find(call);
    if (found == questions_.end()) return;  // nobody waits any more
    Question& question = *found->second;
    if (question.run_of) {  // it was read where it had to be, and waits in the queue
      const auto job = jobs_.find(*question.run_of);
      if (job != jobs_.end()) job->second.reading = false;
    }
    if (!question.left) {
      question.answer = std::move(outcome);
      question.wake.notify_all();
      return;
    }
    --left_count_;
    const bool is_taken = outcome.is_ok != 0 || outcome.error.kind == ErrorKind::kAlreadyExists;
    if (!is_taken && jobs_.erase(*question.run_of) != 0) refused = question.run_of;
    questions_.erase(found);
  }
  if (refused) events_.job_ended(*refused, std::move(outcome.error), {});
}

// Numbers are checked against the most that there can be before anything grows by them. An event of
// a job that is gone is late and no fault. The engine is told without the lock, since it may call
// back.
bool WorkerProcess::State::handle_event(const Message& message) {
  const auto wire = internal::decode<WirePartition>(message.payload);
  const bool is_known = wire.ok() && static_cast<std::size_t>(wire->state) < kPartitionStateCount &&
                        wire->partition < kPartitionCountMax;
  if (!is_known) return false;
  {
    const MutexLock hold(mutex_);
    const auto found = jobs_.find(wire->id);
    if (found == jobs_.end()) return true;
    Job& job = found->second;
    job.started = true;
    if (message.kind == MessageKind::kMoved) {
      if (job.partitions.size() <= wire->partition) {
        job.partitions.resize(static_cast<std::size_t>(wire->partition) + 1);
      }
      job.partitions[static_cast<std::size_t>(wire->partition)] = wire->state;
    }
  }
  const auto partition = static_cast<std::size_t>(wire->partition);
  if (message.kind == MessageKind::kStarted) {
    events_.job_started(wire->id);
  } else if (message.kind == MessageKind::kMoved) {
    events_.partition_moved(wire->id, partition, wire->state, wire->attempt, wire->device);
  } else {
    events_.partition_proved(wire->id, partition, wire->proof);
  }
  return true;
}

// The job is out of the table before the engine hears of its end, and so before whatever that makes
// it ask next.
bool WorkerProcess::State::handle_end(const Message& message) {
  auto outcome = internal::decode<WireOutcome>(message.payload);
  if (!outcome.ok()) return false;
  {
    const MutexLock hold(mutex_);
    if (jobs_.erase(outcome->id) == 0) return true;
  }
  auto result = outcome->is_ok != 0 ? base::Result<base::Bytes>(std::move(outcome->bytes))
                                    : base::Result<base::Bytes>(std::move(outcome->error));
  events_.job_ended(outcome->id, std::move(result), outcome->times);
  return true;
}

// An input may be a gigabyte read from disk, so it goes by a thread of its own: this one has to
// hear the process meanwhile, or it would be taken for dead. The way is held by the task; where the
// process has died by then, sending fails and nobody minds.
bool WorkerProcess::State::send_input(const Message& message) {
  const auto wire = internal::decode<WirePartition>(message.payload);
  if (!wire.ok()) return false;
  std::function<base::Result<SharedBytes>()> input;
  std::shared_ptr<internal::Channel> way;
  {
    const MutexLock hold(mutex_);
    const auto found = jobs_.find(wire->id);
    if (found != jobs_.end()) {
      input = found->second.input;
      found->second.reading = true;
    }
    way = channel_;
  }
  inputs_->post([input = std::move(input), way, call = message.call] {
    auto bytes =
        input ? input() : base::Result<SharedBytes>(Error{ErrorKind::kNotFound, "no such job"});
    base::Status sent =
        bytes.ok() ? way->send(MessageKind::kInput, call, **bytes) : base::Status(bytes.error());
    if (sent.ok()) return;
    WireOutcome outcome;
    outcome.is_ok = 0;
    outcome.error = std::move(sent).error();
    (void)way->send(MessageKind::kNoInput, call, encode(outcome));
  });
  return true;
}

// All that is there now; the descriptor does not block.
void WorkerProcess::State::read_log(ChildProcess& child) {
  char bytes[4096];
  while (true) {
    const ssize_t count = ::read(child.error_output(), bytes, sizeof bytes);
    if (count <= 0) return;
    log_rest_.append(bytes, static_cast<std::size_t>(count));
    std::size_t end = 0;
    while ((end = log_rest_.find('\n')) != std::string::npos) {
      log_line(log_rest_.substr(0, end));
      log_rest_.erase(0, end + 1);
    }
    if (log_rest_.size() > kLineBytesMax) log_line(std::exchange(log_rest_, {}));
  }
}

// The last line that warned is kept: it goes with the reason of the end, for what ends a process
// (an assertion, the allocator, a driver) says so there and nowhere else.
void WorkerProcess::State::log_line(std::string line) {
  constexpr std::size_t kLastWordsMax = 300;
  const LogLevel level = level_of(line);
  if (level >= LogLevel::kWarning && line.find_first_not_of(" \t\r") != std::string::npos) {
    last_line_ = line.substr(0, kLastWordsMax);
  }
  base::log(level, "proving process: " + std::move(line));
}

// The process is gone: tells the engine, then those who wait for answers.
void WorkerProcess::State::mourn(const std::string& reason) {
  std::vector<JobId> running;
  bool is_crash = false;
  std::optional<std::string> failed_start;
  {
    const MutexLock hold(mutex_);
    is_crash = phase_ == Phase::kReady && !stopping_;
    if (phase_ == Phase::kReady) down_since_ = Clock::now();
    if (!stopping_ && phase_ != Phase::kReady) {
      ++failed_starts_;
      if (!failure_) failure_ = Error{ErrorKind::kUnavailable, reason};
      if (was_ready_) failed_start = failure_->message;  // else start() says so
    }
    phase_ = Phase::kDown;
    channel_.reset();
    process_id_ = 0;
    const bool is_young = !ready_at_ || Clock::now() - *ready_at_ < options_.young;
    young_deaths_ = is_young ? young_deaths_ + 1 : 0;
    if (!stopping_) {
      for (const auto& [id, job] : jobs_) {
        if (job.started || job.reading) running.push_back(id);
      }
      jobs_.clear();
    }
    std::erase_if(questions_, [](const auto& item) { return item.second->left; });
    left_count_ = 0;
  }
  if (failed_start) tell_failed_start(*failed_start);
  if (is_crash) events_.crashed(running, reason);
  {
    const MutexLock hold(mutex_);
    for (const auto& [number, question] : questions_) {
      question->lost = true;
      question->wake.notify_all();
    }
    questions_.clear();
    left_count_ = 0;  // of those who left meanwhile
  }
  changed_.notify_all();
}

// A reason whose numbers alone change (bytes that are free, a process id) is the same one.
void WorkerProcess::State::tell_failed_start(const std::string& reason) {
  std::string words = reason;
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  if (words == told_failure_) return;
  told_failure_ = std::move(words);
  base::log(LogLevel::kError,
            "a start of the proving process failed, the next ones are tried while the jobs wait: " +
                reason);
}

void WorkerProcess::State::tell_good_start(std::uint32_t failed_starts) {
  told_failure_.clear();
  base::log(LogLevel::kInfo,
            failed_starts == 0
                ? std::string("the proving process was started again and is ready")
                : fmt::format("the proving process works again; starts that failed meanwhile: {}",
                              failed_starts));
}

// Only for lives that were short, one after the other: a process that dies at once would else take
// all of the machine by being started. The first restart is immediate.
void WorkerProcess::State::pause() {
  constexpr std::uint32_t kDoublingsMax = 20;
  const MutexLock hold(mutex_);
  if (young_deaths_ < 2) return;
  const std::uint32_t doublings = std::min(young_deaths_ - 2, kDoublingsMax);
  const std::chrono::milliseconds doubled = options_.pause_min * (1LL << doublings);
  const auto until = Clock::now() + std::min(options_.pause_max, doubled);
  while (!stopping_ && Clock::now() < until) (void)changed_.wait_until(mutex_, until);
}

}  // namespace cuzk::engine
