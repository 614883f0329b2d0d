// One write at a time; the state is the mutex's. None begins after Finish, wherever the event for
// it comes from.
#include "service/grpc_watch.h"

#include <utility>

#include "base/check.h"
#include "engine/guarded.h"
#include "service/grpc_message.h"
#include "service/grpc_status.h"
#include "service/proto/jobs.pb.h"
#include "service/wire_jobs.h"

namespace cuzk::service {
namespace {

// For each watcher; one that is slower is told how much it missed.
constexpr std::size_t kQueuedEventsMax = 4096;

// The state that a job is in as the event that brought it there.
engine::EngineEvent event_of(const engine::JobView& job) {
  engine::EngineEvent event;
  using Kind = engine::EngineEvent::Kind;
  event.kind = engine::is_final(job.record.state)               ? Kind::kEnded
               : job.record.state == engine::JobState::kRunning ? Kind::kStarted
                                                                : Kind::kAccepted;
  event.request_id = job.record.request_id;
  event.job_kind = job.record.kind;
  event.state = job.record.state;
  event.at_ms = job.record.changed_ms;
  return event;
}

base::Result<grpc::ByteBuffer> message_of(const EventQueue::Entry& entry) {
  jobs::v1::JobEvent message;
  fill(entry.event, message);
  message.set_missed_count(entry.missed_count);
  return serialize_message(message);
}

}  // namespace

std::shared_ptr<WatchCall> WatchCall::make(GrpcCore& core) {
  std::shared_ptr<WatchCall> call(new WatchCall(core));
  call->self_ = call;
  return call;
}

// From a lane. The client may be gone already, or the daemon about to stop.
void WatchCall::begin(const std::string& job_id) {
  bool is_watching = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_) return;
    const std::weak_ptr<WatchCall> weak = self_;
    CUZK_ASSERT(queue_ == nullptr);
    queue_ = std::make_shared<EventQueue>(job_id, kQueuedEventsMax, [weak] {
      if (const auto alive = weak.lock()) alive->wake();
    });
    is_watching = core_.events.add(queue_);
    // Tells the client that it watches. Within the lock, so before any event: the library ends the
    // process where this comes after a write.
    if (is_watching && job_id.empty()) StartSendInitialMetadata();
  }
  // Outside the lock, which end() takes.
  if (!is_watching) {
    end(grpc_status({base::ErrorKind::kUnavailable, "the daemon stops"}));
    return;
  }
  if (job_id.empty()) return;
  // After the queue is in the hub: a job that ends between is told twice and never not at all.
  const auto job = core_.backend.engine->find(job_id);
  if (job.ok()) {
    // As if it had come from the hub, so it stands in the same queue and order.
    queue_->put(event_of(*job));
  } else {
    end(grpc_status(job.error()));
  }
}

void WatchCall::refuse(grpc::Status status) { end(std::move(status)); }

// At once, or by go_on() when the write on its way is done.
void WatchCall::end(grpc::Status status) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (writing_) {
    ending_ = true;
    end_status_ = std::move(status);
    return;
  }
  finished_ = true;
  Finish(std::move(status));
}

void WatchCall::wake() {
  if (woken_.exchange(true)) return;
  std::shared_ptr<WatchCall> self = shared_from_this();
  const auto posted = engine::guarded([&]() -> base::Result<bool> {
    return core_.watchers().post_always([self] {
      // First: what comes from here on may come after go_on() has looked.
      self->woken_ = false;
      self->go_on();
    });
  });
  if (posted.ok() && *posted) return;
  // The lane has stopped, or there is no memory for the task. Others have seen woken_ and gone, and
  // this may be the last event of all, so nobody but this thread is left to write it.
  woken_ = false;
  go_on();
}

// The one place that writes and, but for end(), the one that finishes.
void WatchCall::go_on() {
  std::unique_lock lock(mutex_);
  if (writing_ || finished_) return;
  // Nothing is being written, so what was waiting for that happens now.
  if (ending_ || last_sent_) {
    finished_ = true;
    Finish(ending_ ? std::move(end_status_) : grpc::Status::OK);
    return;
  }
  CUZK_ASSERT(queue_ != nullptr);
  EventQueue::Entry entry;
  if (queue_->take(entry)) {
    auto message = engine::guarded([&] { return message_of(entry); });
    if (!message.ok()) {  // one event is lost, so the stream may not go on as if it were not
      finished_ = true;
      Finish(grpc_status(message.error()));
      return;
    }
    message_ = std::move(message).value();
    writing_ = true;
    last_sent_ = !queue_->job_id().empty() && entry.event.kind == engine::EngineEvent::Kind::kEnded;
    StartWrite(&message_);
  } else if (queue_->closed()) {  // and all that had come in is sent
    finished_ = true;
    Finish(grpc_status({base::ErrorKind::kUnavailable, "the daemon stops"}));
  }
}

// A write that failed means that the client is gone; the next step is the end.
void WatchCall::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok && !ending_) {
      ending_ = true;
      end_status_ = {grpc::StatusCode::CANCELLED, "the client went away"};
    }
  }
  go_on();
}

void WatchCall::OnCancel() { end({grpc::StatusCode::CANCELLED, "the client went away"}); }

// After the last callback; a wake-up that is under way holds the call by itself.
void WatchCall::OnDone() {
  if (queue_ != nullptr) core_.events.remove(queue_);
  std::shared_ptr<WatchCall> last;
  {
    const std::lock_guard lock(mutex_);
    last.swap(self_);
  }
}

}  // namespace cuzk::service
