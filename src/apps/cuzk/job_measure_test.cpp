// Measurements on the CPU: they check what they time, and say where they ran.
//
// Tiny sizes; no test looks at a time but for its being there.
#include "apps/cuzk/job_measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cuzk::apps {
namespace {

nlohmann::json facts(const base::Result<Answer>& answer) {
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  return answer.ok() ? nlohmann::json::parse(answer->to_json()) : nlohmann::json();
}

TEST(Measure, TransformsAndSumsOfBothCurvesAreCheckedAndTimed) {
  Session session(CommonOptions{});
  for (const char* curve : {"bls12-381", "bn254"}) {
    MeasureRequest request;
    request.size_log2 = 8;
    request.curve = curve;
    request.repeats = 2;
    const auto transforms = facts(measure_transforms(request, session));
    EXPECT_EQ(transforms["curve"], curve);
    EXPECT_GT(transforms["median_ms"].get<double>(), 0);
    for (const char* group : {"g1", "g2"}) {
      request.group = group;
      const auto sums = facts(measure_sums(request, session));
      EXPECT_EQ(sums["backend"], "cpu");
      EXPECT_GE(sums["median_ms"].get<double>(), sums["least_ms"].get<double>());
    }
  }
}

TEST(Measure, ProofsOfAMadeUpCircuitVerify) {
  Session session(CommonOptions{});
  MeasureProveRequest request;
  request.size_log2 = 8;
  request.proofs = 3;
  request.workers = 2;
  request.backend.backend = "cpu";
  const auto proofs = facts(measure_proofs(request, session));
  EXPECT_EQ(proofs["domain_log2"], 8);
  EXPECT_EQ(proofs["backend"], "cpu");
  EXPECT_GT(proofs["ms_a_proof"].get<double>(), 0);
  // What is held between start and finish: no a, b or c.
  EXPECT_GT(proofs["pending_proof_bytes"].get<std::uint64_t>(), 0u);
  EXPECT_GT(proofs["pending_rss_bytes"].get<std::uint64_t>(), 0u);
  EXPECT_EQ(proofs["pending_ledger_bytes_evaluation"].get<std::uint64_t>(), 0u);
}

TEST(Measure, SaysWhatIsWrong) {
  Session session(CommonOptions{});
  MeasureRequest request;
  request.size_log2 = 29;
  EXPECT_EQ(measure_transforms(request, session).error().kind, base::ErrorKind::kInvalidArgument);
  MeasureProveRequest half;
  half.zkey = "circuit.zkey";
  EXPECT_THAT(measure_proofs(half, session).error().message, ::testing::HasSubstr("go together"));
  if (!cuda::is_built_in()) {
    request.size_log2 = 4;
    request.backend.backend = "cuda";
    EXPECT_EQ(measure_sums(request, session).error().kind, base::ErrorKind::kUnsupported);
  }
}

}  // namespace
}  // namespace cuzk::apps
