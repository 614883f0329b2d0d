// Bases that do not fit the device pass through it in chunks: uploads hide behind kernels.
//
// A BaseFeed has two blocks on the device. While kernels read one, the next chunk is copied to the
// other on a stream of its own, straight from pinned memory or through pinned blocks that the host
// fills (from a mapped file, say, or by decoding). A chunk that has come may be used by any number
// of sums before the next one is asked for, so partitions in flight share one pass over the bases.
// Chunks grow (chunk_schedule.h), and where memory allows, the scalars of all chunks are sorted
// while the first one is on its way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/msm/msm.h"

namespace cuzk::cuda::msm {

// Bases on the host: `pinned`, or what `read` writes when `pinned` is empty. `read` fills `out`
// with bases [first, first + out.size()) on the calling thread, one call after another.
template <class G>
struct HostBases {
  std::size_t count = 0;
  std::span<const cuzk::curve::Affine<G>> pinned;
  std::function<base::Status(std::size_t first, std::span<cuzk::curve::Affine<G>> out)> read;
};

// A chunk on the device: bases [first, first + bases.size).
template <class G>
struct BaseChunk {
  std::size_t first = 0;
  device::DeviceSpan<const cuzk::curve::Affine<G>> bases;
};

// The chunks of one pass over the bases, for one thread. A failed upload ends it; also then what
// was queued must be waited for before the blocks go.
template <class G>
class BaseFeed {
 public:
  // Bytes of both blocks on the device, and of pinned staging (none for pinned bases).
  static std::uint64_t device_bytes(std::size_t chunk_count_max);
  static std::uint64_t staging_bytes(const HostBases<G>& bases, std::size_t chunk_count_max);

  // The chunks' sizes sum to the bases' count. `blocks` holds device_bytes of the largest and
  // `staging` staging_bytes, both until the feed is gone; work that `compute` has queued so far may
  // still use the blocks. Both streams are of the current device and outlive the feed. The bases
  // stay alive until the last chunk was used.
  static base::Result<BaseFeed> create(const device::Stream& compute, const device::Stream& copy,
                                       HostBases<G> bases, std::vector<std::size_t> chunk_counts,
                                       device::DeviceSpan<std::byte> blocks,
                                       std::span<std::byte> staging);
  // The next chunk, which work queued on `compute` from here on may read until next() is called
  // again; an empty chunk after the last. Its upload begins here, and does not wait for what was
  // queued since create() unless that used the same block: call next() as soon as the work on the
  // chunk before is queued.
  base::Result<BaseChunk<G>> next();

 private:
  // A block's chunk has come (`filled`), and kernels are done with the one before (`free`). The
  // copy stream waits for `free` before it writes, the compute stream for `filled` before it reads.
  struct Block {
    device::DeviceSpan<cuzk::curve::Affine<G>> on_device;
    std::span<cuzk::curve::Affine<G>> staging;
    device::Event filled, free;
    bool is_staging_busy = false;
  };
  BaseFeed() = default;
  base::Status upload();

  const device::Stream *compute_ = nullptr, *copy_ = nullptr;
  HostBases<G> bases_;
  std::vector<std::size_t> chunk_counts_;
  std::size_t begun_ = 0, turn_ = 0;  // chunks whose upload has begun, the block of the last one
  BaseChunk<G> current_;              // the chunk that was uploaded last
  std::array<Block, 2> blocks_;
};

// What a streamed sum needs beside its bases and scalars. The chunks' sizes sum to msm.count, none
// is above msm.part_count_max.
struct StreamedPlan {
  MsmPlan msm;  // in parts of the chunks
  std::vector<std::size_t> chunk_counts;
  bool sorts_first = false;         // all scalars, while the first chunk is on its way
  std::uint64_t scratch_bytes = 0;  // on the device: sums, buckets, blocks of bases and scalars
  std::uint64_t staging_bytes = 0;  // pinned
  bool scalars_on_host = false;
};

// Scalars of a streamed sum: on the device, or on the host (pinned for speed), uploaded in chunks.
template <class G>
struct StreamedScalars {
  device::DeviceSpan<const Scalar<G>> on_device;
  std::span<const Scalar<G>> on_host;
  ScalarForm form = ScalarForm::kCanonical;
};

// Chunks have at most chunk_count_max (at least 1) bases, fewer where policy.scratch_bytes_max is
// short. Host arithmetic alone; kUnsupported as plan_parts.
template <class G>
base::Result<StreamedPlan> plan_streamed(const HostBases<G>& bases, bool scalars_on_host,
                                         const MsmPolicy& policy = {},
                                         std::size_t chunk_count_max = std::size_t{1} << 25);

// sum of scalars[i] * bases[i], equal to multiply() over resident bases. Waits for both streams.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> multiply_streamed(
    const device::Stream& compute, const device::Stream& copy, const StreamedPlan& plan,
    const HostBases<G>& bases, const StreamedScalars<G>& scalars,
    device::DeviceSpan<std::byte> scratch, std::span<std::byte> staging);

#define CUZK_CUDA_STREAMED(KEYWORD, G)                                                         \
  KEYWORD template class BaseFeed<G>;                                                          \
  KEYWORD template base::Result<StreamedPlan> plan_streamed<G>(const HostBases<G>&, bool,      \
                                                               const MsmPolicy&, std::size_t); \
  KEYWORD template base::Result<cuzk::curve::Jacobian<G>> multiply_streamed<G>(                \
      const device::Stream&, const device::Stream&, const StreamedPlan&, const HostBases<G>&,  \
      const StreamedScalars<G>&, device::DeviceSpan<std::byte>, std::span<std::byte>);
CUZK_CUDA_STREAMED(extern, cuzk::curve::Bls12_381::G1)
CUZK_CUDA_STREAMED(extern, cuzk::curve::Bls12_381::G2)
CUZK_CUDA_STREAMED(extern, cuzk::curve::Bn254::G1)
CUZK_CUDA_STREAMED(extern, cuzk::curve::Bn254::G2)

}  // namespace cuzk::cuda::msm
