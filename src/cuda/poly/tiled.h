// Transforms of vectors that lie on the host and do not fit the device: two passes over tiles.
//
// With n = R C the vector is a matrix of R rows. One pass does the log2 R levels on the largest
// blocks, on tiles of neighbouring columns, the other transforms each row by itself; a tile of
// either has C elements (docs/math/cuda_ntt.md). Each pass brings every element up and down once,
// so the bus bounds the time. Two tiles are in flight, on a stream each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/poly/ntt.h"
#include "cuda/poly/tiled_plan.h"

namespace cuzk::cuda::poly {

// plan_tiles for elements of F; the plan of create() below.
template <class F>
TiledPlan plan_tiled(std::size_t size_log2, std::uint64_t scratch_bytes_max) {
  return plan_tiles(size_log2, sizeof(F), scratch_bytes_max);
}

// The tables of both passes on the current device; immutable after creation, so several threads may
// run it, each with streams and scratch of its own.
template <class F>
class TiledTransform {
 public:
  // The domain of Transform::create(stream, size_log2). Tables take about 20 MiB.
  static base::Result<TiledTransform> create(const device::Stream& stream, const TiledPlan& plan);
  // The domain and the coset of Transform::create(stream, size_log2, omega, shift).
  static base::Result<TiledTransform> create(const device::Stream& stream, const TiledPlan& plan,
                                             const F& omega, const F& shift);

  const TiledPlan& plan() const noexcept { return plan_; }
  const Transform<F>& whole() const noexcept { return whole_; }

  // As Transform's, for `values` on the host (pinned for speed), from natural to reversed order or
  // back; kUnsupported for Order::kNatural. `scratch` holds plan.scratch_bytes. Uses both streams
  // and waits for them.
  base::Status forward(const std::array<const device::Stream*, 2>& streams, std::span<F> values,
                       Order order, Points points, device::DeviceSpan<std::byte> scratch) const;
  base::Status inverse(const std::array<const device::Stream*, 2>& streams, std::span<F> values,
                       Order order, Points points, device::DeviceSpan<std::byte> scratch) const;

  // The steps, where there are rows (row_log2() > 0); of tiles of tile_size() elements, queued.
  std::size_t row_count() const noexcept { return std::size_t{1} << plan_.row_log2(); }
  std::size_t tile_size() const noexcept { return std::size_t{1} << plan_.tile_log2; }
  // Neighbouring columns of a tile; there are row_count() tiles of either kind.
  std::size_t column_width() const noexcept { return tile_size() >> plan_.row_log2(); }
  // Columns from `first_column` on between a tile and the whole vector at `values`.
  base::Status upload_columns(const device::Stream& stream, device::DeviceSpan<F> tile,
                              const F* values, std::size_t first_column) const;
  base::Status download_columns(const device::Stream& stream, F* values, device::DeviceSpan<F> tile,
                                std::size_t first_column) const;
  // What a transform in `order` does to the tile of columns, and to the row whose first element is
  // number `first` of the vector. Inverse transforms over the domain and over the coset are those
  // of Transform only when both steps are of the same kind.
  struct Kind {
    Order order = Order::kNaturalToReversed;
    Points points = Points::kDomain;
    bool is_inverse = false;
  };
  base::Status transform_columns(const device::Stream& stream, device::DeviceSpan<F> tile,
                                 std::size_t first_column, const Kind& kind) const;
  base::Status transform_row(const device::Stream& stream, device::DeviceSpan<F> tile,
                             std::size_t first, const Kind& kind) const;
  // Reverses a row by itself: element j R + q of a vector that was in reversed order is then
  // element j of row reversed(q), with R = row_count().
  base::Status reverse_row(const device::Stream& stream, device::DeviceSpan<F> tile) const {
    return row_.reverse_order(stream, tile);
  }

 private:
  // One run: what the passes share.
  struct Run {
    std::array<const device::Stream*, 2> streams;
    std::span<F> values;
    Kind kind;
    device::DeviceSpan<std::byte> scratch;
  };
  ColumnTile tile_at(std::size_t first_column) const;
  base::Status run(const Run& run) const;
  base::Status run_columns(const Run& run) const;
  base::Status run_rows(const Run& run) const;
  device::DeviceSpan<F> tile_of(const Run& run, std::size_t turn) const;

  TiledPlan plan_;
  Transform<F> whole_, row_;  // of 2^size_log2 and of 2^tile_log2; no row_ where one tile holds all
};

extern template class TiledTransform<cuzk::field::bls12_381::Fr>;
extern template class TiledTransform<cuzk::field::bn254::Fr>;

}  // namespace cuzk::cuda::poly
