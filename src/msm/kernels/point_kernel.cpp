// Which point kernel a group uses on this machine.
//
// The tables of the IFMA files hold plain function pointers on bytes (ifma_entry.h); here, in code
// built for every processor, they get the types of points. The choice is made again at each
// operation, since tests force levels.
#include "msm/kernels/point_kernel.h"

#include "base/cpu.h"
#include "msm/kernels/ifma_entry.h"
#include "msm/kernels/ifma_rows.h"
#include "msm/kernels/portable_kernel.h"

namespace cuzk::msm {

namespace ifma {

void invert_bls12_381(const std::uint64_t* in, std::uint64_t* out) {
  ifma_rows::invert<field::bls12_381::Fp>(in, out);
}
void invert_bn254(const std::uint64_t* in, std::uint64_t* out) {
  ifma_rows::invert<field::bn254::Fp>(in, out);
}

}  // namespace ifma

namespace {

template <class G>
ifma::Entry entry_of();
template <>
ifma::Entry entry_of<curve::Bls12_381::G1>() {
  return ifma::bls12_381_g1();
}
template <>
ifma::Entry entry_of<curve::Bls12_381::G2>() {
  return ifma::bls12_381_g2();
}
template <>
ifma::Entry entry_of<curve::Bn254::G1>() {
  return ifma::bn254_g1();
}
template <>
ifma::Entry entry_of<curve::Bn254::G2>() {
  return ifma::bn254_g2();
}

template <class G>
void pack(const curve::Affine<G>* points, std::size_t count, std::uint8_t* rows) {
  entry_of<G>().pack(reinterpret_cast<const std::uint8_t*>(points), count, rows);
}
template <class G>
void unpack(const std::uint8_t* rows, std::size_t count, curve::Affine<G>* points) {
  entry_of<G>().unpack(rows, count, reinterpret_cast<std::uint8_t*>(points));
}

// The group's IFMA table; its add_pairs is null where this build has no such kernel.
template <class G>
PointKernel<G> ifma_kernel() {
  using Rows = ifma_rows::Rows<G>;
  const ifma::Entry entry = entry_of<G>();
  return {"ifma",    Rows::kRowBytes, entry.scratch_bytes, pack<G>,
          unpack<G>, Rows::copy,      entry.add_pairs};
}

}  // namespace

template <class G>
const PointKernel<G>& portable_point_kernel() {
  return portable::kKernel<G>;
}

template <class G>
const PointKernel<G>* ifma_point_kernel() {
  if (base::machine_cpu_level() < base::CpuLevel::kIfma) return nullptr;
  static const PointKernel<G> kernel = ifma_kernel<G>();
  return kernel.add_pairs != nullptr ? &kernel : nullptr;
}

template <class G>
const PointKernel<G>& point_kernel() {
  const PointKernel<G>* ifma = ifma_point_kernel<G>();
  const bool wanted = base::cpu_level() >= base::CpuLevel::kIfma;
  return wanted && ifma != nullptr ? *ifma : portable_point_kernel<G>();
}

#define CUZK_POINT_KERNELS(G)                                \
  template const PointKernel<G>& portable_point_kernel<G>(); \
  template const PointKernel<G>* ifma_point_kernel<G>();     \
  template const PointKernel<G>& point_kernel<G>()
CUZK_POINT_KERNELS(curve::Bls12_381::G1);
CUZK_POINT_KERNELS(curve::Bls12_381::G2);
CUZK_POINT_KERNELS(curve::Bn254::G1);
CUZK_POINT_KERNELS(curve::Bn254::G2);

}  // namespace cuzk::msm
