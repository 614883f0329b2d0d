// The gate: waiting in order, no lost wake-up, no starvation, several accounts, pages kept for
// reuse. Threads meet by looking at the ledger's own count of waiting requests; nothing sleeps.
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/ledger.h"

namespace cuzk::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::uint64_t bytes_per_page() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

MemoryRequest request_of(std::uint64_t bytes, int priority = MemoryRequest::kPriorityNormal,
                         Account account = Account::host()) {
  return {bytes, MemoryCategory::kWitness, "job", account, priority};
}

Permit admitted(Ledger& ledger, std::uint64_t bytes) {
  auto permit = ledger.admit(bytes, MemoryCategory::kOther, "holder");
  EXPECT_TRUE(permit.ok());
  return permit.ok() ? std::move(permit).value() : Permit();
}

void await_waiting(const Ledger& ledger, std::uint64_t count) {
  while (ledger.snapshot().waiting_count != count) std::this_thread::yield();
}

// Threads that each ask for memory, queue one after the other, and note in which order they got it.
class Queue {
 public:
  explicit Queue(Ledger& ledger) : ledger_(ledger) {}
  ~Queue() { join(); }

  void ask(int name, MemoryRequest request) {
    const std::uint64_t before = ledger_.snapshot().waiting_count;
    threads_.emplace_back([this, name, request = std::move(request)] {
      const auto permit = ledger_.wait_admit(request);
      ASSERT_TRUE(permit.ok());
      const MutexLock lock(mutex_);
      order_.push_back(name);
    });
    await_waiting(ledger_, before + 1);
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  std::vector<int> order() {
    const MutexLock lock(mutex_);
    return order_;
  }

 private:
  Ledger& ledger_;
  Mutex mutex_;
  std::vector<int> order_ CUZK_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

TEST(LedgerWait, LetsInAtOnceWhatFits) {
  Ledger ledger(100);
  const auto permit = ledger.wait_admit(request_of(100));
  ASSERT_TRUE(permit.ok());
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 100u);
  EXPECT_EQ(ledger.snapshot().waiting_count, 0u);
}

TEST(LedgerWait, RefusesAtOnceWhatCanNeverFit) {
  Ledger ledger(100);
  const Permit held = admitted(ledger, 100);
  const auto refused = ledger.wait_admit(request_of(101));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(refused.error().message,
            "job (witness) needs 101 bytes and can never fit: the whole budget is 100 bytes");
}

TEST(LedgerWait, ServesInOrderOfPriorityThenArrival) {
  Ledger ledger(100);
  Permit held = admitted(ledger, 100);
  Queue queue(ledger);
  // Each needs the whole budget, so they are served strictly one after the other.
  queue.ask(1, request_of(100, 3));
  queue.ask(2, request_of(100, 2));
  queue.ask(3, request_of(100, 0));
  queue.ask(4, request_of(100, 2));
  EXPECT_EQ(ledger.snapshot().waiting_bytes, 400u);
  held = Permit();
  queue.join();
  EXPECT_THAT(queue.order(), ElementsAre(3, 2, 4, 1));
}

TEST(LedgerWait, DoesNotLetSmallRequestsPassALargeOne) {
  Ledger ledger(100);
  Permit held = admitted(ledger, 60);
  Queue queue(ledger);
  queue.ask(1, request_of(90));
  queue.ask(2, request_of(10));  // would fit now
  EXPECT_EQ(ledger.try_admit(request_of(10)).error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(ledger.try_admit(request_of(10, 0)).ok());  // more urgent than who waits
  queue.ask(3, request_of(90, 0));
  EXPECT_FALSE(ledger.try_admit(request_of(10, -1)).ok());  // nothing is more urgent than 0
  EXPECT_TRUE(ledger.admit(10, MemoryCategory::kMsmScratch, "running").ok());
  EXPECT_TRUE(queue.order().empty());
  held = Permit();
  queue.join();
  EXPECT_EQ(queue.order().size(), 3u);
}

TEST(LedgerWait, RaisesWhoWasPassedOften) {
  Ledger ledger(100);
  Permit held = admitted(ledger, 100);
  Queue queue(ledger);
  queue.ask(-1, request_of(100, 3));
  for (int i = 0; i < 40; ++i) queue.ask(i, request_of(100, 2));
  held = Permit();
  queue.join();
  const auto order = queue.order();
  const auto place = std::find(order.begin(), order.end(), -1) - order.begin();
  EXPECT_EQ(place, 16);  // sixteen passed it, then it was the oldest of its new class
}

TEST(LedgerWait, IsCancelledWithoutHoldingUpThoseBehind) {
  Ledger ledger(100);
  const Permit held = admitted(ledger, 60);
  std::stop_source stop;
  std::thread large([&] {
    const auto cancelled = ledger.wait_admit(request_of(90), stop.get_token());
    ASSERT_FALSE(cancelled.ok());
    EXPECT_EQ(cancelled.error().kind, ErrorKind::kCancelled);
  });
  await_waiting(ledger, 1);
  Queue queue(ledger);
  queue.ask(2, request_of(40));
  stop.request_stop();
  large.join();
  queue.join();
  EXPECT_THAT(queue.order(), ElementsAre(2));
}

TEST(LedgerWait, DoesNotWaitWhenAlreadyStopped) {
  Ledger ledger(100);
  const Permit held = admitted(ledger, 100);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(ledger.wait_admit(request_of(1), stop.get_token()).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(ledger.snapshot().waiting_count, 0u);
}

TEST(LedgerWait, AnswersWhenTheBudgetChanges) {
  Ledger ledger(100);
  const Permit held = admitted(ledger, 100);
  std::thread doomed([&] {
    const auto refused = ledger.wait_admit(request_of(80));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("can never fit: the whole budget is 70 bytes"));
  });
  await_waiting(ledger, 1);
  Queue queue(ledger);
  queue.ask(2, request_of(50));
  ledger.set_budget(70);
  doomed.join();
  ledger.set_budget(150);
  queue.join();
  EXPECT_THAT(queue.order(), ElementsAre(2));
}

TEST(LedgerAccounts, ChargePinnedMemoryToTheHostToo) {
  Ledger ledger(100);
  ledger.set_budget(Account::pinned(), 50);
  const auto pinned = ledger.admit(request_of(40, 2, Account::pinned()));
  ASSERT_TRUE(pinned.ok());
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 40u);
  EXPECT_THAT(ledger.admit(request_of(20, 2, Account::pinned())).error().message,
              HasSubstr("10 of the budget of pinned of 50 are free"));
  EXPECT_THAT(ledger.admit(request_of(51, 2, Account::pinned())).error().message,
              HasSubstr("can never fit: the whole budget of pinned is 50 bytes"));
  EXPECT_FALSE(ledger.admit(request_of(61)).ok());
  EXPECT_TRUE(ledger.admit(request_of(60)).ok());
}

TEST(LedgerAccounts, OfDevicesStandApart) {
  Ledger ledger(100);
  ledger.set_budget(Account::device(0), 1000);
  ledger.set_budget(Account::device(1), 10);
  const auto first = ledger.admit(request_of(900, 2, Account::device(0)));
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(ledger.admit(request_of(11, 2, Account::device(1))).ok());
  EXPECT_TRUE(ledger.admit(request_of(10, 2, Account::device(1))).ok());
  const auto now = ledger.snapshot();
  EXPECT_EQ(now.total.used_bytes, 0u);
  EXPECT_EQ(now.of(MemoryCategory::kWitness).used_bytes, 0u);
  ASSERT_EQ(now.accounts.size(), 3u);
  EXPECT_EQ(now.accounts[1].account.name(), "device:0");
  EXPECT_EQ(now.accounts[1].use.used_bytes, 900u);
  EXPECT_EQ(now.accounts[2].use.peak_bytes, 10u);
  EXPECT_EQ(Account::host().name(), "host");
  EXPECT_EQ(Account::pinned().name(), "pinned");
}

TEST(LedgerAccounts, AWaiterOfOneDoesNotCloseAnother) {
  Ledger ledger(100);
  ledger.set_budget(Account::pinned(), 10);
  ledger.set_budget(Account::device(0), 10);
  auto pinned = ledger.admit(request_of(10, 2, Account::pinned()));
  auto device = ledger.admit(request_of(10, 2, Account::device(0)));
  ASSERT_TRUE(pinned.ok() && device.ok());
  Queue queue(ledger);
  queue.ask(1, request_of(5, 2, Account::pinned()));
  queue.ask(2, request_of(5, 2, Account::device(0)));
  EXPECT_TRUE(ledger.wait_admit(request_of(50)).ok());  // the host has room: no waiting
  { const Permit dropped = std::move(device).value(); }
  while (queue.order().empty()) std::this_thread::yield();
  { const Permit dropped = std::move(pinned).value(); }
  queue.join();
  EXPECT_THAT(queue.order(), ElementsAre(2, 1));
}

TEST(Permit, SplitsAndChangesPurposeWithoutChangingTheSum) {
  Ledger ledger(100);
  auto reserved = ledger.wait_admit(request_of(100));
  ASSERT_TRUE(reserved.ok());
  Permit part = reserved->split(30);
  part.reassign(MemoryCategory::kPending, "proof");
  EXPECT_EQ(reserved->bytes(), 70u);
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kPending).used_bytes, 30u);
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kWitness).used_bytes, 70u);
  EXPECT_EQ(ledger.snapshot().total.peak_bytes, 100u);
  part = Permit();
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 70u);
}

TEST(PageRun, IsTakenOutOfAReservation) {
  Ledger ledger(4 * bytes_per_page());
  auto reserved = ledger.wait_admit(request_of(4 * bytes_per_page()));
  ASSERT_TRUE(reserved.ok());
  {
    auto run =
        PageRun::map_within(*reserved, 3 * bytes_per_page() - 1, MemoryCategory::kEvaluation, "a");
    ASSERT_TRUE(run.ok());
    static_cast<char*>(run->data())[3 * bytes_per_page() - 1] = 1;
    EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kEvaluation).used_bytes, 3 * bytes_per_page());
    const auto over =
        PageRun::map_within(*reserved, bytes_per_page() + 1, MemoryCategory::kEvaluation, "b");
    ASSERT_FALSE(over.ok());
    EXPECT_THAT(over.error().message, HasSubstr("of a reservation that has"));
  }
  EXPECT_EQ(ledger.snapshot().total.used_bytes, bytes_per_page());
}

Result<PageRun> reuse(Ledger& ledger, std::uint64_t pages) {
  return PageRun::reuse(pages * bytes_per_page(), MemoryCategory::kMsmScratch, "buckets", ledger);
}

TEST(PagePool, KeepsPagesForTheSameSizeAndCountsThem) {
  Ledger ledger(10 * bytes_per_page());
  ledger.set_pool_limit(4 * bytes_per_page());
  { ASSERT_TRUE(reuse(ledger, 3).ok()); }
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kPool).used_bytes, 3 * bytes_per_page());
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 3 * bytes_per_page());
  {
    const auto run = reuse(ledger, 3);
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kPool).used_bytes, 0u);
    EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kMsmScratch).used_bytes, 3 * bytes_per_page());
  }
  { ASSERT_TRUE(reuse(ledger, 2).ok()); }  // 3 + 2 is over the limit: unmapped
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 3 * bytes_per_page());
  ledger.set_pool_limit(0);
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST(PagePool, GivesWayToARequest) {
  Ledger ledger(10 * bytes_per_page());
  ledger.set_pool_limit(10 * bytes_per_page());
  {
    const auto first = reuse(ledger, 4);
    const auto second = reuse(ledger, 5);
    ASSERT_TRUE(first.ok() && second.ok());
  }
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 9 * bytes_per_page());
  const auto some = ledger.admit(5 * bytes_per_page(), MemoryCategory::kOther, "x");
  ASSERT_TRUE(some.ok());  // the larger run went, the smaller stays
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kPool).used_bytes, 4 * bytes_per_page());
  const auto rest = ledger.wait_admit(request_of(5 * bytes_per_page()));
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(ledger.snapshot().of(MemoryCategory::kPool).used_bytes, 0u);
  EXPECT_LE(ledger.snapshot().total.peak_bytes, 10 * bytes_per_page());
}

TEST(PagePool, GivesWayToASmallerBudget) {
  Ledger ledger(10 * bytes_per_page());
  ledger.set_pool_limit(10 * bytes_per_page());
  {
    const auto first = reuse(ledger, 4);
    const auto second = reuse(ledger, 5);
    ASSERT_TRUE(first.ok() && second.ok());
  }
  ledger.set_budget(Account::host(), 4 * bytes_per_page());
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 4 * bytes_per_page());
  EXPECT_FALSE(reuse(ledger, 5).ok());  // not from the pool either
  {
    const auto running = reuse(ledger, 4);
    ASSERT_TRUE(running.ok());
    ledger.set_budget(Account::host(), 3 * bytes_per_page());
  }
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);  // given back, not kept above the budget
}

// Threads of all priorities ask for random amounts of three accounts, some give up. At the end all
// is free again, every thread came through, and no account was ever over its budget.
TEST(LedgerWait, StandsAStressOfManyThreads) {
  constexpr int kThreads = 8, kRounds = 300;
  Ledger ledger(1000);
  ledger.set_budget(Account::pinned(), 400);
  ledger.set_budget(Account::device(0), 300);
  ledger.set_pool_limit(bytes_per_page());
  std::atomic<int> served{0}, cancelled{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t) + 1);
      std::stop_source stop;
      Permit kept;
      for (int i = 0; i < kRounds; ++i) {
        const Account account = random() % 3 == 0   ? Account::pinned()
                                : random() % 3 == 0 ? Account::device(0)
                                                    : Account::host();
        const std::uint64_t most = account == Account::host() ? 1000 : 300;
        kept = Permit();  // nobody holds while waiting, so nobody waits for himself
        if (i % 16 == 15) stop.request_stop();
        auto permit = ledger.wait_admit(
            request_of(random() % most + 1, static_cast<int>(random() % 4), account),
            stop.get_token());
        if (permit.ok()) {
          kept = std::move(permit).value();
          if (kept.bytes() > 10) {
            const Permit part = kept.split(kept.bytes() / 2);
          }
          ++served;
        } else {
          ASSERT_EQ(permit.error().kind, ErrorKind::kCancelled);
          ++cancelled;
          stop = std::stop_source();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto after = ledger.snapshot();
  EXPECT_EQ(served + cancelled, kThreads * kRounds);
  EXPECT_GT(served, kThreads * kRounds / 2);
  EXPECT_EQ(after.waiting_count, 0u);
  for (const auto& account : after.accounts) {
    EXPECT_EQ(account.use.used_bytes, 0u) << account.account.name();
    EXPECT_LE(account.use.peak_bytes, account.budget_bytes) << account.account.name();
  }
}

// A large request among a stream of small ones is served in bounded time: the stream goes on until
// it is.
TEST(LedgerWait, ServesALargeRequestAmongAStreamOfSmallOnes) {
  Ledger ledger(1000);
  std::atomic<bool> large_served{false};
  std::vector<std::thread> small;
  for (int t = 0; t < 4; ++t) {
    small.emplace_back([&] {
      while (!large_served) {
        const auto permit = ledger.wait_admit(request_of(150));
        ASSERT_TRUE(permit.ok());
      }
    });
  }
  {
    const auto permit = ledger.wait_admit(request_of(1000));
    EXPECT_TRUE(permit.ok());
    large_served = true;
  }  // the stream's last requests wait for this one
  for (std::thread& thread : small) thread.join();
}

}  // namespace
}  // namespace cuzk::base
