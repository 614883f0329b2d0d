// Transforms by field, CPU level and size. Names: poly/<transform>/<field>/<level>/2^<log2>.
// Wall times; CUZK_BENCH_THREADS sets the threads (default 1).
#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/cpu.h"
#include "base/threads.h"
#include "poly/bit_reversal.h"
#include "poly/domain.h"

namespace cuzk::poly {
namespace {

template <class F>
std::vector<F> some_values(std::size_t count) {
  std::vector<F> out(count);
  F x = F::from_u64(3);
  const F step = F::generator().squared() + F::one();
  for (F& value : out) value = x *= step;
  return out;
}

template <class F, class Operation>
void run(benchmark::State& state, base::CpuLevel level, std::size_t log2,
         const Operation& operation) {
  base::force_cpu_level(level);
  const auto domain = Domain<F>::create(log2).value();
  std::vector<F> values = some_values<F>(domain.size());
  for (auto _ : state) operation(domain, std::span<F>(values));
}

template <class F>
void register_field(const std::string& field) {
  for (const auto level :
       {base::CpuLevel::kPortable, base::CpuLevel::kAdx, base::CpuLevel::kIfma}) {
    if (level > base::machine_cpu_level()) continue;
    for (std::size_t log2 = 14; log2 <= 22; log2 += 2) {
      const std::string tail =
          "/" + field + "/" + std::string(base::to_string(level)) + "/2^" + std::to_string(log2);
      const auto add = [&](const char* name, auto operation) {
        benchmark::RegisterBenchmark(
            ("poly/" + std::string(name) + tail).c_str(),
            [=](benchmark::State& state) { run<F>(state, level, log2, operation); })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      };
      add("forward", [](const Domain<F>& d, std::span<F> v) { d.forward(v); });
      add("inverse", [](const Domain<F>& d, std::span<F> v) { d.inverse(v); });
      add("forward_coset",
          [](const Domain<F>& d, std::span<F> v) { d.forward_coset(v, F::generator()); });
      add("bit_reverse", [](const Domain<F>& d, std::span<F> v) { bit_reverse(v, d.size_log2()); });
    }
  }
}

const bool kRegistered = [] {
  const char* threads = std::getenv("CUZK_BENCH_THREADS");
  base::set_thread_count(threads == nullptr ? 1 : std::strtoul(threads, nullptr, 10));
  register_field<field::bls12_381::Fr>("bls12_381_fr");
  register_field<field::bn254::Fr>("bn254_fr");
  return true;
}();

}  // namespace
}  // namespace cuzk::poly
