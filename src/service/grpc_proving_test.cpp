// The calls of cuzk.v1 through a real socket.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include "service/grpc_test_support.h"
#include "service/proto/proving.grpc.pb.h"
#include "service/proto/status_details.pb.h"

namespace cuzk::service {
namespace {

using testing_support::End;
using testing_support::proof_of;
using testing_support::script;
using testing_support::TestDaemon;
using testing_support::times_of;

std::string text_of(const base::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

v1::SubmitProofRequest request_of(const std::string& id, const base::Bytes& input,
                                  v1::ProofKind kind = v1::POREP_SEAL_COMMIT) {
  v1::SubmitProofRequest request;
  request.set_request_id(id);
  request.set_proof_kind(kind);
  request.set_sector_size(2048);
  request.set_vanilla_proof(text_of(input));
  return request;
}

class GrpcProving : public ::testing::Test {
 protected:
  void begin(Config config = {}, std::size_t threads = 2, std::uint64_t queue_max = 10'000) {
    daemon_ = std::make_unique<TestDaemon>(std::move(config), threads, queue_max);
    ASSERT_TRUE(daemon_->started().ok()) << daemon_->started().error().message;
    stub_ = v1::ProvingEngine::NewStub(
        grpc::CreateChannel(daemon_->target(), grpc::InsecureChannelCredentials()));
  }

  grpc::Status submit(const v1::SubmitProofRequest& request, v1::SubmitProofResponse* reply) {
    grpc::ClientContext context;
    return stub_->SubmitProof(&context, request, reply);
  }
  grpc::Status await(const std::string& id, std::uint64_t timeout_ms,
                     v1::AwaitProofResponse* reply) {
    grpc::ClientContext context;
    v1::AwaitProofRequest request;
    request.set_job_id(id);
    request.set_timeout_ms(timeout_ms);
    return stub_->AwaitProof(&context, request, reply);
  }
  grpc::Status cancel(const std::string& id, v1::CancelProofResponse* reply) {
    grpc::ClientContext context;
    v1::CancelProofRequest request;
    request.set_job_id(id);
    return stub_->CancelProof(&context, request, reply);
  }
  v1::GetStatusResponse status() {
    grpc::ClientContext context;
    v1::GetStatusResponse reply;
    const grpc::Status status = stub_->GetStatus(&context, {}, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }

  std::unique_ptr<TestDaemon> daemon_;
  std::unique_ptr<v1::ProvingEngine::Stub> stub_;
};

TEST_F(GrpcProving, SubmitsAndAwaitsWithEveryField) {
  begin();
  const base::Bytes input = script(3, 1, End::kProof, 77);
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(submit(request_of("job a", input), &submitted).ok());
  EXPECT_EQ(submitted.job_id(), "job a");
  EXPECT_EQ(submitted.queue_position(), 0u);
  EXPECT_EQ(submitted.assigned_gpu(), "");
  EXPECT_EQ(submitted.acceptance(), v1::ACCEPTANCE_NEW);

  v1::AwaitProofResponse ended;
  ASSERT_TRUE(await("job a", 0, &ended).ok());
  EXPECT_EQ(ended.job_id(), "job a");
  EXPECT_EQ(ended.status(), v1::AwaitProofResponse::COMPLETED);
  EXPECT_EQ(ended.proof(), text_of(proof_of(input)));
  EXPECT_EQ(ended.error_message(), "");
  const engine::JobTimes times = times_of(input);
  EXPECT_EQ(ended.queue_wait_ms(), times.queue_wait_ms);
  EXPECT_EQ(ended.srs_load_ms(), times.key_load_ms);
  EXPECT_EQ(ended.synthesis_ms(), times.witness_ms);
  EXPECT_EQ(ended.gpu_compute_ms(), times.device_ms);
  EXPECT_EQ(ended.finish_ms(), times.finish_ms);
  EXPECT_EQ(ended.total_ms(), times.total_ms);
}

}  // namespace
}  // namespace cuzk::service
