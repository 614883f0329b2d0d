// Per stage of the CPU backend (prove_cpu.cpp): what lives together, and the largest of it.
//
// The stages follow one another and each frees its scratch, so scratch is the largest of them, not
// their sum: transforms; H by pieces; the walks over L and A (bitmap, then one piece of scalars);
// B in G1; B in G2. Costs some hundred evaluations of msm/'s own formulas a sum.
#include "groth16/memory.h"

#include <algorithm>

#include "base/check.h"
#include "groth16/query_sum.h"
#include "groth16/quotient.h"
#include "msm/msm.h"
#include "poly/domain.h"

namespace cuzk::groth16 {
namespace {

// The most that a multiplication of at most `count` points takes. Scratch does not grow steadily: a
// larger window has fewer digits, a chunk more makes chunks shorter. Between two lengths in the
// ratio 17 : 16 it changes by at most that ratio within one window and chunk count, so the most of
// such lengths and a sixteenth bounds all.
template <class G>
std::uint64_t multiply_bytes_up_to(std::uint64_t count) {
  constexpr std::uint64_t kRoundings = std::uint64_t{64} << 10;  // to pages, of all its buffers
  if (count == 0) return 0;
  std::uint64_t most = msm::multiply_scratch_bytes<G>(count);
  for (std::uint64_t n = 1; n < count; n = std::max(n + 1, n / 16 * 17)) {
    most = std::max(most, msm::multiply_scratch_bytes<G>(n));
  }
  return most + most / 16 + kRoundings;
}

// A bitmap of `count` bits in whole words.
std::uint64_t bits_bytes(std::uint64_t count) { return (count + 63) / 64 * 8; }

}  // namespace

template <class C>
MemoryPlan plan_memory(const ProvingKey<C>& key, const WitnessCounts& counts) {
  using Fr = typename C::Fr;
  using G1 = typename C::G1;
  using G2 = typename C::G2;
  const auto piece = [](std::uint64_t count) {
    return std::min<std::uint64_t>(count, kPieceScalars);
  };
  const std::uint64_t scalars = piece(counts.scalar_count),
                      b_scalars = piece(counts.b_scalar_count);
  const std::uint64_t walked_points = std::max(key.a.size(), key.l.size());
  MemoryPlan plan;
  plan.evaluation_bytes = quotient_bytes<Fr>(key.domain_log2);
  plan.msm_scratch_bytes =
      std::max({poly::transform_scratch_bytes<Fr>(key.domain_log2),
                multiply_bytes_up_to<G1>(piece(key.h.size())),
                bits_bytes(walked_points) + msm::bitmap_scratch_bytes<G1>(walked_points),
                SelectedScalars<Fr>::byte_count(scalars) + multiply_bytes_up_to<G1>(scalars),
                msm::bitmap_scratch_bytes<G1>(key.b_g1.size()),
                msm::bitmap_scratch_bytes<G2>(key.b_g2.size()), multiply_bytes_up_to<G1>(b_scalars),
                multiply_bytes_up_to<G2>(b_scalars)});
  plan.pending_bytes =
      bits_bytes(key.b_g2.size()) + SelectedScalars<Fr>::byte_count(counts.b_scalar_count);
  plan.density_bytes = 2 * bits_bytes(counts.aux_count) + bits_bytes(counts.input_count);
  plan.finish_bytes =
      std::max(msm::bitmap_scratch_bytes<G2>(key.b_g2.size()), multiply_bytes_up_to<G2>(b_scalars));
  // finish holds this and the pending proof, so peak_bytes covers it.
  CUZK_ASSERT(plan.finish_bytes <= plan.msm_scratch_bytes);
  return plan;
}

template <class C>
std::uint64_t proving_bytes(const ProvingKey<C>& key) {
  constexpr std::uint64_t kWordBytes = 2 * 8 + 4;  // bits, mask and rank of 64 variables
  WitnessCounts counts;
  counts.input_count = key.vk.ic.size();
  // Nothing is known of the witness: every variable may be a scalar.
  counts.aux_count = key.l.size();
  counts.scalar_count = counts.input_count + counts.aux_count;
  counts.b_scalar_count = key.b_g2.size();
  const std::uint64_t witness_bytes =
      counts.scalar_count * sizeof(typename C::Fr) + (counts.scalar_count / 64 + 1) * kWordBytes;
  return plan_memory(key, counts).peak_bytes() + witness_bytes;
}

template MemoryPlan plan_memory(const ProvingKey<curve::Bls12_381>&, const WitnessCounts&);
template MemoryPlan plan_memory(const ProvingKey<curve::Bn254>&, const WitnessCounts&);
template std::uint64_t proving_bytes(const ProvingKey<curve::Bls12_381>&);
template std::uint64_t proving_bytes(const ProvingKey<curve::Bn254>&);

}  // namespace cuzk::groth16
