// Loads, and what they are made of.
//
// Circuits are small, because a load is about the engine and not about proofs: many jobs, of unlike
// sizes, over both curves, so that keys are switched. What a PoRep adds is a job that needs far
// more memory than any of the others.
#include "apps/bench/engine_bench.h"

#include <algorithm>

#include <fmt/format.h>

namespace cuzk::apps {
namespace {

using formats::CurveId;

// Small ones first: the soak takes the first two, critical jobs the first, low ones the last.
const std::vector<SquaringCircuit>& circuits() {
  static const std::vector<SquaringCircuit> kCircuits = {
      {CurveId::kBn254, 8},      {CurveId::kBls12_381, 8}, {CurveId::kBn254, 11},
      {CurveId::kBls12_381, 11}, {CurveId::kBn254, 13},    {CurveId::kBls12_381, 12},
      {CurveId::kBn254, 16}};
  return kCircuits;
}
constexpr std::size_t kSoakCircuits = 2, kMixedCircuits = 6;
constexpr std::uint64_t kQueuedMax = 1000, kSoakQueuedMax = 64, kWarmJobs = 60;
static_assert(kSoakCircuits <= kMixedCircuits);

}  // namespace

base::Result<std::unique_ptr<EngineBench>> EngineBench::make(EngineBenchOptions options,
                                                             base::ProgressSink& progress) {
  std::unique_ptr<EngineBench> out(new EngineBench());
  out->options_ = std::move(options);
  EngineBenchOptions& own = out->options_;
  own.settings.journal_folder = own.folder / "journal";
  CUZK_TRY(out->material_,
           LoadMaterial::make(own.folder, circuits(), own.porep_count > 0, progress));
  CUZK_ASSERT(circuits().size() == kMixedCircuits + 1);  // and the one of low jobs
  const bool has_porep = own.porep_count > 0;
  CUZK_TRY(const LoadJob largest,
           has_porep ? out->material_->porep(0) : out->material_->squaring(kMixedCircuits - 2, 0));
  CUZK_TRY(out->need_bytes_, apps::need_bytes(*out->material_, largest));
  CUZK_ASSERT(out->need_bytes_ > 0);
  return out;
}

// Job `index` of the load, the same each time. One PoRep in the middle of each stride, so that
// neither the start nor the end of a run is made of them alone.
base::Result<LoadJob> EngineBench::mixed_job(std::uint64_t index) const {
  const std::uint64_t poreps = options_.porep_count;
  const std::uint64_t stride =
      poreps == 0 ? 0 : std::max<std::uint64_t>(1, options_.job_count / poreps);
  if (poreps != 0 && index % stride == stride / 2 && index / stride < poreps) {
    return material_->porep(index);
  }
  return material_->squaring(index % kMixedCircuits, index);
}

// An engine that has proved each small circuit, and in a process that has proved what runs in it
// once, a PoRep too: so threads, code and allocator are as they are in one that runs.
base::Result<std::unique_ptr<LoadEngine>> EngineBench::warm_engine(
    EngineSettings settings, const groth16::Control& control) {
  // The jobs to warm up with have names of their own, so the measured ones are new to the journal.
  CUZK_TRY(auto load, LoadEngine::open(*material_, settings));
  const bool with_porep = options_.porep_count > 0 && !porep_is_warm_;
  const MakeJob job_of = [&](std::uint64_t i) -> base::Result<LoadJob> {
    const bool is_porep = i == kWarmJobs;
    CUZK_TRY(LoadJob job, is_porep ? material_->porep(options_.porep_count)
                                   : material_->squaring(i % kMixedCircuits, i));
    job.name = "warm-" + job.name;
    return job;
  };
  const LoadPlan plan{kWarmJobs + (with_porep ? 1 : 0), job_of};
  CUZK_TRY(const LoadResult result, run_load(*load, plan, control));
  porep_is_warm_ = porep_is_warm_ || with_porep;
  if (result.valid_count != result.job_count) {
    // A measurement of an engine that cannot prove would be one of how fast it fails.
    return base::Error{base::ErrorKind::kInternal, "the first jobs failed: " + result.faults.at(0)};
  }
  return load;
}

base::Result<EngineBenchRun> EngineBench::run(const EngineSettings& settings, double budget_factor,
                                              Documents* documents,
                                              const groth16::Control& control) {
  EngineBenchRun run{settings, need_bytes_, {}};
  run.settings.journal_folder = options_.settings.journal_folder;
  // The factor stands for "of what the largest job needs", the figure that a budget is chosen by.
  if (budget_factor > 0) {
    run.settings.budget_bytes =
        static_cast<std::uint64_t>(budget_factor * static_cast<double>(need_bytes_));
  }
  CUZK_TRY(const auto load, warm_engine(run.settings, control));
  const LoadPlan plan{options_.job_count, [this](std::uint64_t i) { return mixed_job(i); },
                      kQueuedMax, documents != nullptr};
  CUZK_TRY(run.result, run_load(*load, plan, control));
  if (documents != nullptr) {
    const std::string title =
        fmt::format("{} jobs, {} of them PoReps", run.result.job_count, options_.porep_count);
    *documents = {load->trace().to_json(title), load->trace().to_svg(title)};
  }
  return run;
}

base::Result<std::vector<EngineBenchRun>> EngineBench::grid(const groth16::Control& control) {
  std::vector<EngineBenchRun> runs;
  // From barely enough for one job to room for several at once; worker counts up to more than small
  // machines have cores.
  for (const double factor : {1.2, 2.0, 6.0}) {
    for (const auto& [pw, gw] : {std::pair{1u, 1u}, {2u, 1u}, {2u, 2u}, {4u, 2u}}) {
      EngineSettings settings = options_.settings;
      settings.witness_workers = pw;
      settings.device_workers = gw;
      CUZK_TRY(EngineBenchRun one, run(settings, factor, nullptr, control));
      runs.push_back(std::move(one));
    }
  }
  return runs;
}

base::Result<EngineBenchRun> EngineBench::soak(std::uint64_t job_count, Documents* documents,
                                               const groth16::Control& control) {
  EngineBenchRun run{options_.settings, need_bytes_, {}};
  // A soak is long, and its samples are memory too.
  run.settings.sample_interval = std::chrono::milliseconds(200);
  CUZK_TRY(const auto load, warm_engine(run.settings, control));
  const MakeJob job_of = [this](std::uint64_t i) {
    return material_->squaring(i % kSoakCircuits, i);
  };
  const LoadPlan plan{job_count, job_of, kSoakQueuedMax, documents != nullptr};
  CUZK_TRY(run.result, run_load(*load, plan, control));
  if (documents != nullptr) {
    const std::string title = fmt::format("{} small jobs", job_count);
    *documents = {load->trace().to_json(title), load->trace().to_svg(title)};
  }
  return run;
}

}  // namespace cuzk::apps
