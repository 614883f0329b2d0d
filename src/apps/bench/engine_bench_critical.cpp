// What a critical job waits while low ones fill every worker.
//
// The same jobs run twice: in an idle engine, which is what they take by themselves, and under
// load. Low work lets critical work in at its borders, so the wait beyond the own time should be
// about one stretch between two borders, which is measured as well.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "apps/bench/engine_bench.h"
#include "apps/jobs/proof_stages.h"

namespace cuzk::apps {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::minutes;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The longest time from one border to the next.
class BorderWatch final : public base::Checkpoint {
 public:
  bool wanted() const noexcept override { return true; }
  bool pass() override {
    longest_s_ = std::max(longest_s_, seconds_since(last_));
    last_ = Clock::now();
    return true;
  }
  double longest_s() const { return longest_s_; }

 private:
  Clock::time_point last_ = Clock::now();
  double longest_s_ = 0;
};

// Of this job proved alone in this thread. The key is held loaded meanwhile, so the load inside
// run_alone(), which counts as a stretch too, finds its pages in memory.
base::Result<double> longest_chunk_s(const LoadMaterial& material, const LoadJob& job) {
  CUZK_TRY(const auto* type, material.kinds().types->find(job.kind));
  CUZK_TRY(const auto work, type->read(job.input));
  const engine::ProvingDevice device = make_cpu_device();
  const auto key = work->key().load({});
  if (!key.ok()) return key.error();
  BorderWatch watch;
  AloneOptions options{&device, {nullptr, {}, &watch}, {}};
  CUZK_TRY_STATUS(run_alone(*work, options));
  return watch.longest_s();
}

// Seconds from submission to the end; `valid`: whether the proof is one of this job.
base::Result<double> timed_job(LoadEngine& load, const LoadJob& job, engine::Priority priority,
                               bool& valid) {
  engine::SubmitRequest request{job.name, job.kind, priority, {}, job.input};
  const Clock::time_point begin = Clock::now();
  CUZK_TRY_STATUS(load.engine().submit(request));
  CUZK_TRY(const auto view, load.engine().await(job.name, minutes(10)));
  const double waited_s = seconds_since(begin);
  CUZK_TRY(const base::Bytes proof, load.engine().result(job.name));
  valid = view.has_value() && job.check(proof).ok();
  return waited_s;
}

// The least value that this share of all does not exceed.
double at_share(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto count =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values.at(std::max<std::size_t>(count, 1) - 1);
}

}  // namespace

base::Result<EngineBench::CriticalWait> EngineBench::critical(std::uint64_t count,
                                                              std::uint64_t low_count,
                                                              const groth16::Control& control) {
  CUZK_ASSERT(count > 0 && low_count > 0);
  const std::size_t low_circuit = material_->circuits().size() - 1;
  CriticalWait out{count, low_count};
  CUZK_TRY(const LoadJob low, material_->squaring(low_circuit, 0));
  CUZK_TRY(out.chunk_s, longest_chunk_s(*material_, low));
  CUZK_TRY(const auto load, warm_engine(options_.settings, control));
  std::vector<double> own, waited;
  const auto measure = [&](std::string_view prefix, std::vector<double>& times) -> base::Status {
    for (std::uint64_t i = 0; i < count; ++i) {
      CUZK_TRY_STATUS(control.check("critical jobs"));
      CUZK_TRY(LoadJob job, material_->squaring(0, i));
      job.name = fmt::format("{}-{}", prefix, i);
      bool valid = false;
      CUZK_TRY(const double time, timed_job(*load, job, engine::Priority::kCritical, valid));
      times.push_back(time);
      out.valid_count += valid ? 1 : 0;
    }
    return base::ok_status();
  };
  CUZK_TRY_STATUS(measure("idle", own));
  // Refilled as they end, so that there is never a worker without low work.
  std::atomic<std::uint64_t> low_ended{0};
  std::vector<std::shared_ptr<engine::Subscription>> subscriptions;
  std::uint64_t low_submitted = 0;
  // Declared in this order: subscriptions end before the counter that they add to.
  const auto fill = [&]() -> base::Status {
    while (low_submitted - low_ended.load() < low_count) {
      const std::string name = fmt::format("low-{}", low_submitted++);
      CUZK_TRY_STATUS(
          load->engine().submit({name, low.kind, engine::Priority::kLow, {}, low.input}));
      CUZK_TRY(auto subscription,
               load->engine().on_final(name, [&](const engine::JobView&) { ++low_ended; }));
      subscriptions.push_back(std::move(subscription));
    }
    return base::ok_status();
  };
  // Each comes at a moment of its own while the low ones run, who pause for it until it ended.
  std::mt19937 random(1);
  std::uniform_int_distribution<int> gap_ms(30, 70);
  for (std::uint64_t i = 0; i < count; ++i) {
    CUZK_TRY_STATUS(fill());
    std::this_thread::sleep_for(milliseconds(gap_ms(random)));
    CUZK_TRY_STATUS(control.check("critical jobs"));
    CUZK_TRY(LoadJob job, material_->squaring(0, i));
    job.name = fmt::format("critical-{}", i);
    bool valid = false;
    CUZK_TRY(const double time, timed_job(*load, job, engine::Priority::kCritical, valid));
    waited.push_back(time);
    out.valid_count += valid ? 1 : 0;
  }
  CUZK_ASSERT(own.size() == count && waited.size() == count);
  out.inline_count = load->engine().report().executor.counts.inline_grants;
  out.own_median_s = at_share(own, 0.5);
  out.own_max_s = at_share(own, 1);
  out.median_s = at_share(waited, 0.5);
  out.p99_s = at_share(waited, 0.99);
  out.max_s = at_share(waited, 1);
  load->engine().stop();
  return out;
}

}  // namespace cuzk::apps
