// Both sides of the border between heap and pages, and refusal out of parallel loops.
#include "base/scratch.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/threads.h"

namespace cuzk::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kCategory = MemoryCategory::kMsmScratch;

std::uint64_t used_bytes() { return Ledger::process().snapshot().of(kCategory).used_bytes; }

// A budget of `bytes` above what is held, for as long as it lives.
class SmallBudget {
 public:
  explicit SmallBudget(std::uint64_t bytes) {
    auto& ledger = Ledger::process();
    ledger.set_budget(ledger.snapshot().total.used_bytes + bytes);
  }
  ~SmallBudget() { Ledger::process().set_budget(0); }
};

TEST(ScratchBuffer, IsAlignedWritableAndAsLargeAsItSays) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{64}, std::size_t{65}, ScratchBuffer::kPagedBytesMin - 1,
        ScratchBuffer::kPagedBytesMin, std::size_t{5} << 20}) {
    ScratchBuffer buffer(bytes, kCategory, "test");
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_GE(buffer.size_bytes(), bytes);
    EXPECT_EQ(buffer.size_bytes(), ScratchBuffer::rounded(bytes));
    buffer.data()[buffer.size_bytes() - 1] = 7;
    buffer.fill_zero();
    EXPECT_EQ(buffer.data()[buffer.size_bytes() - 1], 0);
  }
}

TEST(ScratchBuffer, CountsPagesAndNotTheHeap) {
  const std::uint64_t before = used_bytes();
  {
    const ScratchBuffer small(ScratchBuffer::kPagedBytesMin - 1, kCategory, "test");
    EXPECT_EQ(used_bytes(), before);
    const ScratchArray<std::uint32_t> large(1 << 18, kCategory, "test");
    EXPECT_EQ(used_bytes(), before + ScratchArray<std::uint32_t>::byte_count(1 << 18));
  }
  EXPECT_EQ(used_bytes(), before);
}

TEST(ScratchBuffer, MovesWithoutCopying) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1} << 20}) {
    ScratchBuffer first(bytes, kCategory, "test");
    std::uint8_t* const data = first.data();
    ScratchBuffer second(std::move(first));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(first.data(), nullptr);
    first = std::move(second);
    EXPECT_EQ(first.data(), data);
    EXPECT_EQ(second.size_bytes(), 0u);
  }
  const ScratchBuffer empty(0, kCategory, "test");
  EXPECT_EQ(empty.data(), nullptr);
}

// A count whose bytes 64 bits do not hold must not become a small buffer, nor a small estimate.
TEST(ScratchArray, RefusesACountWhoseBytesOverflow) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t count : {kMost, kMost / 4 + 2}) {
    EXPECT_THROW(ScratchArray<std::uint32_t>(count, kCategory, "test"), OutOfMemory) << count;
    EXPECT_EQ(ScratchArray<std::uint32_t>::byte_count(count), kMost) << count;
  }
  EXPECT_EQ(page_rounded(kMost - 1), kMost);
}

TEST(CatchOutOfMemory, GivesTheLedgersSentenceAndTheKind) {
  const SmallBudget budget(std::uint64_t{1} << 20);
  const auto result = catch_out_of_memory("making a thing", []() -> Result<int> {
    const ScratchBuffer buffer(std::size_t{2} << 20, kCategory, "a thing's scratch");
    return static_cast<int>(buffer.size_bytes());
  });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("making a thing: "), HasSubstr("a thing's scratch")));
}

TEST(CatchOutOfMemory, TakesPlainBadAllocAndPassesResults) {
  const auto failed = catch_out_of_memory("work", []() -> Result<int> { throw std::bad_alloc(); });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(catch_out_of_memory("work", []() -> Result<int> { return 5; }).value(), 5);
}

// What a worker is refused reaches the caller of the loop, and what the others hold is given back.
TEST(CatchOutOfMemory, CrossesParallelLoops) {
  const std::uint64_t before = used_bytes();
  const SmallBudget budget(std::uint64_t{3} << 20);
  const auto result = catch_out_of_memory("loop", []() -> Status {
    parallel_for(0, 4, 1, [](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        parallel_for(0, 4, 1, [&](std::size_t, std::size_t) {
          const ScratchBuffer one(std::size_t{1} << 20, kCategory, "one");
          const ScratchBuffer more(std::size_t{4} << 20, kCategory, "too much");
        });
      }
    });
    return ok_status();
  });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(used_bytes(), before);
}

}  // namespace
}  // namespace cuzk::base
