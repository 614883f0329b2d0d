// Two blocks by turns: the copy stream waits for the kernels of two chunks ago, the compute stream
// for the copy. The host waits only to refill pinned staging, for the copy of two chunks ago.
#include "cuda/msm/streamed.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cuda/msm/chunk_schedule.h"

namespace cuzk::cuda::msm {
namespace {

// Parts of an arena begin at multiples of this: sizes that are added up here are taken there.
constexpr std::uint64_t kAlignmentBytes = 256;
std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

// How many bases are uploaded in the time in which one is summed: a sum takes so long a window as a
// fifth of an upload, in an extension field a third (measured, 55 GB/s).
template <class G>
double growth_of(const MsmPlan& plan) {
  const bool is_extension = sizeof(typename G::Field) > sizeof(typename G::Curve::Fp);
  return plan.layout.window_count / (is_extension ? 3.0 : 5.0);
}

// Chunks of a plan. Sorting all scalars takes a quarter of the upload of all bases, and hides the
// first upload; without, that one hides behind nothing.
template <class G>
std::vector<std::size_t> chunks_of(const MsmPlan& plan, bool sorts_first) {
  const std::size_t first_max = sorts_first ? (plan.count + 3) / 4 : plan.part_count_max / 12;
  return chunk_schedule(plan.count, plan.part_count_max, growth_of<G>(plan), first_max);
}

// What the sorted entries of all chunks take, each as a part of an arena.
template <class G>
std::uint64_t sorted_bytes(const MsmPlan& plan, const std::vector<std::size_t>& chunks) {
  std::uint64_t bytes = 0;
  for (const std::size_t count : chunks) bytes += aligned(sorted_part_bytes<G>(plan, count));
  return bytes;
}

// The first `count` elements of untyped memory.
template <class T>
device::DeviceSpan<T> typed(device::DeviceSpan<std::byte> bytes, std::size_t count) {
  CUZK_ASSERT(count <= bytes.size / sizeof(T));
  return {reinterpret_cast<T*>(bytes.data), count};
}

}  // namespace

template <class G>
std::uint64_t BaseFeed<G>::device_bytes(std::size_t chunk_count_max) {
  return 2 * aligned(chunk_count_max * sizeof(cuzk::curve::Affine<G>));
}

template <class G>
std::uint64_t BaseFeed<G>::staging_bytes(const HostBases<G>& bases, std::size_t chunk_count_max) {
  if (!bases.pinned.empty() || bases.count == 0) return 0;
  return 2 * aligned(chunk_count_max * sizeof(cuzk::curve::Affine<G>));
}

// Both blocks are as long as the largest chunk, so that any chunk may come to either.
template <class G>
base::Result<BaseFeed<G>> BaseFeed<G>::create(const device::Stream& compute,
                                              const device::Stream& copy, HostBases<G> bases,
                                              std::vector<std::size_t> chunk_counts,
                                              device::DeviceSpan<std::byte> blocks,
                                              std::span<std::byte> staging) {
  using Point = cuzk::curve::Affine<G>;
  std::size_t largest = 0, sum = 0;
  for (const std::size_t count : chunk_counts) {
    CUZK_ASSERT(count > 0);
    largest = std::max(largest, count);
    sum += count;
  }
  CUZK_ASSERT(sum == bases.count && blocks.size >= device_bytes(largest));
  CUZK_ASSERT(bases.pinned.empty() || bases.pinned.size() == bases.count);
  CUZK_ASSERT(staging.size() >= staging_bytes(bases, largest));
  BaseFeed feed;
  feed.compute_ = &compute;
  feed.copy_ = &copy;
  feed.bases_ = std::move(bases);
  feed.chunk_counts_ = std::move(chunk_counts);
  const std::uint64_t block_bytes = aligned(largest * sizeof(Point));
  for (std::size_t i = 0; i < 2; ++i) {
    Block& block = feed.blocks_[i];
    block.on_device = typed<Point>(blocks.subset(i * block_bytes, block_bytes), largest);
    if (feed.bases_.pinned.empty() && feed.bases_.count > 0) {
      block.staging = {reinterpret_cast<Point*>(staging.data() + i * block_bytes), largest};
    }
    CUZK_TRY(block.filled, device::Event::create());
    CUZK_TRY(block.free, device::Event::create());
    // Behind whatever used the blocks before: the first upload waits for that.
    CUZK_TRY_STATUS(compute.record(block.free));
  }
  return feed;
}

// Uploads the chunk after the current one to the block whose turn it is.
template <class G>
base::Status BaseFeed<G>::upload() {
  CUZK_ASSERT(compute_ != nullptr && copy_ != nullptr && turn_ < blocks_.size());
  const std::size_t first = current_.first + current_.bases.size;
  const std::size_t count = begun_ < chunk_counts_.size() ? chunk_counts_[begun_] : 0;
  Block& block = blocks_[turn_];
  current_ = {first, {block.on_device.data, count}};
  if (count == 0) return base::ok_status();
  CUZK_ASSERT(first + count <= bases_.count && count <= block.on_device.size);
  ++begun_;
  std::span<const cuzk::curve::Affine<G>> from;
  if (block.staging.empty()) {
    from = bases_.pinned.subspan(first, count);
  } else {
    // The host may not write over bytes that a copy still reads.
    if (block.is_staging_busy) CUZK_TRY_STATUS(block.filled.synchronize());
    CUZK_TRY_STATUS(bases_.read(first, block.staging.first(count)));
    block.is_staging_busy = true;
    from = block.staging.first(count);
  }
  CUZK_TRY_STATUS(copy_->wait(block.free));
  CUZK_TRY_STATUS(
      device::upload<cuzk::curve::Affine<G>>(*copy_, block.on_device.first(count), from));
  return copy_->record(block.filled);
}

template <class G>
base::Result<BaseChunk<G>> BaseFeed<G>::next() {
  // What was queued so far reads the chunk before; only now is the upload of the next one queued
  // (and staging filled by the host), while those kernels run.
  if (begun_ > 0) {
    CUZK_TRY_STATUS(compute_->record(blocks_[turn_].free));
    turn_ = 1 - turn_;
  }
  CUZK_TRY_STATUS(upload());
  if (current_.bases.size != 0) CUZK_TRY_STATUS(compute_->wait(blocks_[turn_].filled));
  return current_;
}

// Two blocks of scalars by turns, uploaded on the copy stream. A turn is next(), kernels that read,
// release(); with scalars on the device the blocks are empty and only release() is called.
template <class G>
class ScalarFeed {
 public:
  static base::Result<ScalarFeed> create(const device::Stream& compute, const device::Stream& copy,
                                         device::Arena& arena, std::size_t chunk_count) {
    ScalarFeed feed;
    feed.compute_ = &compute;
    feed.copy_ = &copy;
    for (Block& block : feed.blocks_) {
      block.on_device = arena.take<Scalar<G>>(chunk_count);
      CUZK_TRY(block.filled, device::Event::create());
      CUZK_TRY(block.free, device::Event::create());
      CUZK_TRY_STATUS(compute.record(block.free));
    }
    return feed;
  }
  // Usable by what is queued on the compute stream until release().
  base::Result<device::DeviceSpan<const Scalar<G>>> next(std::span<const Scalar<G>> from) {
    Block& block = blocks_[turn_];
    CUZK_ASSERT(from.size() <= block.on_device.size);
    CUZK_TRY_STATUS(copy_->wait(block.free));
    CUZK_TRY_STATUS(device::upload<Scalar<G>>(*copy_, block.on_device.first(from.size()), from));
    CUZK_TRY_STATUS(copy_->record(block.filled));
    CUZK_TRY_STATUS(compute_->wait(block.filled));
    return device::DeviceSpan<const Scalar<G>>{block.on_device.data, from.size()};
  }
  base::Status release() {
    CUZK_TRY_STATUS(compute_->record(blocks_[turn_].free));
    turn_ = 1 - turn_;
    return base::ok_status();
  }

 private:
  struct Block {
    device::DeviceSpan<Scalar<G>> on_device;
    device::Event filled, free;
  };
  const device::Stream *compute_ = nullptr, *copy_ = nullptr;
  std::array<Block, 2> blocks_;
  std::size_t turn_ = 0;
};

// The sum is planned with its blocks as part of the scratch, then once more beside the sorted
// entries if those are small enough to be worth their room.
template <class G>
base::Result<StreamedPlan> plan_streamed(const HostBases<G>& bases, bool scalars_on_host,
                                         const MsmPolicy& policy, std::size_t chunk_count_max) {
  StreamedPlan plan;
  plan.scalars_on_host = scalars_on_host;
  const std::uint64_t scalar_bytes = scalars_on_host ? 2 * sizeof(Scalar<G>) : 0;
  const std::uint64_t term_bytes = 2 * sizeof(cuzk::curve::Affine<G>) + scalar_bytes;
  MsmPolicy plain = policy;
  plain.table_count = 1;
  // Without tables of multiples: they would be as many times the bases to stream. Two blocks of
  // bases (and of scalars) share the scratch with the sum, so each term of a part weighs
  // term_bytes.
  CUZK_TRY(plan.msm, plan_parts<G>(bases.count, chunk_count_max, plain, term_bytes));
  plan.chunk_counts = chunks_of<G>(plan.msm, false);
  // Sorted entries of all chunks may take a quarter of the scratch.
  const std::uint64_t kept_bytes = sorted_bytes<G>(plan.msm, plan.chunk_counts);
  if (!scalars_on_host && plan.chunk_counts.size() > 1 &&
      kept_bytes <= policy.scratch_bytes_max / 4) {
    // The sum is planned anew beside them. It may come out with other windows and so with other
    // chunks; sorting first is taken only where all of that still fits.
    plain.scratch_bytes_max -= kept_bytes;
    CUZK_TRY(const MsmPlan beside, plan_parts<G>(bases.count, chunk_count_max, plain, term_bytes));
    const std::vector<std::size_t> chunks = chunks_of<G>(beside, true);
    if (beside.scratch_bytes + beside.part_count_max * term_bytes <= plain.scratch_bytes_max &&
        sorted_bytes<G>(beside, chunks) <= kept_bytes) {
      plan.msm = beside;
      plan.sorts_first = true;
      plan.chunk_counts = chunks;
    }
  }
  const std::size_t chunk = plan.msm.part_count_max;
  plan.scratch_bytes = aligned(plan.msm.scratch_bytes) + aligned(plan.msm.sums_bytes) +
                       BaseFeed<G>::device_bytes(chunk) + 2 * aligned(chunk * scalar_bytes / 2);
  if (plan.sorts_first) plan.scratch_bytes += sorted_bytes<G>(plan.msm, plan.chunk_counts);
  plan.staging_bytes = BaseFeed<G>::staging_bytes(bases, chunk);
  return plan;
}

// The scalars of all chunks of a streamed sum, sorted on the device.
template <class G>
base::Result<std::vector<device::DeviceSpan<std::byte>>> sort_chunks(
    const device::Stream& compute, const StreamedPlan& plan, const StreamedScalars<G>& scalars,
    device::DeviceSpan<std::byte> own, device::Arena& arena) {
  CUZK_ASSERT(plan.sorts_first && scalars.on_device.size >= plan.msm.count);
  std::vector<device::DeviceSpan<std::byte>> sorted;
  std::size_t first = 0;
  for (const std::size_t count : plan.chunk_counts) {
    sorted.push_back(arena.take<std::byte>(sorted_part_bytes<G>(plan.msm, count)));
    Terms<G> terms;
    terms.bases.size = count;  // how many there will be; none is read
    terms.form = scalars.form;
    terms.scalars = scalars.on_device.subset(first, count);
    CUZK_TRY_STATUS(sort_part<G>(compute, plan.msm, terms, own, sorted.back()));
    first += count;
  }
  return sorted;
}

template <class G>
base::Result<cuzk::curve::Jacobian<G>> multiply_streamed(
    const device::Stream& compute, const device::Stream& copy, const StreamedPlan& plan,
    const HostBases<G>& bases, const StreamedScalars<G>& scalars,
    device::DeviceSpan<std::byte> scratch, std::span<std::byte> staging) {
  CUZK_ASSERT(scratch.size >= plan.scratch_bytes && bases.count == plan.msm.count);
  CUZK_ASSERT((plan.scalars_on_host ? scalars.on_host.size() : scalars.on_device.size) >=
              bases.count);
  if (bases.count == 0) return cuzk::curve::Jacobian<G>::infinity();
  const std::size_t chunk_count = plan.msm.part_count_max;
  // In the order in which plan_streamed added them up.
  device::Arena arena(scratch);
  const auto own = arena.take<std::byte>(plan.msm.scratch_bytes);
  const auto sums = arena.take<std::byte>(plan.msm.sums_bytes);
  const auto blocks = arena.take<std::byte>(BaseFeed<G>::device_bytes(chunk_count));
  CUZK_TRY(BaseFeed<G> feed,
           BaseFeed<G>::create(compute, copy, bases, plan.chunk_counts, blocks, staging));
  CUZK_TRY(ScalarFeed<G> scalar_feed,
           ScalarFeed<G>::create(compute, copy, arena, plan.scalars_on_host ? chunk_count : 0));
  // From here on all is queued: the host waits in feed.next() for staging alone, and for the sums.
  CUZK_TRY_STATUS(begin_parts<G>(compute, plan.msm, own));
  std::vector<device::DeviceSpan<std::byte>> sorted;
  if (plan.sorts_first) {
    CUZK_TRY(sorted, sort_chunks<G>(compute, plan, scalars, own, arena));
  }
  for (std::size_t i = 0; i < plan.chunk_counts.size(); ++i) {
    CUZK_TRY(const BaseChunk<G> chunk, feed.next());
    const std::size_t count = chunk.bases.size;
    Terms<G> terms;
    terms.bases = chunk.bases;
    terms.form = scalars.form;
    if (plan.scalars_on_host) {
      CUZK_TRY(terms.scalars, scalar_feed.next(scalars.on_host.subspan(chunk.first, count)));
    } else {
      terms.scalars = scalars.on_device.subset(chunk.first, count);
    }
    if (plan.sorts_first) {
      CUZK_TRY_STATUS(add_sorted_part<G>(compute, plan.msm, terms, own, sorted[i]));
    } else {
      CUZK_TRY_STATUS(add_part<G>(compute, plan.msm, terms, own));
    }
    CUZK_TRY_STATUS(scalar_feed.release());
  }
  CUZK_TRY_STATUS(end_parts<G>(compute, plan.msm, own, sums));
  return collect_product<G>(compute, plan.msm, sums);
}

CUZK_CUDA_STREAMED(, cuzk::curve::Bls12_381::G1)
CUZK_CUDA_STREAMED(, cuzk::curve::Bls12_381::G2)
CUZK_CUDA_STREAMED(, cuzk::curve::Bn254::G1)
CUZK_CUDA_STREAMED(, cuzk::curve::Bn254::G2)

}  // namespace cuzk::cuda::msm
