// Field operations: latency of a dependent chain and throughput over independent elements.
//
// Names: <field>/<operation>/<latency|throughput>; the time is that of one operation. Peers on the
// same machine are in docs/performance.md.
#include <benchmark/benchmark.h>

#include "field/bls12_381.h"
#include "field/bn254.h"
#include "field/samples.h"
#include "field/square_root.h"

namespace cuzk::field {
namespace {

constexpr std::size_t kCount = 64;  // in the first-level cache, with results

template <class F>
std::vector<F> sample() {
  SampleGenerator generator(13);
  std::vector<F> out;
  for (std::size_t i = 0; i < kCount; ++i) out.push_back(generator.next<F>());
  return out;
}

void report_each(benchmark::State& state) {
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kCount),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class F, class Operation>
void throughput(benchmark::State& state, Operation operation) {
  const auto a = sample<F>();
  auto out = a;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kCount; ++i) out[i] = operation(a[i], a[kCount - 1 - i]);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  report_each(state);
}

template <class F, class Operation>
void latency(benchmark::State& state, Operation operation) {
  const auto a = sample<F>();
  F x = a[0];
  for (auto _ : state) {
    for (std::size_t i = 0; i < kCount; ++i) x = operation(x, a[i]);
    benchmark::DoNotOptimize(x);
  }
  report_each(state);
}

template <class F, class Operation>
void add_both(const std::string& name, Operation operation) {
  benchmark::RegisterBenchmark((name + "/throughput").c_str(),
                               [=](auto& state) { throughput<F>(state, operation); });
  benchmark::RegisterBenchmark((name + "/latency").c_str(),
                               [=](auto& state) { latency<F>(state, operation); });
}

template <class F>
void add_ring(const std::string& field) {
  add_both<F>(field + "/add", [](const F& a, const F& b) { return a + b; });
  add_both<F>(field + "/sub", [](const F& a, const F& b) { return a - b; });
  add_both<F>(field + "/mul", [](const F& a, const F& b) { return a * b; });
  add_both<F>(field + "/sqr", [](const F& a, const F&) { return a.squared(); });
}

template <class F>
void add_field(const std::string& field) {
  add_ring<F>(field);
  benchmark::RegisterBenchmark((field + "/inverse").c_str(), [](auto& state) {
    latency<F>(state, [](const F& a, const F& b) { return a.inverse() + b; });
  });
}

[[maybe_unused]] const bool kRegistered = [] {
  add_field<bls12_381::Fp>("bls12_381_fp");
  add_field<bls12_381::Fr>("bls12_381_fr");
  add_field<bls12_381::Fp2>("bls12_381_fp2");
  add_ring<bls12_381::Fp12>("bls12_381_fp12");
  add_field<bn254::Fp>("bn254_fp");
  add_ring<bn254::Fp2>("bn254_fp2");
  benchmark::RegisterBenchmark("bls12_381_fp/square_root", [](auto& state) {
    using F = bls12_381::Fp;
    throughput<F>(state, [](const F& a, const F&) { return square_root(a).value_or(a); });
  });
  return true;
}();

}  // namespace
}  // namespace cuzk::field
