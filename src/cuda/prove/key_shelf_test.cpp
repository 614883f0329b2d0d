// The shelf, and what is done where room is short, over made-up keys in made-up memory.
#include "cuda/prove/key_shelf.h"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/prove/room.h"

namespace cuzk::cuda::prove {
namespace {

using base::Error;
using base::ErrorKind;
using Turn = KeyShelf::Turn;
using std::chrono::milliseconds;

// A device's memory, in bytes that exist only as a sum.
struct Memory {
  explicit Memory(std::uint64_t bytes) : budget_bytes(bytes) {}
  const std::uint64_t budget_bytes;
  std::atomic<std::uint64_t> key_bytes{0}, proof_bytes{0};
  std::uint64_t room() const { return budget_bytes - key_bytes; }
};

// What lies on the device while it lives.
struct Block {
  Block(std::atomic<std::uint64_t>& sum, std::uint64_t size) : sum_(sum), bytes(size) {
    sum_ += size;
  }
  ~Block() { sum_ -= bytes; }
  std::atomic<std::uint64_t>& sum_;
  const std::uint64_t bytes;
};

// Opened once, for all who wait.
class Gate {
 public:
  void open() { promise_.set_value(); }
  void wait() const { opened_.wait(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

void wait_until(const std::function<bool()>& is_so) {
  for (int i = 0; i < 20'000 && !is_so(); ++i) std::this_thread::sleep_for(milliseconds(1));
  ASSERT_TRUE(is_so());
}

class KeyShelfTest : public ::testing::Test {
 protected:
  KeyShelfTest() {
    for (auto& key : keys_) key = std::make_shared<int>();
  }
  KeyShelf::Name name(int number, int owner = 0) {
    return {&owners_[owner], keys_[number], shape_};
  }
  // Loads a key of so many bytes at once.
  KeyShelf::Load block(std::uint64_t bytes) {
    return [this, bytes](KeyShelf::Loading&) -> base::Result<KeyShelf::Item> {
      ++load_count_;
      return KeyShelf::Item(std::make_shared<Block>(memory_.key_bytes, bytes));
    };
  }
  base::Result<KeyShelf::Use> take(int number, std::uint64_t bytes, Turn turn = Turn::kShared,
                                   int owner = 0) {
    return shelf_.take(name(number, owner), turn, {}, block(bytes));
  }
  // A key whose plan is all of it, or, where that does not fit, half.
  KeyShelf::Load planned(std::uint64_t bytes, const std::stop_token& stop = {}) {
    return [this, bytes, stop](KeyShelf::Loading& loading) -> base::Result<KeyShelf::Item> {
      bool never_fits = false;
      const auto plan_in = [bytes](std::uint64_t room) -> base::Result<ProofPlan> {
        ProofPlan plan;
        for (plan.resident_bytes = bytes; plan.resident_bytes >= bytes / 2;
             plan.resident_bytes -= bytes / 2) {
          if (plan.resident_bytes <= room) return plan;
        }
        return Error{ErrorKind::kResourceExhausted, "no room"};
      };
      CUZK_TRY(const auto plan, plan_key(
                                    loading, memory_.budget_bytes, [&] { return memory_.room(); },
                                    plan_in, stop, never_fits));
      return KeyShelf::Item(std::make_shared<Block>(memory_.key_bytes, plan.resident_bytes));
    };
  }
  static std::uint64_t bytes_of(const KeyShelf::Use& use) {
    return static_cast<const Block*>(use.item())->bytes;
  }

  Memory memory_{100};
  std::array<std::shared_ptr<int>, 6> keys_;
  const std::shared_ptr<int> shape_ = std::make_shared<int>();
  const int owners_[2] = {};
  std::atomic<int> load_count_{0};
  KeyShelf shelf_;
};

TEST_F(KeyShelfTest, LoadsOnceAndKeepsWhatIsIdleUntilItMustGo) {
  {
    const auto first = take(0, 10).value(), again = take(0, 10).value();
    EXPECT_EQ(first.item(), again.item());
    EXPECT_FALSE(shelf_.evict_oldest());
  }
  EXPECT_TRUE(take(0, 10).ok());
  EXPECT_EQ(load_count_, 1);
  EXPECT_TRUE(shelf_.evict_oldest());
  EXPECT_EQ(memory_.key_bytes, 0u);
  EXPECT_TRUE(take(0, 10).ok());
  EXPECT_EQ(load_count_, 2);
}

TEST_F(KeyShelfTest, TheLeastRecentlyUsedGoesFirstWhosever) {
  EXPECT_TRUE(take(0, 1, Turn::kShared, 0).ok());
  EXPECT_TRUE(take(1, 2, Turn::kShared, 1).ok());
  EXPECT_TRUE(take(2, 4, Turn::kShared, 0).ok());
  EXPECT_TRUE(take(0, 1, Turn::kShared, 0).ok());
  EXPECT_EQ(memory_.key_bytes, 7u);
  EXPECT_TRUE(shelf_.evict_oldest());
  EXPECT_EQ(memory_.key_bytes, 5u);  // the other owner's
  EXPECT_TRUE(shelf_.evict_oldest());
  EXPECT_EQ(memory_.key_bytes, 1u);
  EXPECT_TRUE(take(0, 1, Turn::kShared, 1).ok());  // the same key of another owner
  EXPECT_EQ(memory_.key_bytes, 2u);
  shelf_.forget(&owners_[0]);
  EXPECT_EQ(memory_.key_bytes, 1u);
}

TEST_F(KeyShelfTest, AKeyThatDiedGoesWithTheNextCall) {
  EXPECT_TRUE(take(0, 10).ok());
  keys_[0] = std::make_shared<int>();
  EXPECT_TRUE(take(1, 3).ok());
  EXPECT_EQ(memory_.key_bytes, 3u);
}

TEST_F(KeyShelfTest, ALoadKeepsOnlyThoseWaitingWhoWantTheSameKey) {
  Gate gate;
  std::atomic<bool> is_loading{false};
  const auto slow = [&](KeyShelf::Loading&) -> base::Result<KeyShelf::Item> {
    is_loading = true;
    ++load_count_;
    gate.wait();
    return KeyShelf::Item(std::make_shared<Block>(memory_.key_bytes, 10));
  };
  EXPECT_TRUE(take(1, 5).ok());
  auto loads = std::async(std::launch::async,
                          [&] { return shelf_.take(name(0), Turn::kShared, {}, slow).ok(); });
  wait_until([&] { return is_loading.load(); });
  EXPECT_TRUE(take(1, 5).ok());  // there
  EXPECT_TRUE(take(2, 5).ok());  // loaded meanwhile
  std::stop_source stop;
  auto waits = std::async(std::launch::async,
                          [&] { return shelf_.take(name(0), Turn::kShared, {}, slow).ok(); });
  auto gives_up = std::async(std::launch::async, [&] {
    return shelf_.take(name(0), Turn::kShared, stop.get_token(), slow).error().kind;
  });
  EXPECT_EQ(waits.wait_for(milliseconds(20)), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(gives_up.get(), ErrorKind::kCancelled);
  gate.open();
  EXPECT_TRUE(loads.get());
  EXPECT_TRUE(waits.get());
  EXPECT_EQ(load_count_, 3);
}

// By an error, a cancel or an exception.
TEST_F(KeyShelfTest, WhoWaitedForALoadThatFailedLoadsItself) {
  for (const bool throws : {false, true}) {
    Gate gate;
    std::atomic<bool> is_loading{false};
    auto fails = std::async(std::launch::async, [&] {
      try {
        return shelf_
            .take(name(0), Turn::kShared, {},
                  [&](KeyShelf::Loading&) -> base::Result<KeyShelf::Item> {
                    is_loading = true;
                    gate.wait();
                    if (throws) throw std::runtime_error("no memory");
                    return Error{ErrorKind::kCancelled, "cancelled"};
                  })
            .ok();
      } catch (const std::runtime_error&) {
        return false;
      }
    });
    wait_until([&] { return is_loading.load(); });
    auto waits = std::async(std::launch::async, [&] { return take(0, 10).ok(); });
    EXPECT_EQ(waits.wait_for(milliseconds(10)), std::future_status::timeout);
    gate.open();
    EXPECT_FALSE(fails.get());
    EXPECT_TRUE(waits.get());
    EXPECT_TRUE(shelf_.evict_oldest());
  }
}

TEST_F(KeyShelfTest, ATurnAloneWaitsForTheOthersAndTheyForItsMemory) {
  std::optional<KeyShelf::Use> other = take(0, 10).value();
  std::optional<KeyShelf::Use> alone;
  std::thread takes([&] { alone = take(1, 10, Turn::kAlone).value(); });
  std::this_thread::sleep_for(milliseconds(10));
  auto behind = std::async(std::launch::async, [&] { return take(0, 10).ok(); });
  EXPECT_TRUE(take(2, 10, Turn::kRegardless).ok());
  EXPECT_EQ(behind.wait_for(milliseconds(10)), std::future_status::timeout);
  other.reset();
  takes.join();
  EXPECT_EQ(behind.wait_for(milliseconds(10)), std::future_status::timeout);
  alone->begin_run();
  EXPECT_TRUE(behind.get());
  alone.reset();
  // Also where it ends without: by an error, or before it was given.
  EXPECT_FALSE(shelf_
                   .take(name(3), Turn::kAlone, {},
                         [](KeyShelf::Loading&) -> base::Result<KeyShelf::Item> {
                           return Error{ErrorKind::kResourceExhausted, "no room"};
                         })
                   .ok());
  EXPECT_TRUE(take(0, 10).ok());
  EXPECT_TRUE(take(0, 10, Turn::kAlone).ok());
  const auto use = take(0, 10).value();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(shelf_.take(name(1), Turn::kAlone, stop.get_token(), block(1)).error().kind,
            ErrorKind::kCancelled);
  EXPECT_TRUE(take(0, 10).ok());
}

TEST_F(KeyShelfTest, ARetiredKeyIsLoadedAnewAndGoesWithItsLastUser) {
  auto old = take(0, 10).value();
  old.retire();
  const auto fresh = take(0, 20).value();
  EXPECT_EQ(bytes_of(fresh), 20u);
  EXPECT_EQ(memory_.key_bytes, 30u);
  old = KeyShelf::Use();
  EXPECT_EQ(memory_.key_bytes, 20u);
}

TEST_F(KeyShelfTest, ALargeKeyMakesIdleOnesOfAllOwnersLeave) {
  EXPECT_TRUE(take(0, 30, Turn::kShared, 0).ok());
  EXPECT_TRUE(take(1, 30, Turn::kShared, 1).ok());
  const auto large = shelf_.take(name(2), Turn::kShared, {}, planned(90)).value();
  EXPECT_EQ(bytes_of(large), 90u);
  EXPECT_EQ(memory_.key_bytes, 90u);
}

TEST_F(KeyShelfTest, BesideAKeyInUseALargeOneIsLoadedByHalf) {
  const auto use = take(0, 30).value();
  const auto large = shelf_.take(name(1), Turn::kShared, {}, planned(90)).value();
  EXPECT_EQ(bytes_of(large), 45u);
}

// What another load has planned and not yet taken is not free.
TEST_F(KeyShelfTest, ALoadWaitsForAnotherWhoseRoomItWouldTake) {
  Gate gate;
  std::atomic<bool> has_planned{false};
  const auto slow = [&](KeyShelf::Loading& loading) -> base::Result<KeyShelf::Item> {
    CUZK_TRY(const bool is_free, loading.make_room(60, [&] { return memory_.room(); }, {}));
    EXPECT_TRUE(is_free);
    has_planned = true;
    gate.wait();
    return KeyShelf::Item(std::make_shared<Block>(memory_.key_bytes, 60));
  };
  auto first = std::async(std::launch::async,
                          [&] { return shelf_.take(name(0), Turn::kShared, {}, slow).value(); });
  wait_until([&] { return has_planned.load(); });
  // What fits beside it is loaded at once.
  EXPECT_TRUE(shelf_.take(name(1), Turn::kShared, {}, planned(40)).ok());
  EXPECT_TRUE(shelf_.evict_oldest());
  std::stop_source stop;
  auto second = std::async(std::launch::async, [&] {
    return bytes_of(shelf_.take(name(2), Turn::kShared, {}, planned(80)).value());
  });
  auto gives_up = std::async(std::launch::async, [&] {
    return shelf_.take(name(3), Turn::kShared, stop.get_token(), planned(80, stop.get_token()))
        .error()
        .kind;
  });
  EXPECT_EQ(second.wait_for(milliseconds(20)), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(gives_up.get(), ErrorKind::kCancelled);
  gate.open();
  const auto use = first.get();
  EXPECT_EQ(second.get(), 40u);  // beside the first, which is in use
  EXPECT_LE(memory_.key_bytes, 100u);
}

// Proofs of a device as the backend makes them, with a key each and memory beside it.
class ProofsTest : public KeyShelfTest {
 protected:
  // A proof over key `number`: `resident` bytes of key, or half where that leaves no room for the
  // `work` bytes of its own.
  base::Result<std::uint64_t> prove(int number, std::uint64_t resident, std::uint64_t work,
                                    int owner = 0) {
    return with_room([&](Turn turn, bool& never_fits) {
      ++attempt_count_;
      return attempt(number, resident, work, owner, turn, never_fits);
    });
  }

  std::atomic<int> attempt_count_{0};

 private:
  base::Result<std::uint64_t> attempt(int number, std::uint64_t resident, std::uint64_t work,
                                      int owner, Turn turn, bool& never_fits) {
    const auto no_room = [] { return Error{ErrorKind::kResourceExhausted, "no room"}; };
    const auto load = [&](KeyShelf::Loading& loading) -> base::Result<KeyShelf::Item> {
      const auto plan_in = [&](std::uint64_t room) -> base::Result<ProofPlan> {
        ProofPlan plan;
        plan.workspace_bytes = work;
        for (const std::uint64_t bytes : {resident, resident / 2, std::uint64_t{0}}) {
          plan.resident_bytes = bytes;
          if (bytes + work <= room) return plan;
        }
        return no_room();
      };
      CUZK_TRY(const auto plan, plan_key(
                                    loading, memory_.budget_bytes, [&] { return memory_.room(); },
                                    plan_in, {}, never_fits));
      ++load_count_;
      return KeyShelf::Item(std::make_shared<Block>(memory_.key_bytes, plan.resident_bytes));
    };
    const auto fits = [&](const void* item) {
      return static_cast<const Block*>(item)->bytes + work <= memory_.budget_bytes;
    };
    CUZK_TRY(auto use, shelf_.take(name(number, owner), turn, {}, load, fits));
    CUZK_TRY(const auto block,
             take_beside_keys(
                 shelf_,
                 [&]() -> base::Result<std::uint64_t> {
                   if (work > memory_.room()) return no_room();
                   return work;
                 },
                 [&](std::uint64_t bytes) -> base::Result<std::shared_ptr<Block>> {
                   const std::lock_guard lock(mutex_);
                   if (memory_.key_bytes + memory_.proof_bytes + bytes > memory_.budget_bytes) {
                     return no_room();
                   }
                   return std::make_shared<Block>(memory_.proof_bytes, bytes);
                 }));
    use.begin_run();
    std::this_thread::sleep_for(milliseconds(2));
    return bytes_of(use);
  }
  std::mutex mutex_;
};

// Small keys of other circuits and of the other curve fill what is left beside a large one; then it
// is proved with a key that is there, which once failed for good.
TEST_F(ProofsTest, IdleKeysNeverKeepAProofFromItsMemory) {
  EXPECT_EQ(prove(0, 50, 40).value(), 50u);
  for (int small = 1; small <= 4; ++small) {
    EXPECT_TRUE(take(small, 10, Turn::kShared, small % 2).ok());
  }
  EXPECT_EQ(memory_.key_bytes, 90u);
  EXPECT_EQ(prove(0, 50, 40).value(), 50u);
  EXPECT_EQ(load_count_, 1 + 4);  // the large one stayed
  EXPECT_LE(memory_.key_bytes, 60u);
}

TEST_F(ProofsTest, ADenserWitnessThanTheFirstMakesItsKeyTakeLess) {
  EXPECT_EQ(prove(0, 80, 10).value(), 80u);
  EXPECT_EQ(prove(0, 80, 40).value(), 40u);
  EXPECT_EQ(load_count_, 2);
  EXPECT_EQ(prove(0, 80, 10).value(), 40u);  // as it is now
  EXPECT_EQ(prove(0, 80, 101).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(prove(0, 80, 100).value(), 0u);
}

// It does not make the others wait for nothing.
TEST_F(ProofsTest, WhatNeverFitsIsRefusedWithoutATurnAlone) {
  EXPECT_EQ(prove(0, 10, 101).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(attempt_count_, 1);
}

// Keys and proofs that never fit beside each other, at once: each waits for its turn, none fails
// and nobody waits for ever.
TEST_F(ProofsTest, WhatDoesNotFitBesideOthersWaitsForThem) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        good += prove((t + i) % 6, 60, 20 + 10 * (t % 3), t % 2).ok() ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 48);
  EXPECT_EQ(memory_.proof_bytes, 0u);
  EXPECT_LE(memory_.key_bytes, 100u);
}

}  // namespace
}  // namespace cuzk::cuda::prove
