// What the calls of both services share: settings, lanes for work that may block, waits. Threads of
// gRPC are few and must come back at once, so they take a call's bytes, look at the guard and post
// the rest to a lane; a call that waits for a proof is in no thread at all.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "service/backend.h"
#include "service/config.h"
#include "service/event_hub.h"
#include "service/grpc_call.h"
#include "service/grpc_guard.h"
#include "service/job_waits.h"
#include "service/status_desk.h"
#include "service/work_lane.h"

namespace grpc {
class Service;
}

namespace cuzk::service {

// The order of an end: close_waits() answers all who wait, then the server is shut down, then
// stop_lanes(). The lanes stand last among the members, so that they die first: their work uses all
// the others. Everything here is thread-safe.
struct GrpcCore {
  using Count = std::function<void(std::string_view code)>;
  GrpcCore(const Config& config, const Backend& backend, Count count);

  // Takes over what can change; the guard's tokens are set by whoever reads them.
  void apply(const Config& config);
  // Refuses new calls of work and ends waits. The lanes go on until stop_lanes().
  void close_waits();
  void stop_lanes();

  // Which lane a call's work runs in.
  enum class Lane : std::uint8_t {
    kQuick,   // looks something up
    kSubmit,  // parses, checks and writes a job, as many bytes as it has
    kKeys,    // loads or frees a key: seconds to minutes
  };
  // Of a request of so many bytes. Small submissions wait for the disk, which serves many at once;
  // large ones are parsed first, few at a time, and keep no small one waiting. The lane is this
  // object's.
  WorkLane& lane(Lane which, std::uint64_t request_bytes);
  // Where streams of events are written. A lane of their own: the quick one may stand still while a
  // disk does, and events of what goes on beside it are to be seen.
  WorkLane& watchers() { return watchers_; }

  // The frame of a unary call: guard, bounded lane, work with the request's bytes, which the gate
  // counts until `work` returns. Returns at once, with what gRPC asks for. A refusal is an answer
  // like any other; `work` is not called then, nor for a client that has gone meanwhile.
  using Work = std::function<void(const std::shared_ptr<UnaryCall>&, const grpc::ByteBuffer&)>;
  grpc::ServerUnaryReactor* run(Lane which, grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                Work work);

  // Answers `call` when the job is final or the time over (0: the longest wait there is). `reply`
  // is called in the quick lane; `result` is that of a completed job.
  using Reply =
      std::function<void(const std::shared_ptr<UnaryCall>&, const WaitEnd&, base::Bytes result)>;
  // When the client goes away: called once with the id, after the wait has ended.
  using Gone = std::function<void()>;
  void await(const std::shared_ptr<UnaryCall>& call, const std::string& job_id,
             std::uint64_t timeout_ms, Reply reply, Gone gone = {});

  // Cancels a job whose client went away, once nobody else waits for it.
  void cancel_abandoned(const std::string& job_id);

  // What a submission is refused with.
  void refuse_submission(const std::shared_ptr<UnaryCall>& call, const base::Error& error) const;

  const Backend backend;
  const Count count;
  // What can change while calls run is atomic, and read once by each.
  std::atomic<std::uint64_t> max_message_bytes;
  std::atomic<OnDisconnect> on_disconnect;
  std::atomic<std::int64_t> await_max_ms;
  GrpcGuard guard;
  ByteGate gate;     // of requests in one message
  ByteGate uploads;  // of streams
  StatusDesk status;
  JobWaits waits;
  EventHub events;

 private:
  // Asks once more, in the quick lane, and cancels.
  void post_cancel(const std::string& job_id);

  WorkLane quick_, submit_, large_, keys_, watchers_;
};

// The services over it; `core` outlives them.
std::unique_ptr<grpc::Service> make_proving_service(GrpcCore& core);

}  // namespace cuzk::service
