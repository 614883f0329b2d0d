// The ends of a unary call that are the same whatever it does: its message parsed or refused, its
// outcome filled into a reply or refused.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "service/grpc_core.h"
#include "service/grpc_message.h"

namespace cuzk::service {

// Refuses the call with the error of `result`, or answers with what `fill_reply` makes of it.
template <class Reply, class T, class Fill>
void answer_with(const std::shared_ptr<UnaryCall>& call, const base::Result<T>& result,
                 Fill fill_reply) {
  if (!result.ok()) {
    call->refuse(result.error());
    return;
  }
  Reply reply;
  fill_reply(*result, reply);
  call->answer(reply);
}

// The same for what came of a submission, whose refusal may say when to try again.
template <class Reply, class Fill>
void answer_submission(GrpcCore& core, const std::shared_ptr<UnaryCall>& call,
                       const base::Result<engine::Submitted>& submitted, Fill fill_reply) {
  if (!submitted.ok()) {
    core.refuse_submission(call, submitted.error());
    return;
  }
  answer_with<Reply>(call, submitted, fill_reply);
}

// Work that begins with a message of type Request.
template <class Request, class Handle>
GrpcCore::Work parsing(Handle handle) {
  return [handle](const std::shared_ptr<UnaryCall>& call, const grpc::ByteBuffer& bytes) {
    Request message;
    const base::Status parsed = parse_message(bytes, message);
    if (parsed.ok()) {
      handle(call, message);
    } else {
      call->refuse(parsed.error());
    }
  };
}

// The same for messages that name something in a field that must not be empty: `name_of` reads it,
// `field` and `expected` are for the refusal.
template <class Request, class NameOf, class Handle>
GrpcCore::Work naming(NameOf name_of, const char* field, const char* expected, Handle handle) {
  return parsing<Request>(
      [name_of, field, expected, handle](const std::shared_ptr<UnaryCall>& call, Request& message) {
        if ((message.*name_of)().empty()) {
          call->refuse(base::Error{base::ErrorKind::kInvalidArgument,
                                   fmt::format("{}: found nothing, expected {}", field, expected)});
        } else {
          handle(call, message);
        }
      });
}

// Of a job.
template <class Request, class Handle>
GrpcCore::Work naming_job(Handle handle) {
  return naming<Request>(&Request::job_id, "job_id", "the id of a job", handle);
}

}  // namespace cuzk::service
