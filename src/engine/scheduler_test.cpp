// One decision at a time: order, hand-over, memory, failure, cancel, preemption.
#include "engine/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/scheduler_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::Error error_of(const std::string& text) { return {ErrorKind::kInternal, text}; }

// The job that the worker gets; 0 when it gets nothing.
JobId granted(Scheduler& scheduler, WorkerId worker, std::int64_t now_ms = 0) {
  const auto assignment = scheduler.next(worker, now_ms);
  scheduler.check_invariants();
  return assignment ? assignment->job : 0;
}

void run(Scheduler& scheduler, WorkerId worker, JobId expected, std::int64_t now_ms = 0) {
  ASSERT_EQ(granted(scheduler, worker, now_ms), expected);
  scheduler.done(worker, now_ms);
  scheduler.check_invariants();
}

TEST(Scheduler, TakesAPartitionThroughItsStages) {
  Scheduler scheduler(small_config());
  ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
  EXPECT_EQ(granted(scheduler, device_worker()), 0u);
  run(scheduler, witness_worker(), 1);
  EXPECT_EQ(scheduler.partition_state(1, 0), PartitionState::kDeviceQueued);
  EXPECT_EQ(scheduler.counts().held_bytes, 10u);
  ASSERT_EQ(granted(scheduler, device_worker()), 1u);
  EXPECT_EQ(scheduler.counts().held_bytes, 15u);
  scheduler.done(device_worker(), 0);
  EXPECT_EQ(scheduler.counts().held_bytes, 4u);
  run(scheduler, finish_worker(), 1);
  EXPECT_TRUE(scheduler.idle());
  const auto outcomes = scheduler.take_outcomes();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_FALSE(outcomes[0].failure);
  EXPECT_EQ(scheduler.counts().completed_jobs, 1u);
  EXPECT_EQ(scheduler.counts().held_bytes, 0u);
  EXPECT_EQ(scheduler.counts().slots_held, 0u);
}

TEST(Scheduler, HoldsTheSlotUntilADeviceWorkerTakesOver) {
  Scheduler scheduler(small_config());
  ASSERT_TRUE(scheduler.submit(job_of(1, 3), 0).ok());
  run(scheduler, witness_worker(), 1);
  EXPECT_EQ(granted(scheduler, witness_worker()), 0u);  // the first still waits
  ASSERT_EQ(granted(scheduler, device_worker()), 1u);
  EXPECT_EQ(granted(scheduler, witness_worker()), 1u);
  EXPECT_EQ(scheduler.counts().slots_held, 1u);
}

TEST(Scheduler, LetsFinishedWitnessesPileUpWhenToldTo) {
  SchedulerConfig config = small_config();
  config.slot_release = SlotRelease::kAtWitnessEnd;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 5), 0).ok());
  for (int i = 0; i < 5; ++i) run(scheduler, witness_worker(), 1);
  EXPECT_EQ(scheduler.counts().in_state(PartitionState::kDeviceQueued), 5u);
}

TEST(Scheduler, HonoursPriorityDeadlineAndArrivalAtEachStage) {
  SchedulerConfig config = small_config();
  config.witness_workers = 8;
  config.jobs_in_flight_max = 8;
  Scheduler scheduler(config);
  JobSpec late = job_of(4, 1), soon = job_of(5, 1);
  late.deadline_ms = 2000;
  soon.deadline_ms = 1000;
  for (JobSpec spec : {job_of(1, 1, Priority::kLow), job_of(2, 1), job_of(3, 1), late, soon,
                       job_of(6, 1, Priority::kHigh), job_of(7, 1, Priority::kCritical)}) {
    ASSERT_TRUE(scheduler.submit(std::move(spec), 0).ok());
  }
  const std::vector<JobId> order = {7, 6, 5, 4, 2, 3, 1};
  for (const JobId id : order) run(scheduler, witness_worker(), id);
  for (const JobId id : order) run(scheduler, device_worker(), id);
  for (const JobId id : order) run(scheduler, finish_worker(), id);
  EXPECT_TRUE(scheduler.idle());
}

TEST(Scheduler, AdmitsByPriorityAndCountsOnlyWhatIsNotLessUrgent) {
  SchedulerConfig config = small_config();
  config.jobs_in_flight_max = 2;
  Scheduler scheduler(config);
  for (JobId id = 1; id <= 4; ++id) {
    ASSERT_TRUE(scheduler.submit(job_of(id, 1, Priority::kLow), 0).ok());
  }
  EXPECT_TRUE(scheduler.in_flight(1) && scheduler.in_flight(2) && !scheduler.in_flight(3));
  ASSERT_TRUE(scheduler.submit(job_of(5, 1, Priority::kHigh), 0).ok());
  EXPECT_TRUE(scheduler.in_flight(5));
  ASSERT_TRUE(scheduler.cancel(1, 0).ok());
  EXPECT_FALSE(scheduler.in_flight(3));  // 2 and 5 count for it
  ASSERT_TRUE(scheduler.cancel(5, 0).ok());
  EXPECT_TRUE(scheduler.in_flight(3));
}

TEST(Scheduler, RefusesWhatCannotBe) {
  SchedulerConfig config = small_config();
  config.memory = {100, 20, 10};
  Scheduler scheduler(config);
  EXPECT_EQ(scheduler.submit(job_of(1, 0), 0).error().kind, ErrorKind::kInvalidArgument);
  JobSpec keeps = job_of(1, 1);
  keeps.partitions[0].pending_bytes = 16;
  EXPECT_THAT(scheduler.submit(keeps, 0).error().message, HasSubstr("keeps 16 bytes"));
  JobSpec large = job_of(1, 1);
  large.key.bytes = 50;
  large.input_bytes = 6;
  const auto refused = scheduler.submit(large, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(
      refused.error().message,
      "job 1 can never fit: 50 for its key, 6 for its input and 15 for its largest partition "
      "are 71 bytes; the budget of 100 less 20 fixed and 10 kept for critical work leaves 70");
  EXPECT_TRUE(says_never_fits(refused.error()));
  EXPECT_FALSE(says_never_fits({ErrorKind::kResourceExhausted, "the queue is full"}));
  EXPECT_FALSE(says_never_fits({ErrorKind::kNotFound, "job 1 can never fit"}));
  large.priority = Priority::kCritical;  // may use the reserve
  EXPECT_TRUE(scheduler.submit(large, 0).ok());
  EXPECT_EQ(scheduler.submit(job_of(1, 1), 0).error().kind, ErrorKind::kAlreadyExists);
  scheduler.drain();
  EXPECT_EQ(scheduler.submit(job_of(2, 1), 0).error().kind, ErrorKind::kUnavailable);
}

TEST(Scheduler, ChecksItsConfiguration) {
  SchedulerConfig config = small_config();
  EXPECT_TRUE(Scheduler::check(config).ok());
  config.memory = {10, 8, 3};
  EXPECT_THAT(Scheduler::check(config).error().message, HasSubstr("10 bytes do not hold"));
  config.memory = {10, 8, 2};
  EXPECT_TRUE(Scheduler::check(config).ok());
  config.memory = {10, 8, UINT64_MAX - 7};  // their sum is 0 in 64 bits
  EXPECT_THAT(Scheduler::check(config).error().message, HasSubstr("10 bytes do not hold"));
  config = small_config();
  config.devices.clear();
  EXPECT_FALSE(Scheduler::check(config).ok());
  config = small_config();
  config.witness_workers = 0;
  EXPECT_FALSE(Scheduler::check(config).ok());
}

TEST(Scheduler, KeepsSmallOnesBehindALargeOneThatDoesNotFit) {
  SchedulerConfig config = small_config();
  config.witness_workers = 4;
  config.memory = {60, 0, 0};
  Scheduler scheduler(config);
  JobSpec large = job_of(2, 1);
  large.partitions[0] = {0, 50, 5, 4};
  ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
  ASSERT_TRUE(scheduler.submit(large, 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(3, 1), 0).ok());
  run(scheduler, witness_worker(0), 1);
  EXPECT_EQ(granted(scheduler, witness_worker(0)), 0u);  // 10 + 50 and 5 to start: too much
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 2u);
  run(scheduler, device_worker(), 1);
  EXPECT_EQ(granted(scheduler, witness_worker(0)), 2u);  // 4 + 50
  EXPECT_EQ(granted(scheduler, witness_worker(1)), 0u);
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 1u);
}

TEST(Scheduler, AWorkerKeptForCriticalWorkMakesNobodyWaitForMemory) {
  SchedulerConfig config = small_config();
  config.devices[0].critical_worker_count = 1;
  config.witness_workers = 2;
  config.memory = {35, 0, 0};
  Scheduler scheduler(config);
  JobSpec spec = job_of(1, 2);
  for (PartitionPlan& plan : spec.partitions) plan = {plan.index, 10, 10, 4};
  ASSERT_TRUE(scheduler.submit(std::move(spec), 0).ok());
  run(scheduler, witness_worker(0), 1);
  EXPECT_EQ(granted(scheduler, device_worker()), 1u);  // 20 now
  run(scheduler, witness_worker(0), 1);                // 30, and 10 more to start are too many
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 0u) << "the one worker is busy";
}

TEST(Scheduler, CountsOnlyWhatLacksMemoryAlone) {
  SchedulerConfig config = small_config();
  config.jobs_in_flight_max = 2;
  config.memory = {60, 0, 0};
  Scheduler scheduler(config);
  JobSpec first = job_of(1, 2), second = job_of(2, 1);
  first.input_bytes = second.input_bytes = 25;
  ASSERT_TRUE(scheduler.submit(std::move(first), 0).ok());
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 0u);
  ASSERT_TRUE(scheduler.submit(std::move(second), 0).ok());  // 25 + 25 + 15 are over 60
  ASSERT_TRUE(scheduler.submit(job_of(3, 1), 0).ok());       // behind it
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 2u);
  run(scheduler, witness_worker(0), 1);  // the only slot: the other partition waits for that
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 2u);
  ASSERT_TRUE(scheduler.cancel(1, 0));
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 0u);
  run(scheduler, witness_worker(0), 2);
  ASSERT_TRUE(scheduler.submit(job_of(4, 1), 0).ok());  // no place is free
  EXPECT_EQ(scheduler.counts().waiting_for_memory, 0u);
}

TEST(Scheduler, BeginsNoWitnessInTheRoomThatAnIdleDeviceWaitsFor) {
  SchedulerConfig config = small_config();
  config.witness_workers = 4;
  config.memory = {85, 0, 0};
  Scheduler scheduler(config);
  JobSpec spec = job_of(1, 3);
  spec.partitions[0] = {0, 20, 10, 30};
  spec.partitions[1] = {1, 20, 40, 0};
  spec.partitions[2] = {2, 20, 5, 0};
  ASSERT_TRUE(scheduler.submit(std::move(spec), 0).ok());
  run(scheduler, witness_worker(0), 1);
  run(scheduler, device_worker(), 1);  // keeps 30
  run(scheduler, witness_worker(0), 1);
  EXPECT_EQ(granted(scheduler, device_worker()), 0u);    // 30 + 20 + 40 are over 85
  EXPECT_EQ(granted(scheduler, witness_worker(0)), 0u);  // would fit, and make the device wait on
  run(scheduler, finish_worker(), 1);
  EXPECT_EQ(granted(scheduler, device_worker()), 1u);
  EXPECT_EQ(granted(scheduler, witness_worker(0)), 1u);
}

TEST(Scheduler, EvictsTheKeyUsedLongestAgoWhenRoomIsNeeded) {
  SchedulerConfig config = small_config();
  config.memory = {100, 0, 0};
  Scheduler scheduler(config);
  for (JobId id = 1; id <= 2; ++id) {
    JobSpec spec = job_of(id, 1, Priority::kNormal, id);
    spec.key.bytes = 40;
    ASSERT_TRUE(scheduler.submit(std::move(spec), 0).ok());
    run(scheduler, witness_worker(), id, static_cast<std::int64_t>(id));
    run(scheduler, device_worker(), id, static_cast<std::int64_t>(id));
    run(scheduler, finish_worker(), id, static_cast<std::int64_t>(id));
  }
  EXPECT_EQ(scheduler.counts().held_bytes, 80u);  // both idle and kept
  JobSpec spec = job_of(3, 1, Priority::kNormal, 2);
  spec.key.bytes = 40;
  ASSERT_TRUE(scheduler.submit(std::move(spec), 5).ok());
  EXPECT_TRUE(scheduler.take_evictions().empty());
  JobSpec other = job_of(4, 1, Priority::kNormal, 4);
  other.key.bytes = 40;
  ASSERT_TRUE(scheduler.submit(std::move(other), 6).ok());
  EXPECT_THAT(scheduler.take_evictions(), ElementsAre(1));
}

TEST(Scheduler, RetriesAFailedWitnessOnAnotherWorkerThenFailsByName) {
  SchedulerConfig config = small_config();
  config.witness_workers = 2;
  Scheduler scheduler(config);
  JobSpec spec = job_of(1, 2);
  spec.partitions[0].index = 7;
  ASSERT_TRUE(scheduler.submit(std::move(spec), 0).ok());
  ASSERT_EQ(granted(scheduler, witness_worker(0)), 1u);
  scheduler.failed(witness_worker(0), Fault::kWork, error_of("no memory"), 0);
  const auto other = scheduler.next(witness_worker(0), 0);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->partition, 1u);  // the failed one waits for another worker
  const auto again = scheduler.next(witness_worker(1), 0);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->partition, 0u);
  EXPECT_EQ(again->attempt, 2u);
  scheduler.failed(witness_worker(1), Fault::kWork, {ErrorKind::kUnsatisfied, "row 3"}, 0);
  EXPECT_TRUE(scheduler.should_stop(witness_worker(0)));
  EXPECT_FALSE(scheduler.idle());
  scheduler.stopped(witness_worker(0), 0);
  scheduler.check_invariants();
  const auto outcomes = scheduler.take_outcomes();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].failure->kind, ErrorKind::kUnsatisfied);
  EXPECT_EQ(outcomes[0].failure->message,
            "job 1: partition 7 failed twice, the second time in the witness stage: row 3; the "
            "first time: no memory");
  EXPECT_EQ(scheduler.counts().held_bytes, 0u);
  EXPECT_EQ(scheduler.counts().failed_jobs, 1u);
}

TEST(Scheduler, RetriesAFailedStartOnAnotherDevice) {
  SchedulerConfig config = small_config();
  config.devices = {{1}, {1}};
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
  run(scheduler, witness_worker(), 1);
  ASSERT_EQ(granted(scheduler, device_worker(0)), 1u);
  scheduler.failed(device_worker(0), Fault::kDevice, error_of("lost"), 0);
  EXPECT_EQ(scheduler.counts().slots_held, 1u);
  EXPECT_EQ(granted(scheduler, device_worker(0)), 0u);
  const auto again = scheduler.next(device_worker(1), 0);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->device, 1u);
  scheduler.done(device_worker(1), 0);
  run(scheduler, finish_worker(), 1);
  EXPECT_EQ(scheduler.counts().completed_jobs, 1u);
  EXPECT_EQ(scheduler.counts().retried_partitions, 1u);
}

TEST(Scheduler, KeepsAFallbackDeviceForWhatFailedElsewhere) {
  SchedulerConfig config = small_config();
  config.devices = {{1}, {1, true}};
  config.witness_workers = 8;
  config.quarantine_failures = 2;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 3), 0).ok());
  for (int i = 0; i < 3; ++i) run(scheduler, witness_worker(0), 1);
  EXPECT_EQ(granted(scheduler, device_worker(1)), 0u);
  ASSERT_EQ(granted(scheduler, device_worker(0)), 1u);
  scheduler.failed(device_worker(0), Fault::kDevice, error_of("lost"), 0);
  const auto again = scheduler.next(device_worker(1), 0);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attempt, 2u);
  scheduler.done(device_worker(1), 0);
  EXPECT_EQ(granted(scheduler, device_worker(1)), 0u);
  ASSERT_EQ(granted(scheduler, device_worker(0)), 1u);
  scheduler.failed(device_worker(0), Fault::kDevice, error_of("lost"), 0);
  for (int i = 0; i < 2; ++i) run(scheduler, device_worker(1), 1);  // no other is left
  for (int i = 0; i < 3; ++i) run(scheduler, finish_worker(), 1);
  EXPECT_TRUE(scheduler.idle());
  config.devices = {{1, true}};
  EXPECT_FALSE(Scheduler::check(config).ok());
}

TEST(Scheduler, ProvesAWrongProofAnewFromItsWitness) {
  SchedulerConfig config = small_config();
  config.devices = {{1}, {1}};
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
  run(scheduler, witness_worker(), 1);
  run(scheduler, device_worker(1), 1);
  ASSERT_EQ(granted(scheduler, finish_worker()), 1u);
  scheduler.failed(finish_worker(), Fault::kWrongProof,
                   {ErrorKind::kVerificationFailed, "the pairing equation does not hold"}, 0);
  EXPECT_EQ(scheduler.counts().held_bytes, 0u);
  run(scheduler, witness_worker(), 1);
  EXPECT_EQ(granted(scheduler, device_worker(1)), 0u);
  run(scheduler, device_worker(0), 1);
  run(scheduler, finish_worker(), 1);
  EXPECT_TRUE(scheduler.idle());
}

TEST(Scheduler, PutsADeviceThatFailsRepeatedlyIntoQuarantine) {
  SchedulerConfig config = small_config();
  config.devices = {{1}, {1}};
  config.witness_workers = 8;
  config.quarantine_failures = 2;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 4), 0).ok());
  for (int i = 0; i < 4; ++i) run(scheduler, witness_worker(0), 1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(granted(scheduler, device_worker(0)), 1u);
    scheduler.failed(device_worker(0), Fault::kDevice, error_of("lost"), 0);
  }
  EXPECT_FALSE(scheduler.device_usable(0));
  EXPECT_EQ(granted(scheduler, device_worker(0)), 0u);
  for (int i = 0; i < 4; ++i) run(scheduler, device_worker(1), 1);
  scheduler.restore_device(0);
  EXPECT_TRUE(scheduler.device_usable(0));
  for (int i = 0; i < 4; ++i) run(scheduler, finish_worker(), 1);
  EXPECT_TRUE(scheduler.idle());
}

TEST(Scheduler, FailsAllWhenNoDeviceIsLeft) {
  SchedulerConfig config = small_config();
  config.quarantine_failures = 1;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(2, 1), 0).ok());
  run(scheduler, witness_worker(), 1);
  ASSERT_EQ(granted(scheduler, device_worker()), 1u);
  scheduler.failed(device_worker(), Fault::kDevice, error_of("lost"), 0);
  EXPECT_TRUE(scheduler.idle());
  for (const JobOutcome& outcome : scheduler.take_outcomes()) {
    EXPECT_EQ(outcome.failure->kind, ErrorKind::kUnavailable);
  }
  EXPECT_EQ(scheduler.submit(job_of(3, 1), 0).error().kind, ErrorKind::kUnavailable);
  scheduler.restore_device(0);
  EXPECT_TRUE(scheduler.submit(job_of(3, 1), 0).ok());
}

TEST(Scheduler, CancelsInAnyState) {
  const auto steps = [](Scheduler& scheduler, int count) {
    if (count > 0) {
      EXPECT_EQ(granted(scheduler, witness_worker()), 1u);
    }
    if (count > 1) scheduler.done(witness_worker(), 0);
    if (count > 2) {
      EXPECT_EQ(granted(scheduler, device_worker()), 1u);
    }
    if (count > 3) scheduler.done(device_worker(), 0);
    if (count > 4) {
      EXPECT_EQ(granted(scheduler, finish_worker()), 1u);
    }
  };
  for (int count = 0; count <= 5; ++count) {
    Scheduler scheduler(small_config());
    ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
    steps(scheduler, count);
    ASSERT_TRUE(scheduler.cancel(1, 0).ok());
    for (const WorkerId worker : {witness_worker(), device_worker(), finish_worker()}) {
      if (!scheduler.should_stop(worker)) continue;
      EXPECT_TRUE(scheduler.cancel(1, 0).ok());  // twice is fine
      scheduler.stopped(worker, 0);
    }
    scheduler.check_invariants();
    EXPECT_TRUE(scheduler.idle()) << count;
    const auto outcomes = scheduler.take_outcomes();
    ASSERT_EQ(outcomes.size(), 1u) << count;
    EXPECT_EQ(outcomes[0].failure->kind, ErrorKind::kCancelled);
    EXPECT_EQ(scheduler.counts().cancelled_jobs, 1u);
    EXPECT_EQ(scheduler.counts().held_bytes, 0u);
    EXPECT_EQ(scheduler.cancel(1, 0).error().kind, ErrorKind::kNotFound);
  }
}

TEST(Scheduler, CancelsWhatIsStillQueued) {
  SchedulerConfig config = small_config();
  config.jobs_in_flight_max = 1;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(2, 1), 0).ok());
  ASSERT_TRUE(scheduler.cancel(2, 0).ok());
  EXPECT_EQ(scheduler.take_outcomes()[0].job, 2u);
  EXPECT_EQ(scheduler.counts().queued_jobs, 0u);
}

TEST(Scheduler, YieldsToCriticalWorkAtTheBorderOfAChunk) {
  SchedulerConfig config = small_config();
  config.memory = {100, 0, 20};
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 8, Priority::kLow), 0).ok());
  run(scheduler, witness_worker(), 1);
  ASSERT_EQ(granted(scheduler, device_worker()), 1u);
  ASSERT_EQ(granted(scheduler, witness_worker()), 1u);
  EXPECT_FALSE(scheduler.should_yield(device_worker()));
  ASSERT_TRUE(scheduler.submit(job_of(2, 1, Priority::kCritical), 0).ok());
  for (const Stage stage : {Stage::kWitness, Stage::kDevice}) {
    ASSERT_TRUE(scheduler.should_yield(device_worker()));
    const auto inline_work = scheduler.take_inline(device_worker(), 0);
    ASSERT_TRUE(inline_work);
    EXPECT_EQ(inline_work->job, 2u);
    EXPECT_EQ(inline_work->stage, stage);
    EXPECT_EQ(inline_work->reason, GrantReason::kInline);
    EXPECT_FALSE(scheduler.should_yield(device_worker()));  // not twice
    EXPECT_FALSE(scheduler.take_inline(device_worker(), 0));
    scheduler.check_invariants();
    scheduler.done(device_worker(), 0);
  }
  EXPECT_FALSE(scheduler.should_yield(device_worker()));  // the finish worker is idle
  run(scheduler, finish_worker(), 2);
  EXPECT_EQ(scheduler.take_outcomes()[0].job, 2u);
  scheduler.done(device_worker(), 0);  // its own work went on and ended
  EXPECT_EQ(scheduler.counts().inline_grants, 2u);
}

TEST(Scheduler, WhatLacksRoomOnADeviceIsNeverStuckBetweenTheOthers) {
  SchedulerConfig config = small_config();
  config.devices = {{1}, {1}, {1, true}};
  config.quarantine_failures = 1;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1), 0).ok());
  run(scheduler, witness_worker(), 1);
  ASSERT_EQ(granted(scheduler, device_worker(0)), 1u);
  scheduler.failed(device_worker(0), Fault::kNoRoom, error_of("full"), 0);
  EXPECT_EQ(granted(scheduler, device_worker(0)), 0u);
  EXPECT_EQ(granted(scheduler, device_worker(2)), 0u);  // kept for what failed on all others
  ASSERT_EQ(granted(scheduler, device_worker(1)), 1u);
  scheduler.failed(device_worker(1), Fault::kDevice, error_of("lost"), 0);
  EXPECT_FALSE(scheduler.device_usable(1));
  EXPECT_EQ(granted(scheduler, device_worker(0)), 0u);
  ASSERT_EQ(granted(scheduler, device_worker(2)), 1u);
  scheduler.failed(device_worker(2), Fault::kNoRoom, error_of("full"), 0);
  // No other may take it, and it has had its attempts.
  const auto outcomes = scheduler.take_outcomes();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_THAT(outcomes[0].failure->message, HasSubstr("full"));
  EXPECT_TRUE(scheduler.device_usable(0));
  EXPECT_TRUE(scheduler.idle());
}

TEST(Scheduler, NobodyYieldsInTheMiddleOfAProofOnACard) {
  SchedulerConfig config = small_config();
  config.devices = {{.worker_count = 1, .takes_inline = false}};
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1, Priority::kLow), 0).ok());
  run(scheduler, witness_worker(), 1);
  ASSERT_EQ(granted(scheduler, device_worker()), 1u);
  ASSERT_TRUE(scheduler.submit(job_of(2, 1, Priority::kCritical), 0).ok());
  run(scheduler, witness_worker(), 2);
  EXPECT_FALSE(scheduler.should_yield(device_worker()));
  EXPECT_FALSE(scheduler.take_inline(device_worker(), 0));
  scheduler.done(device_worker(), 0);
  EXPECT_EQ(granted(scheduler, device_worker()), 2u);
}

TEST(Scheduler, AWorkerForCriticalWorkTakesNothingElse) {
  SchedulerConfig config = small_config();
  config.witness_workers = 4;
  config.devices = {{.worker_count = 1, .critical_worker_count = 1, .takes_inline = false}};
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 2, Priority::kHigh), 0).ok());
  run(scheduler, witness_worker(), 1);
  run(scheduler, witness_worker(), 1);
  ASSERT_EQ(granted(scheduler, device_worker(0)), 1u);
  EXPECT_EQ(granted(scheduler, device_worker(1), 1'000'000), 0u) << "not what is old either";
  ASSERT_TRUE(scheduler.submit(job_of(2, 1, Priority::kCritical), 0).ok());
  run(scheduler, witness_worker(), 2);
  EXPECT_EQ(granted(scheduler, device_worker(1)), 2u);
  // It is no elsewhere for what failed on the only other worker.
  scheduler.failed(device_worker(0), Fault::kWork, {base::ErrorKind::kIo, "bad"}, 0);
  scheduler.done(device_worker(1), 0);
  EXPECT_EQ(granted(scheduler, device_worker(1)), 0u);
  EXPECT_EQ(granted(scheduler, device_worker(0)), 1u);
}

TEST(Scheduler, YieldsThoughAFallbackDeviceIsIdle) {
  SchedulerConfig config = small_config();
  config.devices = {{1}, {1, true}};
  config.witness_workers = 2;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 2, Priority::kLow), 0).ok());
  run(scheduler, witness_worker(), 1);
  ASSERT_EQ(granted(scheduler, device_worker(0)), 1u);
  ASSERT_TRUE(scheduler.submit(job_of(2, 1, Priority::kCritical), 0).ok());
  run(scheduler, witness_worker(), 2);
  EXPECT_EQ(granted(scheduler, device_worker(1)), 0u);
  EXPECT_TRUE(scheduler.should_yield(device_worker(0)));
}

TEST(Scheduler, StaysWithAKeyForABoundedNumberOfGrants) {
  SchedulerConfig config = small_config();
  config.witness_workers = 16;
  config.jobs_in_flight_max = 16;
  config.grouping_max = 3;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1, Priority::kNormal, 1), 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(2, 1, Priority::kNormal, 2), 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(3, 5, Priority::kNormal, 1), 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(4, 1, Priority::kHigh, 2), 0).ok());
  for (int i = 0; i < 8; ++i) {
    ASSERT_NE(granted(scheduler, witness_worker()), 0u);
    scheduler.done(witness_worker(), 0);
  }
  // 4 is more urgent and brings key 2; then 2 shares it; then 1 and 3 in order.
  std::vector<JobId> order;
  for (int i = 0; i < 8; ++i) {
    order.push_back(granted(scheduler, device_worker()));
    scheduler.done(device_worker(), 0);
  }
  EXPECT_THAT(order, ElementsAre(4, 2, 1, 3, 3, 3, 3, 3));
  EXPECT_EQ(scheduler.counts().key_switches, 1u);
}

TEST(Scheduler, LeavesAKeyWhenOthersWaitedForItsTurns) {
  SchedulerConfig config = small_config();
  config.witness_workers = 16;
  config.grouping_max = 2;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1, Priority::kNormal, 1), 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(2, 1, Priority::kNormal, 2), 0).ok());
  ASSERT_TRUE(scheduler.submit(job_of(3, 4, Priority::kNormal, 1), 0).ok());
  for (int i = 0; i < 6; ++i) {
    ASSERT_NE(granted(scheduler, witness_worker()), 0u);
    scheduler.done(witness_worker(), 0);
  }
  std::vector<JobId> order;
  for (int i = 0; i < 6; ++i) {
    order.push_back(granted(scheduler, device_worker()));
    scheduler.done(device_worker(), 0);
  }
  EXPECT_THAT(order, ElementsAre(1, 3, 3, 2, 3, 3));
}

TEST(Scheduler, GivesTheOldestItsTurnUnderAStreamOfUrgentWork) {
  SchedulerConfig config = small_config();
  config.ageing_ms = 1000;
  config.jobs_in_flight_max = 4;
  Scheduler scheduler(config);
  ASSERT_TRUE(scheduler.submit(job_of(1, 1, Priority::kLow), 0).ok());
  std::int64_t now_ms = 0;
  JobId next_id = 2;
  std::uint32_t passed = 0;
  // There is always urgent work, yet the old job is through after a bounded number of grants.
  while (scheduler.partition_state(1, 0) == PartitionState::kQueued && passed < 100) {
    now_ms += 100;
    ASSERT_TRUE(scheduler.submit(job_of(next_id++, 1, Priority::kHigh), now_ms).ok());
    ASSERT_TRUE(scheduler.submit(job_of(next_id++, 1, Priority::kHigh), now_ms).ok());
    const auto assignment = scheduler.next(witness_worker(), now_ms);
    ASSERT_TRUE(assignment);
    passed += assignment->job != 1;
    scheduler.done(witness_worker(), now_ms);
    ASSERT_TRUE(scheduler.next(device_worker(), now_ms));
    scheduler.done(device_worker(), now_ms);
    if (const auto finish = scheduler.next(finish_worker(), now_ms)) {
      scheduler.done(finish_worker(), now_ms);
    }
  }
  EXPECT_EQ(passed, 9u + Scheduler::kAgedTurn - 1);  // nine until it is old, then its turn
  EXPECT_EQ(scheduler.counts().aged_grants, 1u);
}

}  // namespace
}  // namespace cuzk::engine
