// Rows of a circuit's matrices times a witness, and the pointwise steps of the quotient, on a
// device.
//
// Everything is queued on the stream; nothing is allocated. F is a host field; its elements lie on
// the device as they lie on the host.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/prove/witness_view.h"

namespace cuzk::cuda::prove {

// The stored rows of a block, or of a part of it, on the device. Stored row block.first + i owns
// the terms [row_begin[i], row_begin[i + 1]) less first_term of `terms`. Rows of more than kLongRow
// terms are listed in `long_rows`, by their numbers among all stored ones.
struct MatrixRows {
  const std::uint64_t* row_begin = nullptr;
  const r1cs::Term* terms = nullptr;
  std::uint64_t first_term = 0;
  RowBlock block;
  const std::uint32_t* long_rows = nullptr;
  std::uint32_t long_row_count = 0;
};

// Longer rows are shared by the lanes of a warp: one thread would hold up its warp for their
// length.
inline constexpr std::uint64_t kLongRow = 32;

// What becomes of a row's value. The second forms c = a b in place, where there is no third buffer.
enum class RowUse { kStore, kMultiplyInto };

// out[r] = <row r, witness>, or out[r] *= it, for the rows r that `rows` stands for; `out` is the
// vector of all rows. At most 65535 copies a block.
template <class F>
base::Status evaluate_rows(const device::Stream& stream, const WitnessView<F>& witness,
                           const F* coefficients, const MatrixRows& rows, RowUse use, F* out);

// a[i] *= b[i]. Here and below sizes are equal, and the results are the host's, bit for bit.
template <class F>
base::Status multiply_pointwise(const device::Stream& stream, device::DeviceSpan<F> a,
                                device::DeviceSpan<const F> b);
// out[i] = a[i] * b[i].
template <class F>
base::Status multiply_into(const device::Stream& stream, device::DeviceSpan<F> out,
                           device::DeviceSpan<const F> a, device::DeviceSpan<const F> b);
// product[i] = the plain integer of (product[i] - c[i]) * scale: the scalars of the H query.
template <class F>
base::Status quotient_integers(const device::Stream& stream, device::DeviceSpan<F> product,
                               device::DeviceSpan<const F> c, const F& scale);

// How a run of a vector's elements comes from the host where transforms in tiles have left it:
// element j 2^row_log2 + q of the vector is element j of row reversed(q), a run of `width` elements
// from element first_in_row on of each row.
struct InterleavedRows {
  int row_log2 = 0;
  std::size_t first_in_row = 0, width = 0;
};
// out[i] = element first + i of the vector, from its rows' runs, one after the other in `rows`.
template <class F>
base::Status gather_rows(const device::Stream& stream, device::DeviceSpan<const F> rows,
                         const InterleavedRows& layout, std::size_t first,
                         device::DeviceSpan<F> out);

}  // namespace cuzk::cuda::prove
