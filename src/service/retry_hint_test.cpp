// When to try again, by what was refused.
#include "service/retry_hint.h"

#include <gtest/gtest.h>

#include "engine/engine_test_support.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;
using std::chrono::milliseconds;

TEST(RetryHint, IsGivenWhereTryingAgainHelps) {
  const cuzk::testing::TemporaryFolder folder;
  auto opened = engine::testing_support::open_stand_in(
      engine::testing_support::engine_options_in(folder / "j"));
  engine::Engine& engine = *opened.engine;
  const Error full{ErrorKind::kResourceExhausted, "the queue is full"};
  EXPECT_EQ(retry_after(full), milliseconds(1000));
  EXPECT_EQ(retry_after(full, engine), milliseconds(engine.retry_after_ms()));
  EXPECT_GT(engine.retry_after_ms(), 1000);
  const Error gone{ErrorKind::kUnavailable, "draining"};
  EXPECT_EQ(retry_after(gone), milliseconds(5000));
  EXPECT_EQ(retry_after(gone, engine), milliseconds(5000));
  EXPECT_EQ(retry_after(Error{ErrorKind::kMalformed, "no JSON"}), milliseconds(0));
}

// With these words the engine refuses it, whatever process it runs in.
TEST(RetryHint, IsNotGivenForWhatCanNeverFit) {
  const cuzk::testing::TemporaryFolder folder;
  auto [engine, executor] = engine::testing_support::open_stand_in(
      engine::testing_support::engine_options_in(folder / "j"));
  engine::SchedulerConfig config;
  config.memory.budget_bytes = 100;
  engine::JobSpec large;
  large.key.bytes = 101;
  large.partitions.resize(1);
  const base::Status refusal = engine::Scheduler(config).submit(large, 0);
  ASSERT_FALSE(refusal.ok());
  executor->refuse(refusal.error());
  const auto refused = engine->submit(engine::testing_support::stand_in_request(
      "large", engine::testing_support::stand_in_input(1, 1, 1)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(retry_after(refused.error()), milliseconds(0));
  EXPECT_EQ(retry_after(refused.error(), *engine), milliseconds(0));
}

}  // namespace
}  // namespace cuzk::service
