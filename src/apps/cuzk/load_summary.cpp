// Quantiles by nearest rank: each is a latency that some job had.
#include "apps/cuzk/load_summary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cuzk::apps {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Answer load_answer(const std::vector<LoadSample>& samples, double elapsed_s) {
  std::vector<double> latencies, submits;
  std::map<std::string, std::uint64_t> problems;
  for (const LoadSample& sample : samples) {
    if (sample.completed) latencies.push_back(sample.latency_ms);
    if (sample.submit_ms > 0) submits.push_back(sample.submit_ms);
    if (!sample.completed) ++problems[sample.problem];
  }
  const std::size_t failed = samples.size() - latencies.size();
  const double rate = elapsed_s > 0 ? static_cast<double>(latencies.size()) / elapsed_s : 0;
  Answer answer(fmt::format("{} of {} jobs were proved", latencies.size(), samples.size()),
                failed == 0 && !samples.empty() ? kExitYes : kExitNo);
  answer.add("jobs", samples.size(), "");
  answer.add("completed", latencies.size(), "");
  answer.add("failed", failed, "not proved");
  answer.add_as("proofs_per_second", rate, "throughput",
                fmt::format("{:.2f} proofs a second", rate));
  answer.add_seconds("elapsed_s", elapsed_s, "took");
  const auto add = [&answer](const std::string& key, const std::string& label,
                             const std::vector<double>& values, double share) {
    const double ms = quantile(values, share);
    answer.add_as(key, ms, label, fmt::format("{:.1f} ms", ms));
  };
  add("latency_p50_ms", "latency, half under", latencies, 0.5);
  add("latency_p90_ms", "latency, 90 % under", latencies, 0.9);
  add("latency_p99_ms", "latency, 99 % under", latencies, 0.99);
  add("latency_max_ms", "latency, longest", latencies, 1);
  add("submit_p50_ms", "submission, half under", submits, 0.5);
  add("submit_p99_ms", "submission, 99 % under", submits, 0.99);
  nlohmann::ordered_json by_problem = nlohmann::ordered_json::object();
  for (const auto& [problem, count] : problems) {
    by_problem[problem] = count;
    answer.warn(fmt::format("{} not proved: {}", count, problem));
  }
  answer.add("problems", by_problem, "");
  return answer;
}

}  // namespace cuzk::apps
