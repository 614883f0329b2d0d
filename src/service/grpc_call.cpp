// The race between answer and cancellation is decided by one exchange. OnCancel and OnDone come
// from threads of gRPC, at any moment from make() on; a call that is answered is still there for
// whoever holds it, and does nothing more.
#include "service/grpc_call.h"

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "service/grpc_message.h"
#include "service/grpc_status.h"
#include "service/retry_hint.h"

namespace cuzk::service {

// It holds itself from here on, as the library keeps a bare pointer.
std::shared_ptr<UnaryCall> UnaryCall::make(grpc::CallbackServerContext* context,
                                           grpc::ByteBuffer* response, const Count& count) {
  std::shared_ptr<UnaryCall> call(new UnaryCall(context, response, count));
  call->self_ = call;
  return call;
}

bool UnaryCall::answer(const google::protobuf::MessageLite& message) {
  // Before the exchange: without the memory for it the call can still be refused.
  grpc::ByteBuffer bytes = serialize_message(message);
  if (over_.exchange(true)) return false;
  response_->Swap(&bytes);
  finish(grpc::Status::OK);
  return true;
}

bool UnaryCall::refuse(const base::Error& error) { return refuse(error, retry_after(error)); }

bool UnaryCall::refuse(const base::Error& error, std::chrono::milliseconds retry_after) {
  if (over_.exchange(true)) return false;
  finish(grpc_status(error, retry_after, *context_));
  return true;
}

bool UnaryCall::refuse(grpc::Status status) {
  if (over_.exchange(true)) return false;
  finish(std::move(status));
  return true;
}

void UnaryCall::finish(grpc::Status status) {
  CUZK_ASSERT(over_.load());
  // Counted first: whoever has the answer finds it in the metrics.
  if (count_) count_(code_name(status.error_code()));
  Finish(std::move(status));
}

void UnaryCall::when_gone(std::function<void()> gone) {
  CUZK_ASSERT(gone != nullptr);
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) {
      // Of a call that is done nothing is heard any more, so nothing is kept.
      if (!done_) when_gone_ = std::move(gone);
      return;
    }
  }
  // It was gone before anybody could say what to do then.
  gone();
}

// The client went away, or the server cuts what is open at its end.
void UnaryCall::OnCancel() {
  if (over_.exchange(true)) return;
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    gone.swap(when_gone_);
  }
  // Outside the lock: it calls others, who may come back here.
  if (gone) gone();
  finish({grpc::StatusCode::CANCELLED, "the client went away"});
}

// The last call of gRPC to this object.
void UnaryCall::OnDone() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    when_gone_ = nullptr;  // it may hold this call
  }
  // The library does not touch the call any more; it dies here, or with its last holder.
  CUZK_ASSERT(self_ != nullptr);
  const std::shared_ptr<UnaryCall> last = std::move(self_);
}

// A lane gives up a task that throws, and its call would never be answered.
void run_guarded(const std::shared_ptr<UnaryCall>& call, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    call->refuse(base::Error{base::ErrorKind::kResourceExhausted, "not enough memory for this"});
  } catch (const std::exception& error) {
    call->refuse(
        base::Error{base::ErrorKind::kInternal, std::string("unexpected: ") + error.what()});
  }
}

}  // namespace cuzk::service
