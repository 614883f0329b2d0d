// Staging on a machine that refuses pinned memory: always, above a size, for a while; with a
// made-up machine that pins and the ledger of this process.
#include "cuda/prove/staging.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"

namespace cuzk::cuda::prove {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

std::uint64_t used_bytes(base::Account account) {
  for (const auto& use : base::Ledger::process().snapshot().accounts) {
    if (use.account == account) return use.use.used_bytes;
  }
  return 0;
}

// Pins by malloc, up to a limit, and counts.
class StagingTest : public ::testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    base::Ledger::process().set_budget(base::Account::pinned(), 0);
    base::set_log_sink({});
    forget_shortages();
  }

  PinnedSource source() {
    PinnedSource out;
    out.pin = [this](std::uint64_t bytes) -> base::Result<std::shared_ptr<std::byte>> {
      asked.push_back(bytes);
      if (!pin_error.message.empty()) return pin_error;
      if (bytes > pinned_max - pinned) {
        return base::Error{base::ErrorKind::kResourceExhausted, "made-up: out of memory"};
      }
      pinned += bytes;
      return std::shared_ptr<std::byte>(static_cast<std::byte*>(std::malloc(bytes)),
                                        [this, bytes](std::byte* data) {
                                          pinned -= bytes;
                                          std::free(data);
                                        });
    };
    out.spare_bytes = [this] { return spare; };
    return out;
  }
  StagingWish wish(std::uint64_t bytes) const { return {bytes, 256 * kKiB, 16 * kMiB, "a test"}; }

  std::uint64_t pinned_max = ~std::uint64_t{0}, pinned = 0;
  std::optional<std::uint64_t> spare;
  base::Error pin_error;
  std::vector<std::uint64_t> asked;
};

TEST(StagingSizes, HalveInWholePagesDownToTheLeast) {
  EXPECT_THAT(staging_sizes(16 * kMiB, 4 * kMiB), ElementsAre(16 * kMiB, 8 * kMiB, 4 * kMiB));
  EXPECT_THAT(staging_sizes(1000000, 256 * kKiB), ElementsAre(1000000, 503808));
  EXPECT_THAT(staging_sizes(100, 256 * kKiB), ElementsAre(100));
  EXPECT_THAT(staging_sizes(4096, 4096), ElementsAre(4096));
  EXPECT_THAT(staging_sizes(4096, 0), ElementsAre(4096));
  EXPECT_THAT(staging_sizes(8194, 0), ElementsAre(8194, 8192, 4096));
  EXPECT_THAT(staging_sizes(1, 0), ElementsAre(1));
  EXPECT_THAT(staging_sizes(0, 0), ElementsAre(0));
}

TEST_F(StagingTest, IsPinnedAsAskedWhereTheMachineGivesIt) {
  {
    Staging block;
    ASSERT_TRUE(block.ensure(wish(5 * kMiB), source()).ok());
    EXPECT_TRUE(block.is_pinned());
    EXPECT_EQ(block.bytes().size(), 5 * kMiB);
    EXPECT_FALSE(block.shortage());
    EXPECT_EQ(used_bytes(base::Account::pinned()), 5 * kMiB);
    // A smaller wish finds it there, a larger one gets a larger block.
    ASSERT_TRUE(block.ensure(wish(kMiB), source()).ok());
    EXPECT_THAT(asked, ElementsAre(5 * kMiB));
    ASSERT_TRUE(block.ensure(wish(6 * kMiB), source()).ok());
    EXPECT_EQ(block.bytes().size(), 6 * kMiB);
    EXPECT_EQ(pinned, 6 * kMiB);
    EXPECT_EQ(used_bytes(base::Account::pinned()), 6 * kMiB);
  }
  EXPECT_EQ(pinned, 0u);
  EXPECT_EQ(used_bytes(base::Account::pinned()), 0u);
}

TEST_F(StagingTest, TakesTheLargestHalfThatIsNotRefused) {
  pinned_max = 3 * kMiB;
  Staging block;
  ASSERT_TRUE(block.ensure(wish(16 * kMiB), source()).ok());
  EXPECT_TRUE(block.is_pinned());
  EXPECT_THAT(asked, ElementsAre(16 * kMiB, 8 * kMiB, 4 * kMiB, 2 * kMiB));
  EXPECT_EQ(block.bytes().size(), 2 * kMiB);
  EXPECT_EQ(used_bytes(base::Account::pinned()), 2 * kMiB);
  ASSERT_TRUE(block.shortage());
  EXPECT_EQ(block.shortage()->asked_bytes, 16 * kMiB);
  EXPECT_EQ(block.shortage()->had_bytes, 2 * kMiB);
  EXPECT_EQ(block.shortage()->reason, "made-up: out of memory");
  EXPECT_FALSE(block.shortage()->is_budget);
}

TEST_F(StagingTest, IsPageableWhereAllIsRefused) {
  pinned_max = 100 * kKiB;
  Staging block;
  const std::uint64_t host_before = used_bytes(base::Account::host());
  ASSERT_TRUE(block.ensure(wish(40 * kMiB), source()).ok());
  EXPECT_FALSE(block.is_pinned());
  EXPECT_EQ(block.bytes().size(), 16 * kMiB);  // as much as is of use
  EXPECT_EQ(asked.back(), 320 * kKiB);         // nothing below the least
  EXPECT_EQ(used_bytes(base::Account::pinned()), 0u);
  EXPECT_EQ(used_bytes(base::Account::host()) - host_before, 16 * kMiB);
  EXPECT_EQ(block.shortage()->had_bytes, 0u);
  // It can be written from end to end.
  std::fill(block.bytes().begin(), block.bytes().end(), std::byte{1});
  // What is small is no larger as pageable memory.
  Staging small;
  pinned_max = 0;
  ASSERT_TRUE(small.ensure({4096, 4096, 4096, "small"}, source()).ok());
  EXPECT_EQ(small.bytes().size(), 4096u);
}

TEST_F(StagingTest, GivesAPageableBlockTheSizeThatTheBudgetAllows) {
  pinned_max = 0;
  auto& ledger = base::Ledger::process();
  const std::uint64_t held = used_bytes(base::Account::host());
  ledger.set_budget(held + 3 * kMiB);
  Staging block;
  const auto status = block.ensure(wish(16 * kMiB), source());
  ledger.set_budget(0);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(block.bytes().size(), 2 * kMiB);
  // With no room at all there is nothing to go on with, and the sentence is the ledger's.
  ledger.set_budget(used_bytes(base::Account::host()) + 4096);
  Staging none;
  const auto refused = none.ensure(wish(16 * kMiB), source());
  ledger.set_budget(0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kResourceExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("a test"));
  EXPECT_TRUE(none.bytes().empty());
  // The block is of use again as soon as there is room.
  ASSERT_TRUE(none.ensure(wish(16 * kMiB), source()).ok());
  EXPECT_EQ(none.bytes().size(), 16 * kMiB);
}

TEST_F(StagingTest, CountsABudgetOfPinnedMemoryAsARefusal) {
  base::Ledger::process().set_budget(base::Account::pinned(), 5 * kMiB);
  Staging block;
  ASSERT_TRUE(block.ensure(wish(16 * kMiB), source()).ok());
  EXPECT_THAT(asked, ElementsAre(4 * kMiB));  // the machine is not asked for what is not admitted
  EXPECT_TRUE(block.is_pinned());
  EXPECT_TRUE(block.shortage()->is_budget);
  EXPECT_THAT(block.shortage()->reason, HasSubstr("budget of pinned"));
}

TEST_F(StagingTest, AsksForNoMoreThanTheHostCanSpare) {
  spare = 3 * kMiB;
  Staging block;
  ASSERT_TRUE(block.ensure(wish(16 * kMiB), source()).ok());
  EXPECT_THAT(asked, ElementsAre(2 * kMiB));
  EXPECT_THAT(block.shortage()->reason, HasSubstr("free memory is 3 MiB"));
}

TEST_F(StagingTest, AsksAgainAfterAWhileOrForMore) {
  pinned_max = 3 * kMiB;
  Staging block;
  const Staging::Clock::time_point begin{};
  ASSERT_TRUE(block.ensure(wish(16 * kMiB), source(), begin).ok());
  ASSERT_EQ(block.bytes().size(), 2 * kMiB);
  const std::byte* const data = block.bytes().data();
  pinned_max = ~std::uint64_t{0};
  asked.clear();
  const auto soon = begin + Staging::kAskAgainAfter - std::chrono::seconds(1);
  ASSERT_TRUE(block.ensure(wish(16 * kMiB), source(), soon).ok());
  ASSERT_TRUE(block.ensure(wish(kMiB), source(), soon).ok());  // which it has
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(block.bytes().data(), data);
  EXPECT_TRUE(block.shortage());
  ASSERT_TRUE(block.ensure(wish(16 * kMiB), source(), soon + std::chrono::seconds(2)).ok());
  EXPECT_THAT(asked, ElementsAre(16 * kMiB));
  EXPECT_EQ(block.bytes().size(), 16 * kMiB);
  EXPECT_FALSE(block.shortage());
  // A larger wish does not wait.
  pinned_max = 3 * kMiB;
  ASSERT_TRUE(block.ensure(wish(20 * kMiB), source(), soon).ok());
  ASSERT_TRUE(block.shortage());
  pinned_max = ~std::uint64_t{0};
  ASSERT_TRUE(block.ensure(wish(24 * kMiB), source(), soon).ok());
  EXPECT_EQ(block.bytes().size(), 24 * kMiB);
}

TEST_F(StagingTest, ALostDeviceIsNoShortage) {
  pin_error = {base::ErrorKind::kUnavailable, "device 0 is lost"};
  Staging block;
  const auto status = block.ensure(wish(16 * kMiB), source());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, base::ErrorKind::kUnavailable);
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_EQ(used_bytes(base::Account::pinned()), 0u);
}

TEST_F(StagingTest, AKeyIsPinnedWholeOrNotAtAll) {
  pinned_max = 3 * kMiB;
  const auto srs = base::MemoryCategory::kSrs;
  auto refused = try_pin(source(), 4 * kMiB, srs, "H query");
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->bytes, nullptr);
  EXPECT_EQ(refused->shortage.asked_bytes, 4 * kMiB);
  EXPECT_EQ(used_bytes(base::Account::pinned()), 0u);
  auto had = try_pin(source(), 3 * kMiB, srs, "H query");
  ASSERT_TRUE(had.ok());
  EXPECT_NE(had->bytes, nullptr);
  EXPECT_EQ(used_bytes(base::Account::pinned()), 3 * kMiB);
}

TEST_F(StagingTest, TheWarningSaysWhatWasAskedHadAndHelps) {
  PinnedShortage shortage{16 * kMiB, 2 * kMiB, "out of memory", false};
  const std::string text = shortage_sentence(3, "staging of points", shortage, "copies are slower");
  for (const char* part : {"device 3: 16 MiB of pinned (page-locked) host memory for staging of "
                           "points were asked for, 2 MiB could be had (out of memory)",
                           "; copies are slower. ", "ulimit -l", "Free host memory"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  shortage = {16 * kMiB, 0, "the budget is full", true};
  const std::string budget = shortage_sentence(0, "a key", shortage, "it is slower");
  EXPECT_THAT(budget, HasSubstr("none could be had (the budget is full)"));
  EXPECT_THAT(budget, HasSubstr("memory.total_budget"));
  EXPECT_THAT(budget, Not(HasSubstr("ulimit")));
}

TEST_F(StagingTest, TheWarningComesOnceForEachDeviceAndUse) {
  std::mutex mutex;
  std::vector<std::string> lines;
  base::set_log_sink([&](base::LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(level, base::LogLevel::kWarning);
    lines.emplace_back(line);
  });
  const PinnedShortage shortage{16 * kMiB, 0, "out of memory", false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int device = 0; device < 2; ++device) {
        warn_of_shortage(device, PinnedUse::kStaging, "staging of points", shortage);
        warn_of_shortage(device, PinnedUse::kStaging, "staging of witnesses", shortage);
        warn_of_shortage(device, PinnedUse::kKey, "the H query of a key", shortage);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(lines.size(), 4u);
  const auto about_keys = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("gpus.memory_max") != std::string::npos;
  });
  EXPECT_EQ(about_keys, 2);
}

}  // namespace
}  // namespace cuzk::cuda::prove
