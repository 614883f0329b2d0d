// The table of kinds that this application proves.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "apps/jobs/circom_jobs.h"
#include "apps/jobs/filecoin_keys.h"
#include "engine/job_type.h"

namespace cuzk::apps {

struct JobKindsConfig {
  std::filesystem::path params_folder;  // of Filecoin's parameter sets
  std::vector<CircomCircuit> circuits;
  formats::KeyCheck query_check = formats::KeyCheck::kNone;
};

struct JobKinds {
  std::shared_ptr<const engine::JobTypes> types;
  std::shared_ptr<FilecoinKeys> filecoin;
  std::shared_ptr<CircomCircuits> circom;
};

// Errors: those of CircomCircuits::open. A folder without parameters is none: jobs that want them
// are refused by name.
base::Result<JobKinds> make_job_kinds(const JobKindsConfig& config);

}  // namespace cuzk::apps
