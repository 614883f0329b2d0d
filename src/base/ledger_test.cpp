// The account adds up whatever happens to its permits, and refuses with figures.
#include "base/ledger.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::base {
namespace {

using ::testing::HasSubstr;

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

TEST(Ledger, CountsByCategoryAndOwnerUntilThePermitDies) {
  Ledger ledger;
  {
    auto first = ledger.admit(100, MemoryCategory::kSrs, "key");
    auto second = ledger.admit(30, MemoryCategory::kWitness, "job 1");
    auto third = ledger.admit(70, MemoryCategory::kWitness, "job 2");
    ASSERT_TRUE(first.ok() && second.ok() && third.ok());
    const LedgerSnapshot now = ledger.snapshot();
    EXPECT_EQ(now.total.used_bytes, 200u);
    EXPECT_EQ(now.of(MemoryCategory::kSrs).used_bytes, 100u);
    EXPECT_EQ(now.of(MemoryCategory::kWitness).used_bytes, 100u);
    ASSERT_EQ(now.owners.size(), 3u);
    EXPECT_EQ(now.owners[0].name, "key");
    EXPECT_EQ(now.owners[1].name, "job 2");
    EXPECT_EQ(now.owners[2].used_bytes, 30u);
  }
  const LedgerSnapshot after = ledger.snapshot();
  EXPECT_EQ(after.total.used_bytes, 0u);
  EXPECT_EQ(after.total.peak_bytes, 200u);
  EXPECT_TRUE(after.owners.empty());
}

TEST(Ledger, RefusesWhatDoesNotFitWithTheArithmetic) {
  Ledger ledger(1000);
  auto held = ledger.admit(900, MemoryCategory::kSrs, "key");
  ASSERT_TRUE(held.ok());
  const auto refused = ledger.admit(101, MemoryCategory::kEvaluation, "proof");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(
      refused.error().message,
      "proof (evaluation) needs 101 bytes, 100 of the budget of 1000 are free (held: srs 900)");
  EXPECT_TRUE(ledger.admit(100, MemoryCategory::kEvaluation, "proof").ok());
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 900u);
}

TEST(Ledger, RefusesWhatCanNeverFit) {
  Ledger ledger(1000);
  const auto refused = ledger.admit(1001, MemoryCategory::kSrs, "key");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("can never fit: the whole budget is 1000 bytes"));
  Ledger without_budget;
  EXPECT_FALSE(without_budget.admit(~std::uint64_t{0}, MemoryCategory::kSrs, "key").ok());
}

TEST(Ledger, KeepsWhatIsHeldWhenTheBudgetShrinks) {
  Ledger ledger;
  auto held = ledger.admit(500, MemoryCategory::kPending, "proof");
  ASSERT_TRUE(held.ok());
  ledger.set_budget(400);
  EXPECT_FALSE(ledger.admit(1, MemoryCategory::kOther, "x").ok());
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 500u);
  { const Permit dropped = std::move(held).value(); }
  EXPECT_TRUE(ledger.admit(400, MemoryCategory::kOther, "x").ok());
}

TEST(Ledger, PeaksCanStartAnew) {
  Ledger ledger;
  { auto big = ledger.admit(500, MemoryCategory::kOther, "x"); }
  auto small = ledger.admit(20, MemoryCategory::kOther, "x");
  ASSERT_TRUE(small.ok());
  ledger.reset_peaks();
  EXPECT_EQ(ledger.snapshot().total.peak_bytes, 20u);
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kOther).peak_bytes, 20u);
}

TEST(Ledger, AddsUpUnderManyThreads) {
  Ledger ledger(64 * 1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&ledger, t] {
      const auto category = static_cast<MemoryCategory>(t);
      for (std::uint64_t i = 1; i <= 500; ++i) {
        auto permit = ledger.admit(i, category, "thread " + std::to_string(t % 3));
        ASSERT_TRUE(permit.ok());
        const Permit moved = std::move(permit).value();
        ASSERT_EQ(moved.bytes(), i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const LedgerSnapshot after = ledger.snapshot();
  EXPECT_EQ(after.total.used_bytes, 0u);
  EXPECT_TRUE(after.owners.empty());
  EXPECT_GE(after.total.peak_bytes, 500u);
  EXPECT_LE(after.total.peak_bytes, 8u * 500u);
}

TEST(Permit, IsReleasedOnceHoweverOftenItMoves) {
  Ledger ledger;
  auto admitted = ledger.admit(10, MemoryCategory::kInput, "job");
  ASSERT_TRUE(admitted.ok());
  Permit first = std::move(admitted).value();
  Permit second(std::move(first));
  auto other = ledger.admit(5, MemoryCategory::kInput, "job");
  ASSERT_TRUE(other.ok());
  second = std::move(other).value();  // the ten are given back
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 5u);
  second = Permit();
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST(Buffer, IsZeroWritableAndCountedInPages) {
  Ledger ledger;
  auto made = Buffer<std::uint64_t>::allocate(1000, MemoryCategory::kMsmScratch, "buckets", ledger);
  ASSERT_TRUE(made.ok());
  Buffer<std::uint64_t> buffer = std::move(made).value();
  ASSERT_EQ(buffer.size(), 1000u);
  for (const std::uint64_t word : buffer) EXPECT_EQ(word, 0u);
  buffer[999] = 7;
  const std::uint64_t pages = (8000 + page_bytes() - 1) / page_bytes() * page_bytes();
  EXPECT_EQ(buffer.byte_count(), pages);
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kMsmScratch).used_bytes, pages);
  Buffer<std::uint64_t> moved = std::move(buffer);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(moved.span()[999], 7u);
  moved = Buffer<std::uint64_t>();
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST(Buffer, OfNothingHoldsNothing) {
  Ledger ledger(1);
  const auto made = Buffer<int>::allocate(0, MemoryCategory::kOther, "none", ledger);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->data(), nullptr);
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST(Buffer, SurvivesHugePageSizes) {
  Ledger ledger;
  auto made = Buffer<std::uint8_t>::allocate((std::size_t{4} << 20) + 1,
                                             MemoryCategory::kEvaluation, "a", ledger);
  ASSERT_TRUE(made.ok());
  made->span().back() = 1;
  made->span().front() = 2;
  EXPECT_EQ(made->size(), (std::size_t{4} << 20) + 1);
}

TEST(Buffer, IsRefusedBeforePagesExist) {
  Ledger ledger(std::uint64_t{1} << 20);
  const auto over = Buffer<std::uint8_t>::allocate((std::size_t{1} << 20) + 1,
                                                   MemoryCategory::kOther, "x", ledger);
  ASSERT_FALSE(over.ok());
  const auto wrapping = Buffer<std::uint64_t>::allocate((std::size_t{1} << 61) + 1,
                                                        MemoryCategory::kOther, "x", ledger);
  ASSERT_FALSE(wrapping.ok());
  EXPECT_THAT(wrapping.error().message, HasSubstr("exceeds 64 bits"));
  const auto absurd =
      Buffer<std::uint8_t>::allocate(std::size_t{1} << 60, MemoryCategory::kOther, "x", ledger);
  ASSERT_FALSE(absurd.ok());
  EXPECT_THAT(absurd.error().message, HasSubstr("can never fit"));
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST(Buffer, GivesItsPermitBackWhenTheKernelRefuses) {
  Ledger ledger;
  // Within the ledger's own limit, beyond any address space.
  const auto made =
      Buffer<std::uint8_t>::allocate(std::size_t{1} << 50, MemoryCategory::kOther, "x", ledger);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_THAT(made.error().message, HasSubstr("operating system"));
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST(MemoryCategory, EachHasItsOwnWord) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < kMemoryCategoryCount; ++i) {
    words.emplace_back(to_string(static_cast<MemoryCategory>(i)));
  }
  EXPECT_THAT(words, ::testing::ElementsAre("srs", "matrices", "input", "witness", "evaluation",
                                            "msm-scratch", "pending", "pool", "other"));
}

}  // namespace
}  // namespace cuzk::base
