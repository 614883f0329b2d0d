// Rows as the device evaluates them against r1cs/, and tiles of rows.
#include "cuda/prove/witness_view.h"

#include <bit>

#include <gtest/gtest.h>

#include "cuda/field/word_field.h"
#include "cuda/prove/matrix_tiles.h"
#include "groth16/test_circuits.h"

namespace cuzk::cuda::prove {
namespace {

template <class F>
using DeviceOf = field::WordField<typename F::Params>;

// A circuit with bits, scalars, inputs in constraints and a long row.
template <class F>
groth16::testing::Circuit<F> circuit_with_a_long_row() {
  auto circuit = groth16::testing::mixed<F>(130, 4);
  groth16::testing::Random random(3);
  groth16::testing::Combination<F> terms = {{groth16::testing::kOne, random.element<F>()}};
  for (std::uint32_t i = 0; i < 100; ++i) {
    terms.push_back({{false, i}, random.element<F>()});
    terms.push_back({{true, i % 3}, random.element<F>()});
  }
  circuit.enforce(terms, terms, {});
  return circuit;
}

template <class F>
void expect_rows(unsigned step) {
  const auto circuit = circuit_with_a_long_row<F>();
  const auto shape = circuit.shape();
  const auto assignment = circuit.assignment();
  std::vector<std::uint32_t> rank(assignment->aux.scalar_mask().words().size());
  for (std::size_t w = 0; w < rank.size(); ++w) {
    rank[w] = static_cast<std::uint32_t>(assignment->aux.scalar_rank(64 * w));
  }
  WitnessView<DeviceOf<F>> view;
  view.inputs = reinterpret_cast<const DeviceOf<F>*>(assignment->inputs.data());
  view.input_count = shape->input_count;
  view.aux = {assignment->aux.bits().words().data(), assignment->aux.scalar_mask().words().data(),
              rank.data(),
              reinterpret_cast<const DeviceOf<F>*>(assignment->aux.scalars().data()),
              assignment->aux.size()};
  const auto* coefficients = reinterpret_cast<const DeviceOf<F>*>(shape->coefficients.data());
  for (const r1cs::SparseMatrix* matrix : {&shape->a, &shape->b}) {
    std::vector<F> expected(matrix->row_count());
    r1cs::evaluate_rows(*shape, *matrix, *assignment, 0, std::span(expected));
    for (std::size_t row = 0; row < expected.size(); ++row) {
      auto sum = DeviceOf<F>::zero();
      for (unsigned lane = 0; lane < step; ++lane) {
        sum += sum_terms(view, coefficients, matrix->terms.data(), matrix->row_begin[row] + lane,
                         matrix->row_begin[row + 1], step);
      }
      EXPECT_EQ(std::bit_cast<F>(sum), expected[row]) << row;
    }
  }
}

TEST(WitnessView, RowsHaveTheHostsValues) {
  expect_rows<cuzk::field::bls12_381::Fr>(1);
  expect_rows<cuzk::field::bn254::Fr>(1);
}

TEST(WitnessView, LanesOfAWarpShareARow) {
  expect_rows<cuzk::field::bls12_381::Fr>(32);
  expect_rows<cuzk::field::bn254::Fr>(32);
}

TEST(MatrixTiles, CoverAllRowsOnceWithinTheirBytes) {
  using F = cuzk::field::bn254::Fr;
  const auto shape = circuit_with_a_long_row<F>().shape();
  const r1cs::SparseMatrix& matrix = shape->a;
  // From just room for the longest row to room for all.
  for (const std::uint64_t bytes : {2048u, 3000u, 4096u, 1u << 20}) {
    std::size_t row = 0, tiles = 0;
    while (row < matrix.row_count()) {
      const std::size_t last = tile_end(matrix, row, bytes);
      ASSERT_GT(last, row);
      EXPECT_LE(tile_row_bytes(matrix, row, last), bytes);
      if (last < matrix.row_count()) EXPECT_GT(tile_row_bytes(matrix, row, last + 1), bytes);
      row = last;
      ++tiles;
    }
    EXPECT_EQ(row, matrix.row_count());
    EXPECT_EQ(tiles == 1, bytes == 1u << 20);
  }
}

TEST(MatrixTilesDeathTest, ARowThatDoesNotFitIsADefect) {
  const auto shape = circuit_with_a_long_row<cuzk::field::bn254::Fr>().shape();
  EXPECT_DEATH(tile_end(shape->a, shape->a.row_count() - 1, 512), "");
}

}  // namespace
}  // namespace cuzk::cuda::prove
