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

template <class F>
base::Status TiledTransform<F>::forward(const std::array<const device::Stream*, 2>& streams,
                                        std::span<F> values, Order order, Points points,
                                        device::DeviceSpan<std::byte> scratch) const {
  return run({streams, values, order, points, false, scratch});
}

template <class F>
base::Status TiledTransform<F>::inverse(const std::array<const device::Stream*, 2>& streams,
                                        std::span<F> values, Order order, Points points,
                                        device::DeviceSpan<std::byte> scratch) const {
  return run({streams, values, order, points, true, scratch});
}

template <class F>
base::Status TiledTransform<F>::run(const Run& run) const {
  CUZK_ASSERT(run.values.size() == whole_.size() && run.scratch.size >= plan_.scratch_bytes);
  CUZK_ASSERT(run.streams[0] != nullptr && run.streams[1] != nullptr);
  if (run.order == Order::kNatural) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "a tiled transform from natural to natural order"};
  }
  // All of it fits: one tile, no second pass, and either order of the plain transform.
  if (plan_.row_log2() == 0) {
    const device::Stream& stream = *run.streams[0];
    const auto tile = tile_of(run, 0);
    CUZK_TRY_STATUS(device::upload<F>(stream, tile, run.values));
    CUZK_TRY_STATUS(run.is_inverse ? whole_.inverse(stream, tile, run.order, run.points)
                                   : whole_.forward(stream, tile, run.order, run.points));
    CUZK_TRY_STATUS(device::download<F>(stream, run.values, tile));
    return stream.synchronize();
  }
  // The largest blocks come first on the way to reversed order and last on the way back. Between
  // the passes both streams are waited for: a tile of one pass meets all tiles of the other.
  const bool columns_first = run.order == Order::kNaturalToReversed;
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
  const std::size_t count = std::size_t{1} << plan_.tile_log2;
  CUZK_ASSERT((turn + 1) * count * sizeof(F) <= run.scratch.size);
  return {reinterpret_cast<F*>(run.scratch.data) + turn * count, count};
}

// Tiles of 2^(tile_log2 - row_log2) neighbouring columns: the copies have as many rows as the
// matrix, each a run of `width` elements on the host's side.
template <class F>
base::Status TiledTransform<F>::run_columns(const Run& run) const {
  const std::size_t rows = std::size_t{1} << plan_.row_log2();
  const std::size_t columns = std::size_t{1} << plan_.tile_log2;
  const bool to_reversed = run.order == Order::kNaturalToReversed;
  const bool is_coset = run.points == Points::kCoset;
  ColumnTile tile;
  tile.row_log2 = static_cast<int>(plan_.row_log2());
  tile.width_log2 = static_cast<int>(plan_.tile_log2 - plan_.row_log2());
  const std::size_t width = std::size_t{1} << tile.width_log2;
  CUZK_ASSERT(rows * columns == run.values.size() && rows * width == columns);
  for (std::size_t first = 0, turn = 0; first < columns; first += width, turn = 1 - turn) {
    const device::Stream& stream = *run.streams[turn];
    const auto on_device = tile_of(run, turn);
    tile.first_column = first;
    CUZK_TRY_STATUS(device::copy_rows_to_device(
        stream, on_device.data, run.values.data() + first,
        {rows, width * sizeof(F), width * sizeof(F), columns * sizeof(F)}));
    // Coefficients come in natural order or leave in it: here only their columns are whole.
    if (is_coset && !run.is_inverse && to_reversed) {
      CUZK_TRY_STATUS(whole_.scale_columns(stream, on_device, tile, false));
    }
    CUZK_TRY_STATUS(
        whole_.transform_columns(stream, on_device, tile, to_reversed, run.is_inverse, run.points));
    if (is_coset && run.is_inverse && !to_reversed) {
      CUZK_TRY_STATUS(whole_.scale_columns(stream, on_device, tile, true));
    }
    CUZK_TRY_STATUS(device::copy_rows_to_host(
        stream, run.values.data() + first, on_device.data,
        {rows, width * sizeof(F), columns * sizeof(F), width * sizeof(F)}));
  }
  return base::ok_status();
}

// Each row is a tile: one copy up, a plain transform of its length, one copy down. The coset's
// shift is not the row's own, so the row's transform is over the domain and the scaling comes
// apart.
template <class F>
base::Status TiledTransform<F>::run_rows(const Run& run) const {
  const std::size_t columns = std::size_t{1} << plan_.tile_log2;
  const bool to_reversed = run.order == Order::kNaturalToReversed;
  const bool is_coset = run.points == Points::kCoset;
  for (std::size_t first = 0, turn = 0; first < run.values.size();
       first += columns, turn = 1 - turn) {
    const device::Stream& stream = *run.streams[turn];
    const auto tile = tile_of(run, turn);
    const auto on_host = run.values.subspan(first, columns);
    CUZK_TRY_STATUS(device::upload<F>(stream, tile, on_host));
    // Coefficients in reversed order: those of a row lie at reversed indices.
    if (is_coset && !run.is_inverse && !to_reversed) {
      CUZK_TRY_STATUS(whole_.scale_reversed(stream, tile, first, false));
    }
    CUZK_TRY_STATUS(run.is_inverse ? row_.inverse(stream, tile, run.order)
                                   : row_.forward(stream, tile, run.order));
    if (is_coset && run.is_inverse && to_reversed) {
      CUZK_TRY_STATUS(whole_.scale_reversed(stream, tile, first, true));
    }
    CUZK_TRY_STATUS(device::download<F>(stream, on_host, tile));
  }
  return base::ok_status();
}

template class TiledTransform<cuzk::field::bls12_381::Fr>;
template class TiledTransform<cuzk::field::bn254::Fr>;

}  // namespace cuzk::cuda::poly
