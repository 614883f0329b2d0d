// Jobs from run() to their end with stand-in stages.
#include "engine/pipeline.h"

#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using stand_in::Bench;
using stand_in::Job;
using stand_in::work_for;
using std::chrono::milliseconds;

TEST(Pipeline, ProvesAllPartitionsAndAssemblesThemInOrder) {
  Bench bench;
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.partition_count = 3}).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1), "ok: a/0;a/1;a/2;");
  EXPECT_EQ(bench.events.proved_count(), 3u);
  bench.expect_nothing_left();
}

TEST(Pipeline, RunsManyJobsOverFewWorkers) {
  Bench bench(2'000'000);
  bench.options.witness_workers = 3;
  bench.options.devices = {stand_in::cpu(2)};
  bench.options.finish_workers = 2;
  bench.start();
  for (JobId id = 1; id <= 200; ++id) {
    const std::string name = "job" + std::to_string(id);
    ASSERT_TRUE(bench.run(id, name, {.partition_count = 1 + id % 4}).ok());
  }
  ASSERT_TRUE(bench.events.wait_ended(200));
  for (JobId id = 1; id <= 200; ++id) {
    EXPECT_EQ(bench.events.outcome(id).substr(0, 4), "ok: ") << id;
  }
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, 2'000'000u);
  bench.expect_nothing_left();
}

}  // namespace
}  // namespace cuzk::engine
