// The host's end of fixed-base products: the first multiple of each window, by doublings.
//
// The table's windows are those of a sum (msm_policy.h) and its digits theirs (digits.h), so what
// the sums' tests say of digits holds here.
#include "cuda/setup/fixed_base.h"

#include "cuda/msm/multiples.h"
#include "cuda/setup/fixed_base_kernel.h"

namespace cuzk::cuda::setup {
namespace {

// Sixteen bits a window: wider ones would leave the large caches, narrower ones cost more
// additions.
constexpr int kWindowCount = 16;
static_assert(kWindowCount <= msm::kWindowsMax);

// The cut of a scalar of G, the same for the table and for each product.
template <class G>
msm::WindowLayout layout_of() {
  return msm::WindowLayout::of(static_cast<int>(G::Scalar::kBitCount), kWindowCount);
}

// Windows of 15 and of 16 bits get equal room, so that entry [w][d] lies at w * entries + d.
template <class G>
std::size_t point_count() {
  return layout_of<G>().bucket_count_max() * kWindowCount;
}

}  // namespace

template <class G>
std::uint64_t FixedBaseTable<G>::byte_count() {
  return point_count<G>() * sizeof(cuzk::curve::Affine<G>);
}

template <class G>
base::Result<FixedBaseTable<G>> FixedBaseTable<G>::create(const device::Stream& stream,
                                                          const cuzk::curve::Affine<G>& base,
                                                          device::DeviceSpan<std::byte> memory) {
  using Point = cuzk::curve::Affine<G>;
  static_assert(sizeof(Point) == 2 * sizeof(typename G::Field));  // as the kernels read it
  CUZK_ASSERT(memory.size >= byte_count());
  const msm::WindowLayout layout = layout_of<G>();
  const std::size_t entries = layout.bucket_count_max();
  const device::DeviceSpan<Point> table{reinterpret_cast<Point*>(memory.data), point_count<G>()};
  // 2^first_bit[w] base, carried from window to window by doublings on the host, one a bit.
  auto shifted = cuzk::curve::Jacobian<G>::from_affine(base);
  for (int w = 0; w < kWindowCount; ++w) {
    CUZK_TRY_STATUS(
        msm::fill_multiples<G>(stream, shifted.to_affine(), 1, table.subset(w * entries, entries)));
    for (int i = 0; i < layout.bit_count[w]; ++i) shifted = shifted.doubled();
  }
  FixedBaseTable out;
  out.table_ = {table.data, table.size};
  return out;
}

template <class G>
base::Status FixedBaseTable<G>::multiply(const device::Stream& stream,
                                         device::DeviceSpan<const msm::Scalar<G>> scalars,
                                         msm::ScalarForm form,
                                         device::DeviceSpan<cuzk::curve::Affine<G>> out) const {
  CUZK_ASSERT(scalars.size == out.size && table_.size == point_count<G>());
  if (out.size == 0) return base::ok_status();
  const msm::WindowLayout layout = layout_of<G>();
  return multiply_by_table<G>(stream, table_, layout,
                              msm::scalar_params(G::Scalar::Params::kModulus.limb, layout), scalars,
                              form, out);
}

CUZK_CUDA_FIXED_BASE(, cuzk::curve::Bls12_381::G1)
CUZK_CUDA_FIXED_BASE(, cuzk::curve::Bls12_381::G2)
CUZK_CUDA_FIXED_BASE(, cuzk::curve::Bn254::G1)
CUZK_CUDA_FIXED_BASE(, cuzk::curve::Bn254::G2)

}  // namespace cuzk::cuda::setup
