// The calls of cuzk.v1 through a real socket.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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
  // The place of a job that was cancelled is free soon after.
  void submit_when_there_is_room(const std::string& id) {
    grpc::Status status;
    for (int i = 0; i < 500; ++i) {
      v1::SubmitProofResponse reply;
      status = submit(request_of(id, script(1, 0, End::kHold, 8)), &reply);
      if (status.ok()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << status.error_message();
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

TEST_F(GrpcProving, AnswersWithFailuresAndCancellations) {
  begin();
  v1::SubmitProofResponse submitted;
  v1::AwaitProofResponse ended;
  ASSERT_TRUE(submit(request_of("bad", script(1, 0, End::kFailure, 1)), &submitted).ok());
  ASSERT_TRUE(await("bad", 0, &ended).ok()) << "a failed proof is an answer, not an error";
  EXPECT_EQ(ended.status(), v1::AwaitProofResponse::FAILED);
  EXPECT_NE(ended.error_message().find(testing_support::kFailureSentence), std::string::npos);
  EXPECT_EQ(ended.proof(), "");

  ASSERT_TRUE(submit(request_of("held", script(1, 0, End::kHold, 2)), &submitted).ok());
  v1::CancelProofResponse cancelled;
  ASSERT_TRUE(cancel("held", &cancelled).ok());
  EXPECT_EQ(cancelled.state(), v1::AwaitProofResponse::CANCELLED);
  v1::AwaitProofResponse end_of_held;
  ASSERT_TRUE(await("held", 0, &end_of_held).ok());
  EXPECT_EQ(end_of_held.status(), v1::AwaitProofResponse::CANCELLED);
  ASSERT_TRUE(cancel("held", &cancelled).ok()) << "again";
  EXPECT_FALSE(cancelled.was_running());
  ASSERT_TRUE(cancel("bad", &cancelled).ok()) << "finished says so";
  EXPECT_FALSE(cancelled.was_running());
  EXPECT_EQ(cancelled.state(), v1::AwaitProofResponse::FAILED);
  EXPECT_EQ(cancel("nobody's", &cancelled).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(cancel("", &cancelled).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(await("nobody's", 5, &ended).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcProving, HonoursTheTimeoutAndTheJobGoesOn) {
  begin();
  v1::SubmitProofResponse submitted;
  const base::Bytes input = script(1, 0, End::kHold, 3);
  ASSERT_TRUE(submit(request_of("held", input), &submitted).ok());
  v1::AwaitProofResponse first, second, third;
  ASSERT_TRUE(await("held", 20, &first).ok());
  EXPECT_EQ(first.status(), v1::AwaitProofResponse::TIMEOUT);
  EXPECT_EQ(first.job_id(), "held");
  std::thread other([&] { EXPECT_TRUE(await("held", 0, &second).ok()); });
  daemon_->executor().release_held();
  ASSERT_TRUE(await("held", UINT64_MAX, &third).ok());
  other.join();
  EXPECT_EQ(second.status(), v1::AwaitProofResponse::COMPLETED);
  EXPECT_EQ(second.proof(), text_of(proof_of(input)));
  EXPECT_EQ(second.proof(), third.proof());
}

TEST_F(GrpcProving, JoinsTheSameRequestAndRefusesAnother) {
  begin();
  v1::SubmitProofResponse submitted;
  const base::Bytes input = script(1, 0, End::kHold, 4);
  ASSERT_TRUE(submit(request_of("a", input), &submitted).ok());
  ASSERT_TRUE(submit(request_of("a", input), &submitted).ok());
  EXPECT_EQ(submitted.acceptance(), v1::ACCEPTANCE_JOINED);
  const grpc::Status other = submit(request_of("a", script(1, 0, End::kProof, 5)), &submitted);
  EXPECT_EQ(other.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_NE(other.error_message().find("'a'"), std::string::npos) << other.error_message();
  daemon_->executor().release_held();
  v1::AwaitProofResponse ended;
  ASSERT_TRUE(await("a", 0, &ended).ok());
  grpc::ClientContext context;
  v1::ProveRequest prove;
  *prove.mutable_submit() = request_of("a", input);
  v1::ProveResponse proved;
  ASSERT_TRUE(stub_->Prove(&context, prove, &proved).ok());
  EXPECT_EQ(proved.result().proof(), ended.proof());
}

TEST_F(GrpcProving, MakesAnIdWhereNoneIsGiven) {
  begin();
  v1::SubmitProofResponse one, two;
  ASSERT_TRUE(submit(request_of("", script(1, 0, End::kProof, 6)), &one).ok());
  ASSERT_TRUE(submit(request_of("", script(1, 0, End::kProof, 6)), &two).ok());
  EXPECT_FALSE(one.job_id().empty());
  EXPECT_NE(one.job_id(), two.job_id());
}

TEST_F(GrpcProving, RefusesBadFieldsWithTheFieldsName) {
  begin();
  v1::SubmitProofResponse reply;
  const auto refused = [&](auto change, grpc::StatusCode code, const char* words) {
    v1::SubmitProofRequest request = request_of("r", script(1, 0, End::kProof, 7));
    change(request);
    const grpc::Status status = submit(request, &reply);
    EXPECT_EQ(status.error_code(), code) << words;
    EXPECT_NE(status.error_message().find(words), std::string::npos) << status.error_message();
  };
  using Request = v1::SubmitProofRequest;
  const auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;
  refused([](Request& r) { r.set_proof_kind(v1::PROOF_KIND_UNSPECIFIED); }, kInvalid, "proof_kind");
  refused([](Request& r) { r.set_proof_kind(static_cast<v1::ProofKind>(5)); }, kInvalid,
          "proof_kind");
  refused([](Request& r) { r.set_priority(static_cast<v1::Priority>(5)); }, kInvalid, "priority");
  refused([](Request& r) { r.set_priority(static_cast<v1::Priority>(-1)); }, kInvalid, "priority");
  refused([](Request& r) { r.set_deadline_ms(UINT64_MAX); }, kInvalid, "deadline_ms");
  refused([](Request& r) { r.set_vanilla_proof("no script"); }, kInvalid, "vanilla_proof");
  refused([](Request& r) { r.set_request_id(std::string(300, 'x')); }, kInvalid, "300");
  refused([](Request& r) { r.set_sector_size(3); }, grpc::StatusCode::UNIMPLEMENTED, "sector_size");
  grpc::ClientContext context;
  v1::ProveResponse proved;
  const grpc::Status empty = stub_->Prove(&context, {}, &proved);
  EXPECT_EQ(empty.error_code(), kInvalid);
  EXPECT_EQ(status().queues_size(), 5);
}

TEST_F(GrpcProving, RefusesWithAHintWhenTheQueueIsFull) {
  begin({}, 1, 2);
  v1::SubmitProofResponse reply;
  for (const char* id : {"a", "b"}) {
    ASSERT_TRUE(submit(request_of(id, script(1, 0, End::kHold, 8)), &reply).ok());
  }
  grpc::ClientContext context;
  const grpc::Status full =
      stub_->SubmitProof(&context, request_of("c", script(1, 0, End::kHold, 8)), &reply);
  EXPECT_EQ(full.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  internal::StatusDetails details;
  ASSERT_TRUE(details.ParseFromString(full.error_details()));
  EXPECT_EQ(details.code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(details.message(), full.error_message());
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.RetryInfo");
  internal::RetryInfo retry;
  ASSERT_TRUE(retry.ParseFromString(details.details(0).value()));
  const std::int64_t hint_ms = daemon_->engine().report().retry_after_ms;
  EXPECT_GT(hint_ms, 0);
  EXPECT_EQ(retry.retry_delay().seconds() * 1000 + retry.retry_delay().nanos() / 1'000'000, hint_ms)
      << "the engine's own estimate";
  const auto& trailers = context.GetServerTrailingMetadata();
  ASSERT_EQ(trailers.count("grpc-retry-pushback-ms"), 1u);
  const auto pushback = trailers.find("grpc-retry-pushback-ms")->second;
  EXPECT_EQ(std::string(pushback.begin(), pushback.end()), std::to_string(hint_ms));
  v1::CancelProofResponse cancelled;
  ASSERT_TRUE(cancel("b", &cancelled).ok());
  submit_when_there_is_room("c");
}

// What a call is told when the queue is full, in milliseconds; 0: it was not refused.
std::int64_t hint_of_refusal(v1::ProvingEngine::Stub& stub, const std::string& id) {
  grpc::ClientContext context;
  v1::SubmitProofResponse reply;
  const grpc::Status status =
      stub.SubmitProof(&context, request_of(id, script(1, 0, End::kHold, 8)), &reply);
  if (status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED) return 0;
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return -1;
  return std::stoll(std::string(found->second.begin(), found->second.end()));
}

TEST_F(GrpcProving, TheHintFollowsHowFastJobsEnd) {
  begin({}, 1, 2);
  v1::SubmitProofResponse reply;
  v1::CancelProofResponse cancelled;
  for (const char* id : {"a", "b"}) {
    ASSERT_TRUE(submit(request_of(id, script(1, 0, End::kHold, 8)), &reply).ok());
  }
  const std::int64_t unknown_ms = hint_of_refusal(*stub_, "c");
  EXPECT_GT(unknown_ms, 1000) << "nothing has ended yet";
  // Ends that follow each other at once promise a place soon.
  for (int i = 0; i < 4; ++i) {
    const std::string id = "more " + std::to_string(i);
    ASSERT_TRUE(cancel(i == 0 ? "b" : "more " + std::to_string(i - 1), &cancelled).ok());
    submit_when_there_is_room(id);
  }
  const std::int64_t known_ms = hint_of_refusal(*stub_, "c");
  EXPECT_GT(known_ms, 0);
  EXPECT_LT(known_ms, unknown_ms);
  EXPECT_EQ(known_ms, daemon_->engine().report().retry_after_ms);
}

TEST_F(GrpcProving, LoadsAndFreesKeys) {
  begin();
  daemon_->executor().set_preload_ms(30);
  const auto preload = [&](const char* name, v1::PreloadSrsResponse* reply) {
    grpc::ClientContext context;
    v1::PreloadSrsRequest request;
    request.set_circuit_id(name);
    return stub_->PreloadSRS(&context, request, reply);
  };
  const auto evict = [&](const char* name, v1::EvictSrsResponse* reply) {
    grpc::ClientContext context;
    v1::EvictSrsRequest request;
    request.set_circuit_id(name);
    return stub_->EvictSRS(&context, request, reply);
  };
  v1::PreloadSrsResponse loaded;
  ASSERT_TRUE(preload("porep-2k", &loaded).ok());
  EXPECT_FALSE(loaded.already_loaded());
  EXPECT_GE(loaded.load_time_ms(), 30u);
  v1::PreloadSrsResponse again;
  ASSERT_TRUE(preload("porep-2k", &again).ok());
  EXPECT_TRUE(again.already_loaded());
  EXPECT_EQ(again.load_time_ms(), 0u);
  v1::EvictSrsResponse freed, cold;
  ASSERT_TRUE(evict("porep-2k", &freed).ok());
  EXPECT_TRUE(freed.was_loaded());
  EXPECT_EQ(freed.freed_bytes(), 4096u);
  ASSERT_TRUE(evict("porep-2k", &cold).ok());
  EXPECT_FALSE(cold.was_loaded());
  EXPECT_EQ(cold.freed_bytes(), 0u);
  EXPECT_EQ(preload("none", &loaded).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(preload("no-room", &loaded).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(preload("", &loaded).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(evict("in-use", &freed).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(evict("none", &freed).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcProving, GivesTheTextOfTheMetrics) {
  begin();
  grpc::ClientContext context;
  v1::GetMetricsResponse reply;
  ASSERT_TRUE(stub_->GetMetrics(&context, {}, &reply).ok());
  EXPECT_EQ(reply.prometheus_text(), "cuzk_up 1\n");
}

TEST_F(GrpcProving, ShowsEveryFieldOfTheStatus) {
  begin();
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(
      submit(request_of("held", script(1, 0, End::kHold, 9), v1::WINNING_POST), &submitted).ok());
  v1::GetStatusResponse reply = status();
  for (int i = 0; i < 500 && reply.gpus(0).current_job_id().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reply = status();
  }
  ASSERT_EQ(reply.gpus_size(), 2) << "each card once, the CPU is none";
  EXPECT_EQ(reply.gpus(0).ordinal(), 0u);
  EXPECT_EQ(reply.gpus(0).name(), "Card");
  EXPECT_EQ(reply.gpus(0).vram_free_bytes(), 11u);
  EXPECT_EQ(reply.gpus(0).vram_total_bytes(), 22u);
  EXPECT_EQ(reply.gpus(0).current_job_id(), "held");
  EXPECT_EQ(reply.gpus(0).current_proof_kind(), "public-winning-post");
  EXPECT_EQ(reply.gpus(1).ordinal(), 1u);
  EXPECT_EQ(reply.gpus(1).current_job_id(), "");
  ASSERT_EQ(reply.devices_size(), 3);
  const v1::DeviceStatus& card = reply.devices(1);
  EXPECT_EQ(card.identifier(), "GPU-1");
  EXPECT_EQ(card.worker_count(), 2u);
  EXPECT_EQ(card.started_count(), 5u);
  EXPECT_EQ(card.failure_count(), 6u);
  EXPECT_EQ(card.wrong_proof_count(), 7u);
  EXPECT_EQ(card.busy_seconds(), 1.5);
  EXPECT_EQ(card.streamed_bytes(), 8u);
  EXPECT_EQ(card.shared_bytes(), 9u);
  EXPECT_TRUE(reply.devices(0).fallback_only());
  ASSERT_EQ(reply.loaded_srs_size(), 2);
  EXPECT_EQ(reply.loaded_srs(0).circuit_id(), "porep-2k");
  EXPECT_EQ(reply.loaded_srs(0).tier(), v1::SRSStatus::COLD);
  EXPECT_EQ(reply.loaded_srs(0).size_bytes(), 4096u);
  EXPECT_EQ(reply.loaded_srs(1).tier(), v1::SRSStatus::HOT);
  EXPECT_EQ(reply.pinned_memory_bytes(), 300u);
  EXPECT_EQ(reply.pinned_memory_limit_bytes(), 500u);
  EXPECT_EQ(reply.memory().budget_bytes(), 1000u);
  EXPECT_EQ(reply.memory().used_bytes(), 700u);
  EXPECT_EQ(reply.memory().peak_bytes(), 800u);
  EXPECT_EQ(reply.memory().rss_bytes(), 900u);
  EXPECT_EQ(reply.process_restarts(), 3u);
  EXPECT_EQ(reply.max_message_bytes(), Config().daemon.max_message_bytes);
  EXPECT_EQ(reply.version(), "test version");
  EXPECT_TRUE(reply.ready());
  EXPECT_FALSE(reply.draining());
  EXPECT_LE(reply.uptime_seconds(), 60u);
  daemon_->executor().set_devices_usable(false);
  EXPECT_FALSE(status().ready());
  EXPECT_FALSE(status().not_ready_reason().empty());
}

}  // namespace
}  // namespace cuzk::service
