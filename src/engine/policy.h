// What orders work and what bounds it: priorities, the order between jobs, byte plans of
// partitions, and the switches that replay how things went wrong before.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace cuzk::engine {

// Smaller is more urgent. The numbers are stored with jobs: append only.
enum class Priority : std::uint8_t { kCritical = 0, kHigh = 1, kNormal = 2, kLow = 3 };
inline constexpr std::size_t kPriorityCount = 4;
static_assert(kPriorityCount == static_cast<std::size_t>(Priority::kLow) + 1);
// "critical", "high", "normal", "low".
std::string_view to_string(Priority priority) noexcept;
// Error kInvalidArgument with the words that there are.
base::Result<Priority> parse_priority(std::string_view word);

// The order between jobs: priority, then deadline (none is last), then arrival.
// Arrival is unique in one scheduler, so no two of its jobs are equal and a map by rank has a row
// for each.
struct Rank {
  Priority priority = Priority::kNormal;
  std::int64_t deadline_ms = kNoDeadline;
  std::uint64_t arrival = 0;

  static constexpr std::int64_t kNoDeadline = INT64_MAX;
  auto operator<=>(const Rank&) const = default;
};
static_assert(Rank{Priority::kHigh, Rank::kNoDeadline, 9} < Rank{Priority::kNormal, 0, 1});
static_assert(Rank{Priority::kLow, 5, 9} < Rank{Priority::kLow, Rank::kNoDeadline, 1});
static_assert(Rank{Priority::kLow, 5, 1} < Rank{Priority::kLow, 5, 2});

// The stages of a partition that workers run. Between them it waits with what it holds.
enum class Stage : std::uint8_t {
  kWitness,  // makes the assignment
  kDevice,   // `start`: evaluation, transforms and the large sums
  kFinish,   // `finish`, and the self-check
};
inline constexpr std::size_t kStageCount = 3;
static_assert(kStageCount == static_cast<std::size_t>(Stage::kFinish) + 1);
std::string_view to_string(Stage stage) noexcept;

// What one partition holds of the host's memory, exactly, by stage:
//   witness begins .. witness done .. waiting for a device    witness_bytes
//   device stage                                              witness_bytes + device_bytes
//   device stage ends .. finish ends                          pending_bytes
struct PartitionPlan {
  std::uint32_t index = 0;  // within the job as its owner numbers them
  std::uint64_t witness_bytes = 0;
  std::uint64_t device_bytes = 0;
  std::uint64_t pending_bytes = 0;  // at most witness_bytes + device_bytes

  std::uint64_t peak_bytes() const { return witness_bytes + device_bytes; }
};

// When the slot of a witness worker is free for the next partition. Bounding what runs does not
// bound what waits: with kAtWitnessEnd finished witnesses pile up before the devices. That is kept
// only to replay it (engine/incident.h).
enum class SlotRelease : std::uint8_t { kAtDelivery, kAtWitnessEnd };

}  // namespace cuzk::engine
