// One proof of a circuit as large as a partition of 32 GiB, with PoRep's proportions of bits: the
// key is made on the device, then the proof is made there and verified on the CPU.
#include <fstream>

#include "bench/cuda_prove/stage_times.h"
#include "cuda/setup/device_multiplier.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"
#include "groth16/verify.h"

namespace cuzk::bench::cuda_prove {
namespace {

using C = curve::Bls12_381;
using Fr = C::Fr;

// Of 64 rows one squares a chain of scalars; each other says of a variable that it is a bit, and
// one in four of those has the variable in B too.
struct Synthetic {
  std::shared_ptr<r1cs::Shape<Fr>> shape = std::make_shared<r1cs::Shape<Fr>>();
  std::shared_ptr<r1cs::Assignment<Fr>> assignment = std::make_shared<r1cs::Assignment<Fr>>();

  explicit Synthetic(std::size_t row_count) {
    shape->input_count = 2;
    shape->coefficients = {Fr::one(), -Fr::one()};
    assignment->inputs = {Fr::one(), Fr::from_u64(3)};
    for (r1cs::SparseMatrix* matrix : {&shape->a, &shape->b, &shape->c}) {
      matrix->row_begin.reserve(row_count + 1);
      matrix->terms.reserve(2 * row_count);
    }
    assignment->aux.reserve(row_count, row_count / 64 + 1);
    Fr value = Fr::from_u64(3);
    std::uint32_t chain = 1;
    std::uint64_t state = 1;
    for (std::size_t row = 0; row < row_count; ++row) {
      const std::uint32_t fresh = shape->input_count + shape->aux_count++;
      if (row % 64 == 0) {
        value = value.squared();
        assignment->aux.push_scalar(value);
        add(shape->a, {{chain, 0}});
        add(shape->b, {{chain, 0}});
        add(shape->c, {{fresh, 0}});
        chain = fresh;
        continue;
      }
      state = state * 6364136223846793005u + 1442695040888963407u;
      assignment->aux.push_bit(state >> 63 != 0);
      add(shape->a, {{fresh, 0}});
      if (row % 4 == 0) {  // x x = x
        add(shape->b, {{fresh, 0}});
      } else {  // x 1 = x, whatever x is
        add(shape->b, {{0, 0}});
      }
      add(shape->c, {{fresh, 0}});
    }
  }
  static void add(r1cs::SparseMatrix& matrix, std::initializer_list<r1cs::Term> terms) {
    matrix.terms.insert(matrix.terms.end(), terms.begin(), terms.end());
    matrix.row_begin.push_back(matrix.terms.size());
  }
};

// Resident memory of this process, now and at most so far, as the kernel counts it.
void print_memory(const char* when) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "VmRSS: %llu", &kib) == 1) {
      std::printf("resident memory %s: %.2f GiB", when, double(kib) / (1 << 20));
    }
    if (std::sscanf(line.c_str(), "VmHWM: %llu", &kib) == 1) {
      std::printf(" (most so far %.2f GiB); ", double(kib) / (1 << 20));
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

// The median of a few proofs on one device or shared by several, after one that loads the key;
// each verified. Stage times are of the first device.
double time_full(Report& report, const Options& options, const std::vector<std::string>& devices,
                 groth16::ProveInputs<C> inputs,
                 ::cuzk::cuda::TableUse tables = ::cuzk::cuda::TableUse::kByPlan) {
  ::cuzk::cuda::BackendOptions how;
  how.known_answer_test = false;
  how.exact_stages = devices.size() == 1;
  how.lanes = 1;
  how.tables = tables;
  how.vram_limit_bytes = options.vram_bytes;
  ::cuzk::cuda::SplitOptions split;
  for (const std::string& device : devices) {
    how.device = device;
    split.devices.push_back(how);
  }
  const auto backend = devices.size() == 1 ? ::cuzk::cuda::make_backend<C>(how)
                                           : ::cuzk::cuda::make_split_backend<C>(split);
  if (!report.expect_ok(backend, "backend")) return 0;
  std::vector<double> times;
  for (int i = 0; i < 4; ++i) {
    StageTimes stages;
    inputs.control.progress = &stages;
    Clock clock;
    const auto pending = (*backend)->start(inputs, fixed_blinding<C>());
    if (!report.expect_ok(pending, "full-size proof")) return 0;
    const double start_ms = clock.ms();
    stages.end();
    if (i == 1) {
      std::printf("a pending proof holds %llu bytes\n",
                  static_cast<unsigned long long>((*pending)->byte_count()));
      print_ledger("with a pending proof");
      print_memory("with a pending proof");
    }
    clock = Clock();
    const auto proof = (*pending)->finish();
    const double ms = start_ms + clock.ms();
    if (!report.expect_ok(proof, "full-size proof")) return 0;
    clock = Clock();
    report.expect_ok(groth16::checked_proof<C>(inputs, *proof), "full-size proof does not verify");
    std::printf("%s 2^%zu on %zu devices: %.0f ms, verified in %.1f ms\n",
                i == 0 ? "first proof, with upload," : "proof,", options.full_log2, devices.size(),
                ms, clock.ms());
    if (i == 0) continue;
    times.push_back(ms);
    if (i == 1) stages.print();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

void run_full(Report& report, const Options& options) {
  Clock clock;
  const Synthetic circuit((std::size_t{1} << options.full_log2) - 2);
  std::printf("synthetic circuit of 2^%zu rows in %.1f s\n", options.full_log2, clock.ms() / 1e3);
  std::fflush(stdout);
  groth16::ProveInputs<C> inputs;
  inputs.shape = circuit.shape;
  inputs.assignment = circuit.assignment;
  clock = Clock();
  {
    auto multiplier = ::cuzk::cuda::setup::make_device_multiplier<C>(options.device);
    if (!report.expect_ok(multiplier, "multiplier")) return;
    const auto key =
        groth16::setup<C>(*inputs.shape, groth16::testing::test_waste<C>(),
                          groth16::QapConvention::kCoefficients, {}, multiplier->get());
    if (!report.expect_ok(key, "key")) return;
    inputs.key = *key;
  }
  const auto& key = *inputs.key;
  std::printf("key made on the device in %.1f s: H %zu, L %zu, A %zu, B %zu points\n",
              clock.ms() / 1e3, key.h.size(), key.l.size(), key.a.size(), key.b_g1.size());
  std::fflush(stdout);
  print_memory("with the key in host memory");
  const double one_ms = time_full(report, options, {options.device}, inputs);
  if (options.tables) {
    const double with_ms =
        time_full(report, options, {options.device}, inputs, ::cuzk::cuda::TableUse::kAtOnce);
    std::printf("2^%zu with tables of multiples: %.0f ms, without %.0f\n", options.full_log2,
                with_ms, one_ms);
  }
  const auto devices = ::cuzk::cuda::list_devices();
  if (devices.ok() && devices->size() > 1) {
    std::vector<std::string> all;
    for (const auto& device : *devices) all.push_back(device.uuid);
    const double shared_ms = time_full(report, options, all, inputs);
    std::printf("2^%zu on %zu devices: %.0f ms, %.3f of one device's time\n", options.full_log2,
                all.size(), shared_ms, shared_ms / one_ms);
  }
  report.section("full size");
}

}  // namespace cuzk::bench::cuda_prove
