// What one proof at a time works with on a device: streams, events and pinned memory.
//
// A backend keeps a few, so that one proof's upload runs beside another's kernels. Pinned memory
// grows to what its proofs need and is counted in the ledger.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "cuda/device/stream.h"
#include "cuda/prove/context.h"

namespace cuzk::cuda::prove {

inline constexpr std::size_t kSlotBytes = std::size_t{8} << 20;
inline constexpr int kSlotCount = 2;
inline constexpr std::size_t kResultBytes = 4096;  // small answers of the device
inline constexpr int kBlockCount = 2;              // of a proof, for pieces of streamed queries

// An event that other proofs wait for too.
using SharedEvent = std::shared_ptr<const device::Event>;

struct Lane {
  device::Stream compute, copy;
  device::Event slot_free[kSlotCount];    // the slot's copy has ended
  SharedEvent block_filled[kBlockCount];  // the piece in the block has come
  SharedEvent pass_entered;               // the end of what used the blocks before a pass
  // The ends of what read the last pieces, by turns. One that is recorded again before it was
  // waited for makes the waiter wait for more, and for nothing that is not queued.
  SharedEvent piece_read[8];
  // Asked between slots while a key is loaded through the lane, and then alone: what a proof
  // uploads of a streamed query others may wait for.
  std::stop_token load_stop;
  base::Permit slots_permit, staging_permit;
  device::PinnedBuffer slots, staging, results;

  // On the current device.
  static base::Result<std::unique_ptr<Lane>> create();
  // Pinned bytes for the witness, at least so many. The compute stream must be idle.
  base::Status grow_staging(std::uint64_t bytes);
};

// Up to a number of lanes, made when they are first needed.
class LanePool {
 public:
  explicit LanePool(unsigned most) : most_(most) {}

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

  // Waits for a free lane. kCancelled when `stop` asks first. On the current device.
  base::Result<Lease> take(std::stop_token stop);

 private:
  void give_back(std::unique_ptr<Lane> lane);

  const unsigned most_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::unique_ptr<Lane>> idle_;
  unsigned made_ = 0;
};

}  // namespace cuzk::cuda::prove
