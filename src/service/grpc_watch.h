// A stream of events to one watcher. Events wait in a bounded queue (event_hub.h) until the client
// has taken the one before, so a slow one costs a bounded memory and keeps nobody waiting.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "service/grpc_core.h"

namespace cuzk::service {

// Lives until gRPC is done with it. One event after another: go_on() is called by whatever may have
// made room or brought something (a finished write, the queue) and does nothing while a write is on
// its way.
class WatchCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                        public std::enable_shared_from_this<WatchCall> {
 public:
  // Begins to watch `job_id` (empty: all jobs). With an id: the state it has now is sent first, and
  // the stream ends with the job.
  static std::shared_ptr<WatchCall> make(GrpcCore& core);
  // From a lane.
  void begin(const std::string& job_id);
  void refuse(grpc::Status status);

 private:
  explicit WatchCall(GrpcCore& core) : core_(core) {}
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  // Has go_on() called in the watchers' lane, or calls it where the lane takes nothing. For the
  // thread of the engine that passes events on: making a message of one takes time and memory, and
  // both may be lacking.
  void wake();
  // Writes the next event, or finishes when none can come; nothing while a write is on its way.
  // Where the message cannot be made the watch ends with the reason.
  void go_on();
  void end(grpc::Status status);

  // open --end() during a write--> ending --the write is done--> finished; else straight to
  // finished, where Finish was called. last_sent_: the job's end is written, so the stream ends
  // well after it. All under the mutex, which is taken before those of queue and hub; these two
  // call back without holding theirs.
  GrpcCore& core_;
  std::shared_ptr<EventQueue> queue_;  // from begin() on
  std::atomic<bool> woken_ = false;  // a task that will call go_on() is in the lane: one is enough
  std::mutex mutex_;
  grpc::ByteBuffer message_;
  bool writing_ = false, finished_ = false, ending_ = false, last_sent_ = false;
  grpc::Status end_status_;
  std::shared_ptr<WatchCall> self_;
};

}  // namespace cuzk::service
