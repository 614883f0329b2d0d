// How the scalars of H get from the device that forms them to those that sum a part of them.
//
// Each receiver offers a place, the sender copies to all of them behind its transforms, and each
// receiver's stream waits for its copy. Hosts wait for each other only until work is queued. Who
// fails abandons the handover, so that nobody waits for what will not come.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/device/stream.h"

namespace cuzk::cuda::prove {

// For one proof. Seat 0 forms and sends; each other seat offers or declines once, and receives if
// it offered. A place goes from undecided to wanted or not, and from wanted to sent; a failure ends
// all of it. Thread-safe; it outlives the threads of all parts.
class QuotientHandover {
 public:
  explicit QuotientHandover(std::size_t device_count) : places_(device_count) {}
  QuotientHandover(const QuotientHandover&) = delete;

  // Receiver number `seat`, once: bytes [offset, offset + place.size) of all scalars belong at
  // `place`, on device `index`, which may be written when `stream` has come here. On that device.
  base::Status offer(std::size_t seat, int index, std::uint64_t offset,
                     device::DeviceSpan<std::byte> place, const device::Stream& stream);
  // A seat that wants none of the scalars.
  void decline(std::size_t seat);

  // The sender, seat 0 on device `index`: queues the copies on `copy`, behind what `compute` has
  // been given. Waits for all offers. `scalars` must stay until `compute` has passed
  // wait_until_sent().
  base::Status send(int index, device::DeviceSpan<const std::byte> scalars,
                    const device::Stream& compute, const device::Stream& copy,
                    std::stop_token stop);
  // What `compute` is given later may write over the scalars.
  base::Status wait_until_sent(const device::Stream& compute) const;

  // Receiver: waits until its copy is queued; what `stream` is given later runs after it.
  base::Status receive(std::size_t seat, const device::Stream& stream, std::stop_token stop);

  // The part that failed, whichever it is: who waits or comes to wait gets the first such error.
  void abandon(base::Error reason);

 private:
  struct Place {
    bool is_decided = false, is_wanted = false, is_sent = false;
    int index = 0;
    std::uint64_t offset = 0;
    device::DeviceSpan<std::byte> bytes;
    device::Event ready, arrived;  // of the receiver's and of the sender's device
  };
  template <class Condition>
  base::Status wait(std::unique_lock<std::mutex>& lock, std::stop_token stop,
                    const Condition& condition);

  std::mutex mutex_;  // of all below
  std::condition_variable_any changed_;
  std::optional<base::Error> failure_;
  std::vector<Place> places_;
};

}  // namespace cuzk::cuda::prove
