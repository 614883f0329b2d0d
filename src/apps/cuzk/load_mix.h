// What a load run sends: kinds of jobs with their weights, as --job names them.
//
// A job's files are read once, when the mix is read, and sent as often as the run wants: reading
// must not be what is measured.
#pragma once

#include <string>
#include <vector>

#include "apps/cuzk/job_client.h"

namespace cuzk::apps {

// A job of the mix; it is sent with the probability weight / sum of all weights.
struct LoadShare {
  PreparedJob job;
  double weight = 1;
};

// One --job, its files read. Errors name the part that is wrong; those of prepare_job() name the
// flag of `cuzk submit` that the part stands for.
base::Result<LoadShare> parse_load_share(const std::string& text);

}  // namespace cuzk::apps
