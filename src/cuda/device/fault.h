// What a CUDA status means for us, and which devices are no longer to be trusted.
//
// Apart from the runtime, so that it is tested on machines without one: statuses come in as their
// numbers. A device that lost its context, or that computed wrongly, is condemned for the rest of
// the process: whoever asks for it later is refused with the first reason, and no result that was
// on it is used. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::cuda::device {

// What follows from a status: whether the call may be tried again, elsewhere, or on no device.
enum class Fault {
  kNone,
  kOutOfMemory,  // the device stays usable
  kLost,         // sticky: each later call on the context would return the same status
  kAbsent,       // no driver, no device, or a driver that is too old
  kOther,        // a call that was wrong; the device stays usable
};

// The class of a cudaError_t. Which are sticky: CUDA Runtime API, "Error handling".
Fault fault_of(int code) noexcept;

// The error for status `code`, whose text is `text`, of `call` on device `device`. Memory is
// kResourceExhausted; a lost device is condemned and kUnavailable; an absent one kUnavailable; all
// else kInternal.
base::Error fault_error(int code, std::string_view text, std::string_view call, int device);

// What an error of a call that pins host memory means: whatever the machine says while the device
// stays usable (limits of locked memory come as operating system calls that failed, or as calls
// that are not supported) is kResourceExhausted.
base::Error pinning_error(base::Error error);

// What the two below ask of the runtime: error.cpp has the real one, tests make one up.
struct RuntimeCalls {
  std::string (*status_text)(int code) = nullptr;
  int (*current_device)() = nullptr;        // of this thread; negative when it is not told
  int (*set_device)(int device) = nullptr;  // a status
};

// fault_error on the thread's current device: where the runtime does not tell, that of use_by.
base::Error error_by(const RuntimeCalls& runtime, int code, std::string_view call);
// Makes the device the thread's current one, unless it is condemned: then nothing is called.
base::Status use_by(const RuntimeCalls& runtime, int device);

// From now on the device is refused with `reason`; the first reason stays.
void condemn(int device, std::string_view reason);

// ok, or kUnavailable with the reason why the device is refused.
base::Status check_usable(int device);

// For tests: no device is condemned.
void forget_condemned();

// Counts pinned bytes of the process. Refused, and not counted, where that would be more than
// limit_pinned() allows.
bool count_pinned(std::uint64_t bytes) noexcept;
// Of bytes that were counted and are unpinned by now.
void uncount_pinned(std::uint64_t bytes) noexcept;
// All that is counted; read by tests.
std::uint64_t pinned_bytes() noexcept;
// For tests: pinned memory is refused, as the driver would, to who would bring the process above
// so much; nullopt: nobody is. What is pinned already stays.
void limit_pinned(std::optional<std::uint64_t> most_bytes) noexcept;

}  // namespace cuzk::cuda::device
