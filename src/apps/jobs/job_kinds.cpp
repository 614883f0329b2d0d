// All kinds in one table.
//
// The one place that knows every kind: a new one is a file that adds rows, and a line here. The
// order does not matter for jobs; keys are looked for among Filecoin's first.
#include "apps/jobs/job_kinds.h"

#include "apps/jobs/filecoin_jobs.h"

namespace cuzk::apps {

base::Result<JobKinds> make_job_kinds(const JobKindsConfig& config) {
  JobKinds kinds;
  const auto types = std::make_shared<engine::JobTypes>();
  kinds.filecoin = std::make_shared<FilecoinKeys>(config.params_folder, config.query_check);
  CUZK_TRY(kinds.circom, CircomCircuits::open(config.circuits, config.query_check));
  CUZK_TRY_STATUS(add_filecoin_jobs(*types, kinds.filecoin));
  CUZK_TRY_STATUS(add_circom_jobs(*types, kinds.circom));
  // Complete, and immutable from now on: engines and doors read it from many threads without locks.
  CUZK_ASSERT(kinds.circom != nullptr && !types->all().empty());
  kinds.types = types;
  return kinds;
}

}  // namespace cuzk::apps
