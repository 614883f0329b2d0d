// Keys: loaded once, charged as long as they live, dropped when nobody needs them, and never those
// of yesterday's files.
#include <cstring>
#include <fstream>

#include <sys/mman.h>
#include <unistd.h>

#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;
using stand_in::at_gate;
using stand_in::Bench;
using stand_in::Gate;

std::uint64_t key_bytes(Bench& bench) {
  return bench.world.ledger.snapshot().of(base::MemoryCategory::kSrs).used_bytes;
}

TEST(PipelineKey, IsLoadedOnceHoweverManyAsk) {
  Bench bench;
  bench.options.witness_workers = 5;
  bench.world.put_key("slow", {.on_load = [](const groth16::Control&) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(20));
                        return base::ok_status();
                      }});
  bench.start();
  for (JobId id = 1; id <= 8; ++id) ASSERT_TRUE(bench.run(id, "a", {.key = "slow"}).ok());
  ASSERT_TRUE(bench.events.wait_ended(8));
  EXPECT_EQ(bench.world.load_count, 1);
  EXPECT_EQ(key_bytes(bench), 100'000u);
  bench.expect_nothing_left();
}

TEST(PipelineKey, GoesWhenItsRoomIsNeeded) {
  Bench bench(300'000);
  for (const char* name : {"k1", "k2", "k3", "k4"}) bench.world.put_key(name, {});
  bench.options.witness_workers = 2;
  bench.start();
  for (JobId id = 1; id <= 40; ++id) {
    // Each has a name of its own: a job reads its input again when its turn comes.
    const std::string name = "job " + std::to_string(id);
    ASSERT_TRUE(bench.run(id, name, {.key = "k" + std::to_string(1 + id % 4)}).ok());
  }
  ASSERT_TRUE(bench.events.wait_ended(40));
  for (JobId id = 1; id <= 40; ++id) {
    EXPECT_EQ(bench.events.outcome(id), "ok: job " + std::to_string(id) + "/0;");
  }
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, 300'000u);
  EXPECT_LE(bench.world.keys_alive, 2);
  EXPECT_GT(bench.pipeline->report().counts.evicted_keys, 2u);
  bench.expect_nothing_left();
}

TEST(PipelineKey, ThatCannotBeLoadedFailsOnlyItsJobs) {
  Bench bench;
  bench.world.put_key("bad", {.on_load = [](const groth16::Control&) -> base::Status {
                        return Error{ErrorKind::kMalformed, "bad.params: found 3 points"};
                      }});
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.key = "bad"}).ok());
  ASSERT_TRUE(bench.run(2, "b").ok());
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_EQ(bench.events.outcome(1),
            "malformed: a: partition 0 failed in the witness stage: bad.params: found 3 points");
  EXPECT_EQ(bench.events.outcome(2), "ok: b/0;");
  bench.world.put_key("bad", {});  // repaired
  ASSERT_TRUE(bench.run(3, "a", {.key = "bad"}).ok());
  ASSERT_TRUE(bench.events.wait_ended(3));
  EXPECT_EQ(bench.events.outcome(3), "ok: a/0;");
  EXPECT_EQ(bench.run(4, "c", {.key = "absent"}).error().kind, ErrorKind::kNotFound);
  bench.expect_nothing_left();
}

TEST(PipelineKey, ThatThrowsOrLiesFailsItsJob) {
  Bench bench;
  bench.world.put_key("throws", {.on_load = [](const groth16::Control&) -> base::Status {
                        throw std::bad_alloc();
                      }});
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.key = "throws"}).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1).substr(0, 19), "resource_exhausted:");
  EXPECT_EQ(bench.world.load_count, 2);  // tried once more
  EXPECT_EQ(key_bytes(bench), 0u);
  bench.expect_nothing_left();
}

TEST(PipelineKey, OfChangedFilesIsLoadedAnew) {
  Bench bench;
  bench.start();
  ASSERT_TRUE(bench.run(1, "a").ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  bench.world.put_key("key", {.bytes = 70'000, .identity = "2"});
  ASSERT_TRUE(bench.run(2, "b").ok());
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_EQ(bench.events.outcome(2), "ok: b/0;");
  EXPECT_EQ(bench.world.load_count, 2);
  EXPECT_EQ(bench.world.keys_alive, 1);  // the old one went
  EXPECT_EQ(key_bytes(bench), 70'000u);
  bench.expect_nothing_left();
}

// The files change while a job waits in the queue: its account was made for the old ones.
TEST(PipelineKey, ThatChangesWhileAJobWaitsIsAccountedAnew) {
  Gate gate;
  Bench bench(400'000);
  bench.options.jobs_in_flight_max = 1;
  std::string seen;
  bench.start();
  ASSERT_TRUE(bench.run(1, "first", {.hook = at_gate(gate, Stage::kDevice)}).ok());
  gate.wait_for(1);
  ASSERT_TRUE(bench
                  .run(2, "second",
                       {.hook =
                            [&](Stage, std::size_t, const StageContext& c) {
                              seen = static_cast<const stand_in::LoadedKey&>(*c.key).identity;
                              return base::ok_status();
                            }})
                  .ok());
  bench.world.put_key("key", {.bytes = 200'000, .identity = "2"});
  gate.open = true;
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_EQ(bench.events.outcome(1), "ok: first/0;");
  EXPECT_EQ(bench.events.outcome(2), "ok: second/0;");
  EXPECT_EQ(seen, "2");
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, 400'000u);
  const SchedulerCounts counts = bench.pipeline->report().counts;
  EXPECT_EQ(counts.completed_jobs, 2u);
  EXPECT_EQ(counts.failed_jobs + counts.cancelled_jobs, 0u);
  bench.expect_nothing_left();
}

TEST(PipelineKey, WhoseFilesNeverRestFailsItsJob) {
  Bench bench;
  std::atomic<int> turn{0};
  bench.start();
  bench.world.put_job("a", {});
  auto request = bench.request(1, "a");
  request.input = [&, input = request.input]() {
    bench.world.put_key("key", {.identity = std::to_string(++turn)});
    return input();
  };
  ASSERT_TRUE(bench.pipeline->run(std::move(request)).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1),
            "unavailable: a: its input or the files of its key key changed 4 times before it could "
            "begin");
  EXPECT_EQ(bench.pipeline->report().counts.failed_jobs, 1u);
  bench.expect_nothing_left();
}

TEST(PipelineKey, IsPreloadedAndEvictedByName) {
  Bench bench(500'000);
  bench.start();
  auto first = bench.pipeline->preload("key");
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_FALSE(*first);
  EXPECT_TRUE(*bench.pipeline->preload("key"));
  EXPECT_EQ(bench.world.load_count, 1);
  EXPECT_EQ(bench.pipeline->report().keys.at(0).tier, KeyTier::kWarm);
  EXPECT_EQ(bench.pipeline->report().counts.held_bytes, 100'000u);
  ASSERT_TRUE(bench.run(1, "a").ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.world.load_count, 1);
  EXPECT_EQ(*bench.pipeline->evict("key"), 100'000u);
  EXPECT_EQ(bench.world.keys_alive, 0);
  EXPECT_EQ(key_bytes(bench), 0u);
  EXPECT_EQ(*bench.pipeline->evict("key"), 0u);
  EXPECT_EQ(bench.pipeline->evict("absent").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(bench.pipeline->preload("absent").error().kind, ErrorKind::kNotFound);
  bench.world.put_key("large", {.bytes = 600'000});
  const auto large = bench.pipeline->preload("large");
  EXPECT_EQ(large.error().message,
            "large: the key can never fit: it takes 600000 bytes and the budget leaves 500000");
  bench.expect_nothing_left();
}

TEST(PipelineKey, InUseIsNotEvicted) {
  Gate gate;
  Bench bench;
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.hook = at_gate(gate, Stage::kFinish)}).ok());
  gate.wait_for(1);
  const auto refused = bench.pipeline->evict("key");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(bench.pipeline->report().keys.at(0).reference_count, 1u);
  gate.open = true;
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(*bench.pipeline->evict("key"), 100'000u);
  bench.expect_nothing_left();
}

// Preloads from many threads while jobs and evictions go on.
TEST(PipelineKey, ManyAtOnceStayWithinTheBudget) {
  Bench bench(350'000);
  for (const char* name : {"k1", "k2", "k3"}) bench.world.put_key(name, {});
  bench.start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&bench, t] {
      for (int i = 0; i < 30; ++i) {
        const std::string name = "k" + std::to_string(1 + (i + t) % 3);
        if (i % 3 == 2) {
          (void)bench.pipeline->evict(name);
        } else {
          (void)bench.pipeline->preload(name);
        }
        bench.pipeline->check_invariants();
      }
    });
  }
  for (JobId id = 1; id <= 60; ++id) {
    const std::string name = "job " + std::to_string(id);  // its own: inputs are read again
    ASSERT_TRUE(bench.run(id, name, {.key = "k" + std::to_string(1 + id % 3)}).ok());
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(bench.events.wait_ended(60));
  for (JobId id = 1; id <= 60; ++id) {
    EXPECT_EQ(bench.events.outcome(id), "ok: job " + std::to_string(id) + "/0;");
  }
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, 350'000u);
  bench.expect_nothing_left();
}

}  // namespace
}  // namespace cuzk::engine
