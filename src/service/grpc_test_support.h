// A daemon for tests: a real engine and real sockets over an executor that follows a script.
//
// What a job does stands in the bytes of its input; what comes of it follows from them, so a test
// knows every field of every reply before it asks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/engine_test_support.h"
#include "hash/sha256.h"
#include "service/grpc_door.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::service::testing_support {

using engine::JobId;

// First byte of an input: partitions. Second: milliseconds each. Third: the end. The rest tells
// jobs apart.
enum class End : std::uint8_t { kProof, kFailure, kHold };  // kHold: until released or cancelled
inline base::Bytes script(std::uint8_t partitions, std::uint8_t ms, End end, std::uint64_t seed) {
  base::Bytes bytes{partitions, ms, static_cast<std::uint8_t>(end), 0, 0, 0, 0, 0, 0, 0, 0};
  base::store_u64_le(bytes.data() + 3, seed);
  return bytes;
}
inline base::Bytes proof_of(base::ByteSpan input) {
  return engine::testing_support::stand_in_result(input);
}
inline engine::JobTimes times_of(base::ByteSpan input) {
  const std::uint64_t seed = base::load_u64_le(input.data() + 3) % 1000;
  return {.queue_wait_ms = seed + 1,
          .key_load_ms = seed + 2,
          .witness_ms = seed + 3,
          .device_ms = seed + 4,
          .finish_ms = seed + 5,
          .total_ms = seed + 6};
}
inline constexpr const char* kFailureSentence = "the script wants this job to fail \xC3\xA9";

class ScriptedExecutor final : public engine::Executor {
 public:
  ScriptedExecutor(engine::ExecutorEvents& events, std::size_t thread_count) : events_(events) {
    working_on_.resize(thread_count);
    for (std::size_t i = 0; i < thread_count; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~ScriptedExecutor() override { stop(); }

  void release_held() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  void set_devices_usable(bool usable) { usable_ = usable; }
  // How long each preload takes.
  void set_preload_ms(unsigned ms) { preload_ms_ = ms; }

  base::Status run(engine::RunRequest request) override {
    const std::lock_guard lock(mutex_);
    if (!usable_) return base::Error{base::ErrorKind::kUnavailable, "no device is left"};
    queue_.push_back(std::move(request));
    changed_.notify_all();
    return base::ok_status();
  }
  base::Status cancel(JobId id) override {
    bool waits = false;
    {
      const std::lock_guard lock(mutex_);
      for (auto at = queue_.begin(); at != queue_.end(); ++at) {
        if (at->id != id) continue;
        queue_.erase(at);
        waits = true;
        break;
      }
      if (!waits) {
        cancelled_.insert(id);
        changed_.notify_all();
      }
    }
    if (waits) events_.job_ended(id, base::Error{base::ErrorKind::kCancelled, "cancelled"}, {});
    return base::ok_status();
  }
  std::optional<engine::JobProgress> progress(JobId) const override {
    engine::JobProgress progress;
    progress.partitions[static_cast<std::size_t>(engine::PartitionState::kWitness)] = 1;
    progress.partitions[static_cast<std::size_t>(engine::PartitionState::kDone)] = 2;
    return progress;
  }
  base::Result<bool> preload(const std::string& name) override {
    if (name == "no-room") return base::Error{base::ErrorKind::kResourceExhausted, "no room"};
    if (name != "porep-2k") return base::Error{base::ErrorKind::kNotFound, "no key " + name};
    std::this_thread::sleep_for(std::chrono::milliseconds(preload_ms_));
    return loaded_.exchange(true);
  }
  base::Result<std::uint64_t> evict(const std::string& name) override {
    if (name == "in-use") return base::Error{base::ErrorKind::kUnavailable, "in use"};
    if (name != "porep-2k") return base::Error{base::ErrorKind::kNotFound, "no key " + name};
    return loaded_.exchange(false) ? std::uint64_t{4096} : std::uint64_t{0};
  }
  engine::ExecutorReport report() const override;
  void stop() override;

 private:
  void work(std::size_t worker);
  base::Result<base::Bytes> prove(const engine::RunRequest& request, base::ByteSpan input);
  bool cancelled(JobId id) const { return cancelled_.count(id) > 0; }

  engine::ExecutorEvents& events_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<engine::RunRequest> queue_;
  std::set<JobId> cancelled_;
  std::vector<JobId> working_on_;  // 0: idle
  bool released_ = false, stopping_ = false;
  std::atomic<bool> usable_ = true, loaded_ = false;
  std::atomic<unsigned> preload_ms_ = 0;
  std::vector<std::thread> threads_;
};

inline engine::ExecutorReport ScriptedExecutor::report() const {
  const std::lock_guard lock(mutex_);
  engine::ExecutorReport report;
  report.budget_bytes = 1000;
  report.rss_bytes = 900;
  report.process_restarts = 3;
  report.ledger.total = {.used_bytes = 700, .peak_bytes = 800};
  report.ledger.accounts.push_back({base::Account::host(), 1000, {700, 800}});
  report.ledger.accounts.push_back({base::Account::pinned(), 500, {300, 400}});
  engine::DeviceReport card{.name = "Card", .identifier = "GPU-1"};
  card.usable = usable_;
  card.free_bytes = 11;
  card.total_bytes = 22;
  card.worker_count = static_cast<std::uint32_t>(working_on_.size());
  card.started_count = 5;
  card.failure_count = 6;
  card.wrong_proof_count = 7;
  card.busy_s = 1.5;
  card.streamed_bytes = 8;
  card.shared_bytes = 9;
  for (const JobId id : working_on_) {
    if (id != 0) card.running.push_back(id);
  }
  engine::DeviceReport idle{.name = "Card", .identifier = "GPU-2"};
  idle.usable = usable_;
  engine::DeviceReport cpu{.name = "cpu", .identifier = "cpu"};
  cpu.usable = usable_;
  cpu.fallback_only = true;
  report.devices = {cpu, card, idle};
  report.keys = {{"porep-2k", loaded_ ? engine::KeyTier::kWarm : engine::KeyTier::kCold, 4096,
                  loaded_ ? 2u : 0u},
                 {"snap-2k", engine::KeyTier::kHot, 8192, 0}};
  return report;
}

inline void ScriptedExecutor::stop() {
  std::vector<engine::RunRequest> left;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
    left.swap(queue_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  for (const engine::RunRequest& request : left) {
    events_.job_ended(request.id, base::Error{base::ErrorKind::kUnavailable, "stopped"}, {});
  }
}

inline void ScriptedExecutor::work(std::size_t worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    auto first = queue_.begin();
    for (auto at = queue_.begin(); at != queue_.end(); ++at) {
      if (at->priority < first->priority) first = at;
    }
    const engine::RunRequest request = std::move(*first);
    queue_.erase(first);
    working_on_[worker] = request.id;
    lock.unlock();
    const auto input = request.input();
    events_.job_started(request.id);
    base::Result<base::Bytes> outcome =
        input.ok() ? prove(request, **input) : base::Result<base::Bytes>(input.error());
    const engine::JobTimes times = input.ok() ? times_of(**input) : engine::JobTimes{};
    lock.lock();
    working_on_[worker] = 0;
    lock.unlock();
    events_.job_ended(request.id, std::move(outcome), times);
    lock.lock();
  }
}

inline base::Result<base::Bytes> ScriptedExecutor::prove(const engine::RunRequest& request,
                                                         base::ByteSpan input) {
  const auto stopped = [&]() -> std::optional<base::Error> {
    if (cancelled(request.id)) return base::Error{base::ErrorKind::kCancelled, "cancelled"};
    if (stopping_) return base::Error{base::ErrorKind::kUnavailable, "stopped"};
    return std::nullopt;
  };
  for (std::size_t p = 0; p < input[0]; ++p) {
    events_.partition_moved(request.id, p, engine::PartitionState::kDevice, 1, 0);
    std::unique_lock lock(mutex_);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(input[1]);
    changed_.wait_until(lock, end, [&] { return stopped().has_value(); });
    if (const auto error = stopped()) return *error;
    lock.unlock();
    events_.partition_moved(request.id, p, engine::PartitionState::kDone, 1, 0);
  }
  if (input[2] == static_cast<std::uint8_t>(End::kHold)) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return released_ || stopped().has_value(); });
    if (const auto error = stopped()) return *error;
  }
  if (input[2] == static_cast<std::uint8_t>(End::kFailure)) {
    return base::Error{base::ErrorKind::kUnsatisfied, kFailureSentence};
  }
  return proof_of(input);
}

inline std::string engine_kind(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "porep";
    case ProofKind::kSnapDeals: return "update";
    case ProofKind::kWindowPost: return "window-post";
    case ProofKind::kWinningPost: return "winning-post";
    case ProofKind::kUnspecified: break;
  }
  return "none";
}

// Each input takes so long to read.
inline std::shared_ptr<const engine::JobTypes> scripted_types(
    const std::shared_ptr<const std::atomic<unsigned>>& reading_ms =
        std::make_shared<const std::atomic<unsigned>>(0)) {
  auto types = std::make_shared<engine::JobTypes>();
  for (const char* name : {"porep", "update", "window-post", "winning-post", "circom"}) {
    const auto read =
        [reading_ms](
            const engine::SharedBytes& input) -> base::Result<std::unique_ptr<engine::JobWork>> {
      std::this_thread::sleep_for(std::chrono::milliseconds(reading_ms->load()));
      if (input->size() < 11 || (*input)[0] == 0 || (*input)[2] > 2) {
        return base::Error{base::ErrorKind::kMalformed, "vanilla_proof: is no script"};
      }
      return std::unique_ptr<engine::JobWork>(
          std::make_unique<engine::testing_support::StandInWork>(*input));
    };
    CUZK_ASSERT(types->add({name, std::string("scripted ") + name, read}).ok());
  }
  return types;
}

// The input is the vanilla proof, or the first of them, or the witness.
inline Backend scripted_backend(engine::Engine& engine) {
  Backend backend;
  backend.engine = &engine;
  backend.proof_job = [](ProofRequest request) -> base::Result<engine::SubmitRequest> {
    if (request.sector_size == 3) {
      return base::Error{base::ErrorKind::kUnsupported, "sector_size: this build proves no 3"};
    }
    engine::SubmitRequest job;
    job.request_id = std::move(request.request_id);
    job.kind = engine_kind(request.kind);
    job.priority = request.priority.value_or(engine::Priority::kNormal);
    job.deadline_ms = request.deadline_ms;
    base::Bytes input = std::move(request.vanilla_proof);
    if (input.empty() && !request.vanilla_proofs.empty()) input = request.vanilla_proofs[0];
    job.input = std::make_shared<const base::Bytes>(std::move(input));
    return job;
  };
  backend.circuit_job = [](CircuitRequest request) -> base::Result<engine::SubmitRequest> {
    if (request.circuit == "throws") throw std::runtime_error("a library's own");
    if (request.circuit != "toy") {
      return base::Error{base::ErrorKind::kNotFound, "circuit: no " + request.circuit};
    }
    engine::SubmitRequest job;
    job.request_id = std::move(request.request_id);
    job.kind = "circom";
    job.priority = request.priority.value_or(engine::Priority::kNormal);
    job.deadline_ms = request.deadline_ms;
    job.input = std::make_shared<const base::Bytes>(std::move(request.witness));
    return job;
  };
  backend.public_kind_name = [](std::string_view kind) { return "public-" + std::string(kind); };
  backend.metrics_text = [] { return std::string("cuzk_up 1\n"); };
  backend.version = "test version";
  return backend;
}

// Engine, door and executor over one folder.
class TestDaemon {
 public:
  explicit TestDaemon(Config config = {}, std::size_t thread_count = 2,
                      std::uint64_t queue_max = 10'000, std::uint64_t disk_bytes = 0)
      : folder_(cuzk::testing::TemporaryFolder::Place::kMemory) {
    engine::EngineOptions options = engine::testing_support::engine_options_in(folder_ / "journal");
    options.queue_max = queue_max;
    options.journal_bytes_max = disk_bytes;
    if (disk_bytes > 0) options.journal_reserve_bytes = disk_bytes / 4;
    auto opened = engine::Engine::open(
        options, scripted_types(reading_ms_), [&](engine::ExecutorEvents& events) {
          auto executor = std::make_unique<ScriptedExecutor>(events, thread_count);
          executor_ = executor.get();
          return base::Result<std::unique_ptr<engine::Executor>>(std::move(executor));
        });
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message;
      return;
    }
    engine_ = std::move(opened).value();
    if (config.daemon.listen == Config().daemon.listen) {
      config.daemon.listen = {{Address::Kind::kUnix, "", 0, socket()}};
    }
    config.daemon.shutdown_grace = std::chrono::milliseconds(500);
    backend_ = scripted_backend(*engine_);
    backend_.metrics_text = [this] { return metrics_text_(); };
    std::vector<std::unique_ptr<Door>> doors;
    doors.push_back(make_grpc_door(config, backend_));
    daemon_ = std::make_unique<Daemon>(config, backend_, std::move(doors));
    started_ = daemon_->start();
  }
  ~TestDaemon() { daemon_.reset(); }

  const base::Status& started() const { return started_; }
  std::filesystem::path socket() const { return folder_ / "grpc.sock"; }
  std::string target() const { return "unix:" + socket().string(); }
  Daemon& daemon() { return *daemon_; }
  engine::Engine& engine() { return *engine_; }
  // For another door beside that of gRPC.
  const Backend& backend() const { return backend_; }
  ScriptedExecutor& executor() { return *executor_; }
  std::filesystem::path folder() const { return folder_.path(); }
  void set_reading_ms(unsigned ms) { *reading_ms_ = ms; }
  // Before anybody asks for metrics.
  void set_metrics_text(std::function<std::string()> text) { metrics_text_ = std::move(text); }

 private:
  cuzk::testing::TemporaryFolder folder_;
  const std::shared_ptr<std::atomic<unsigned>> reading_ms_ =
      std::make_shared<std::atomic<unsigned>>(0);
  ScriptedExecutor* executor_ = nullptr;
  std::function<std::string()> metrics_text_ = [] { return std::string("cuzk_up 1\n"); };
  std::unique_ptr<engine::Engine> engine_;
  Backend backend_;
  std::unique_ptr<Daemon> daemon_;
  base::Status started_ = base::ok_status();
};

}  // namespace cuzk::service::testing_support
