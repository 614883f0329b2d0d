// cuzk.v1.ProvingEngine over the engine.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "service/grpc_core.h"
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

// Parses, or refuses the call and says false.
bool parsed(const Call& call, const grpc::ByteBuffer& bytes,
            google::protobuf::MessageLite& message) {
  const base::Status status = parse_message(bytes, message);
  if (!status.ok()) call->refuse(status.error());
  return status.ok();
}

// A job id or circuit id that has to be there.
bool named(const Call& call, const std::string& value, const char* field, const char* what) {
  if (!value.empty()) return true;
  call->refuse(Error{ErrorKind::kInvalidArgument,
                     fmt::format("{}: found nothing, expected {}", field, what)});
  return false;
}

void fill_end(const std::string& job_id, const WaitEnd& end, base::Bytes result,
              v1::AwaitProofResponse& message) {
  if (end.job) {
    fill_final(*end.job, std::move(result), message);
  } else {
    fill_timeout(job_id, "the job is not over yet and goes on", message);
  }
}

Error closed_error() {
  return {ErrorKind::kUnavailable,
          "the daemon stops; the job is kept and goes on when it is back: await it then"};
}

class ProvingService final : public RawAll {
 public:
  explicit ProvingService(GrpcCore& core) : core_(core) {}

  grpc::ServerUnaryReactor* SubmitProof(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return core_.run(Lane::kSubmit, context, request, response,
                     [this](const Call& call, const grpc::ByteBuffer& bytes) {
                       v1::SubmitProofRequest message;
                       if (!parsed(call, bytes, message)) return;
                       const auto submitted = submit(message);
                       if (!submitted.ok()) {
                         core_.refuse_submission(call, submitted.error());
                         return;
                       }
                       v1::SubmitProofResponse reply;
                       fill(*submitted, reply);
                       call->answer(reply);
                     });
  }

  grpc::ServerUnaryReactor* AwaitProof(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override {
    return core_.run(Lane::kQuick, context, request, response,
                     [this](const Call& call, const grpc::ByteBuffer& bytes) {
                       v1::AwaitProofRequest message;
                       if (!parsed(call, bytes, message)) return;
                       const std::string& id = message.job_id();
                       if (!named(call, id, "job_id", "the id of a job")) return;
                       core_.await(
                           call, id, message.timeout_ms(),
                           [id](const Call& waiting, const WaitEnd& end, base::Bytes result) {
                             if (end.kind == WaitEnd::Kind::kClosed) {
                               waiting->refuse(closed_error());
                               return;
                             }
                             v1::AwaitProofResponse reply;
                             fill_end(id, end, std::move(result), reply);
                             waiting->answer(reply);
                           });
                     });
  }

  grpc::ServerUnaryReactor* Prove(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override {
    return core_.run(
        Lane::kSubmit, context, request, response,
        [this](const Call& call, const grpc::ByteBuffer& bytes) { prove(call, bytes); });
  }

  grpc::ServerUnaryReactor* CancelProof(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return core_.run(Lane::kQuick, context, request, response,
                     [this](const Call& call, const grpc::ByteBuffer& bytes) {
                       v1::CancelProofRequest message;
                       if (!parsed(call, bytes, message)) return;
                       if (!named(call, message.job_id(), "job_id", "the id of a job")) return;
                       cancel(call, message.job_id());
                     });
  }

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    const Call call = UnaryCall::make(context, response, core_.count);
    v1::GetStatusRequest message;
    if (const auto refusal = core_.guard.refusal(*context)) {
      call->refuse(grpc::Status(grpc::StatusCode::UNAUTHENTICATED, *refusal));
    } else if (parsed(call, take_request(request), message)) {
      const bool asked = core_.status.ask([call](std::shared_ptr<const StatusReport> report) {
        v1::GetStatusResponse reply;
        fill(report->engine, report->context, reply);
        call->answer(reply);
      });
      if (!asked) call->refuse(closed_error());
    }
    return call.get();
  }

  grpc::ServerUnaryReactor* GetMetrics(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override {
    return core_.run(Lane::kQuick, context, request, response,
                     [this](const Call& call, const grpc::ByteBuffer& bytes) {
                       v1::GetMetricsRequest message;
                       if (!parsed(call, bytes, message)) return;
                       v1::GetMetricsResponse reply;
                       reply.set_prometheus_text(utf8(core_.backend.metrics_text()));
                       call->answer(reply);
                     });
  }

  grpc::ServerUnaryReactor* PreloadSRS(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override {
    return core_.run(Lane::kKeys, context, request, response,
                     [this](const Call& call, const grpc::ByteBuffer& bytes) {
                       v1::PreloadSrsRequest message;
                       if (!parsed(call, bytes, message)) return;
                       if (!named(call, message.circuit_id(), "circuit_id", "e.g. porep-32g")) {
                         return;
                       }
                       preload(call, message.circuit_id());
                     });
  }

  grpc::ServerUnaryReactor* EvictSRS(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override {
    return core_.run(Lane::kKeys, context, request, response,
                     [this](const Call& call, const grpc::ByteBuffer& bytes) {
                       v1::EvictSrsRequest message;
                       if (!parsed(call, bytes, message)) return;
                       if (!named(call, message.circuit_id(), "circuit_id", "e.g. porep-32g")) {
                         return;
                       }
                       evict(call, message.circuit_id());
                     });
  }

 private:
  base::Result<engine::Submitted> submit(v1::SubmitProofRequest& message) {
    CUZK_TRY(ProofRequest request, proof_request_from(message));
    CUZK_TRY(const engine::SubmitRequest job, core_.backend.proof_job(std::move(request)));
    return core_.backend.engine->submit(job);
  }

  void prove(const Call& call, const grpc::ByteBuffer& bytes) {
    v1::ProveRequest message;
    if (!parsed(call, bytes, message)) return;
    if (!message.has_submit()) {
      call->refuse(Error{ErrorKind::kInvalidArgument, "submit: found nothing, expected a request"});
      return;
    }
    const auto submitted = submit(*message.mutable_submit());
    if (!submitted.ok()) {
      core_.refuse_submission(call, submitted.error());
      return;
    }
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

  void cancel(const Call& call, const std::string& id) {
    const auto cancelled = core_.backend.engine->cancel(id);
    if (!cancelled.ok()) {
      call->refuse(cancelled.error());
      return;
    }
    v1::CancelProofResponse reply;
    reply.set_was_running(cancelled->was_running);
    switch (cancelled->state) {
      case engine::JobState::kCompleted: reply.set_state(v1::AwaitProofResponse::COMPLETED); break;
      case engine::JobState::kFailed: reply.set_state(v1::AwaitProofResponse::FAILED); break;
      case engine::JobState::kCancelled: reply.set_state(v1::AwaitProofResponse::CANCELLED); break;
      case engine::JobState::kQueued:
      case engine::JobState::kRunning: reply.set_state(v1::AwaitProofResponse::UNKNOWN); break;
    }
    call->answer(reply);
  }

  void preload(const Call& call, const std::string& name) {
    const auto begin = std::chrono::steady_clock::now();
    const auto loaded = core_.backend.engine->preload(name);
    if (!loaded.ok()) {
      call->refuse(loaded.error());
      return;
    }
    const auto spent = std::chrono::steady_clock::now() - begin;
    v1::PreloadSrsResponse reply;
    reply.set_already_loaded(*loaded);
    if (!*loaded) {
      reply.set_load_time_ms(static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(spent).count()));
    }
    call->answer(reply);
  }

  void evict(const Call& call, const std::string& name) {
    const auto freed = core_.backend.engine->evict(name);
    if (!freed.ok()) {
      call->refuse(freed.error());
      return;
    }
    v1::EvictSrsResponse reply;
    reply.set_was_loaded(*freed > 0);
    reply.set_freed_bytes(*freed);
    call->answer(reply);
  }

  GrpcCore& core_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_proving_service(GrpcCore& core) {
  return std::make_unique<ProvingService>(core);
}

}  // namespace cuzk::service
