// A watch whose lane takes nothing any more, as at the end of the daemon or without memory for a
// task: what it still has to tell is told.
//
// The lane is stopped on purpose and everything else is served, so that what a client hears comes
// from nowhere but the thread that passes the event on. A lost wake-up shows as the deadline.
#include "service/grpc_watch.h"

#include <chrono>
#include <memory>
#include <string>

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include "service/grpc_jobs.h"
#include "service/grpc_test_support.h"
#include "service/proto/jobs.grpc.pb.h"

namespace cuzk::service {
namespace {

using testing_support::End;
using testing_support::script;
using testing_support::TestDaemon;

class GrpcWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.started().ok()) << daemon_.started().error().message;
    core_ = std::make_unique<GrpcCore>(Config(), daemon_.backend(), [](std::string_view) {});
    service_ = make_jobs_service(*core_);
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    stub_ = jobs::v1::JobService::NewStub(server_->InProcessChannel({}));
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  }
  void TearDown() override {
    if (core_ != nullptr) core_->close_waits();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
    if (core_ != nullptr) core_->stop_lanes();
  }

  // Its engine and executor serve the core below, which is another than its own door's.
  TestDaemon daemon_;
  std::unique_ptr<GrpcCore> core_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<jobs::v1::JobService::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(GrpcWatch, HearsThatTheDaemonStopsWithoutItsLane) {
  const auto reader = stub_->WatchJobs(&context_, {});
  reader->WaitForInitialMetadata();  // it watches now
  core_->watchers().stop();
  core_->close_waits();
  jobs::v1::JobEvent event;
  EXPECT_FALSE(reader->Read(&event));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the daemon stops");
}

TEST_F(GrpcWatch, HearsOfItsJobsEndWithoutItsLane) {
  jobs::v1::SubmitCircuitJobRequest submission;
  submission.set_request_id("held");
  submission.set_circuit("toy");
  const base::Bytes witness = script(1, 0, End::kHold, 1);
  submission.set_witness(std::string(witness.begin(), witness.end()));
  grpc::ClientContext submitting;
  jobs::v1::SubmitJobResponse submitted;
  ASSERT_TRUE(stub_->SubmitCircuitJob(&submitting, submission, &submitted).ok());
  jobs::v1::WatchJobsRequest request;
  request.set_job_id("held");
  const auto reader = stub_->WatchJobs(&context_, request);
  jobs::v1::JobEvent event;
  ASSERT_TRUE(reader->Read(&event)) << "the state that it has now";
  core_->watchers().stop();
  daemon_.executor().release_held();
  while (reader->Read(&event)) continue;
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(event.kind(), jobs::v1::JobEvent::ENDED);
}

}  // namespace
}  // namespace cuzk::service
