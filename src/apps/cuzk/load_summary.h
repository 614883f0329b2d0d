// What a load run found, and its figures.
//
// Pure: from samples to an answer, so that tests see each figure. Who gathers them is job_load.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/cuzk/answer.h"

namespace cuzk::apps {

// One submission and what became of it: it is completed, or unawaited, or neither, and then
// `problem` counts.
struct LoadSample {
  // 0 where the daemon did not take the job.
  double submit_ms = 0;   // of the call that submitted
  double latency_ms = 0;  // from when it was to be sent to its proof
  bool completed = false;
  std::string problem;     // why not: a kind of error, or the job's state
  bool unawaited = false;  // accepted, its end was not waited for
};

// What was seen beside the jobs.
// Zeros where nothing was asked or seen; then the answer leaves it out.
struct LoadSurroundings {
  double elapsed_s = 0;               // of the whole run
  double sending_s = 0;               // until the last submission was answered
  std::uint64_t awaits_open_max = 0;  // at once
  std::vector<double> status_ms;      // of each question for the status
  std::uint64_t status_failed = 0;
  // Resident memory of the daemon: at the first question, the most, at the last.
  std::uint64_t rss_first_bytes = 0, rss_max_bytes = 0, rss_last_bytes = 0;
};

// The smallest value that at least `share` of all do not exceed; 0 of none.
double quantile(std::vector<double> values, double share);

// Exit code "no" where a job that was waited for was not proved, or there were no jobs at all.
Answer load_answer(const std::vector<LoadSample>& samples, const LoadSurroundings& around);

}  // namespace cuzk::apps
