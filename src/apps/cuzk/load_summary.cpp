// Quantiles by nearest rank: each is a latency that some job had.
//
// Interpolated ones would be figures that nobody measured, and hide how few samples a high one has.
// Jobs that were not proved have no latency; they are counted by their problem instead.
#include "apps/cuzk/load_summary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cuzk::apps {

double quantile(std::vector<double> values, double share) {
  CUZK_ASSERT(share >= 0 && share <= 1);
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

namespace {

void add_quantile(Answer& answer, const std::string& key, const std::string& label,
                  const std::vector<double>& values, double share) {
  const double ms = quantile(values, share);
  answer.add_as(key, ms, label, fmt::format("{:.1f} ms", ms));
}

// 0 where no time has passed.
void add_rate(Answer& answer, const std::string& key, std::size_t count, double seconds,
              const std::string& label, const std::string& what) {
  const double rate = seconds > 0 ? static_cast<double>(count) / seconds : 0;
  answer.add_as(key, rate, label, fmt::format("{:.2f} {} a second", rate, what));
}

// What was seen beside the jobs, where it was looked for.
void add_surroundings(Answer& answer, const LoadSurroundings& around) {
  if (around.awaits_open_max > 0) {
    answer.add("awaits_open_max", around.awaits_open_max, "awaited at once, at most");
  }
  if (around.status_ms.empty() && around.status_failed == 0) return;
  answer.add("status_count", around.status_ms.size(), "questions for the status");
  answer.add("status_failed", around.status_failed, "");
  add_quantile(answer, "status_p50_ms", "status, half under", around.status_ms, 0.5);
  add_quantile(answer, "status_p99_ms", "status, 99 % under", around.status_ms, 0.99);
  add_quantile(answer, "status_max_ms", "status, longest", around.status_ms, 1);
  answer.add_bytes("daemon_rss_first_bytes", around.rss_first_bytes, "daemon's memory, before");
  answer.add_bytes("daemon_rss_max_bytes", around.rss_max_bytes, "daemon's memory, at most");
  answer.add_bytes("daemon_rss_last_bytes", around.rss_last_bytes, "daemon's memory, at the end");
}

}  // namespace

// Latency is of jobs that were proved; submissions count with those that failed later too, since
// the daemon has answered them.
Answer load_answer(const std::vector<LoadSample>& samples, const LoadSurroundings& around) {
  std::vector<double> latencies, submits;
  std::map<std::string, std::uint64_t> problems;
  std::size_t unawaited = 0;
  for (const LoadSample& sample : samples) {
    if (sample.completed) latencies.push_back(sample.latency_ms);
    if (sample.submit_ms > 0) submits.push_back(sample.submit_ms);
    if (sample.unawaited) ++unawaited;
    if (!sample.completed && !sample.unawaited) ++problems[sample.problem];
  }
  CUZK_ASSERT(latencies.size() + unawaited <= samples.size());
  const std::size_t failed = samples.size() - latencies.size() - unawaited;
  Answer answer(fmt::format("{} of {} jobs were proved", latencies.size(), samples.size()),
                failed == 0 && !samples.empty() ? kExitYes : kExitNo);
  answer.add("jobs", samples.size(), "");
  answer.add("accepted", submits.size(), "accepted");
  answer.add("completed", latencies.size(), "");
  answer.add("unawaited", unawaited, "accepted, not awaited");
  answer.add("failed", failed, "not proved");
  add_rate(answer, "proofs_per_second", latencies.size(), around.elapsed_s, "throughput", "proofs");
  add_rate(answer, "jobs_per_second", samples.size(), around.sending_s, "sent", "jobs");
  answer.add_seconds("elapsed_s", around.elapsed_s, "took");
  add_quantile(answer, "latency_p50_ms", "latency, half under", latencies, 0.5);
  add_quantile(answer, "latency_p90_ms", "latency, 90 % under", latencies, 0.9);
  add_quantile(answer, "latency_p99_ms", "latency, 99 % under", latencies, 0.99);
  add_quantile(answer, "latency_max_ms", "latency, longest", latencies, 1);
  add_quantile(answer, "submit_p50_ms", "submission, half under", submits, 0.5);
  add_quantile(answer, "submit_p99_ms", "submission, 99 % under", submits, 0.99);
  add_surroundings(answer, around);
  nlohmann::ordered_json by_problem = nlohmann::ordered_json::object();
  // In JSON as one object, for people as a note each.
  for (const auto& [problem, count] : problems) {
    by_problem[problem] = count;
    answer.warn(fmt::format("{} not proved: {}", count, problem));
  }
  answer.add("problems", by_problem, "");
  return answer;
}

}  // namespace cuzk::apps
