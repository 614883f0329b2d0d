// Tables of loads for people, the same as JSON, trace and picture as files.
//
// A run is good when every job has a valid proof, nothing is left over, and memory kept to the
// budget. Times are no part of the verdict: they are the machine's, and are printed beside the
// floors below which they cannot fall.
#include "apps/cuzk/job_bench_engine.h"

#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/cuzk/output.h"
#include "base/file.h"
#include "base/memory_limits.h"
#include "base/threads.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using Json = nlohmann::ordered_json;

// Memory that no ledger counts: the program, stacks, the allocator's rest.
constexpr std::uint64_t kUncountedBytes = std::uint64_t{64} << 20;
// Of the memory that all jobs want at once: more means nothing.
constexpr double kBudgetFactorMax = 1e6;

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

bool within_budget(const EngineBenchRun& run) {
  return run.settings.budget_bytes == 0 ||
         run.result.resident_peak_bytes <= run.settings.budget_bytes + kUncountedBytes;
}

bool is_good(const EngineBenchRun& run) {
  return run.result.valid_count == run.result.job_count && run.result.counters_are_zero() &&
         within_budget(run);
}

Json resident_json(const engine::Resident& resident) {
  return {{"total_bytes", resident.total_bytes()},
          {"anonymous_bytes", resident.anonymous_bytes},
          {"file_bytes", resident.file_bytes},
          {"threads", resident.thread_count}};
}

// All that a run measured, under names that bench/engine/trial_verdict.py reads.
Json run_json(const EngineBenchRun& run) {
  const LoadResult& result = run.result;
  Json stages = Json::object();
  for (std::size_t i = 0; i < engine::kStageCount; ++i) {
    const engine::StageTotal& total = result.stages[i];
    stages[std::string(to_string(static_cast<engine::Stage>(i)))] = {
        {"workers", result.workers[i]},
        {"count", total.count},
        {"failed", total.failed_count},
        {"busy_s", total.busy_s},
        {"longest_s", total.longest_s}};
  }
  const engine::SchedulerCounts& counts = result.report.counts;
  return {{"jobs", result.job_count},
          {"valid", result.valid_count},
          {"faults", result.faults},
          {"need_bytes", run.need_bytes},
          {"budget_bytes", run.settings.budget_bytes},
          {"jobs_in_flight_max", result.report.jobs_in_flight_max},
          {"stages", stages},
          {"wall_s", result.wall_s},
          {"cpu_s", result.cpu_s},
          {"cores", result.core_count},
          {"worker_floor_s", result.worker_floor_s()},
          {"cpu_floor_s", result.cpu_floor_s()},
          {"floor_s", result.floor_s()},
          {"percent_of_floor", result.percent_of_floor()},
          {"ledger_peak_bytes", result.ledger_peak_bytes},
          {"resident_peak_bytes", result.resident_peak_bytes},
          {"resident_before", resident_json(result.before)},
          {"resident_after", resident_json(result.after)},
          {"resident_growth_percent", result.resident_growth_percent()},
          {"descriptors_before", result.descriptors_before},
          {"descriptors_after", result.descriptors_after},
          {"evicted_keys", counts.evicted_keys},
          {"key_switches", counts.key_switches},
          {"retried_partitions", counts.retried_partitions},
          {"counters_are_zero", result.counters_are_zero()}};
}

// Floors: busiest kind of worker, CPU; the larger as a part of the time. Resident: all, of which
// anonymous.
std::string table(const std::vector<EngineBenchRun>& runs) {
  static_assert(engine::kStageCount == 3);  // the columns pw, gw and gt
  std::string out = fmt::format(
      "{:>6} {:>2} {:>2} {:>2} {:>3} {:>11} {:>7} {:>7} {:>7} {:>7} {:>5} {:>8} {:>8} {:>13} "
      "{:>13} {:>6}\n",
      "budget", "pw", "gw", "gt", "j", "valid", "wall s", "cpu s", "workers", "cpu", "%", "ledger",
      "RSS peak", "before, anon", "after, anon", "more");
  for (const EngineBenchRun& run : runs) {
    const LoadResult& r = run.result;
    out += fmt::format(
        "{:>6.0f} {:>2} {:>2} {:>2} {:>3} {:>5}/{:<5} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f} "
        "{:>5.1f} {:>8.1f} {:>8.1f} {:>6.1f} {:>6.1f} {:>6.1f} {:>6.1f} {:>5.1f}%\n",
        mib(run.settings.budget_bytes), r.workers[0], r.workers[1], r.workers[2],
        r.report.jobs_in_flight_max, r.valid_count, r.job_count, r.wall_s, r.cpu_s,
        r.worker_floor_s(), r.cpu_floor_s(), r.percent_of_floor(), mib(r.ledger_peak_bytes),
        mib(r.resident_peak_bytes), mib(r.before.total_bytes()), mib(r.before.anonymous_bytes),
        mib(r.after.total_bytes()), mib(r.after.anonymous_bytes), r.resident_growth_percent());
    for (const std::string& fault : r.faults) out += "  " + printable(fault) + "\n";
  }
  return out + "Memory in MiB. Floors in seconds: of the busiest kind of worker, of the CPUs.\n";
}

Answer runs_answer(const std::vector<EngineBenchRun>& runs) {
  CUZK_ASSERT(!runs.empty());
  bool good = true;
  Json list = Json::array();
  for (const EngineBenchRun& run : runs) {
    good = good && is_good(run);
    list.push_back(run_json(run));
  }
  Answer answer(table(runs), good ? kExitYes : kExitNo);
  answer.add("runs", std::move(list), "")
      .add("threads", base::thread_count(), "threads of computation")
      .add("cores", runs.at(0).result.core_count, "cores")
      .add_bytes("need_bytes", runs.at(0).need_bytes, "largest job's need");
  return answer;
}

base::Result<Answer> critical_answer(EngineBench& bench, const EngineLoadRequest& request,
                                     Session& session) {
  CUZK_TRY(const auto wait,
           bench.critical(request.critical_count, request.low_count, session.control()));
  // Each critical job ran twice, in an idle engine and in a full one.
  CUZK_ASSERT(wait.valid_count <= 2 * wait.count);
  const bool all_valid = wait.valid_count == 2 * wait.count;
  Answer answer(fmt::format("{} critical jobs while {} low ones fill the engine.", wait.count,
                            wait.low_count),
                all_valid ? kExitYes : kExitNo);
  answer.add("valid", all_valid, "all valid")
      .add_seconds("own_median_s", wait.own_median_s, "alone, median")
      .add_seconds("own_max_s", wait.own_max_s, "alone, longest")
      .add_seconds("median_s", wait.median_s, "under load, median")
      .add_seconds("p99_s", wait.p99_s, "under load, 99 of 100")
      .add_seconds("max_s", wait.max_s, "under load, longest")
      .add_seconds("chunk_s", wait.chunk_s, "longest chunk of a low job")
      .add("inline_count", wait.inline_count, "stages run inside low work");
  return answer;
}

// The budget in bytes, or a factor of the need.
base::Status choose_budget(const EngineLoadRequest& request, EngineSettings& settings,
                           double& factor) {
  const std::string& text = request.budget;
  if (!text.empty() && text.back() == 'x') {
    const auto read = std::from_chars(text.data(), text.data() + text.size() - 1, factor);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() - 1 && factor >= 1 &&
        factor <= kBudgetFactorMax) {
      return base::ok_status();
    }
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("--budget: found {}, expected a factor from 1 to {}, as 1.2x", text,
                             kBudgetFactorMax)};
  }
  CUZK_TRY(const auto limits, base::detect_memory_limits());
  CUZK_TRY(settings.budget_bytes, base::resolve_budget(text, limits));
  return base::ok_status();
}

base::Status write_documents(const EngineLoadRequest& request,
                             const EngineBench::Documents& documents) {
  if (!request.trace.empty()) CUZK_TRY_STATUS(base::write_file(request.trace, documents.json));
  if (!request.plot.empty()) CUZK_TRY_STATUS(base::write_file(request.plot, documents.svg));
  return base::ok_status();
}

}  // namespace

base::Result<Answer> bench_engine(const EngineLoadRequest& request, Session& session) {
  const bool is_one = !request.grid && !request.critical;
  std::vector<OutputPath> outputs;
  if (!request.trace.empty()) outputs.push_back({"--trace", request.trace});
  if (!request.plot.empty()) outputs.push_back({"--plot", request.plot});
  if (!outputs.empty() && !is_one) {
    return Error{ErrorKind::kInvalidArgument,
                 "--trace and --plot are of one run, not of --grid or --critical"};
  }
  CUZK_TRY_STATUS(check_outputs(outputs, {}, Overwrite::kReplace));
  // Keys are kept for the next time, in a folder of this user's.
  EngineBenchOptions options = request.options;
  options.folder = request.folder.empty() ? std::filesystem::temp_directory_path() /
                                                fmt::format("cuzk-bench-{}", ::getuid())
                                          : request.folder;
  // Both are of small circuits alone, so the parameters of a PoRep need not be made.
  if (request.soak_count != 0 || request.critical) options.porep_count = 0;
  double factor = 0;
  // A factor is applied later, by the bench, which knows the need.
  CUZK_TRY_STATUS(choose_budget(request, options.settings, factor));
  CUZK_TRY_STATUS(make_folder(options.folder));
  CUZK_TRY(const auto bench, EngineBench::make(options, session.progress()));
  if (request.critical) return critical_answer(*bench, request, session);
  if (request.grid) {
    CUZK_TRY(const auto runs, bench->grid(session.control()));
    return runs_answer(runs);
  }
  // The trace is kept only where a file wants it: it is memory that would be counted.
  EngineBench::Documents documents;
  EngineBench::Documents* const wanted = outputs.empty() ? nullptr : &documents;
  std::vector<EngineBenchRun> runs;
  if (request.soak_count != 0) {
    CUZK_TRY(auto run, bench->soak(request.soak_count, wanted, session.control()));
    runs.push_back(std::move(run));
  } else {
    CUZK_TRY(auto run, bench->run(options.settings, factor, wanted, session.control()));
    runs.push_back(std::move(run));
  }
  CUZK_TRY_STATUS(write_documents(request, documents));
  return runs_answer(runs);
}

}  // namespace cuzk::apps
