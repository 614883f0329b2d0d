// Multi-scalar multiplication on a device: sum of k_i P_i for points and scalars that lie there.
//
// Complete for every input: infinite, equal and opposite points, zero scalars, any count from 0.
// Pippenger's method with signed digits: windows sorted by bucket (sort.h), buckets summed in
// runs of equal length (bucket_kernels.cuh), buckets reduced by running sums on the device, windows
// joined on the host. docs/math/cuda_msm.md has the counts.
//
// Three ways to use it. multiply() does all at once. queue_product() and collect_product() queue
// the work, so that one thread keeps several streams busy. A sum in parts keeps its buckets on the
// device while bases pass by in chunks (streamed.h): begin_parts(), add_part() for each chunk,
// end_parts(), collect_product(). Nothing here allocates device memory: the caller gives scratch.
// Partial results of several devices, each over a range of the terms, are added on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/digits.h"
#include "cuda/msm/msm_policy.h"
#include "curve/groups.h"

namespace cuzk::cuda::msm {

// What a multiplication of `count` terms will do and the bytes it needs. Bucket sets are taken in
// groups so that scratch_bytes stays below the policy's limit where it can. In parts, no part has
// more than part_count_max terms and the buckets of all sets stay in the scratch.
struct MsmPlan {
  std::size_t count = 0;           // terms in all
  std::size_t part_count_max = 0;  // terms at once; below `count` for a sum in parts
  MsmPolicy policy;
  WindowLayout layout;
  bool is_in_parts = false;
  int sets_at_once = 1;
  int affine_rounds = 0;             // at most
  std::size_t affine_entry_min = 0;  // entries of a set from which rounds are worth their latency
  int run_length_max = 1;
  int merge_run = 32;  // heads of one thread in a level of merging
  std::uint64_t scratch_bytes = 0;
  std::uint64_t sums_bytes = 0;  // what queue_product leaves for collect_product

  // Entries of a set: each scalar has one in each table.
  std::size_t entries_of(std::size_t terms) const {
    return terms * static_cast<std::size_t>(layout.table_count);
  }
  std::size_t entry_count_max() const { return entries_of(part_count_max); }
  // Outputs of one thread in a round. Long runs share an inversion among more outputs, short ones
  // leave less of a device idle at the end; with four million threads that is no matter.
  static constexpr int kPairRunShort = 32, kPairRunLong = 64;
  // Rounds and run length for a part of `terms` terms: small parts take fewer and shorter ones,
  // long lists more.
  // Runs are long where there is enough work for all threads, else short, since then the longest
  // chain of additions is what takes the time.
  struct Steps {
    int affine_rounds, run_length;
    int pair_run_length = kPairRunShort;
  };
  Steps steps_of(std::size_t terms) const {
    CUZK_ASSERT(terms <= part_count_max && layout.bit_count_max >= 1);
    Steps steps = {0, run_length_max};
    const std::size_t entries = entries_of(terms);
    double per_bucket =
        static_cast<double>(entries) / static_cast<double>(layout.bucket_count_max());
    double all = static_cast<double>(terms) * layout.window_count;
    const double pairs = all / 2;
    while (entries >= affine_entry_min && steps.affine_rounds < affine_rounds &&
           per_bucket >= policy.affine_entries_min) {
      const bool is_late = steps.affine_rounds >= policy.affine_rounds_max;
      if (is_late &&
          (per_bucket < 2 * policy.affine_entries_min || all / 2 < policy.late_pairs_min)) {
        break;
      }
      ++steps.affine_rounds;
      per_bucket /= 2;
      all /= 2;
    }
    if (pairs / kPairRunLong > 4e6) steps.pair_run_length = kPairRunLong;
    while (steps.run_length > policy.run_length_min &&
           all / steps.run_length < policy.threads_wanted) {
      steps.run_length /= 2;
    }
    return steps;
  }
};

// Scalars are integers below the group order; with ScalarForm::kMontgomery the same bytes are a
// field element as the host keeps it.
template <class G>
using Scalar = cuzk::field::Canonical<typename G::Scalar::Params>;

// The terms of one sum or of one part of it, on the device: term i is scalars[i] times the base
// indices[i] - index_first, or base base_first + i when `indices` is empty. With a table of
// multiples, `bases` holds all its tables (multiples_table.h).
template <class G>
struct Terms {
  device::DeviceSpan<const cuzk::curve::Affine<G>> bases;
  device::DeviceSpan<const Scalar<G>> scalars;
  ScalarForm form = ScalarForm::kCanonical;
  device::DeviceSpan<const std::uint32_t> indices;
  std::uint32_t index_first = 0;
  // Where base 0 of the terms lies in each table; moves when terms without indices are cut.
  std::uint32_t base_first = 0;

  // Terms [first, first + count). The bases stay whole: either the indices or base_first say where
  // in them the terms are.
  Terms subset(std::size_t first, std::size_t count) const {
    CUZK_ASSERT(indices.size == 0 || indices.size == scalars.size);
    Terms out = *this;
    out.scalars = scalars.subset(first, count);
    if (indices.size != 0) {
      out.indices = indices.subset(first, count);
    } else {
      out.base_first += static_cast<std::uint32_t>(first);
    }
    return out;
  }
};

// The plan of a sum of `count` terms at once, or in parts where policy.scratch_bytes_max is too
// little for that; when even the smallest parts exceed it the plan says how much they take, and
// whoever allocates refuses. kUnsupported above 2^30 entries (terms times tables).
template <class G>
base::Result<MsmPlan> plan_msm(std::size_t count, const MsmPolicy& policy = {});

// The plan of a sum of `count` terms whose parts have at most part_count_max terms. Where scratch
// and `more_bytes_per_term` bytes for each term of a part (0: the caller's affair) exceed the
// policy's limit, parts become smaller, down to 2^14 terms, then sets of buckets.
template <class G>
base::Result<MsmPlan> plan_parts(std::size_t count, std::size_t part_count_max,
                                 const MsmPolicy& policy = {},
                                 std::uint64_t more_bytes_per_term = 0);

// Queues the sum of `terms` on the stream and returns; a plan in parts cuts the terms itself.
// `scratch` holds plan.scratch_bytes and may be used again by later work of the same stream; `sums`
// holds plan.sums_bytes and belongs to the sum until it is collected. terms.scalars.size ==
// plan.count.
template <class G>
base::Status queue_product(const device::Stream& stream, const MsmPlan& plan, const Terms<G>& terms,
                           device::DeviceSpan<std::byte> scratch,
                           device::DeviceSpan<std::byte> sums);
// Waits for the stream and gives the sum that was left in `sums`.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> collect_product(const device::Stream& stream,
                                                       const MsmPlan& plan,
                                                       device::DeviceSpan<std::byte> sums);

// A sum in parts, queued: `scratch` belongs to it from begin to end, and all calls are given the
// same one, as the buckets stay in it. Parts come in any order and may be empty; between
// begin_parts() and end_parts() nothing is read back. The plan is one of plan_parts().
template <class G>
base::Status begin_parts(const device::Stream& stream, const MsmPlan& plan,
                         device::DeviceSpan<std::byte> scratch);
template <class G>
base::Status add_part(const device::Stream& stream, const MsmPlan& plan, const Terms<G>& terms,
                      device::DeviceSpan<std::byte> scratch);
// The same in two steps: sort_part() reads the scalars only, so that sorting goes on while the
// bases are on their way. `sorted` holds sorted_part_bytes and belongs to the part in between.
template <class G>
std::uint64_t sorted_part_bytes(const MsmPlan& plan, std::size_t count);
template <class G>
base::Status sort_part(const device::Stream& stream, const MsmPlan& plan, const Terms<G>& terms,
                       device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> sorted);
template <class G>
base::Status add_sorted_part(const device::Stream& stream, const MsmPlan& plan,
                             const Terms<G>& terms, device::DeviceSpan<std::byte> scratch,
                             device::DeviceSpan<std::byte> sorted);
template <class G>
base::Status end_parts(const device::Stream& stream, const MsmPlan& plan,
                       device::DeviceSpan<std::byte> scratch, device::DeviceSpan<std::byte> sums);

// queue_product and collect_product. `scratch` holds plan.scratch_bytes + plan.sums_bytes.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> multiply(const device::Stream& stream, const MsmPlan& plan,
                                                const Terms<G>& terms,
                                                device::DeviceSpan<std::byte> scratch);

#define CUZK_CUDA_MSM_FUNCTIONS(KEYWORD, G)                                                        \
  KEYWORD template base::Result<MsmPlan> plan_msm<G>(std::size_t, const MsmPolicy&);               \
  KEYWORD template base::Result<MsmPlan> plan_parts<G>(std::size_t, std::size_t, const MsmPolicy&, \
                                                       std::uint64_t);                             \
  KEYWORD template base::Status queue_product<G>(const device::Stream&, const MsmPlan&,            \
                                                 const Terms<G>&, device::DeviceSpan<std::byte>,   \
                                                 device::DeviceSpan<std::byte>);                   \
  KEYWORD template base::Result<cuzk::curve::Jacobian<G>> collect_product<G>(                      \
      const device::Stream&, const MsmPlan&, device::DeviceSpan<std::byte>);                       \
  KEYWORD template base::Status begin_parts<G>(const device::Stream&, const MsmPlan&,              \
                                               device::DeviceSpan<std::byte>);                     \
  KEYWORD template base::Status add_part<G>(const device::Stream&, const MsmPlan&,                 \
                                            const Terms<G>&, device::DeviceSpan<std::byte>);       \
  KEYWORD template std::uint64_t sorted_part_bytes<G>(const MsmPlan&, std::size_t);                \
  KEYWORD template base::Status sort_part<G>(const device::Stream&, const MsmPlan&,                \
                                             const Terms<G>&, device::DeviceSpan<std::byte>,       \
                                             device::DeviceSpan<std::byte>);                       \
  KEYWORD template base::Status add_sorted_part<G>(const device::Stream&, const MsmPlan&,          \
                                                   const Terms<G>&, device::DeviceSpan<std::byte>, \
                                                   device::DeviceSpan<std::byte>);                 \
  KEYWORD template base::Status end_parts<G>(const device::Stream&, const MsmPlan&,                \
                                             device::DeviceSpan<std::byte>,                        \
                                             device::DeviceSpan<std::byte>);                       \
  KEYWORD template base::Result<cuzk::curve::Jacobian<G>> multiply<G>(                             \
      const device::Stream&, const MsmPlan&, const Terms<G>&, device::DeviceSpan<std::byte>);
CUZK_CUDA_MSM_FUNCTIONS(extern, cuzk::curve::Bls12_381::G1)
CUZK_CUDA_MSM_FUNCTIONS(extern, cuzk::curve::Bls12_381::G2)
CUZK_CUDA_MSM_FUNCTIONS(extern, cuzk::curve::Bn254::G1)
CUZK_CUDA_MSM_FUNCTIONS(extern, cuzk::curve::Bn254::G2)

}  // namespace cuzk::cuda::msm
