// Cost of the native hashes: one compression of SHA-256 by each path that this CPU has, one
// Poseidon by arity. Inputs are chained, so latency is what is timed.
//
//   hash_bench --benchmark_filter=hash/
#include <benchmark/benchmark.h>

#include "hash/poseidon.h"
#include "hash/sha256.h"

namespace {

using cuzk::hash::PoseidonField;
using cuzk::hash::Sha256Path;

void compress(benchmark::State& state, Sha256Path path) {
  if (!cuzk::hash::sha256_path_available(path)) return state.SkipWithError("not on this CPU");
  cuzk::hash::Sha256State chain = cuzk::hash::kSha256InitialState;
  const std::uint8_t block[64] = {1, 2, 3};
  for (auto _ : state) {
    cuzk::hash::sha256_compress_on(path, chain, block, 1);
    benchmark::DoNotOptimize(chain);
  }
}
BENCHMARK_CAPTURE(compress, portable, Sha256Path::kPortable)->Name("hash/sha256/portable");
BENCHMARK_CAPTURE(compress, extensions, Sha256Path::kShaExtensions)->Name("hash/sha256/extensions");

void poseidon(benchmark::State& state) {
  std::vector<PoseidonField> inputs(static_cast<std::size_t>(state.range(0)),
                                    PoseidonField::from_u64(5));
  for (auto _ : state) benchmark::DoNotOptimize(inputs[0] = cuzk::hash::poseidon(inputs));
}
BENCHMARK(poseidon)->Name("hash/poseidon/arity")->Arg(2)->Arg(4)->Arg(8)->Arg(11);

}  // namespace
