// Tables of multiples: made once they pay, given up before a key or a proof lacks room, and the
// same bytes throughout.
#include <atomic>
#include <thread>

#include "bench/cuda_prove/stage_times.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::bench::cuda_prove {
namespace {

using C = curve::Bls12_381;
using Fr = C::Fr;
using Inputs = groth16::ProveInputs<C>;
using Proof = groth16::Proof<C>;
using ::cuzk::cuda::BackendOptions;
using ::cuzk::cuda::TableUse;

struct Job {
  Inputs inputs;
  Proof expected;
};

bool add_job(Report& report, std::size_t bits, std::uint64_t seed, std::vector<Job>& jobs) {
  const auto circuit = groth16::testing::mixed<Fr>(bits, seed);
  const auto shape = circuit.shape();
  const auto key = groth16::setup<C>(*shape, groth16::testing::test_waste<C>(),
                                     groth16::QapConvention::kCoefficients);
  if (!report.expect_ok(key, "key for tables")) return false;
  Job job{{*key, shape, circuit.assignment()}, {}};
  const auto cpu = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove_with_blinding<C>(*cpu, job.inputs, fixed_blinding<C>());
  if (!report.expect_ok(proof, "proof on the CPU")) return false;
  job.expected = *proof;
  jobs.push_back(std::move(job));
  return true;
}

void expect_proof(Report& report, groth16::Backend<C>& backend, const Job& job,
                  const std::string& what) {
  const auto proof = raw_proof<C>(backend, job.inputs);
  if (report.expect_ok(proof, what)) report.expect(*proof == job.expected, what + ": other bytes");
}

BackendOptions options_with(const Options& options, TableUse use, std::uint64_t limit_bytes = 0) {
  BackendOptions out;
  out.device = options.device;
  out.known_answer_test = false;
  out.tables = use;
  out.vram_limit_bytes = limit_bytes;
  return out;
}

// A key of short sums gets none, however many proofs it makes. Of one that does, with PoRep's sums,
// `time tables` sees the first.
void check_small_keys(Report& report, const Options& options, const Job& job) {
  const auto backend = ::cuzk::cuda::make_backend<C>(options_with(options, TableUse::kByPlan));
  if (!report.expect_ok(backend, "backend")) return;
  for (int i = 0; i < (options.tiny ? 3 : 40); ++i) {
    expect_proof(report, **backend, job, "proof of short sums");
  }
  report.expect(table_bytes() == 0, "short sums get no tables by plan");
}

struct Held {
  std::uint64_t key_bytes = 0, circuit_bytes = 0;
  bool operator==(const Held&) const = default;
};

// Keys in turn, then all at once, under a limit; what stays of them on the device when it was their
// turn twice.
Held held_after(Report& report, const Options& options, const std::vector<Job>& jobs, TableUse use,
                std::uint64_t limit_bytes, std::uint64_t& most_table_bytes) {
  const auto backend = ::cuzk::cuda::make_backend<C>(options_with(options, use, limit_bytes));
  if (!report.expect_ok(backend, "backend")) return {};
  const std::string what = (use == TableUse::kNever ? "without tables under " : "tables under ") +
                           std::to_string(limit_bytes) + " bytes";
  for (int round = 0; round < 2; ++round) {
    for (const Job& job : jobs) {
      expect_proof(report, **backend, job, what);
      most_table_bytes = std::max(most_table_bytes, table_bytes());
    }
  }
  const Held held{device_bytes(base::MemoryCategory::kSrs),
                  device_bytes(base::MemoryCategory::kMatrices)};
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < 4 * jobs.size(); i = next++) {
        expect_proof(report, **backend, jobs[i % jobs.size()], what + ", at once");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return held;
}

// Under every limit the same keys stay with tables as without, in the same form.
void check_keys_stay(Report& report, const Options& options, const std::vector<Job>& jobs) {
  std::uint64_t without_limit = 0, most = 0;
  const Held all = held_after(report, options, jobs, TableUse::kNever, 0, most);
  report.expect(most == 0, "no tables where none are asked for");
  held_after(report, options, jobs, TableUse::kAtOnce, 0, without_limit);
  report.expect(without_limit > 0, "tables are made at once");
  bool were_tables = false;
  // What proofs of tiny circuits take, however small their keys are.
  constexpr std::uint64_t kProofBytes = std::uint64_t{2} << 20;
  const std::uint64_t steps = options.tiny ? 3 : 9;
  for (std::uint64_t step = 0, percent = 120; step < steps; ++step, percent += percent / 4) {
    const std::uint64_t limit =
        (all.key_bytes + all.circuit_bytes) * percent / 100 + (options.quick ? kProofBytes : 0);
    std::uint64_t nothing = 0, some = 0;
    const Held without = held_after(report, options, jobs, TableUse::kNever, limit, nothing);
    const Held with = held_after(report, options, jobs, TableUse::kAtOnce, limit, some);
    report.expect(with == without, "tables under " + std::to_string(limit) +
                                       " bytes leave other keys on the device than none do");
    report.expect(some <= limit / 4, "tables keep to their share");
    were_tables = were_tables || some > 0;
    std::printf("limit of %.1f MiB: keys %.2f of %.2f MiB, tables at most %.2f\n",
                double(limit) / (1 << 20), double(with.key_bytes) / (1 << 20),
                double(all.key_bytes) / (1 << 20), double(some) / (1 << 20));
  }
  report.expect(were_tables, "some limit leaves room for tables");
}

}  // namespace

void check_tables(Report& report, const Options& options) {
  std::vector<Job> jobs;
  for (const std::size_t bits : {6000, 9000, 4000}) {
    if (!add_job(report, options.quick ? bits / 20 : bits, bits, jobs)) return;
  }
  check_small_keys(report, options, jobs.front());
  check_keys_stay(report, options, jobs);
  report.expect(table_bytes() == 0, "tables go with their keys");
  report.section("tables of multiples");
}

}  // namespace cuzk::bench::cuda_prove
