// Lanes are sized for a machine that proves at the same time: few threads, long queues. Memory is
// bounded by the gates, which count bytes; the lengths of the queues only keep floods of small
// calls in bounds.
#include "service/grpc_core.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/log.h"
#include "service/grpc_message.h"
#include "service/grpc_status.h"
#include "service/retry_hint.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;

// The quick lane takes as many as one connection may have streams; few people load keys.
constexpr std::size_t kQuickWaiting = 20'000, kSubmitWaiting = 2'000, kKeysWaiting = 64;
// The journal writes what comes together with one sync.
constexpr std::size_t kSubmitThreads = 16, kLargeThreads = 2;
constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20;
static_assert(kLargeThreads < kSubmitThreads);
// Requests are in memory twice while they are handled: as they came, and parsed.
constexpr std::uint64_t kGateMessages = 4, kGateBytesMin = std::uint64_t{64} << 20;
static_assert(kLargeBytes < kGateBytesMin);

// Four of the largest messages at once, or as many small ones as fit.
std::uint64_t gate_bytes(const Config& config) {
  return std::max(kGateBytesMin, kGateMessages * config.daemon.max_message_bytes);
}

// A flood; retry_after() adds when to come again.
Error busy() {
  return {ErrorKind::kResourceExhausted, "more calls wait than this daemon takes; try again"};
}

}  // namespace

// The lambdas use this object; what they are given to dies before it.
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
      keys_("grpc-keys", 2, kKeysWaiting),
      watchers_("grpc-watchers", 1, 1) {
  CUZK_ASSERT(backend.engine != nullptr && backend.awaited != nullptr);
}

// Message limit and lanes are those of the start: the server was built with them.
void GrpcCore::apply(const Config& config) {
  on_disconnect = config.daemon.on_disconnect;
  await_max_ms = config.daemon.await_max.count();
  waits.set_limit(config.daemon.awaits_max);
}

// Later waits are refused, and streams end with a sentence.
void GrpcCore::close_waits() {
  waits.close();
  events.close();
  // Streams hear that the daemon stops from their lane, and before the server cuts them off.
  watchers_.stop();
}

// Waits for what the lanes have taken on: up to minutes where a key is being loaded.
void GrpcCore::stop_lanes() {
  // What is to be called when nobody waits posts to a lane of this object.
  backend.awaited->drop_calls();
  // Work of the other lanes may still post to the quick one, so that ends after them.
  keys_.stop();
  large_.stop();
  submit_.stop();
  quick_.stop();
  watchers_.stop();
  status.stop();
}

// A witness of a small circuit must not wait behind a C1 of fifty megabytes that is being parsed.
WorkLane& GrpcCore::lane(Lane which, std::uint64_t request_bytes) {
  switch (which) {
    case Lane::kSubmit: return request_bytes > kLargeBytes ? large_ : submit_;
    case Lane::kKeys: return keys_;
    case Lane::kQuick: break;
  }
  return quick_;
}

// In a thread of gRPC, so nothing here waits.
grpc::ServerUnaryReactor* GrpcCore::run(Lane which, grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                        Work work) {
  const std::shared_ptr<UnaryCall> call = UnaryCall::make(context, response, count);
  grpc::ByteBuffer bytes = take_request(request);
  // Before anything is parsed or counted.
  if (const auto refusal = guard.refusal(*context)) {
    call->refuse(grpc::Status(grpc::StatusCode::UNAUTHENTICATED, *refusal));
    return call.get();
  }
  // Shared because a task of a lane is copyable; the last copy gives the bytes back.
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
  // The task is gone with its hold, so nothing of the request is kept.
  if (!posted) call->refuse(busy());
  // The call is the library's from here on, whatever has become of it already.
  return call.get();
}

// Two hand-overs: the end of a wait comes from a thread that must get back soon, so reading the
// result and filling the reply are posted to the quick lane, however long that is (post_always).
void GrpcCore::await(const std::shared_ptr<UnaryCall>& call, const std::string& job_id,
                     std::uint64_t timeout_ms, Reply reply, Gone gone) {
  const std::int64_t longest = await_max_ms.load();
  // 0 and what is beyond our own limit: the longest wait there is.
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
  // Unknown job, too many waits, or the daemon stops.
  if (!wait.ok()) {
    call->refuse(wait.error());
    return;
  }
  // The call holds the wait and the wait the call, until one of them ends.
  call->when_gone([wait = *wait, gone = std::move(gone)] {
    // Ended first, so that this call no longer counts among those that want the job.
    JobWaits::abandon(wait);
    if (gone) gone();
  });
}

// The engine knows better than a constant when a full queue has room.
void GrpcCore::refuse_submission(const std::shared_ptr<UnaryCall>& call,
                                 const base::Error& error) const {
  call->refuse(error, retry_after(error, *backend.engine));
}

// Called by the call that ended, when it no longer counts among those that wait.
void GrpcCore::cancel_abandoned(const std::string& job_id) {
  if (on_disconnect.load() != OnDisconnect::kCancel) return;
  backend.awaited->when_unawaited(job_id, [this, job_id] { post_cancel(job_id); });
}

// From under the tally's lock, so nothing is decided here: the lane asks again and then cancels.
void GrpcCore::post_cancel(const std::string& job_id) {
  quick_.post_always([this, job_id] {
    // Its client may have come again meanwhile: then that call's end decides.
    if (backend.awaited->awaited(job_id)) {
      cancel_abandoned(job_id);
      return;
    }
    // An error is a job that is not there any more: nothing is left to cancel.
    const auto cancelled = backend.engine->cancel(job_id);
    if (cancelled.ok()) {
      base::log(base::LogLevel::kInfo,
                fmt::format("job {}: cancelled, its client went away", job_id));
    }
  });
}

}  // namespace cuzk::service
