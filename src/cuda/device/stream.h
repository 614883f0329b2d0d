// Streams and events that close themselves.
//
// Calls return when work is queued, unless they say that they wait. A default-constructed one is
// empty and names CUDA's default stream or no event; create() makes a real one. Streams may be used
// from several threads, but the order of their work is then the callers' affair.
#pragma once

#include <memory>

#include "base/result.h"

struct CUstream_st;
struct CUevent_st;

namespace cuzk::cuda::device {

// Deleters for unique_ptr; the forward-declared structs keep CUDA's header out of this one.
struct StreamCloser {
  void operator()(CUstream_st* stream) const noexcept;
};
struct EventCloser {
  void operator()(CUevent_st* event) const noexcept;
};

// A point in a stream's work, for ordering and for timing. Each record() moves it: who waits, waits
// for the last one. Never recorded, it counts as passed: the first use of a slot relies on that.
class Event {
 public:
  // On the current device, with timing.
  static base::Result<Event> create();
  CUevent_st* handle() const noexcept { return handle_.get(); }
  // Blocks the calling thread until the stream has come to the event; the first error of its work.
  base::Status synchronize() const;
  // Whether all work before it is done; asks and does not wait.
  base::Result<bool> has_passed() const;
  // Milliseconds from `earlier` to this event; both must have been passed.
  base::Result<float> milliseconds_since(const Event& earlier) const;

 private:
  std::unique_ptr<CUevent_st, EventCloser> handle_;
};

// An in-order queue of work on the device that was current at creation. Closing it waits for
// nothing; whoever frees memory that the stream still uses must synchronise first.
class Stream {
 public:
  // On the current device.
  static base::Result<Stream> create();
  CUstream_st* handle() const noexcept { return handle_.get(); }
  // Waits for all work so far and returns its first error.
  base::Status synchronize() const;
  // Puts the event behind all work so far; wait() holds later work back until the event has passed.
  base::Status record(const Event& event) const;
  base::Status wait(const Event& event) const;

 private:
  std::unique_ptr<CUstream_st, StreamCloser> handle_;
};

}  // namespace cuzk::cuda::device
