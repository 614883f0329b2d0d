// Number-theoretic transforms on a device, in place, for 2^0 to 2^28 elements.
//
// values[i] = sum_j coefficients[j] x_i^j at the points x_i = s omega^i, with s = 1 or the coset
// shift. Reversed order is bit reversal of the index. Forward transforms from natural to reversed
// order and back from reversed to natural need no permutation; kNatural on both sides costs one
// more pass. docs/math/cuda_ntt.md counts products and bytes.
#pragma once

#include <array>
#include <cstddef>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/poly/ntt_policy.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::cuda::poly {

// How elements lie before and after.
enum class Order { kNaturalToReversed, kReversedToNatural, kNatural };
// Where polynomials are evaluated: s = 1, or the coset shift.
enum class Points { kDomain, kCoset };

// A tile of a larger transform's matrix (tiled.h): 2^width_log2 neighbouring columns of 2^row_log2
// rows, row after row, from column first_column on.
struct ColumnTile {
  int row_log2 = 0, width_log2 = 0;
  std::size_t first_column = 0;
};

// The tables of one domain on the current device; immutable after creation, so any number of
// streams and threads may use them. F is a host field. create() queues the filling on its stream:
// others wait for that stream before their first use.
template <class F>
class Transform {
 public:
  // omega has the exact order 2^size_log2. kUnsupported above 2^28 or the field's two-adicity.
  static base::Result<Transform> create(const device::Stream& stream, std::size_t size_log2,
                                        const F& omega, const F& shift,
                                        const NttPolicy& policy = {});
  // omega from the field's two-adic root, the shift its generator.
  static base::Result<Transform> create(const device::Stream& stream, std::size_t size_log2);

  std::size_t size() const noexcept { return std::size_t{1} << size_log2_; }
  std::uint64_t table_bytes() const noexcept { return tables_.size_bytes(); }

  // Coefficients to values, and back. values.size == size(). Queued on the stream.
  base::Status forward(const device::Stream& stream, device::DeviceSpan<F> values, Order order,
                       Points points = Points::kDomain) const;
  base::Status inverse(const device::Stream& stream, device::DeviceSpan<F> values, Order order,
                       Points points = Points::kDomain) const;
  // Swaps each element with the one at the bit-reversed index.
  base::Status reverse_order(const device::Stream& stream, device::DeviceSpan<F> values) const;

  // Steps of a tiled transform of this domain (tiled.h), on tiles alone.
  // The row_log2 levels on the largest blocks. An inverse one divides by 2^row_log2, or over the
  // coset multiplies by the length of a row, which the scaling will divide by once too often.
  base::Status transform_columns(const device::Stream& stream, device::DeviceSpan<F> values,
                                 const ColumnTile& tile, bool to_reversed, bool is_inverse,
                                 Points points) const;
  // Multiplies by the powers of the shift that belong to the elements' indices, or by their
  // inverses over the size: of a tile of columns, or of a run in reversed order from index `first`
  // on.
  base::Status scale_columns(const device::Stream& stream, device::DeviceSpan<F> values,
                             const ColumnTile& tile, bool is_inverse) const;
  base::Status scale_reversed(const device::Stream& stream, device::DeviceSpan<F> values,
                              std::size_t first, bool is_inverse) const;

 private:
  // Powers of omega or its inverse. Twiddles of blocks above the direct table's order are products
  // of one low and one high power.
  struct Side {
    // Views of tables_. `direct` is there always; low and high are null where it reaches all
    // orders.
    F *roots = nullptr, *direct = nullptr, *low = nullptr, *high = nullptr;
    F* high_scaled = nullptr;  // high / size, for inverse transforms
    F *coset_low = nullptr, *coset_high = nullptr;
    std::array<F, 3> eighth = {};  // EighthRoots (radix8.h)
  };
  // The tables of one direction, taken in one order; called twice, to count and to take.
  Side take_side(device::Arena& arena, bool is_inverse) const;
  base::Status scale(const device::Stream& stream, device::DeviceSpan<F> values,
                     const ColumnTile& tile, bool is_reversed, bool is_inverse) const;
  base::Status fill_side(const device::Stream& stream, const Side& side, const F& omega,
                         const F& shift, const F& scale) const;
  base::Status run(const device::Stream& stream, device::DeviceSpan<F> values, Order order,
                   Points points, bool is_inverse) const;

  std::size_t size_log2_ = 0;
  NttPolicy policy_;
  device::Buffer tables_;
  F size_inverse_;  // what inverse transforms over the domain multiply by, hidden in a table or not
  Side forward_, inverse_;
};

extern template class Transform<cuzk::field::bls12_381::Fr>;
extern template class Transform<cuzk::field::bn254::Fr>;

}  // namespace cuzk::cuda::poly
