// One lock around the places; CUDA calls under it only queue work.
//
// Events do the waiting on the devices: `ready` says that a place may be written, `arrived` that it
// was. Hosts wait on the condition variable for no more than that these are recorded.
#include "cuda/prove/quotient_handover.h"

#include "base/check.h"

namespace cuzk::cuda::prove {

// Until the condition holds, somebody has failed, or `stop` asks: a failure comes first, as what is
// there then is of no use.
template <class Condition>
base::Status QuotientHandover::wait(std::unique_lock<std::mutex>& lock, std::stop_token stop,
                                    const Condition& condition) {
  const bool is_there =
      changed_.wait(lock, std::move(stop), [&] { return failure_ || condition(); });
  if (!is_there) {
    return base::Error{base::ErrorKind::kCancelled, "cancelled while devices wait for each other"};
  }
  if (failure_) return *failure_;
  return base::ok_status();
}

// The event is made outside the lock, and is the receiver's device's own.
base::Status QuotientHandover::offer(std::size_t seat, int index, std::uint64_t offset,
                                     device::DeviceSpan<std::byte> place,
                                     const device::Stream& stream) {
  CUZK_ASSERT(seat > 0 && seat < places_.size() && (place.data != nullptr || place.size == 0));
  CUZK_TRY(auto ready, device::Event::create());
  CUZK_TRY_STATUS(stream.record(ready));
  {
    const std::lock_guard lock(mutex_);
    Place& own = places_[seat];
    CUZK_ASSERT(!own.is_decided);
    own.is_decided = own.is_wanted = true;
    own.index = index;
    own.offset = offset;
    own.bytes = place;
    own.ready = std::move(ready);
  }
  changed_.notify_all();
  return base::ok_status();
}

void QuotientHandover::decline(std::size_t seat) {
  {
    const std::lock_guard lock(mutex_);
    CUZK_ASSERT(seat > 0 && seat < places_.size() && !places_[seat].is_decided);
    places_[seat].is_decided = true;
  }
  changed_.notify_all();
}

base::Status QuotientHandover::send(int index, device::DeviceSpan<const std::byte> scalars,
                                    const device::Stream& compute, const device::Stream& copy,
                                    std::stop_token stop) {
  // On the copy stream, so that the sum over H here runs beside the copies.
  CUZK_TRY(const auto formed, device::Event::create());
  CUZK_TRY_STATUS(compute.record(formed));
  CUZK_TRY_STATUS(copy.wait(formed));
  for (std::size_t seat = 1; seat < places_.size(); ++seat) {
    std::unique_lock lock(mutex_);
    Place& place = places_[seat];
    CUZK_TRY_STATUS(wait(lock, stop, [&] { return place.is_decided; }));
    if (!place.is_wanted) continue;
    CUZK_ASSERT(!place.is_sent);
    CUZK_ASSERT(place.offset + place.bytes.size <= scalars.size);
    CUZK_TRY(place.arrived, device::Event::create());
    CUZK_TRY_STATUS(copy.wait(place.ready));
    CUZK_TRY_STATUS(device::copy_bytes_between_devices(
        copy, place.bytes.data, place.index, scalars.data + place.offset, index, place.bytes.size));
    CUZK_TRY_STATUS(copy.record(place.arrived));
    place.is_sent = true;
    lock.unlock();
    changed_.notify_all();
  }
  return base::ok_status();
}

base::Status QuotientHandover::wait_until_sent(const device::Stream& compute) const {
  // Only the sender writes is_sent and `arrived`, and it is who asks.
  for (const Place& place : places_) {
    if (place.is_sent) CUZK_TRY_STATUS(compute.wait(place.arrived));
  }
  return base::ok_status();
}

// Waits on the host until the copy is queued, then on the stream until it has come.
base::Status QuotientHandover::receive(std::size_t seat, const device::Stream& stream,
                                       std::stop_token stop) {
  CUZK_ASSERT(seat > 0 && seat < places_.size());
  std::unique_lock lock(mutex_);
  const Place& place = places_[seat];
  CUZK_TRY_STATUS(wait(lock, std::move(stop), [&] { return place.is_sent; }));
  return stream.wait(place.arrived);
}

// The first failure stays: later ones follow from it.
void QuotientHandover::abandon(base::Error reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(reason);
  }
  changed_.notify_all();
}

}  // namespace cuzk::cuda::prove
