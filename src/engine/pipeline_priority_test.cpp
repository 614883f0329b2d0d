// Who goes first at every stage, and how long critical work waits: counted in the pieces of others
// that begin meanwhile, not in seconds.
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>

#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using stand_in::at_gate;
using stand_in::Bench;
using stand_in::Gate;
using stand_in::Job;

bool ended(Bench& bench, JobId id) { return bench.events.outcome(id) != "not ended"; }

void wait_for_end(Bench& bench, JobId id) {
  while (!ended(bench, id)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Every worker of the kind is busy for ever; the critical job runs inside it at its next border.
TEST(PipelinePriority, CriticalWorkRunsInsideAnyStage) {
  for (const Stage stage : {Stage::kWitness, Stage::kDevice, Stage::kFinish}) {
    Gate gate;
    Bench bench;
    bench.start();
    ASSERT_TRUE(bench.run(1, "low", {.hook = at_gate(gate, stage)}, Priority::kLow).ok());
    gate.wait_for(1);
    ASSERT_TRUE(bench.run(2, "critical", {.partition_count = 2}, Priority::kCritical).ok());
    wait_for_end(bench, 2);
    EXPECT_FALSE(ended(bench, 1));
    EXPECT_EQ(bench.events.outcome(2), "ok: critical/0;critical/1;");
    EXPECT_GT(bench.pipeline->report().counts.inline_grants, 0u);
    gate.open = true;
    wait_for_end(bench, 1);
    EXPECT_EQ(bench.events.outcome(1), "ok: low/0;");
    bench.expect_nothing_left();
  }
}

// A card that proves as many at once as it has lanes, each held from the beginning of a start to
// its end. A start that waits for a lane on a thread that has one would wait for ever, so it fails.
class Lanes {
 public:
  explicit Lanes(int count) : free_(count) {}

  // The hook of a job whose start holds a lane while it is at the gate.
  stand_in::Hook start_at(Gate& gate) { return start_at(gate, SIZE_MAX, gate); }
  // The same, where only the first starts of all are at that gate and those after at another.
  stand_in::Hook start_at(Gate& gate, std::size_t early_count, Gate& late) {
    return [this, &gate, early_count, &late, begun = std::make_shared<std::atomic<std::size_t>>(0)](
               Stage stage, std::size_t, const StageContext& context) -> base::Status {
      if (stage != Stage::kDevice) return base::ok_status();
      Gate& own = (*begun)++ < early_count ? gate : late;
      const auto self = std::this_thread::get_id();
      {
        std::unique_lock lock(mutex_);
        if (holders_.count(self) != 0) {
          return base::Error{base::ErrorKind::kInvalidArgument, "a thread waits for itself"};
        }
        if (!changed_.wait(lock, context.control.cancel, [this] { return free_ > 0; })) {
          return base::Error{base::ErrorKind::kCancelled, "cancelled while waiting for a lane"};
        }
        --free_;
        holders_.insert(self);
      }
      const base::Status status = own.pass(context);
      const std::lock_guard lock(mutex_);
      ++free_;
      holders_.erase(self);
      changed_.notify_all();
      return status;
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int free_;
  std::set<std::thread::id> holders_;
};

TEST(PipelinePriority, CriticalWorkTakesTheNextLaneOfACardAndNoneInsideAProof) {
  for (const std::uint32_t workers : {1u, 2u}) {
    Lanes lanes(static_cast<int>(workers));
    Gate gate, late, no_gate;
    no_gate.open = true;
    Bench bench;
    bench.options.witness_workers = 4;
    bench.options.devices = {stand_in::card("card", workers)};
    bench.start();
    // Twice as many as lanes: those that wait behind are to be passed, and would keep a lane.
    ASSERT_TRUE(
        bench
            .run(1, "low",
                 {.partition_count = 2 * workers, .hook = lanes.start_at(gate, workers, late)},
                 Priority::kLow)
            .ok());
    gate.wait_for(static_cast<int>(workers));
    ASSERT_TRUE(bench
                    .run(2, "critical", {.partition_count = 2, .hook = lanes.start_at(no_gate)},
                         Priority::kCritical)
                    .ok());
    // Both: a lane that becomes free before the second is there takes what waits.
    ASSERT_TRUE(bench.events.wait_state(2, PartitionState::kDeviceQueued, 2));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // what runs comes to borders
    EXPECT_EQ(bench.events.outcome(2), "not ended");
    gate.open = true;
    ASSERT_TRUE(bench.events.wait_ended(1));
    EXPECT_EQ(bench.events.outcome(2), "ok: critical/0;critical/1;");
    late.open = true;
    ASSERT_TRUE(bench.events.wait_ended(2));
    EXPECT_EQ(bench.events.outcome(1).substr(0, 3), "ok:") << bench.events.outcome(1);
    bench.expect_nothing_left();
  }
}

// Critical work that the card's other worker has is still not run inside the proof of the first.
TEST(PipelinePriority, CriticalWorkBeginsAtOnceOnACardThatKeepsALaneForIt) {
  Lanes lanes(2);
  Gate gate, no_gate;
  no_gate.open = true;
  Bench bench;
  bench.options.witness_workers = 4;
  bench.options.devices = {stand_in::card("card", 1)};
  bench.options.devices[0].critical_worker_count = 1;
  bench.start();
  ASSERT_TRUE(
      bench.run(1, "low", {.partition_count = 3, .hook = lanes.start_at(gate)}, Priority::kLow)
          .ok());
  gate.wait_for(1);
  ASSERT_TRUE(bench
                  .run(2, "critical", {.partition_count = 3, .hook = lanes.start_at(no_gate)},
                       Priority::kCritical)
                  .ok());
  wait_for_end(bench, 2);
  EXPECT_EQ(gate.waiting, 1);
  EXPECT_FALSE(ended(bench, 1));
  EXPECT_EQ(bench.events.outcome(2), "ok: critical/0;critical/1;critical/2;");
  // What runs on a card is stopped all the same.
  ASSERT_TRUE(bench.pipeline->cancel(1).ok());
  wait_for_end(bench, 1);
  EXPECT_EQ(bench.events.outcome(1).substr(0, 9), "cancelled");
  bench.expect_nothing_left();
}

TEST(PipelinePriority, IsTheOrderAtEachStage) {
  for (const Stage stage : {Stage::kWitness, Stage::kDevice, Stage::kFinish}) {
    Gate gate;
    Bench bench;
    bench.options.witness_workers = 4;
    std::mutex mutex;
    std::vector<std::string> order;
    const auto noted = [&](const std::string& name) {
      return Job{.hook = [&, name](Stage at, std::size_t, const StageContext&) {
        const std::lock_guard lock(mutex);
        if (at == stage) order.push_back(name);
        return base::ok_status();
      }};
    };
    if (stage == Stage::kWitness) bench.options.witness_workers = 1;
    bench.start();
    ASSERT_TRUE(bench.run(1, "holds", {.hook = at_gate(gate, stage)}).ok());
    gate.wait_for(1);
    ASSERT_TRUE(bench.run(2, "low", noted("low"), Priority::kLow).ok());
    ASSERT_TRUE(bench.run(3, "normal", noted("normal")).ok());
    ASSERT_TRUE(bench.run(4, "high", noted("high"), Priority::kHigh).ok());
    if (stage != Stage::kWitness) {
      const auto waiting =
          stage == Stage::kDevice ? PartitionState::kDeviceQueued : PartitionState::kFinishQueued;
      for (const JobId id : {2, 3, 4}) ASSERT_TRUE(bench.events.wait_state(id, waiting));
    }
    gate.open = true;
    ASSERT_TRUE(bench.events.wait_ended(4));
    EXPECT_EQ(order, (std::vector<std::string>{"high", "normal", "low"})) << to_string(stage);
  }
}

// While critical work computes on the CPU the pieces of others wait.
TEST(PipelinePriority, OthersPauseWhileCriticalWorkComputes) {
  Bench bench;
  bench.options.witness_workers = 3;
  bench.options.devices = {stand_in::cpu(2)};
  std::atomic<std::uint64_t> pieces{0};
  std::atomic<bool> over{false};
  const Job low{.partition_count = 6,
                .hook = [&](Stage, std::size_t, const StageContext& context) -> base::Status {
                  while (!over) {
                    CUZK_TRY_STATUS(context.control.check("pieces"));
                    ++pieces;
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  }
                  return base::ok_status();
                }};
  bench.start();
  ASSERT_TRUE(bench.run(1, "low", low, Priority::kLow).ok());
  while (pieces < 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::uint64_t most = 0;
  const Job critical{.hook = [&](Stage, std::size_t, const StageContext&) {
    const std::uint64_t before = pieces;
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    most = std::max<std::uint64_t>(most, pieces - before);
    return base::ok_status();
  }};
  ASSERT_TRUE(bench.run(2, "critical", critical, Priority::kCritical).ok());
  wait_for_end(bench, 2);
  EXPECT_LE(most, 6u);  // at most the piece at hand of each worker, and one that had just asked
  over = true;
  wait_for_end(bench, 1);
  bench.expect_nothing_left();
}

// The device's only worker is in a long piece when a critical witness ends. Who paused for that
// goes on pausing until the device has it.
TEST(PipelinePriority, OthersPauseBetweenTheStagesOfCriticalWork) {
  Bench bench;
  bench.options.witness_workers = 2;
  bench.options.devices = {stand_in::cpu(1)};
  std::atomic<std::uint64_t> pieces{0};
  std::atomic<bool> over{false}, in_long_piece{false};
  const auto low_until_over = [&](Stage long_stage, std::int64_t piece_ms) {
    return Job{.hook = [&, long_stage, piece_ms](Stage stage, std::size_t,
                                                 const StageContext& context) -> base::Status {
      while (!over && stage == long_stage) {
        CUZK_TRY_STATUS(context.control.check("pieces"));
        pieces += stage == Stage::kWitness ? 1 : 0;
        in_long_piece = in_long_piece || stage == Stage::kDevice;
        std::this_thread::sleep_for(std::chrono::milliseconds(piece_ms));
      }
      return base::ok_status();
    }};
  };
  bench.start();
  ASSERT_TRUE(bench.run(1, "device", low_until_over(Stage::kDevice, 15), Priority::kLow).ok());
  while (!in_long_piece) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (const JobId id : {2, 3}) {
    ASSERT_TRUE(bench.run(id, "witness", low_until_over(Stage::kWitness, 1), Priority::kLow).ok());
  }
  while (pieces < 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::atomic<std::uint64_t> at_witness{0};
  std::vector<std::uint64_t> between;
  const Job critical{.hook = [&](Stage stage, std::size_t, const StageContext&) {
    if (stage == Stage::kWitness) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the others come to borders
      at_witness = pieces.load();
    }
    if (stage == Stage::kDevice) between.push_back(pieces - at_witness);
    return base::ok_status();
  }};
  for (JobId id = 10; id < 30; ++id) {
    ASSERT_TRUE(bench.run(id, "critical", critical, Priority::kCritical).ok());
    wait_for_end(bench, id);
  }
  std::sort(between.begin(), between.end());
  EXPECT_LE(between[between.size() / 2], 2u) << "some 7 each were begun where nobody paused";
  over = true;
  for (const JobId id : {1, 2, 3}) wait_for_end(bench, id);
  bench.expect_nothing_left();
}

// A hundred critical jobs under a full queue of low ones: each waits for the piece at hand of each
// worker at most once a stage, and the low ones all end.
TEST(PipelinePriority, CriticalWorkNeverWaitsForMoreThanOnePiece) {
  Bench bench;
  bench.options.witness_workers = 2;
  bench.options.jobs_in_flight_max = 4;
  std::atomic<std::uint64_t> pieces{0};
  const Job low{.partition_count = 2,
                .hook = [&](Stage, std::size_t, const StageContext& context) -> base::Status {
                  for (int i = 0; i < 5; ++i) {
                    CUZK_TRY_STATUS(context.control.check("pieces"));
                    ++pieces;
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  }
                  return base::ok_status();
                }};
  bench.start();
  constexpr JobId kLow = 60, kCritical = 100;
  for (JobId id = 1; id <= kLow; ++id) {
    ASSERT_TRUE(bench.run(id, "low" + std::to_string(id), low, Priority::kLow).ok());
  }
  std::vector<std::uint64_t> waited;
  for (JobId id = 1; id <= kCritical; ++id) {
    const std::uint64_t before = pieces;
    ASSERT_TRUE(bench.run(1000 + id, "critical", {}, Priority::kCritical).ok());
    wait_for_end(bench, 1000 + id);
    waited.push_back(pieces - before);
  }
  std::sort(waited.begin(), waited.end());
  // Four workers, three stages. Of the median: the system may take a thread off its CPU for many
  // pieces, which the tail would show; `cuzk bench engine --critical` measures that.
  EXPECT_LE(waited[50], 4u * 3u);
  ASSERT_TRUE(bench.events.wait_ended(kLow + kCritical));
  for (JobId id = 1; id <= kLow; ++id) {
    EXPECT_EQ(bench.events.outcome(id).substr(0, 4), "ok: ");
  }
  bench.expect_nothing_left();
}

TEST(PipelinePriority, TheReserveKeepsRoomForCriticalWork) {
  Gate gate;
  Bench bench(400'000);
  bench.options.critical_reserve_bytes = 100'000;
  bench.options.witness_workers = 8;
  bench.start();
  ASSERT_TRUE(bench
                  .run(1, "low", {.partition_count = 20, .hook = at_gate(gate, Stage::kDevice)},
                       Priority::kLow)
                  .ok());
  gate.wait_for(1);
  ASSERT_TRUE(bench.run(2, "critical", {}, Priority::kCritical).ok());
  wait_for_end(bench, 2);
  EXPECT_FALSE(ended(bench, 1));
  gate.open = true;
  wait_for_end(bench, 1);
  EXPECT_LE(bench.world.ledger.snapshot().total.peak_bytes, 400'000u);
  bench.expect_nothing_left();
}

// The only witness worker waits for a key of half a minute; critical work does not.
TEST(PipelinePriority, CriticalWorkRunsWhileOthersWaitForTheirKey) {
  Bench bench;
  std::atomic<bool> go{false};
  bench.world.put_key("slow", {.on_load = [&](const groth16::Control& control) {
                        while (!go && !control.cancel.stop_requested()) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                        }
                        return control.check("loading");
                      }});
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.partition_count = 3, .key = "slow"}).ok());
  ASSERT_TRUE(bench.events.wait_state(1, PartitionState::kWitness));
  ASSERT_TRUE(bench.run(2, "critical", {}, Priority::kCritical).ok());
  wait_for_end(bench, 2);
  EXPECT_FALSE(ended(bench, 1));
  // Another that needs the very key waits inside the same worker, and nobody is blocked for ever.
  ASSERT_TRUE(bench.run(3, "same key", {.key = "slow"}, Priority::kCritical).ok());
  ASSERT_TRUE(bench.events.wait_state(3, PartitionState::kWitness));
  go = true;
  ASSERT_TRUE(bench.events.wait_ended(3));
  EXPECT_EQ(bench.events.outcome(1), "ok: a/0;a/1;a/2;");
  EXPECT_EQ(bench.events.outcome(3), "ok: same key/0;");
  EXPECT_EQ(bench.world.load_count, 1 + 1);
  bench.expect_nothing_left();
}

TEST(PipelinePriority, WhatIsOldIsServedUnderAStreamOfUrgentWork) {
  Bench bench;
  bench.options.ageing_ms = 1;
  bench.options.jobs_in_flight_max = 2;
  bench.start();
  const Job job{.hook = [](Stage, std::size_t, const StageContext& context) {
    return stand_in::work_for(std::chrono::milliseconds(1), context);
  }};
  constexpr JobId kHigh = 60;
  ASSERT_TRUE(bench.run(1, "h", job, Priority::kHigh).ok());
  ASSERT_TRUE(bench.run(1000, "low", job, Priority::kLow).ok());
  for (JobId id = 2; id <= kHigh; ++id) {
    ASSERT_TRUE(bench.run(id, "h", job, Priority::kHigh).ok());
  }
  ASSERT_TRUE(bench.events.wait_ended(kHigh + 1));
  const std::vector<JobId> order = bench.events.order();
  const auto place = std::find(order.begin(), order.end(), JobId{1000}) - order.begin();
  EXPECT_LT(place, static_cast<std::ptrdiff_t>(kHigh) - 5);
}

}  // namespace
}  // namespace cuzk::engine
