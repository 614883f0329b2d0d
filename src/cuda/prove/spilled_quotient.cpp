// Everything here queues on the lane's two streams; what waits says so.
//
// In tiles the streams take turns, each with tiles of its own, so that copies of one run beside
// kernels on the other and no events are needed inside a pass. Between passes both are waited for:
// a tile of columns meets all rows.
#include "cuda/prove/spilled_quotient.h"

#include "base/check.h"

namespace cuzk::cuda::prove {

using poly::Order;
using poly::Points;

// use(part of `values`, the same part of the host's vector on the device) for all parts: by turns
// they come up on the copy stream, beside the kernels that read the part before.
template <class C>
template <class Use>
base::Status SpilledQuotient<C>::meet_host(const EvaluationArrays& arrays,
                                           device::DeviceSpan<Fr> values, const Use& use) const {
  const std::span<Fr> on_host = host.values<Fr>(0);
  const std::size_t part = elements_of<Fr>(arrays.turns[0].vectors[0]).size;
  CUZK_ASSERT(on_host.size() == values.size && part > 0);
  // The vector came down on the compute stream.
  CUZK_TRY_STATUS(lane.compute.record(host.free[0]));
  CUZK_TRY_STATUS(lane.copy.wait(host.free[0]));
  unsigned turn = 0;
  for (std::size_t first = 0; first < values.size; first += part, turn = 1 - turn) {
    const std::size_t count = std::min(part, values.size - first);
    const auto place = elements_of<Fr>(arrays.turns[turn].vectors[0]).first(count);
    CUZK_TRY_STATUS(lane.copy.wait(host.free[turn]));
    CUZK_TRY_STATUS(device::upload<Fr>(lane.copy, place, on_host.subspan(first, count)));
    CUZK_TRY_STATUS(lane.copy.record(host.filled[turn]));
    CUZK_TRY_STATUS(lane.compute.wait(host.filled[turn]));
    CUZK_TRY_STATUS(use(values.subset(first, count), reading(place)));
    CUZK_TRY_STATUS(lane.compute.record(host.free[turn]));
  }
  return base::ok_status();
}

// Only one vector is ever on the host: the coset's a, then their product or its coefficients.
template <class C>
base::Status SpilledQuotient<C>::form_on_device(const EvaluationArrays& arrays) const {
  const auto& transform = circuit.transform();
  const auto x = elements_of<Fr>(arrays.values[0]);
  const std::span<Fr> on_host = host.values<Fr>(0);
  CUZK_TRY_STATUS(rows.evaluate(lane.compute, 0, 0, x, arrays.tile));
  CUZK_TRY_STATUS(to_coset(transform, lane.compute, x));
  CUZK_TRY_STATUS(device::download<Fr>(lane.compute, on_host, x));
  CUZK_TRY_STATUS(control.check("transforms"));
  CUZK_TRY_STATUS(rows.evaluate(lane.compute, 1, 0, x, arrays.tile));
  CUZK_TRY_STATUS(to_coset(transform, lane.compute, x));
  CUZK_TRY_STATUS(meet_host(arrays, x, [&](device::DeviceSpan<Fr> b, auto a) {
    return multiply_pointwise<Fr>(lane.compute, b, a);
  }));
  if (has_coefficients()) {
    CUZK_TRY_STATUS(transform.inverse(lane.compute, x, Order::kNaturalToReversed, Points::kCoset));
  }
  CUZK_TRY_STATUS(device::download<Fr>(lane.compute, on_host, x));
  CUZK_TRY_STATUS(control.check("transforms"));
  // c = a b on the domain.
  CUZK_TRY_STATUS(rows.evaluate(lane.compute, 0, 0, x, arrays.tile));
  CUZK_TRY_STATUS(rows.evaluate(lane.compute, 1, 0, x, arrays.tile, RowUse::kMultiplyInto));
  CUZK_TRY_STATUS(transform.inverse(lane.compute, x, Order::kNaturalToReversed));
  if (!has_coefficients()) {
    CUZK_TRY_STATUS(transform.forward(lane.compute, x, Order::kReversedToNatural, Points::kCoset));
  }
  // (product - c) scale = (c - product) (-scale): the device's vector is the one that changes.
  const Fr negated = -circuit.quotient_scale();
  CUZK_TRY_STATUS(meet_host(arrays, x, [&](device::DeviceSpan<Fr> c, auto product) {
    return quotient_integers<Fr>(lane.compute, c, product, negated);
  }));
  return has_coefficients() ? transform.reverse_order(lane.compute, x) : base::ok_status();
}

// work(stream, the turn's arrays, first column) for all tiles of columns.
template <class C>
template <class Work>
base::Status SpilledQuotient<C>::each_tile(const EvaluationArrays& arrays, const Work& work) const {
  const auto& tiled = circuit.tiled();
  unsigned turn = 0;
  for (std::size_t first = 0; first < tiled.tile_size(); first += tiled.column_width()) {
    CUZK_TRY_STATUS(work(stream_of(turn), arrays.turns[turn], first));
    CUZK_TRY_STATUS(control.check("transforms"));
    turn = 1 - turn;
  }
  CUZK_TRY_STATUS(lane.compute.synchronize());
  return lane.copy.synchronize();
}

// The same for all rows: work(stream, the turn's arrays, first element).
template <class C>
template <class Work>
base::Status SpilledQuotient<C>::each_row(const EvaluationArrays& arrays, const Work& work) const {
  const auto& tiled = circuit.tiled();
  return each_tile(arrays, [&](const device::Stream& stream, const auto& turn, std::size_t first) {
    return work(stream, turn, first / tiled.column_width() * tiled.tile_size());
  });
}

// The rows of a tile of columns: of both matrices to the turn's two tiles, or the rows' products to
// the second.
template <class C>
base::Status SpilledQuotient<C>::evaluate_tile(const device::Stream& stream,
                                               const EvaluationArrays::Turn& turn,
                                               std::size_t first, bool is_product) const {
  const auto& tiled = circuit.tiled();
  const std::size_t width = tiled.column_width();
  for (std::size_t row = 0; row < tiled.row_count(); ++row) {
    for (const int m : {0, 1}) {
      const auto run = elements_of<Fr>(turn.vectors[is_product ? 1 : m]).subset(row * width, width);
      const RowUse use = is_product && m == 1 ? RowUse::kMultiplyInto : RowUse::kStore;
      CUZK_TRY_STATUS(
          rows.evaluate(stream, m, row * tiled.tile_size() + first, run, turn.matrix_tile, use));
    }
  }
  return base::ok_status();
}

// Evaluation and the inverse transforms' columns: a and b to the host's two vectors, or a b to the
// second.
template <class C>
base::Status SpilledQuotient<C>::form_columns(const EvaluationArrays& arrays,
                                              bool is_product) const {
  const auto& tiled = circuit.tiled();
  const Kind inverse = {Order::kNaturalToReversed, Points::kDomain, true};
  return each_tile(
      arrays,
      [&](const device::Stream& stream, const EvaluationArrays::Turn& turn,
          std::size_t first) -> base::Status {
        CUZK_TRY_STATUS(evaluate_tile(stream, turn, first, is_product));
        for (unsigned i = is_product ? 1 : 0; i < 2; ++i) {
          const auto tile = elements_of<Fr>(turn.vectors[i]);
          CUZK_TRY_STATUS(tiled.transform_columns(stream, tile, first, inverse));
          CUZK_TRY_STATUS(tiled.download_columns(stream, host.values<Fr>(i).data(), tile, first));
        }
        return base::ok_status();
      });
}

// Vectors [first, last): the rest of the inverse transforms, the rows of those to the coset.
template <class C>
base::Status SpilledQuotient<C>::rows_to_coset(const EvaluationArrays& arrays, unsigned first,
                                               unsigned last) const {
  const auto& tiled = circuit.tiled();
  const Kind inverse = {Order::kNaturalToReversed, Points::kDomain, true};
  const Kind forward = {Order::kReversedToNatural, Points::kCoset, false};
  return each_row(arrays,
                  [&](const device::Stream& stream, const EvaluationArrays::Turn& turn,
                      std::size_t at) -> base::Status {
                    for (unsigned i = first; i < last; ++i) {
                      const auto tile = elements_of<Fr>(turn.vectors[i]);
                      const auto on_host = host.values<Fr>(i).subspan(at, tile.size);
                      CUZK_TRY_STATUS(device::upload<Fr>(stream, tile, on_host));
                      CUZK_TRY_STATUS(tiled.transform_row(stream, tile, at, inverse));
                      CUZK_TRY_STATUS(tiled.transform_row(stream, tile, at, forward));
                      CUZK_TRY_STATUS(device::download<Fr>(stream, on_host, tile));
                    }
                    return base::ok_status();
                  });
}

// a and b come to the coset and become their product, whose inverse transform begins where the
// scalars are coefficients.
template <class C>
base::Status SpilledQuotient<C>::multiply_columns(const EvaluationArrays& arrays) const {
  const auto& tiled = circuit.tiled();
  const Kind forward = {Order::kReversedToNatural, Points::kCoset, false};
  const Kind inverse = {Order::kNaturalToReversed, Points::kCoset, true};
  return each_tile(
      arrays,
      [&](const device::Stream& stream, const EvaluationArrays::Turn& turn,
          std::size_t first) -> base::Status {
        const auto a = elements_of<Fr>(turn.vectors[0]), b = elements_of<Fr>(turn.vectors[1]);
        for (unsigned i = 0; i < 2; ++i) {
          const auto tile = elements_of<Fr>(turn.vectors[i]);
          CUZK_TRY_STATUS(tiled.upload_columns(stream, tile, host.values<Fr>(i).data(), first));
          CUZK_TRY_STATUS(tiled.transform_columns(stream, tile, first, forward));
        }
        CUZK_TRY_STATUS(multiply_pointwise<Fr>(stream, a, reading(b)));
        if (has_coefficients()) {
          CUZK_TRY_STATUS(tiled.transform_columns(stream, a, first, inverse));
        }
        return tiled.download_columns(stream, host.values<Fr>(0).data(), a, first);
      });
}

// Coefficients: the rest of both inverse transforms, and the scalars of each row.
template <class C>
base::Status SpilledQuotient<C>::finish_rows(const EvaluationArrays& arrays) const {
  const auto& tiled = circuit.tiled();
  return each_row(
      arrays,
      [&](const device::Stream& stream, const EvaluationArrays::Turn& turn,
          std::size_t at) -> base::Status {
        const auto product = elements_of<Fr>(turn.vectors[0]), c = elements_of<Fr>(turn.vectors[1]);
        for (unsigned i = 0; i < 2; ++i) {
          const Kind inverse = {Order::kNaturalToReversed,
                                i == 0 ? Points::kCoset : Points::kDomain, true};
          const auto tile = elements_of<Fr>(turn.vectors[i]);
          CUZK_TRY_STATUS(
              device::upload<Fr>(stream, tile, host.values<Fr>(i).subspan(at, tile.size)));
          CUZK_TRY_STATUS(tiled.transform_row(stream, tile, at, inverse));
        }
        CUZK_TRY_STATUS(
            quotient_integers<Fr>(stream, product, reading(c), circuit.quotient_scale()));
        CUZK_TRY_STATUS(tiled.reverse_row(stream, product));
        return device::download<Fr>(stream, host.values<Fr>(0).subspan(at, product.size), product);
      });
}

// Values on the coset: c comes there, and meets the product.
template <class C>
base::Status SpilledQuotient<C>::finish_columns(const EvaluationArrays& arrays) const {
  const auto& tiled = circuit.tiled();
  const Kind forward = {Order::kReversedToNatural, Points::kCoset, false};
  return each_tile(
      arrays,
      [&](const device::Stream& stream, const EvaluationArrays::Turn& turn,
          std::size_t first) -> base::Status {
        const auto product = elements_of<Fr>(turn.vectors[0]), c = elements_of<Fr>(turn.vectors[1]);
        CUZK_TRY_STATUS(tiled.upload_columns(stream, product, host.values<Fr>(0).data(), first));
        CUZK_TRY_STATUS(tiled.upload_columns(stream, c, host.values<Fr>(1).data(), first));
        CUZK_TRY_STATUS(tiled.transform_columns(stream, c, first, forward));
        CUZK_TRY_STATUS(
            quotient_integers<Fr>(stream, product, reading(c), circuit.quotient_scale()));
        return tiled.download_columns(stream, host.values<Fr>(0).data(), product, first);
      });
}

template <class C>
base::Status SpilledQuotient<C>::form_on_host(const EvaluationArrays& arrays) const {
  // The witness came on the compute stream, and the other stream reads it too.
  CUZK_TRY_STATUS(lane.compute.synchronize());
  CUZK_TRY_STATUS(form_columns(arrays, false));
  CUZK_TRY_STATUS(rows_to_coset(arrays, 0, 2));
  CUZK_TRY_STATUS(multiply_columns(arrays));
  CUZK_TRY_STATUS(form_columns(arrays, true));
  if (has_coefficients()) {
    CUZK_TRY_STATUS(finish_rows(arrays));
  } else {
    CUZK_TRY_STATUS(rows_to_coset(arrays, 1, 2));
    CUZK_TRY_STATUS(finish_columns(arrays));
  }
  host.release(1);
  return base::ok_status();
}

// Of each row of tiles the run that has what is asked for, with up to an element more at its ends.
template <class C>
base::Status SpilledQuotient<C>::bring_scalars(const QuotientArrays& arrays, std::size_t first,
                                               std::size_t count) const {
  const std::span<Fr> on_host = host.values<Fr>(0);
  const auto scalars = elements_of<Fr>(arrays.scalars).first(count);
  CUZK_ASSERT(first + count <= on_host.size());
  if (count == 0) return base::ok_status();
  if (!has_coefficients()) {
    return device::upload<Fr>(lane.compute, scalars, on_host.subspan(first, count));
  }
  const auto& tiled = circuit.tiled();
  InterleavedRows layout;
  layout.row_log2 = static_cast<int>(tiled.plan().row_log2());
  layout.first_in_row = first >> layout.row_log2;
  layout.width = ((first + count - 1) >> layout.row_log2) + 1 - layout.first_in_row;
  const auto raw = elements_of<Fr>(arrays.raw_scalars).first(layout.width << layout.row_log2);
  const std::size_t width_bytes = layout.width * sizeof(Fr);
  CUZK_TRY_STATUS(device::copy_rows_to_device(
      lane.compute, raw.data, on_host.data() + layout.first_in_row,
      {tiled.row_count(), width_bytes, width_bytes, tiled.tile_size() * sizeof(Fr)}));
  return gather_rows<Fr>(lane.compute, reading(raw), layout, first, scalars);
}

template struct SpilledQuotient<cuzk::curve::Bls12_381>;
template struct SpilledQuotient<cuzk::curve::Bn254>;

}  // namespace cuzk::cuda::prove
