// Jobs a second from submission to their recorded end, through journal and engine, with an executor
// that ends each at once: what the syncs of the disk leave. Threads submit and wait in turn. The
// folder is that of TMPDIR, or the one that CUZK_BENCH_FOLDER names.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "base/check.h"
#include "engine/engine.h"

namespace cuzk::engine {
namespace {

// A job that costs nothing to read or to plan, so that only the engine's own work and the disk's
// are in the figure. Its stages are never called: the executor below ends it first.
class OneBytePartition final : public JobWork {
 public:
  const std::vector<PartitionPlan>& partitions() const override { return partitions_; }
  const KeySource& key() const override { return key_; }
  std::uint64_t held_bytes() const override { return 1; }
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
  static base::Error unused() { return {base::ErrorKind::kInternal, "nothing is proved here"}; }
  std::vector<PartitionPlan> partitions_ = {{0, 1, 1, 1}};
  KeySource key_;
};

// Ends a job within run(), on the submitter's thread, with as many bytes as a Groth16 proof has:
// what the journal writes is as large as in earnest.
class AtOnce final : public Executor {
 public:
  explicit AtOnce(ExecutorEvents& events) : events_(events) {}
  base::Status run(RunRequest request) override {
    events_.job_started(request.id);
    events_.job_ended(request.id, base::Bytes(192, 1), {});
    return base::ok_status();
  }
  base::Status cancel(JobId) override { return none(); }
  std::optional<JobProgress> progress(JobId) const override { return std::nullopt; }
  base::Result<bool> preload(const std::string&) override { return none(); }
  base::Result<std::uint64_t> evict(const std::string&) override { return none(); }
  ExecutorReport report() const override { return {}; }
  void stop() override {}

 private:
  static base::Error none() { return {base::ErrorKind::kNotFound, "there is none"}; }
  ExecutorEvents& events_;
};

// The folder is on a disk and not in memory on purpose: its syncs are what is measured.
struct Bench {
  Bench() {
    const char* const wanted = std::getenv("CUZK_BENCH_FOLDER");
    folder = (wanted != nullptr ? std::filesystem::path(wanted)
                                : std::filesystem::temp_directory_path()) /
             ("cuzk_submit_bench_" + std::to_string(::getpid()));
    auto types = std::make_shared<JobTypes>();
    CUZK_ASSERT(types
                    ->add({"nothing", "ends at once",
                           [](const SharedBytes&) -> base::Result<std::unique_ptr<JobWork>> {
                             return std::unique_ptr<JobWork>(std::make_unique<OneBytePartition>());
                           }})
                    .ok());
    EngineOptions options;
    options.journal_folder = folder;
    auto opened = Engine::open(options, types, [](ExecutorEvents& events) {
      return base::Result<std::unique_ptr<Executor>>(std::make_unique<AtOnce>(events));
    });
    CUZK_ASSERT(opened.ok());
    engine = std::move(opened).value();
  }
  ~Bench() {
    engine.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::filesystem::path folder;
  std::unique_ptr<Engine> engine;
};

// Every thread is a client with one job at a time. More threads show what shared syncs are worth:
// without them the rate would not rise with the threads.
void submit_and_wait(benchmark::State& state) {
  static std::unique_ptr<Bench> bench;
  static std::atomic<std::uint64_t> number{0};
  if (state.thread_index() == 0) bench = std::make_unique<Bench>();
  for (auto unused : state) {
    (void)unused;
    SubmitRequest request;
    request.request_id = "job-" + std::to_string(++number);
    request.kind = "nothing";
    // Another input than those of the jobs at once, with which the journal would share it.
    request.input = std::make_shared<const base::Bytes>(1000, static_cast<std::uint8_t>(number));
    const auto submitted = bench->engine->submit(request);
    CUZK_ASSERT(submitted.ok());
    const auto ended = bench->engine->await(request.request_id, std::chrono::seconds(60));
    CUZK_ASSERT(ended.ok());
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) bench.reset();
}
BENCHMARK(submit_and_wait)->Threads(1)->Threads(4)->Threads(16)->Threads(64)->UseRealTime();

}  // namespace
}  // namespace cuzk::engine
