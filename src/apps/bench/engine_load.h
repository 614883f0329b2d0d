// A load through the whole engine: journal, scheduler, pipeline, CPU; every result judged apart
// from it; time, memory and counters beside what the stages themselves took.
//
// Judging is by the verifier and the job's own statement, outside of the engine, so a fault of the
// engine cannot hide itself. What it costs is part of the CPU's time and told so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/load_material.h"
#include "engine/engine.h"
#include "engine/trace.h"
#include "groth16/control.h"

namespace cuzk::apps {

// Zero counts are chosen by the engine.
struct EngineSettings {
  std::uint32_t jobs_in_flight = 0, witness_workers = 0, device_workers = 0, finish_workers = 0;
  std::uint64_t budget_bytes = 0;  // 0: none
  std::filesystem::path journal_folder;
  bool keeps_journal = false;  // otherwise its folder is emptied first
  std::chrono::milliseconds sample_interval{20};
};

// An engine over the CPU with its trace. It sets the budget of the process's ledger while it lives,
// so there is one at a time.
class LoadEngine {
 public:
  static base::Result<std::unique_ptr<LoadEngine>> open(const LoadMaterial& material,
                                                        const EngineSettings& settings);
  ~LoadEngine();
  engine::Engine& engine() { return *engine_; }
  engine::RunTrace& trace() { return trace_; }
  // Drops every key that nobody refers to, so that an idle engine holds nothing of its jobs.
  void drop_keys();

 private:
  LoadEngine() = default;
  engine::RunTrace trace_;
  std::unique_ptr<engine::Engine> engine_;
};

// What a run found. All of it is there when run_load() succeeds, jobs that failed included.
struct LoadResult {
  std::uint64_t job_count = 0, valid_count = 0;
  std::vector<std::string> faults;  // jobs without a valid result, at most some
  double wall_s = 0, cpu_s = 0;     // of the process, the making and the judging of jobs included
  std::uint32_t core_count = 1;     // that this process may use
  std::array<engine::StageTotal, engine::kStageCount> stages{};
  std::array<std::uint32_t, engine::kStageCount> workers{};
  std::uint64_t budget_bytes = 0, ledger_peak_bytes = 0;
  engine::Resident before, after;  // idle, without keys, the trace's own memory as small as it gets
  std::uint64_t resident_peak_bytes = 0;
  std::uint64_t descriptors_before = 0, descriptors_after = 0;
  engine::ExecutorReport report;  // at the end, before keys were dropped

  // Times below which this work cannot be done: by these workers, the busy time of the busiest kind
  // over their number; by these cores, the CPU seconds over theirs. Where more workers run than
  // there are cores, their busy time counts the waiting for a core too; the larger of both is still
  // a floor, because one worker's stages never overlap.
  double worker_floor_s() const;
  double cpu_floor_s() const { return cpu_s / core_count; }
  double floor_s() const { return std::max(worker_floor_s(), cpu_floor_s()); }
  // The floor as a part of the time that it took, in per cent: 100 is the most that can be had.
  double percent_of_floor() const { return wall_s > 0 ? 100 * floor_s() / wall_s : 0; }
  // How much more is resident after than before, in per cent.
  double resident_growth_percent() const;
  // Whether nothing is counted as alive, held or waiting.
  bool counters_are_zero() const;
};

using MakeJob = std::function<base::Result<LoadJob>(std::uint64_t index)>;
// Jobs are made while the load runs, and `queued_max` bounds how many exist at once.
struct LoadPlan {
  std::uint64_t job_count = 0;
  MakeJob job_of;                   // makes job i
  std::uint64_t queued_max = 1000;  // so many wait in the engine at a time
  bool keeps_trace = false;         // otherwise it is dropped before memory is read at the end
};

// Submits all, waits for all, judges all. Errors: those of the engine's submit; kCancelled.
base::Result<LoadResult> run_load(LoadEngine& load, const LoadPlan& plan,
                                  const groth16::Control& control);

// What the largest job needs when it is alone: key, input and largest partition.
base::Result<std::uint64_t> need_bytes(const LoadMaterial& material, const LoadJob& job);

}  // namespace cuzk::apps
