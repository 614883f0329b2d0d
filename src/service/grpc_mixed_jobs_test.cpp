// Fifty jobs of all kinds, priorities and ends through a real socket: every field of every reply
// beside a count of the test's own.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include "service/grpc_test_support.h"
#include "service/metrics.h"
#include "service/proto/proving.grpc.pb.h"

namespace cuzk::service {
namespace {

using testing_support::End;
using testing_support::proof_of;
using testing_support::script;
using testing_support::TestDaemon;
using testing_support::times_of;
using Await = v1::AwaitProofResponse;

constexpr std::size_t kWorkers = 3;
constexpr v1::ProofKind kKinds[] = {v1::POREP_SEAL_COMMIT, v1::SNAP_DEALS_UPDATE,
                                    v1::WINDOW_POST_PARTITION, v1::WINNING_POST};
constexpr const char* kPublicKinds[] = {"public-porep", "public-update", "public-window-post",
                                        "public-winning-post"};

// A job as the test knows it.
struct Known {
  std::string id;
  std::size_t kind = 0;  // index into kKinds
  v1::Priority priority = v1::PRIORITY_UNSPECIFIED;
  std::uint64_t deadline_ms = 0;
  base::Bytes input;
  bool running = false;
  Await::Status end = Await::UNKNOWN;

  // The order that docs/daemon.md promises; 0 (the kind's own) is normal in the scripted backend.
  std::tuple<int, std::uint64_t, std::string> rank(std::size_t order) const {
    const int asked = priority == v1::PRIORITY_UNSPECIFIED ? v1::NORMAL : priority;
    return {-asked, deadline_ms == 0 ? UINT64_MAX : deadline_ms,
            std::string(8 - std::to_string(order).size(), '0') + std::to_string(order)};
  }
};

class GrpcMixedJobs : public ::testing::Test {
 protected:
  void SetUp() override {
    daemon_ = std::make_unique<TestDaemon>(Config(), kWorkers);
    ASSERT_TRUE(daemon_->started().ok()) << daemon_->started().error().message;
    Metrics::Names names;
    names.public_kind = [](std::string_view kind) { return "public-" + std::string(kind); };
    names.failure = [](std::string_view) { return base::ErrorKind::kUnsatisfied; };
    metrics_ = std::make_unique<Metrics>(BuildFacts{"1", "2", "3"}, names);
    watching_ = daemon_->engine().observe(
        [this](const engine::EngineEvent& event) { metrics_->observe(event); });
    daemon_->set_metrics_text([this] { return metrics_->text(daemon_->engine().report()); });
    stub_ = v1::ProvingEngine::NewStub(
        grpc::CreateChannel(daemon_->target(), grpc::InsecureChannelCredentials()));
  }
  void TearDown() override {
    watching_.reset();
    daemon_.reset();
  }

  v1::SubmitProofRequest request_of(const Known& job) const {
    v1::SubmitProofRequest request;
    request.set_request_id(job.id);
    request.set_proof_kind(kKinds[job.kind]);
    request.set_priority(job.priority);
    request.set_deadline_ms(job.deadline_ms);
    request.set_sector_size(2048);
    request.set_vanilla_proof(std::string(job.input.begin(), job.input.end()));
    return request;
  }
  std::uint64_t position_of(std::size_t index) const {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const Known& other = jobs_[i];
      if (other.running || other.end != Await::UNKNOWN) continue;
      if (other.rank(i) < jobs_[index].rank(index)) ++before;
    }
    return before;
  }
  void submit(Known job) {
    jobs_.push_back(std::move(job));
    expect_submission(jobs_.size() - 1, v1::ACCEPTANCE_NEW);
  }
  void expect_submission(std::size_t index, v1::Acceptance acceptance) {
    grpc::ClientContext context;
    v1::SubmitProofResponse reply;
    const grpc::Status status = stub_->SubmitProof(&context, request_of(jobs_[index]), &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(reply.job_id(), jobs_[index].id);
    EXPECT_EQ(reply.assigned_gpu(), "");
    EXPECT_EQ(reply.queue_position(), position_of(index)) << jobs_[index].id;
    EXPECT_EQ(reply.acceptance(), acceptance);
  }
  void cancel(Known& job) {
    for (const bool again : {false, true}) {
      grpc::ClientContext context;
      v1::CancelProofRequest request;
      request.set_job_id(job.id);
      v1::CancelProofResponse reply;
      ASSERT_TRUE(stub_->CancelProof(&context, request, &reply).ok());
      EXPECT_EQ(reply.was_running(), job.running && !again) << job.id;
      EXPECT_EQ(reply.state(), Await::CANCELLED);
    }
    job.running = false;
    job.end = Await::CANCELLED;
  }
  Await await(const std::string& id, std::uint64_t timeout_ms) {
    grpc::ClientContext context;
    v1::AwaitProofRequest request;
    request.set_job_id(id);
    request.set_timeout_ms(timeout_ms);
    Await reply;
    EXPECT_TRUE(stub_->AwaitProof(&context, request, &reply).ok());
    return reply;
  }
  v1::GetStatusResponse status() {
    grpc::ClientContext context;
    v1::GetStatusResponse reply;
    EXPECT_TRUE(stub_->GetStatus(&context, {}, &reply).ok());
    return reply;
  }
  std::string metrics_text() {
    grpc::ClientContext context;
    v1::GetMetricsResponse reply;
    EXPECT_TRUE(stub_->GetMetrics(&context, {}, &reply).ok());
    return reply.prometheus_text();
  }
  void expect_metric(const std::string& line) {
    std::string text;
    // Events reach the metrics on a thread of their own.
    for (int i = 0; i < 500; ++i) {
      text = metrics_text();
      if (("\n" + text).find("\n" + line + "\n") != std::string::npos) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no line '" << line << "' in\n" << text;
  }

  std::size_t count(std::size_t kind, Await::Status end, bool running = false) const {
    return static_cast<std::size_t>(
        std::count_if(jobs_.begin(), jobs_.end(), [&](const Known& job) {
          return job.kind == kind && job.end == end && job.running == running;
        }));
  }
  std::size_t count_all(Await::Status end) const {
    std::size_t all = 0;
    for (std::size_t kind = 0; kind < 4; ++kind) all += count(kind, end);
    return all;
  }

  void submit_fifty();
  void expect_queues(const v1::GetStatusResponse& reply);
  void expect_metrics();
  static void expect_times(const Await& reply, const engine::JobTimes& times);
  void expect_end(const Known& job, const Await& reply);

  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<TestDaemon> daemon_;
  std::shared_ptr<engine::Subscription> watching_;
  std::unique_ptr<v1::ProvingEngine::Stub> stub_;
  std::vector<Known> jobs_;
};

// Three that keep the workers, and 47 behind them.
void GrpcMixedJobs::submit_fifty() {
  for (std::size_t i = 0; i < kWorkers; ++i) {
    submit({"runs " + std::to_string(i), 3, v1::CRITICAL, 0, script(1, 0, End::kHold, i)});
    for (int left = 1000; status().queues(4).in_progress() <= i && left > 0; --left) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    jobs_.back().running = true;
  }
  for (std::size_t i = kWorkers; i < 50; ++i) {
    const End end = i % 7 == 3 ? End::kFailure : i % 11 == 5 ? End::kHold : End::kProof;
    Known job{"job " + std::to_string(i), i % 4, static_cast<v1::Priority>(i % 5), 0, {}};
    if (i % 3 == 0) job.deadline_ms = 2'000'000'000'000 - i;  // later ones are due before
    job.input = script(static_cast<std::uint8_t>(1 + i % 3), 1, end, i);
    submit(std::move(job));
  }
}

void GrpcMixedJobs::expect_queues(const v1::GetStatusResponse& reply) {
  ASSERT_EQ(reply.queues_size(), 5);
  EXPECT_EQ(reply.queues(0).proof_kind(), "public-circom");
  for (int row = 0; row < 5; ++row) {
    const v1::QueueStatus& queue = reply.queues(row);
    const auto* found =
        std::find(std::begin(kPublicKinds), std::end(kPublicKinds), queue.proof_kind());
    const auto kind = static_cast<std::size_t>(found - std::begin(kPublicKinds));
    EXPECT_EQ(queue.pending(), count(kind, Await::UNKNOWN)) << queue.proof_kind();
    EXPECT_EQ(queue.in_progress(), count(kind, Await::UNKNOWN, true)) << queue.proof_kind();
    EXPECT_EQ(queue.completed(), count(kind, Await::COMPLETED)) << queue.proof_kind();
    EXPECT_EQ(queue.failed(), count(kind, Await::FAILED)) << queue.proof_kind();
    EXPECT_EQ(queue.cancelled(), count(kind, Await::CANCELLED)) << queue.proof_kind();
  }
  EXPECT_EQ(reply.total_proofs_completed(), count_all(Await::COMPLETED));
  EXPECT_EQ(reply.total_proofs_failed(), count_all(Await::FAILED));
  EXPECT_EQ(reply.total_proofs_cancelled(), count_all(Await::CANCELLED));
}

void GrpcMixedJobs::expect_metrics() {
  for (std::size_t kind = 0; kind < 4; ++kind) {
    const std::string labels = "{proof_kind=\"" + std::string(kPublicKinds[kind]) + "\"} ";
    const auto line = [&](const std::string& name, std::size_t value) {
      expect_metric(name + labels + std::to_string(value));
    };
    line("cuzk_jobs_pending", count(kind, Await::UNKNOWN));
    line("cuzk_jobs_in_progress", count(kind, Await::UNKNOWN, true));
    line("cuzk_proofs_completed_total", count(kind, Await::COMPLETED));
    line("cuzk_proofs_failed_total", count(kind, Await::FAILED));
    line("cuzk_proofs_cancelled_total", count(kind, Await::CANCELLED));
    line("cuzk_jobs_submitted_total",
         static_cast<std::size_t>(std::count_if(
             jobs_.begin(), jobs_.end(), [&](const Known& job) { return job.kind == kind; })));
    const std::size_t completed = count(kind, Await::COMPLETED);
    if (completed > 0) line("cuzk_proof_duration_seconds_count", completed);
  }
  expect_metric("cuzk_submissions_total{outcome=\"new\"} " + std::to_string(jobs_.size()));
  expect_metric("cuzk_job_errors_total{class=\"unsatisfied\"} " +
                std::to_string(count_all(Await::FAILED)));
  expect_metric("cuzk_journal_jobs{state=\"completed\"} " +
                std::to_string(count_all(Await::COMPLETED)));
  expect_metric("cuzk_journal_jobs{state=\"failed\"} " + std::to_string(count_all(Await::FAILED)));
  expect_metric("cuzk_journal_jobs{state=\"cancelled\"} " +
                std::to_string(count_all(Await::CANCELLED)));
}

void GrpcMixedJobs::expect_times(const Await& reply, const engine::JobTimes& times) {
  EXPECT_EQ(reply.queue_wait_ms(), times.queue_wait_ms) << reply.job_id();
  EXPECT_EQ(reply.srs_load_ms(), times.key_load_ms);
  EXPECT_EQ(reply.synthesis_ms(), times.witness_ms);
  EXPECT_EQ(reply.gpu_compute_ms(), times.device_ms);
  EXPECT_EQ(reply.finish_ms(), times.finish_ms);
  EXPECT_EQ(reply.total_ms(), times.total_ms);
}

void GrpcMixedJobs::expect_end(const Known& job, const Await& reply) {
  EXPECT_EQ(reply.job_id(), job.id);
  EXPECT_EQ(reply.status(), job.end) << job.id << " " << reply.error_message();
  const base::Bytes proof = proof_of(job.input);
  switch (job.end) {
    case Await::COMPLETED:
      EXPECT_EQ(reply.proof(), std::string(proof.begin(), proof.end()));
      EXPECT_EQ(reply.error_message(), "");
      expect_times(reply, times_of(job.input));
      break;
    case Await::FAILED:
      EXPECT_EQ(reply.proof(), "");
      EXPECT_NE(reply.error_message().find(testing_support::kFailureSentence), std::string::npos);
      expect_times(reply, times_of(job.input));
      break;
    default:
      EXPECT_EQ(reply.proof(), "");
      EXPECT_EQ(reply.error_message(), "the job was cancelled");
  }
}

// Method: three jobs are held so that the other 47 wait; every reply is taken in this standstill,
// and once more when all are over and some were cancelled, and compared with the test's own list.
TEST_F(GrpcMixedJobs, EveryFieldOfEveryReplyIsRight) {
  submit_fifty();
  // Three run, 47 wait. Starts are written down together, so that of the last one takes a while.
  v1::GetStatusResponse reply = status();
  for (int i = 0; i < 500 && reply.devices(1).current_job_ids_size() < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reply = status();
  }
  expect_queues(reply);
  const v1::DeviceStatus& card = reply.devices(1);
  EXPECT_EQ((std::set<std::string>(card.current_job_ids().begin(), card.current_job_ids().end())),
            (std::set<std::string>{"runs 0", "runs 1", "runs 2"}));
  EXPECT_EQ(reply.gpus(0).current_job_id(), card.current_job_ids(0));
  EXPECT_EQ(reply.gpus(0).current_proof_kind(), "public-winning-post");
  expect_metrics();

  expect_submission(20, v1::ACCEPTANCE_JOINED);
  const Await early = await(jobs_[20].id, 1);
  EXPECT_EQ(early.status(), Await::TIMEOUT);
  EXPECT_EQ(early.job_id(), jobs_[20].id);
  EXPECT_EQ(early.proof(), "");
  expect_times(early, {});
  for (std::size_t i = kWorkers; i < jobs_.size(); ++i) {
    if (jobs_[i].input[2] == static_cast<std::uint8_t>(End::kHold)) cancel(jobs_[i]);
  }
  cancel(jobs_[1]);  // one that runs

  daemon_->executor().release_held();
  for (Known& job : jobs_) {
    const Await ended = await(job.id, 0);
    if (job.end == Await::UNKNOWN) {
      const bool fails = job.input[2] == static_cast<std::uint8_t>(End::kFailure);
      job.end = fails ? Await::FAILED : Await::COMPLETED;
      job.running = false;
    }
    expect_end(job, ended);
  }
  reply = status();
  expect_queues(reply);
  EXPECT_EQ(reply.gpus(0).current_job_id(), "");
  EXPECT_EQ(reply.gpus(0).current_proof_kind(), "");
  EXPECT_EQ(reply.devices(1).current_job_ids_size(), 0);
  EXPECT_LE(reply.uptime_seconds(), 600u);
  expect_metrics();
  expect_metric("cuzk_submissions_total{outcome=\"joined\"} 1");
  expect_metric("cuzk_queue_depth 0");
  expect_metric("cuzk_running_jobs 0");
}

TEST_F(GrpcMixedJobs, ProveSaysWhatAwaitSays) {
  for (const End end : {End::kProof, End::kFailure}) {
    Known job{"", 0, v1::HIGH, 0, script(2, 1, end, 900)};
    job.id = end == End::kProof ? "proved" : "failed";
    job.end = end == End::kProof ? Await::COMPLETED : Await::FAILED;
    grpc::ClientContext context;
    v1::ProveRequest request;
    *request.mutable_submit() = request_of(job);
    v1::ProveResponse reply;
    ASSERT_TRUE(stub_->Prove(&context, request, &reply).ok());
    expect_end(job, reply.result());
    expect_end(job, await(job.id, 0));
  }
}

}  // namespace
}  // namespace cuzk::service
