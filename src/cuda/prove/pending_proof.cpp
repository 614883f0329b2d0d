// The CPU's tail of a proof: blinding and assembly, some scalings of single points.
//
// A = alpha + a + r delta, B = beta + b + s delta, C = h + l + s A + r B - r s delta: Groth, "On
// the size of pairing-based non-interactive arguments" (2016). Half a millisecond, too little and
// too serial for a device; with B in G2 on the host also a sum over the B query.
#include "cuda/prove/pending_proof.h"

#include "base/scratch.h"
#include "curve/scalar_multiply.h"

namespace cuzk::cuda::prove {
namespace {

template <class G>
cuzk::curve::Jacobian<G> scaled(const cuzk::curve::Affine<G>& point,
                                const typename G::Scalar& scalar) {
  return cuzk::curve::scale<G>(point, scalar.to_canonical().value);
}

}  // namespace

template <class C>
base::Result<groth16::Proof<C>> CudaPendingProof<C>::finish() {
  if (key_ == nullptr) {
    return base::Error{base::ErrorKind::kInternal, "a pending proof was finished twice"};
  }
  const auto key = std::move(key_);
  const auto& vk = key->vk;
  const Fr &r = blinding_.r, &s = blinding_.s;
  // The key is in this call's hands now, and goes with it: what is left of the object is small.
  if (!sums_.b_g2) {
    CUZK_ASSERT(host_b_.has_value());
    const auto host_b = std::move(host_b_);
    CUZK_TRY(sums_.b_g2, base::catch_out_of_memory("finishing a proof", [&] {
               return groth16::sum_selected<G2, Fr>(key->b_g2, host_b->ones.bits, host_b->scalars,
                                                    control_, "B query in G2");
             }));
  }
  CUZK_ASSERT(sums_.b_g2.has_value());
  // s (alpha + a) and r (beta + b) are taken before a gets its r delta: s A + r B - r s delta is
  // s (alpha + a) + r (beta + b) + r s delta.
  auto a = sums_.a, b = sums_.b_g1, c = sums_.h;
  auto b_g2 = *sums_.b_g2;
  a += vk.alpha_g1;
  b += vk.beta_g1;
  c += sums_.l;
  c += scaled<G1>(a.to_affine(), s);
  c += scaled<G1>(b.to_affine(), r);
  c += scaled<G1>(vk.delta_g1, r * s);
  a += scaled<G1>(vk.delta_g1, r);
  b_g2 += vk.beta_g2;
  b_g2 += scaled<G2>(vk.delta_g2, s);
  return groth16::Proof<C>{a.to_affine(), b_g2.to_affine(), c.to_affine()};
}

template <class C>
std::uint64_t CudaPendingProof<C>::byte_count() const {
  std::uint64_t bytes = sizeof *this;
  if (host_b_) bytes += host_b_->ones.permit.bytes() + host_b_->scalars.byte_count();
  return bytes;
}

template <class C>
base::Result<HostB<typename C::Fr>> select_host_b(
    const groth16::ProveInputs<C>& inputs, const r1cs::Density& density,
    const r1cs::CompactWitness<typename C::Fr>& input_run) {
  using Fr = typename C::Fr;
  // The CPU prover's own walk over the query: what it selects there is what it selects here.
  const bool is_packed = inputs.key->has_dense_queries;
  const groth16::QueryWalk<Fr> walk(input_run, {&density.b_input, is_packed},
                                    inputs.assignment->aux, {&density.b_aux, is_packed});
  HostB<Fr> out;
  CUZK_TRY(out.scalars,
           groth16::SelectedScalars<Fr>::allocate(
               walk.scalar_count(), base::MemoryCategory::kPending, "scalars of the B query"));
  walk.scalars(0, out.scalars.indices.span(), out.scalars.values.span());
  CUZK_TRY(out.ones,
           groth16::CountedOnes::of(walk, base::MemoryCategory::kPending, "ones of the B query"));
  return out;
}

#define CUZK_CUDA_PENDING(C)                                  \
  template class CudaPendingProof<C>;                         \
  template base::Result<HostB<typename C::Fr>> select_host_b( \
      const groth16::ProveInputs<C>&, const r1cs::Density&,   \
      const r1cs::CompactWitness<typename C::Fr>&);
CUZK_CUDA_PENDING(cuzk::curve::Bls12_381)
CUZK_CUDA_PENDING(cuzk::curve::Bn254)
#undef CUZK_CUDA_PENDING

}  // namespace cuzk::cuda::prove
