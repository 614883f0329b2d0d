// What a load run sends: kinds of jobs with their weights, as --job names them.
#pragma once

#include <string>
#include <vector>

#include "apps/cuzk/job_client.h"

namespace cuzk::apps {

struct LoadShare {
  PreparedJob job;
  double weight = 1;
};

// One --job, its files read. Errors name the part that is wrong.
base::Result<LoadShare> parse_load_share(const std::string& text);

}  // namespace cuzk::apps
