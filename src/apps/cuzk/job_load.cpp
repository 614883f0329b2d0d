// Load on a daemon. With a rate the schedule is fixed beforehand and latency counts from the
// planned moment, so that a daemon that stalls is not spared the jobs that it kept from being sent.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/cuzk/job_client.h"
#include "apps/cuzk/load_mix.h"
#include "apps/cuzk/load_summary.h"
#include "service/config_duration.h"

namespace cuzk::apps {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

constexpr double kMsPerSecond = 1000;

// Times of this file: moments of the steady clock, differences in milliseconds.
double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count() * kMsPerSecond;
}

Clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Problems are counted by kind: sentences with ids in them would all be different.
std::string problem_of(const base::Error& error) {
  return std::string(base::to_string(error.kind));
}

// Sleeps until `due`; false when `stop` was asked for first. A plain sleep would hold the end of a
// run, and Ctrl-C, for as long as an interval or the time between two jobs.
bool sleep_until(Clock::time_point due, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  return !asked.wait_until(lock, stop, due, [&stop] { return stop.stop_requested(); });
}

// Asks for the status at fixed moments, over a connection of its own. One question at a time: those
// whose moment passes meanwhile are left out.
class StatusProbe {
 public:
  StatusProbe(service::Client& client, Clock::duration interval)
      : thread_([this, &client, interval](const std::stop_token& stop) {
          auto due = Clock::now();
          while (sleep_until(due, stop)) {
            const auto status = client.status();
            note(status, ms_between(due, Clock::now()));
            due = std::max(due + interval, Clock::now());
          }
        }) {}

  // Call once. A question that is under way is waited for.
  LoadSurroundings stop() {
    CUZK_ASSERT(thread_.joinable());
    thread_.request_stop();
    thread_.join();
    return seen_;
  }

 private:
  // Called by the probe's thread alone; stop() reads only after it has ended.
  void note(const base::Result<ordered_json>& status, double ms) {
    if (!status.ok()) {
      ++seen_.status_failed;
      return;
    }
    seen_.status_ms.push_back(ms);
    const std::uint64_t rss =
        status->value("memory", ordered_json::object()).value("daemon_rss_bytes", std::uint64_t{0});
    if (seen_.status_ms.size() == 1) seen_.rss_first_bytes = rss;
    seen_.rss_max_bytes = std::max(seen_.rss_max_bytes, rss);
    seen_.rss_last_bytes = rss;
  }

  LoadSurroundings seen_;
  std::jthread thread_;
};

// What all senders share: the schedule, the samples, the places of those awaited. One run() each.
// With a rate a sender only submits, and answers come on threads of the client's library; without
// one it waits for its own job. `mutex_` guards what both sides write; the rest is constant once
// the senders have started. The client dies first, so that no answer comes to a run that is gone.
class Run {
 public:
  Run(const LoadFlags& flags, std::vector<LoadShare> mix, std::optional<Clock::duration> duration,
      std::unique_ptr<service::Client> client, Session& session)
      : flags_(flags),
        mix_(std::move(mix)),
        duration_(duration),
        session_(session),
        client_(std::move(client)) {
    CUZK_ASSERT(!mix_.empty());
    CUZK_ASSERT(flags.concurrency > 0);  // the parser's range; else nobody would send
    std::vector<double> weights;
    for (const LoadShare& share : mix_) weights.push_back(share.weight);
    pick_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
  }

  std::vector<LoadSample> run(LoadSurroundings& around) {
    session_.progress().begin_stage("load", duration_ ? 0 : flags_.count);
    // begin_ is the moment of the run's making: the first job is due at once.
    std::vector<std::jthread> senders;
    for (std::uint32_t i = 0; i < flags_.concurrency; ++i) senders.emplace_back([this] { send(); });
    senders.clear();  // joins
    around.sending_s = ms_between(begin_, Clock::now()) / kMsPerSecond;
    wait_for_open();
    client_.reset();  // ends what is still open, which adds its samples
    around.awaits_open_max = open_max_;
    CUZK_ASSERT(samples_.size() <= given_);  // a turn gives one sample at most
    return std::move(samples_);
  }

 private:
  // The number of the next job and when it is due; nothing when all are given out.
  struct Turn {
    std::uint64_t number;
    std::size_t share;
    Clock::time_point due;
  };
  std::optional<Turn> next() {
    const std::lock_guard lock(mutex_);
    Clock::time_point due = Clock::now();
    if (flags_.rate > 0) due = begin_ + seconds_of(static_cast<double>(given_) / flags_.rate);
    const bool over = duration_ ? due - begin_ >= *duration_ : given_ >= flags_.count;
    if (over || stopped()) return std::nullopt;
    return Turn{given_++, pick_(random_), due};
  }
  // Looked at between jobs; what is being sent is sent.
  bool stopped() const { return session_.stop_token().stop_requested(); }

  void send() {
    while (const auto turn = next()) {
      if (!sleep_until(turn->due, session_.stop_token())) return;
      one(*turn);
    }
  }

  // One job from its submission to its sample, or to the call that will add it.
  void one(const Turn& turn) {
    CUZK_ASSERT(turn.share < mix_.size());
    PreparedJob job = mix_[turn.share].job;
    // Ids that no other run has: a daemon would join equal ones to what it has proved already.
    const std::string id = fmt::format("load-{}-{:x}-{}", ::getpid(), nonce_, turn.number);
    (job.circuit ? job.circuit->request_id : job.proof->request_id) = id;
    LoadSample sample;
    CUZK_ASSERT(job.circuit.has_value() != job.proof.has_value());
    const auto begin = Clock::now();
    const auto sent = send_job(*client_, job);
    if (!sent.ok()) {
      sample.problem = problem_of(sent.error());
      return add(std::move(sample));
    }
    sample.submit_ms = ms_between(begin, Clock::now());
    if (flags_.rate == 0) {
      const auto awaited = client_->await(id, std::nullopt, session_.stop_token());
      return add(ended(std::move(sample), turn.due, awaited));
    }
    if (!open()) {
      sample.unawaited = true;
      return add(std::move(sample));
    }
    client_->await_then(id, [this, sample, due = turn.due](const auto& awaited) {
      add(ended(sample, due, awaited));
      const std::lock_guard lock(mutex_);
      CUZK_ASSERT(open_count_ > 0);
      --open_count_;
      changed_.notify_all();
    });
  }

  // The sample of a job whose waiting ended, with its latency from `due`, not from the submission.
  LoadSample ended(LoadSample sample, Clock::time_point due,
                   const base::Result<service::Client::Awaited>& awaited) const {
    sample.latency_ms = ms_between(due, Clock::now());
    if (!awaited.ok()) {
      sample.unawaited = leaving_;
      sample.problem = problem_of(awaited.error());
      return sample;
    }
    const std::string state = awaited->job.value("state", std::string());
    sample.completed = state == "completed";
    if (!sample.completed) sample.problem = state;
    return sample;
  }

  // A place among those that are awaited.
  bool open() {
    const std::lock_guard lock(mutex_);
    if (open_count_ >= flags_.awaits) return false;
    open_max_ = std::max<std::uint64_t>(open_max_, ++open_count_);
    return true;
  }

  // The end of a run with a rate: until all are answered, unless they may stay open or a stop was
  // asked for. Those left are then counted as not awaited and not as failures.
  void wait_for_open() {
    constexpr auto kLookAgain = std::chrono::milliseconds(100);  // for Ctrl-C
    std::unique_lock lock(mutex_);
    while (open_count_ > 0 && !flags_.leave_open && !stopped()) {
      changed_.wait_for(lock, kLookAgain);
    }
    leaving_ = true;
  }

  void add(LoadSample sample) {
    session_.progress().advance(1);
    const std::lock_guard lock(mutex_);
    samples_.push_back(std::move(sample));
  }

  const LoadFlags& flags_;
  const std::vector<LoadShare> mix_;
  const std::optional<Clock::duration> duration_;
  Session& session_;
  const Clock::time_point begin_ = Clock::now();
  const std::uint32_t nonce_ = std::random_device()();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t given_ = 0, open_count_ = 0, open_max_ = 0;
  std::atomic<bool> leaving_ = false;
  std::mt19937_64 random_{1};
  std::discrete_distribution<std::size_t> pick_;
  std::vector<LoadSample> samples_;
  std::unique_ptr<service::Client> client_;
};

// Nothing for an empty text or "0". Error with the flag's name.
base::Result<std::optional<Clock::duration>> duration_of(const std::string& text,
                                                         const char* flag) {
  if (text.empty() || text == "0") return std::optional<Clock::duration>();
  const auto parsed = service::parse_duration(text);
  if (!parsed.ok()) return base::Error(parsed.error()).within(flag);
  return std::optional<Clock::duration>(*parsed);
}

}  // namespace

// Two connections: one for the load, one that first finds out whether a daemon is there and then
// asks for the status.
base::Result<Answer> bench_load(const LoadFlags& flags, Session& session) {
  std::vector<LoadShare> mix;
  for (const std::string& text : flags.mix) {
    CUZK_TRY(LoadShare share, parse_load_share(text));
    mix.push_back(std::move(share));
  }
  CUZK_TRY(const auto duration, duration_of(flags.duration, "--duration"));
  CUZK_TRY(const auto interval, duration_of(flags.status_interval, "--status-interval"));
  CUZK_TRY(auto client, make_client(flags.client));
  CUZK_TRY(const auto watcher, make_client(flags.client));
  CUZK_TRY(const auto status, watcher->status());  // a daemon that is not there is one error
  // Of its own connection: answers to status must not stand behind submissions in a stream.
  std::optional<StatusProbe> probe;
  if (interval) probe.emplace(*watcher, *interval);
  LoadSurroundings around;
  Run run(flags, std::move(mix), duration, std::move(client), session);
  LoadSurroundings sent;
  const auto samples = run.run(sent);
  if (probe) around = probe->stop();
  around.sending_s = sent.sending_s;
  around.awaits_open_max = sent.awaits_open_max;
  around.elapsed_s = session.elapsed_s();
  return load_answer(samples, around);
}

}  // namespace cuzk::apps
