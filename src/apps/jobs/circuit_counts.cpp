// The table of counts, one row a circuit that can be recorded.
//
// Recording a large circuit takes long and up to a gigabyte; a plan has to be there when a job is
// submitted. The counts are constants of the protocol, so they are tabled, and tests record the
// circuits that are small enough and compare. The search is linear: twenty rows.
#include "apps/jobs/circuit_counts.h"

#include <string>

#include <fmt/format.h>

#include "filecoin/node.h"
#include "r1cs/sparse_matrix.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using filecoin::CircuitKind;

// One circuit; the counts stand in the order of CircuitCounts.
struct Row {
  CircuitKind kind;
  std::uint64_t sector_bytes;
  CircuitCounts counts;
};

constexpr std::uint64_t kKiB = 1024, kMiB = kKiB * kKiB, kGiB = kKiB * kMiB;

// Made by recording each circuit and counting; CircuitCounts.* in the tests does it again.
constexpr Row kRows[] = {
    {CircuitKind::kPorep,
     2 * kKiB,
     {40, 2685673, 43806, 2687921, 14934653, 14934653, 8063763, 1526}},
    {CircuitKind::kPorep,
     8 * kMiB,
     {40, 3842449, 111998, 3844929, 21471181, 21471181, 11534787, 1526}},
    {CircuitKind::kPorep,
     512 * kMiB,
     {40, 4420837, 146094, 4423433, 24739445, 24739445, 13270299, 1526}},
    {CircuitKind::kPorep,
     32 * kGiB,
     {328, 130169893, 1699102, 130278541, 722388563, 40136335, 21714708, 2466}},
    {CircuitKind::kPorep,
     64 * kGiB,
     {328, 131076643, 1789606, 131185849, 727640495, 40428109, 21865926, 2466}},
    {CircuitKind::kWinningPost, 2 * kKiB, {133, 91674, 91014, 90750, 827574, 827574, 272250, 961}},
    {CircuitKind::kWinningPost,
     8 * kMiB,
     {133, 233442, 231462, 230670, 2109294, 2109294, 692010, 973}},
    {CircuitKind::kWinningPost,
     512 * kMiB,
     {133, 304326, 301686, 300630, 2750154, 2750154, 901890, 979}},
    {CircuitKind::kWinningPost,
     32 * kGiB,
     {133, 375210, 371910, 370590, 3391014, 51379, 16845, 985}},
    {CircuitKind::kWinningPost,
     64 * kGiB,
     {133, 396000, 392634, 391314, 3577926, 54211, 17787, 986}},
    {CircuitKind::kWindowPost, 2 * kKiB, {23, 22128, 21928, 21866, 199948, 199948, 65598, 961}},
    {CircuitKind::kWindowPost, 8 * kMiB, {23, 65088, 64488, 64266, 588348, 588348, 192798, 973}},
    {CircuitKind::kWindowPost, 512 * kMiB, {23, 86568, 85768, 85466, 782548, 782548, 256398, 979}},
    {CircuitKind::kWindowPost,
     32 * kGiB,
     {25840, 126902376, 125727876, 125279217, 1147190526, 488374, 159999, 985}},
    {CircuitKind::kWindowPost,
     64 * kGiB,
     {25301, 131500200, 130327200, 129887900, 1188396200, 516694, 169419, 986}},
    {CircuitKind::kUpdate, 2 * kKiB, {5, 1703569, 26018, 1705039, 9354072, 9354072, 5115117, 1516}},
    {CircuitKind::kUpdate,
     8 * kMiB,
     {5, 9998039, 70266, 10007503, 54602188, 54602188, 30022509, 1516}},
    {CircuitKind::kUpdate,
     512 * kMiB,
     {5, 57401314, 779342, 57450479, 314834518, 314834518, 172351437, 1520}},
    {CircuitKind::kUpdate,
     32 * kGiB,
     {5, 80978488, 965038, 81049499, 443680526, 99295454, 54529737, 1522}},
    {CircuitKind::kUpdate,
     64 * kGiB,
     {5, 84931220, 1019390, 85006101, 465362330, 102825050, 56462031, 1522}},
};

// What no row may break, checked when this file is compiled: a typing error in a count of ten
// digits would be a plan that is too small on somebody's machine.
constexpr bool rows_are_consistent() {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    const CircuitCounts& counts = kRows[i].counts;
    if (counts.input_count == 0 || counts.scalar_count > counts.aux_count) return false;
    if (counts.stored_term_count > counts.term_count) return false;
    if (counts.stored_row_count > 3 * std::uint64_t{counts.constraint_count}) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (kRows[j].kind == kRows[i].kind && kRows[j].sector_bytes >= kRows[i].sector_bytes) {
        return false;
      }
    }
  }
  return true;
}
static_assert(rows_are_consistent());

// Layouts of the recorded shape (r1cs/sparse_matrix.h): the account below is of its vectors.
constexpr std::uint64_t kElementBytes = sizeof(filecoin::Fr);
constexpr std::uint64_t kTermBytes = 8, kRowBeginBytes = 8, kMatrixCount = 3;
static_assert(kTermBytes == sizeof(r1cs::Term));
static_assert(kRowBeginBytes == sizeof(decltype(r1cs::SparseMatrix::row_begin)::value_type));

}  // namespace

std::uint64_t assignment_bytes(std::uint64_t input_count, std::uint64_t aux_count,
                               std::uint64_t scalar_count) {
  // Of 64 variables: their bits, which are scalars, and how many scalars precede them.
  constexpr std::uint64_t kWordBytes = 8 + 8 + 4;
  return (input_count + scalar_count) * kElementBytes + (aux_count + 63) / 64 * kWordBytes;
}

// Terms and row borders as they are stored, once for repeated rows; each matrix has one border more
// than rows.
std::uint64_t CircuitCounts::shape_bytes() const {
  return stored_term_count * kTermBytes + (stored_row_count + kMatrixCount) * kRowBeginBytes +
         coefficient_count * kElementBytes;
}

std::uint64_t CircuitCounts::assignment_bytes() const {
  return apps::assignment_bytes(input_count, aux_count, scalar_count);
}

// The sizes of the sentence are gathered on the way, from the table itself, so that it names what
// this version really proves.
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
