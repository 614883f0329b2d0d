// The table of sector sizes, smallest first. Update constants come in four families; everything
// else that depends on the size is a column or follows from one (see the members of SectorShape).
#include "filecoin/sector_shape.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/byte_size.h"
#include "base/check.h"

namespace cuzk::filecoin {
namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

constexpr UpdateShape kUpdateTiny{1, 10, 8, {1, 1, 1, 1, 1, 1}};
constexpr UpdateShape kUpdateSmall{2, 10, 128, {1, 1, 1, 1, 1, 1}};
constexpr UpdateShape kUpdateMedium{4, 10, 128, {7, 8, 9, 10, 11, 12}};
constexpr UpdateShape kUpdateLarge{16, 86, 128, {7, 8, 9, 10, 11, 12}};

// size, name, tree, registered, porep, layers, challenges, window sectors, update
constexpr SectorShape kShapes[] = {
    {1 * kKiB, "1KiB", {8, 4, 0}, false, false, 2, 2, 2, kUpdateTiny},
    {2 * kKiB, "2KiB", {8, 0, 0}, true, true, 2, 2, 2, kUpdateTiny},
    {4 * kKiB, "4KiB", {8, 2, 0}, false, true, 2, 2, 2, kUpdateTiny},
    {8 * kKiB, "8KiB", {8, 4, 0}, false, false, 2, 2, 2, kUpdateTiny},
    {16 * kKiB, "16KiB", {8, 8, 0}, false, true, 2, 2, 2, kUpdateSmall},
    {32 * kKiB, "32KiB", {8, 8, 2}, false, true, 2, 2, 2, kUpdateSmall},
    {8 * kMiB, "8MiB", {8, 0, 0}, true, true, 2, 2, 2, kUpdateMedium},
    {16 * kMiB, "16MiB", {8, 2, 0}, false, true, 2, 2, 2, kUpdateMedium},
    {512 * kMiB, "512MiB", {8, 0, 0}, true, true, 2, 2, 2, kUpdateLarge},
    {1 * kGiB, "1GiB", {8, 2, 0}, false, true, 2, 2, 2, kUpdateLarge},
    {32 * kGiB, "32GiB", {8, 8, 0}, true, true, 11, 18, 2349, kUpdateLarge},
    {64 * kGiB, "64GiB", {8, 8, 2}, true, true, 11, 18, 2300, kUpdateLarge},
};

// What the rest of the room relies on: sizes ascend and are powers of two, so that node counts and
// partitions have whole logarithms; only sizes with a PoRep can be registered; the index bits of a
// node suffice for partition and apex leaf.
constexpr bool is_consistent(const SectorShape& shape) {
  const UpdateShape& update = shape.update;
  return std::has_single_bit(shape.byte_count) && std::has_single_bit(update.partition_count) &&
         std::has_single_bit(update.apex_leaf_count) &&
         (shape.has_porep || !shape.has_registered_proofs) && shape.window_sector_count > 0 &&
         std::uint64_t{update.partition_count} * update.apex_leaf_count <= shape.byte_count / 32;
}
static_assert(std::all_of(std::begin(kShapes), std::end(kShapes), is_consistent));
static_assert(std::is_sorted(std::begin(kShapes), std::end(kShapes),
                             [](const SectorShape& a, const SectorShape& b) {
                               return a.byte_count < b.byte_count;
                             }));

// The names of the table, for messages.
std::string known_sizes() {
  std::string out;
  for (const SectorShape& shape : kShapes) {
    if (!out.empty()) out += ", ";
    out += shape.name;
  }
  return out;
}

}  // namespace

std::string TreeShape::name() const {
  return std::to_string(base_arity) + "-" + std::to_string(sub_arity) + "-" +
         std::to_string(top_arity);
}

std::vector<std::size_t> level_arities(const TreeShape& shape, std::uint64_t leaf_count) {
  CUZK_ASSERT(leaf_count % shape.base_tree_count() == 0);
  const unsigned base_log2 = log2_exact(leaf_count / shape.base_tree_count());
  const unsigned arity_log2 = log2_exact(shape.base_arity);
  CUZK_ASSERT(arity_log2 > 0 && base_log2 % arity_log2 == 0);
  std::vector<std::size_t> out(base_log2 / arity_log2, shape.base_arity);
  if (shape.sub_arity != 0) out.push_back(shape.sub_arity);
  if (shape.top_arity != 0) out.push_back(shape.top_arity);
  return out;
}

unsigned log2_exact(std::uint64_t power_of_two) {
  CUZK_ASSERT(power_of_two != 0 && (power_of_two & (power_of_two - 1)) == 0);
  return static_cast<unsigned>(__builtin_ctzll(power_of_two));
}

std::string_view to_string(PorepKind kind) noexcept {
  switch (kind) {
    case PorepKind::kInteractive: return "interactive";
    case PorepKind::kSynthetic: return "synthetic";
    case PorepKind::kNonInteractive: return "non-interactive";
  }
  return "interactive";
}

unsigned UpdateShape::high_bit_select() const noexcept {
  // Ends: high_bit_count() is one of them.
  unsigned index = 0;
  while (high_bit_counts[index] != high_bit_count()) ++index;
  return 1u << index;
}

// 11 layers stand for the sizes that the main network seals; the others are for tests.
unsigned SectorShape::porep_minimum_challenge_count(PorepKind kind) const noexcept {
  const bool is_large = layer_count == 11;
  if (kind == PorepKind::kNonInteractive) return is_large ? 2253 : 26;
  return is_large ? 176 : 2;
}

unsigned SectorShape::porep_partition_count(PorepKind kind) const noexcept {
  const unsigned minimum = porep_minimum_challenge_count(kind);
  return (minimum + porep_challenges_per_partition - 1) / porep_challenges_per_partition;
}

std::span<const SectorShape> all_sector_shapes() { return kShapes; }

base::Result<const SectorShape*> sector_shape(std::uint64_t byte_count) {
  for (const SectorShape& shape : kShapes) {
    if (shape.byte_count == byte_count) return &shape;
  }
  return base::Error{
      base::ErrorKind::kInvalidArgument,
      "no sector has " + std::to_string(byte_count) + " bytes; sizes are " + known_sizes()};
}

// Exact names first; what else reads as a size must be one of the table.
base::Result<const SectorShape*> sector_shape_by_name(std::string_view text) {
  for (const SectorShape& shape : kShapes) {
    if (shape.name == text) return &shape;
  }
  if (const auto bytes = base::parse_byte_count(text); bytes.ok()) return sector_shape(*bytes);
  return base::Error{base::ErrorKind::kInvalidArgument,
                     "\"" + std::string(text) + "\" is not a sector size; sizes are " +
                         known_sizes() + ", or their number of bytes"};
}

}  // namespace cuzk::filecoin
