// A load through the whole engine: journal, scheduler, pipeline, CPU; every result judged apart
// from it; time, memory and counters beside what the stages themselves took.
#pragma once

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
  std::uint64_t budget_bytes = 0;        // 0: none
  std::filesystem::path journal_folder;  // emptied first
  std::chrono::milliseconds sample_interval{20};
};

// An engine over the CPU with its trace.
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

struct LoadResult {
  std::uint64_t job_count = 0, valid_count = 0;
  std::vector<std::string> faults;  // jobs without a valid result, at most some
  double wall_s = 0, cpu_s = 0;
  std::array<engine::StageTotal, engine::kStageCount> stages{};
  std::array<std::uint32_t, engine::kStageCount> workers{};
  std::uint64_t budget_bytes = 0, ledger_peak_bytes = 0;
  engine::Resident before, after;  // idle, without keys
  std::uint64_t resident_peak_bytes = 0;
  std::uint64_t descriptors_before = 0, descriptors_after = 0;
  engine::ExecutorReport report;  // at the end, before keys were dropped

  // The time below which these stages cannot be done by these workers: the busiest kind of worker.
  double floor_s() const;
  // Whether nothing is counted as alive, held or waiting.
  bool counters_are_zero() const;
};

// Submits all, waits for all, judges all. `job_of(i)` makes job i; at most `queued_max` wait in the
// engine at a time. Errors: those of the engine's submit; kCancelled.
using MakeJob = std::function<base::Result<LoadJob>(std::uint64_t index)>;
base::Result<LoadResult> run_load(LoadEngine& load, std::uint64_t job_count, const MakeJob& job_of,
                                  std::uint64_t queued_max, const groth16::Control& control);

// What the largest job needs when it is alone: key, input and largest partition.
base::Result<std::uint64_t> need_bytes(const LoadMaterial& material, const LoadJob& job);

}  // namespace cuzk::apps
