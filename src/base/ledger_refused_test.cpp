// The ledger when the system refuses memory to the ledger itself: its account stays right, and
// giving back never needs any.
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/ledger.h"
#include "tests/support/refused_memory.h"

namespace cuzk::base {
namespace {

using cuzk::testing::refuse_each;
using cuzk::testing::RefusedMemory;

// Longer than what a string holds in place, so that every copy of it takes memory.
const std::string kOwner = "an owner whose name takes memory of its own";
const std::string kOther = "another owner whose name takes memory of its own";

// What is held of each account is what the owners hold of it.
void expect_sums(const Ledger& ledger, std::uint64_t used_bytes) {
  const LedgerSnapshot now = ledger.snapshot();
  EXPECT_EQ(now.total.used_bytes, used_bytes);
  std::uint64_t by_owner = 0, by_category = 0;
  for (const auto& owner : now.owners) {
    EXPECT_GT(owner.used_bytes, 0u);
    if (owner.account == Account::host() || owner.account == Account::pinned()) {
      by_owner += owner.used_bytes;
    }
  }
  for (const MemoryUse& use : now.by_category) by_category += use.used_bytes;
  EXPECT_EQ(by_owner, used_bytes);
  EXPECT_EQ(by_category, used_bytes);
}

TEST(LedgerRefused, ARequestThatFindsNoMemoryForItsEntryLeavesNothing) {
  for (const Account account : {Account::host(), Account::pinned(), Account::device(3)}) {
    std::optional<Ledger> ledger;
    const auto refused = refuse_each(
        [&] {
          ledger.emplace(100'000);
          const auto permit = ledger->admit({5000, MemoryCategory::kWitness, kOwner, account});
          EXPECT_TRUE(permit.ok());
          expect_sums(*ledger, account == Account::device(3) ? 0 : 5000);
        },
        [&] {
          if (ledger) expect_sums(*ledger, 0);
        });
    EXPECT_GE(refused, 3) << account.name();
  }
}

TEST(LedgerRefused, APermitKeepsItsBytesWhereItsPurposeCannotChange) {
  Ledger ledger(100'000);
  auto permit = ledger.admit(5000, MemoryCategory::kWitness, kOwner);
  ASSERT_TRUE(permit.ok());
  const auto refused = refuse_each([&] { permit->reassign(MemoryCategory::kPending, kOther); },
                                   [&] { expect_sums(ledger, 5000); });
  EXPECT_GE(refused, 2);
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kPending).used_bytes, 5000u);
}

TEST(LedgerRefused, APermitThatCannotBeSplitKeepsAllOfIt) {
  Ledger ledger(100'000);
  auto permit = ledger.admit(5000, MemoryCategory::kWitness, kOwner);
  ASSERT_TRUE(permit.ok());
  {
    const RefusedMemory refused(0);
    EXPECT_THROW(permit->split(1000), std::bad_alloc);
  }
  EXPECT_EQ(permit->bytes(), 5000u);
  expect_sums(ledger, 5000);
  permit = ledger.admit(0, MemoryCategory::kWitness, "none");
  expect_sums(ledger, 0);
}

// Whoever gives back grants others; that had to allocate, in a destructor, so the process ended.
TEST(LedgerRefused, GivingBackGrantsWhoWaitsWithoutMemory) {
  Ledger ledger(10'000);
  std::optional<Permit> held;
  auto taken = ledger.admit(10'000, MemoryCategory::kWitness, kOwner);
  ASSERT_TRUE(taken.ok());
  held.emplace(std::move(taken).value());
  std::uint64_t got = 0;
  std::thread waiting([&] {
    const auto permit = ledger.wait_admit({8000, MemoryCategory::kPending, kOther});
    if (permit.ok()) got = permit->bytes();
  });
  while (ledger.snapshot().waiting_count == 0) std::this_thread::yield();
  {
    const RefusedMemory refused(0);
    held.reset();
    EXPECT_FALSE(RefusedMemory::happened()) << "giving back allocated";
  }
  waiting.join();
  EXPECT_EQ(got, 8000u);
  expect_sums(ledger, 0);
}

TEST(LedgerRefused, AWaitThatFindsNoMemoryLeavesTheQueue) {
  std::optional<Ledger> ledger;
  const auto refused = refuse_each(
      [&] {
        ledger.emplace(10'000);
        const auto permit = ledger->wait_admit({8000, MemoryCategory::kPending, kOther});
        EXPECT_TRUE(permit.ok());
      },
      [&] {
        if (!ledger) return;
        expect_sums(*ledger, 0);
        EXPECT_EQ(ledger->snapshot().waiting_count, 0u);
      });
  EXPECT_GE(refused, 4);
}

// Pages that are given back to the pool or taken from it stay counted; without memory for the
// pool's entry they go to the system.
TEST(LedgerRefused, PagesThatCannotBeKeptGoBack) {
  Ledger ledger;
  ledger.set_pool_limit(1 << 20);
  std::uint64_t held = 0;
  const auto refused = refuse_each(
      [&] {
        auto pages = PageRun::reuse(100'000, MemoryCategory::kWitness, kOwner, ledger);
        if (pages.ok()) held = pages->byte_count();
      },
      [&] {
        const std::uint64_t idle = ledger.snapshot().of(MemoryCategory::kPool).used_bytes;
        EXPECT_TRUE(idle == 0 || idle == held) << idle;
        expect_sums(ledger, idle);
        ledger.set_pool_limit(0);
        ledger.set_pool_limit(1 << 20);
      });
  EXPECT_GE(refused, 4);
}

TEST(LedgerRefused, PagesFromThePoolStayCounted) {
  Ledger ledger;
  ledger.set_pool_limit(1 << 20);
  { const auto first = PageRun::reuse(100'000, MemoryCategory::kWitness, kOwner, ledger); }
  const std::uint64_t idle = ledger.snapshot().of(MemoryCategory::kPool).used_bytes;
  ASSERT_GT(idle, 0u);
  const auto refused = refuse_each(
      [&] { const auto pages = PageRun::reuse(100'000, MemoryCategory::kPending, kOther, ledger); },
      [&] {
        const std::uint64_t now = ledger.snapshot().of(MemoryCategory::kPool).used_bytes;
        expect_sums(ledger, now);
        if (now != 0) return;
        // They went to the system for want of an entry: others for the next round.
        const auto again = PageRun::reuse(100'000, MemoryCategory::kWitness, kOwner, ledger);
      });
  EXPECT_GE(refused, 2);
}

}  // namespace
}  // namespace cuzk::base
