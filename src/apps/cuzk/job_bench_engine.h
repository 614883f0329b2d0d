// Loads through the whole engine, behind `cuzk bench engine`.
//
// apps/bench measures and gives values; this makes a table and a verdict of them. The verdict is an
// exit code, so that a trial can run unattended (bench/engine/trial.sh).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "apps/bench/engine_bench.h"
#include "apps/cuzk/session.h"

namespace cuzk::apps {

// As the flags were given. Of grid, critical and soak_count at most one is set; none: one run.
struct EngineLoadRequest {
  EngineBenchOptions options;         // its folder is `folder`, its budget `budget`
  std::filesystem::path folder;       // empty: one of this user's among temporary files
  std::string budget = "auto";        // as base::resolve_budget, or a factor as "1.2x"
  std::filesystem::path trace, plot;  // empty: not written
  bool grid = false, critical = false;
  std::uint64_t soak_count = 0;  // 0: no soak
  std::uint64_t critical_count = 100, low_count = 12;
};

// Exit code "no" where a job has no valid proof, a counter is not zero at the end, or memory went
// over the budget by more than the part that the ledger does not count.
base::Result<Answer> bench_engine(const EngineLoadRequest& request, Session& session);

}  // namespace cuzk::apps
