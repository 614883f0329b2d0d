// Host memory that copies to a device pass through: pinned (page-locked) where that is to be had,
// less of it where it is not, else ordinary memory. Whatever it is, the bytes that arrive are the
// same; pieces and pageable memory make copies slower.
//
// Pinning is refused by containers, limits of locked memory, WSL and hosts that are short of
// memory. None of that is the device's fault or the proof's, so a proof goes on and the log says
// once what was asked, what was had and what helps. Apart from the runtime: who pins is a
// parameter, so that refusals are tested on any machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ledger.h"
#include "base/result.h"
#include "base/scratch.h"

namespace cuzk::cuda::prove {

// Who pins, and how much may be asked for.
struct PinnedSource {
  // So many pinned bytes, which stay while they are held. kResourceExhausted: refused, and less may
  // be had. Any other error is the device's and ends the proof.
  std::function<base::Result<std::shared_ptr<std::byte>>(std::uint64_t)> pin;
  // Most bytes that may be pinned at once: a host that is short of memory ends processes rather
  // than refuse. nullopt: not known.
  std::function<std::optional<std::uint64_t>()> spare_bytes;
};

// Pinned memory that was not to be had as it was asked for.
struct PinnedShortage {
  std::uint64_t asked_bytes = 0, had_bytes = 0;  // pinned
  std::string reason;
  bool is_budget = false;  // refused by the ledger rather than by the machine
};

// Sizes in the order in which they are tried: the wanted one, then halves of whole pages while they
// are at least `least_bytes`. Never none.
std::vector<std::uint64_t> staging_sizes(std::uint64_t wanted_bytes, std::uint64_t least_bytes);

// Pinned bytes with their permit, or why there are none. kResourceExhausted is a shortage; other
// errors are errors. `bytes` must go before `permit`, as members do in the order they have here.
struct PinnedBytes {
  base::Permit permit;
  std::shared_ptr<std::byte> bytes;  // null: refused
  PinnedShortage shortage;           // of this one request, where it was refused
};
base::Result<PinnedBytes> try_pin(const PinnedSource& source, std::uint64_t size_bytes,
                                  base::MemoryCategory category, std::string_view owner);

// What a block is for.
struct StagingWish {
  std::uint64_t wanted_bytes = 0;
  std::uint64_t least_bytes = 0;         // pinned memory below this is no faster than pageable
  std::uint64_t pageable_bytes_max = 0;  // pageable blocks gain nothing from being larger
  std::string_view owner;
  base::MemoryCategory category = base::MemoryCategory::kOther;
};

// One block, counted in the ledger as what it is. Movable; for one thread at a time. It holds
// nothing at first, then a pinned block or a pageable one, never both; bytes() is that one.
// shortage() is there while the block is less than was asked for when it was taken.
class Staging {
 public:
  using Clock = std::chrono::steady_clock;
  // What was refused is asked for again after so long, by who needs it then.
  static constexpr std::chrono::seconds kAskAgainAfter{60};

  // Holds a block afterwards: as wished, or as near to it as can be had, in this order: pinned, in
  // the sizes of staging_sizes(); pageable, in those from pageable_bytes_max on. A block that is
  // there stays if it is as wished, or if more was refused a short time ago. Nothing may be copied
  // from the block meanwhile. kResourceExhausted when there is not even pageable memory.
  base::Status ensure(const StagingWish& wish, const PinnedSource& source,
                      Clock::time_point now = Clock::now());

  std::span<std::byte> bytes() const noexcept { return bytes_; }
  bool is_pinned() const noexcept { return pinned_.bytes != nullptr; }
  // The last refusal, until as much is had.
  const std::optional<PinnedShortage>& shortage() const noexcept { return shortage_; }

 private:
  base::Status take_pageable(const StagingWish& wish);

  PinnedBytes pinned_;
  base::ScratchBuffer pageable_;
  std::span<std::byte> bytes_;  // of the one that is there
  std::optional<PinnedShortage> shortage_;
  Clock::time_point asked_at_;
};

// The warning's sentence for device `device_index`: `what` is the noun of what was to be pinned,
// `effect` what follows for the user.
std::string shortage_sentence(int device_index, std::string_view what,
                              const PinnedShortage& shortage, std::string_view effect);

// What is to be pinned: the log says each once for each device.
enum class PinnedUse { kStaging, kKey };
// Logs shortage_sentence as a warning, the first time for this device and use. Thread-safe.
void warn_of_shortage(int device_index, PinnedUse use, std::string_view what,
                      const PinnedShortage& shortage);
// For tests: nothing was said yet.
void forget_shortages();

}  // namespace cuzk::cuda::prove
