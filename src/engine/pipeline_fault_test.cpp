// Faults on purpose: each ends with the job retried or failed by name, nothing left, and the next
// job proved.
#include <stdexcept>

#include "engine/pipeline_test_support.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;
using stand_in::Bench;
using stand_in::Gate;
using stand_in::Job;
using Point = FaultInjection::Point;

void spoil(Product& product) { static_cast<stand_in::Product&>(product).text += "!"; }

void expect_next_works(Bench& bench, JobId id = 99) {
  ASSERT_TRUE(bench.run(id, "next").ok());
  while (bench.events.outcome(id) == "not ended") {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(bench.events.outcome(id), "ok: next/0;");
  bench.expect_nothing_left();
}

TEST(PipelineFault, AWrongProofIsMadeAnew) {
  Bench bench;
  bench.options.faults.after = [](const Point& at, Product& product) {
    if (at.job == 1 && at.stage == Stage::kDevice && at.partition == 1 && at.attempt == 1) {
      spoil(product);
    }
  };
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", {.partition_count = 3}).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1), "ok: a/0;a/1;a/2;");
  const ExecutorReport report = bench.pipeline->report();
  EXPECT_EQ(report.counts.retried_partitions, 1u);
  EXPECT_EQ(report.devices[0].wrong_proof_count, 1u);
  EXPECT_TRUE(report.devices[0].usable);
  expect_next_works(bench);
}

TEST(PipelineFault, AWrongProofTwiceFailsTheJobByItsPartition) {
  Bench bench;
  bench.options.faults.after = [](const Point& at, Product& product) {
    if (at.job < 99 && at.stage == Stage::kDevice && at.partition == 1) spoil(product);
  };
  bench.start();
  for (JobId id = 1; id <= 5; ++id) {
    ASSERT_TRUE(bench.run(id, "a", {.partition_count = 3}).ok());
    ASSERT_TRUE(bench.events.wait_ended(id));
    EXPECT_EQ(bench.events.outcome(id),
              "verification_failed: a: partition 1 failed twice, the second time in the finish "
              "stage: the proof 'a/1!' does not verify; the first time: the proof 'a/1!' does not "
              "verify");
  }
  // The only device stays in use: a bad key would look the same.
  EXPECT_TRUE(bench.pipeline->report().devices[0].usable);
  expect_next_works(bench);
}

// The partitions are proved by then: there is nothing to try again.
TEST(PipelineFault, AnExceptionWhereTheResultIsPutTogetherFailsThatJobAlone) {
  Bench bench;
  bench.start();
  Job job{.partition_count = 2};
  job.on_assemble = [] { throw std::bad_alloc(); };
  ASSERT_TRUE(bench.run(1, "a", job).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_NE(bench.events.outcome(1).find("resource_exhausted: a: partition "), std::string::npos)
      << bench.events.outcome(1);
  EXPECT_EQ(bench.events.proved_count(), 2u);
  EXPECT_EQ(bench.pipeline->report().counts.retried_partitions, 0u);
  expect_next_works(bench);
}

// A card that computes wrongly beside a CPU: every job is proved, and the card is set aside.
TEST(PipelineFault, ADeviceOfWrongProofsIsQuarantined) {
  Bench bench;
  bench.options.devices = {stand_in::cpu(), stand_in::card("card")};
  bench.options.devices[0].fallback_only = true;
  bench.options.faults.after = [](const Point& at, Product& product) {
    if (at.stage == Stage::kDevice && at.device == 1) spoil(product);
  };
  bench.start();
  for (JobId id = 1; id <= 6; ++id) ASSERT_TRUE(bench.run(id, "a").ok());
  ASSERT_TRUE(bench.events.wait_ended(6));
  for (JobId id = 1; id <= 6; ++id) EXPECT_EQ(bench.events.outcome(id), "ok: a/0;");
  const ExecutorReport report = bench.pipeline->report();
  EXPECT_FALSE(report.devices[1].usable);
  EXPECT_TRUE(report.devices[0].usable);
  EXPECT_GE(report.devices[1].wrong_proof_count, 3u);
  EXPECT_EQ(report.devices[0].wrong_proof_count, 0u);
  expect_next_works(bench);
}

// A damaged key gives wrong proofs on every device: the jobs fail, no device is blamed.
TEST(PipelineFault, WrongProofsOnTwoDevicesBlameNeither) {
  Bench bench;
  bench.options.devices = {stand_in::cpu(), stand_in::card("card")};
  bench.options.devices[0].fallback_only = true;
  bench.options.faults.after = [](const Point& at, Product& product) {
    if (at.stage == Stage::kDevice && at.job < 99) spoil(product);
  };
  bench.start();
  for (JobId id = 1; id <= 8; ++id) {
    ASSERT_TRUE(bench.run(id, "a").ok());
    ASSERT_TRUE(bench.events.wait_ended(id));
    EXPECT_EQ(bench.events.outcome(id).substr(0, 20), "verification_failed:");
  }
  EXPECT_TRUE(bench.pipeline->report().devices[0].usable);
  EXPECT_TRUE(bench.pipeline->report().devices[1].usable);
  expect_next_works(bench);
}

TEST(PipelineFault, ADeviceThatErrsIsQuarantinedAndItsWorkDoneElsewhere) {
  Bench bench;
  std::atomic<int> witnesses{0};
  const Job job{.hook = [&](Stage stage, std::size_t, const StageContext& context) -> base::Status {
    if (stage == Stage::kWitness) ++witnesses;
    if (stage == Stage::kDevice && context.device->name == "card") {
      return Error{ErrorKind::kUnavailable, "the card fell off the bus"};
    }
    return base::ok_status();
  }};
  bench.options.devices = {stand_in::cpu(), stand_in::card("card")};
  bench.options.devices[0].fallback_only = true;
  bench.start();
  for (JobId id = 1; id <= 6; ++id) ASSERT_TRUE(bench.run(id, "a", job).ok());
  ASSERT_TRUE(bench.events.wait_ended(6));
  for (JobId id = 1; id <= 6; ++id) EXPECT_EQ(bench.events.outcome(id), "ok: a/0;");
  EXPECT_EQ(witnesses.load(), 6);  // the witness outlives a failed start
  const ExecutorReport report = bench.pipeline->report();
  EXPECT_FALSE(report.devices[1].usable);
  EXPECT_EQ(report.devices[1].failure_count, 3u);
  expect_next_works(bench);
}

TEST(PipelineFault, TheLastDeviceThatErrsFailsAllByItsReason) {
  Bench bench;
  const Job job{.hook = [&](Stage stage, std::size_t, const StageContext&) -> base::Status {
    if (stage == Stage::kDevice) return Error{ErrorKind::kInternal, "the device is gone"};
    return base::ok_status();
  }};
  bench.start();
  for (JobId id = 1; id <= 4; ++id) {
    const auto status = bench.run(id, "a", job);
    if (status.ok()) {
      ASSERT_TRUE(bench.events.wait_ended(id));
      EXPECT_NE(bench.events.outcome(id).substr(0, 3), "ok:");
    } else {
      EXPECT_EQ(status.error().message, "every device is in quarantine");
      EXPECT_GE(id, 3u);
    }
  }
  EXPECT_FALSE(bench.pipeline->report().devices[0].usable);
  const auto refused = bench.run(5, "a", job);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(refused.error().message, "every device is in quarantine");
  bench.expect_nothing_left();
}

// Who can begin anew hears of it first: no job has failed by then but by its own attempts.
TEST(PipelineFault, TheLossOfTheLastDeviceIsToldBeforeItsJobsFail) {
  Bench bench;
  bench.options.quarantine_failures = 1;
  std::atomic<int> told{0};
  std::string sentence;
  bool was_first = false;
  bench.options.devices_lost = [&](const std::string& text) {
    sentence = text;
    was_first = true;
    for (JobId id = 1; id <= 3; ++id)
      was_first = was_first && bench.events.outcome(id) == "not ended";
    ++told;
  };
  std::atomic<bool> go{false};
  const Job job{.hook = [&](Stage stage, std::size_t, const StageContext&) -> base::Status {
    if (stage != Stage::kDevice) return base::ok_status();
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Error{ErrorKind::kInternal, "fell off the bus"};
  }};
  bench.start();
  for (JobId id = 1; id <= 3; ++id) ASSERT_TRUE(bench.run(id, "a", job).ok());
  go = true;
  ASSERT_TRUE(bench.events.wait_ended(3));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(was_first);
  EXPECT_NE(sentence.find("fell off the bus"), std::string::npos) << sentence;
  bench.expect_nothing_left();
}

TEST(PipelineFault, RefusedMemoryIsTriedAgainThenFailsThatJob) {
  for (const Stage stage : {Stage::kWitness, Stage::kDevice, Stage::kFinish}) {
    for (const std::uint32_t times : {1u, 2u}) {
      Bench bench;
      bench.options.faults.before = [&](const Point& at) {
        if (at.job == 1 && at.stage == stage && at.attempt <= times) throw std::bad_alloc();
        return base::ok_status();
      };
      bench.start();
      ASSERT_TRUE(bench.run(1, "a", {.partition_count = 2}).ok());
      ASSERT_TRUE(bench.run(2, "b", {.partition_count = 2}).ok());
      ASSERT_TRUE(bench.events.wait_ended(2));
      EXPECT_EQ(bench.events.outcome(2), "ok: b/0;b/1;");
      if (times == 1) {
        EXPECT_EQ(bench.events.outcome(1), "ok: a/0;a/1;");
      } else {
        EXPECT_EQ(bench.events.outcome(1).substr(0, 19), "resource_exhausted:");
        EXPECT_NE(bench.events.outcome(1).find("no memory left"), std::string::npos);
      }
      EXPECT_TRUE(bench.pipeline->report().devices[0].usable);
      expect_next_works(bench);
    }
  }
}

// As a device says it: an error of that kind from the stage, not an exception.
base::Status no_room() {
  return Error{ErrorKind::kResourceExhausted, "200 MiB of device memory are free of 80 GiB"};
}

// What does not fit a card is made on another one, or on the CPU. However often that happens,
// memory is no fault of the device.
TEST(PipelineFault, WhatACardHasNoRoomForIsMadeElsewhere) {
  for (const bool second_card_has_room : {true, false}) {
    Bench bench;
    bench.options.devices = {stand_in::cpu(), stand_in::card("small"), stand_in::card("large")};
    bench.options.devices[0].fallback_only = true;
    const Job job{
        .partition_count = 2, .hook = [&](Stage stage, std::size_t, const StageContext& context) {
          const bool has_room = context.device == nullptr || context.device->name == "cpu" ||
                                (context.device->name == "large" && second_card_has_room);
          return stage != Stage::kDevice || has_room ? base::ok_status() : no_room();
        }};
    bench.start();
    for (JobId id = 1; id <= 5; ++id) {
      ASSERT_TRUE(bench.run(id, "a", job).ok());
      ASSERT_TRUE(bench.events.wait_ended(id));
      EXPECT_EQ(bench.events.outcome(id), "ok: a/0;a/1;");
    }
    const auto report = bench.pipeline->report();
    for (const auto& device : report.devices) {
      EXPECT_TRUE(device.usable) << device.name;
      EXPECT_EQ(device.failure_count, 0u) << device.name;
    }
    EXPECT_EQ(report.devices[0].started_count, second_card_has_room ? 0u : 10u);
    EXPECT_EQ(report.counts.retried_partitions, 0u);
    expect_next_works(bench);
  }
}

// Without another device and without the CPU the job fails, with the card's own sentence.
TEST(PipelineFault, WhereNoOtherDeviceMayTakeItLackOfRoomFailsTheJob) {
  Bench bench;
  bench.options.devices = {stand_in::card("card")};
  std::atomic<bool> is_full{true};
  const Job job{.hook = [&](Stage stage, std::size_t, const StageContext&) {
    return stage == Stage::kDevice && is_full ? no_room() : base::ok_status();
  }};
  bench.start();
  for (JobId id = 1; id <= 6; ++id) {
    ASSERT_TRUE(bench.run(id, "a", job).ok());
    ASSERT_TRUE(bench.events.wait_ended(id));
    EXPECT_EQ(bench.events.outcome(id).substr(0, 19), "resource_exhausted:");
    EXPECT_NE(bench.events.outcome(id).find("200 MiB of device memory"), std::string::npos);
  }
  EXPECT_TRUE(bench.pipeline->report().devices[0].usable);
  EXPECT_EQ(bench.pipeline->report().devices[0].failure_count, 0u);
  is_full = false;
  ASSERT_TRUE(bench.run(7, "a", job).ok());
  ASSERT_TRUE(bench.events.wait_ended(7));
  EXPECT_EQ(bench.events.outcome(7), "ok: a/0;");
  expect_next_works(bench);
}

TEST(PipelineFault, ExceptionsFailTheJobAndNotTheProcess) {
  Bench bench;
  bench.options.faults.before = [](const Point& at) -> base::Status {
    if (at.job == 1) throw std::runtime_error("a defect of a job type");
    if (at.job == 2) throw 7;
    return base::ok_status();
  };
  bench.start();
  ASSERT_TRUE(bench.run(1, "a").ok());
  ASSERT_TRUE(bench.run(2, "b").ok());
  ASSERT_TRUE(bench.events.wait_ended(2));
  EXPECT_NE(bench.events.outcome(1).find("a defect of a job type"), std::string::npos);
  EXPECT_NE(bench.events.outcome(2).find("of unknown type"), std::string::npos);
  expect_next_works(bench);
}

TEST(PipelineFault, ABadWitnessFailsAtOnce) {
  Bench bench;
  std::atomic<int> attempts{0};
  const Job job{.hook = [&](Stage stage, std::size_t, const StageContext&) -> base::Status {
    if (stage != Stage::kFinish) return base::ok_status();
    ++attempts;
    return Error{ErrorKind::kUnsatisfied, "constraint 3 is broken"};
  }};
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", job).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_EQ(bench.events.outcome(1),
            "unsatisfied: a: partition 0 failed in the finish stage: constraint 3 is broken");
  EXPECT_EQ(attempts.load(), 1);
  expect_next_works(bench);
}

TEST(PipelineFault, AFailedPartitionStopsItsSiblings) {
  Gate gate;
  Bench bench;
  bench.options.witness_workers = 4;
  std::atomic<int> begun{0};
  const Job job{.partition_count = 8,
                .hook = [&](Stage stage, std::size_t p, const StageContext& c) -> base::Status {
                  if (stage == Stage::kWitness) ++begun;
                  if (stage == Stage::kWitness && p == 3) {
                    gate.wait_for(1);
                    return Error{ErrorKind::kUnsatisfied, "partition three"};
                  }
                  if (stage == Stage::kDevice) return gate.pass(c);
                  return base::ok_status();
                }};
  bench.start();
  ASSERT_TRUE(bench.run(1, "a", job).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));  // though nobody opens the gate
  EXPECT_EQ(bench.events.outcome(1),
            "unsatisfied: a: partition 3 failed in the witness stage: partition three");
  EXPECT_LT(begun.load(), 8);
  expect_next_works(bench);
}

TEST(PipelineFault, AStageThatLeavesMoreThanItsPlanFailsThatJob) {
  Bench bench;
  bench.start();
  ASSERT_TRUE(bench.run(1, "liar", {.witness_bytes = 5000, .extra_bytes = 1}).ok());
  ASSERT_TRUE(bench.events.wait_ended(1));
  EXPECT_NE(bench.events.outcome(1).find(
                "the witness stage left 5001 bytes, more than the 5000 of its plan"),
            std::string::npos);
  expect_next_works(bench);
}

}  // namespace
}  // namespace cuzk::engine
