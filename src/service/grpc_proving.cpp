// cuzk.v1.ProvingEngine over the engine. The calls are those of the public interface, whose words
// and numbers clients of the Rust daemon know; what they mean is in docs/daemon.md, how they are
// filled in wire_proving.h.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "service/grpc_core.h"
#include "service/grpc_handlers.h"
#include "service/grpc_message.h"
#include "service/proto/proving.grpc.pb.h"
#include "service/proto/proving.pb.h"
#include "service/wire_proving.h"
#include "service/wire_text.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;
using Call = std::shared_ptr<UnaryCall>;
using Lane = GrpcCore::Lane;

// All methods as raw bytes; see grpc_message.h.
using V1 = v1::ProvingEngine;
using RawSubmit = V1::WithRawCallbackMethod_SubmitProof<V1::Service>;
using RawAwait = V1::WithRawCallbackMethod_AwaitProof<RawSubmit>;
using RawProve = V1::WithRawCallbackMethod_Prove<RawAwait>;
using RawCancel = V1::WithRawCallbackMethod_CancelProof<RawProve>;
using RawStatus = V1::WithRawCallbackMethod_GetStatus<RawCancel>;
using RawMetrics = V1::WithRawCallbackMethod_GetMetrics<RawStatus>;
using RawPreload = V1::WithRawCallbackMethod_PreloadSRS<RawMetrics>;
using RawAll = V1::WithRawCallbackMethod_EvictSRS<RawPreload>;

// The end of a wait as AwaitProof and Prove tell it. `end` is not kClosed, which has no reply.
void fill_end(const std::string& job_id, const WaitEnd& end, base::Bytes result,
              v1::AwaitProofResponse& message) {
  if (end.job) {
    fill_final(*end.job, std::move(result), message);
  } else {
    fill_timeout(job_id, "the job is not over yet and goes on", message);
  }
}

// A cancelled job is final, so the last two states do not come; the protocol has a word for them.
void fill_cancelled(const engine::Engine::Cancelled& cancelled, v1::CancelProofResponse& reply) {
  reply.set_was_running(cancelled.was_running);
  switch (cancelled.state) {
    case engine::JobState::kCompleted: reply.set_state(v1::AwaitProofResponse::COMPLETED); break;
    case engine::JobState::kFailed: reply.set_state(v1::AwaitProofResponse::FAILED); break;
    case engine::JobState::kCancelled: reply.set_state(v1::AwaitProofResponse::CANCELLED); break;
    case engine::JobState::kQueued:
    case engine::JobState::kRunning: reply.set_state(v1::AwaitProofResponse::UNKNOWN); break;
  }
}

// A call that counts among those that wait for a job, from before the job is submitted on. Its own
// wait begins only after the submission, and the tally must not be empty in between.
class AwaitedHere {
 public:
  AwaitedHere(AwaitedJobs& all, const std::string& id) : all_(all), id_(id) { all_.begin(id_); }
  AwaitedHere(const AwaitedHere&) = delete;
  ~AwaitedHere() { all_.end(id_, AwaitedJobs::End::kOver); }

 private:
  AwaitedJobs& all_;
  const std::string id_;
};

// Work about a proving key.
template <class Request, class Handle>
GrpcCore::Work naming_circuit(Handle handle) {
  return naming<Request>(&Request::circuit_id, "circuit_id", "e.g. porep-32g", handle);
}

// For calls that the end of the daemon meets: kept is what they asked for, only the call is over.
Error closed_error() {
  return {ErrorKind::kUnavailable,
          "the daemon stops; the job is kept and goes on when it is back: await it then"};
}

class ProvingService final : public RawAll {
 public:
  explicit ProvingService(GrpcCore& core) : core_(core) {}

  // A C1 of a large sector has some fifty megabytes, so the lane is chosen by size.
  grpc::ServerUnaryReactor* SubmitProof(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return core_.run(
        Lane::kSubmit, context, request, response,
        parsing<v1::SubmitProofRequest>([this](const Call& call, v1::SubmitProofRequest& message) {
          answer_submission<v1::SubmitProofResponse>(
              core_, call, submit(message),
              [](const engine::Submitted& submitted, v1::SubmitProofResponse& reply) {
                fill(submitted, reply);
              });
        }));
  }

  grpc::ServerUnaryReactor* AwaitProof(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override {
    return core_.run(Lane::kQuick, context, request, response,
                     naming_job<v1::AwaitProofRequest>(
                         [this](const Call& call, const v1::AwaitProofRequest& message) {
                           await(call, message.job_id(), message.timeout_ms());
                         }));
  }

  // The submission runs in the lane; the wait after it holds no thread.
  grpc::ServerUnaryReactor* Prove(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override {
    return core_.run(Lane::kSubmit, context, request, response,
                     parsing<v1::ProveRequest>([this](const Call& call, v1::ProveRequest& message) {
                       prove(call, message);
                     }));
  }

  // Of a job that is over: its state. The proof of a completed one stays.
  grpc::ServerUnaryReactor* CancelProof(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return core_.run(
        Lane::kQuick, context, request, response,
        naming_job<v1::CancelProofRequest>(
            [this](const Call& call, const v1::CancelProofRequest& message) {
              answer_with<v1::CancelProofResponse>(
                  call, core_.backend.engine->cancel(message.job_id()),
                  [](const engine::Engine::Cancelled& cancelled, v1::CancelProofResponse& reply) {
                    fill_cancelled(cancelled, reply);
                  });
            }));
  }

  // Not in a lane: the desk has a thread of its own and serves all who ask with one report, so that
  // a monitor has its answer while keys load and lanes are full.
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    const Call call = UnaryCall::make(context, response, core_.count);
    v1::GetStatusRequest message;
    if (const auto refusal = core_.guard.refusal(*context)) {
      call->refuse(grpc::Status(grpc::StatusCode::UNAUTHENTICATED, *refusal));
    } else if (const base::Status parsed = parse_message(take_request(request), message);
               !parsed.ok()) {
      call->refuse(parsed.error());
    } else {
      const bool asked = core_.status.ask([call](const StatusDesk::Made& made) {
        if (!made.ok()) {
          call->refuse(made.error());
          return;
        }
        run_guarded(call, [&] {
          const StatusReport& report = *made.value();
          v1::GetStatusResponse reply;
          fill(report.engine, report.context, reply);
          call->answer(reply);
        });
      });
      if (!asked) call->refuse(closed_error());
    }
    return call.get();
  }

  // The same text as /metrics, for those who have no port of HTTP.
  grpc::ServerUnaryReactor* GetMetrics(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override {
    return core_.run(
        Lane::kQuick, context, request, response,
        parsing<v1::GetMetricsRequest>([this](const Call& call, const v1::GetMetricsRequest&) {
          v1::GetMetricsResponse reply;
          reply.set_prometheus_text(utf8(core_.backend.metrics_text()));
          call->answer(reply);
        }));
  }

  grpc::ServerUnaryReactor* PreloadSRS(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override {
    return core_.run(Lane::kKeys, context, request, response,
                     naming_circuit<v1::PreloadSrsRequest>(
                         [this](const Call& call, const v1::PreloadSrsRequest& message) {
                           preload(call, message.circuit_id());
                         }));
  }

  // Refused while a proof uses the key; of one that is not loaded nothing is freed, which is no
  // error.
  grpc::ServerUnaryReactor* EvictSRS(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override {
    return core_.run(Lane::kKeys, context, request, response,
                     naming_circuit<v1::EvictSrsRequest>(
                         [this](const Call& call, const v1::EvictSrsRequest& message) {
                           answer_with<v1::EvictSrsResponse>(
                               call, core_.backend.engine->evict(message.circuit_id()),
                               [](std::uint64_t freed_bytes, v1::EvictSrsResponse& reply) {
                                 reply.set_was_loaded(freed_bytes > 0);
                                 reply.set_freed_bytes(freed_bytes);
                               });
                         }));
  }

 private:
  // Takes the large fields out of the message. Durable when it returns.
  base::Result<engine::Submitted> submit(v1::SubmitProofRequest& message) {
    CUZK_TRY(ProofRequest request, proof_request_from(message));
    CUZK_TRY(const engine::SubmitRequest job, core_.backend.proof_job(std::move(request)));
    return core_.backend.engine->submit(job);
  }

  // AwaitProof: with the time over, the reply says TIMEOUT and the job goes on.
  void await(const Call& call, const std::string& id, std::uint64_t timeout_ms) {
    core_.await(call, id, timeout_ms,
                [id](const Call& waiting, const WaitEnd& end, base::Bytes result) {
                  if (end.kind == WaitEnd::Kind::kClosed) {
                    waiting->refuse(closed_error());
                    return;
                  }
                  v1::AwaitProofResponse reply;
                  fill_end(id, end, std::move(result), reply);
                  waiting->answer(reply);
                });
  }

  // Prove is a submission and a wait in one call; its client's going away may cancel the job, by
  // setting.
  void prove(const Call& call, v1::ProveRequest& message) {
    if (!message.has_submit()) {
      call->refuse(Error{ErrorKind::kInvalidArgument, "submit: found nothing, expected a request"});
      return;
    }
    // Counted before it is submitted: another call of the job that ends now is not the last.
    const AwaitedHere counted(*core_.backend.awaited, message.submit().request_id());
    const auto submitted = submit(*message.mutable_submit());
    if (!submitted.ok()) {
      core_.refuse_submission(call, submitted.error());
      return;
    }
    // Where the client gave no id, this is the one that was made.
    const std::string& id = submitted->request_id;
    // A job that was there already belongs to others too.
    GrpcCore::Gone gone;
    if (submitted->acceptance != engine::Acceptance::kJoined) {
      gone = [this, id] { core_.cancel_abandoned(id); };
    }
    const auto reply = [id](const Call& waiting, const WaitEnd& end, base::Bytes result) {
      if (end.kind == WaitEnd::Kind::kClosed) {
        waiting->refuse(closed_error());
        return;
      }
      v1::ProveResponse message_of_end;
      fill_end(id, end, std::move(result), *message_of_end.mutable_result());
      waiting->answer(message_of_end);
    };
    core_.await(call, id, 0, reply, std::move(gone));
  }

  // In the lane of keys, for as long as the file takes to read.
  void preload(const Call& call, const std::string& name) {
    const auto begin = std::chrono::steady_clock::now();
    const auto loaded = core_.backend.engine->preload(name);
    const auto spent = std::chrono::steady_clock::now() - begin;
    answer_with<v1::PreloadSrsResponse>(
        call, loaded, [spent](bool was_loaded, v1::PreloadSrsResponse& reply) {
          reply.set_already_loaded(was_loaded);
          if (was_loaded) return;
          // The whole call: with a load that somebody else had begun, what was left of it.
          reply.set_load_time_ms(static_cast<std::uint64_t>(
              std::chrono::duration_cast<std::chrono::milliseconds>(spent).count()));
        });
  }

  GrpcCore& core_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_proving_service(GrpcCore& core) {
  return std::make_unique<ProvingService>(core);
}

}  // namespace cuzk::service
