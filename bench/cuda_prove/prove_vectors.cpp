// Proofs whose vectors of all rows do not fit the device together: one of them there at a time, or
// none. The same bytes as ever, on memory of the host that the ledger shows and that goes back.
#include <type_traits>

#include "base/ledger.h"
#include "bench/cuda_prove/prove_ways.h"
#include "cuda/device/fault.h"
#include "cuda/prove/host_vectors.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::bench::cuda_prove {
namespace {

namespace device = ::cuzk::cuda::device;
using ::cuzk::cuda::BackendOptions;
using groth16::QapConvention;

template <class C>
struct Case {
  std::string name;
  groth16::ProveInputs<C> inputs;
  groth16::Proof<C> expected;
};

// The rows of a chain of squarings behind the first, stored as one block of `row_count` that
// repeats, as circuits of sectors are; what is left over follows as it is.
template <class F>
void store_as_repeats(r1cs::Shape<F>& shape, std::size_t row_count) {
  for (r1cs::SparseMatrix* matrix : {&shape.a, &shape.b, &shape.c}) {
    const r1cs::SparseMatrix flat = *matrix;
    const std::size_t blocks = (flat.row_count() - 1) / row_count;
    r1cs::SparseMatrix out;
    const auto keep = [&](std::size_t row) {
      for (const r1cs::Term term : flat.row(row)) out.terms.push_back(term);
      out.row_begin.push_back(out.terms.size());
    };
    for (std::size_t row = 0; row <= row_count; ++row) keep(row);
    for (std::size_t row = 1 + blocks * row_count; row < flat.row_count(); ++row) keep(row);
    r1cs::ColumnSteps steps;
    steps.aux_begin = steps.input_from = steps.aux_from = shape.input_count;
    steps.aux_step = static_cast<std::uint32_t>(row_count);
    out.repeats.push_back({1, 1, row_count, blocks - 1, steps});
    *matrix = std::move(out);
  }
}

// Bits and scalars, with a row that a warp evaluates.
template <class F>
groth16::testing::Circuit<F> mixed_with_a_long_row(std::size_t bits) {
  auto circuit = groth16::testing::mixed<F>(bits, 5);
  groth16::testing::Combination<F> all;
  F sum = F::zero();
  for (std::uint32_t i = 0; i < 150; ++i) {
    const groth16::testing::Variable variable{false, i};
    all.push_back({variable, F::one()});
    sum += circuit.value(variable);
  }
  const auto total = circuit.aux(sum);
  circuit.enforce(all, {{groth16::testing::kOne, F::one()}}, {{total, F::one()}});
  return circuit;
}

template <class C>
void add_case(Report& report, QapConvention convention, std::string name,
              std::shared_ptr<const r1cs::Shape<typename C::Fr>> shape,
              std::shared_ptr<const r1cs::Assignment<typename C::Fr>> assignment,
              std::vector<Case<C>>& out) {
  const auto key = groth16::setup<C>(*shape, groth16::testing::test_waste<C>(), convention);
  if (!report.expect_ok(key, name)) return;
  const groth16::ProveInputs<C> inputs{*key, std::move(shape), std::move(assignment)};
  const auto cpu = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove_with_blinding<C>(*cpu, inputs, fixed_blinding<C>());
  if (!report.expect_ok(proof, name + " on the CPU")) return;
  out.push_back({std::move(name), inputs, *proof});
}

// From two rows of tiles to 16, and too few rows for tiles at all.
template <class C>
std::vector<Case<C>> cases(Report& report, const Options& options, QapConvention convention) {
  using Fr = typename C::Fr;
  constexpr bool kAll = std::is_same_v<C, curve::Bls12_381>;
  std::vector<Case<C>> out;
  const auto add_mixed = [&](std::size_t bits) {
    const auto circuit = mixed_with_a_long_row<Fr>(bits);
    add_case<C>(report, convention, "mixed " + std::to_string(bits), circuit.shape(),
                circuit.assignment(), out);
  };
  const auto add_repeats = [&](std::size_t rows, std::size_t block) {
    const auto circuit = groth16::testing::squarings<Fr>(rows);
    auto shape = circuit.shape();
    store_as_repeats(*shape, block);
    add_case<C>(report, convention, std::to_string(rows) + " rows in repeats", std::move(shape),
                circuit.assignment(), out);
  };
  if (options.tiny) {
    add_repeats(1100, 300);
    return out;
  }
  if (kAll) add_mixed(200);
  add_repeats(2046, 7);
  if (options.quick) return out;
  if (kAll) add_repeats(5000, 1300);
  add_mixed(9000);
  return out;
}

std::uint64_t host_evaluation_bytes(bool peak) {
  const base::MemoryUse use =
      base::Ledger::process().snapshot().of(base::MemoryCategory::kEvaluation);
  return peak ? use.peak_bytes : use.used_bytes;
}

// `count` proofs of each by one way; the ledger of the host says what they had there.
template <class C>
void check_way(Report& report, const Way& way, const std::vector<Case<C>>& cases, int count = 1) {
  const auto backend = way.make<C>();
  if (!report.expect_ok(backend, way.name)) return;
  for (const Case<C>& known : cases) {
    const std::string what = std::string(C::kName) + " " + known.name + ", " + way.name;
    const std::size_t log2 = known.inputs.key->domain_log2;
    base::Ledger::process().reset_peaks();
    for (int i = 0; i < count; ++i) {
      const auto proof = raw_proof<C>(**backend, known.inputs);
      if (report.expect_ok(proof, what)) report.expect(*proof == known.expected, what + ": bytes");
    }
    report.expect(host_evaluation_bytes(false) == 0, what + ": the host still has vectors");
    // Rows of one tile of the kernels lie on the device one vector at a time, as do those whose
    // scalars other devices take: some of what is shared.
    const bool may_tile = way.options.vectors_on_device_max == 0 && log2 > 10;
    const bool must_tile = may_tile && way.sharing.empty();
    const std::uint64_t vector = std::uint64_t{32} << log2, had = host_evaluation_bytes(true);
    report.expect((had == vector && !must_tile) || (had == 2 * vector && may_tile),
                  what + ": the host had " + std::to_string(had) + " bytes of vectors");
  }
}

// Memory that cannot be pinned, or not be had at all.
template <class C>
void check_refusals(Report& report, const Way& way, const Case<C>& known) {
  const auto backend = way.make<C>();
  if (!report.expect_ok(backend, way.name)) return;
  const auto expect_proof = [&](const std::string& what) {
    const auto proof = raw_proof<C>(**backend, known.inputs);
    if (report.expect_ok(proof, what)) report.expect(*proof == known.expected, what + ": bytes");
  };
  expect_proof(way.name);
  device::limit_pinned(device::pinned_bytes());
  expect_proof(way.name + ", vectors not pinned");
  device::limit_pinned(std::nullopt);
  auto& ledger = base::Ledger::process();
  const std::uint64_t vector = std::uint64_t{32} << known.inputs.key->domain_log2;
  ledger.set_budget(ledger.snapshot().total.used_bytes + vector / 2);
  const auto refused = raw_proof<C>(**backend, known.inputs);
  ledger.set_budget(0);
  report.expect(
      !refused.ok() && refused.error().kind == base::ErrorKind::kResourceExhausted &&
          refused.error().message.find(::cuzk::cuda::prove::HostVectors::kOwner) !=
              std::string::npos,
      way.name + ": refused host memory: " + (refused.ok() ? "a proof" : refused.error().message));
  expect_proof(way.name + " after a refusal");
}

template <class C>
void check_convention(Report& report, const Options& options, QapConvention convention) {
  const auto known = cases<C>(report, options, convention);
  if (known.empty()) return;
  for (const unsigned vectors : {1u, 0u}) {
    const std::string name = vectors == 1 ? "one vector" : "vectors in tiles";
    Way plain{name, {}, {}};
    plain.options.device = options.device;
    plain.options.known_answer_test = false;
    plain.options.lanes = 1;
    plain.options.vectors_on_device_max = vectors;
    Way pieces = plain, little = plain, shared = plain;
    pieces.name += ", key in pieces";
    pieces.options.streamed_piece_points = 512;
    little.name += ", little memory";
    little.options.vram_limit_bytes = std::uint64_t{24} << 20;
    shared.name += ", shared";
    shared.sharing = {options.device, options.device, options.device};
    if (options.tiny) {
      check_way<C>(report, pieces, known);
      continue;
    }
    check_way<C>(report, plain, known, 2);
    check_way<C>(report, pieces, known);
    if (std::is_same_v<C, curve::Bls12_381>) check_way<C>(report, little, known);
    check_way<C>(report, shared, known);
    // Smaller vectors are not counted where they are not pinned.
    if (!options.quick) check_refusals<C>(report, pieces, known.back());
  }
}

}  // namespace

void check_vectors(Report& report, const Options& options) {
  for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
    check_convention<curve::Bls12_381>(report, options, convention);
    if (!options.tiny) check_convention<curve::Bn254>(report, options, convention);
  }
  report.section("vectors on the host");
}

}  // namespace cuzk::bench::cuda_prove
