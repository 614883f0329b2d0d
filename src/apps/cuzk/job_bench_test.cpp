// What bench incident says and writes, and which options do not go together.
//
// Whether the replay is right is for src/engine's own tests.
#include "apps/cuzk/job_bench.h"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::apps {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

base::Result<Answer> run(const IncidentRequest& request) {
  Session session(CommonOptions{});
  return bench_incident(request, session);
}

std::string content_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(BenchIncident, ShowsTheRecordAndWritesTraceAndPlot) {
  const fs::path folder = fs::temp_directory_path() / ("cuzk_bench_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  IncidentRequest request;
  request.trace = folder / "trace.json";
  request.plot = folder / "plot.svg";
  const auto answer = run(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_THAT(answer->to_text(), HasSubstr("367 peak, plateau 300-350, back to 71"));
  const auto json = nlohmann::json::parse(answer->to_json());
  EXPECT_EQ(json["runs"].size(), engine::incident_cases().size());
  EXPECT_TRUE(json["runs"][1]["overflows_host"].get<bool>());
  EXPECT_EQ(nlohmann::json::parse(content_of(request.trace))["runs"].size(), json["runs"].size());
  EXPECT_THAT(content_of(request.plot), HasSubstr("<polyline"));
  fs::remove_all(folder);
}

TEST(BenchIncident, RunsAnOwnCase) {
  IncidentRequest request;
  request.has_own = true;
  request.own.witness_workers = 3;
  request.own.proof_count = 2;
  request.budget = "128GiB";
  const auto answer = run(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const auto json = nlohmann::json::parse(answer->to_json());
  ASSERT_EQ(json["runs"].size(), 1u);
  EXPECT_EQ(json["runs"][0]["witness_workers"], 3);
  EXPECT_LE(json["runs"][0]["resident_peak_bytes"].get<std::uint64_t>(), std::uint64_t{128} << 30);
}

TEST(BenchIncident, TellsWhatIsWrong) {
  IncidentRequest request;
  request.only = "nothing";
  EXPECT_EQ(run(request).error().kind, base::ErrorKind::kNotFound);
  request.has_own = true;
  EXPECT_EQ(run(request).error().kind, base::ErrorKind::kInvalidArgument);
  request = {};
  request.has_own = true;
  request.budget = "80GiB";
  EXPECT_THAT(run(request).error().message, HasSubstr("can never fit"));
  request = {};
  request.allocations = true;
  request.only = "pw12-delivery";
  EXPECT_EQ(run(request).error().kind, base::ErrorKind::kInvalidArgument);
}

TEST(BenchIncident, MeasuresRealAllocations) {
  IncidentRequest request;
  request.allocations = true;
  const auto answer = run(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const auto json = nlohmann::json::parse(answer->to_json());
  EXPECT_EQ(json["ledger_peak_bytes"], json["ledger_live_peak_bytes"]);
  EXPECT_GT(json["allocator_resident_peak_bytes"].get<std::uint64_t>(), 0u);
}

}  // namespace
}  // namespace cuzk::apps
