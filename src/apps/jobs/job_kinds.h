// The table of kinds that this application proves.
//
// The daemon and its proving process each make one from the same configuration: the daemon to read
// and plan jobs, the process to prove them. Both answer alike because the files are the same.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "apps/jobs/circom_jobs.h"
#include "apps/jobs/filecoin_keys.h"
#include "engine/job_type.h"

namespace cuzk::apps {

// Where keys lie. Files are looked at when a job wants them, but for the headers of circuits.
struct JobKindsConfig {
  std::filesystem::path params_folder;  // of Filecoin's parameter sets
  std::vector<CircomCircuit> circuits;
  formats::KeyCheck query_check = formats::KeyCheck::kNone;
};

// What make_job_kinds gives, none of it null. The engine needs `types` alone; the others are for
// whoever lists circuits or plans memory. The functions in `types` share the two registers.
struct JobKinds {
  std::shared_ptr<const engine::JobTypes> types;
  std::shared_ptr<FilecoinKeys> filecoin;
  std::shared_ptr<CircomCircuits> circom;
};

// Errors: those of CircomCircuits::open. A folder without parameters is none: jobs that want them
// are refused by name.
base::Result<JobKinds> make_job_kinds(const JobKindsConfig& config);

}  // namespace cuzk::apps
