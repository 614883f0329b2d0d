// Cost of both passes of a circuit and of evaluating its rows.
// Run: circuit_bench --benchmark_filter=r1cs/ ; items are variables, rows or terms as named.
#include <array>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>

#include "field/bls12_381.h"
#include "r1cs/fingerprint.h"
#include "r1cs/gadgets/poseidon.h"
#include "r1cs/gadgets/sha256.h"
#include "r1cs/test_circuits.h"

namespace {

using namespace cuzk::r1cs;
using F = cuzk::field::bls12_381::Fr;
using WitnessCs = WitnessBuilder<F>;
using ShapeCs = ShapeBuilder<F>;

// One compression with allocated state and block, as all but the first of a label are. Items are
// variables.
template <class Words>
void sha256_witness(benchmark::State& state) {
  std::array<typename Words::Word, 16> block;
  std::array<typename Words::Word, 8> chain;
  for (std::size_t i = 0; i < 16; ++i) {
    block[i] = Words::constant(0x9e3779b9u * static_cast<std::uint32_t>(i + 1));
  }
  for (std::size_t i = 0; i < 8; ++i) chain[i] = block[i];
  if constexpr (std::is_same_v<Words, gadgets::PackedWords<WitnessCs>>) {
    for (auto& word : block) word.constant = 0;
    for (auto& word : chain) word.constant = 0;
  } else {
    for (auto& word : block) {
      for (auto& bit : word) bit.kind = BitKind::kIs;
    }
    for (auto& word : chain) {
      for (auto& bit : word) bit.kind = BitKind::kIs;
    }
  }
  std::size_t variables = 0;
  constexpr std::size_t kRoom = 100'000'000;
  auto cs = std::make_unique<WitnessCs>();
  cs->reserve(kRoom, 0);
  for (auto _ : state) {
    if (cs->assignment().aux.size() > kRoom - 30'000) {
      cs = std::make_unique<WitnessCs>();
      cs->reserve(kRoom, 0);
    }
    const std::size_t before = cs->assignment().aux.size();
    chain = gadgets::sha256_compress<Words>(*cs, block, chain);
    variables += cs->assignment().aux.size() - before;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(variables));
}
BENCHMARK(sha256_witness<gadgets::PackedWords<WitnessCs>>)->Name("r1cs/sha256/witness/packed");
BENCHMARK(sha256_witness<gadgets::BitwiseWords<WitnessCs>>)->Name("r1cs/sha256/witness/bitwise");

// A tree node: two decompositions, two compressions, one packing. Items are variables.
void tree_node_witness(benchmark::State& state) {
  std::size_t variables = 0;
  for (auto _ : state) {
    WitnessCs cs;
    const std::vector<WitnessCs::Number> children(2, cs.new_number(F::from_u64(7)));
    benchmark::DoNotOptimize(
        gadgets::sha256_numbers(cs, std::span<const WitnessCs::Number>(children)));
    variables += cs.assignment().aux.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(variables));
}
BENCHMARK(tree_node_witness)->Name("r1cs/sha256/witness/tree_node");

void poseidon_witness(benchmark::State& state) {
  std::size_t variables = 0;
  const auto arity = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    WitnessCs cs;
    const std::vector<WitnessCs::Number> inputs(arity, cs.new_number(F::from_u64(7)));
    benchmark::DoNotOptimize(gadgets::poseidon(cs, std::span<const WitnessCs::Number>(inputs)));
    variables += cs.assignment().aux.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(variables));
}
BENCHMARK(poseidon_witness)->Name("r1cs/poseidon/witness/arity")->Arg(2)->Arg(8)->Arg(11);

// Items are terms.
void poseidon_shape(benchmark::State& state) {
  std::size_t terms = 0;
  const auto arity = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    ShapeCs cs;
    std::vector<ShapeCs::Number> inputs;
    for (std::size_t i = 0; i < arity; ++i) inputs.push_back(cs.new_number());
    gadgets::poseidon(cs, std::span<const ShapeCs::Number>(inputs));
    const Shape<F> shape = std::move(cs).finish();
    terms += shape.a.terms.size() + shape.b.terms.size() + shape.c.terms.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(terms));
}
BENCHMARK(poseidon_shape)->Name("r1cs/poseidon/shape/arity")->Arg(2)->Arg(8)->Arg(11);

Shape<F> chain_shape(std::size_t length) {
  return testing::shape_of<F>(
      [&](auto& cs) { testing::sha256_chain_circuit(cs, length, F::from_u64(1)); });
}

// Items are terms.
void sha256_shape(benchmark::State& state) {
  std::size_t terms = 0;
  for (auto _ : state) {
    const Shape<F> shape = chain_shape(8);
    terms += shape.a.terms.size() + shape.b.terms.size() + shape.c.terms.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(terms));
}
BENCHMARK(sha256_shape)->Name("r1cs/sha256/shape")->Unit(benchmark::kMillisecond);

// The A and B rows of a circuit of bits, single-threaded. Items are rows.
void evaluate_bits(benchmark::State& state) {
  const Shape<F> shape = chain_shape(32);
  const Assignment<F> assignment = testing::assignment_of<F>(
      [](auto& cs) { testing::sha256_chain_circuit(cs, 32, F::from_u64(1)); });
  const SparseMatrix& matrix = state.range(0) == 0 ? shape.a : shape.b;
  std::vector<F> out(matrix.row_count());
  for (auto _ : state) {
    evaluate_rows<F>(shape, matrix, assignment, 0, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * out.size()));
}
BENCHMARK(evaluate_bits)
    ->Name("r1cs/evaluate/bits/matrix")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

// The same for a circuit of field elements, 200 Poseidon hashes.
void evaluate_elements(benchmark::State& state) {
  const auto circuit = [](auto& cs) {
    using Cs = std::decay_t<decltype(cs)>;
    std::vector<typename Cs::Number> inputs;
    for (int i = 0; i < 8; ++i) inputs.push_back(cs.new_number(F::from_u64(3)));
    for (int i = 0; i < 200; ++i) {
      inputs[0] = gadgets::poseidon(cs, std::span<const typename Cs::Number>(inputs));
    }
  };
  const Shape<F> shape = testing::shape_of<F>(circuit);
  const Assignment<F> assignment = testing::assignment_of<F>(circuit);
  const SparseMatrix& matrix = state.range(0) == 0 ? shape.a : shape.b;
  std::vector<F> out(matrix.row_count());
  for (auto _ : state) {
    evaluate_rows<F>(shape, matrix, assignment, 0, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * out.size()));
}
BENCHMARK(evaluate_elements)
    ->Name("r1cs/evaluate/elements/matrix")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond);

// Items are terms.
void fingerprint_bench(benchmark::State& state) {
  const Shape<F> shape = chain_shape(8);
  for (auto _ : state) benchmark::DoNotOptimize(fingerprint(shape));
  const std::size_t terms = shape.a.terms.size() + shape.b.terms.size() + shape.c.terms.size();
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * terms));
}
BENCHMARK(fingerprint_bench)->Name("r1cs/fingerprint")->Unit(benchmark::kMillisecond);

}  // namespace
