// The table against the circuits themselves, and against counts that others made.
//
// Two sources, because a table made with our recorder and tested with it alone would share its
// faults. The large circuits are compared in a test of their own, as recording takes long.
#include "apps/jobs/circuit_counts.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "filecoin/job.h"
#include "tests/support/data.h"

namespace cuzk::apps {
namespace {

using filecoin::CircuitKind;
using filecoin::SectorShape;

void expect_counts(CircuitKind kind, const char* size) {
  const SectorShape& sector = *filecoin::sector_shape_by_name(size).value();
  const auto counts = circuit_counts(kind, sector);
  const auto shape = filecoin::circuit_shape(kind, sector);
  ASSERT_TRUE(counts.ok() && shape.ok());
  EXPECT_EQ(counts->input_count, shape->input_count);
  EXPECT_EQ(counts->aux_count, shape->aux_count);
  EXPECT_EQ(counts->constraint_count, shape->constraint_count());
  EXPECT_EQ(counts->term_count,
            shape->a.term_count() + shape->b.term_count() + shape->c.term_count());
  EXPECT_EQ(counts->coefficient_count, shape->coefficients.size());
  std::uint64_t bytes = shape->coefficients.size() * sizeof(filecoin::Fr);
  for (const auto* matrix : {&shape->a, &shape->b, &shape->c}) {
    bytes += matrix->terms.size() * sizeof(r1cs::Term) + matrix->row_begin.size() * 8;
  }
  EXPECT_EQ(counts->shape_bytes(), bytes);
}

TEST(CircuitCounts, AreThoseOfTheSmallCircuits) {
  expect_counts(CircuitKind::kWindowPost, "2KiB");
  expect_counts(CircuitKind::kWinningPost, "2KiB");
  expect_counts(CircuitKind::kWindowPost, "8MiB");
  expect_counts(CircuitKind::kWinningPost, "32GiB");
  expect_counts(CircuitKind::kWindowPost, "64GiB");
}

TEST(CircuitCountsFilecoinFlow, AreThoseOfTheLargeCircuits) {
  expect_counts(CircuitKind::kPorep, "2KiB");
  expect_counts(CircuitKind::kPorep, "512MiB");
  expect_counts(CircuitKind::kPorep, "32GiB");
  expect_counts(CircuitKind::kUpdate, "2KiB");
}

// Counts from a replica of upstream's circuits, confirmed there by running upstream.
TEST(CircuitCounts, AreThoseThatOthersCounted) {
  CUZK_DATA_OR_SKIP(path, "golden.json");
  const auto golden = nlohmann::json::parse(std::ifstream(path));
  int compared = 0;
  for (const auto& row : golden["circuits_replica"]["rows"]) {
    const std::string name = row["name"];
    for (const auto& [kind, prefix] : {std::pair{CircuitKind::kPorep, "porep"},
                                       {CircuitKind::kWinningPost, "winning_post"},
                                       {CircuitKind::kWindowPost, "window_post"},
                                       {CircuitKind::kUpdate, "update"}}) {
      for (const SectorShape& sector : filecoin::all_sector_shapes()) {
        const auto counts = circuit_counts(kind, sector);
        if (!counts.ok() || name.rfind(fmt::format("{}_{}_", prefix, sector.name), 0) != 0)
          continue;
        EXPECT_EQ(counts->input_count, row["inputs"].get<std::uint32_t>()) << name;
        EXPECT_EQ(counts->aux_count, row["aux"].get<std::uint32_t>()) << name;
        EXPECT_EQ(counts->constraint_count, row["constraints"].get<std::uint32_t>()) << name;
        EXPECT_EQ(counts->term_count, row["nnz_a"].get<std::uint64_t>() +
                                          row["nnz_b"].get<std::uint64_t>() +
                                          row["nnz_c"].get<std::uint64_t>())
            << name;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 18);
}

TEST(CircuitCounts, HaveScalarsAsOthersClassedThem) {
  const auto scalars = [](CircuitKind kind, const char* size) {
    return circuit_counts(kind, *filecoin::sector_shape_by_name(size).value())->scalar_count;
  };
  EXPECT_EQ(scalars(CircuitKind::kPorep, "2KiB"), 43806u);
  EXPECT_EQ(scalars(CircuitKind::kPorep, "32GiB"), 1699102u);
  EXPECT_EQ(scalars(CircuitKind::kWinningPost, "32GiB"), 371910u);
  EXPECT_EQ(scalars(CircuitKind::kWindowPost, "32GiB"), 125727876u);
  EXPECT_EQ(scalars(CircuitKind::kUpdate, "32GiB"), 965038u);
}

TEST(CircuitCounts, RefuseSizesWithoutParameters) {
  const auto counts =
      circuit_counts(CircuitKind::kPorep, *filecoin::sector_shape_by_name("4KiB").value());
  ASSERT_FALSE(counts.ok());
  EXPECT_EQ(counts.error().kind, base::ErrorKind::kUnsupported);
  EXPECT_THAT(counts.error().message, ::testing::HasSubstr("found 4KiB"));
  EXPECT_THAT(counts.error().message, ::testing::HasSubstr("2KiB, 8MiB, 512MiB, 32GiB, 64GiB"));
}

}  // namespace
}  // namespace cuzk::apps
