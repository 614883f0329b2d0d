// Measurements of the whole engine: one load, a grid of budgets and workers, a soak, the wait of
// critical jobs. As values; the command prints them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/bench/engine_load.h"

namespace cuzk::apps {

// What is measured, for as long as the bench lives. Zero PoReps spare making their parameters.
struct EngineBenchOptions {
  std::filesystem::path folder;  // keys are kept here, journals are made here
  std::uint64_t job_count = 203, porep_count = 3;
  EngineSettings settings;   // its journal folder is chosen here
  double budget_factor = 0;  // of the largest job's need, instead of the settings' budget
};

// One load and the settings it ran with, the budget filled in.
struct EngineBenchRun {
  EngineSettings settings;
  std::uint64_t need_bytes = 0;
  LoadResult result;
};

// The mixed load: small circuits over both curves, the PoReps spread evenly among them. Each call
// opens an engine of its own, over one material and one folder of journals, and warms it first, so
// that what is measured is an engine in service and not its start. One call at a time: the ledger
// and the resident memory that are looked at are those of the process.
class EngineBench {
 public:
  static base::Result<std::unique_ptr<EngineBench>> make(EngineBenchOptions options,
                                                         base::ProgressSink& progress);

  // One run. Where `documents` is given it takes the run's file and picture; the trace then stays
  // in memory to the end, and is part of what is resident after the run.
  struct Documents {
    std::string json, svg;
  };
  base::Result<EngineBenchRun> run(const EngineSettings& settings, double budget_factor,
                                   Documents* documents, const groth16::Control& control);
  // Budgets of 1.2, 2 and 6 times the need, each with (pw, gw) of (1,1), (2,1), (2,2), (4,2).
  base::Result<std::vector<EngineBenchRun>> grid(const groth16::Control& control);
  // Only jobs of the smallest circuits.
  base::Result<EngineBenchRun> soak(std::uint64_t job_count, Documents* documents,
                                    const groth16::Control& control);

  // What critical jobs wait while low ones fill the engine.
  struct CriticalWait {
    std::uint64_t count = 0, low_count = 0, valid_count = 0;
    double own_median_s = 0, own_max_s = 0;  // of the same jobs in an idle engine
    double median_s = 0, p99_s = 0, max_s = 0;
    double chunk_s = 0;  // longest stretch of a low job between two borders, alone
    std::uint64_t inline_count = 0;
  };
  base::Result<CriticalWait> critical(std::uint64_t count, std::uint64_t low_count,
                                      const groth16::Control& control);

  std::uint64_t need_bytes() const { return need_bytes_; }

 private:
  EngineBench() = default;
  base::Result<LoadJob> mixed_job(std::uint64_t index) const;
  base::Result<std::unique_ptr<LoadEngine>> warm_engine(EngineSettings settings,
                                                        const groth16::Control& control);

  EngineBenchOptions options_;
  std::unique_ptr<LoadMaterial> material_;
  std::uint64_t need_bytes_ = 0;
  bool porep_is_warm_ = false;  // this process has proved one
};

}  // namespace cuzk::apps
