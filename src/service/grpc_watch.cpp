// One write at a time; the state is the mutex's.
#include "service/grpc_watch.h"

#include <utility>

#include "service/grpc_message.h"
#include "service/grpc_status.h"
#include "service/proto/jobs.pb.h"
#include "service/wire_jobs.h"

namespace cuzk::service {
namespace {

constexpr std::size_t kQueuedEventsMax = 4096;

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

}  // namespace

std::shared_ptr<WatchCall> WatchCall::make(GrpcCore& core) {
  std::shared_ptr<WatchCall> call(new WatchCall(core));
  call->self_ = call;
  return call;
}

void WatchCall::begin(const std::string& job_id) {
  bool is_watching = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_) return;
    const std::weak_ptr<WatchCall> weak = self_;
    queue_ = std::make_shared<EventQueue>(job_id, kQueuedEventsMax, [weak] {
      if (const auto alive = weak.lock()) alive->go_on();
    });
    is_watching = core_.events.add(queue_);
    // Tells the client that it watches. Within the lock, so before any event: the library ends the
    // process where this comes after a write.
    if (is_watching && job_id.empty()) StartSendInitialMetadata();
  }
  if (!is_watching) {
    end(grpc_status({base::ErrorKind::kUnavailable, "the daemon stops"}));
    return;
  }
  if (job_id.empty()) return;
  const auto job = core_.backend.engine->find(job_id);
  if (job.ok()) {
    queue_->put(event_of(*job));
  } else {
    end(grpc_status(job.error()));
  }
}

void WatchCall::refuse(grpc::Status status) { end(std::move(status)); }

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

void WatchCall::go_on() {
  std::unique_lock lock(mutex_);
  if (writing_ || finished_) return;
  if (ending_ || last_sent_) {
    finished_ = true;
    Finish(ending_ ? std::move(end_status_) : grpc::Status::OK);
    return;
  }
  EventQueue::Entry entry;
  if (queue_->take(entry)) {
    jobs::v1::JobEvent message;
    fill(entry.event, message);
    message.set_missed_count(entry.missed_count);
    message_ = serialize_message(message);
    writing_ = true;
    last_sent_ = !queue_->job_id().empty() && entry.event.kind == engine::EngineEvent::Kind::kEnded;
    StartWrite(&message_);
  } else if (queue_->closed()) {
    finished_ = true;
    Finish(grpc_status({base::ErrorKind::kUnavailable, "the daemon stops"}));
  }
}

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

void WatchCall::OnDone() {
  if (queue_ != nullptr) core_.events.remove(queue_);
  std::shared_ptr<WatchCall> last;
  {
    const std::lock_guard lock(mutex_);
    last.swap(self_);
  }
}

}  // namespace cuzk::service
