// Uploads through pinned slots: while one is copied the next is filled. What the caller's vectors
// hold is copied before the function returns.
//
// Points are decoded by all processors, as one cannot keep up with the link to the card. Memory is
// taken on the circuit's own stream and written on the lane's copy stream, so the first is waited
// for in between. A cancel is seen between two slots.
#include "cuda/prove/loaded_circuit.h"

#include <algorithm>
#include <cstring>

#include "base/threads.h"
#include "cuda/prove/drain.h"
#include "cuda/prove/matrix_tiles.h"

namespace cuzk::cuda::prove {
namespace {

constexpr std::size_t kDecodeGrain = 1024;  // points
constexpr std::size_t kDecodedAtOnce = std::size_t{1} << 18;

base::Error cancelled() {
  return {base::ErrorKind::kCancelled, "cancelled while a key went to the device"};
}

// Fills slots with fill(byte_offset, bytes of the slot) and queues their copies on lane.copy.
template <class Fill>
base::Status copy_in_slots(Lane& lane, std::byte* to, std::uint64_t size_bytes,
                           std::uint64_t unit_bytes, const Fill& fill) {
  return copy_through(lane.copy, lane.slots.bytes(), lane.slot_free, to, size_bytes, unit_bytes,
                      [&](std::uint64_t offset, std::span<std::byte> slot) -> base::Status {
                        if (lane.load_stop.stop_requested()) return cancelled();
                        fill(offset, slot);
                        return base::ok_status();
                      });
}

base::Status upload_bytes(Lane& lane, void* to, const void* from, std::uint64_t size_bytes) {
  return copy_in_slots(lane, static_cast<std::byte*>(to), size_bytes, 1,
                       [&](std::uint64_t offset, std::span<std::byte> slot) {
                         std::memcpy(slot.data(), static_cast<const std::byte*>(from) + offset,
                                     slot.size());
                       });
}

template <class G>
void decode_parallel(const cuzk::msm::PointSource<G>& source, std::size_t first,
                     std::span<cuzk::curve::Affine<G>> out) {
  base::parallel_for(0, out.size(), kDecodeGrain, [&](std::size_t begin, std::size_t end) {
    source.decode(first + begin, out.subspan(begin, end - begin));
  });
}

// Makes `store` resident or, if the ledger and the machine have room, pinned. If they have not, its
// points are decoded from the key's bytes whenever they are needed.
template <class G>
base::Status place_points(const Context& context, Lane& lane, const device::Stream& stream,
                          const cuzk::msm::PointSource<G>& source, const QueryPart& part,
                          bool is_resident, std::string_view name, PointStore<G>& store) {
  using Point = cuzk::curve::Affine<G>;
  if (!part.is_used) return base::ok_status();
  CUZK_ASSERT(part.first_point + part.point_count <= source.size());
  store.source = source;
  store.first = part.first_point;
  store.count = part.point_count;
  const std::uint64_t bytes = store.count * sizeof(Point);
  if (bytes == 0) return base::ok_status();
  if (is_resident) {
    CUZK_TRY(store.resident, context.allocate(stream, bytes, base::MemoryCategory::kSrs, name));
    CUZK_TRY_STATUS(stream.synchronize());
    CUZK_TRY_STATUS(upload_points<G>(lane, store, store.first, store.count,
                                     reinterpret_cast<Point*>(store.resident.buffer().data())));
    return lane.copy.synchronize();
  }
  CUZK_TRY(store.pinned, try_pin(pinned_source(), bytes, base::MemoryCategory::kSrs, name));
  if (store.pinned.bytes == nullptr) {
    warn_of_shortage(context.info().index, PinnedUse::kKey,
                     "the " + std::string(name) + " of a key", store.pinned.shortage);
    return base::ok_status();
  }
  const std::span<Point> points(store.pinned_points(), store.count);
  for (std::size_t done = 0; done < points.size(); done += kDecodedAtOnce) {
    if (lane.load_stop.stop_requested()) return cancelled();
    decode_parallel<G>(source, store.first + done,
                       points.subspan(done, std::min(kDecodedAtOnce, points.size() - done)));
  }
  return base::ok_status();
}

}  // namespace

template <class G>
base::Status upload_points(Lane& lane, const PointStore<G>& store, std::size_t first,
                           std::size_t count, cuzk::curve::Affine<G>* to) {
  using Point = cuzk::curve::Affine<G>;
  if (const Point* points = store.pinned_points(); points != nullptr) {
    return device::copy_bytes_to_device(lane.copy, to, points + (first - store.first),
                                        count * sizeof(Point));
  }
  return copy_in_slots(lane, reinterpret_cast<std::byte*>(to), count * sizeof(Point), sizeof(Point),
                       [&](std::uint64_t offset, std::span<std::byte> slot) {
                         decode_parallel<G>(
                             store.source, first + offset / sizeof(Point),
                             {reinterpret_cast<Point*>(slot.data()), slot.size() / sizeof(Point)});
                       });
}

PiecePass& PiecePasses::get(int query, std::uint64_t piece_points, std::size_t piece_count) {
  const std::lock_guard lock(mutex_);
  auto& pass = passes_[{query, piece_points}];
  if (pass == nullptr) pass = std::make_unique<PiecePass>(piece_count);
  CUZK_ASSERT(pass->piece_count() == piece_count);
  return *pass;
}

bool PiecePasses::is_under_way(int query, std::uint64_t piece_points) const {
  const std::lock_guard lock(mutex_);
  const auto found = passes_.find({query, piece_points});
  return found != passes_.end() && found->second->is_under_way();
}

template <class F>
CircuitFacts<F>::CircuitFacts(const r1cs::Shape<F>& shape, bool has_dense_queries)
    : density(r1cs::density_of(shape)) {
  const auto all_inputs = SegmentLayout::of(nullptr, false, shape.input_count);
  const auto all_aux = SegmentLayout::of(nullptr, false, shape.aux_count);
  layouts[kQueryL] = {{SegmentLayout(), all_aux}};
  layouts[kQueryA] = {
      {all_inputs, SegmentLayout::of(&density.a_aux, has_dense_queries, shape.aux_count)}};
  layouts[kQueryB1] = {{SegmentLayout::of(&density.b_input, has_dense_queries, shape.input_count),
                        SegmentLayout::of(&density.b_aux, has_dense_queries, shape.aux_count)}};
  layouts[kQueryB2] = layouts[kQueryB1];
  for (int m = 0; m < 2; ++m) {
    const r1cs::SparseMatrix& matrix = m == 0 ? shape.a : shape.b;
    blocks[m] = row_blocks(matrix);
    for (std::size_t row = 0; row < matrix.stored_row_count(); ++row) {
      const std::uint64_t length = matrix.row_begin[row + 1] - matrix.row_begin[row];
      longest_row = std::max(longest_row, length);
      if (length > kLongRow) long_rows[m].push_back(static_cast<std::uint32_t>(row));
    }
  }
}

namespace {

// The tables' arrays in one order, for counting and for filling.
template <class F>
struct Tables {
  device::DeviceSpan<F> coefficients;
  device::DeviceSpan<std::uint32_t> long_rows[2];
  device::DeviceSpan<std::uint64_t> a_aux, b_input, b_aux;
  device::DeviceSpan<std::uint32_t> a_aux_rank, b_input_rank, b_aux_rank;

  Tables(device::Arena& arena, const r1cs::Shape<F>& shape, const CircuitFacts<F>& facts) {
    const auto& layouts = facts.layouts;
    coefficients = arena.take<F>(shape.coefficients.size());
    for (int m = 0; m < 2; ++m) {
      long_rows[m] = arena.take<std::uint32_t>(facts.long_rows[m].size());
    }
    a_aux = arena.take<std::uint64_t>(facts.density.a_aux.words().size());
    b_input = arena.take<std::uint64_t>(facts.density.b_input.words().size());
    b_aux = arena.take<std::uint64_t>(facts.density.b_aux.words().size());
    a_aux_rank = arena.take<std::uint32_t>(layouts[kQueryA].runs[1].point_rank.size());
    b_input_rank = arena.take<std::uint32_t>(layouts[kQueryB1].runs[0].point_rank.size());
    b_aux_rank = arena.take<std::uint32_t>(layouts[kQueryB1].runs[1].point_rank.size());
  }
};

template <class F>
struct Matrices {
  device::DeviceSpan<std::uint64_t> row_begin[2];
  device::DeviceSpan<r1cs::Term> terms[2];

  Matrices(device::Arena& arena, const r1cs::Shape<F>& shape) {
    for (int m = 0; m < 2; ++m) {
      const r1cs::SparseMatrix& matrix = m == 0 ? shape.a : shape.b;
      row_begin[m] = arena.take<std::uint64_t>(matrix.row_begin.size());
      terms[m] = arena.take<r1cs::Term>(matrix.terms.size());
    }
  }
};

template <class T>
base::Status upload_all(Lane& lane, device::DeviceSpan<T> to, std::span<const T> from) {
  CUZK_ASSERT(to.size == from.size());
  return upload_bytes(lane, to.data, from.data(), from.size_bytes());
}

SegmentView view_of(const SegmentLayout& layout, const std::uint64_t* density,
                    const std::uint32_t* rank, std::size_t first_point) {
  SegmentView out;
  out.density = layout.density != nullptr ? density : nullptr;
  out.point_rank = layout.is_packed ? rank : nullptr;
  out.first_point = static_cast<std::uint32_t>(first_point);
  out.size = layout.size;
  return out;
}

}  // namespace

template <class F>
std::uint64_t table_bytes(const r1cs::Shape<F>& shape, const CircuitFacts<F>& facts) {
  device::Arena arena;
  const Tables<F> tables(arena, shape, facts);
  return arena.used_bytes();
}

template <class F>
std::uint64_t matrix_bytes(const r1cs::Shape<F>& shape) {
  device::Arena arena;
  const Matrices<F> matrices(arena, shape);
  return arena.used_bytes();
}

template <class C>
base::Status LoadedCircuit<C>::load_tables(const Context& context, Lane& lane, const Shape& shape) {
  CUZK_TRY(tables_, context.allocate(stream_, table_bytes(shape, *facts_),
                                     base::MemoryCategory::kMatrices, "tables of a circuit"));
  CUZK_TRY_STATUS(stream_.synchronize());
  device::Arena arena(tables_.buffer());
  const Tables<Fr> tables(arena, shape, *facts_);
  const auto& layouts = facts_->layouts;
  CUZK_TRY_STATUS(upload_all<Fr>(lane, tables.coefficients, shape.coefficients));
  for (int m = 0; m < 2; ++m) {
    CUZK_TRY_STATUS(upload_all<std::uint32_t>(lane, tables.long_rows[m], facts_->long_rows[m]));
    long_rows_[m] = tables.long_rows[m].data;
  }
  const r1cs::Density& density = facts_->density;
  CUZK_TRY_STATUS(upload_all<std::uint64_t>(lane, tables.a_aux, density.a_aux.words()));
  CUZK_TRY_STATUS(upload_all<std::uint64_t>(lane, tables.b_input, density.b_input.words()));
  CUZK_TRY_STATUS(upload_all<std::uint64_t>(lane, tables.b_aux, density.b_aux.words()));
  const SegmentLayout &a_aux = layouts[kQueryA].runs[1], &b_input = layouts[kQueryB1].runs[0],
                      &b_aux = layouts[kQueryB1].runs[1];
  CUZK_TRY_STATUS(upload_all<std::uint32_t>(lane, tables.a_aux_rank, a_aux.point_rank));
  CUZK_TRY_STATUS(upload_all<std::uint32_t>(lane, tables.b_input_rank, b_input.point_rank));
  CUZK_TRY_STATUS(upload_all<std::uint32_t>(lane, tables.b_aux_rank, b_aux.point_rank));
  coefficients_ = tables.coefficients.data;
  segments_[kQueryL][1] = view_of(layouts[kQueryL].runs[1], nullptr, nullptr, 0);
  const SegmentLayout& a_input = layouts[kQueryA].runs[0];
  segments_[kQueryA] = {
      view_of(a_input, nullptr, nullptr, 0),
      view_of(a_aux, tables.a_aux.data, tables.a_aux_rank.data, a_input.point_count)};
  segments_[kQueryB1] = {
      view_of(b_input, tables.b_input.data, tables.b_input_rank.data, 0),
      view_of(b_aux, tables.b_aux.data, tables.b_aux_rank.data, b_input.point_count)};
  segments_[kQueryB2] = segments_[kQueryB1];
  return lane.copy.synchronize();
}

template <class C>
base::Status LoadedCircuit<C>::load_matrices(const Context& context, Lane& lane,
                                             const Shape& shape) {
  if (!plan_.matrices_resident) return base::ok_status();
  CUZK_TRY(matrices_, context.allocate(stream_, matrix_bytes(shape),
                                       base::MemoryCategory::kMatrices, "matrices of a circuit"));
  CUZK_TRY_STATUS(stream_.synchronize());
  device::Arena arena(matrices_.buffer());
  const Matrices<Fr> matrices(arena, shape);
  for (int m = 0; m < 2; ++m) {
    const r1cs::SparseMatrix& matrix = m == 0 ? shape.a : shape.b;
    CUZK_TRY_STATUS(upload_all<std::uint64_t>(lane, matrices.row_begin[m], matrix.row_begin));
    CUZK_TRY_STATUS(upload_all<r1cs::Term>(lane, matrices.terms[m], matrix.terms));
    rows_[m].row_begin = matrices.row_begin[m].data;
    rows_[m].terms = matrices.terms[m].data;
  }
  return lane.copy.synchronize();
}

namespace {

// The inverse of the vanishing polynomial on the coset; one where the H query's points are divided
// by it already.
template <class F>
F vanishing_inverse(groth16::QapConvention convention, std::size_t size_log2, const F& shift) {
  if (convention == groth16::QapConvention::kOddCosetLagrange) return F::one();
  return (shift.pow(std::uint64_t{1} << size_log2) - F::one()).inverse();
}

}  // namespace

template <class C>
base::Result<std::shared_ptr<LoadedCircuit<C>>> LoadedCircuit<C>::load(
    const Context& context, Lane& lane, const std::shared_ptr<const Key>& key,
    const std::shared_ptr<const Shape>& shape, std::shared_ptr<const CircuitFacts<Fr>> facts,
    const ProofPart& part, const ProofPlan& plan, const std::stop_token& stop) {
  std::shared_ptr<LoadedCircuit> out(new LoadedCircuit(context.spares()));
  const Drain drain(lane.copy);  // before what was begun is dropped
  lane.load_stop = stop;
  struct EndOfLoad {
    Lane& lane;
    ~EndOfLoad() { lane.load_stop = {}; }
  } const end_of_load{lane};
  out->facts_ = std::move(facts);
  out->part_ = part;
  out->plan_ = plan;
  CUZK_TRY(out->stream_, device::Stream::create());
  CUZK_TRY_STATUS(out->load_tables(context, lane, *shape));
  if (part.forms_quotient) {
    CUZK_TRY(const auto roots, groth16::qap_roots<Fr>(key->convention, key->domain_log2));
    if (plan.evaluation_buffers > 0) {
      CUZK_TRY(out->transform_, poly::Transform<Fr>::create(out->stream_, key->domain_log2,
                                                            roots.omega, roots.shift));
    } else {
      const poly::TiledPlan tiles = {key->domain_log2, plan.vector_tile_log2, 0};
      CUZK_TRY(out->tiled_,
               poly::TiledTransform<Fr>::create(out->stream_, tiles, roots.omega, roots.shift));
    }
    CUZK_TRY_STATUS(out->stream_.synchronize());
    out->quotient_scale_ = vanishing_inverse(key->convention, key->domain_log2, roots.shift);
    CUZK_TRY_STATUS(out->load_matrices(context, lane, *shape));
  }
  const cuzk::msm::PointSource<typename C::G1>* sources[] = {&key->h, &key->l, &key->a, &key->b_g1};
  constexpr std::string_view kNames[] = {"H query", "L query", "A query", "B query in G1"};
  for (int q = 0; q < 4; ++q) {
    CUZK_TRY_STATUS(place_points<typename C::G1>(context, lane, out->stream_, *sources[q],
                                                 part.queries[q], plan.query_resident[q], kNames[q],
                                                 out->g1_[q]));
  }
  CUZK_TRY_STATUS(
      place_points<typename C::G2>(context, lane, out->stream_, key->b_g2, part.queries[kQueryB2],
                                   plan.query_resident[kQueryB2], "B query in G2", out->b_g2_));
  return out;
}

#define CUZK_CUDA_LOADED(C)                                                                  \
  template struct CircuitFacts<typename C::Fr>;                                              \
  template class LoadedCircuit<C>;                                                           \
  template std::uint64_t table_bytes(const r1cs::Shape<typename C::Fr>&,                     \
                                     const CircuitFacts<typename C::Fr>&);                   \
  template std::uint64_t matrix_bytes(const r1cs::Shape<typename C::Fr>&);                   \
  template base::Status upload_points(Lane&, const PointStore<typename C::G1>&, std::size_t, \
                                      std::size_t, cuzk::curve::Affine<typename C::G1>*);    \
  template base::Status upload_points(Lane&, const PointStore<typename C::G2>&, std::size_t, \
                                      std::size_t, cuzk::curve::Affine<typename C::G2>*);
CUZK_CUDA_LOADED(cuzk::curve::Bls12_381)
CUZK_CUDA_LOADED(cuzk::curve::Bn254)
#undef CUZK_CUDA_LOADED

}  // namespace cuzk::cuda::prove
