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

bool is_refusal(const base::Error& error) {
  return error.kind == base::ErrorKind::kResourceExhausted;
}

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
  std::vector<std::uint64_t> sizes = {wanted_bytes};
  while (true) {
    const std::uint64_t half = base::page_rounded(sizes.back() / 2);
    if (half == 0 || half >= sizes.back() || half < least_bytes) return sizes;
    sizes.push_back(half);
  }
}

base::Result<PinnedBytes> try_pin(const PinnedSource& source, std::uint64_t size_bytes,
                                  base::MemoryCategory category, std::string_view owner) {
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
  return out;
}

base::Status Staging::ensure(const StagingWish& wish, const PinnedSource& source,
                             Clock::time_point now) {
  CUZK_ASSERT(wish.wanted_bytes > 0 && wish.pageable_bytes_max > 0);
  if (is_pinned() && bytes_.size() >= wish.wanted_bytes) return base::ok_status();
  const bool was_refused = shortage_ && wish.wanted_bytes <= shortage_->asked_bytes;
  if (was_refused && !bytes_.empty() && now - asked_at_ < kAskAgainAfter) return base::ok_status();
  bytes_ = {};
  pinned_.bytes.reset();  // before its permit
  pinned_ = {};
  pageable_ = {};
  shortage_.reset();
  asked_at_ = now;
  for (const std::uint64_t size : staging_sizes(wish.wanted_bytes, wish.least_bytes)) {
    CUZK_TRY(pinned_, try_pin(source, size, base::MemoryCategory::kOther, wish.owner));
    if (!is_pinned()) {
      // The first refusal is the one to tell.
      if (!shortage_) shortage_ = std::move(pinned_.shortage);
      continue;
    }
    bytes_ = {pinned_.bytes.get(), size};
    if (shortage_) shortage_->had_bytes = size;
    return base::ok_status();
  }
  return take_pageable(wish);
}

base::Status Staging::take_pageable(const StagingWish& wish) {
  const std::uint64_t most = std::min(wish.wanted_bytes, wish.pageable_bytes_max);
  base::Status status = base::ok_status();
  for (const std::uint64_t size : staging_sizes(most, wish.least_bytes)) {
    status = base::catch_out_of_memory(wish.owner, [&]() -> base::Status {
      pageable_ = base::ScratchBuffer(size, base::MemoryCategory::kOther, wish.owner);
      return base::ok_status();
    });
    if (!status.ok()) continue;
    bytes_ = {reinterpret_cast<std::byte*>(pageable_.data()), size};
    return status;
  }
  return status;
}

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

struct Said {
  std::mutex mutex;
  std::set<std::pair<int, PinnedUse>> uses;
};

Said& said() {
  static Said all;
  return all;
}

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
