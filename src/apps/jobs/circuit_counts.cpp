// The table of counts, one row a circuit that can be recorded.
#include "apps/jobs/circuit_counts.h"

#include <string>

#include <fmt/format.h>

#include "filecoin/node.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using filecoin::CircuitKind;

struct Row {
  CircuitKind kind;
  std::uint64_t sector_bytes;
  CircuitCounts counts;
};

constexpr std::uint64_t kKiB = 1024, kMiB = kKiB * kKiB, kGiB = kKiB * kMiB;

// Made by recording each circuit and counting; CircuitCounts.* in the tests does it again.
constexpr Row kRows[] = {
    {CircuitKind::kPorep, 2 * kKiB, {40, 2685673, 43806, 2687921, 14934653, 1526}},
    {CircuitKind::kPorep, 8 * kMiB, {40, 3842449, 111998, 3844929, 21471181, 1526}},
    {CircuitKind::kPorep, 512 * kMiB, {40, 4420837, 146094, 4423433, 24739445, 1526}},
    {CircuitKind::kWinningPost, 2 * kKiB, {133, 91674, 91014, 90750, 827574, 961}},
    {CircuitKind::kWinningPost, 8 * kMiB, {133, 233442, 231462, 230670, 2109294, 973}},
    {CircuitKind::kWinningPost, 512 * kMiB, {133, 304326, 301686, 300630, 2750154, 979}},
    {CircuitKind::kWinningPost, 32 * kGiB, {133, 375210, 371910, 370590, 3391014, 985}},
    {CircuitKind::kWinningPost, 64 * kGiB, {133, 396000, 392634, 391314, 3577926, 986}},
    {CircuitKind::kWindowPost, 2 * kKiB, {23, 22128, 21928, 21866, 199948, 961}},
    {CircuitKind::kWindowPost, 8 * kMiB, {23, 65088, 64488, 64266, 588348, 973}},
    {CircuitKind::kWindowPost, 512 * kMiB, {23, 86568, 85768, 85466, 782548, 979}},
    {CircuitKind::kUpdate, 2 * kKiB, {5, 1703569, 26018, 1705039, 9354072, 1516}},
    {CircuitKind::kUpdate, 8 * kMiB, {5, 9998039, 70266, 10007503, 54602188, 1516}},
    {CircuitKind::kUpdate, 512 * kMiB, {5, 57401314, 779342, 57450479, 314834518, 1520}},
};

constexpr std::uint64_t kElementBytes = sizeof(filecoin::Fr);
constexpr std::uint64_t kTermBytes = 8, kRowBeginBytes = 8, kMatrixCount = 3;

}  // namespace

std::uint64_t assignment_bytes(std::uint64_t input_count, std::uint64_t aux_count,
                               std::uint64_t scalar_count) {
  // Of 64 variables: their bits, which are scalars, and how many scalars precede them.
  constexpr std::uint64_t kWordBytes = 8 + 8 + 4;
  return (input_count + scalar_count) * kElementBytes + (aux_count + 63) / 64 * kWordBytes;
}

std::uint64_t CircuitCounts::shape_bytes() const {
  return term_count * kTermBytes +
         kMatrixCount * (std::uint64_t{constraint_count} + 1) * kRowBeginBytes +
         coefficient_count * kElementBytes;
}

std::uint64_t CircuitCounts::assignment_bytes() const {
  return apps::assignment_bytes(input_count, aux_count, scalar_count);
}

base::Result<CircuitCounts> circuit_counts(CircuitKind kind, const filecoin::SectorShape& shape) {
  std::string sizes;
  for (const Row& row : kRows) {
    if (row.kind != kind) continue;
    if (row.sector_bytes == shape.byte_count) return row.counts;
    CUZK_TRY(const auto* known, filecoin::sector_shape(row.sector_bytes));
    sizes += (sizes.empty() ? "" : ", ") + std::string(known->name);
  }
  return Error{ErrorKind::kUnsupported,
               fmt::format("sector size: found {}, this version proves the {} circuit of {}",
                           shape.name, filecoin::to_string(kind), sizes)};
}

}  // namespace cuzk::apps
