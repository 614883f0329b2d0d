// The incident that must not happen again, replayed at full scale in virtual time.
//
// A published prover of Filecoin's 32 GiB proofs split proving into start and finish and grew from
// 70 GiB to 367 GiB with 10 witness workers, and past 668 GiB with 12, where it was killed. Freeing
// the evaluation vectors as soon as start returned saved 18 GiB. The cause was finished witnesses:
// their worker's permit was given back when the witness ended, so up to 28 of them, 16 GiB each,
// waited for the device with no permit. Held until delivery the peak was 294.7 GiB. The figures are
// its authors' own (docs/engine.md has the sources); the policies are switches of our scheduler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/simulation.h"

namespace cuzk::engine {

// When a, b and c of a partition are freed: what the published change moved.
enum class EvaluationRelease : std::uint8_t { kAfterStart, kAfterFinish };

// Defaults are the published machine and load.
struct IncidentOptions {
  std::uint32_t witness_workers = 12;  // pw
  std::uint32_t device_workers = 2;    // gw
  std::uint32_t finish_workers = 2;    // gt
  std::uint32_t jobs_in_flight = 15;   // j
  std::uint32_t proof_count = 20;
  std::uint32_t partition_count = 10;
  EvaluationRelease evaluation = EvaluationRelease::kAfterStart;
  SlotRelease slot_release = SlotRelease::kAtDelivery;
  std::uint64_t budget_bytes = 0;  // 0: none
  bool arenas = true;              // buffers come from the allocator, not from the ledger's pages
  std::uint32_t seed = 1;
};

// The simulation of one setting. The key is in the fixed bytes, so jobs refer to one of 0 bytes.
SimulationConfig incident_config(const IncidentOptions& options);

// One row of the record, and of ours beside it.
struct IncidentCase {
  std::string name;     // stable, for options and files: "pw12-early-release"
  std::string meaning;  // in words
  IncidentOptions options;
  std::string published;  // the figure and what it is of; empty where there is none
  std::string reason;     // why ours differs
};

// The published runs, and the same load under our defaults with budgets.
std::vector<IncidentCase> incident_cases();

// A case and what came of it.
struct IncidentRow {
  IncidentCase scenario;
  SimulationResult result;
};

// Errors as simulate().
base::Result<IncidentRow> replay_case(IncidentCase scenario);

// Runs the cases (all of them, or the one so named). Errors: kNotFound with the names; simulate's.
base::Result<std::vector<IncidentRow>> replay_incident(const std::string& only = {});

// A table for people; one JSON document with every sample; memory over time as a picture.
std::string incident_table(const std::vector<IncidentRow>& rows);
std::string incident_trace_json(const std::vector<IncidentRow>& rows);
std::string incident_svg(const std::vector<IncidentRow>& rows);

}  // namespace cuzk::engine
