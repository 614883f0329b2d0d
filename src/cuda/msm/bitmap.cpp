// The host's end of a sum by bitmap: checks its arguments and changes coordinates.
//
// Host code on purpose: what needs a host field's functions stays out of the files that nvcc
// compiles.
#include "cuda/msm/bitmap.h"

#include "cuda/msm/bitmap_sum.h"

namespace cuzk::cuda::msm {

template <class G>
base::Result<cuzk::curve::Jacobian<G>> sum_by_bitmap(
    const device::Stream& stream, device::DeviceSpan<const cuzk::curve::Affine<G>> bases,
    device::DeviceSpan<const std::uint64_t> bitmap, const device::Buffer& scratch) {
  CUZK_CHECK(bases.size <= kCountMax && bitmap.size >= (bases.size + 63) / 64);
  CUZK_CHECK(scratch.size_bytes() >= bitmap_scratch_bytes<G>(bases.size));
  if (bases.size == 0) return cuzk::curve::Jacobian<G>::infinity();
  CUZK_TRY(const cuzk::curve::Xyzz<G> sum, sum_listed_bits<G>(stream, bases, bitmap, scratch));
  return sum.to_jacobian();
}

#define CUZK_CUDA_BITMAP_INSTANTIATE(G)                                        \
  template base::Result<cuzk::curve::Jacobian<G>> sum_by_bitmap<G>(            \
      const device::Stream&, device::DeviceSpan<const cuzk::curve::Affine<G>>, \
      device::DeviceSpan<const std::uint64_t>, const device::Buffer&);
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bls12_381::G2)
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bn254::G1)
CUZK_CUDA_BITMAP_INSTANTIATE(cuzk::curve::Bn254::G2)
#undef CUZK_CUDA_BITMAP_INSTANTIATE

}  // namespace cuzk::cuda::msm
