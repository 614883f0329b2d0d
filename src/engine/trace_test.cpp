// A trace is a file that viewers can open: its spans lie on the tracks of their workers, nest, and
// add up to the totals; samples stand beside them; nothing grows for ever.
#include "engine/trace.h"

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace cuzk::engine {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using std::chrono::milliseconds;

StageSpan span(WorkerId worker, JobId job, int begin_ms, int end_ms,
               GrantReason reason = GrantReason::kOrder, bool failed = false) {
  const auto now = std::chrono::steady_clock::now();
  StageSpan out;
  out.worker = worker;
  out.assignment.job = job;
  out.assignment.stage = worker.kind;
  out.assignment.reason = reason;
  out.begin = now + milliseconds(begin_ms);
  out.end = now + milliseconds(end_ms);
  out.failed = failed;
  return out;
}

// Complete events by track; each lies beside or inside those before it.
void expect_nested(const Json& events) {
  std::map<int, std::vector<std::pair<double, double>>> tracks;
  for (const Json& event : events) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"];
    tracks[event["tid"]].emplace_back(begin, begin + event["dur"].get<double>());
  }
  for (const auto& [track, spans] : tracks) {
    for (const auto& a : spans) {
      for (const auto& b : spans) {
        const bool apart = a.second <= b.first + 1 || b.second <= a.first + 1;
        const bool inside = (a.first >= b.first - 1 && a.second <= b.second + 1) ||
                            (b.first >= a.first - 1 && b.second <= a.second + 1);
        EXPECT_TRUE(apart || inside) << "track " << track;
      }
    }
  }
}

TEST(RunTrace, WritesWhatViewersRead) {
  RunTrace trace;
  trace.name_job(7, "porep \"x\"");
  trace.stage_ended(span({Stage::kWitness, 0}, 7, 0, 10));
  trace.stage_ended(span({Stage::kDevice, 1}, 7, 12, 20));
  trace.stage_ended(span({Stage::kFinish, 0}, 8, 22, 30, GrantReason::kOrder, true));
  TraceSample sample;
  sample.at_s = 0.5;
  sample.ledger_bytes = 1000;
  sample.by_category[static_cast<std::size_t>(base::MemoryCategory::kWitness)] = 600;
  sample.resident.file_bytes = 4096;
  trace.add_sample(sample);
  const Json file = Json::parse(trace.to_json("a run"));
  const Json& events = file["traceEvents"];
  std::set<std::string> names, tracks;
  int spans = 0;
  for (const Json& event : events) {
    ASSERT_TRUE(event.contains("ph") && event.contains("name") && event.contains("pid"));
    if (event["ph"] == "M") tracks.insert(event["args"]["name"]);
    if (event["ph"] == "C") {
      names.insert(event["name"]);
      EXPECT_DOUBLE_EQ(event["ts"], 0.5e6);
      for (const auto& [series, value] : event["args"].items()) EXPECT_TRUE(value.is_number());
    }
    if (event["ph"] == "X") {
      ++spans;
      EXPECT_GT(event["dur"].get<double>(), 0);
      EXPECT_TRUE(event["args"].contains("partition"));
    }
  }
  EXPECT_EQ(spans, 3);
  EXPECT_EQ(tracks,
            (std::set<std::string>{"witness worker 0", "device worker 1", "finish worker 0"}));
  EXPECT_EQ(names, (std::set<std::string>{"ledger", "resident", "waiting partitions",
                                          "buffers in flight"}));
  EXPECT_EQ(file["samples"][0]["ledger"]["witness"], 600);
  EXPECT_EQ(file["samples"][0]["resident"]["file"], 4096);
  EXPECT_EQ(file["stages"]["finish"]["failed"], 1);
  EXPECT_NEAR(file["stages"]["device"]["busy_s"].get<double>(), 0.008, 1e-6);
  EXPECT_THAT(trace.to_json("a run"), HasSubstr("porep \\\"x\\\" witness"));
}

TEST(RunTrace, CountsCriticalWorkInsideOtherWorkOnce) {
  RunTrace trace;
  const WorkerId worker{Stage::kDevice, 0};
  const auto outer = span(worker, 1, 0, 100);
  auto first = outer, second = outer;
  first.assignment.reason = second.assignment.reason = GrantReason::kInline;
  first.begin = outer.begin + milliseconds(10);
  first.end = outer.begin + milliseconds(30);
  second.begin = outer.begin + milliseconds(40);
  second.end = outer.begin + milliseconds(50);
  trace.stage_ended(first);
  trace.stage_ended(second);
  trace.stage_ended(outer);
  const StageTotal total = trace.totals()[static_cast<std::size_t>(Stage::kDevice)];
  EXPECT_EQ(total.count, 3u);
  EXPECT_NEAR(total.busy_s, 0.1, 1e-9);
  EXPECT_NEAR(total.longest_s, 0.1, 1e-9);
  expect_nested(Json::parse(trace.to_json("nested"))["traceEvents"]);
}

TEST(RunTrace, DoesNotGrowForEver) {
  RunTrace trace;
  for (std::size_t i = 0; i < RunTrace::kSpansMax + 10; ++i) {
    trace.stage_ended(span({Stage::kWitness, 0}, i, 0, 1));
  }
  EXPECT_EQ(trace.spans().size(), RunTrace::kSpansMax);
  EXPECT_EQ(trace.totals()[0].count, RunTrace::kSpansMax + 10);
  for (std::size_t i = 0; i < 2 * RunTrace::kSamplesMax + 5; ++i) {
    TraceSample sample;
    sample.at_s = static_cast<double>(i);
    trace.add_sample(sample);
  }
  const auto samples = trace.samples();
  EXPECT_LE(samples.size(), RunTrace::kSamplesMax);
  EXPECT_GE(samples.size(), RunTrace::kSamplesMax / 2);
  EXPECT_EQ(samples.front().at_s, 0);
  EXPECT_EQ(samples.back().at_s, 2 * RunTrace::kSamplesMax + 4);
}

TEST(RunTrace, SamplesWhileItIsAskedTo) {
  RunTrace trace;
  std::atomic<int> asked{0};
  trace.start_sampling(milliseconds(1), [&] {
    ++asked;
    ExecutorReport report;
    report.budget_bytes = 77;
    return report;
  });
  while (asked.load() < 3) std::this_thread::sleep_for(milliseconds(1));
  trace.stop_sampling();
  const int after = asked.load();
  const auto samples = trace.samples();
  EXPECT_EQ(samples.size(), static_cast<std::size_t>(after));
  EXPECT_EQ(samples[0].budget_bytes, 77u);
  EXPECT_GT(samples[0].resident.total_bytes(), 0u);
  EXPECT_GT(samples[0].descriptor_count, 2u);
  EXPECT_THAT(trace.to_svg("memory"), HasSubstr("<svg"));
  EXPECT_THAT(trace.to_svg("memory"), HasSubstr("budget"));
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(asked.load(), after);
}

TEST(Resident, IsReadFromTheKernelsText) {
  const std::string text =
      "Name:\tcuzk\nVmHWM:\t   900 kB\nVmRSS:\t   777 kB\nRssAnon:\t     700 kB\n"
      "RssFile:\t      70 kB\nRssShmem:\t       7 kB\nThreads:\t12\n";
  const auto resident = parse_resident(text);
  ASSERT_TRUE(resident.ok()) << resident.error().message;
  EXPECT_EQ(resident->total_bytes(), 777u * 1024);
  EXPECT_EQ(resident->peak_bytes, 900u * 1024);
  EXPECT_EQ(resident->thread_count, 12u);
  const auto without = parse_resident("Name:\tcuzk\nRssAnon:\t700 kB\nRssFile:\tmany\n");
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(without.error().message, HasSubstr("RssFile"));
}

TEST(Resident, FollowsWhatIsTouched) {
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  const auto before = read_resident();
  ASSERT_TRUE(before.ok()) << before.error().message;
  // Straight from the kernel: an allocator may keep what is freed, a sanitizer's does.
  void* touched =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(touched, MAP_FAILED);
  std::memset(touched, 1, kBytes);
  const auto with = read_resident();
  EXPECT_GE(with->anonymous_bytes + (1 << 20), before->anonymous_bytes + kBytes);
  ASSERT_EQ(::munmap(touched, kBytes), 0);
  EXPECT_LT(read_resident()->anonymous_bytes, before->anonymous_bytes + kBytes / 2);
  if (reset_peak_resident()) {
    EXPECT_LT(read_resident()->peak_bytes, with->peak_bytes);
  }
}

TEST(Resident, CountsDescriptors) {
  const std::uint64_t before = open_descriptor_count();
  const int file = ::dup(0);
  EXPECT_EQ(open_descriptor_count(), before + 1);
  ::close(file);
  EXPECT_EQ(open_descriptor_count(), before);
}

}  // namespace
}  // namespace cuzk::engine
