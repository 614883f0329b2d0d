// Matrices from records that change between the two readings, as in a mapped file that another
// process writes to.
#include "formats/snarkjs/zkey_matrices.h"

#include <gtest/gtest.h>

#include "field/bn254.h"
#include "formats/test_support.h"

namespace cuzk::formats::zkey_layout {
namespace {

using base::Bytes;
using Fr = field::bn254::Fr;
using formats::testing::accepted;
using formats::testing::refused;

constexpr std::uint32_t kWires = 6;

struct Entry {
  std::uint32_t matrix, row, wire;
  std::uint8_t value;
};

Bytes encode(const Entry& entry) {
  Bytes out(kRecordBytes, 0);
  base::store_u32_le(out.data(), entry.matrix);
  base::store_u32_le(out.data() + 4, entry.row);
  base::store_u32_le(out.data() + 8, entry.wire);
  out[kRecordHeadBytes] = entry.value;
  return out;
}

// Reads `before` at the first pass and `after` at the second.
auto build(const std::vector<Entry>& before, const std::vector<Entry>& after) {
  ZkeyHeader header;
  header.wire_count = kWires;
  header.public_count = 1;
  header.domain_log2 = 3;
  header.coefficient_count = static_cast<std::uint32_t>(before.size());
  std::vector<Bytes> bytes[2];
  for (const Entry& entry : before) bytes[0].push_back(encode(entry));
  for (const Entry& entry : after) bytes[1].push_back(encode(entry));
  std::vector<unsigned> reads(before.size(), 0);
  return build_matrices<Fr>(
      header, "a.zkey", [&](std::size_t i) { return bytes[std::min(reads[i]++, 1u)][i].data(); });
}

const std::vector<Entry> kRecords = {{0, 1, 2, 5}, {0, 0, 1, 7}, {1, 2, 3, 5},
                                     {0, 1, 4, 7}, {1, 0, 5, 9}, {0, 2, 0, 5}};

TEST(ZkeyMatrices, SortRecordsIntoRows) {
  const auto shape = build(kRecords, kRecords);
  ASSERT_TRUE(accepted(shape));
  const auto columns = [](const r1cs::SparseMatrix& matrix, std::size_t row) {
    std::vector<std::uint32_t> out;
    for (const r1cs::Term term : matrix.row(row)) out.push_back(term.column);
    return out;
  };
  using Columns = std::vector<std::uint32_t>;
  EXPECT_EQ(columns((*shape)->a, 0), Columns{1});
  EXPECT_EQ(columns((*shape)->a, 1), (Columns{2, 4}));
  EXPECT_EQ(columns((*shape)->a, 2), Columns{0});
  EXPECT_EQ(columns((*shape)->b, 0), Columns{5});
  EXPECT_EQ(columns((*shape)->b, 1), Columns{});
  EXPECT_EQ(columns((*shape)->b, 2), Columns{3});
  EXPECT_EQ((*shape)->coefficients.size(), 3u);
}

TEST(ZkeyMatrices, ARecordThatBecomesInvalidIsRefused) {
  const auto changed_to = [&](std::size_t i, const Entry& entry) {
    auto after = kRecords;
    after[i] = entry;
    return build(kRecords, after);
  };
  EXPECT_TRUE(refused(changed_to(0, {2, 1, 2, 5}), ErrorKind::kMalformed, {"record 0", "matrix"}));
  EXPECT_TRUE(refused(changed_to(3, {0, 0x7fffffff, 2, 5}), ErrorKind::kMalformed, {"row"}));
  EXPECT_TRUE(refused(changed_to(5, {0, 2, kWires, 5}), ErrorKind::kMalformed, {"wire 6"}));
  EXPECT_TRUE(refused(changed_to(0, {0, 3, 2, 5}), ErrorKind::kIo, {"a.zkey", "changed"}))
      << "a row of the domain that no record had";
  EXPECT_TRUE(refused(changed_to(5, {0, 2, 0, 0}), ErrorKind::kIo, {"changed"}))
      << "a record that becomes zero";
  EXPECT_TRUE(refused(changed_to(5, {1, 2, 0, 5}), ErrorKind::kIo, {"changed"}))
      << "a record that moves to the other matrix";
}

// Every single record moved to every place: an error, or matrices whose rows and indices are whole.
TEST(ZkeyMatrices, AnyMoveOfARecordLeavesWholeMatricesOrAnError) {
  std::size_t refused_count = 0;
  const auto is_whole = [](const r1cs::Shape<Fr>& shape) {
    for (const r1cs::SparseMatrix* matrix : {&shape.a, &shape.b}) {
      if (matrix->row_begin.front() != 0 || matrix->row_begin.back() != matrix->terms.size() ||
          !std::is_sorted(matrix->row_begin.begin(), matrix->row_begin.end())) {
        return false;
      }
      for (const r1cs::Term& term : matrix->terms) {
        if (term.column >= kWires || term.coefficient >= shape.coefficients.size()) return false;
      }
    }
    return true;
  };
  for (std::size_t i = 0; i < kRecords.size(); ++i) {
    for (const std::uint32_t matrix : {0u, 1u}) {
      for (std::uint32_t row = 0; row < 8; ++row) {
        auto after = kRecords;
        after[i].matrix = matrix;
        after[i].row = row;
        const auto shape = build(kRecords, after);
        if (shape.ok()) {
          EXPECT_TRUE(is_whole(**shape)) << "record " << i << " to row " << row;
        } else {
          ++refused_count;
        }
      }
    }
  }
  EXPECT_GT(refused_count, 48u) << "half of the moves are to the other matrix";
}

}  // namespace
}  // namespace cuzk::formats::zkey_layout
