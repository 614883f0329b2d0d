// What the fields of the wire become.
//
// The job input that comes of a request is read back field by field; nothing is proved. A request
// sent twice has to give equal bytes, or the engine would not join them.
#include "apps/cuzk/daemon_requests.h"

#include <gtest/gtest.h>

#include "apps/jobs/job_input.h"

namespace cuzk::apps {
namespace {

using base::ErrorKind;
using service::ProofKind;
using service::ProofRequest;

base::Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

ProofRequest porep() {
  ProofRequest request;
  request.request_id = "porep-1000-42";
  request.kind = ProofKind::kPorep;
  request.sector_size = 2048;
  request.registered_proof = 5;
  request.sector_number = 42;
  request.miner_id = 1000;
  request.vanilla_proof = bytes_of("{}");
  return request;
}

ProofRequest window() {
  ProofRequest request;
  request.kind = ProofKind::kWindowPost;
  request.registered_proof = 10;
  request.randomness = base::Bytes(32, 7);
  request.vanilla_proofs = {bytes_of("one"), bytes_of("two")};
  request.partition_index = 3;
  return request;
}

ProofRequest update() {
  ProofRequest request;
  request.kind = ProofKind::kSnapDeals;
  request.comm_r_old = base::Bytes(32, 1);
  request.comm_r_new = base::Bytes(32, 2);
  request.comm_d_new = base::Bytes(32, 3);
  request.vanilla_proofs = {bytes_of("part")};
  return request;
}

// The input of the job that comes of it.
JobInput input_of(const engine::SubmitRequest& job) {
  auto input = read_job_input(*job.input);
  EXPECT_TRUE(input.ok());
  return std::move(input).value();
}

TEST(DaemonRequests, APorepKeepsAllThatIsSaid) {
  const auto job = proof_job(porep());
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->request_id, "porep-1000-42");
  EXPECT_EQ(job->kind, "porep");
  EXPECT_EQ(job->priority, engine::Priority::kNormal);
  const JobInput input = input_of(*job);
  EXPECT_EQ(input.required_number("sector_size").value(), 2048u);
  EXPECT_EQ(input.required_number("registered_proof").value(), 5u);
  EXPECT_EQ(input.required_number("sector_number").value(), 42u);
  EXPECT_EQ(input.required_number("miner_id").value(), 1000u);
  ASSERT_EQ(input.parts.size(), 1u);
  EXPECT_EQ(input.parts[0].size(), 2u);
}

TEST(DaemonRequests, ZerosOfAPorepAreNotSaid) {
  ProofRequest request = porep();
  request.sector_size = request.registered_proof = request.sector_number = request.miner_id = 0;
  const auto job = proof_job(request);
  ASSERT_TRUE(job.ok());
  EXPECT_TRUE(input_of(*job).fields.empty());
}

TEST(DaemonRequests, TheSameRequestIsTheSameInputAndAnyOtherIsAnother) {
  const base::Bytes first = *proof_job(porep())->input;
  EXPECT_EQ(*proof_job(porep())->input, first);
  ProofRequest other = porep();
  other.priority = engine::Priority::kHigh;
  EXPECT_EQ(*proof_job(other)->input, first) << "urgency is not what is proved";
  other.miner_id = 1001;
  EXPECT_NE(*proof_job(other)->input, first);
  other = porep();
  other.vanilla_proof.push_back(' ');
  EXPECT_NE(*proof_job(other)->input, first);
}

TEST(DaemonRequests, PostAndUpdatesKeepTheirFields) {
  const auto post = proof_job(window());
  ASSERT_TRUE(post.ok()) << post.error().message;
  EXPECT_EQ(post->kind, "window-post");
  EXPECT_EQ(post->priority, engine::Priority::kHigh);
  const JobInput input = input_of(*post);
  EXPECT_EQ(input.required_number("partition_index").value(), 3u);
  EXPECT_EQ(input.required_text("randomness").value(), base::to_hex(base::Bytes(32, 7)));
  EXPECT_EQ(input.parts.size(), 2u);

  ProofRequest winning = window();
  winning.kind = ProofKind::kWinningPost;
  winning.registered_proof = 0;
  const auto job = proof_job(winning);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->kind, "winning-post");
  EXPECT_EQ(job->priority, engine::Priority::kCritical);
  EXPECT_EQ(input_of(*job).required_number("registered_proof").value(), 0u) << "a real number";

  const auto snap = proof_job(update());
  ASSERT_TRUE(snap.ok());
  EXPECT_EQ(snap->kind, "update");
  EXPECT_EQ(input_of(*snap).required_text("comm_d_new").value(), base::to_hex(base::Bytes(32, 3)));
}

TEST(DaemonRequests, RefusalsNameTheField) {
  const auto refused = [](ProofRequest request, const char* field) {
    const auto job = proof_job(std::move(request));
    ASSERT_FALSE(job.ok()) << field;
    EXPECT_EQ(job.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_EQ(job.error().message.find(field), 0u) << job.error().message;
  };
  ProofRequest request = porep();
  request.vanilla_proof.clear();
  refused(request, "vanilla_proof:");
  refused({}, "proof_kind:");
  request = window();
  request.vanilla_proofs.clear();
  refused(request, "vanilla_proofs:");
  request = window();
  request.vanilla_proofs[1].clear();
  refused(request, "vanilla_proofs[1]:");
  request = window();
  request.randomness.pop_back();
  refused(request, "randomness: found 31 bytes");
  for (base::Bytes ProofRequest::*field :
       {&ProofRequest::comm_r_old, &ProofRequest::comm_r_new, &ProofRequest::comm_d_new}) {
    request = update();
    (request.*field).push_back(0);
    refused(request, "comm_");
  }
}

TEST(DaemonRequests, ACircuitHasToBeRegistered) {
  const auto none = CircomCircuits::open({});
  ASSERT_TRUE(none.ok());
  service::CircuitRequest request;
  request.circuit = "age";
  const auto job = circuit_job(request, **none);
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(job.error().message.find("'age'"), std::string::npos);
}

TEST(DaemonRequests, KindsHaveTheirPublicNames) {
  EXPECT_EQ(public_kind_name("porep"), "porep-c2");
  EXPECT_EQ(public_kind_name("update"), "snap-update");
  EXPECT_EQ(public_kind_name("circom"), "circom");
}

}  // namespace
}  // namespace cuzk::apps
