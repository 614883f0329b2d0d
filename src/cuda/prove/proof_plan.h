// How a proof is laid out in device memory: what stays resident, how long pieces are, what is taken
// for one proof.
//
// Host arithmetic over sizes alone, so that it is tested without a device; the pipeline takes its
// arrays by the same code (QueryArrays, EvaluationArrays), with a buffer behind the arena. What
// follows each other in a proof lies in the same bytes, so a workspace is as large as its largest
// stage beside the witness and the sums. docs/cuda.md (Memory) has the order in which things give
// way.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"

namespace cuzk::cuda::prove {

// The queries of a key in the order in which they give up their place on the device last.
enum QueryId { kQueryH, kQueryL, kQueryA, kQueryB1, kQueryB2, kQueryCount };

// One multiplication of a query's scalars.
struct MultiplySizes {
  bool in_g2 = false;
  // Whether the points pass in pieces, so that buckets stay between them.
  bool in_parts = false;
  std::uint64_t count = 0, part_count = 0;  // scalars in all and in one piece
  std::uint64_t limit_bytes = 0;            // asked for, not a bound; 0: as its own policy says
};

// Tables of multiples for a multiplication (msm/multiples_table.h), in additions of its group.
struct TableOffer {
  int table_count = 1;        // 1: none
  double saved = 0;           // of each sum
  double made_per_point = 0;  // what a point's multiples take
};

// At most table_count_max tables that save at least the part gain_min of a sum, and each of them so
// many additions.
struct TableWish {
  int table_count_max = 1;
  double gain_min = 0, saved_per_table_min = 0;
};

// Scratch of the sums, by group and length. Given by the kernels' own plans; tests make one up.
struct ScratchModel {
  virtual ~ScratchModel() = default;
  virtual std::uint64_t multiply_bytes(const MultiplySizes& sizes) const = 0;
  virtual std::uint64_t bitmap_bytes(bool in_g2, std::uint64_t count) const = 0;
  // The best tables for a sum that is not in parts, within the scratch that it has without.
  virtual TableOffer tables(const MultiplySizes& /*sizes*/, std::uint64_t /*scratch_bytes*/,
                            const TableWish& /*wish*/) const {
    return {};
  }
};

inline constexpr std::uint64_t kScalarBytes = 32;

struct QuerySizes {
  std::uint64_t point_count = 0;
  std::uint64_t scalar_count = 0;  // of this witness; all of H's points
  std::uint64_t point_bytes = 0;
  bool in_g2 = false;
  bool is_used = true;  // false: the sum is made elsewhere
};

// Of a proof, or of one device's part of it.
struct ProofSizes {
  unsigned domain_log2 = 0;
  // Whether the scalars of H are made here; else those that are summed here come from elsewhere.
  bool forms_quotient = true;
  std::uint64_t witness_bytes = 0;  // bits, ranks, scalars, inputs
  std::uint64_t matrix_bytes = 0;   // row starts and terms of a and b
  std::uint64_t table_bytes = 0;    // coefficients and layouts: always resident
  std::uint64_t longest_row_bytes = 0;
  std::array<QuerySizes, kQueryCount> queries;
  // Not 0: no query stays on the device, and pieces have at most so many points. For tests.
  std::uint64_t streamed_piece_points = 0;
  // Which of the ways below may be taken; at least one vector where there can be no tiles. In tiles
  // only where all sums over H are made here: other devices take its scalars from device memory.
  unsigned evaluation_buffers_least = 0, evaluation_buffers_most = 3;
};

// What was decided.
struct ProofPlan {
  bool matrices_resident = true;
  std::array<bool, kQueryCount> query_resident = {true, true, true, true, true};
  bool b_g2_on_device = true;
  // Vectors of all rows on the device at once. 3: a, b and a b. 2: rows are evaluated twice. 1: one
  // after the other, while another waits on the host. 0: all lie on the host and come up in tiles.
  unsigned evaluation_buffers = 3;
  std::uint64_t vector_tile_log2 = 0;     // elements of a tile of them; with 0 alone
  std::uint64_t piece_points = 0;         // points of a query in one sum
  std::uint64_t scratch_limit_bytes = 0;  // of one multiplication; 0: as its own policy says
  std::uint64_t tile_bytes = 0;           // of matrices, when they are not resident
  std::uint64_t resident_bytes = 0;       // key and circuit on the device
  std::uint64_t workspace_bytes = 0;      // one proof

  bool operator==(const ProofPlan&) const = default;
};

// Vectors of all rows that a plan has on the host, while H's scalars are formed.
inline unsigned host_vector_count(const ProofPlan& plan) {
  return plan.evaluation_buffers == 0 ? 2 : plan.evaluation_buffers == 1 ? 1 : 0;
}
// As few of them on the device as a plan in less room may have: 2 and 3 are one way.
inline unsigned least_vectors(const ProofPlan& plan) {
  return plan.evaluation_buffers > 2 ? 2 : plan.evaluation_buffers;
}
// Bytes of those of a circuit whose vectors share room_bytes, about: before there is a plan.
std::uint64_t host_vector_bytes(std::size_t domain_log2, std::uint64_t room_bytes);

// What one piece of a query takes.
struct PieceSizes {
  std::uint64_t point_count = 0, scalar_count = 0, point_bytes = 0;
  std::uint64_t multiply_bytes = 0, bitmap_bytes = 0;
  bool is_streamed = false;
  MultiplySizes multiply;
};

PieceSizes piece_sizes(const ProofSizes& sizes, const ProofPlan& plan, int query_id,
                       const ScratchModel& model);

// The arrays of one query's pieces, taken from an arena (or counted by one).
struct QueryArrays {
  device::DeviceSpan<std::byte> points[2];  // streamed: two pieces in turns
  device::DeviceSpan<std::uint64_t> bitmap;
  device::DeviceSpan<std::uint32_t> pair_points, pair_scalars, pair_count;
  device::DeviceSpan<std::byte> values, multiply_scratch, bitmap_scratch;

  QueryArrays(device::Arena& arena, const PieceSizes& sizes);
};

// Where the sums of a proof wait until it ends: those of each query's multiplication, and of each
// piece's ones.
struct SumArrays {
  static constexpr std::uint64_t kProductBytes = std::uint64_t{64} << 10;
  static constexpr std::uint64_t kBitmapBytes = 512;
  std::array<device::DeviceSpan<std::byte>, kQueryCount> products, bitmaps;

  SumArrays(device::Arena& arena, const ProofSizes& sizes, const ProofPlan& plan);
};

// Where scalars of H that are made elsewhere arrive, at any time: beside the arrays of all stages.
// Empty where they are made here.
device::DeviceSpan<std::byte> take_arriving_scalars(device::Arena& arena, const ProofSizes& sizes);

// The arrays of the H query's pieces. Its scalars lie in the evaluation's first buffer where they
// are made; in tiles, those of a piece come from the host.
struct QuotientArrays {
  // Of the whole query, or of a piece in order and as it came; empty where they arrive.
  device::DeviceSpan<std::byte> scalars, raw_scalars;
  device::DeviceSpan<std::byte> points[2];
  device::DeviceSpan<std::byte> scratch;

  QuotientArrays(device::Arena& arena, const ProofSizes& sizes, const ProofPlan& plan,
                 const PieceSizes& piece);
};

// The arrays of evaluation and transforms; values[0] is where QuotientArrays::scalars is.
struct EvaluationArrays {
  // One of two sets by turns, so that copies of one run beside kernels on the other. One vector:
  // `vectors[0]` is a part of the host's. In tiles: tiles of two vectors, and of the matrices.
  struct Turn {
    device::DeviceSpan<std::byte> vectors[2];
    device::DeviceSpan<std::byte> matrix_tile;
  };
  device::DeviceSpan<std::byte> values[3];
  device::DeviceSpan<std::byte> tile;
  Turn turns[2];  // with fewer than two buffers

  EvaluationArrays(device::Arena& arena, const ProofSizes& sizes, const ProofPlan& plan);
};

// The bytes of one proof under a plan whose pieces and residency are set.
std::uint64_t workspace_bytes(const ProofSizes& sizes, const ProofPlan& plan,
                              const ScratchModel& model);
// The bytes that stay on the device under a plan's residency.
std::uint64_t resident_bytes(const ProofSizes& sizes, const ProofPlan& plan);

// The plan that keeps most on the device and cuts least, within budget_bytes for everything. Where
// it costs no cut, `lanes` workspaces fit beside each other: proofs side by side gain more than
// scratch does. For a second workspace it also cuts, and streams up to kLaneWorthBytes: what that
// takes over the link hides behind the other proof's kernels, and both share the uploads. Vectors
// go to the host only where nothing else does. kResourceExhausted, with the least that would do,
// when even the smallest pieces do not fit.
base::Result<ProofPlan> plan_proof(const ProofSizes& sizes, std::uint64_t budget_bytes,
                                   unsigned lanes, const ScratchModel& model);

// The same with residency given, as for the next proof of a key that is loaded: `plan` says what is
// resident, and how many vectors at least are on the device (2 for 3) in what tiles; room_bytes is
// what proofs may take together.
base::Result<ProofPlan> plan_workspace(const ProofSizes& sizes, ProofPlan plan,
                                       std::uint64_t room_bytes, unsigned lanes,
                                       const ScratchModel& model);

}  // namespace cuzk::cuda::prove
