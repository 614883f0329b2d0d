// Replays of the engine's memory incident, behind `cuzk bench incident`.
//
// Nothing is proved and no clock is waited for: engine/incident.h simulates. Only --allocations
// really allocates, for what an allocator keeps cannot be simulated.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cuzk/session.h"
#include "engine/incident.h"

namespace cuzk::apps {

// As the flags were given; which of them go together is checked by bench_incident().
struct IncidentRequest {
  std::string only;  // a case by name; empty: all
  // Whether any option of an own case was given, whatever its value.
  bool has_own = false;               // instead of the cases, run `own`
  engine::IncidentOptions own;        // its budget is in `budget`
  std::string budget = "none";        // a size or none
  std::filesystem::path trace, plot;  // empty: not written
  bool allocations = false;           // the second mode: real allocations
};

// Errors: an output that cannot be written, a case that is not there, a budget that holds no
// partition, flags of one mode with another.
base::Result<Answer> bench_incident(const IncidentRequest& request, Session& session);

}  // namespace cuzk::apps
