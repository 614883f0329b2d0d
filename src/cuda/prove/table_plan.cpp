// Queries in the order of the plan, each with what the ones before it left.
#include "cuda/prove/table_plan.h"

#include <cmath>

#include "cuda/device/buffer.h"

namespace cuzk::cuda::prove {
namespace {

constexpr int kTableCountMost = 16;
constexpr double kG2Factor = 2.4;  // an addition of G2 in those of G1
constexpr double kMiB = 1 << 20;

std::uint64_t less(std::uint64_t from, std::uint64_t bytes) { return from - std::min(from, bytes); }

}  // namespace

std::uint64_t TablePlan::proofs_to_earn() const {
  return saved <= 0 ? 0 : static_cast<std::uint64_t>(std::ceil(made / saved));
}

std::uint64_t table_bytes_of(const QuerySizes& query, int table_count) {
  device::Arena arena;
  arena.take<std::byte>(query.point_count * query.point_bytes *
                        static_cast<std::uint64_t>(table_count));
  return arena.used_bytes();
}

std::uint64_t table_room(std::uint64_t budget_bytes, std::uint64_t keys_bytes,
                         std::uint64_t tables_bytes, std::uint64_t workspace_bytes,
                         unsigned lanes) {
  const std::uint64_t left =
      less(less(less(budget_bytes, keys_bytes), tables_bytes), lanes * workspace_bytes);
  return std::min(left, less(budget_bytes / kTableShare, tables_bytes));
}

TablePlan plan_tables(const ProofSizes& sizes, const ProofPlan& plan, std::uint64_t room_bytes,
                      const TableRules& rules, const ScratchModel& model) {
  TablePlan out;
  for (int q = 0; q < kQueryCount; ++q) {
    const QuerySizes& query = sizes.queries[q];
    if (!query.is_used || !plan.query_resident[q]) continue;
    if (query.scalar_count == 0 || query.scalar_count < rules.scalars_min) continue;
    const PieceSizes piece = piece_sizes(sizes, plan, q, model);
    if (piece.multiply.in_parts) continue;
    const std::uint64_t one = table_bytes_of(query, 1);
    const int most = static_cast<int>(
        std::min<std::uint64_t>(less(room_bytes, out.bytes) / one, std::uint64_t{kTableCountMost}));
    if (most < 2) continue;
    const double factor = query.in_g2 ? kG2Factor : 1;
    const double mib = static_cast<double>(one) / kMiB;
    const TableWish wish = {most, rules.gain_min, rules.saved_per_mib_min * mib / factor};
    const TableOffer offer = model.tables(piece.multiply, piece.multiply_bytes, wish);
    if (offer.table_count < 2) continue;
    const std::uint64_t bytes = table_bytes_of(query, offer.table_count);
    const double saved = factor * offer.saved;
    if (saved < rules.saved_per_mib_min * static_cast<double>(bytes) / kMiB) continue;
    out.counts[q] = offer.table_count;
    out.bytes += bytes;
    out.saved += saved;
    out.made += factor * offer.made_per_point * static_cast<double>(query.point_count);
  }
  return out;
}

}  // namespace cuzk::cuda::prove
