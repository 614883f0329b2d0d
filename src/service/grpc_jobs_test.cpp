// The calls of cuzk.jobs.v1 through a real socket.
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include "service/grpc_test_support.h"
#include "service/proto/jobs.grpc.pb.h"

namespace cuzk::service {
namespace {

using testing_support::End;
using testing_support::proof_of;
using testing_support::script;
using testing_support::TestDaemon;
namespace wire = jobs::v1;

std::string text_of(const base::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

class GrpcJobs : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.started().ok()) << daemon_.started().error().message;
    stub_ = wire::JobService::NewStub(
        grpc::CreateChannel(daemon_.target(), grpc::InsecureChannelCredentials()));
  }
  grpc::Status submit(const std::string& id, const base::Bytes& witness,
                      wire::SubmitJobResponse* reply, const std::string& circuit = "toy") {
    grpc::ClientContext context;
    wire::SubmitCircuitJobRequest request;
    request.set_request_id(id);
    request.set_circuit(circuit);
    request.set_witness(text_of(witness));
    return stub_->SubmitCircuitJob(&context, request, reply);
  }
  grpc::Status await(const std::string& id, std::uint64_t timeout_ms,
                     wire::AwaitJobResponse* reply) {
    grpc::ClientContext context;
    wire::AwaitJobRequest request;
    request.set_job_id(id);
    request.set_timeout_ms(timeout_ms);
    return stub_->AwaitJob(&context, request, reply);
  }
  // Sends a header that announces `announced` bytes, then the pieces.
  grpc::Status stream(const std::string& id, std::uint64_t announced,
                      const std::vector<std::string>& pieces, bool header_first = true,
                      const std::string& circuit = "toy") {
    grpc::ClientContext context;
    wire::SubmitJobResponse reply;
    const auto writer = stub_->StreamCircuitJob(&context, &reply);
    wire::StreamCircuitJobRequest message;
    message.mutable_header()->set_request_id(id);
    message.mutable_header()->set_circuit(circuit);
    message.mutable_header()->set_witness_bytes(announced);
    if (header_first) writer->Write(message);
    for (const std::string& piece : pieces) {
      message.set_witness(piece);
      if (!writer->Write(message)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }

  TestDaemon daemon_;
  std::unique_ptr<wire::JobService::Stub> stub_;
};

TEST_F(GrpcJobs, ProvesARegisteredCircuit) {
  const base::Bytes input = script(2, 0, End::kProof, 1);
  wire::SubmitJobResponse submitted;
  ASSERT_TRUE(submit("a", input, &submitted).ok());
  EXPECT_EQ(submitted.job_id(), "a");
  EXPECT_FALSE(submitted.joined());
  wire::AwaitJobResponse ended;
  ASSERT_TRUE(await("a", 0, &ended).ok());
  EXPECT_FALSE(ended.timed_out());
  EXPECT_EQ(ended.result(), text_of(proof_of(input)));
  const wire::Job& job = ended.job();
  EXPECT_EQ(job.kind(), "circom");
  EXPECT_EQ(job.state(), wire::COMPLETED);
  EXPECT_EQ(job.priority(), wire::NORMAL);
  EXPECT_EQ(job.sequence(), 1u);
  EXPECT_EQ(job.attempt(), 1u);
  EXPECT_EQ(job.start_count(), 1u);
  EXPECT_GT(job.accepted_ms(), 1'600'000'000'000u);
  EXPECT_GE(job.changed_ms(), job.accepted_ms());
  EXPECT_EQ(job.input_bytes(), input.size());
  EXPECT_EQ(job.input_sha256(), base::to_hex(hash::sha256(input)));
  EXPECT_EQ(job.result_bytes(), ended.result().size());
  EXPECT_EQ(job.result_sha256(), base::to_hex(hash::sha256(proof_of(input))));
  EXPECT_EQ(job.times().total_ms(), testing_support::times_of(input).total_ms);
  ASSERT_TRUE(submit("a", input, &submitted).ok());
  EXPECT_TRUE(submitted.joined());
  EXPECT_EQ(submitted.state(), wire::COMPLETED);
}

TEST_F(GrpcJobs, RefusesWhatIsMissing) {
  wire::SubmitJobResponse reply;
  const base::Bytes input = script(1, 0, End::kProof, 1);
  EXPECT_EQ(submit("a", input, &reply, "other").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(submit("a", input, &reply, "").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(submit("a", {}, &reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  wire::AwaitJobResponse ended;
  EXPECT_EQ(await("a", 1, &ended).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(await("", 1, &ended).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(GrpcJobs, TakesAWitnessInPieces) {
  const std::string input = text_of(script(1, 0, End::kProof, 2));
  std::vector<std::string> bytewise;
  for (const char c : input) bytewise.emplace_back(1, c);
  ASSERT_TRUE(stream("pieces", input.size(), bytewise).ok());
  ASSERT_TRUE(stream("whole", input.size(), {input}).ok());
  for (const char* id : {"pieces", "whole"}) {
    wire::AwaitJobResponse ended;
    ASSERT_TRUE(await(id, 0, &ended).ok());
    EXPECT_EQ(ended.job().state(), wire::COMPLETED);
    EXPECT_EQ(ended.job().input_bytes(), input.size());
  }
}

TEST_F(GrpcJobs, RefusesPiecesThatDoNotAddUp) {
  const std::string input = text_of(script(1, 0, End::kProof, 3));
  for (const grpc::Status& status :
       {stream("a", input.size() + 1, {input}), stream("a", input.size() - 1, {input}),
        stream("a", input.size(), {input, "x"}), stream("a", input.size(), {}),
        stream("a", 0, {input}), stream("a", input.size(), {input}, false),
        stream("a", 5, {}, false)}) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  }
  wire::AwaitJobResponse ended;
  EXPECT_EQ(await("a", 1, &ended).error_code(), grpc::StatusCode::NOT_FOUND) << "none was taken";
}

TEST_F(GrpcJobs, ListsInPages) {
  std::set<std::string> expected;
  for (int i = 0; i < 7; ++i) {
    const std::string id = "job-" + std::to_string(i);
    expected.insert(id);
    wire::SubmitJobResponse submitted;
    ASSERT_TRUE(
        submit(id, script(1, 0, End::kProof, 10 + static_cast<unsigned>(i)), &submitted).ok());
    wire::AwaitJobResponse ended;
    ASSERT_TRUE(await(id, 0, &ended).ok());
  }
  wire::ListJobsRequest request;
  request.set_page_size(3);
  request.add_states(wire::COMPLETED);
  std::set<std::string> seen;
  int pages = 0;
  do {
    grpc::ClientContext context;
    wire::ListJobsResponse page;
    ASSERT_TRUE(stub_->ListJobs(&context, request, &page).ok());
    EXPECT_LE(page.jobs_size(), 3);
    for (const wire::Job& job : page.jobs()) EXPECT_TRUE(seen.insert(job.job_id()).second);
    request.set_after_sequence(page.next_after_sequence());
    ++pages;
  } while (request.after_sequence() != 0 && pages < 10);
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(seen, expected);
  const auto listed = [&](const wire::ListJobsRequest& asked, wire::ListJobsResponse& page) {
    grpc::ClientContext context;
    return stub_->ListJobs(&context, asked, &page).error_code();
  };
  wire::ListJobsResponse page;
  request.add_states(static_cast<wire::JobState>(9));
  EXPECT_EQ(listed(request, page), grpc::StatusCode::INVALID_ARGUMENT);
  // A number that would be negative in the journal is not before all jobs.
  wire::ListJobsRequest after;
  after.set_after_sequence(INT64_MAX);
  EXPECT_EQ(listed(after, page), grpc::StatusCode::OK);
  EXPECT_EQ(page.jobs_size(), 0);
  after.set_after_sequence(std::uint64_t{INT64_MAX} + 1);
  EXPECT_EQ(listed(after, page), grpc::StatusCode::INVALID_ARGUMENT);
  wire::ListJobsRequest by_kind;
  for (const char* name : {"circom", "public-circom"}) {
    by_kind.set_kind(name);
    EXPECT_EQ(listed(by_kind, page), grpc::StatusCode::OK);
    EXPECT_EQ(page.jobs_size(), static_cast<int>(expected.size())) << name;
  }
  by_kind.set_kind("plonk");
  EXPECT_EQ(listed(by_kind, page), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(GrpcJobs, WhatALibraryThrowsRefusesThatCallAlone) {
  EXPECT_EQ(stream("a", 4, {"1234"}, true, "throws").error_code(), grpc::StatusCode::INTERNAL);
  wire::SubmitJobResponse submitted;
  EXPECT_EQ(submit("a", script(1, 0, End::kProof, 1), &submitted, "throws").error_code(),
            grpc::StatusCode::INTERNAL);
  EXPECT_TRUE(submit("a", script(1, 0, End::kProof, 1), &submitted).ok());
}

TEST_F(GrpcJobs, ShowsAndCancelsOneJob) {
  wire::SubmitJobResponse submitted;
  ASSERT_TRUE(submit("held", script(3, 0, End::kHold, 4), &submitted).ok());
  wire::GetJobRequest get;
  get.set_job_id("held");
  wire::Job job;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(stub_->GetJob(&context, get, &job).ok());
  }
  EXPECT_EQ(job.partitions().total(), 3u);
  EXPECT_EQ(job.partitions().witness(), 1u);
  EXPECT_EQ(job.partitions().done(), 2u);
  wire::AwaitJobResponse early;
  ASSERT_TRUE(await("held", 5, &early).ok());
  EXPECT_TRUE(early.timed_out());
  EXPECT_EQ(early.job().job_id(), "held");
  wire::CancelJobRequest cancel;
  cancel.set_job_id("held");
  wire::CancelJobResponse cancelled;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->CancelJob(&context, cancel, &cancelled).ok());
  EXPECT_EQ(cancelled.state(), wire::CANCELLED);
}

TEST_F(GrpcJobs, WatchersHearOfOneJobFromNowToItsEnd) {
  wire::SubmitJobResponse submitted;
  ASSERT_TRUE(submit("held", script(2, 0, End::kHold, 5), &submitted).ok());
  grpc::ClientContext context;
  wire::WatchJobsRequest request;
  request.set_job_id("held");
  const auto reader = stub_->WatchJobs(&context, request);
  wire::JobEvent event;
  ASSERT_TRUE(reader->Read(&event)) << "the state that it has now";
  EXPECT_EQ(event.job_id(), "held");
  daemon_.executor().release_held();
  wire::JobEvent last = event;
  while (reader->Read(&event)) {
    EXPECT_EQ(event.job_id(), "held");
    last = event;
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last.kind(), wire::JobEvent::ENDED);
  EXPECT_EQ(last.state(), wire::COMPLETED);
}

TEST_F(GrpcJobs, WatchersOfAllJobsHearOfEachEnd) {
  grpc::ClientContext context;
  const auto reader = stub_->WatchJobs(&context, wire::WatchJobsRequest());
  reader->WaitForInitialMetadata();  // it watches now
  for (int i = 0; i < 5; ++i) {
    wire::SubmitJobResponse submitted;
    ASSERT_TRUE(submit("w" + std::to_string(i),
                       script(1, 0, End::kProof, 30 + static_cast<unsigned>(i)), &submitted)
                    .ok());
  }
  std::set<std::string> accepted, ended;
  wire::JobEvent event;
  while (ended.size() < 5 && reader->Read(&event)) {
    if (event.kind() == wire::JobEvent::ACCEPTED) accepted.insert(event.job_id());
    if (event.kind() != wire::JobEvent::ENDED) continue;
    EXPECT_EQ(accepted.count(event.job_id()), 1u) << "accepted is told before ended";
    ended.insert(event.job_id());
  }
  EXPECT_EQ(ended.size(), 5u);
  context.TryCancel();
  while (reader->Read(&event)) continue;
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

// Its first event may be there before the watch has begun, and must not be written before.
TEST_F(GrpcJobs, WatchesBeginWhileManyEventsAreTold) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    for (unsigned seed = 0; !stop; ++seed) {
      wire::SubmitJobResponse submitted;
      EXPECT_TRUE(
          submit("busy" + std::to_string(seed), script(200, 0, End::kProof, seed), &submitted)
              .ok());
    }
  });
  for (int i = 0; i < 300; ++i) {
    grpc::ClientContext context;
    const auto reader = stub_->WatchJobs(&context, wire::WatchJobsRequest());
    wire::JobEvent event;
    EXPECT_TRUE(reader->Read(&event));
    context.TryCancel();
    while (reader->Read(&event)) continue;
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  stop = true;
  busy.join();
}

TEST_F(GrpcJobs, AWatchOfNobodysJobIsNotFound) {
  grpc::ClientContext context;
  wire::WatchJobsRequest request;
  request.set_job_id("nobody's");
  const auto reader = stub_->WatchJobs(&context, request);
  wire::JobEvent event;
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcJobs, TellsWhatCanBeProved) {
  grpc::ClientContext context;
  wire::ListKindsResponse reply;
  ASSERT_TRUE(stub_->ListKinds(&context, {}, &reply).ok());
  ASSERT_EQ(reply.kinds_size(), 5);
  EXPECT_EQ(reply.kinds(0).name(), "circom");
  EXPECT_EQ(reply.kinds(0).description(), "scripted circom");
  ASSERT_EQ(reply.keys_size(), 2);
  EXPECT_EQ(reply.keys(0).name(), "porep-2k");
  EXPECT_EQ(reply.keys(0).tier(), "cold");
}

}  // namespace
}  // namespace cuzk::service
