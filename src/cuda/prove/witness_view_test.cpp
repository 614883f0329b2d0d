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
              rank.data(), reinterpret_cast<const DeviceOf<F>*>(assignment->aux.scalars().data()),
              assignment->aux.size()};
  const auto* coefficients = reinterpret_cast<const DeviceOf<F>*>(shape->coefficients.data());
  for (const r1cs::SparseMatrix* matrix : {&shape->a, &shape->b}) {
    std::vector<F> expected(matrix->row_count());
    r1cs::evaluate_rows(*shape, *matrix, *assignment, 0, std::span(expected));
    for (std::size_t row = 0; row < expected.size(); ++row) {
      auto sum = DeviceOf<F>::zero();
      for (unsigned lane = 0; lane < step; ++lane) {
        const RowTerms terms = {matrix->terms.data(), matrix->row_begin[row],
                                matrix->row_begin[row + 1], 0};
        sum += sum_terms(view, coefficients, terms, {}, lane, step);
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

// A matrix with two blocks that repeat, plain rows around them, and a window.
r1cs::SparseMatrix with_repeats() {
  r1cs::SparseMatrix matrix;
  std::uint32_t next = 0;
  const auto add_rows = [&](int count) {
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k <= i % 3; ++k) matrix.terms.push_back({next++ % 40, 0});
      matrix.row_begin.push_back(matrix.terms.size());
    }
  };
  add_rows(3);
  matrix.repeats.push_back({3, 3, 5, 4, {4, 2, 20, 1, 7, 8, 12, 3}});
  add_rows(5);
  add_rows(2);
  matrix.repeats.push_back({30, 10, 4, 1, {4, 9, 30, 1, 2, 0, 0, 0}});
  add_rows(4);
  return matrix;
}

TEST(RowBlocks, GiveEveryRowItsTermsAsTheMatrixReadsThem) {
  for (const bool ends_plain : {false, true}) {
    r1cs::SparseMatrix matrix = with_repeats();
    if (ends_plain) {
      matrix.terms.push_back({1, 0});
      matrix.row_begin.push_back(matrix.terms.size());
    }
    std::size_t next_row = 0;
    for (const RowBlock& whole : row_blocks(matrix)) {
      EXPECT_EQ(whole.first_row, next_row);
      // In parts of two rows, as tiles come.
      for (std::uint64_t first = whole.first; first < whole.first + whole.count; first += 2) {
        const RowBlock block =
            block_part(whole, first, std::min<std::uint64_t>(2, whole.first + whole.count - first));
        for (std::uint32_t copy = 0; copy < block.copy_count; ++copy) {
          for (std::uint64_t i = 0; i < block.count; ++i, ++next_row) {
            const r1cs::Row row = matrix.row(block.first_row + copy * block.row_step + i);
            const r1cs::Term* stored = &matrix.terms[matrix.row_begin[block.first + i]];
            ASSERT_EQ(row.size(),
                      matrix.row_begin[block.first + i + 1] - matrix.row_begin[block.first + i]);
            for (std::size_t k = 0; k < row.size(); ++k) {
              EXPECT_EQ(moved_column(block.steps, stored[k].column, copy), row[k].column);
            }
          }
        }
      }
    }
    EXPECT_EQ(next_row, matrix.row_count());
  }
}

// Every run of rows, against the matrix read row by row.
TEST(RowBlocks, WithinARunOfRowsAreItsRowsAlone) {
  r1cs::SparseMatrix matrix = with_repeats();
  matrix.terms.push_back({1, 0});
  matrix.row_begin.push_back(matrix.terms.size());
  const std::uint64_t rows = matrix.row_count();
  const auto blocks = row_blocks(matrix);
  for (std::uint64_t first = 0; first <= rows; ++first) {
    for (std::uint64_t last = first; last <= rows + 2; ++last) {
      std::uint64_t next_row = first;
      for (const RowBlock& whole : blocks) {
        for (const RowBlock& block : rows_within(whole, first, last)) {
          for (std::uint32_t copy = 0; copy < block.copy_count; ++copy) {
            for (std::uint64_t i = 0; i < block.count; ++i, ++next_row) {
              ASSERT_EQ(first + block.first_row + copy * block.row_step + i, next_row);
              const r1cs::Row row = matrix.row(next_row);
              const r1cs::Term* stored = &matrix.terms[matrix.row_begin[block.first + i]];
              ASSERT_EQ(row.size(),
                        matrix.row_begin[block.first + i + 1] - matrix.row_begin[block.first + i]);
              for (std::size_t k = 0; k < row.size(); ++k) {
                ASSERT_EQ(moved_column(block.steps, stored[k].column, block.first_copy + copy),
                          row[k].column);
              }
            }
          }
        }
      }
      EXPECT_EQ(next_row, std::min(last, rows));
    }
  }
  // All rows are the blocks themselves: nothing is cut that need not be.
  for (const RowBlock& whole : blocks) {
    const auto parts = rows_within(whole, 0, rows);
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].copy_count, whole.copy_count);
    EXPECT_EQ(parts[0].count, whole.count);
  }
}

TEST(MatrixTiles, CoverAllRowsOnceWithinTheirBytes) {
  using F = cuzk::field::bn254::Fr;
  const auto shape = circuit_with_a_long_row<F>().shape();
  const r1cs::SparseMatrix& matrix = shape->a;
  // From just room for the longest row to room for all.
  for (const std::uint64_t bytes : {2048u, 3000u, 4096u, 1u << 20}) {
    std::size_t row = 0, tiles = 0;
    while (row < matrix.row_count()) {
      const std::size_t last = tile_end(matrix, row, matrix.row_count(), bytes);
      ASSERT_GT(last, row);
      EXPECT_LE(tile_row_bytes(matrix, row, last), bytes);
      if (last < matrix.row_count()) {
        EXPECT_GT(tile_row_bytes(matrix, row, last + 1), bytes);
      }
      row = last;
      ++tiles;
    }
    EXPECT_EQ(row, matrix.row_count());
    EXPECT_EQ(tiles == 1, bytes == 1u << 20);
  }
}

TEST(MatrixTilesDeathTest, ARowThatDoesNotFitIsADefect) {
  const auto shape = circuit_with_a_long_row<cuzk::field::bn254::Fr>().shape();
  EXPECT_DEATH(tile_end(shape->a, shape->a.row_count() - 1, shape->a.row_count(), 512), "");
}

}  // namespace
}  // namespace cuzk::cuda::prove
