// One table of codes, and the details that go with some of them. Codes are few: whether and when to
// try again, which kinds of one code differ in, goes into the details and into the trailer.
#include "service/grpc_status.h"

#include <iterator>
#include <string>

#include <grpcpp/server_context.h>

#include "service/proto/status_details.pb.h"
#include "service/retry_hint.h"

namespace cuzk::service {
namespace {

constexpr std::chrono::milliseconds kNoRetry{0};

// Trailers are limited to some kilobytes by clients.
constexpr std::size_t kMessageBytesMax = 2048;

// The message, cut where a client would refuse the trailer as a whole.
std::string bounded(const std::string& message) {
  if (message.size() <= kMessageBytesMax) return message;
  std::size_t end = kMessageBytesMax;
  // Not in the middle of a character of UTF-8.
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0u) == 0x80u) --end;
  return message.substr(0, end) + "...";
}

// google.rpc.Status with one google.rpc.RetryInfo, as bytes for the trailer. The messages are ours
// with the same numbers, so that no package of Google's types is needed.
std::string details_of(grpc::StatusCode code, const std::string& message,
                       std::chrono::milliseconds delay) {
  internal::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(delay.count() / 1000);
  retry.mutable_retry_delay()->set_nanos(static_cast<int>(delay.count() % 1000) * 1'000'000);
  internal::StatusDetails details;
  details.set_code(code);
  details.set_message(message);
  auto* any = details.add_details();
  any->set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  any->set_value(retry.SerializeAsString());
  return details.SerializeAsString();
}

}  // namespace

// By number, as the protocol has them; a code of a later version is unknown.
std::string_view code_name(grpc::StatusCode code) {
  static constexpr std::string_view kNames[] = {"OK",
                                                "CANCELLED",
                                                "UNKNOWN",
                                                "INVALID_ARGUMENT",
                                                "DEADLINE_EXCEEDED",
                                                "NOT_FOUND",
                                                "ALREADY_EXISTS",
                                                "PERMISSION_DENIED",
                                                "RESOURCE_EXHAUSTED",
                                                "FAILED_PRECONDITION",
                                                "ABORTED",
                                                "OUT_OF_RANGE",
                                                "UNIMPLEMENTED",
                                                "INTERNAL",
                                                "UNAVAILABLE",
                                                "DATA_LOSS",
                                                "UNAUTHENTICATED"};
  static_assert(std::size(kNames) == std::size_t{grpc::StatusCode::UNAUTHENTICATED} + 1);
  const auto index = static_cast<std::size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "UNKNOWN";
}

// Faults of a request are one code: the sentence says which. What no client can mend is INTERNAL.
grpc::StatusCode grpc_code(base::ErrorKind kind) {
  using enum base::ErrorKind;
  switch (kind) {
    case kInvalidArgument:
    case kMalformed:
    case kMismatch:
    case kUnsatisfied: return grpc::StatusCode::INVALID_ARGUMENT;
    case kNotFound: return grpc::StatusCode::NOT_FOUND;
    case kAlreadyExists: return grpc::StatusCode::ALREADY_EXISTS;
    case kResourceExhausted: return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case kUnavailable: return grpc::StatusCode::UNAVAILABLE;
    case kCancelled: return grpc::StatusCode::CANCELLED;
    case kUnsupported: return grpc::StatusCode::UNIMPLEMENTED;
    case kVerificationFailed:
    case kIo:
    case kInternal: return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::INTERNAL;
}

grpc::Status grpc_status(const base::Error& error) {
  return grpc_status(error, retry_after(error));
}

grpc::Status grpc_status(const base::Error& error, std::chrono::milliseconds delay) {
  const grpc::StatusCode code = grpc_code(error.kind);
  const std::string message = bounded(error.message);
  if (delay == kNoRetry) return {code, message};
  return {code, message, details_of(code, message, delay)};
}

grpc::Status grpc_status(const base::Error& error, std::chrono::milliseconds delay,
                         grpc::CallbackServerContext& context) {
  if (delay != kNoRetry) {
    // The library's own way to hold back clients that try again by themselves.
    context.AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(delay.count()));
  }
  return grpc_status(error, delay);
}

}  // namespace cuzk::service
