// Lanes are sized for a machine that proves at the same time: few threads, long queues.
#include "service/grpc_core.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "service/grpc_message.h"
#include "service/grpc_status.h"
#include "service/retry_hint.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t kQuickWaiting = 20'000, kSubmitWaiting = 2'000, kKeysWaiting = 64;
// The journal writes what comes together with one sync.
constexpr std::size_t kSubmitThreads = 16, kLargeThreads = 2;
constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20;
// Requests are in memory twice while they are handled: as they came, and parsed.
constexpr std::uint64_t kGateMessages = 4, kGateBytesMin = std::uint64_t{64} << 20;

std::uint64_t gate_bytes(const Config& config) {
  return std::max(kGateBytesMin, kGateMessages * config.daemon.max_message_bytes);
}

Error busy() {
  return {ErrorKind::kResourceExhausted, "more calls wait than this daemon takes; try again"};
}

}  // namespace

GrpcCore::GrpcCore(const Config& config, const Backend& all, Count count_answer)
    : backend(all),
      count(std::move(count_answer)),
      max_message_bytes(config.daemon.max_message_bytes),
      on_disconnect(config.daemon.on_disconnect),
      await_max_ms(config.daemon.await_max.count()),
      gate(gate_bytes(config)),
      uploads(gate_bytes(config)),
      status([this] { return make_status_report(backend, max_message_bytes.load()); }),
      waits(
          [this](std::string_view id, std::function<void(const engine::JobView&)> done) {
            return backend.engine->on_final(id, std::move(done));
          },
          config.daemon.awaits_max, backend.awaited),
      events([this](std::function<void(const engine::EngineEvent&)> observer) {
        return backend.engine->observe(std::move(observer));
      }),
      quick_("grpc-quick", 2, kQuickWaiting),
      submit_("grpc-submit", kSubmitThreads, kSubmitWaiting),
      large_("grpc-large", kLargeThreads, kSubmitWaiting),
      keys_("grpc-keys", 2, kKeysWaiting) {}

void GrpcCore::apply(const Config& config) {
  on_disconnect = config.daemon.on_disconnect;
  await_max_ms = config.daemon.await_max.count();
  waits.set_limit(config.daemon.awaits_max);
}

void GrpcCore::close_waits() {
  waits.close();
  events.close();
}

void GrpcCore::stop_lanes() {
  backend.awaited->drop_calls();
  keys_.stop();
  large_.stop();
  submit_.stop();
  quick_.stop();
  status.stop();
}

WorkLane& GrpcCore::lane(Lane which, std::uint64_t request_bytes) {
  switch (which) {
    case Lane::kSubmit: return request_bytes > kLargeBytes ? large_ : submit_;
    case Lane::kKeys: return keys_;
    case Lane::kQuick: break;
  }
  return quick_;
}

grpc::ServerUnaryReactor* GrpcCore::run(Lane which, grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                        Work work) {
  const std::shared_ptr<UnaryCall> call = UnaryCall::make(context, response, count);
  grpc::ByteBuffer bytes = take_request(request);
  if (const auto refusal = guard.refusal(*context)) {
    call->refuse(grpc::Status(grpc::StatusCode::UNAUTHENTICATED, *refusal));
    return call.get();
  }
  auto hold = std::make_shared<ByteGate::Hold>(gate.enter(bytes.Length()));
  if (!hold->holds()) {
    call->refuse(Error{ErrorKind::kResourceExhausted,
                       fmt::format("requests of {} bytes are being read, and {} more are over the "
                                   "limit of {}; try again",
                                   gate.held_bytes(), bytes.Length(), gate.bytes_max())});
    return call.get();
  }
  const std::uint64_t size = bytes.Length();
  const bool posted =
      lane(which, size).post([call, hold, bytes = std::move(bytes), work = std::move(work)] {
        if (!call->over()) run_guarded(call, [&] { work(call, bytes); });
      });
  if (!posted) call->refuse(busy());
  return call.get();
}

void GrpcCore::await(const std::shared_ptr<UnaryCall>& call, const std::string& job_id,
                     std::uint64_t timeout_ms, Reply reply, Gone gone) {
  const std::int64_t longest = await_max_ms.load();
  const std::int64_t wanted = timeout_ms == 0 || timeout_ms > static_cast<std::uint64_t>(longest)
                                  ? longest
                                  : static_cast<std::int64_t>(timeout_ms);
  auto wait =
      waits.begin(job_id, std::chrono::milliseconds(wanted),
                  [this, call, reply = std::move(reply)](WaitEnd end) {
                    const auto answer = [this, call, reply, end] {
                      run_guarded(call, [&] {
                        base::Bytes result;
                        if (end.job && end.job->record.state == engine::JobState::kCompleted) {
                          auto read = backend.engine->result(end.job->record.request_id);
                          if (!read.ok()) {
                            call->refuse(read.error());
                            return;
                          }
                          result = std::move(read).value();
                        }
                        reply(call, end, std::move(result));
                      });
                    };
                    if (!quick_.post_always(answer))
                      call->refuse(Error{ErrorKind::kUnavailable, "stopped"});
                  });
  if (!wait.ok()) {
    call->refuse(wait.error());
    return;
  }
  // The call holds the wait and the wait the call, until one of them ends.
  call->when_gone([wait = *wait, gone = std::move(gone)] {
    JobWaits::abandon(wait);
    if (gone) gone();
  });
}

void GrpcCore::refuse_submission(const std::shared_ptr<UnaryCall>& call,
                                 const base::Error& error) const {
  call->refuse(error, retry_after(error, *backend.engine));
}

void GrpcCore::cancel_abandoned(const std::string& job_id) {
  if (on_disconnect.load() != OnDisconnect::kCancel) return;
  backend.awaited->when_unawaited(job_id, [this, job_id] { post_cancel(job_id); });
}

void GrpcCore::post_cancel(const std::string& job_id) {
  quick_.post_always([this, job_id] {
    // Its client may have come again meanwhile: then that call's end decides.
    if (backend.awaited->awaited(job_id)) {
      cancel_abandoned(job_id);
      return;
    }
    const auto cancelled = backend.engine->cancel(job_id);
    if (cancelled.ok()) {
      base::log(base::LogLevel::kInfo,
                fmt::format("job {}: cancelled, its client went away", job_id));
    }
  });
}

}  // namespace cuzk::service
