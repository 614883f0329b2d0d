// Multiples of one point in bulk: the points of development keys, made on a device.
//
// With the multiples d 2^(16 w) P of every window w and digit d in a table, a scalar costs sixteen
// additions; sixteen scalars of a thread share one inversion on the way to affine points. Keys made
// so are for development: whoever knows the scalars forges proofs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/digits.h"
#include "cuda/msm/msm.h"
#include "curve/groups.h"

namespace cuzk::cuda::setup {

// The table of one point of G. Borrows its memory; immutable once made. Made by create() only: a
// default-constructed one is a place for one. Several streams may multiply by it once it is filled.
template <class G>
class FixedBaseTable {
 public:
  // 48 MiB for BLS12-381 G1, so that it stays in the cache of a large card.
  static std::uint64_t byte_count();
  // Queues the filling of `memory`, which holds byte_count() and outlives the table. `base` may be
  // infinity.
  static base::Result<FixedBaseTable> create(const device::Stream& stream,
                                             const cuzk::curve::Affine<G>& base,
                                             device::DeviceSpan<std::byte> memory);
  // Queues out[i] = scalars[i] * base. Sizes are equal.
  base::Status multiply(const device::Stream& stream,
                        device::DeviceSpan<const msm::Scalar<G>> scalars, msm::ScalarForm form,
                        device::DeviceSpan<cuzk::curve::Affine<G>> out) const;

 private:
  device::DeviceSpan<const cuzk::curve::Affine<G>> table_;
};

#define CUZK_CUDA_FIXED_BASE(KEYWORD, G) KEYWORD template class FixedBaseTable<G>;
CUZK_CUDA_FIXED_BASE(extern, cuzk::curve::Bls12_381::G1)
CUZK_CUDA_FIXED_BASE(extern, cuzk::curve::Bls12_381::G2)
CUZK_CUDA_FIXED_BASE(extern, cuzk::curve::Bn254::G1)
CUZK_CUDA_FIXED_BASE(extern, cuzk::curve::Bn254::G2)

}  // namespace cuzk::cuda::setup
