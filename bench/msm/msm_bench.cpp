// Operations of the msm room by group, CPU level and size. Names:
// msm/<operation>/<group>/<level>/<n>. Times are wall times with --threads set through
// CUZK_BENCH_THREADS (default 1).
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/cpu.h"
#include "base/threads.h"
#include "msm/msm.h"

namespace cuzk::msm {
namespace {

template <class G>
using Scalar = field::Canonical<typename G::Scalar::Params>;

template <class G>
std::vector<Scalar<G>> random_scalars(std::size_t count) {
  std::mt19937_64 rng(1);
  std::vector<Scalar<G>> out(count);
  for (auto& scalar : out) {
    field::Limbs<G::Scalar::kLimbCount> limbs;
    do {
      for (std::size_t i = 0; i < G::Scalar::kLimbCount; ++i) limbs[i] = rng();
      limbs[G::Scalar::kLimbCount - 1] >>= 256 - G::Scalar::kBitCount;
    } while (!field::less(limbs, G::Scalar::Params::kModulus));
    scalar.value = limbs;
  }
  return out;
}

// Random multiples of the generator, made once per group for the largest size asked for.
template <class G>
std::span<const curve::Affine<G>> random_points(std::size_t count) {
  static std::vector<curve::Affine<G>> points;
  if (points.size() < count) {
    points.resize(count);
    const FixedBase<G> table(G::generator(), count);
    table.multiply(random_scalars<G>(count), points);
  }
  return std::span(points).first(count);
}

template <class G>
void bench_multiply(benchmark::State& state, base::CpuLevel level, std::size_t n) {
  const auto points = random_points<G>(n);
  const auto scalars = random_scalars<G>(n);
  base::force_cpu_level(level);
  for (auto _ : state) {
    benchmark::DoNotOptimize(multiply<G>(PointSource<G>(points), std::span(scalars)));
  }
}

template <class G>
void bench_bitmap(benchmark::State& state, base::CpuLevel level, std::size_t n) {
  const auto points = random_points<G>(n);
  std::mt19937_64 rng(2);
  std::vector<std::uint64_t> bitmap(n / 64);
  for (auto& word : bitmap) word = rng();
  base::force_cpu_level(level);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sum_by_bitmap<G>(PointSource<G>(points), bitmap));
  }
}

template <class G>
void bench_fixed_base(benchmark::State& state, base::CpuLevel level, std::size_t n) {
  const auto scalars = random_scalars<G>(n);
  base::force_cpu_level(level);
  const FixedBase<G> table(G::generator(), std::size_t{1} << 20);
  std::vector<curve::Affine<G>> out(n);
  for (auto _ : state) table.multiply(scalars, out);
}

template <class G>
void register_group(const std::string& group, std::size_t log2_min, std::size_t log2_max) {
  for (const auto level :
       {base::CpuLevel::kPortable, base::CpuLevel::kAdx, base::CpuLevel::kIfma}) {
    if (level > base::machine_cpu_level()) continue;
    for (std::size_t log2 = log2_min; log2 <= log2_max; log2 += 2) {
      const std::string tail =
          "/" + group + "/" + std::string(base::to_string(level)) + "/2^" + std::to_string(log2);
      const std::size_t n = std::size_t{1} << log2;
      const auto add = [&](const char* operation, auto function) {
        benchmark::RegisterBenchmark(("msm/" + std::string(operation) + tail).c_str(), function,
                                     level, n)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      };
      add("multiply", bench_multiply<G>);
      add("sum_by_bitmap", bench_bitmap<G>);
      add("fixed_base", bench_fixed_base<G>);
    }
  }
}

const bool kRegistered = [] {
  const char* threads = std::getenv("CUZK_BENCH_THREADS");
  base::set_thread_count(threads == nullptr ? 1 : std::strtoul(threads, nullptr, 10));
  register_group<curve::Bls12_381::G1>("bls12_381_g1", 10, 20);
  register_group<curve::Bls12_381::G2>("bls12_381_g2", 10, 18);
  register_group<curve::Bn254::G1>("bn254_g1", 10, 20);
  register_group<curve::Bn254::G2>("bn254_g2", 10, 18);
  return true;
}();

}  // namespace
}  // namespace cuzk::msm
