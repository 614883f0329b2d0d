// Unary calls here; streams in grpc_watch.cpp and grpc_upload.cpp. Each is a frame of
// grpc_handlers.h around a question to the engine; the chain of types below has the library hand
// over raw bytes, method by method (grpc_message.h says why).
#include "service/grpc_jobs.h"

#include <string>
#include <utility>
#include <vector>

#include "service/grpc_handlers.h"
#include "service/grpc_status.h"
#include "service/grpc_upload.h"
#include "service/grpc_watch.h"
#include "service/proto/jobs.grpc.pb.h"
#include "service/proto/jobs.pb.h"
#include "service/wire_jobs.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;
using Call = std::shared_ptr<UnaryCall>;
using Lane = GrpcCore::Lane;
namespace wire = jobs::v1;

using Jobs = wire::JobService;
using RawSubmit = Jobs::WithRawCallbackMethod_SubmitCircuitJob<Jobs::Service>;
using RawStream = Jobs::WithRawCallbackMethod_StreamCircuitJob<RawSubmit>;
using RawAwait = Jobs::WithRawCallbackMethod_AwaitJob<RawStream>;
using RawCancel = Jobs::WithRawCallbackMethod_CancelJob<RawAwait>;
using RawGet = Jobs::WithRawCallbackMethod_GetJob<RawCancel>;
using RawList = Jobs::WithRawCallbackMethod_ListJobs<RawGet>;
using RawWatch = Jobs::WithRawCallbackMethod_WatchJobs<RawList>;
using RawAll = Jobs::WithRawCallbackMethod_ListKinds<RawWatch>;

// Without state of its own. Handlers run in the lanes that they name, so `this` is used until the
// core's lanes have stopped.
class JobsService final : public RawAll {
 public:
  explicit JobsService(GrpcCore& core) : core_(core) {}

  // A witness in the message itself, as small circuits have it.
  grpc::ServerUnaryReactor* SubmitCircuitJob(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override {
    return core_.run(Lane::kSubmit, context, request, response,
                     parsing<wire::SubmitCircuitJobRequest>(
                         [this](const Call& call, wire::SubmitCircuitJobRequest& message) {
                           answer_submission<wire::SubmitJobResponse>(
                               core_, call, submit(message),
                               [](const engine::Submitted& submitted,
                                  wire::SubmitJobResponse& reply) { fill(submitted, reply); });
                         }));
  }

  // The same in pieces, of any size. Its call lives by itself; nothing is held here.
  grpc::ServerReadReactor<grpc::ByteBuffer>* StreamCircuitJob(grpc::CallbackServerContext* context,
                                                              grpc::ByteBuffer* response) override {
    // The guard is asked before the first piece is read.
    const auto call = UploadCall::make(core_, context, response);
    if (const auto refusal = core_.guard.refusal(*context)) {
      call->refuse({grpc::StatusCode::UNAUTHENTICATED, *refusal});
    } else {
      call->begin();
    }
    return call.get();
  }

  // Quick, although it may last for days: the lane only begins the wait.
  grpc::ServerUnaryReactor* AwaitJob(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override {
    return core_.run(Lane::kQuick, context, request, response,
                     naming_job<wire::AwaitJobRequest>(
                         [this](const Call& call, const wire::AwaitJobRequest& message) {
                           await(call, message.job_id(), message.timeout_ms());
                         }));
  }

  // Of a job that is over already: its state, and no error, for the wish is fulfilled or too late.
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return core_.run(
        Lane::kQuick, context, request, response,
        naming_job<wire::CancelJobRequest>(
            [this](const Call& call, const wire::CancelJobRequest& message) {
              answer_with<wire::CancelJobResponse>(
                  call, core_.backend.engine->cancel(message.job_id()),
                  [](const engine::Engine::Cancelled& cancelled, wire::CancelJobResponse& reply) {
                    reply.set_state(static_cast<wire::JobState>(wire_state(cancelled.state)));
                    reply.set_was_running(cancelled.was_running);
                  });
            }));
  }

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override {
    return core_.run(Lane::kQuick, context, request, response,
                     naming_job<wire::GetJobRequest>([this](const Call& call,
                                                            const wire::GetJobRequest& message) {
                       answer_with<wire::Job>(
                           call, core_.backend.engine->find(message.job_id()),
                           [](const engine::JobView& job, wire::Job& reply) { fill(job, reply); });
                     }));
  }

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override {
    return core_.run(Lane::kQuick, context, request, response,
                     parsing<wire::ListJobsRequest>(
                         [this](const Call& call, const wire::ListJobsRequest& message) {
                           answer_with<wire::ListJobsResponse>(
                               call, list(message),
                               [](const wire::ListJobsResponse& page,
                                  wire::ListJobsResponse& reply) { reply = page; });
                         }));
  }

  // Events of one job or of all.
  grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchJobs(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override {
    // Parsed here: the request is an id. The look at the job is not, so it goes to a lane.
    const auto call = WatchCall::make(core_);
    wire::WatchJobsRequest message;
    const base::Status parsed = parse_message(take_request(request), message);
    if (const auto refusal = core_.guard.refusal(*context)) {
      call->refuse({grpc::StatusCode::UNAUTHENTICATED, *refusal});
    } else if (!parsed.ok()) {
      call->refuse(grpc_status(parsed.error()));
    } else if (!core_.lane(Lane::kQuick, 0).post([call, id = message.job_id()] {
                 call->begin(id);
               })) {
      call->refuse(grpc_status({ErrorKind::kResourceExhausted, "more calls wait than are taken"}));
    }
    return call.get();
  }

  // What a client may submit: kinds of jobs and the keys of circuits, loaded or not.
  grpc::ServerUnaryReactor* ListKinds(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return core_.run(
        Lane::kQuick, context, request, response,
        parsing<wire::ListKindsRequest>([this](const Call& call, const wire::ListKindsRequest&) {
          wire::ListKindsResponse reply;
          fill_kinds(core_.backend.engine->types(), core_.backend.engine->report(), reply);
          call->answer(reply);
        }));
  }

 private:
  // Takes the witness out of the message.
  base::Result<engine::Submitted> submit(wire::SubmitCircuitJobRequest& message) {
    CUZK_TRY(CircuitRequest request, circuit_request_from(message));
    CUZK_TRY(const engine::SubmitRequest job, core_.backend.circuit_job(std::move(request)));
    return core_.backend.engine->submit(job);
  }

  // A wait that is over before the job is answered with the job as it stands then.
  void await(const Call& call, const std::string& id, std::uint64_t timeout_ms) {
    const auto reply = [this, id](const Call& waiting, const WaitEnd& end, base::Bytes result) {
      // The job is kept and goes on at the next start; only the call is over.
      if (end.kind == WaitEnd::Kind::kClosed) {
        waiting->refuse(Error{ErrorKind::kUnavailable, "the daemon stops; await the job later"});
        return;
      }
      const auto job =
          end.job ? base::Result<engine::JobView>(*end.job) : core_.backend.engine->find(id);
      answer_with<wire::AwaitJobResponse>(
          waiting, job, [&](const engine::JobView& view, wire::AwaitJobResponse& message) {
            fill(view, *message.mutable_job());
            message.set_result(result.data(), result.size());
            message.set_timed_out(end.kind == WaitEnd::Kind::kTimeout);
          });
    };
    core_.await(call, id, timeout_ms, reply);
  }

  // A page in the order of sequence numbers, which never change: a job that is accepted between two
  // pages comes on a later one, and none is shown twice.
  base::Result<wire::ListJobsResponse> list(const wire::ListJobsRequest& message) {
    CUZK_TRY(engine::JobQuery query, job_query_from(message));
    CUZK_TRY(query.kind, engine_kind_named(core_.backend, query.kind));
    const std::size_t wanted = query.count_max;
    ++query.count_max;  // one more tells whether there is a next page
    CUZK_TRY(const std::vector<engine::JobView> found, core_.backend.engine->list(query));
    wire::ListJobsResponse page;
    for (std::size_t i = 0; i < found.size() && i < wanted; ++i) fill(found[i], *page.add_jobs());
    if (found.size() > wanted) {
      page.set_next_after_sequence(found[wanted - 1].record.sequence);
    }
    return page;
  }

  GrpcCore& core_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_jobs_service(GrpcCore& core) {
  return std::make_unique<JobsService>(core);
}

}  // namespace cuzk::service
