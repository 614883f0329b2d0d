// Search from generous to tight: residency outside, pieces inside.
//
// A piece halved costs a reduction of buckets more; a query streamed costs its bytes over PCIe per
// proof. Both are of one order for millions of points, so pieces are first kept above kPieceGood,
// and only when nothing more can leave the device they shrink to kPieceLeast. The first plan that
// fits is taken: the order of trying is from fast to slow.
#include "cuda/prove/proof_plan.h"

#include <algorithm>
#include <string>

namespace cuzk::cuda::prove {
namespace {

constexpr std::uint64_t kPieceGood = std::uint64_t{1} << 19;
constexpr std::uint64_t kPieceLeast = std::uint64_t{1} << 12;
constexpr std::uint64_t kPieceMost = std::uint64_t{1} << 27;
// Of a key, streamed for the sake of a second lane: about as long on a link of 55 GB/s as a second
// lane saves a proof by filling the gaps of short sums (20 to 30 ms, docs/cuda.md).
constexpr std::uint64_t kLaneWorthBytes = std::uint64_t{5} << 28;
constexpr std::uint64_t kTileBytes = std::uint64_t{64} << 20;

}  // namespace

PieceSizes piece_sizes(const ProofSizes& sizes, const ProofPlan& plan, int query_id,
                       const ScratchModel& model) {
  const QuerySizes& query = sizes.queries[query_id];
  PieceSizes out;
  out.point_count = std::min(query.point_count, plan.piece_points);
  out.scalar_count = std::min(query.scalar_count, out.point_count);
  out.point_bytes = query.point_bytes;
  out.multiply = {query.in_g2, query.point_count > plan.piece_points, query.scalar_count,
                  out.scalar_count, plan.scratch_limit_bytes};
  out.multiply_bytes = model.multiply_bytes(out.multiply);
  if (query_id != kQueryH) out.bitmap_bytes = model.bitmap_bytes(query.in_g2, out.point_count);
  out.is_streamed = !plan.query_resident[query_id];
  return out;
}

QueryArrays::QueryArrays(device::Arena& arena, const PieceSizes& sizes) {
  if (sizes.is_streamed) {
    for (auto& part : points) {
      part = arena.take<std::byte>(sizes.point_count * sizes.point_bytes);
    }
  }
  // A word more, for ones that a word of variables pushes past the end.
  bitmap = arena.take<std::uint64_t>((sizes.point_count + 63) / 64 + 1);
  pair_points = arena.take<std::uint32_t>(sizes.scalar_count);
  pair_scalars = arena.take<std::uint32_t>(sizes.scalar_count);
  pair_count = arena.take<std::uint32_t>(1);
  values = arena.take<std::byte>(sizes.scalar_count * kScalarBytes);
  multiply_scratch = arena.take<std::byte>(
      sizes.multiply.in_parts ? sizes.multiply_bytes
                              : std::max(sizes.multiply_bytes, sizes.bitmap_bytes));
  // Between pieces the buckets stay where they are; a single piece's ones are summed before.
  bitmap_scratch =
      sizes.multiply.in_parts ? arena.take<std::byte>(sizes.bitmap_bytes) : multiply_scratch;
}

SumArrays::SumArrays(device::Arena& arena, const ProofSizes& sizes, const ProofPlan& plan) {
  for (int q = 0; q < kQueryCount; ++q) {
    products[q] = arena.take<std::byte>(kProductBytes);
    if (q == kQueryH) continue;
    // A piece ends at a word of variables, up to 63 points early.
    const std::uint64_t full = plan.piece_points > 127 ? plan.piece_points - 63 : 64;
    const std::uint64_t pieces = sizes.queries[q].point_count / full + 2;
    bitmaps[q] = arena.take<std::byte>(pieces * kBitmapBytes);
  }
}

device::DeviceSpan<std::byte> take_arriving_scalars(device::Arena& arena, const ProofSizes& sizes) {
  if (sizes.forms_quotient) return {};
  return arena.take<std::byte>(sizes.queries[kQueryH].point_count * kScalarBytes);
}

QuotientArrays::QuotientArrays(device::Arena& arena, const ProofSizes& sizes,
                               const PieceSizes& piece) {
  if (sizes.forms_quotient) scalars = arena.take<std::byte>(kScalarBytes << sizes.domain_log2);
  if (piece.is_streamed) {
    for (auto& part : points) {
      part = arena.take<std::byte>(piece.point_count * piece.point_bytes);
    }
  }
  scratch = arena.take<std::byte>(piece.multiply_bytes);
}

EvaluationArrays::EvaluationArrays(device::Arena& arena, const ProofSizes& sizes,
                                   const ProofPlan& plan) {
  for (unsigned i = 0; i < plan.evaluation_buffers; ++i) {
    values[i] = arena.take<std::byte>(kScalarBytes << sizes.domain_log2);
  }
  if (!plan.matrices_resident) tile = arena.take<std::byte>(plan.tile_bytes);
}

std::uint64_t workspace_bytes(const ProofSizes& sizes, const ProofPlan& plan,
                              const ScratchModel& model) {
  device::Arena witness;
  witness.take<std::byte>(sizes.witness_bytes);
  const SumArrays sums(witness, sizes, plan);
  take_arriving_scalars(witness, sizes);
  device::Arena evaluation = witness;
  if (sizes.forms_quotient) {
    const EvaluationArrays evaluation_arrays(evaluation, sizes, plan);
  }
  std::uint64_t most = evaluation.used_bytes();
  for (int q = 0; q < kQueryCount; ++q) {
    if (!sizes.queries[q].is_used) continue;
    const PieceSizes piece = piece_sizes(sizes, plan, q, model);
    device::Arena arena = witness;
    if (q == kQueryH) {
      const QuotientArrays arrays(arena, sizes, piece);
    } else {
      const QueryArrays arrays(arena, piece);
    }
    most = std::max(most, arena.used_bytes());
  }
  return most;
}

std::uint64_t resident_bytes(const ProofSizes& sizes, const ProofPlan& plan) {
  std::uint64_t bytes = sizes.table_bytes + (plan.matrices_resident ? sizes.matrix_bytes : 0);
  for (int q = 0; q < kQueryCount; ++q) {
    const QuerySizes& query = sizes.queries[q];
    if (plan.query_resident[q] && query.is_used) bytes += query.point_count * query.point_bytes;
  }
  return bytes;
}

namespace {

// The power of two that holds every query, within the ends of what is offered.
std::uint64_t longest_piece(const ProofSizes& sizes) {
  std::uint64_t longest = 1;
  for (const QuerySizes& query : sizes.queries) longest = std::max(longest, query.point_count);
  std::uint64_t piece = kPieceLeast;
  while (piece < longest && piece < kPieceMost) piece *= 2;
  const std::uint64_t most = sizes.streamed_piece_points;
  return most == 0 ? piece : std::min(piece, most);
}

// Pieces from the longest query down to `least`; false when none fits.
bool fit_pieces(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes,
                std::uint64_t least, const ScratchModel& model) {
  for (std::uint64_t piece = longest_piece(sizes);; piece /= 2) {
    plan.piece_points = piece;
    // Fewer windows at once cost little until the device is no longer full.
    for (const std::uint64_t divisor : {0, 2, 4, 8}) {
      plan.scratch_limit_bytes =
          divisor == 0 ? 0 : std::max<std::uint64_t>(1, room_bytes / divisor);
      for (const unsigned buffers : {3u, 2u}) {
        plan.evaluation_buffers = buffers;
        plan.workspace_bytes = workspace_bytes(sizes, plan, model);
        if (plan.workspace_bytes <= room_bytes) return true;
      }
    }
    if (piece <= least) return false;
  }
}

void begin_fit(const ProofSizes& sizes, ProofPlan& plan) {
  plan.b_g2_on_device = sizes.queries[kQueryB2].is_used;
  plan.tile_bytes = std::max(std::min(kTileBytes, sizes.matrix_bytes), sizes.longest_row_bytes);
}

// A workspace of which `lanes` fit the room with no query cut, else two with pieces that cost
// little.
bool fit_several(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes, unsigned lanes,
                 const ScratchModel& model) {
  begin_fit(sizes, plan);
  const std::uint64_t whole = longest_piece(sizes);
  return lanes > 1 && (fit_pieces(sizes, plan, room_bytes / lanes, whole, model) ||
                       fit_pieces(sizes, plan, room_bytes / 2, std::min(kPieceGood, whole), model));
}

// The largest workspace that fits at all.
bool fit_one(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes,
             std::uint64_t least, const ScratchModel& model) {
  begin_fit(sizes, plan);
  return fit_pieces(sizes, plan, room_bytes, std::min(least, longest_piece(sizes)), model);
}

// Takes the query that leaves the device as number `streamed`; the matrices after the last.
void stream_more(ProofPlan& plan, int streamed) {
  if (streamed > 0 && streamed <= kQueryCount) plan.query_resident[kQueryCount - streamed] = false;
  if (streamed > kQueryCount) plan.matrices_resident = false;
}

std::uint64_t streamed_bytes_of(const ProofSizes& sizes, const ProofPlan& plan) {
  std::uint64_t bytes = 0;
  for (int q = 0; q < kQueryCount; ++q) {
    const QuerySizes& query = sizes.queries[q];
    if (!plan.query_resident[q] && query.is_used) bytes += query.point_count * query.point_bytes;
  }
  return bytes;
}

// A plan with room for several lanes, where what it streams is worth that.
bool plan_several(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t budget_bytes,
                  unsigned lanes, const ScratchModel& model) {
  for (int streamed = 0; streamed <= kQueryCount; ++streamed) {
    stream_more(plan, streamed);
    if (sizes.streamed_piece_points != 0 && streamed < kQueryCount) continue;
    if (streamed_bytes_of(sizes, plan) > kLaneWorthBytes) return false;
    plan.resident_bytes = resident_bytes(sizes, plan);
    if (plan.resident_bytes > budget_bytes) continue;
    if (fit_several(sizes, plan, budget_bytes - plan.resident_bytes, lanes, model)) return true;
  }
  return false;
}

}  // namespace

base::Result<ProofPlan> plan_workspace(const ProofSizes& sizes, ProofPlan plan,
                                       std::uint64_t room_bytes, unsigned lanes,
                                       const ScratchModel& model) {
  plan.resident_bytes = resident_bytes(sizes, plan);
  if (fit_several(sizes, plan, room_bytes, lanes, model) ||
      fit_one(sizes, plan, room_bytes, kPieceLeast, model)) {
    return plan;
  }
  return base::Error{base::ErrorKind::kResourceExhausted,
                     "a proof of a circuit with 2^" + std::to_string(sizes.domain_log2) +
                         " rows takes at least " + std::to_string(plan.workspace_bytes) +
                         " bytes of device memory beside the key, " + std::to_string(room_bytes) +
                         " are left"};
}

base::Result<ProofPlan> plan_proof(const ProofSizes& sizes, std::uint64_t budget_bytes,
                                   unsigned lanes, const ScratchModel& model) {
  ProofPlan plan;
  if (plan_several(sizes, plan, budget_bytes, lanes, model)) return plan;
  for (const std::uint64_t least : {kPieceGood, kPieceLeast}) {
    plan = {};
    for (int streamed = 0; streamed <= kQueryCount + 1; ++streamed) {
      stream_more(plan, streamed);
      if (sizes.streamed_piece_points != 0 && streamed < kQueryCount) continue;
      plan.resident_bytes = resident_bytes(sizes, plan);
      if (plan.resident_bytes > budget_bytes) continue;
      const std::uint64_t room = budget_bytes - plan.resident_bytes;
      if (fit_one(sizes, plan, room, least, model)) return plan;
    }
  }
  return base::Error{
      base::ErrorKind::kResourceExhausted,
      "a proof of a circuit with 2^" + std::to_string(sizes.domain_log2) + " rows takes at least " +
          std::to_string(resident_bytes(sizes, plan) + plan.workspace_bytes) +
          " bytes of device memory, the device's budget is " + std::to_string(budget_bytes)};
}

}  // namespace cuzk::cuda::prove
