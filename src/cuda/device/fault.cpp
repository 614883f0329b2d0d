// The statuses by number, as cuda_runtime_api.h documents them; error.cpp checks the numbers
// against the header of the toolkit that it is compiled with.
#include "cuda/device/fault.h"

#include <limits>
#include <map>
#include <mutex>

#include "base/check.h"
#include "cuda/device/fault_codes.h"

namespace cuzk::cuda::device {
namespace {

// Devices by index and the first reason of each. One is put in by whoever meets its fault, on any
// thread, and never taken out (but by tests): a context that was lost does not come back, and a
// card that computed wrongly once is not to be believed again.
struct Condemned {
  std::mutex mutex;
  std::map<int, std::string> reasons;
};

// Made at the first use, since no order of static objects is promised between files.
Condemned& condemned() {
  static Condemned all;
  return all;
}

// Pinned bytes of the process. held_bytes is the sum over all living pinned buffers; it may be
// above most_bytes only when that was lowered later.
struct Pinned {
  std::mutex mutex;
  std::uint64_t held_bytes = 0, most_bytes = std::numeric_limits<std::uint64_t>::max();
};

// Never destroyed: buffers of static lifetime may give back after it would be.
Pinned& pinned() {
  static Pinned& all = *new Pinned;
  return all;
}

}  // namespace

// What is not listed is kOther, a call that was wrong: a new sticky status would then be met again
// at the next call, and no result is ever used without a status that says ok.
Fault fault_of(int code) noexcept {
  switch (code) {
    case codes::kSuccess: return Fault::kNone;
    case codes::kMemoryAllocation: return Fault::kOutOfMemory;
    case codes::kInsufficientDriver:
    case codes::kNoDevice: return Fault::kAbsent;
    case codes::kDevicesUnavailable:
    case codes::kEccUncorrectable:
    case codes::kNvlinkUncorrectable:
    case codes::kIllegalAddress:
    case codes::kLaunchTimeout:
    case codes::kAssert:
    case codes::kHardwareStackError:
    case codes::kIllegalInstruction:
    case codes::kMisalignedAddress:
    case codes::kInvalidAddressSpace:
    case codes::kInvalidPc:
    case codes::kLaunchFailure:
    case codes::kUnknown: return Fault::kLost;
    default: return Fault::kOther;
  }
}

base::Error fault_error(int code, std::string_view text, std::string_view call, int device) {
  CUZK_ASSERT(code != codes::kSuccess);
  std::string message = std::string(call) + ": " + std::string(text);
  switch (fault_of(code)) {
    case Fault::kOutOfMemory: return {base::ErrorKind::kResourceExhausted, std::move(message)};
    case Fault::kLost:
      message = "device " + std::to_string(device) + " is lost to this process (" + message +
                "); none of its results may be used";
      condemn(device, message);
      return {base::ErrorKind::kUnavailable, std::move(message)};
    case Fault::kAbsent: return {base::ErrorKind::kUnavailable, std::move(message)};
    default: return {base::ErrorKind::kInternal, std::move(message)};
  }
}

// kUnavailable stays: a device that is lost, or no driver at all, is not helped by asking for less.
base::Error pinning_error(base::Error error) {
  if (error.kind == base::ErrorKind::kInternal) error.kind = base::ErrorKind::kResourceExhausted;
  return error;
}

namespace {

// What use_by() was last asked for on this thread: after a loss the runtime may refuse to tell.
thread_local int last_used_device = -1;

}  // namespace

base::Error error_by(const RuntimeCalls& runtime, int code, std::string_view call) {
  int device = -1;
  // Asked for only where it matters: without a driver this call fails as well.
  if (fault_of(code) == Fault::kLost) {
    device = runtime.current_device();
    if (device < 0) device = last_used_device;
  }
  return fault_error(code, runtime.status_text(code), call, device);
}

base::Status use_by(const RuntimeCalls& runtime, int device) {
  CUZK_TRY_STATUS(check_usable(device));
  // Before the call: should it report the device as lost, this is the one that is condemned.
  last_used_device = device;
  const int code = runtime.set_device(device);
  if (code != codes::kSuccess) return error_by(runtime, code, "cudaSetDevice");
  return base::ok_status();
}

void condemn(int device, std::string_view reason) {
  CUZK_ASSERT(!reason.empty());  // it becomes the sentence that users read
  Condemned& all = condemned();
  const std::lock_guard lock(all.mutex);
  all.reasons.try_emplace(device, reason);
}

base::Status check_usable(int device) {
  Condemned& all = condemned();
  const std::lock_guard lock(all.mutex);
  const auto found = all.reasons.find(device);
  if (found == all.reasons.end()) return base::ok_status();
  return base::Error{base::ErrorKind::kUnavailable, found->second};
}

void forget_condemned() {
  Condemned& all = condemned();
  const std::lock_guard lock(all.mutex);
  all.reasons.clear();
}

bool count_pinned(std::uint64_t bytes) noexcept {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  // Compared by differences: sums of sizes that callers ask for may wrap.
  if (all.held_bytes > all.most_bytes || bytes > all.most_bytes - all.held_bytes) return false;
  all.held_bytes += bytes;
  return true;
}

void uncount_pinned(std::uint64_t bytes) noexcept {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  CUZK_ASSERT(bytes <= all.held_bytes);
  all.held_bytes -= bytes;
}

std::uint64_t pinned_bytes() noexcept {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  return all.held_bytes;
}

void limit_pinned(std::optional<std::uint64_t> most_bytes) noexcept {
  Pinned& all = pinned();
  const std::lock_guard lock(all.mutex);
  all.most_bytes = most_bytes.value_or(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace cuzk::cuda::device
