// The ledger is asked before the machine, so that what is pinned was always admitted; a permit for
// what is then refused goes back at once.
#include "cuda/prove/staging.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include <sys/resource.h>

#include "base/byte_size.h"
#include "base/check.h"
#include "base/log.h"

namespace cuzk::cuda::prove {
namespace {

// Whether less may be had: an error of any other kind is the device's and ends the proof.
bool is_refusal(const base::Error& error) {
  return error.kind == base::ErrorKind::kResourceExhausted;
}

// No bytes, and the reason.
PinnedBytes refused(std::uint64_t size_bytes, std::string reason, bool is_budget) {
  PinnedBytes out;
  out.shortage = {size_bytes, 0, std::move(reason), is_budget};
  return out;
}

// What helps against a machine that refuses.
std::string machine_advice() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return "Free host memory helps, or a container with more of it (ulimit -l sets no limit here).";
  }
  return "Free host memory helps, and a higher limit of locked memory, which is " +
         base::format_byte_size(limit.rlim_cur) +
         " here (ulimit -l; LimitMEMLOCK= of a service, --ulimit memlock of a container).";
}

}  // namespace

std::vector<std::uint64_t> staging_sizes(std::uint64_t wanted_bytes, std::uint64_t least_bytes) {
  // Each is smaller than the one before, so this ends, also where rounding to pages takes a size
  // up.
  std::vector<std::uint64_t> sizes = {wanted_bytes};
  while (true) {
    const std::uint64_t half = base::page_rounded(sizes.back() / 2);
    if (half == 0 || half >= sizes.back() || half < least_bytes) return sizes;
    sizes.push_back(half);
  }
}

// In the order of what a refusal costs: half of the host's free memory, the ledger, the machine.
base::Result<PinnedBytes> try_pin(const PinnedSource& source, std::uint64_t size_bytes,
                                  base::MemoryCategory category, std::string_view owner) {
  CUZK_ASSERT(source.pin && source.spare_bytes && size_bytes > 0);
  if (const auto spare = source.spare_bytes(); spare && size_bytes > *spare) {
    return refused(size_bytes,
                   "half of the host's free memory is " + base::format_byte_size(*spare), false);
  }
  PinnedBytes out;
  auto permit = base::Ledger::process().admit(
      {size_bytes, category, std::string(owner), base::Account::pinned()});
  if (!permit.ok()) {
    if (!is_refusal(permit.error())) return permit.error();
    return refused(size_bytes, permit.error().message, true);
  }
  auto bytes = source.pin(size_bytes);
  if (!bytes.ok()) {
    if (!is_refusal(bytes.error())) return bytes.error();
    return refused(size_bytes, bytes.error().message, false);
  }
  out.permit = std::move(permit).value();
  out.bytes = std::move(bytes).value();
  CUZK_ASSERT(out.bytes != nullptr);  // null would mean a shortage
  return out;
}

// Kept as it is, where it is as wished or a refusal is fresh; else taken anew, pinned or not.
base::Status Staging::ensure(const StagingWish& wish, const PinnedSource& source,
                             Clock::time_point now) {
  CUZK_ASSERT(wish.wanted_bytes > 0 && wish.pageable_bytes_max > 0);
  if (is_pinned() && bytes_.size() >= wish.wanted_bytes) return base::ok_status();
  const bool was_refused = shortage_ && wish.wanted_bytes <= shortage_->asked_bytes;
  if (was_refused && !bytes_.empty() && now - asked_at_ < kAskAgainAfter) return base::ok_status();
  // The old block goes before a new one is asked for: both at once may be more than there is.
  bytes_ = {};
  pinned_.bytes.reset();  // before its permit
  pinned_ = {};
  pageable_ = {};
  shortage_.reset();
  asked_at_ = now;
  for (const std::uint64_t size : staging_sizes(wish.wanted_bytes, wish.least_bytes)) {
    CUZK_TRY(pinned_, try_pin(source, size, wish.category, wish.owner));
    if (!is_pinned()) {
      // The first refusal is the one to tell.
      if (!shortage_) shortage_ = std::move(pinned_.shortage);
      continue;
    }
    bytes_ = {pinned_.bytes.get(), size};
    CUZK_ASSERT(size == wish.wanted_bytes || shortage_);  // less only where more was refused
    if (shortage_) shortage_->had_bytes = size;
    return base::ok_status();
  }
  return take_pageable(wish);
}

// By the same halves; the last refusal is the error. Counted as host memory, which it is.
base::Status Staging::take_pageable(const StagingWish& wish) {
  CUZK_ASSERT(!is_pinned() && bytes_.empty());
  const std::uint64_t most = std::min(wish.wanted_bytes, wish.pageable_bytes_max);
  base::Status status = base::ok_status();
  for (const std::uint64_t size : staging_sizes(most, wish.least_bytes)) {
    status = base::catch_out_of_memory(wish.owner, [&]() -> base::Status {
      pageable_ = base::ScratchBuffer(size, wish.category, wish.owner);
      return base::ok_status();
    });
    if (!status.ok()) continue;
    bytes_ = {reinterpret_cast<std::byte*>(pageable_.data()), size};
    return status;
  }
  return status;
}

// What was asked, had, why, what follows, what helps: one line for whoever runs the program.
std::string shortage_sentence(int device_index, std::string_view what,
                              const PinnedShortage& shortage, std::string_view effect) {
  std::string text =
      "device " + std::to_string(device_index) + ": " +
      base::format_byte_size(shortage.asked_bytes) + " of pinned (page-locked) host memory for " +
      std::string(what) + " were asked for, " +
      (shortage.had_bytes == 0 ? std::string("none") : base::format_byte_size(shortage.had_bytes)) +
      " could be had (" + shortage.reason + "); " + std::string(effect) + ". ";
  if (shortage.is_budget) {
    return text + "A larger budget of host memory helps (--memory, memory.total_budget).";
  }
  return text + machine_advice();
}

namespace {

// What the log was told of already, for the life of the process: a daemon would else repeat it with
// every proof.
struct Said {
  std::mutex mutex;
  std::set<std::pair<int, PinnedUse>> uses;
};

Said& said() {
  static Said all;
  return all;
}

// What a shortage means for whoever reads the log.
std::string_view effect_of(PinnedUse use) {
  return use == PinnedUse::kStaging
             ? "proofs stay right, but their copies to the device are slower"
             : "it is read from the key's file for each proof instead: proofs stay right, but are "
               "slower. Device memory for the whole key avoids that (--vram, gpus.memory_max)";
}

}  // namespace

void warn_of_shortage(int device_index, PinnedUse use, std::string_view what,
                      const PinnedShortage& shortage) {
  Said& all = said();
  {
    // Not while logging, whose sink is somebody else's code.
    const std::lock_guard lock(all.mutex);
    if (!all.uses.emplace(device_index, use).second) return;
  }
  base::log(base::LogLevel::kWarning,
            shortage_sentence(device_index, what, shortage, effect_of(use)));
}

void forget_shortages() {
  Said& all = said();
  const std::lock_guard lock(all.mutex);
  all.uses.clear();
}

}  // namespace cuzk::cuda::prove
