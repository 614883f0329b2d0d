// Launches of the transform: tables, passes, permutation.
//
// Tables are allocated and filled once, when a Transform is made; a run only queues kernels and
// allocates nothing. ntt_kernels.cuh has the passes, docs/math/cuda_ntt.md their derivation.
#include <bit>
#include <string>

#include "cuda/device/device.h"
#include "cuda/device/error.h"
#include "cuda/poly/ntt.h"
#include "cuda/poly/ntt_kernels.cuh"

namespace cuzk::cuda::poly {
namespace {

template <class F>
using DeviceOf = field::WordField<typename F::Params>;

// Host and device elements have one layout, so a change of type is all.
template <class F>
DeviceOf<F> to_device(const F& x) {
  return std::bit_cast<DeviceOf<F>>(x);
}
template <class F>
DeviceOf<F>* to_device(F* values) {
  return reinterpret_cast<DeviceOf<F>*>(values);
}

constexpr int kBlock = 256;
// Blocks of kBlock threads that cover `count` elements.
inline unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + kBlock - 1) / kBlock);
}

// The largest transform that is offered; counts of blocks and tables are sized for it.
constexpr std::size_t kSizeLog2Max = 28;
static_assert(kSizeLog2Max <= 3 * kRootsLog2, "three passes reach the largest");
// Up to this size a single thread evaluates the definition.
constexpr int kSmallLog2 = 2;
static_assert(kSmallLog2 < kElementsPerThreadLog2, "a pass's thread holds eight elements");
static_assert(kBlock % 32 == 0 && kBlock <= 1024);

// out[i] = first * base^i; a table that the policy leaves out is null and skipped.
template <class F>
base::Status fill_powers(const device::Stream& stream, F* out, std::size_t count, const F& base,
                         const F& first) {
  if (out == nullptr) return base::ok_status();
  powers_kernel<<<blocks_for(count), kBlock, 0, stream.handle()>>>(
      to_device(out), count, to_device(base), to_device(first));
  return device::launched("powers_kernel");
}

// Host arithmetic in this file is that of WordField: nvcc would compile a host field's functions
// for the device as well.
template <class F>
F root_of_order(const F& omega, std::size_t size_log2, std::size_t order_log2) {
  DeviceOf<F> root = to_device(omega);
  for (std::size_t i = order_log2; i < size_log2; ++i) root = root.squared();
  return std::bit_cast<F>(root);
}
// x^e and 1 / x, in variable time: roots and shifts are public.
template <class F>
F power(const F& x, std::uint64_t e) {
  return std::bit_cast<F>(to_device(x).pow(e));
}
template <class F>
F inverted(const F& x) {
  return std::bit_cast<F>(to_device(x).inverse());
}

}  // namespace

// The tables of one direction, in one order for counting and for taking.
template <class F>
auto Transform<F>::take_side(device::Arena& arena, bool is_inverse) const -> Side {
  const int k = static_cast<int>(size_log2_), split = table_split_log2(k);
  const std::size_t low_count = std::size_t{1} << split;
  const std::size_t high_count = std::size_t{1} << (k - split);
  Side side;
  side.roots = arena.take<F>(std::size_t{1} << std::min(k, kRootsLog2)).data;
  side.direct = arena.take<F>(std::size_t{1} << std::min(k, policy_.direct_table_log2)).data;
  if (k > policy_.direct_table_log2) {
    side.low = arena.take<F>(low_count).data;
    side.high = arena.take<F>(high_count).data;
    if (is_inverse) side.high_scaled = arena.take<F>(high_count).data;
  }
  side.coset_low = arena.take<F>(low_count).data;
  side.coset_high = arena.take<F>(high_count).data;
  return side;
}

// `scale` goes into the upper powers: 1 forward, 1 / size backward, so it costs no pass.
template <class F>
base::Status Transform<F>::fill_side(const device::Stream& stream, const Side& side, const F& omega,
                                     const F& shift, const F& scale) const {
  const int k = static_cast<int>(size_log2_), split = table_split_log2(k);
  const std::size_t low_count = std::size_t{1} << split;
  const std::size_t high_count = std::size_t{1} << (k - split);
  const int roots_log2 = std::min(k, kRootsLog2);
  const int direct_log2 = std::min(k, policy_.direct_table_log2);
  const F one = std::bit_cast<F>(DeviceOf<F>::one());
  CUZK_TRY_STATUS(fill_powers(stream, side.roots, std::size_t{1} << roots_log2,
                              root_of_order(omega, k, roots_log2), one));
  CUZK_TRY_STATUS(fill_powers(stream, side.direct, std::size_t{1} << direct_log2,
                              root_of_order(omega, k, direct_log2), one));
  const F omega_step = power(omega, low_count), shift_step = power(shift, low_count);
  CUZK_TRY_STATUS(fill_powers(stream, side.low, low_count, omega, one));
  CUZK_TRY_STATUS(fill_powers(stream, side.high, high_count, omega_step, one));
  CUZK_TRY_STATUS(fill_powers(stream, side.high_scaled, high_count, omega_step, scale));
  CUZK_TRY_STATUS(fill_powers(stream, side.coset_low, low_count, shift, one));
  return fill_powers(stream, side.coset_high, high_count, shift_step, scale);
}

// Tables of both directions in one allocation; filling is queued: whoever uses them on
// another stream waits for this one.
template <class F>
base::Result<Transform<F>> Transform<F>::create(const device::Stream& stream, std::size_t size_log2,
                                                const F& omega, const F& shift,
                                                const NttPolicy& policy) {
  if (size_log2 > kSizeLog2Max || size_log2 > F::kTwoAdicity) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "a transform of 2^" + std::to_string(size_log2) +
                           " elements; the largest is 2^" +
                           std::to_string(std::min(kSizeLog2Max, F::kTwoAdicity))};
  }
  // Counted first, then taken from one allocation: take_side() runs twice over the same policy.
  Transform out;
  out.size_log2_ = size_log2;
  out.policy_ = policy;
  device::Arena count;
  out.take_side(count, false);
  out.take_side(count, true);
  CUZK_TRY(out.tables_, device::Buffer::create(count.used_bytes()));
  device::Arena arena(out.tables_);
  out.forward_ = out.take_side(arena, false);
  out.inverse_ = out.take_side(arena, true);
  out.size_inverse_ = std::bit_cast<F>(DeviceOf<F>::from_u32(2).inverse().pow(size_log2));
  if (size_log2 >= 3) {
    const auto eighth = [&](const F& root) {
      return std::bit_cast<std::array<F, 3>>(
          EighthRoots<DeviceOf<F>>::of(to_device(root_of_order(root, size_log2, 3))));
    };
    out.forward_.eighth = eighth(omega);
    out.inverse_.eighth = eighth(inverted(omega));
  }
  CUZK_TRY_STATUS(
      out.fill_side(stream, out.forward_, omega, shift, std::bit_cast<F>(DeviceOf<F>::one())));
  CUZK_TRY_STATUS(
      out.fill_side(stream, out.inverse_, inverted(omega), inverted(shift), out.size_inverse_));
  // A tile and its padding, four words in 32 elements (shared_index); asked for once here, as every
  // pass of this policy takes at most as much.
  const int tile = 1 << policy.tile_log2;
  const int shared_bytes = (tile + (tile >> 5) * 4) * static_cast<int>(sizeof(F));
  CUZK_TRY_STATUS(device::allow_shared_bytes(
      reinterpret_cast<const void*>(&ntt_pass_kernel<true, DeviceOf<F>>), shared_bytes));
  CUZK_TRY_STATUS(device::allow_shared_bytes(
      reinterpret_cast<const void*>(&ntt_pass_kernel<false, DeviceOf<F>>), shared_bytes));
  return std::move(out);
}

// Sizes too small for a pass: one thread transforms, one block scales before or after.
template <class T>
base::Status run_small(const device::Stream& stream, const NttPass<T>& pass, bool is_inverse,
                       bool to_reversed) {
  const auto scale = [&] {
    if (pass.scaling == Scaling::kNone) return;
    scale_kernel<<<1, kBlock, 0, stream.handle()>>>(pass);
  };
  if (!is_inverse) scale();
  small_ntt_kernel<<<1, 1, 0, stream.handle()>>>(pass.values, pass.size_log2, pass.roots,
                                                 to_reversed, !to_reversed);
  if (is_inverse) scale();
  return device::launched("small_ntt_kernel");
}

// Forward passes scale as they load, inverse ones as they store: the coset shift is then always
// applied to coefficients.
template <class F>
base::Status Transform<F>::run(const device::Stream& stream, device::DeviceSpan<F> values,
                               Order order, Points points, bool is_inverse) const {
  CUZK_ASSERT(values.size == size());
  // Natural to natural is the order without permutation, and a permutation.
  if (order == Order::kNatural) {
    CUZK_TRY_STATUS(run(stream, values, Order::kNaturalToReversed, points, is_inverse));
    return reverse_order(stream, values);
  }
  const bool to_reversed = order == Order::kNaturalToReversed;
  const int k = static_cast<int>(size_log2_);
  const Side& side = is_inverse ? inverse_ : forward_;
  // What all passes of the run share.
  NttPass<DeviceOf<F>> pass = {};
  pass.values = to_device(values.data);
  pass.size_log2 = k;
  pass.roots = to_device(side.roots);
  pass.roots_log2 = std::min(k, kRootsLog2);
  pass.eighth = std::bit_cast<EighthRoots<DeviceOf<F>>>(side.eighth);
  pass.direct_log2 = std::min(k, policy_.direct_table_log2);
  pass.powers_log2 = k;
  pass.powers = {to_device(side.low), to_device(side.high), table_split_log2(k)};
  pass.coset = {to_device(side.coset_low), to_device(side.coset_high), table_split_log2(k)};
  pass.constant = to_device(size_inverse_);
  pass.scales_at_load = !is_inverse;
  pass.scales_by_reversed_index = to_reversed == is_inverse;
  Scaling scaling = Scaling::kNone;
  if (points == Points::kCoset) {
    scaling = Scaling::kPowers;
  } else if (is_inverse) {
    scaling = Scaling::kConstant;
  }
  if (k <= kSmallLog2) {
    pass.scaling = scaling;
    return run_small(stream, pass, is_inverse, to_reversed);
  }
  std::vector<int> levels = pass_levels(k, policy_);
  // The division by the size hides in the table of the one pass that multiplies two powers.
  const bool hides_scale = scaling == Scaling::kConstant && side.high_scaled != nullptr;
  if (hides_scale) scaling = Scaling::kNone;
  // Blocks shrink on the way to reversed order and grow on the way back, by the levels of each
  // pass.
  int block_log2 = to_reversed ? k : 0;
  if (!to_reversed) std::reverse(levels.begin(), levels.end());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const int d = levels[i];
    if (!to_reversed) block_log2 += d;
    pass.block_log2 = pass.twiddle_log2 = block_log2;
    pass.level_count = d;
    pass.column_count_log2 = std::min(policy_.tile_log2, k) - d;
    pass.has_twiddles = block_log2 != d;
    pass.direct = block_log2 <= pass.direct_log2 ? to_device(side.direct) : nullptr;
    pass.powers.high = to_device(hides_scale && block_log2 == k ? side.high_scaled : side.high);
    pass.is_last = i + 1 == levels.size();
    const bool at_this_end = is_inverse ? i + 1 == levels.size() : i == 0;
    pass.scaling = at_this_end ? scaling : Scaling::kNone;
    const int tile = 1 << (pass.column_count_log2 + d);
    const unsigned grid = 1u << (k - d - pass.column_count_log2);
    const int shared_bytes = (tile + (tile >> 5) * 4) * static_cast<int>(sizeof(F));
    if (to_reversed) {
      ntt_pass_kernel<true><<<grid, tile / 8, shared_bytes, stream.handle()>>>(pass);
    } else {
      ntt_pass_kernel<false><<<grid, tile / 8, shared_bytes, stream.handle()>>>(pass);
    }
    CUZK_TRY_STATUS(device::launched("ntt_pass_kernel"));
    if (to_reversed) block_log2 -= d;
  }
  return base::ok_status();
}

template <class F>
base::Status Transform<F>::forward(const device::Stream& stream, device::DeviceSpan<F> values,
                                   Order order, Points points) const {
  return run(stream, values, order, points, false);
}

template <class F>
base::Status Transform<F>::inverse(const device::Stream& stream, device::DeviceSpan<F> values,
                                   Order order, Points points) const {
  return run(stream, values, order, points, true);
}

// One pass, whose block is the tile itself: rows are the tile's, and the twiddle of a column
// follows its number in the whole matrix.
template <class F>
base::Status Transform<F>::transform_columns(const device::Stream& stream,
                                             device::DeviceSpan<F> values, const ColumnTile& tile,
                                             bool to_reversed, bool is_inverse,
                                             Points points) const {
  const int k = static_cast<int>(size_log2_), elements_log2 = tile.row_log2 + tile.width_log2;
  CUZK_ASSERT(values.size == std::size_t{1} << elements_log2 && elements_log2 >= policy_.tile_log2);
  CUZK_ASSERT(tile.row_log2 >= 1 && tile.row_log2 <= kRootsLog2 && elements_log2 <= k);
  const Side& side = is_inverse ? inverse_ : forward_;
  NttPass<DeviceOf<F>> pass = {};
  pass.values = to_device(values.data);
  pass.size_log2 = pass.twiddle_log2 = pass.powers_log2 = k;
  pass.block_log2 = elements_log2;
  pass.level_count = tile.row_log2;
  pass.column_count_log2 = policy_.tile_log2 - tile.row_log2;
  pass.roots = to_device(side.roots);
  pass.roots_log2 = std::min(k, kRootsLog2);
  pass.eighth = std::bit_cast<EighthRoots<DeviceOf<F>>>(side.eighth);
  pass.has_twiddles = true;
  pass.is_last = !to_reversed;
  pass.low_first = tile.first_column;
  pass.direct_log2 = std::min(k, policy_.direct_table_log2);
  pass.direct = k <= pass.direct_log2 ? to_device(side.direct) : nullptr;
  pass.powers = {to_device(side.low), to_device(side.high), table_split_log2(k)};
  // scale() divides by the whole size over the coset; the rows' own transforms, which know nothing
  // of that, divide by their length as well, so the columns give that much back.
  if (is_inverse) {
    const DeviceOf<F> two = DeviceOf<F>::from_u32(2);
    pass.scaling = Scaling::kConstant;
    pass.constant = points == Points::kCoset
                        ? two.pow(static_cast<std::uint64_t>(k - tile.row_log2))
                        : two.inverse().pow(static_cast<std::uint64_t>(tile.row_log2));
  }
  const int tile_elements = 1 << policy_.tile_log2;
  const unsigned grid = 1u << (elements_log2 - policy_.tile_log2);
  const int shared_bytes = (tile_elements + (tile_elements >> 5) * 4) * static_cast<int>(sizeof(F));
  if (to_reversed) {
    ntt_pass_kernel<true><<<grid, tile_elements / 8, shared_bytes, stream.handle()>>>(pass);
  } else {
    ntt_pass_kernel<false><<<grid, tile_elements / 8, shared_bytes, stream.handle()>>>(pass);
  }
  return device::launched("ntt_pass_kernel");
}

// A pass of its own over a tile, where the transform's passes see too little of an index to scale.
template <class F>
base::Status Transform<F>::scale(const device::Stream& stream, device::DeviceSpan<F> values,
                                 const ColumnTile& tile, bool is_reversed, bool is_inverse) const {
  const Side& side = is_inverse ? inverse_ : forward_;
  NttPass<DeviceOf<F>> pass = {};
  pass.values = to_device(values.data);
  pass.size_log2 = static_cast<int>(size_log2_);
  pass.coset = {to_device(side.coset_low), to_device(side.coset_high),
                table_split_log2(pass.size_log2)};
  scale_tile_kernel<<<blocks_for(values.size), kBlock, 0, stream.handle()>>>(
      pass, values.size, tile.row_log2, tile.width_log2, tile.first_column, is_reversed);
  return device::launched("scale_tile_kernel");
}

template <class F>
base::Status Transform<F>::scale_columns(const device::Stream& stream, device::DeviceSpan<F> values,
                                         const ColumnTile& tile, bool is_inverse) const {
  return scale(stream, values, tile, false, is_inverse);
}

template <class F>
base::Status Transform<F>::scale_reversed(const device::Stream& stream,
                                          device::DeviceSpan<F> values, std::size_t first,
                                          bool is_inverse) const {
  ColumnTile tile;
  tile.first_column = first;
  return scale(stream, values, tile, true, is_inverse);
}

template <class F>
base::Status Transform<F>::reverse_order(const device::Stream& stream,
                                         device::DeviceSpan<F> values) const {
  CUZK_ASSERT(values.size == size());
  reverse_order_kernel<<<blocks_for(size()), kBlock, 0, stream.handle()>>>(
      to_device(values.data), static_cast<int>(size_log2_));
  return device::launched("reverse_order_kernel");
}

template class Transform<cuzk::field::bls12_381::Fr>;
template class Transform<cuzk::field::bn254::Fr>;

}  // namespace cuzk::cuda::poly
