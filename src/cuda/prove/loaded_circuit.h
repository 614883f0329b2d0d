// A key and a circuit as one device holds them: what is resident there, and where the rest is read.
//
// Loaded once and shared by the proofs that use it. Points that are not resident are kept in pinned
// memory in device form when the ledger has room, else decoded from the key's own bytes each time.
// Immutable once loaded, but for the passes that proofs share (thread-safe). It reads the key's
// bytes without keeping the key alive: a proof that uses it does.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/device/buffer.h"
#include "cuda/poly/ntt.h"
#include "cuda/poly/tiled.h"
#include "cuda/prove/evaluation.h"
#include "cuda/prove/key_tables.h"
#include "cuda/prove/lane.h"
#include "cuda/prove/proof_part.h"
#include "cuda/prove/proof_plan.h"
#include "cuda/prove/query_pieces.h"
#include "cuda/prove/shared_pass.h"
#include "groth16/qap.h"

namespace cuzk::cuda::prove {

// The points of one query that a device sums: [first, first + count) of all. Places count from the
// query's first point.
template <class G>
struct PointStore {
  cuzk::msm::PointSource<G> source;  // of the key, which the proof holds
  std::size_t first = 0, count = 0;
  CountedBuffer resident;
  PinnedBytes pinned;  // the first byte is the point's at `first`

  bool is_resident() const { return resident.buffer().size_bytes() != 0; }
  // Null where they are not pinned.
  cuzk::curve::Affine<G>* pinned_points() const {
    return reinterpret_cast<cuzk::curve::Affine<G>*>(pinned.bytes.get());
  }
  const cuzk::curve::Affine<G>* device_points_from(std::size_t place) const {
    return reinterpret_cast<const cuzk::curve::Affine<G>*>(resident.buffer().data()) +
           (place - first);
  }
};

// Queues the points at places [first, first + count) of `store` on the lane's copy stream, to `to`.
template <class G>
base::Status upload_points(Lane& lane, const PointStore<G>& store, std::size_t first,
                           std::size_t count, cuzk::curve::Affine<G>* to);

// Proofs that stream one query of one loaded key, in pieces of one size.
struct PieceBlock {
  std::byte* bytes = nullptr;
  SharedEvent filled;
};
using PiecePass = SharedPass<PieceBlock, SharedEvent>;

// The passes of a loaded key. Proofs whose plans differ in the size of pieces do not share.
// Thread-safe.
class PiecePasses {
 public:
  PiecePass& get(int query, std::uint64_t piece_points, std::size_t piece_count);
  // Whether a proof with pieces of that size is in the query now.
  bool is_under_way(int query, std::uint64_t piece_points) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<int, std::uint64_t>, std::unique_ptr<PiecePass>> passes_;
};

// What a shape says, found once: no device is needed.
template <class F>
struct CircuitFacts {
  r1cs::Density density;
  std::array<QueryLayout, kQueryCount> layouts;         // of kQueryH unused
  std::array<std::vector<RowBlock>, 2> blocks;          // of a and b
  std::array<std::vector<std::uint32_t>, 2> long_rows;  // stored ones
  std::uint64_t longest_row = 0;                        // terms

  CircuitFacts(const r1cs::Shape<F>& shape, bool has_dense_queries);
  CircuitFacts(const CircuitFacts&) = delete;
};

template <class C>
class LoadedCircuit {
 public:
  using Fr = typename C::Fr;
  using Shape = r1cs::Shape<Fr>;
  using Key = groth16::ProvingKey<C>;

  // Uploads what `plan` makes resident of what `part` needs. kResourceExhausted when the device has
  // no room for it, kCancelled soon after `stop` asks.
  static base::Result<std::shared_ptr<LoadedCircuit>> load(
      const Context& context, Lane& lane, const std::shared_ptr<const Key>& key,
      const std::shared_ptr<const Shape>& shape, std::shared_ptr<const CircuitFacts<Fr>> facts,
      const ProofPart& part, const ProofPlan& plan, const std::stop_token& stop);

  const CircuitFacts<Fr>& facts() const { return *facts_; }
  const ProofPart& part() const { return part_; }
  const ProofPlan& plan() const { return plan_; }
  const poly::Transform<Fr>& transform() const { return tiled_ ? tiled_->whole() : transform_; }
  // Where the plan that it was loaded by has all vectors on the host.
  const poly::TiledTransform<Fr>& tiled() const {
    CUZK_ASSERT(tiled_.has_value());
    return *tiled_;
  }
  const Fr& quotient_scale() const { return quotient_scale_; }
  const Fr* coefficients() const { return coefficients_; }
  // All stored rows of a (0) or b (1) when they are resident.
  const MatrixRows& resident_rows(int matrix) const { return rows_[matrix]; }
  // Lists of long rows, resident always.
  const std::uint32_t* long_rows(int matrix) const { return long_rows_[matrix]; }
  const SegmentView& segment(int query, int run) const { return segments_[query][run]; }
  const PointStore<typename C::G1>& g1(int query) const { return g1_[query]; }
  const PointStore<typename C::G2>& b_g2() const { return b_g2_; }
  // Of queries that are not resident.
  PiecePasses& passes() const { return passes_; }
  // Of queries that are resident, if there are any (prepare_tables).
  CircuitTables& tables() const { return tables_of_multiples_; }
  // What is resident was taken in its order and goes in it.
  const device::Stream& stream() const { return stream_; }

 private:
  explicit LoadedCircuit(Spares& spares) : tables_of_multiples_(spares) {}
  base::Status load_tables(const Context& context, Lane& lane, const Shape& shape);
  base::Status load_matrices(const Context& context, Lane& lane, const Shape& shape);

  std::shared_ptr<const CircuitFacts<Fr>> facts_;
  ProofPart part_;
  ProofPlan plan_;
  device::Stream stream_;          // what is resident is freed in its order
  poly::Transform<Fr> transform_;  // unless it is the tiled one's
  std::optional<poly::TiledTransform<Fr>> tiled_;
  Fr quotient_scale_;
  CountedBuffer tables_, matrices_;
  const Fr* coefficients_ = nullptr;
  MatrixRows rows_[2];
  const std::uint32_t* long_rows_[2] = {};
  std::array<std::array<SegmentView, 2>, kQueryCount> segments_;
  std::array<PointStore<typename C::G1>, 4> g1_;
  PointStore<typename C::G2> b_g2_;
  mutable PiecePasses passes_;
  mutable CircuitTables tables_of_multiples_;  // made on the stream, so before it
};

// Before each proof that uses the circuit by `plan`, one of `lanes` side by side: makes tables of
// multiples of its queries when its proofs so far are worth them and there is room. Queues and does
// not wait, but at once. That they were not made is no error of a proof.
template <class C>
void prepare_tables(Context& context, const LoadedCircuit<C>& circuit, const ProofSizes& sizes,
                    const ProofPlan& plan, unsigned lanes, TableUse use, const ScratchModel& model);

// Bytes of coefficients, layouts and lists on the device, and of the matrices.
template <class F>
std::uint64_t table_bytes(const r1cs::Shape<F>& shape, const CircuitFacts<F>& facts);
template <class F>
std::uint64_t matrix_bytes(const r1cs::Shape<F>& shape);

}  // namespace cuzk::cuda::prove
