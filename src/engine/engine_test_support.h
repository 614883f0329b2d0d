// What tests of the engine share: a kind of job that needs no proving, and an executor that runs
// it on two threads, slowly, and crashes or refuses when it is told to.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/journal_test_support.h"
#include "hash/sha256.h"

namespace cuzk::engine::testing_support {

using std::chrono::milliseconds;

// A job's input: the number of partitions, milliseconds that each takes, what happens, and bytes
// that make it another job.
enum class StandInEnd : std::uint8_t { kProof, kFailure, kCrash, kHang, kCrashRead };
inline SharedBytes stand_in_input(std::uint8_t partitions, std::uint8_t ms, std::uint64_t seed,
                                  StandInEnd end = StandInEnd::kProof) {
  base::Bytes bytes{partitions, ms, static_cast<std::uint8_t>(end), 0, 0, 0, 0, 0, 0, 0, 0};
  base::store_u64_le(bytes.data() + 3, seed);
  return std::make_shared<const base::Bytes>(std::move(bytes));
}

// The "proof" of a partition, and the result: they follow from the input.
inline base::Bytes stand_in_proof(base::ByteSpan input, std::size_t partition) {
  base::Bytes bytes(input.begin(), input.end());
  bytes.push_back(static_cast<std::uint8_t>(partition));
  const hash::Digest digest = hash::sha256(bytes);
  return {digest.begin(), digest.end()};
}
inline base::Bytes stand_in_result(base::ByteSpan input) {
  base::Bytes out;
  for (std::size_t p = 0; p < input[0]; ++p) {
    const base::Bytes proof = stand_in_proof(input, p);
    out.insert(out.end(), proof.begin(), proof.end());
  }
  return out;
}

// Only what the engine asks before it hands the job on.
class StandInWork final : public JobWork {
 public:
  explicit StandInWork(const base::Bytes& input) : partitions_(input[0]) {
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      partitions_[i] = {static_cast<std::uint32_t>(i), 1 << 20, 1 << 20, 1 << 10};
    }
    key_.name = "stand-in";
    key_.bytes = 1 << 20;
  }
  const std::vector<PartitionPlan>& partitions() const override { return partitions_; }
  const KeySource& key() const override { return key_; }
  std::uint64_t held_bytes() const override { return 64; }
  base::Result<std::unique_ptr<Product>> make_witness(std::size_t, const StageContext&) override {
    return unused();
  }
  base::Result<std::unique_ptr<Product>> start(std::size_t, std::unique_ptr<Product>&,
                                               const StageContext&) override {
    return unused();
  }
  base::Result<base::Bytes> finish(std::size_t, std::unique_ptr<Product>,
                                   const StageContext&) override {
    return unused();
  }
  base::Status recheck(std::size_t, base::ByteSpan, const StageContext&) override {
    return unused();
  }
  base::Result<base::Bytes> assemble(std::span<const base::Bytes>, const StageContext&) override {
    return unused();
  }

 private:
  static base::Error unused() { return {base::ErrorKind::kInternal, "the stand-in has no stages"}; }
  std::vector<PartitionPlan> partitions_;
  KeySource key_;
};

// An input of so many bytes makes its reader throw.
inline constexpr std::size_t kThrowingBytes = 10;

inline std::shared_ptr<const JobTypes> stand_in_types() {
  auto types = std::make_shared<JobTypes>();
  for (const char* name : {"stand-in", "other"}) {
    const base::Status added = types->add(
        {name, "takes its time",
         [](const SharedBytes& input) -> base::Result<std::unique_ptr<JobWork>> {
           if (input->size() == kThrowingBytes) throw std::runtime_error("a reader's own");
           if (input->size() < 11 || (*input)[0] == 0) {
             return base::Error{
                 base::ErrorKind::kMalformed,
                 fmt::format("input: {} bytes, expected 11 and a partition", input->size())};
           }
           return std::unique_ptr<JobWork>(std::make_unique<StandInWork>(*input));
         }});
    CUZK_ASSERT(added.ok());
  }
  return types;
}

// Runs jobs in order of priority, partition after partition.
class StandInExecutor final : public Executor {
 public:
  explicit StandInExecutor(ExecutorEvents& events, std::size_t thread_count = 2) : events_(events) {
    for (std::size_t i = 0; i < thread_count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~StandInExecutor() override { stop(); }

  // What run() answers until it is told otherwise.
  void refuse(std::optional<base::Error> error) {
    const std::lock_guard hold(mutex_);
    refusal_ = std::move(error);
  }
  // What run() does first, until it is told otherwise; may throw.
  void before_run(std::function<void()> call) {
    const std::lock_guard hold(mutex_);
    before_run_ = std::move(call);
  }
  // What cancel() does first, until it is told otherwise.
  void before_cancel(std::function<void()> call) {
    const std::lock_guard hold(mutex_);
    before_cancel_ = std::move(call);
  }
  // Everything is lost; the threads begin anew.
  void crash(const std::string& sentence) {
    const std::lock_guard tell(telling_);
    std::vector<JobId> running;
    {
      const std::lock_guard hold(mutex_);
      for (auto& [id, job] : jobs_) {
        job->dead = true;
        if (job->running) running.push_back(id);
      }
      jobs_.clear();
    }
    events_.crashed(running, sentence);
  }
  std::size_t held_count() const {
    const std::lock_guard hold(mutex_);
    return jobs_.size();
  }
  // Whether one of its threads asks.
  bool is_mine() const {
    return std::any_of(threads_.begin(), threads_.end(), [](const std::thread& thread) {
      return thread.get_id() == std::this_thread::get_id();
    });
  }
  std::uint64_t proved_count() const { return proved_; }
  std::uint64_t run_count() const { return runs_; }
  std::vector<std::string> started() const {
    const std::lock_guard hold(mutex_);
    return started_;
  }
  void pause(bool paused) {
    const std::lock_guard hold(mutex_);
    paused_ = paused;
    wake_.notify_all();
  }
  // Called where a job of kind kCrash or kHang has come to its end.
  void on_trouble(std::function<void(StandInEnd)> trouble) { trouble_ = std::move(trouble); }

  base::Status run(RunRequest request) override {
    ++runs_;
    std::function<void()> first;
    {
      const std::lock_guard hold(mutex_);
      first = before_run_;
    }
    if (first) first();
    // A run is with the life before a crash or with the one after it, as with a process.
    const std::lock_guard tell(telling_);
    const std::lock_guard hold(mutex_);
    if (refusal_) return *refusal_;
    if (stopping_) return base::Error{base::ErrorKind::kUnavailable, "stopping"};
    if (jobs_.count(request.id) != 0) {
      return base::Error{base::ErrorKind::kAlreadyExists, "it is there"};
    }
    auto job = std::make_shared<Job>();
    job->request = std::move(request);
    jobs_.emplace(job->request.id, job);
    wake_.notify_one();
    return base::ok_status();
  }
  base::Status cancel(JobId id) override {
    std::function<void()> first;
    {
      const std::lock_guard hold(mutex_);
      first = before_cancel_;
    }
    if (first) first();
    bool waits = false;
    const std::lock_guard tell(telling_);
    {
      const std::lock_guard hold(mutex_);
      const auto found = jobs_.find(id);
      if (found == jobs_.end()) return base::Error{base::ErrorKind::kNotFound, "no such job"};
      found->second->cancelled = true;
      waits = !found->second->running;
      if (waits) jobs_.erase(found);
    }
    if (waits) events_.job_ended(id, base::Error{base::ErrorKind::kCancelled, "cancelled"}, {});
    return base::ok_status();
  }
  std::optional<JobProgress> progress(JobId id) const override {
    const std::lock_guard hold(mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return std::nullopt;
    JobProgress progress;
    progress.in_flight = found->second->running;
    progress.partitions[static_cast<std::size_t>(PartitionState::kDone)] = found->second->done;
    return progress;
  }
  base::Result<bool> preload(const std::string& key_name) override {
    if (key_name != "stand-in") return base::Error{base::ErrorKind::kNotFound, "no such key"};
    return false;
  }
  base::Result<std::uint64_t> evict(const std::string&) override { return std::uint64_t{7}; }
  ExecutorReport report() const override {
    ExecutorReport report;
    const std::lock_guard hold(mutex_);
    report.counts.queued_jobs = jobs_.size();
    report.budget_bytes = 1 << 30;
    report.devices.push_back({.name = "stand-in", .identifier = "none", .worker_count = 2});
    report.keys.push_back({"stand-in", KeyTier::kWarm, 1 << 20, 1});
    return report;
  }
  void stop() override {
    std::vector<JobId> waiting;
    {
      const std::lock_guard hold(mutex_);
      stopping_ = true;
      for (auto& [id, job] : jobs_) {
        if (!job->running) waiting.push_back(id);
      }
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
    for (const JobId id : waiting) {
      events_.job_ended(id, base::Error{base::ErrorKind::kUnavailable, "stopped"}, {});
    }
  }

 private:
  struct Job {
    RunRequest request;
    bool running = false;
    std::atomic<bool> cancelled{false}, dead{false};
    std::atomic<std::uint32_t> done{0};
  };

  void work() {
    while (true) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock hold(mutex_);
        wake_.wait(hold, [&] { return stopping_ || (!paused_ && next() != nullptr); });
        if (stopping_) return;
        job = next();
        job->running = true;
        started_.push_back(job->request.name);
      }
      const base::Result<base::Bytes> outcome = prove(*job);
      const std::lock_guard tell(telling_);
      {
        const std::lock_guard hold(mutex_);
        if (job->dead) continue;
        jobs_.erase(job->request.id);
      }
      JobTimes times;
      times.total_ms = 5;
      events_.job_ended(job->request.id, outcome, times);
    }
  }
  std::shared_ptr<Job> next() const {
    std::shared_ptr<Job> best;
    for (const auto& [id, job] : jobs_) {
      if (job->running) continue;
      if (best == nullptr || job->request.priority < best->request.priority) best = job;
    }
    return best;
  }
  base::Result<base::Bytes> prove(Job& job) {
    const JobId id = job.request.id;
    CUZK_TRY(const SharedBytes input, job.request.input());
    const auto end = static_cast<StandInEnd>((*input)[2]);
    if (end == StandInEnd::kCrashRead && trouble_) trouble_(end);
    if (!say(job, [&] { events_.job_started(id); })) return dead();
    for (std::size_t p = 0; p < (*input)[0]; ++p) {
      const bool is_kept = p < job.request.finished.size() && !job.request.finished[p].empty();
      if (is_kept && job.request.finished[p] != stand_in_proof(*input, p)) {
        return base::Error{base::ErrorKind::kInternal, "a kept proof is another job's"};
      }
      if (!is_kept) {
        CUZK_TRY_STATUS(prove_one(job, *input, p));
      }
      ++job.done;
    }
    switch (end) {
      case StandInEnd::kFailure: return base::Error{base::ErrorKind::kUnsatisfied, "as asked for"};
      case StandInEnd::kCrash:
      case StandInEnd::kHang:
        if (trouble_) trouble_(static_cast<StandInEnd>((*input)[2]));
        while (!job.dead && !stopping()) std::this_thread::sleep_for(milliseconds(5));
        return dead();
      case StandInEnd::kCrashRead:
      case StandInEnd::kProof: break;
    }
    return stand_in_result(*input);
  }
  base::Status prove_one(Job& job, const base::Bytes& input, std::size_t partition) {
    const JobId id = job.request.id;
    say(job, [&] { events_.partition_moved(id, partition, PartitionState::kDevice, 1, 0); });
    std::this_thread::sleep_for(milliseconds(input[1]));
    if (job.cancelled) return base::Error{base::ErrorKind::kCancelled, "cancelled"};
    if (stopping()) return base::Error{base::ErrorKind::kUnavailable, "stopped"};
    ++proved_;
    const base::Bytes proof = stand_in_proof(input, partition);
    if (!say(job, [&] { events_.partition_proved(id, partition, proof); })) return dead();
    say(job, [&] { events_.partition_moved(id, partition, PartitionState::kDone, 1, 0); });
    return base::ok_status();
  }
  // A crashed executor says no more.
  template <class Call>
  bool say(const Job& job, Call call) {
    const std::lock_guard tell(telling_);
    if (job.dead) return false;
    call();
    return true;
  }
  static base::Error dead() { return {base::ErrorKind::kInternal, "crashed"}; }
  bool stopping() const {
    const std::lock_guard hold(mutex_);
    return stopping_;
  }

  ExecutorEvents& events_;
  // Held while something is told, so that nothing of a life comes after its crash: a real process
  // tells both from one thread. Before mutex_.
  std::mutex telling_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::map<JobId, std::shared_ptr<Job>> jobs_;
  std::vector<std::string> started_;
  std::optional<base::Error> refusal_;
  std::function<void()> before_run_, before_cancel_;
  std::function<void(StandInEnd)> trouble_;
  bool stopping_ = false, paused_ = false;
  std::atomic<std::uint64_t> proved_{0}, runs_{0};
  std::vector<std::thread> threads_;
};

inline EngineOptions engine_options_in(const std::filesystem::path& folder) {
  EngineOptions options;
  options.journal_folder = folder;
  options.journal_reserve_bytes = 64 << 10;
  return options;
}

inline SubmitRequest stand_in_request(std::string request_id, SharedBytes input,
                                      Priority priority = Priority::kNormal) {
  SubmitRequest request;
  request.request_id = std::move(request_id);
  request.kind = "stand-in";
  request.priority = priority;
  request.input = std::move(input);
  return request;
}

// An engine over a stand-in; `executor` stays the engine's.
struct StandInEngine {
  std::unique_ptr<Engine> engine;
  StandInExecutor* executor = nullptr;
};
inline StandInEngine open_stand_in(EngineOptions options, std::size_t thread_count = 2) {
  StandInEngine out;
  auto engine = Engine::open(std::move(options), stand_in_types(), [&](ExecutorEvents& events) {
    auto executor = std::make_unique<StandInExecutor>(events, thread_count);
    out.executor = executor.get();
    return base::Result<std::unique_ptr<Executor>>(std::move(executor));
  });
  if (!engine.ok()) ADD_FAILURE() << engine.error().message;
  out.engine = std::move(engine).value();
  return out;
}

// The end of a job, or a test failure.
inline JobView await_end(Engine& engine, const std::string& request_id,
                         milliseconds timeout = std::chrono::seconds(30)) {
  auto view = engine.await(request_id, timeout);
  if (!view.ok()) {
    ADD_FAILURE() << view.error().message;
    return {};
  }
  if (!view->has_value()) {
    ADD_FAILURE() << request_id << " did not end in time";
    return {};
  }
  return **view;
}

}  // namespace cuzk::engine::testing_support
