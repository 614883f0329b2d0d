// Stand-in jobs for tests of the pipeline: no circuit, but real bytes in a real ledger, real
// threads and a self-check that a spoilt product fails.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/pipeline.h"

namespace cuzk::engine::stand_in {

using base::Error;
using base::ErrorKind;

// What a stage of a stand-in job does besides its work; called where a real one would be in the
// middle of it, with its context. An error is the stage's.
using Hook = std::function<base::Status(Stage, std::size_t partition, const StageContext&)>;

struct Job {
  std::size_t partition_count = 1;
  std::uint64_t held_bytes = 0, witness_bytes = 10'000, device_bytes = 40'000,
                pending_bytes = 5'000;
  std::uint64_t extra_bytes = 0;  // that a witness holds beyond its plan
  std::string key = "key";
  Hook hook;
  std::function<void()> on_assemble;  // may throw
};

struct Key {
  std::uint64_t bytes = 100'000;
  std::string identity = "1";
  std::function<base::Status(const groth16::Control&)> on_load;
};

// Waits in a stage as real work would: in short pieces with a border after each. Fails when asked
// to stop.
inline base::Status work_for(std::chrono::milliseconds time, const StageContext& context) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    CUZK_TRY_STATUS(context.control.check("waiting"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return context.control.check("waiting");
}

// Holds stages until it is opened; they stay stoppable meanwhile.
class Gate {
 public:
  base::Status pass(const StageContext& context) {
    ++waiting;
    while (!open) {
      CUZK_TRY_STATUS(context.control.check("a gate"));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return base::ok_status();
  }
  void wait_for(int count) const {
    while (waiting < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::atomic<bool> open{false};
  std::atomic<int> waiting{0};
};

// A hook that stops at the gate in one stage.
inline Hook at_gate(Gate& gate, Stage where) {
  return [&gate, where](Stage stage, std::size_t, const StageContext& context) {
    return stage == where ? gate.pass(context) : base::ok_status();
  };
}

class Product final : public engine::Product {
 public:
  Product(std::string text, std::uint64_t bytes) : text(std::move(text)), bytes_(bytes) {}
  std::uint64_t byte_count() const override { return bytes_; }
  std::string text;  // what the self-check looks at

 private:
  std::uint64_t bytes_;
};

// A table of jobs and keys by name; thread-safe.
class World {
 public:
  explicit World(std::uint64_t budget_bytes = 0) : ledger(budget_bytes) {}

  base::Ledger ledger;
  std::atomic<int> keys_alive{0}, load_count{0}, read_count{0};

  void put_job(const std::string& name, Job job) {
    const std::lock_guard lock(mutex_);
    jobs_[name] = std::move(job);
  }
  void put_key(const std::string& name, Key key) {
    const std::lock_guard lock(mutex_);
    keys_[name] = std::move(key);
  }
  Job job(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return jobs_.at(name);
  }
  base::Result<Key> key(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(name);
    if (found == keys_.end()) return Error{ErrorKind::kNotFound, "no key " + name};
    return found->second;
  }
  KeySource source(const std::string& name);
  std::shared_ptr<const JobTypes> types();

 private:
  std::mutex mutex_;
  std::map<std::string, Job> jobs_;
  std::map<std::string, Key> keys_{{"key", {}}};
};

class LoadedKey final : public engine::LoadedKey {
 public:
  LoadedKey(World& world, std::uint64_t bytes, std::string identity)
      : identity(std::move(identity)), world_(world), bytes_(bytes) {
    ++world_.keys_alive;
  }
  ~LoadedKey() override { --world_.keys_alive; }
  std::uint64_t byte_count() const override { return bytes_; }
  const std::string identity;

 private:
  World& world_;
  std::uint64_t bytes_;
};

class Work final : public JobWork {
 public:
  Work(World& world, std::string name, Job job)
      : world_(world),
        name_(std::move(name)),
        job_(std::move(job)),
        source_(world.source(job_.key)) {
    for (std::uint32_t p = 0; p < job_.partition_count; ++p) {
      plans_.push_back({p, job_.witness_bytes, job_.device_bytes, job_.pending_bytes});
    }
  }
  const std::vector<PartitionPlan>& partitions() const override { return plans_; }
  const KeySource& key() const override { return source_; }
  std::uint64_t held_bytes() const override { return job_.held_bytes; }

  std::string proof_text(std::size_t p) const { return name_ + "/" + std::to_string(p); }

  base::Result<std::unique_ptr<engine::Product>> make_witness(std::size_t p,
                                                              const StageContext& c) override {
    CUZK_TRY_STATUS(during(Stage::kWitness, p, c));
    return made(proof_text(p), job_.witness_bytes + job_.extra_bytes);
  }
  base::Result<std::unique_ptr<engine::Product>> start(std::size_t p,
                                                       std::unique_ptr<engine::Product>& witness,
                                                       const StageContext& c) override {
    auto scratch = base::Buffer<std::uint8_t>::allocate(
        job_.device_bytes / 4096 * 4096, base::MemoryCategory::kEvaluation, name_, world_.ledger);
    if (!scratch.ok()) return std::move(scratch).error();
    CUZK_TRY_STATUS(during(Stage::kDevice, p, c));
    const std::string text = static_cast<Product&>(*witness).text;
    witness.reset();
    return made(text, job_.pending_bytes);
  }
  base::Result<base::Bytes> finish(std::size_t p, std::unique_ptr<engine::Product> pending,
                                   const StageContext& c) override {
    CUZK_TRY_STATUS(during(Stage::kFinish, p, c));
    const std::string& text = static_cast<Product&>(*pending).text;
    if (text != proof_text(p)) {
      return Error{ErrorKind::kVerificationFailed, "the proof '" + text + "' does not verify"};
    }
    return base::Bytes(text.begin(), text.end());
  }
  base::Status recheck(std::size_t p, base::ByteSpan proof, const StageContext&) override {
    if (std::string(proof.begin(), proof.end()) == proof_text(p)) return base::ok_status();
    return Error{ErrorKind::kVerificationFailed, "a kept proof does not verify"};
  }
  base::Result<base::Bytes> assemble(std::span<const base::Bytes> proofs,
                                     const StageContext&) override {
    if (job_.on_assemble) job_.on_assemble();
    base::Bytes all;
    for (const base::Bytes& proof : proofs) {
      all.insert(all.end(), proof.begin(), proof.end());
      all.push_back(';');
    }
    return all;
  }

 private:
  static std::unique_ptr<engine::Product> made(std::string text, std::uint64_t bytes) {
    return std::make_unique<Product>(std::move(text), bytes);
  }
  base::Status during(Stage stage, std::size_t p, const StageContext& context) {
    if (context.key == nullptr || (stage != Stage::kWitness) != (context.device != nullptr)) {
      return Error{ErrorKind::kInternal, "the stage has no key or not its device"};
    }
    if (!job_.hook) return base::ok_status();
    return job_.hook(stage, p, context);
  }

  World& world_;
  std::string name_;
  Job job_;
  KeySource source_;
  std::vector<PartitionPlan> plans_;
};

inline KeySource World::source(const std::string& name) {
  KeySource source;
  source.name = name;
  const auto now = key(name);
  source.bytes = now.ok() ? now->bytes : 0;
  source.identity = [this, name]() -> base::Result<std::string> {
    CUZK_TRY(const Key key, this->key(name));
    return key.identity;
  };
  source.load = [this, name](const groth16::Control& control)
      -> base::Result<std::shared_ptr<const engine::LoadedKey>> {
    ++load_count;
    CUZK_TRY(const Key key, this->key(name));
    if (key.on_load) CUZK_TRY_STATUS(key.on_load(control));
    return std::shared_ptr<const engine::LoadedKey>(
        std::make_shared<LoadedKey>(*this, key.bytes, key.identity));
  };
  return source;
}

inline std::shared_ptr<const JobTypes> World::types() {
  auto types = std::make_shared<JobTypes>();
  JobType type;
  type.name = "stand-in";
  type.read = [this](const SharedBytes& input) -> base::Result<std::unique_ptr<JobWork>> {
    ++read_count;
    const std::string name(input->begin(), input->end());
    return std::unique_ptr<JobWork>(std::make_unique<Work>(*this, name, job(name)));
  };
  EXPECT_TRUE(types->add(std::move(type)).ok());
  types->add_keys([this](std::string_view name) -> base::Result<KeySource> {
    CUZK_TRY_STATUS(key(std::string(name)));
    return source(std::string(name));
  });
  return types;
}

// Remembers what it hears, and waits for it.
class Recorder final : public ExecutorEvents {
 public:
  struct Moved {
    JobId id = 0;
    std::size_t partition = 0;
    PartitionState state = PartitionState::kQueued;
    std::uint32_t attempt = 1, device = 0;
  };
  void job_started(JobId id) override {
    note([&] { started_.push_back(id); });
  }
  void partition_moved(JobId id, std::size_t partition, PartitionState state, std::uint32_t attempt,
                       std::uint32_t device) override {
    note([&] { moved_.push_back({id, partition, state, attempt, device}); });
  }
  void partition_proved(JobId id, std::size_t partition, const base::Bytes& proof) override {
    note([&] { proved_[{id, partition}] = std::string(proof.begin(), proof.end()); });
  }
  void job_ended(JobId id, base::Result<base::Bytes> outcome, const JobTimes& times) override {
    note([&] {
      EXPECT_EQ(ended_.count(id), 0u) << "job " << id << " ended twice";
      order_.push_back(id);
      times_[id] = times;
      ended_.emplace(id, std::move(outcome));
    });
  }
  void crashed(const std::vector<JobId>&, const std::string&) override {
    ADD_FAILURE() << "nothing crashes here";
  }

  bool wait_until(const std::function<bool()>& is_so, int seconds = 60) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(seconds), is_so);
  }
  bool wait_ended(std::size_t count) {
    return wait_until([&] { return ended_.size() >= count; });
  }
  // Until so many of the job's partitions have come to the state.
  bool wait_state(JobId id, PartitionState state, std::size_t partition_count = 1) {
    return wait_until([&] {
      std::set<std::size_t> there;
      for (const Moved& moved : moved_) {
        if (moved.id == id && moved.state == state) there.insert(moved.partition);
      }
      return there.size() >= partition_count;
    });
  }
  // "ok: " and the result, or the kind and the sentence of the failure.
  std::string outcome(JobId id) {
    const std::lock_guard lock(mutex_);
    const auto found = ended_.find(id);
    if (found == ended_.end()) return "not ended";
    if (!found->second.ok()) {
      return std::string(base::to_string(found->second.error().kind)) + ": " +
             found->second.error().message;
    }
    return "ok: " + std::string(found->second->begin(), found->second->end());
  }
  std::vector<JobId> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  std::vector<Moved> moved() {
    const std::lock_guard lock(mutex_);
    return moved_;
  }
  std::size_t proved_count() {
    const std::lock_guard lock(mutex_);
    return proved_.size();
  }
  JobTimes times(JobId id) {
    const std::lock_guard lock(mutex_);
    return times_[id];
  }

 private:
  template <class Body>
  void note(const Body& body) {
    {
      const std::lock_guard lock(mutex_);
      body();
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<JobId> started_, order_;
  std::vector<Moved> moved_;
  std::map<std::pair<JobId, std::size_t>, std::string> proved_;
  std::map<JobId, base::Result<base::Bytes>> ended_;
  std::map<JobId, JobTimes> times_;
};

inline ProvingDevice cpu(std::uint32_t workers = 1) {
  ProvingDevice device;
  device.name = device.identifier = "cpu";
  device.worker_count = workers;
  return device;
}
inline ProvingDevice card(const std::string& name, std::uint32_t workers = 1) {
  ProvingDevice device = cpu(workers);
  device.name = device.identifier = name;
  return device;
}

// A world with a pipeline of one worker of each kind, unless told otherwise.
class Bench {
 public:
  explicit Bench(std::uint64_t budget_bytes = 0) : world(budget_bytes) {
    options.types = world.types();
    options.devices = {cpu()};
    options.witness_workers = options.finish_workers = 1;
    options.jobs_in_flight_max = 8;
    options.budget_bytes = budget_bytes;
    options.ledger = &world.ledger;
  }
  ~Bench() {
    if (pipeline == nullptr) return;
    pipeline->stop();
    pipeline->check_invariants();
  }
  void start() {
    auto made = Pipeline::make(options, events);
    ASSERT_TRUE(made.ok()) << made.error().message;
    pipeline = std::move(made).value();
  }
  RunRequest request(JobId id, const std::string& name, Priority priority = Priority::kNormal) {
    RunRequest request;
    request.id = id;
    request.name = name;
    request.kind = "stand-in";
    request.priority = priority;
    request.input = [name]() -> base::Result<SharedBytes> {
      return SharedBytes(std::make_shared<base::Bytes>(name.begin(), name.end()));
    };
    return request;
  }
  base::Status run(JobId id, const std::string& name, Job job = {},
                   Priority priority = Priority::kNormal) {
    world.put_job(name, std::move(job));
    return pipeline->run(request(id, name, priority));
  }
  // Nothing of any job is left: not in the ledger, not in the counts.
  void expect_nothing_left() {
    const ExecutorReport report = pipeline->report();
    std::uint64_t keys = 0;
    for (const KeyReport& key : report.keys) keys += key.tier == KeyTier::kCold ? 0 : key.bytes;
    EXPECT_EQ(report.ledger.total.used_bytes, keys);
    EXPECT_EQ(report.witnesses_alive, 0u);
    EXPECT_EQ(report.pending_alive, 0u);
    EXPECT_EQ(report.counts.in_flight_jobs + report.counts.queued_jobs, 0u);
    EXPECT_EQ(report.counts.slots_held, 0u);
    pipeline->check_invariants();
  }

  World world;
  Recorder events;
  PipelineOptions options;
  std::unique_ptr<Pipeline> pipeline;
};

}  // namespace cuzk::engine::stand_in
