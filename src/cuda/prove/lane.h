// What one proof at a time works with on a device: streams, events and memory for copies.
//
// A backend keeps a few, so that one proof's upload runs beside another's kernels. Memory for
// copies grows to what its proofs need, is pinned as far as the machine lets it (staging.h) and is
// counted in the ledger.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "base/check.h"
#include "cuda/device/stream.h"
#include "cuda/prove/context.h"
#include "cuda/prove/staging.h"

namespace cuzk::cuda::prove {

// Slots of 8 MiB: a cancel is seen between two of them, and one takes longer to copy than to queue.
inline constexpr std::size_t kSlotBytes = std::size_t{8} << 20;
inline constexpr int kSlotCount = 2;               // one is filled while the other is copied
inline constexpr std::size_t kResultBytes = 4096;  // small answers of the device
// Of slots and of the witness: pieces below half of it take no longer to copy than to queue.
inline constexpr std::size_t kPinnedLeastBytes = std::size_t{256} << 10;
inline constexpr int kBlockCount = 2;  // of a proof, for pieces of streamed queries

// An event that other proofs wait for too.
using SharedEvent = std::shared_ptr<const device::Event>;

// Idle in its pool or leased to one proof, whose thread alone touches it; its shared events others
// may wait for, also when the lane has gone. `compute` orders the proof's kernels; `copy` runs
// uploads beside them.
struct Lane {
  device::Stream compute, copy;
  int device_index = 0;
  device::Event slot_free[kSlotCount];     // the slot's copy has ended
  device::Event staging_free[kSlotCount];  // the same of the witness's pieces
  SharedEvent block_filled[kBlockCount];   // the piece in the block has come
  SharedEvent pass_entered;                // the end of what used the blocks before a pass
  // The ends of what read the last pieces, by turns. One that is recorded again before it was
  // waited for makes the waiter wait for more, and for nothing that is not queued.
  SharedEvent piece_read[8];
  // Asked between slots while a key is loaded through the lane, and then alone: what a proof
  // uploads of a streamed query others may wait for.
  std::stop_token load_stop;
  Staging slots, staging, results;

  // On the current device, which is the one at `device_index`.
  static base::Result<std::unique_ptr<Lane>> create(int device_index);
  // Slots and results, for a lane that is idle: taken, or what was refused of them is asked for
  // again. A lane for which that fails is of no use any more.
  base::Status prepare();
  // Room for a witness of so many bytes, or for pieces of it. The compute stream must be idle.
  base::Status grow_staging(std::uint64_t bytes);
};

// Pinned memory of the runtime, as much of it as the host can spare.
PinnedSource pinned_source();

// Queues copies of size_bytes bytes to `to` on `stream`, through the halves of `block` by turns, in
// whole units of unit_bytes. fill(offset, bytes) writes what begins at `offset`; it is called for
// each byte once, in order, until it fails. is_free[i] tells when half i may be written again.
template <class Fill>
base::Status copy_through(const device::Stream& stream, std::span<std::byte> block,
                          const device::Event (&is_free)[kSlotCount], std::byte* to,
                          std::uint64_t size_bytes, std::uint64_t unit_bytes, const Fill& fill) {
  CUZK_ASSERT(unit_bytes > 0);
  const std::uint64_t slot_bytes = block.size() / kSlotCount / 64 * 64;  // aligned for any type
  const std::uint64_t piece_bytes = slot_bytes / unit_bytes * unit_bytes;
  CUZK_ASSERT(piece_bytes > 0);
  int slot = 0;
  for (std::uint64_t offset = 0; offset < size_bytes; offset += piece_bytes) {
    const std::uint64_t count = std::min(piece_bytes, size_bytes - offset);
    CUZK_TRY_STATUS(is_free[slot].synchronize());
    const auto bytes = block.subspan(static_cast<std::size_t>(slot) * slot_bytes, count);
    CUZK_TRY_STATUS(fill(offset, bytes));
    CUZK_TRY_STATUS(device::copy_bytes_to_device(stream, to + offset, bytes.data(), count));
    CUZK_TRY_STATUS(stream.record(is_free[slot]));
    slot = (slot + 1) % kSlotCount;
  }
  return base::ok_status();
}

// Up to a number of lanes, made when they are first needed. made_ is the number of lanes there are,
// idle_ those that nobody has: a taker may go on while one is idle or made_ is below `most`. Under
// the lock; the pool outlives its leases.
class LanePool {
 public:
  // Of the device at `device_index`.
  LanePool(int device_index, unsigned most) : device_index_(device_index), most_(most) {}

  // Returns its lane to the pool, idle, when it dies.
  class Lease {
   public:
    Lease(LanePool* pool, std::unique_ptr<Lane> lane) : pool_(pool), lane_(std::move(lane)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Lane* operator->() const { return lane_.get(); }
    Lane& operator*() const { return *lane_; }

   private:
    LanePool* pool_;
    std::unique_ptr<Lane> lane_;
  };

  // Waits for a free lane, in no fixed order. kCancelled when `stop` asks first; the error of what
  // a lane needs, when it cannot be made. On the current device.
  base::Result<Lease> take(std::stop_token stop);

 private:
  // Null: the lane is gone, and another may be made instead.
  void give_back(std::unique_ptr<Lane> lane);

  const int device_index_;
  const unsigned most_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::unique_ptr<Lane>> idle_;
  unsigned made_ = 0;
};

}  // namespace cuzk::cuda::prove
