// Tiles by turns on two streams: while one is transformed, the other's copies run.
//
// Powers of the coset's shift are applied where coefficients are: before the first pass of a
// forward transform, after the last of an inverse one, tile by tile.
#include "cuda/poly/tiled.h"

#include "base/check.h"

namespace cuzk::cuda::poly {
// The whole domain's tables are made in any case: they hold the powers of the shift and of omega
// that belong between the two passes. They are small, as powers are split in two factors.
template <class F>
base::Result<TiledTransform<F>> TiledTransform<F>::create(const device::Stream& stream,
                                                          const TiledPlan& plan) {
  CUZK_ASSERT(plan.tile_log2 <= plan.size_log2);
  TiledTransform out;
  out.plan_ = plan;
  CUZK_TRY(out.whole_, Transform<F>::create(stream, plan.size_log2));
  if (plan.row_log2() == 0) return out;
  CUZK_TRY(out.row_, Transform<F>::create(stream, plan.tile_log2));
  return out;
}

// A row of C elements is transformed over the powers of omega^R. Its shift is of no account: the
// whole's powers of it are applied apart.
template <class F>
base::Result<TiledTransform<F>> TiledTransform<F>::create(const device::Stream& stream,
                                                          const TiledPlan& plan, const F& omega,
                                                          const F& shift) {
  CUZK_ASSERT(plan.tile_log2 <= plan.size_log2);
  TiledTransform out;
  out.plan_ = plan;
  CUZK_TRY(out.whole_, Transform<F>::create(stream, plan.size_log2, omega, shift));
  if (plan.row_log2() == 0) return out;
  F row_omega = omega;
  for (std::size_t i = 0; i < plan.row_log2(); ++i) row_omega = row_omega.squared();
  CUZK_TRY(out.row_, Transform<F>::create(stream, plan.tile_log2, row_omega, shift));
  return out;
}

template <class F>
base::Status TiledTransform<F>::forward(const std::array<const device::Stream*, 2>& streams,
                                        std::span<F> values, Order order, Points points,
                                        device::DeviceSpan<std::byte> scratch) const {
  return run({streams, values, {order, points, false}, scratch});
}

template <class F>
base::Status TiledTransform<F>::inverse(const std::array<const device::Stream*, 2>& streams,
                                        std::span<F> values, Order order, Points points,
                                        device::DeviceSpan<std::byte> scratch) const {
  return run({streams, values, {order, points, true}, scratch});
}

template <class F>
base::Status TiledTransform<F>::run(const Run& run) const {
  CUZK_ASSERT(run.values.size() == whole_.size() && run.scratch.size >= plan_.scratch_bytes);
  CUZK_ASSERT(run.streams[0] != nullptr && run.streams[1] != nullptr);
  const Kind& kind = run.kind;
  if (kind.order == Order::kNatural) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "a tiled transform from natural to natural order"};
  }
  // All of it fits: one tile, no second pass, and either order of the plain transform.
  if (plan_.row_log2() == 0) {
    const device::Stream& stream = *run.streams[0];
    const auto tile = tile_of(run, 0);
    CUZK_TRY_STATUS(device::upload<F>(stream, tile, run.values));
    CUZK_TRY_STATUS(kind.is_inverse ? whole_.inverse(stream, tile, kind.order, kind.points)
                                    : whole_.forward(stream, tile, kind.order, kind.points));
    CUZK_TRY_STATUS(device::download<F>(stream, run.values, tile));
    return stream.synchronize();
  }
  // The largest blocks come first on the way to reversed order and last on the way back. Between
  // the passes both streams are waited for: a tile of one pass meets all tiles of the other.
  const bool columns_first = kind.order == Order::kNaturalToReversed;
  for (const bool is_first : {true, false}) {
    CUZK_TRY_STATUS(is_first == columns_first ? run_columns(run) : run_rows(run));
    for (const device::Stream* stream : run.streams) CUZK_TRY_STATUS(stream->synchronize());
  }
  return base::ok_status();
}

// The block of scratch whose turn it is: 0 or 1. Its stream orders the upload of the next tile
// behind the download of the last, so no events are needed.
template <class F>
device::DeviceSpan<F> TiledTransform<F>::tile_of(const Run& run, std::size_t turn) const {
  const std::size_t count = tile_size();
  CUZK_ASSERT((turn + 1) * count * sizeof(F) <= run.scratch.size);
  return {reinterpret_cast<F*>(run.scratch.data) + turn * count, count};
}

template <class F>
ColumnTile TiledTransform<F>::tile_at(std::size_t first_column) const {
  CUZK_ASSERT(plan_.row_log2() > 0 && first_column + column_width() <= tile_size());
  return {static_cast<int>(plan_.row_log2()), static_cast<int>(plan_.tile_log2 - plan_.row_log2()),
          first_column};
}

// As many rows as the matrix, each a run of column_width() elements on the host's side.
template <class F>
base::Status TiledTransform<F>::upload_columns(const device::Stream& stream,
                                               device::DeviceSpan<F> tile, const F* values,
                                               std::size_t first_column) const {
  const std::size_t width_bytes = column_width() * sizeof(F);
  CUZK_ASSERT(tile.size == tile_size() && first_column + column_width() <= tile_size());
  return device::copy_rows_to_device(
      stream, tile.data, values + first_column,
      {row_count(), width_bytes, width_bytes, tile_size() * sizeof(F)});
}

template <class F>
base::Status TiledTransform<F>::download_columns(const device::Stream& stream, F* values,
                                                 device::DeviceSpan<F> tile,
                                                 std::size_t first_column) const {
  const std::size_t width_bytes = column_width() * sizeof(F);
  CUZK_ASSERT(tile.size == tile_size() && first_column + column_width() <= tile_size());
  return device::copy_rows_to_host(
      stream, values + first_column, tile.data,
      {row_count(), width_bytes, tile_size() * sizeof(F), width_bytes});
}

// Coefficients come in natural order or leave in it: here only their columns are whole.
template <class F>
base::Status TiledTransform<F>::transform_columns(const device::Stream& stream,
                                                  device::DeviceSpan<F> tile,
                                                  std::size_t first_column,
                                                  const Kind& kind) const {
  const bool to_reversed = kind.order == Order::kNaturalToReversed;
  const bool is_coset = kind.points == Points::kCoset;
  const ColumnTile where = tile_at(first_column);
  if (is_coset && !kind.is_inverse && to_reversed) {
    CUZK_TRY_STATUS(whole_.scale_columns(stream, tile, where, false));
  }
  CUZK_TRY_STATUS(
      whole_.transform_columns(stream, tile, where, to_reversed, kind.is_inverse, kind.points));
  if (!is_coset || !kind.is_inverse || to_reversed) return base::ok_status();
  return whole_.scale_columns(stream, tile, where, true);
}

// A plain transform of the row's length. The coset's shift is not the row's own, so the row's
// transform is over the domain and the scaling comes apart: coefficients in reversed order are
// those whose reversed indices are the row's.
template <class F>
base::Status TiledTransform<F>::transform_row(const device::Stream& stream,
                                              device::DeviceSpan<F> tile, std::size_t first,
                                              const Kind& kind) const {
  const bool to_reversed = kind.order == Order::kNaturalToReversed;
  const bool is_coset = kind.points == Points::kCoset;
  CUZK_ASSERT(tile.size == tile_size() && first % tile_size() == 0);
  if (is_coset && !kind.is_inverse && !to_reversed) {
    CUZK_TRY_STATUS(whole_.scale_reversed(stream, tile, first, false));
  }
  CUZK_TRY_STATUS(kind.is_inverse ? row_.inverse(stream, tile, kind.order)
                                  : row_.forward(stream, tile, kind.order));
  if (!is_coset || !kind.is_inverse || !to_reversed) return base::ok_status();
  return whole_.scale_reversed(stream, tile, first, true);
}

template <class F>
base::Status TiledTransform<F>::run_columns(const Run& run) const {
  for (std::size_t first = 0, turn = 0; first < tile_size();
       first += column_width(), turn = 1 - turn) {
    const device::Stream& stream = *run.streams[turn];
    const auto tile = tile_of(run, turn);
    CUZK_TRY_STATUS(upload_columns(stream, tile, run.values.data(), first));
    CUZK_TRY_STATUS(transform_columns(stream, tile, first, run.kind));
    CUZK_TRY_STATUS(download_columns(stream, run.values.data(), tile, first));
  }
  return base::ok_status();
}

// Each row is a tile: one copy up, one copy down.
template <class F>
base::Status TiledTransform<F>::run_rows(const Run& run) const {
  for (std::size_t first = 0, turn = 0; first < run.values.size();
       first += tile_size(), turn = 1 - turn) {
    const device::Stream& stream = *run.streams[turn];
    const auto tile = tile_of(run, turn);
    const auto on_host = run.values.subspan(first, tile_size());
    CUZK_TRY_STATUS(device::upload<F>(stream, tile, on_host));
    CUZK_TRY_STATUS(transform_row(stream, tile, first, run.kind));
    CUZK_TRY_STATUS(device::download<F>(stream, on_host, tile));
  }
  return base::ok_status();
}

template class TiledTransform<cuzk::field::bls12_381::Fr>;
template class TiledTransform<cuzk::field::bn254::Fr>;

}  // namespace cuzk::cuda::poly
