// The stages of a 2 KiB PoRep on this room's side, from sealing to the assignment of a partition.
//
//   porep_bench --benchmark_filter=2KiB        (all but the sealing of 8 MiB, which takes seconds)
#include <benchmark/benchmark.h>

#include "filecoin/job.h"
#include "filecoin/porep/prove_vanilla.h"

namespace cuzk::filecoin {
namespace {

SealRequest request_of(unsigned registered_number) {
  SealRequest request;
  request.config = PorepConfig::of(registered_seal(registered_number).value());
  request.prover_id = prover_id_of_miner(1000);
  request.sector_number = 42;
  request.ticket.fill(1);
  return request;
}

const PorepC1& c1_2kib() {
  static const PorepC1 c1 = [] {
    const SealRequest request = request_of(5);
    const SealedSector sector = seal(request, base::Bytes(2032, 7)).value();
    Node seed;
    seed.fill(0x1a);
    return commit_phase_1(sector, registered_seal(5).value(), seed).value();
  }();
  return c1;
}

void seal_2kib(benchmark::State& state) {
  const base::Bytes data(2032, 7);
  for (auto _ : state) benchmark::DoNotOptimize(seal(request_of(5), data));
}
BENCHMARK(seal_2kib)->Name("filecoin/seal/2KiB")->Unit(benchmark::kMillisecond);

// Seconds: 524,288 labels one after the other, then trees on all threads.
void seal_8mib(benchmark::State& state) {
  const base::Bytes data(1 << 20, 7);
  for (auto _ : state) {
    const SealedSector sector = seal(request_of(6), data).value();
    Node seed;
    seed.fill(0x1a);
    const PorepC1 c1 = commit_phase_1(sector, registered_seal(6).value(), seed).value();
    if (!verify_c1(c1).ok()) state.SkipWithError("the vanilla proofs do not hold");
  }
}
BENCHMARK(seal_8mib)->Name("filecoin/seal/8MiB")->Unit(benchmark::kMillisecond)->Iterations(1);

void write_c1(benchmark::State& state) {
  std::int64_t bytes = 0;
  for (auto _ : state) bytes += static_cast<std::int64_t>(write_c1_inner(c1_2kib()).size());
  state.SetBytesProcessed(bytes);
}
BENCHMARK(write_c1)->Name("filecoin/c1/write/2KiB")->Unit(benchmark::kMicrosecond);

void read_c1_inner(benchmark::State& state) {
  const std::string text = write_c1_inner(c1_2kib());
  const base::ByteSpan bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  for (auto _ : state) benchmark::DoNotOptimize(read_c1(bytes, "c1.json"));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(read_c1_inner)->Name("filecoin/c1/read/2KiB")->Unit(benchmark::kMicrosecond);

void verify(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(verify_c1(c1_2kib()).ok());
}
BENCHMARK(verify)->Name("filecoin/c1/verify/2KiB")->Unit(benchmark::kMillisecond);

void shape(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        circuit_shape(CircuitKind::kPorep, **sector_shape_by_name("2KiB")).value());
  }
}
BENCHMARK(shape)->Name("filecoin/porep/shape/2KiB")->Unit(benchmark::kMillisecond)->Iterations(3);

void assignment(benchmark::State& state) {
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto values = porep_partition_assignment(c1_2kib(), 0);
    bytes = values.aux.byte_count();
  }
  state.counters["witness_bytes"] = static_cast<double>(bytes);
}
BENCHMARK(assignment)->Name("filecoin/porep/assignment/2KiB")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin
