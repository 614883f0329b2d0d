// The host's end of a sum by bitmap: checks its arguments and changes coordinates.
//
// Host code on purpose: what needs a host field's functions stays out of the files that nvcc
// compiles.
#include "cuda/msm/bitmap.h"

#include "base/check.h"
#include "cuda/msm/bitmap_sum.h"

namespace cuzk::cuda::msm {

template <class G>
base::Status queue_bitmap(const device::Stream& stream,
                          device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
                          device::DeviceSpan<const std::uint64_t> bitmap,
                          device::DeviceSpan<std::byte> scratch,
                          device::DeviceSpan<std::byte> sum) {
  CUZK_ASSERT(bases.size <= kCountMax && bitmap.size >= (bases.size + 63) / 64);
  CUZK_ASSERT(scratch.size >= bitmap_scratch_bytes<G>(bases.size));
  CUZK_ASSERT(sum.size >= kBitmapSumBytes<G>);
  // Zero bytes are the point at infinity.
  if (bases.size == 0) return device::fill_bytes(stream, sum.data, 0, kBitmapSumBytes<G>);
  return sum_listed_bits<G>(stream, bases, bitmap, scratch, sum);
}

// XYZZ to Jacobian on the host: two products, against an inversion for an affine point.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> collect_bitmap(const device::Stream& stream,
                                                      device::DeviceSpan<std::byte> sum) {
  CUZK_ASSERT(sum.size >= kBitmapSumBytes<G>);
  cuzk::curve::Xyzz<G> host;
  CUZK_TRY_STATUS(device::copy_bytes_to_host(stream, &host, sum.data, kBitmapSumBytes<G>));
  CUZK_TRY_STATUS(stream.synchronize());
  return host.to_jacobian();
}

template <class G>
base::Result<cuzk::curve::Jacobian<G>> sum_by_bitmap(
    const device::Stream& stream, device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
    device::DeviceSpan<const std::uint64_t> bitmap, device::DeviceSpan<std::byte> scratch) {
  // The sum lies behind the scratch, so that one block serves both.
  const std::uint64_t own_bytes = bitmap_scratch_bytes<G>(bases.size);
  CUZK_ASSERT(scratch.size >= own_bytes + kBitmapSumBytes<G>);
  const auto sum = scratch.subset(own_bytes, kBitmapSumBytes<G>);
  CUZK_TRY_STATUS(queue_bitmap<G>(stream, bases, bitmap, scratch.first(own_bytes), sum));
  return collect_bitmap<G>(stream, sum);
}

#define CUZK_CUDA_BITMAP_INSTANTIATE(G)                                        \
  template base::Status queue_bitmap<G>(                                       \
      const device::Stream&, device::DeviceSpan<const cuzk::curve::Affine<G>>, \
      device::DeviceSpan<const std::uint64_t>, device::DeviceSpan<std::byte>,  \
      device::DeviceSpan<std::byte>);                                          \
  template base::Result<cuzk::curve::Jacobian<G>> collect_bitmap<G>(           \
      const device::Stream&, device::DeviceSpan<std::byte>);                   \
  template base::Result<cuzk::curve::Jacobian<G>> sum_by_bitmap<G>(            \
      const device::Stream&, device::DeviceSpan<const cuzk::curve::Affine<G>>, \
      device::DeviceSpan<const std::uint64_t>, device::DeviceSpan<std::byte>);
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bls12_381::G2)
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bn254::G1)
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bn254::G2)
#undef CUZK_CUDA_BITMAP_INSTANTIATE

}  // namespace cuzk::cuda::msm
