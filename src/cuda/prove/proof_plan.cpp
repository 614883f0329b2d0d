// Search from generous to tight: residency outside, pieces inside.
//
// A piece halved costs a reduction of buckets more; a query streamed costs its bytes over PCIe per
// proof. Both are of one order for millions of points, so pieces are first kept above kPieceGood,
// and only when nothing more can leave the device they shrink to kPieceLeast. Then vectors of the
// rows leave it: all but one, whose four passages over the link take as long as half the
// transforms, then all, with thirteen. The first plan that fits is taken: the order of trying is
// from fast to slow.
#include "cuda/prove/proof_plan.h"

#include <algorithm>
#include <span>
#include <string>

namespace cuzk::cuda::prove {
namespace {

constexpr std::uint64_t kPieceGood = std::uint64_t{1} << 19;
constexpr std::uint64_t kPieceLeast = std::uint64_t{1} << 12;
constexpr std::uint64_t kPieceMost = std::uint64_t{1} << 27;
// Pieces above which more of a key and its matrices leaves the device first, while vectors are
// there; where they are not, room is so short that the way down has steps.
constexpr std::uint64_t kPieceSteps[] = {kPieceGood, kPieceLeast};
constexpr std::uint64_t kTightPieceSteps[] = {kPieceGood, kPieceGood >> 2, kPieceGood >> 4,
                                              kPieceLeast};
// Of a key, streamed for the sake of a second lane: about as long on a link of 55 GB/s as a second
// lane saves a proof by filling the gaps of short sums (20 to 30 ms, docs/cuda.md).
constexpr std::uint64_t kLaneWorthBytes = std::uint64_t{5} << 28;
constexpr std::uint64_t kTileBytes = std::uint64_t{64} << 20;
// Where vectors have left the device: still far longer to copy than to queue.
constexpr std::uint64_t kTightTileBytes = std::uint64_t{8} << 20;
// Of vectors: a pass over columns does at most ten levels and wants tiles of 2^10 at least. Rows of
// a column that are runs of a MiB need no more.
constexpr std::uint64_t kVectorTileLog2Least = 10, kVectorTileLog2Most = 22, kColumnLevelsMax = 10;

// The ways of holding vectors, each from fast to slow; 3 and 2 together, as pieces matter more.
constexpr unsigned kWays[][2] = {{3, 2}, {1, 1}, {0, 0}};

std::uint64_t vector_bytes(const ProofSizes& sizes) { return kScalarBytes << sizes.domain_log2; }

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

QuotientArrays::QuotientArrays(device::Arena& arena, const ProofSizes& sizes, const ProofPlan& plan,
                               const PieceSizes& piece) {
  if (sizes.forms_quotient && plan.evaluation_buffers == 0) {
    // As it comes a piece has a part of each row of tiles, an element more at either end.
    const std::uint64_t row_count = std::uint64_t{1} << (sizes.domain_log2 - plan.vector_tile_log2);
    scalars = arena.take<std::byte>(piece.point_count * kScalarBytes);
    raw_scalars =
        arena.take<std::byte>((piece.point_count / row_count + 2) * row_count * kScalarBytes);
  } else if (sizes.forms_quotient) {
    scalars = arena.take<std::byte>(vector_bytes(sizes));
  }
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
    values[i] = arena.take<std::byte>(vector_bytes(sizes));
  }
  if (plan.evaluation_buffers > 0) {
    if (!plan.matrices_resident) tile = arena.take<std::byte>(plan.tile_bytes);
    if (plan.evaluation_buffers > 1) return;
    const std::uint64_t part_bytes = std::min(vector_bytes(sizes), kTightTileBytes);
    for (Turn& turn : turns) turn.vectors[0] = arena.take<std::byte>(part_bytes);
    return;
  }
  for (Turn& turn : turns) {
    for (auto& vector : turn.vectors) {
      vector = arena.take<std::byte>(kScalarBytes << plan.vector_tile_log2);
    }
    if (!plan.matrices_resident) turn.matrix_tile = arena.take<std::byte>(plan.tile_bytes);
  }
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
      const QuotientArrays arrays(arena, sizes, plan, piece);
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

// Whether vectors may come up in tiles at all: there are two rows of them at least.
bool can_tile(const ProofSizes& sizes) {
  return sizes.domain_log2 > kVectorTileLog2Least && sizes.forms_quotient &&
         sizes.evaluation_buffers_least == 0;
}

// Tiles of vectors from large to small; those that plan.vector_tile_log2 gives alone, where it is
// not 0. False when none fits.
bool fit_vector_tiles(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes,
                      const ScratchModel& model) {
  const std::uint64_t log2 = sizes.domain_log2, given = plan.vector_tile_log2;
  if (!can_tile(sizes)) return false;
  const std::uint64_t least =
      std::max(kVectorTileLog2Least, log2 - std::min(log2, kColumnLevelsMax));
  const std::uint64_t most = std::max(least, std::min(kVectorTileLog2Most, log2 - 1));
  for (std::uint64_t tile = given == 0 ? most : given;; --tile) {
    plan.vector_tile_log2 = tile;
    plan.workspace_bytes = workspace_bytes(sizes, plan, model);
    if (plan.workspace_bytes <= room_bytes) return true;
    if (given != 0 || tile <= least) break;
  }
  plan.vector_tile_log2 = given;
  return false;
}

// Whether the plan fits with so many vectors on the device; nothing of it changes else.
bool fit_vectors(const ProofSizes& sizes, ProofPlan& plan, unsigned buffers,
                 std::uint64_t room_bytes, const ScratchModel& model) {
  const unsigned most = std::max(sizes.evaluation_buffers_most, can_tile(sizes) ? 0u : 1u);
  if (buffers < sizes.evaluation_buffers_least || buffers > most) return false;
  const std::uint64_t tile_bytes = buffers < 2 ? kTightTileBytes : kTileBytes;
  plan.tile_bytes = std::max(std::min(tile_bytes, sizes.matrix_bytes), sizes.longest_row_bytes);
  plan.evaluation_buffers = buffers;
  if (buffers == 0) return fit_vector_tiles(sizes, plan, room_bytes, model);
  plan.workspace_bytes = workspace_bytes(sizes, plan, model);
  return plan.workspace_bytes <= room_bytes;
}

// Pieces from the longest query down to `least`, vectors one of two ways; false when none fits.
bool fit_pieces(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes,
                std::uint64_t least, const unsigned (&way)[2], const ScratchModel& model) {
  for (std::uint64_t piece = longest_piece(sizes);; piece /= 2) {
    plan.piece_points = piece;
    // Fewer windows at once cost little until the device is no longer full.
    for (const std::uint64_t divisor : {0, 2, 4, 8}) {
      plan.scratch_limit_bytes =
          divisor == 0 ? 0 : std::max<std::uint64_t>(1, room_bytes / divisor);
      for (const unsigned buffers : way) {
        if (fit_vectors(sizes, plan, buffers, room_bytes, model)) return true;
      }
    }
    if (piece <= least) return false;
  }
}

// A workspace of which `lanes` fit the room with no query cut, else two with pieces that cost
// little.
bool fit_several(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes, unsigned lanes,
                 const ScratchModel& model) {
  plan.b_g2_on_device = sizes.queries[kQueryB2].is_used;
  const std::uint64_t whole = longest_piece(sizes);
  const auto fits = [&](std::uint64_t share_bytes, std::uint64_t least) {
    return fit_pieces(sizes, plan, share_bytes, least, kWays[0], model);
  };
  return lanes > 1 &&
         (fits(room_bytes / lanes, whole) || fits(room_bytes / 2, std::min(kPieceGood, whole)));
}

// The largest workspace that fits at all.
bool fit_one(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes,
             std::uint64_t least, const unsigned (&way)[2], const ScratchModel& model) {
  plan.b_g2_on_device = sizes.queries[kQueryB2].is_used;
  return fit_pieces(sizes, plan, room_bytes, std::min(least, longest_piece(sizes)), way, model);
}

// The plan's way and those before it, each with the plan as it was given. What did not fit is left
// in `plan` for the refusal.
bool fit_given(const ProofSizes& sizes, ProofPlan& plan, std::uint64_t room_bytes,
               const ScratchModel& model) {
  const ProofPlan given = plan;
  for (const auto& way : kWays) {
    if (way[1] < least_vectors(given)) break;
    ProofPlan tried = given;
    tried.workspace_bytes = 0;
    if (way[1] > 0) tried.vector_tile_log2 = 0;
    const bool fits = fit_one(sizes, tried, room_bytes, kPieceLeast, way, model);
    if (tried.workspace_bytes != 0) plan = tried;
    if (fits) return true;
  }
  return false;
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

// A plan for one proof at a time, its vectors one of two ways. What did not fit is left in `out`.
bool plan_one(const ProofSizes& sizes, ProofPlan& out, std::uint64_t budget_bytes,
              const unsigned (&way)[2], const ScratchModel& model) {
  const bool is_tight = way[1] < 2;
  const std::span<const std::uint64_t> steps =
      is_tight ? std::span<const std::uint64_t>(kTightPieceSteps) : kPieceSteps;
  for (const std::uint64_t least : steps) {
    ProofPlan plan;
    for (int streamed = 0; streamed <= kQueryCount + 1; ++streamed) {
      stream_more(plan, streamed);
      if (sizes.streamed_piece_points != 0 && streamed < kQueryCount) continue;
      plan.resident_bytes = resident_bytes(sizes, plan);
      if (plan.resident_bytes > budget_bytes) continue;
      const std::uint64_t room = budget_bytes - plan.resident_bytes;
      const bool fits = fit_one(sizes, plan, room, least, way, model);
      if (plan.workspace_bytes != 0) out = plan;
      if (fits) return true;
    }
  }
  return false;
}

}  // namespace

std::uint64_t host_vector_bytes(std::size_t domain_log2, std::uint64_t room_bytes) {
  // An eighth more for what is beside them.
  const std::uint64_t vector = kScalarBytes << domain_log2, with_more = vector + vector / 8;
  return with_more > room_bytes ? 2 * vector : 2 * with_more > room_bytes ? vector : 0;
}

base::Result<ProofPlan> plan_workspace(const ProofSizes& sizes, ProofPlan plan,
                                       std::uint64_t room_bytes, unsigned lanes,
                                       const ScratchModel& model) {
  plan.resident_bytes = resident_bytes(sizes, plan);
  const ProofPlan given = plan;
  plan.vector_tile_log2 = 0;
  if (fit_several(sizes, plan, room_bytes, lanes, model)) return plan;
  plan = given;
  if (fit_given(sizes, plan, room_bytes, model)) return plan;
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
  plan = {};
  plan.query_resident.fill(false);
  plan.matrices_resident = false;
  for (const auto& way : kWays) {
    if (plan_one(sizes, plan, budget_bytes, way, model)) return plan;
  }
  return base::Error{
      base::ErrorKind::kResourceExhausted,
      "a proof of a circuit with 2^" + std::to_string(sizes.domain_log2) + " rows takes at least " +
          std::to_string(resident_bytes(sizes, plan) + plan.workspace_bytes) +
          " bytes of device memory, the device's budget is " + std::to_string(budget_bytes)};
}

}  // namespace cuzk::cuda::prove
