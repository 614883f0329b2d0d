// PoRep proofs of a 2 KiB sector: 2^22 rows, nearly all variables bits. Times of stages, steady
// rate, memory, limits of memory, several devices; every proof is compared with the CPU's.
#include <algorithm>
#include <atomic>
#include <thread>

#include "base/file.h"
#include "base/ledger.h"
#include "bench/cuda_prove/stage_times.h"
#include "cuda/device_pool.h"
#include "cuda/measure.h"
#include "filecoin/job.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::bench::cuda_prove {
namespace {

using C = curve::Bls12_381;
using ::cuzk::cuda::BackendOptions;
using ::cuzk::cuda::TableUse;
using Inputs = groth16::ProveInputs<C>;
using Proof = groth16::Proof<C>;
using Backend = std::shared_ptr<groth16::Backend<C>>;

// One partition, and the CPU's proof of it with the fixed blinding: what all proofs here must be.
struct Porep {
  Inputs inputs;
  Proof expected;
};

// Reads the C1 file, records the circuit, makes a key and the CPU's proof; tells how long each
// took.
bool prepare(Report& report, const Options& options, Porep& out) {
  const auto text = base::read_file(options.c1, filecoin::kC1ByteCountMax);
  if (!report.expect_ok(text, options.c1.string())) return false;
  const auto file = filecoin::read_c1(*text, options.c1.string());
  if (!report.expect_ok(file, options.c1.string())) return false;
  Clock clock;
  auto shape =
      filecoin::circuit_shape(filecoin::CircuitKind::kPorep, *file->c1.registered_proof.shape);
  if (!report.expect_ok(shape, "circuit")) return false;
  out.inputs.shape = std::make_shared<const r1cs::Shape<C::Fr>>(std::move(shape).value());
  std::printf("circuit recorded in %.1f s\n", clock.ms() / 1e3);
  clock = Clock();
  const auto key = groth16::setup<C>(*out.inputs.shape, groth16::testing::test_waste<C>(),
                                     groth16::QapConvention::kCoefficients);
  if (!report.expect_ok(key, "development key")) return false;
  out.inputs.key = *key;
  std::printf("development key made on the CPU in %.1f s\n", clock.ms() / 1e3);
  out.inputs.assignment = std::make_shared<const r1cs::Assignment<C::Fr>>(
      filecoin::porep_partition_assignment(file->c1, 0));
  const auto& aux = out.inputs.assignment->aux;
  const auto& k = **key;
  std::printf("2^%zu rows, %zu constraints, %zu terms; %zu variables, %zu of them scalars\n",
              k.domain_log2, out.inputs.shape->constraint_count(),
              out.inputs.shape->a.terms.size() + out.inputs.shape->b.terms.size(), aux.size(),
              aux.scalar_count());
  std::printf("points: H %zu, L %zu, A %zu, B %zu\n", k.h.size(), k.l.size(), k.a.size(),
              k.b_g1.size());
  clock = Clock();
  const auto cpu = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove_with_blinding<C>(*cpu, out.inputs, fixed_blinding<C>());
  if (!report.expect_ok(proof, "proof on the CPU")) return false;
  std::printf("proof on the CPU, verified: %.2f s\n", clock.ms() / 1e3);
  out.expected = *proof;
  return true;
}

void expect_proof(Report& report, const base::Result<Proof>& proof, const Porep& porep,
                  const std::string& what) {
  if (report.expect_ok(proof, what))
    report.expect(*proof == porep.expected, what + ": other bytes");
}

// `count` proofs by `threads` threads; milliseconds a proof.
double rate(Report& report, groth16::Backend<C>& backend, const Porep& porep, unsigned count,
            unsigned threads, const std::string& what) {
  std::atomic<unsigned> next{0};
  std::vector<base::Result<Proof>> proofs(count, base::Error{});
  std::vector<std::thread> all;
  const Clock clock;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      for (unsigned i = next++; i < count; i = next++) {
        proofs[i] = raw_proof<C>(backend, porep.inputs);
      }
    });
  }
  for (auto& thread : all) thread.join();
  const double ms = clock.ms() / count;
  for (const auto& proof : proofs) expect_proof(report, proof, porep, what);
  return ms;
}

// Without the known-answer test: it would be in the first proof's time.
BackendOptions backend_options(const Options& options) {
  BackendOptions out;
  out.device = options.device;
  out.known_answer_test = false;
  return out;
}

// One lane with every stage waited for: where the time of a proof goes. Medians of seven.
void time_stages(Report& report, const Options& options, const Porep& porep,
                 TableUse tables = TableUse::kByPlan) {
  BackendOptions how = backend_options(options);
  how.exact_stages = true;
  how.tables = tables;
  const auto backend = ::cuzk::cuda::make_backend<C>(how);
  if (!report.expect_ok(backend, "backend")) return;
  Clock first;
  expect_proof(report, raw_proof<C>(**backend, porep.inputs), porep, "first proof");
  std::printf("first proof, with the key's upload: %.0f ms\n", first.ms());
  print_ledger("with the key on the device");
  StageTimes stages;
  Inputs inputs = porep.inputs;
  inputs.control.progress = &stages;
  std::vector<double> start_ms, finish_ms;
  for (int i = 0; i < 7; ++i) {
    Clock clock;
    auto pending = (*backend)->start(inputs, fixed_blinding<C>());
    stages.end();
    start_ms.push_back(clock.ms());
    if (!report.expect_ok(pending, "start")) return;
    if (i == 0) {
      std::printf("a pending proof holds %llu bytes\n",
                  static_cast<unsigned long long>((*pending)->byte_count()));
      print_ledger("with a pending proof");
    }
    clock = Clock();
    const auto proof = (*pending)->finish();
    finish_ms.push_back(clock.ms());
    expect_proof(report, proof, porep, "timed proof");
  }
  std::sort(start_ms.begin(), start_ms.end());
  std::sort(finish_ms.begin(), finish_ms.end());
  std::printf("stages, each waited for (medians):\n");
  stages.print();
  std::printf("  start %.2f ms, finish %.2f ms\n", start_ms[3], finish_ms[3]);
}

// The steady rate by lanes, with a thread more than lanes, so that none is idle; then with random
// blinding and each proof verified, as a user has it.
void time_rates(Report& report, const Options& options, const Porep& porep) {
  for (const unsigned lanes : {1u, 2u, 3u, 4u}) {
    BackendOptions how = backend_options(options);
    how.lanes = lanes;
    const auto backend = ::cuzk::cuda::make_backend<C>(how);
    if (!report.expect_ok(backend, "backend")) return;
    rate(report, **backend, porep, lanes + 1, lanes, "warm-up");
    base::Ledger::process().reset_peaks();
    const double ms = rate(report, **backend, porep, options.proofs, lanes + 1, "steady");
    std::printf("steady: %u lanes, %u threads, %u proofs: %.2f ms a proof\n", lanes, lanes + 1,
                options.proofs, ms);
    if (lanes == 3) print_ledger("after the steady proofs");
    std::fflush(stdout);
  }
  const auto backend = ::cuzk::cuda::make_backend<C>(backend_options(options));
  if (!report.expect_ok(backend, "backend")) return;
  rate(report, **backend, porep, 3, 3, "warm-up");
  const Clock clock;
  std::vector<std::thread> all;
  for (unsigned t = 0; t < 4; ++t) {
    all.emplace_back([&] {
      for (unsigned i = 0; i < options.proofs / 4; ++i) {
        report.expect(groth16::prove<C>(**backend, porep.inputs).ok(), "verified proof");
      }
    });
  }
  for (auto& thread : all) thread.join();
  std::printf("steady, each with random blinding and verified: %.2f ms a proof\n",
              clock.ms() / (options.proofs / 4 * 4));
}

// Alone and steady, without tables of multiples and with those that the plan makes.
void time_tables(Report& report, const Options& options, const Porep& porep) {
  std::printf("stages with tables of all queries that gain anything:\n");
  time_stages(report, options, porep, TableUse::kAtOnce);
  for (const auto use : {TableUse::kNever, TableUse::kByPlan, TableUse::kNever}) {
    BackendOptions how = backend_options(options);
    how.tables = use;
    const auto backend = ::cuzk::cuda::make_backend<C>(how);
    if (!report.expect_ok(backend, "backend")) return;
    const char* what = use == TableUse::kNever ? "without tables" : "with tables by plan";
    if (use == TableUse::kNever) {
      rate(report, **backend, porep, 6, 4, "warm-up");
    } else {
      unsigned count = 0;
      for (; count < 400 && table_bytes() == 0; ++count) {
        expect_proof(report, raw_proof<C>(**backend, porep.inputs), porep, "before tables");
      }
      report.expect(table_bytes() != 0, "tables are made by plan");
      const Clock clock;
      rate(report, **backend, porep, 24, 4, "while tables are made");
      std::printf("tables begun before proof %u; the next 24: %.2f ms a proof\n", count,
                  clock.ms() / 24);
    }
    std::vector<double> alone;
    for (int i = 0; i < 15; ++i) {
      const Clock clock;
      expect_proof(report, raw_proof<C>(**backend, porep.inputs), porep, what);
      alone.push_back(clock.ms());
    }
    std::sort(alone.begin(), alone.end());
    const double steady = rate(report, **backend, porep, 48, 4, what);
    std::printf("%s: alone %.2f ms, steady (3 lanes, 4 threads) %.2f ms a proof\n", what,
                alone[alone.size() / 2], steady);
    if (use != TableUse::kNever) print_ledger(what);
    std::fflush(stdout);
  }
}

// Tables of whatever is worth anything, in what is left under a limit.
void check_tables_under(Report& report, const Options& options, const Porep& porep,
                        std::uint64_t gib) {
  BackendOptions how = backend_options(options);
  how.vram_limit_bytes = gib << 30;
  how.tables = TableUse::kAtOnce;
  const auto backend = ::cuzk::cuda::make_backend<C>(how);
  if (!report.expect_ok(backend, "backend")) return;
  const std::string what = "tables under " + std::to_string(gib) + " GiB";
  for (int i = 0; i < 2; ++i) {
    expect_proof(report, raw_proof<C>(**backend, porep.inputs), porep, what);
  }
  const double mib = double(table_bytes()) / (1 << 20);
  rate(report, **backend, porep, 6, 3, what);
  std::printf("%s: %.0f MiB of them\n", what.c_str(), mib);
}

// Under a limit; with `in_pinned` false a streamed key is decoded from its bytes for each pass.
void check_limit(Report& report, const Options& options, const Porep& porep, std::uint64_t gib,
                 bool in_pinned) {
  BackendOptions how = backend_options(options);
  how.vram_limit_bytes = gib << 30;
  const auto backend = ::cuzk::cuda::make_backend<C>(how);
  if (!report.expect_ok(backend, "backend")) return;
  auto& ledger = base::Ledger::process();
  // Enough for the lanes' own staging.
  if (!in_pinned) ledger.set_budget(base::Account::pinned(), std::uint64_t{160} << 20);
  ledger.reset_peaks();
  const std::string what =
      "limit of " + std::to_string(gib) + " GiB" + (in_pinned ? "" : ", key not pinned");
  Clock clock;
  expect_proof(report, raw_proof<C>(**backend, porep.inputs), porep, what);
  const double first_ms = clock.ms();
  clock = Clock();
  expect_proof(report, raw_proof<C>(**backend, porep.inputs), porep, what);
  std::printf("%s: first %.0f ms, then %.1f ms\n", what.c_str(), first_ms, clock.ms());
  for (const unsigned threads : {2u, 3u, 4u}) {
    rate(report, **backend, porep, threads, threads, what);
    const auto before = ::cuzk::cuda::streamed_bytes(0);
    const unsigned count = std::max(threads * 2, options.proofs);
    const double ms = rate(report, **backend, porep, count, threads, what);
    const auto after = ::cuzk::cuda::streamed_bytes(0);
    std::printf("  %u threads: %.1f ms a proof; %.0f MB uploaded for each, %.0f shared\n", threads,
                ms, double(after.uploaded_bytes - before.uploaded_bytes) / count / 1e6,
                double(after.shared_bytes - before.shared_bytes) / count / 1e6);
  }
  print_ledger(what.c_str());
  std::fflush(stdout);
  ledger.set_budget(base::Account::pinned(), 0);
}

// Each limit makes something else give way (docs/cuda.md, Memory).
void check_limits(Report& report, const Options& options, const Porep& porep) {
  for (const std::uint64_t gib : {8, 4, 2, 1}) {
    check_limit(report, options, porep, gib, true);
    check_tables_under(report, options, porep, gib);
  }
  check_limit(report, options, porep, 1, false);
}

// So little memory that vectors of all rows lie on the host: `vector_count` of them, which the
// ledger shows while there are, and not after.
void check_tight_limit(Report& report, const Options& options, const Porep& porep,
                       std::uint64_t mib, unsigned vector_count) {
  BackendOptions how = backend_options(options);
  how.vram_limit_bytes = mib << 20;
  how.exact_stages = true;
  const auto backend = ::cuzk::cuda::make_backend<C>(how);
  if (!report.expect_ok(backend, "backend")) return;
  auto& ledger = base::Ledger::process();
  const std::string what = "limit of " + std::to_string(mib) + " MiB";
  Clock clock;
  expect_proof(report, raw_proof<C>(**backend, porep.inputs), porep, what);
  const double first_ms = clock.ms();
  ledger.reset_peaks();
  const auto before = ::cuzk::cuda::streamed_bytes(0);
  StageTimes stages;
  Porep timed = porep;
  timed.inputs.control.progress = &stages;
  std::vector<double> alone;
  for (int i = 0; i < 3; ++i) {
    clock = Clock();
    expect_proof(report, raw_proof<C>(**backend, timed.inputs), porep, what);
    stages.end();
    alone.push_back(clock.ms());
  }
  std::sort(alone.begin(), alone.end());
  const base::MemoryUse vectors = ledger.snapshot().of(base::MemoryCategory::kEvaluation);
  const std::uint64_t one = std::uint64_t{32} << porep.inputs.key->domain_log2;
  report.expect(
      vectors.peak_bytes == vector_count * one,
      what + ": the host had " + std::to_string(vectors.peak_bytes) + " bytes of vectors");
  report.expect(vectors.used_bytes == 0, what + ": the host still has vectors");
  const double key_mb =
      double(::cuzk::cuda::streamed_bytes(0).uploaded_bytes - before.uploaded_bytes) / 3 / 1e6;
  const double steady = rate(report, **backend, porep, 3, 3, what);
  std::printf(
      "%s, %u vectors on the host: first %.0f ms, then %.1f ms alone, %.1f ms by three "
      "threads; %.0f MB of key uploaded for each\n",
      what.c_str(), vector_count, first_ms, alone[alone.size() / 2], steady, key_mb);
  stages.print();
  print_ledger(what.c_str());
  std::fflush(stdout);
}

// One vector at a time on the device, then none.
void check_tight_limits(Report& report, const Options& options, const Porep& porep) {
  check_tight_limit(report, options, porep, 256, 1);
  check_tight_limit(report, options, porep, 64, 2);
}

// One large sum on one device and shared by all.
void time_shared_sum(Report& report, const std::vector<::cuzk::cuda::DeviceReport>& devices) {
  constexpr std::size_t kLog2 = 26;
  std::vector<std::string> names;
  double one_ms = 0;
  for (const auto& device : devices) {
    names.push_back(device.uuid);
    const auto measured = ::cuzk::cuda::measure_multiply<C::G1>(names, kLog2, 3);
    if (!report.expect_ok(measured, "shared sum")) return;
    report.expect(measured->is_right, "shared sum is wrong");
    if (names.size() == 1) one_ms = measured->median_ms;
    std::printf("sum of 2^%zu in G1 on %zu devices: %.1f ms, %.3f of one device's time\n", kLog2,
                names.size(), measured->median_ms, measured->median_ms / one_ms);
    std::fflush(stdout);
  }
}

// Milliseconds of start and finish, the median of some after one that loads.
double alone_ms(Report& report, groth16::Backend<C>& backend, const Porep& porep,
                const std::string& what) {
  std::vector<double> times;
  for (int i = 0; i < 10; ++i) {
    const Clock clock;
    expect_proof(report, raw_proof<C>(backend, porep.inputs), porep, what);
    if (i > 0) times.push_back(clock.ms());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// One proof on one device and shared by all.
void time_shared_proof(Report& report, const Options& options, const Porep& porep,
                       const std::vector<::cuzk::cuda::DeviceReport>& devices) {
  double one_ms = 0;
  {
    const auto alone = ::cuzk::cuda::make_backend<C>(backend_options(options));
    if (!report.expect_ok(alone, "backend")) return;
    one_ms = alone_ms(report, **alone, porep, "one device");
  }
  ::cuzk::cuda::SplitOptions split;
  for (const auto& device : devices) {
    split.devices.push_back(backend_options(options));
    split.devices.back().device = device.uuid;
    const auto shared = ::cuzk::cuda::make_split_backend<C>(split);
    if (!report.expect_ok(shared, "devices that share")) return;
    const double ms = alone_ms(report, **shared, porep, "a shared proof");
    std::printf("one proof on %zu devices: %.1f ms, %.3f of one device's %.1f ms\n",
                split.devices.size(), ms, ms / one_ms, one_ms);
    print_ledger("with a shared key");
    std::fflush(stdout);
  }
}

// A proof shared, a sum shared, then many proofs over a pool of one, two, ... devices.
void time_devices(Report& report, const Options& options, const Porep& porep) {
  const auto devices = ::cuzk::cuda::list_devices();
  if (!report.expect_ok(devices, "devices") || devices->size() < 2) return;
  time_shared_proof(report, options, porep, *devices);
  time_shared_sum(report, *devices);
  double one_ms = 0;
  for (std::size_t count = 1; count <= devices->size(); ++count) {
    std::vector<::cuzk::cuda::DevicePool<C>::Member> members;
    for (std::size_t i = 0; i < count; ++i) {
      BackendOptions how = backend_options(options);
      how.device = (*devices)[i].uuid;
      const auto backend = ::cuzk::cuda::make_backend<C>(how);
      if (!report.expect_ok(backend, "backend")) return;
      members.push_back({how.device, *backend});
    }
    ::cuzk::cuda::DevicePool<C> pool(members);
    // Each device takes the key once, before the clock runs.
    for (auto& member : members) rate(report, *member.backend, porep, 2, 2, "warm-up");
    const unsigned threads = static_cast<unsigned>(4 * count);
    rate(report, pool, porep, threads, threads, "warm-up");
    const double ms = rate(report, pool, porep, options.proofs, threads, "pool");
    if (count == 1) one_ms = ms;
    std::printf("%zu devices: %u proofs in %.0f ms, %.2f ms a proof, %.3f of one device's time\n",
                count, options.proofs, ms * options.proofs, ms, ms / one_ms);
    for (const auto& load : pool.loads()) {
      std::printf("  %s started %llu\n", load.name.c_str(),
                  static_cast<unsigned long long>(load.started_count));
    }
    std::fflush(stdout);
  }
}

}  // namespace

void run_porep(Report& report, const Options& options) {
  Porep porep;
  if (!prepare(report, options, porep)) return;
  std::fflush(stdout);
  if (options.checks || options.times) time_stages(report, options, porep);
  if (options.times && options.tables) time_tables(report, options, porep);
  if (options.times && !options.tables) time_rates(report, options, porep);
  if (options.limits) check_limits(report, options, porep);
  if (options.tight) check_tight_limits(report, options, porep);
  if (options.devices) time_devices(report, options, porep);
  report.section("PoRep of a 2 KiB sector");
}

}  // namespace cuzk::bench::cuda_prove
