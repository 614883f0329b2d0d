// Set-up, start, finish and verify on the synthetic circuit, by curve and number of rows. Names are
// groth16/<stage>/<curve>/rows=<n>; 2687921 rows are those of a 2 KiB PoRep:
//   prove_bench --benchmark_filter=rows=2687921
#include <ctime>
#include <map>
#include <string>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "sha_like_circuit.h"

namespace cuzk::bench {
namespace {

using groth16::ProveInputs;
using groth16::QapConvention;

// Circuits, and below keys and inputs, are made once for a number of rows and kept: making them
// takes longer than what is measured, and the library calls each function several times.
template <class C>
const ShaLikeCircuit<typename C::Fr>& circuit(std::uint32_t rows) {
  static std::map<std::uint32_t, ShaLikeCircuit<typename C::Fr>> circuits;
  return circuits.try_emplace(rows, rows).first->second;
}

// With secrets that are random and the same in one run, so that keys of one size are equal.
template <class C>
std::shared_ptr<const groth16::ProvingKey<C>> make_key(std::uint32_t rows,
                                                       const groth16::Control& control = {}) {
  static const auto waste = groth16::random_toxic_waste<C>().value();
  constexpr auto kConvention = QapConvention::kCoefficients;
  return groth16::setup<C>(*circuit<C>(rows).shape, waste, kConvention, control).value();
}

template <class C>
const ProveInputs<C>& inputs(std::uint32_t rows) {
  static std::map<std::uint32_t, ProveInputs<C>> made;
  auto& entry = made[rows];
  if (entry.key == nullptr) {
    entry = {make_key<C>(rows), circuit<C>(rows).shape, circuit<C>(rows).assignment};
  }
  return entry;
}

// The peak of the whole process so far, so it says something only of the first benchmark of a run:
// name one with --benchmark_filter.
void report_memory(benchmark::State& state) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_rss_MiB"] = double(usage.ru_maxrss) / 1024;
}

// Process CPU time of each stage, as counters "cpu_ms <stage>".
class StageTimes final : public base::ProgressSink {
 public:
  explicit StageTimes(benchmark::State& state) : state_(state) {}
  ~StageTimes() override { close(); }
  void begin_stage(std::string_view name, std::uint64_t) override {
    close();
    name_ = name;
    begin_ = std::clock();
  }
  void advance(std::uint64_t) override {}

 private:
  void close() {
    if (name_.empty()) return;
    const double ms = 1000.0 * double(std::clock() - begin_) / CLOCKS_PER_SEC;
    state_.counters["cpu_ms " + name_] = ms;
  }

  benchmark::State& state_;
  std::string name_;
  std::clock_t begin_ = 0;
};

template <class C>
void setup(benchmark::State& state) {
  const auto rows = std::uint32_t(state.range(0));
  circuit<C>(rows);
  for (auto _ : state) {
    StageTimes times(state);
    benchmark::DoNotOptimize(make_key<C>(rows, {&times}));
  }
  report_memory(state);
}

// With one blinding for all rounds: it decides no amount of work.
template <class C>
void start(benchmark::State& state) {
  const auto& in = inputs<C>(std::uint32_t(state.range(0)));
  const auto backend = groth16::make_cpu_backend<C>();
  const auto blinding = groth16::random_blinding<C>().value();
  for (auto _ : state) {
    StageTimes times(state);
    auto watched = in;
    watched.control.progress = &times;
    benchmark::DoNotOptimize(backend->start(watched, blinding).value());
  }
  report_memory(state);
}

template <class C>
void finish(benchmark::State& state) {
  const auto& in = inputs<C>(std::uint32_t(state.range(0)));
  const auto backend = groth16::make_cpu_backend<C>();
  const auto blinding = groth16::random_blinding<C>().value();
  for (auto _ : state) {
    // A pending proof can be finished once.
    state.PauseTiming();
    const auto pending = backend->start(in, blinding).value();
    state.ResumeTiming();
    benchmark::DoNotOptimize(pending->finish().value());
  }
  report_memory(state);
}

template <class C>
void verify(benchmark::State& state) {
  const auto& in = inputs<C>(std::uint32_t(state.range(0)));
  const auto backend = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove(*backend, in).value();
  const auto public_inputs = std::span(in.assignment->inputs).subspan(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(groth16::verify<C>(in.key->vk, public_inputs, proof).value());
  }
}

template <class C>
void register_curve(const std::string& curve) {
  for (const std::int64_t rows : {16384, 65536, 262144, 2687921}) {
    const auto add = [&](const std::string& stage, auto function) {
      const std::string name = "groth16/" + stage + "/" + curve + "/rows=" + std::to_string(rows);
      auto* bench = benchmark::RegisterBenchmark(name.c_str(), function)->Arg(rows)->UseRealTime();
      bench->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
      // Seconds to minutes a round: one is as good as many.
      if (rows > 100000) bench->Iterations(1);
    };
    add("setup", setup<C>);
    add("start", start<C>);
    add("finish", finish<C>);
    // Its time depends on the public inputs alone.
    if (rows == 16384) add("verify", verify<C>);
  }
}

const bool kRegistered = [] {
  register_curve<curve::Bls12_381>("bls12_381");
  register_curve<curve::Bn254>("bn254");
  return true;
}();

}  // namespace
}  // namespace cuzk::bench
