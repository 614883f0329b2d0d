// Runs of the real scheduler and the real ledger with stand-in stages, in virtual time.
//
// A stage is a number of seconds of work and the bytes it holds. Work goes on at a rate that
// depends on what else runs: witness workers share the memory's bandwidth with one another and with
// the device's uploads. One partition at a time computes on a device; a second worker of the device
// has its data at hand and waits for its turn. Nothing sleeps and nothing is allocated, so a
// machine of hundreds of gigabytes fits into a test.
//
// Two curves come out. `ledger` is what the account holds: a stage's bytes from the moment it may
// begin. `resident` is a model of what the kernel would show: a witness fills its pages as it goes
// on, and, where `arena_bytes` is set, each witness worker's allocator keeps that much of what its
// thread has freed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/scheduler.h"

namespace cuzk::engine {

// Seconds of work by stage. Defaults are the published machine of the incident (docs/engine.md).
struct StageTimes {
  double witness_alone_s = 29;
  double witness_slowdown = 0.025;  // for each other witness that runs, of the time alone
  double device_alone_s = 1.8;
  double device_loaded_s = 3.7;  // with `device_loaded_by` witnesses running or more
  double device_loaded_by = 10;
  double finish_s = 1.7;
  double jitter = 0.05;  // each stage's work is up to so much more or less, from the seed
};

// What is run. All jobs are alike and there from the beginning: the worst case for what piles up.
struct SimulationConfig {
  SchedulerConfig scheduler;
  StageTimes times;
  std::uint32_t job_count = 20;
  JobSpec job;  // each job is this one; ids are 1 to job_count, all submitted at the beginning
  std::uint64_t arena_bytes = 0;
  std::uint64_t host_bytes = 0;  // 0: no limit to look for
  std::uint32_t seed = 1;
  double sample_s = 1;
};

// One moment of a run. Counts are of partitions.
struct SimulationSample {
  double time_s = 0;
  std::uint64_t resident_bytes = 0, ledger_bytes = 0;
  std::uint32_t witness_running = 0, device_queued = 0, device_running = 0, pending = 0;
};

struct SimulationResult {
  std::vector<SimulationSample> samples;  // ascending in time
  std::uint64_t resident_peak_bytes = 0, ledger_peak_bytes = 0;
  double resident_peak_s = 0;
  std::uint64_t burst_peak_bytes = 0;    // resident, until the first witness is handed over
  std::uint64_t plateau_bytes = 0;       // median resident of the middle half of the run
  std::uint64_t resident_end_bytes = 0;  // when all is done, arenas included
  std::uint64_t ledger_end_bytes = 0;    // likewise
  std::uint32_t device_queued_peak = 0;  // finished witnesses that waited at once
  double overflow_s = -1;                // when resident first exceeded the host; -1: never
  double duration_s = 0;
  SchedulerCounts counts;  // at the end
};

// Error: the scheduler refuses a job, or the ledger refuses what the scheduler granted (a defect).
base::Result<SimulationResult> simulate(const SimulationConfig& config);

}  // namespace cuzk::engine
