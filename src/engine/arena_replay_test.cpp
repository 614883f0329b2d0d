// Resident memory follows the ledger; it does not follow what threads have freed to the allocator.
#include "engine/arena_replay.h"

#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

#if defined(__has_feature)
#define CUZK_HAS_FEATURE(x) __has_feature(x)
#else
#define CUZK_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    CUZK_HAS_FEATURE(address_sanitizer) || CUZK_HAS_FEATURE(thread_sanitizer)
constexpr bool kOtherAllocator = true;  // sanitizers bring their own, with shadows and quarantines
#else
constexpr bool kOtherAllocator = false;
#endif

TEST(ArenaReplay, ResidentMemoryFollowsTheLedger) {
  base::Ledger ledger(64 * kMiB);
  const auto result = replay_arenas({}, ledger);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->ledger_peak_bytes, 64 * kMiB);
  EXPECT_EQ(result->ledger_after_bytes, 0u);
  if (kOtherAllocator) GTEST_SKIP() << "resident figures are of the sanitizer";
  EXPECT_GE(result->resident_peak_bytes, result->resident_before_bytes + 60 * kMiB);
  EXPECT_LE(result->resident_peak_bytes, result->resident_before_bytes + 68 * kMiB);
  EXPECT_LE(result->resident_after_bytes, result->resident_before_bytes + 4 * kMiB);
}

TEST(ArenaReplay, AllocatorKeepsWhatWasFreed) {
#if !defined(__GLIBC__)
  GTEST_SKIP() << "not the allocator of the incident";
#endif
  if (kOtherAllocator) GTEST_SKIP() << "not the allocator of the incident";
  base::Ledger ledger;
  ArenaReplayOptions options;
  options.source = BufferSource::kAllocator;
  const auto result = replay_arenas(options, ledger);
  ASSERT_TRUE(result.ok());
  // Everything but a few kilobytes was freed, and at least half of it stays resident.
  EXPECT_GE(result->resident_after_bytes,
            result->resident_before_bytes + result->live_peak_bytes / 2);
}

TEST(ArenaReplay, IsRefusedByABudgetThatIsTooSmall) {
  base::Ledger ledger(20 * kMiB);
  const auto result = replay_arenas({}, ledger);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, base::ErrorKind::kResourceExhausted);
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST(ArenaReplay, NeedsSomethingToDo) {
  base::Ledger ledger;
  ArenaReplayOptions options;
  options.thread_count = 0;
  EXPECT_EQ(replay_arenas(options, ledger).error().kind, base::ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace cuzk::engine
