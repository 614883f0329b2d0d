// One device of this process: its memory pool, its account in the ledger, its limit.
//
// All backends of a device share one context, whatever their curve, so that the budget is one.
// Opening it is the first moment at which the device is touched.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/ledger.h"
#include "cuda/device/buffer.h"
#include "cuda/device/device.h"
#include "cuda/prove/key_shelf.h"
#include "cuda/prove/spares.h"

namespace cuzk::cuda::prove {

class Context;

// Tells the context that a proof's or a spare's memory is free.
struct MemoryRelease {
  bool is_spare = false;
  void operator()(Context* context) const noexcept;
};

// Device memory with the permit that pays for it. Movable; freed in the order of its stream.
// Members go from the last to the first: the memory, then its permit, then the word to the context
// that lets the next proof in.
class CountedBuffer {
 public:
  CountedBuffer() = default;
  CountedBuffer(CountedBuffer&&) noexcept = default;
  // What was held goes back as by the destructor: memory first, then the word that it is free.
  CountedBuffer& operator=(CountedBuffer&& other) noexcept {
    CountedBuffer taken(std::move(other));
    std::swap(release_, taken.release_);
    std::swap(permit_, taken.permit_);
    std::swap(buffer_, taken.buffer_);
    return *this;
  }
  const device::Buffer& buffer() const noexcept { return buffer_; }

 private:
  friend class Context;
  std::unique_ptr<Context, MemoryRelease> release_;  // after buffer and permit are gone
  base::Permit permit_;
  device::Buffer buffer_;
};

class Context {
 public:
  // The context of `info`, opened now or shared with who has it open. A limit of 0 takes what is
  // free. kInvalidArgument when it is open under another limit.
  static base::Result<std::shared_ptr<Context>> open(const device::DeviceInfo& info,
                                                     std::uint64_t limit_bytes);

  const device::DeviceInfo& info() const noexcept { return info_; }
  base::Account account() const noexcept { return account_; }
  std::uint64_t budget_bytes() const noexcept { return budget_bytes_; }
  const device::MemoryPool& pool() const noexcept { return pool_; }
  // The keys of all backends of the device.
  KeyShelf& keys() noexcept { return keys_; }

  // Makes the device the calling thread's current one; kUnavailable when it was condemned.
  base::Status use() const { return device::use_device(info_); }

  // Memory for long: refused when the budget has no room for it. What spares hold of that is
  // given up, and waited for until the proofs that use them have ended.
  base::Result<CountedBuffer> allocate(const device::Stream& stream, std::uint64_t bytes,
                                       base::MemoryCategory category, std::string_view owner) const;
  // Memory that may be taken away: for an item of spares(). Refused at once where it is not free.
  base::Result<CountedBuffer> allocate_spare(const device::Stream& stream, std::uint64_t bytes,
                                             std::string_view owner);
  Spares& spares() const noexcept { return spares_; }
  // Memory for one proof: gives spares up, then waits in line while other proofs hold what it
  // lacks. kResourceExhausted when none does and there still is no room, kCancelled when `stop`
  // asks first. Who holds such memory of this device already could wait for itself.
  base::Result<CountedBuffer> wait_allocate(const device::Stream& stream, std::uint64_t bytes,
                                            std::stop_token stop);
  // Proofs that hold memory now.
  unsigned proof_count() const {
    const std::lock_guard lock(mutex_);
    return holder_count_;
  }
  // What keys and circuits leave to proofs: the budget less all that is no proof's. What spares
  // hold is counted as free.
  std::uint64_t room_bytes() const;
  std::uint64_t spare_bytes() const;

 private:
  friend struct MemoryRelease;
  Context(device::DeviceInfo info, std::uint64_t limit_bytes)
      : info_(std::move(info)),
        limit_bytes_(limit_bytes),
        account_(base::Account::device(static_cast<std::uint16_t>(info_.index))) {}
  base::Result<CountedBuffer> take(base::Permit permit, const device::Stream& stream,
                                   std::uint64_t bytes) const;
  base::Result<base::Permit> admit_or_drop(const base::MemoryRequest& request) const;
  void memory_is_free(bool is_spare) noexcept;
  std::uint64_t used_bytes(bool by_spares) const;

  device::DeviceInfo info_;
  std::uint64_t limit_bytes_;
  base::Account account_;
  std::uint64_t budget_bytes_ = 0;
  device::MemoryPool pool_;

  // A proof waits (in line_, without memory), then holds (in holder_count_) until its buffer goes.
  mutable std::mutex mutex_;  // of the five below; spares_ and keys_ have their own
  mutable std::condition_variable_any changed_;
  std::list<std::uint64_t> line_;  // proofs that wait, in order of arrival
  std::uint64_t arrival_count_ = 0;
  unsigned holder_count_ = 0;  // proofs that hold memory
  unsigned spare_count_ = 0;   // spares that do; also dropped ones that a proof still uses
  mutable Spares spares_;
  KeyShelf keys_;  // last: its items go before the pool that they are from
};

}  // namespace cuzk::cuda::prove
