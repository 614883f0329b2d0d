// Messages between the processes: whole, cut and wrong.
#include "engine/worker_wire.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/journal_test_support.h"

namespace cuzk::engine::internal {
namespace {

using base::ErrorKind;
using ::testing::HasSubstr;
using testing_support::test_bytes;

struct Pair {
  std::unique_ptr<Channel> here, there;
};
Pair make_pair() {
  auto pair = Channel::make_pair();
  CUZK_ASSERT(pair.ok());
  return {std::move(pair->first), std::make_unique<Channel>(pair->second)};
}

TEST(WorkerWire, CarriesPayloadsOfEverySize) {
  const Pair pair = make_pair();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, Channel::kInlineBytesMax,
                                 Channel::kInlineBytesMax + 1, std::size_t{3} << 20}) {
    const base::Bytes payload = test_bytes(size, size);
    ASSERT_TRUE(pair.here->send(MessageKind::kInput, size + 7, payload).ok());
    auto got = pair.there->receive();
    ASSERT_TRUE(got.ok() && got->has_value()) << size;
    EXPECT_EQ((*got)->kind, MessageKind::kInput);
    EXPECT_EQ((*got)->call, size + 7);
    EXPECT_EQ((*got)->payload, payload);
  }
}

TEST(WorkerWire, TheEndOfTheOtherSideIsNoError) {
  Pair pair = make_pair();
  pair.here.reset();
  const auto got = pair.there->receive();
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(got->has_value());
  EXPECT_EQ(pair.there->send(MessageKind::kPing, 0, {}).error().kind, ErrorKind::kUnavailable);
  EXPECT_FALSE(pair.there->try_send(MessageKind::kPing, 0));
}

TEST(WorkerWire, ALookThatMayNotWaitSaysSoWhenTheSocketIsFull) {
  const Pair pair = make_pair();
  int sent = 0;
  while (sent < 100'000 && pair.here->try_send(MessageKind::kPing, 0)) ++sent;
  EXPECT_GT(sent, 0);
  EXPECT_LT(sent, 100'000);
}

// What a dying process may write: cut headers, wrong sizes, a size without its file.
TEST(WorkerWire, RefusesWhatIsNoMessage) {
  base::Bytes good(24 + 3);
  base::store_u32_le(good.data(), 0x315a5543);
  good[4] = 20;
  base::store_u64_le(good.data() + 16, 3);
  const auto refuses = [](base::Bytes bytes) {
    const Pair pair = make_pair();
    CUZK_ASSERT(::send(pair.here->descriptor(), bytes.data(), bytes.size(), 0) >= 0);
    const auto got = pair.there->receive();
    return !got.ok() && got.error().kind == ErrorKind::kMalformed;
  };
  EXPECT_FALSE(refuses(good));
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_TRUE(refuses(base::Bytes(good.begin(), good.begin() + static_cast<long>(size)))) << size;
  }
  base::Bytes bad = good;
  bad[0] ^= 1;
  EXPECT_TRUE(refuses(bad)) << "another magic";
  bad = good;
  bad[5] = 1;
  EXPECT_TRUE(refuses(bad)) << "a file that did not come";
  for (const std::uint64_t size : {std::uint64_t{2}, std::uint64_t{4}, UINT64_MAX}) {
    bad = good;
    base::store_u64_le(bad.data() + 16, size);
    EXPECT_TRUE(refuses(bad)) << size;
  }
  EXPECT_TRUE(refuses(base::Bytes(Channel::kInlineBytesMax + 100))) << "longer than any";
}

WireRun sample_run() {
  WireRun run;
  run.id = 77;
  run.name = "a name";
  run.kind = "kind";
  run.priority = Priority::kHigh;
  run.has_deadline = 1;
  run.deadline_ms = -5;
  run.has_plan = 1;
  run.plan.key.name = "key";
  run.plan.key.bytes = UINT64_MAX;
  run.plan.partitions = {{0, 1, 2, 3}, {1, 4, 5, 6}};
  run.finished = {{1, 2, 3}, {}};
  return run;
}

TEST(WorkerWire, ARunArrivesAsItWasSent) {
  const auto got = decode<WireRun>(encode(sample_run()));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(encode(*got), encode(sample_run()));
  EXPECT_EQ(got->deadline_ms, -5);
  EXPECT_EQ(got->plan.key.bytes, UINT64_MAX);
  EXPECT_EQ(got->plan.partitions[1].pending_bytes, 6u);
  EXPECT_EQ(got->finished[0], (base::Bytes{1, 2, 3}));
}

TEST(WorkerWire, ValuesThatAreCutOrTooLongAreRefused) {
  const base::Bytes whole = encode(sample_run());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode<WireRun>(base::ByteSpan(whole).first(size)).ok()) << size;
  }
  base::Bytes longer = whole;
  longer.push_back(0);
  EXPECT_FALSE(decode<WireRun>(longer).ok());
  // Each number in turn as large as can be: lengths among them may not be believed.
  for (std::size_t at = 0; at + 8 <= whole.size(); ++at) {
    base::Bytes wrong = whole;
    base::store_u64_le(wrong.data() + at, UINT64_MAX / 2);
    (void)decode<WireRun>(wrong);  // no crash, no allocation beyond the message
  }
  base::Bytes names = whole;
  base::store_u64_le(names.data() + 8, whole.size());
  EXPECT_FALSE(decode<WireRun>(names).ok());
}

TEST(WorkerWire, AReportArrivesAsItWasSent) {
  ExecutorReport report;
  report.counts.completed_jobs = 3;
  report.counts.partitions[2] = 4;
  report.ledger.total = {5, 6};
  report.ledger.by_category[1].peak_bytes = 7;
  report.ledger.owners = {{base::MemoryCategory::kWitness, "w", 8, base::Account::pinned()}};
  report.ledger.accounts = {{base::Account::host(), 9, {10, 11}},
                            {base::Account::device(3), 12, {13, 14}}};
  report.budget_bytes = 15;
  report.devices.push_back({.name = "d",
                            .identifier = "i",
                            .running = {1, 2},
                            .busy_s = 1.5,
                            .streamed_bytes = 19,
                            .shared_bytes = 20});
  report.keys.push_back({"k", KeyTier::kHot, 16, 17});
  report.pending_alive = 18;
  const auto got = decode_report(encode_report(report));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(encode_report(*got), encode_report(report));
  EXPECT_EQ(got->ledger.accounts[1].account, base::Account::device(3));
  EXPECT_EQ(got->ledger.owners[0].account, base::Account::pinned());
  EXPECT_EQ(got->devices[0].busy_s, 1.5);
  EXPECT_EQ(got->devices[0].streamed_bytes, 19u);
  EXPECT_EQ(got->devices[0].shared_bytes, 20u);
  EXPECT_EQ(got->devices[0].running.size(), 2u);
  EXPECT_EQ(got->keys[0].tier, KeyTier::kHot);
  const base::Bytes whole = encode_report(report);
  for (std::size_t size = 0; size < whole.size(); size += 5) {
    EXPECT_FALSE(decode_report(base::ByteSpan(whole).first(size)).ok()) << size;
  }
}

}  // namespace
}  // namespace cuzk::engine::internal
