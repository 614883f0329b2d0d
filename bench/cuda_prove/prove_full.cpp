// One proof of a circuit as large as a partition of 32 GiB, with PoRep's proportions of bits: the
// key is made on the device, then the proof is made there and verified on the CPU.
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
  ::cuzk::cuda::BackendOptions how;
  how.device = options.device;
  how.known_answer_test = false;
  how.exact_stages = true;
  how.lanes = 1;
  const auto backend = ::cuzk::cuda::make_backend<C>(how);
  if (!report.expect_ok(backend, "backend")) return;
  for (int i = 0; i < 3; ++i) {
    StageTimes stages;
    inputs.control.progress = &stages;
    clock = Clock();
    const auto proof = raw_proof<C>(**backend, inputs);
    const double ms = clock.ms();
    if (!report.expect_ok(proof, "full-size proof")) return;
    clock = Clock();
    const auto checked = groth16::checked_proof<C>(inputs, *proof);
    report.expect_ok(checked, "full-size proof does not verify");
    std::printf("%s 2^%zu: %.0f ms, verified in %.1f ms\n",
                i == 0 ? "first proof, with upload," : "proof,", options.full_log2, ms, clock.ms());
    if (i > 0) stages.print();
    if (i == 0) print_ledger("with the key on the device");
    std::fflush(stdout);
  }
  report.section("full size");
}

}  // namespace cuzk::bench::cuda_prove
