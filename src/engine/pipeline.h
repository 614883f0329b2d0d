// Jobs through the stages: threads that do what the scheduler decides, inside one process.
//
// Workers of three kinds (witness, device, finish) wait until the scheduler has something for them.
// Whatever happens is reported to it under one mutex, then every idle worker is asked, then those
// with work are woken: nobody polls and no wake-up can be lost. What a stage leaves is held with a
// permit of the ledger that covers it, and freed before the scheduler hears of its end, so the
// account in numbers is never below the real one. docs/engine.md has the reasons.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ledger.h"
#include "engine/executor.h"
#include "engine/fault_injection.h"
#include "engine/job_type.h"
#include "engine/stage_observer.h"

namespace cuzk::engine {

// Zero counts are chosen by the number of CPUs and devices.
// What the pipeline is made with. Zero counts are chosen by the number of CPUs and devices.
struct PipelineOptions {
  std::shared_ptr<const JobTypes> types;
  std::vector<ProvingDevice> devices;    // at least one that takes everything; the CPU first
  std::uint32_t witness_workers = 0;     // pw
  std::uint32_t device_workers = 0;      // gw, of each device that does not say its own
  std::uint32_t finish_workers = 0;      // gt
  std::uint32_t jobs_in_flight_max = 0;  // j
  // Of the ledger, which gets it; 0: none; not given: what this machine and its groups allow.
  std::optional<std::uint64_t> budget_bytes;
  std::uint64_t critical_reserve_bytes = 0;  // of the budget, for critical work alone
  std::int64_t ageing_ms = 60'000;
  std::uint32_t grouping_max = 8;
  std::uint32_t quarantine_failures = 3;
  // Groth16 takes its buffers from the process's, so all but tests with stand-in stages use it.
  base::Ledger* ledger = &base::Ledger::process();
  // Called once, on the thread of the events, when the last device is lost and before any job is
  // told of it. Who can begin anew with other devices ends the process here; where this returns or
  // is empty, the jobs fail as unavailable.
  std::function<void(const std::string& sentence)> devices_lost = {};
  FaultInjection faults = {};         // for tests
  StageObserver* observer = nullptr;  // outlives the pipeline
};

// The options with every count chosen, the budget resolved and each device's workers set. Errors
// (kInvalidArgument) name the field; kResourceExhausted and kUnsupported as resolve_budget.
base::Result<PipelineOptions> resolve_options(PipelineOptions options);

// Thread-safe, as every Executor. Destroyed only when no call of it is under way, and not by what
// listens to its events: stop() waits for those to be told.
class Pipeline final : public Executor {
 public:
  // `events` outlives the pipeline. Errors as resolve_options.
  static base::Result<std::unique_ptr<Pipeline>> make(PipelineOptions options,
                                                      ExecutorEvents& events);
  ~Pipeline() override;  // stops

  base::Status run(RunRequest request) override;
  base::Status cancel(JobId id) override;
  std::optional<JobProgress> progress(JobId id) const override;
  base::Result<bool> preload(const std::string& key_name) override;
  base::Result<std::uint64_t> evict(const std::string& key_name) override;
  ExecutorReport report() const override;
  void stop() override;

  // Ends the process where the scheduler's sums are wrong, or where the ledger holds more for this
  // pipeline than the scheduler's account says. For tests.
  void check_invariants() const;

 private:
  explicit Pipeline(std::unique_ptr<class PipelineCore> core);
  std::unique_ptr<class PipelineCore> core_;
};

}  // namespace cuzk::engine
