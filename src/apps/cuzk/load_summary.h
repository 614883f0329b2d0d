// What a load run found, and its figures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/cuzk/answer.h"

namespace cuzk::apps {

struct LoadSample {
  double submit_ms = 0;   // of the call that submitted
  double latency_ms = 0;  // from when it was to be sent to its proof
  bool completed = false;
  std::string problem;  // why not: a kind of error, or the job's state
};

// The smallest value that at least `share` of all do not exceed; 0 of none.
double quantile(std::vector<double> values, double share);

Answer load_answer(const std::vector<LoadSample>& samples, double elapsed_s);

}  // namespace cuzk::apps
