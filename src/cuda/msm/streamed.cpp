// Two blocks by turns: the copy stream waits for the kernels of two chunks ago, the compute stream
// for the copy. The host waits only to refill pinned staging, for the copy of two chunks ago.
#include "cuda/msm/streamed.h"

#include <algorithm>
#include <utility>

namespace cuzk::cuda::msm {
namespace {

// Parts of an arena begin at multiples of this.
constexpr std::uint64_t kAlignmentBytes = 256;
// The first chunk's share of a block, and how much larger each next one is: a sum takes about three
// times as long as the upload of its bases.
constexpr std::size_t kFirstShare = 12, kGrowth = 3;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

template <class T>
device::DeviceSpan<T> typed(device::DeviceSpan<std::byte> bytes, std::size_t count) {
  CUZK_CHECK(count <= bytes.size / sizeof(T));
  return {reinterpret_cast<T*>(bytes.data), count};
}

}  // namespace

template <class G>
std::uint64_t BaseFeed<G>::device_bytes(std::size_t chunk_count) {
  return 2 * aligned(chunk_count * sizeof(cuzk::curve::Affine<G>));
}

template <class G>
std::uint64_t BaseFeed<G>::staging_bytes(const HostBases<G>& bases, std::size_t chunk_count) {
  if (!bases.pinned.empty() || bases.count == 0) return 0;
  return 2 * aligned(chunk_count * sizeof(cuzk::curve::Affine<G>));
}

template <class G>
base::Result<BaseFeed<G>> BaseFeed<G>::create(const device::Stream& compute,
                                              const device::Stream& copy, HostBases<G> bases,
                                              std::size_t chunk_count,
                                              device::DeviceSpan<std::byte> blocks,
                                              std::span<std::byte> staging) {
  using Point = cuzk::curve::Affine<G>;
  CUZK_CHECK(chunk_count > 0 && blocks.size >= device_bytes(chunk_count));
  CUZK_CHECK(bases.pinned.empty() || bases.pinned.size() == bases.count);
  CUZK_CHECK(staging.size() >= staging_bytes(bases, chunk_count));
  BaseFeed feed;
  feed.compute_ = &compute;
  feed.copy_ = &copy;
  feed.bases_ = std::move(bases);
  feed.chunk_count_ = chunk_count;
  const std::uint64_t block_bytes = aligned(chunk_count * sizeof(Point));
  for (std::size_t i = 0; i < 2; ++i) {
    Block& block = feed.blocks_[i];
    block.on_device = typed<Point>(blocks.subset(i * block_bytes, block_bytes), chunk_count);
    if (feed.bases_.pinned.empty() && feed.bases_.count > 0) {
      block.staging = {reinterpret_cast<Point*>(staging.data() + i * block_bytes), chunk_count};
    }
    CUZK_TRY(block.filled, device::Event::create());
    CUZK_TRY(block.free, device::Event::create());
    CUZK_TRY_STATUS(compute.record(block.free));
  }
  CUZK_TRY_STATUS(feed.upload());
  return feed;
}

// Uploads the chunk after the current one to the block whose turn it is.
template <class G>
base::Status BaseFeed<G>::upload() {
  const std::size_t first = current_.first + current_.bases.size;
  const std::size_t wanted = first == 0 ? std::max<std::size_t>(1, chunk_count_ / kFirstShare)
                                        : kGrowth * current_.bases.size;
  const std::size_t count = std::min({wanted, chunk_count_, bases_.count - first});
  Block& block = blocks_[turn_];
  current_ = {first, {block.on_device.data, count}};
  if (count == 0) return base::ok_status();
  std::span<const cuzk::curve::Affine<G>> from;
  if (block.staging.empty()) {
    from = bases_.pinned.subspan(first, count);
  } else {
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
  if (has_begun_) {
    CUZK_TRY_STATUS(compute_->record(blocks_[turn_].free));
    turn_ = 1 - turn_;
    CUZK_TRY_STATUS(upload());
  }
  has_begun_ = true;
  if (current_.bases.size != 0) CUZK_TRY_STATUS(compute_->wait(blocks_[turn_].filled));
  return current_;
}

// Two blocks of scalars by turns, uploaded on the copy stream.
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

template <class G>
base::Result<StreamedPlan> plan_streamed(const HostBases<G>& bases, bool scalars_on_host,
                                         const MsmPolicy& policy, std::size_t chunk_count_max) {
  StreamedPlan plan;
  plan.scalars_on_host = scalars_on_host;
  const std::uint64_t scalar_bytes = scalars_on_host ? 2 * sizeof(Scalar<G>) : 0;
  const std::uint64_t term_bytes = 2 * sizeof(cuzk::curve::Affine<G>) + scalar_bytes;
  MsmPolicy plain = policy;
  plain.table_count = 1;
  CUZK_TRY(plan.msm, plan_parts<G>(bases.count, chunk_count_max, plain, term_bytes));
  const std::size_t chunk = plan.msm.part_count_max;
  plan.scratch_bytes = aligned(plan.msm.scratch_bytes) + aligned(plan.msm.sums_bytes) +
                       BaseFeed<G>::device_bytes(chunk) + 2 * aligned(chunk * scalar_bytes / 2);
  plan.staging_bytes = BaseFeed<G>::staging_bytes(bases, chunk);
  return plan;
}

template <class G>
base::Result<cuzk::curve::Jacobian<G>> multiply_streamed(
    const device::Stream& compute, const device::Stream& copy, const StreamedPlan& plan,
    const HostBases<G>& bases, const StreamedScalars<G>& scalars,
    device::DeviceSpan<std::byte> scratch, std::span<std::byte> staging) {
  CUZK_CHECK(scratch.size >= plan.scratch_bytes && bases.count == plan.msm.count);
  if (bases.count == 0) return cuzk::curve::Jacobian<G>::infinity();
  const std::size_t chunk_count = plan.msm.part_count_max;
  device::Arena arena(scratch);
  const auto own = arena.take<std::byte>(plan.msm.scratch_bytes);
  const auto sums = arena.take<std::byte>(plan.msm.sums_bytes);
  const auto blocks = arena.take<std::byte>(BaseFeed<G>::device_bytes(chunk_count));
  CUZK_TRY_STATUS(begin_parts<G>(compute, plan.msm, own));
  CUZK_TRY(BaseFeed<G> feed,
           BaseFeed<G>::create(compute, copy, bases, chunk_count, blocks, staging));
  CUZK_TRY(ScalarFeed<G> scalar_feed,
           ScalarFeed<G>::create(compute, copy, arena, plan.scalars_on_host ? chunk_count : 0));
  for (;;) {
    CUZK_TRY(const BaseChunk<G> chunk, feed.next());
    const std::size_t count = chunk.bases.size;
    if (count == 0) break;
    Terms<G> terms;
    terms.bases = chunk.bases;
    terms.form = scalars.form;
    if (plan.scalars_on_host) {
      CUZK_TRY(terms.scalars, scalar_feed.next(scalars.on_host.subspan(chunk.first, count)));
    } else {
      terms.scalars = scalars.on_device.subset(chunk.first, count);
    }
    CUZK_TRY_STATUS(add_part<G>(compute, plan.msm, terms, own));
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
