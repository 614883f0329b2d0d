// Errors of ours as statuses of gRPC: the code that clients act on, the sentence that people read,
// and, where trying again later helps, when.
#pragma once

#include <chrono>
#include <string_view>

#include <grpcpp/support/status.h>

#include "base/result.h"

namespace grpc {
class CallbackServerContext;
}

namespace cuzk::service {

// "OK", "NOT_FOUND", ...
std::string_view code_name(grpc::StatusCode code);

// The code of a kind; the table stands in docs/daemon.md.
grpc::StatusCode grpc_code(base::ErrorKind kind);

// kResourceExhausted and kUnavailable carry google.rpc.RetryInfo in their details.
grpc::Status grpc_status(const base::Error& error);

// The same, and tells the client's retry policy in the trailer ("grpc-retry-pushback-ms"). Only
// before the call is finished.
grpc::Status grpc_status(const base::Error& error, grpc::CallbackServerContext& context);

// When to try again what was refused; nothing where that does not help.
std::chrono::milliseconds retry_after(base::ErrorKind kind);

}  // namespace cuzk::service
