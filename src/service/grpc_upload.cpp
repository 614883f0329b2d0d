// The next piece is asked for when the one before is put away, so a fast client waits for us. What
// has come is counted by the gate until the call dies, so a stream cannot fill the memory.
#include "service/grpc_upload.h"

#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "service/grpc_message.h"
#include "service/grpc_status.h"
#include "service/proto/jobs.pb.h"
#include "service/retry_hint.h"
#include "service/wire_jobs.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;
namespace wire = jobs::v1;

// For all pieces together, so that one that stalls gives its bytes back.
constexpr std::chrono::minutes kUploadTime{15};

}  // namespace

std::shared_ptr<UploadCall> UploadCall::make(GrpcCore& core, grpc::CallbackServerContext* context,
                                             grpc::ByteBuffer* response) {
  std::shared_ptr<UploadCall> call(new UploadCall(core, context, response));
  call->self_ = call;
  return call;
}

// The alarm first: a stream whose first piece never comes has its time too.
void UploadCall::begin() {
  CUZK_ASSERT(self_ != nullptr);
  // Weak: an alarm that is not due for minutes does not keep a call that is done.
  const std::weak_ptr<UploadCall> weak = self_;
  alarm_.Set(std::chrono::system_clock::now() + kUploadTime, [weak](bool due) {
    const auto alive = weak.lock();
    if (due && alive) {
      alive->finish(
          {grpc::StatusCode::DEADLINE_EXCEEDED,
           fmt::format("the witness did not arrive within {} minutes", kUploadTime.count())});
    }
  });
  StartRead(&piece_);
}

void UploadCall::refuse(grpc::Status status) { finish(std::move(status)); }

// From any thread.
bool UploadCall::finish(grpc::Status status) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(finished_, true)) return false;
  Finish(std::move(status));
  return true;
}

// What a step throws ends the call; the lane would only write it down.
void UploadCall::run(void (UploadCall::*step)()) {
  std::shared_ptr<UploadCall> self;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    self = self_;
  }
  // The task holds the call, so gRPC's end of it does not pull it from under a step.
  const auto work = [self, step] {
    try {
      (self.get()->*step)();
    } catch (const std::bad_alloc&) {
      self->finish(grpc_status({ErrorKind::kResourceExhausted, "not enough memory for this"}));
    } catch (const std::exception& error) {
      self->finish(grpc_status({ErrorKind::kInternal, std::string("unexpected: ") + error.what()}));
    }
  };
  // Pieces are small work, what they make up together may be large.
  const std::uint64_t size = step == &UploadCall::submit ? expected_bytes_ : 0;
  if (!core_.lane(GrpcCore::Lane::kSubmit, size).post(work)) {
    finish(grpc_status({ErrorKind::kResourceExhausted, "more calls wait than this daemon takes"}));
  }
}

// Not ok: the client has sent all, or is gone; submit() and OnCancel() tell these apart.
void UploadCall::OnReadDone(bool ok) { run(ok ? &UploadCall::take_piece : &UploadCall::submit); }

// A fault of a piece ends the call while the client still sends; the rest is not read.
void UploadCall::take_piece() {
  const base::Status added = add_piece();
  if (!added.ok()) {
    finish(grpc_status(added.error()));
    return;
  }
  const std::lock_guard lock(mutex_);
  // Under the lock, for no operation may begin after Finish.
  if (!finished_) StartRead(&piece_);
}

// A header first and once, then pieces that do not exceed what it said: nothing is kept beyond
// that.
base::Status UploadCall::add_piece() {
  ByteGate::Hold hold = core_.uploads.enter(piece_.Length());
  if (!hold.holds()) {
    return Error{ErrorKind::kResourceExhausted,
                 fmt::format("witnesses of {} bytes are being received, which is near the limit of "
                             "{}; try again",
                             core_.uploads.held_bytes(), core_.uploads.bytes_max())};
  }
  holds_.push_back(std::move(hold));
  // Counted before it is parsed, for parsing makes a second copy.
  wire::StreamCircuitJobRequest message;
  CUZK_TRY_STATUS(parse_message(piece_, message));
  piece_.Clear();
  if (message.has_header()) {
    if (request_) return Error{ErrorKind::kInvalidArgument, "header: found a second one"};
    CUZK_TRY(request_, circuit_request_from(message.header()));
    expected_bytes_ = message.header().witness_bytes();
    return base::ok_status();
  }
  if (!request_) {
    return Error{ErrorKind::kInvalidArgument, "header: found none, expected it to come first"};
  }
  CUZK_ASSERT(request_->witness.size() <= expected_bytes_);
  const std::string& bytes = message.witness();
  if (bytes.size() > expected_bytes_ - request_->witness.size()) {
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("witness: found more than the {} bytes of the header", expected_bytes_)};
  }
  // Grows with what arrives: a size that is only claimed costs nothing.
  request_->witness.insert(request_->witness.end(), bytes.begin(), bytes.end());
  return base::ok_status();
}

// What the header announced and what came must agree, or half a witness would be taken for a whole
// one.
void UploadCall::submit() {
  if (!request_) {
    finish(grpc_status({ErrorKind::kInvalidArgument, "header: found none, and the stream ended"}));
    return;
  }
  if (request_->witness.size() != expected_bytes_) {
    finish(grpc_status({ErrorKind::kInvalidArgument,
                        fmt::format("witness: found {} bytes, expected the {} of the header",
                                    request_->witness.size(), expected_bytes_)}));
    return;
  }
  auto job = core_.backend.circuit_job(std::move(*request_));
  if (!job.ok()) {
    finish(grpc_status(job.error()));
    return;
  }
  // Durable when it returns, whatever becomes of the call then.
  const auto submitted = core_.backend.engine->submit(*job);
  if (!submitted.ok()) {
    const base::Error& error = submitted.error();
    finish(grpc_status(error, retry_after(error, *core_.backend.engine), *context_));
    return;
  }
  wire::SubmitJobResponse reply;
  fill(*submitted, reply);
  grpc::ByteBuffer bytes = serialize_message(reply);  // may find no memory, so before the end
  const std::lock_guard lock(mutex_);
  if (std::exchange(finished_, true)) return;
  response_->Swap(&bytes);
  Finish(grpc::Status::OK);
}

void UploadCall::OnCancel() { finish({grpc::StatusCode::CANCELLED, "the client went away"}); }

void UploadCall::OnDone() {
  alarm_.Cancel();
  std::shared_ptr<UploadCall> last;
  {
    const std::lock_guard lock(mutex_);
    last.swap(self_);
  }
}

}  // namespace cuzk::service
