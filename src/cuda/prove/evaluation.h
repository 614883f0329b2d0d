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


// Rows [first_row, first_row + row_count) of one matrix. Row r owns the terms
// [row_begin[r - first_row], row_begin[r - first_row + 1]) less first_term of `terms`. Rows of more
// than kLongRow terms are listed in `long_rows` (absolute numbers).
struct MatrixRows {
  const std::uint64_t* row_begin = nullptr;
  const r1cs::Term* terms = nullptr;
  std::uint64_t first_term = 0;
  std::uint64_t first_row = 0, row_count = 0;
  const std::uint32_t* long_rows = nullptr;
  std::uint32_t long_row_count = 0;
};

// Longer rows are shared by the lanes of a warp.
inline constexpr std::uint64_t kLongRow = 32;

// What becomes of a row's value.
enum class RowUse { kStore, kMultiplyInto };

// out[r] = <row r, witness>, or out[r] *= it, for the rows of `rows`; `out` is the whole vector.
template <class F>
base::Status evaluate_rows(const device::Stream& stream, const WitnessView<F>& witness,
                           const F* coefficients, const MatrixRows& rows, RowUse use, F* out);

// a[i] *= b[i].
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

}  // namespace cuzk::cuda::prove
