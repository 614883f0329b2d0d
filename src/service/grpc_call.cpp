// The race between answer and cancellation is decided by one exchange.
#include "service/grpc_call.h"

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "service/grpc_message.h"
#include "service/grpc_status.h"
#include "service/retry_hint.h"

namespace cuzk::service {

std::shared_ptr<UnaryCall> UnaryCall::make(grpc::CallbackServerContext* context,
                                           grpc::ByteBuffer* response, const Count& count) {
  std::shared_ptr<UnaryCall> call(new UnaryCall(context, response, count));
  call->self_ = call;
  return call;
}

bool UnaryCall::answer(const google::protobuf::MessageLite& message) {
  if (over_.exchange(true)) return false;
  *response_ = serialize_message(message);
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
  if (count_) count_(code_name(status.error_code()));
  Finish(std::move(status));
}

void UnaryCall::when_gone(std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) {
      if (!done_) when_gone_ = std::move(gone);
      return;
    }
  }
  gone();
}

void UnaryCall::OnCancel() {
  if (over_.exchange(true)) return;
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    gone.swap(when_gone_);
  }
  if (gone) gone();
  finish({grpc::StatusCode::CANCELLED, "the client went away"});
}

void UnaryCall::OnDone() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    when_gone_ = nullptr;  // it may hold this call
  }
  const std::shared_ptr<UnaryCall> last = std::move(self_);
}

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
