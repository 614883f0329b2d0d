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

// What helps when it is tried again later (kResourceExhausted, kUnavailable) carries
// google.rpc.RetryInfo in its details; `delay` is retry_after() of the error unless given.
grpc::Status grpc_status(const base::Error& error);
grpc::Status grpc_status(const base::Error& error, std::chrono::milliseconds delay);

// The same, and tells the client's retry policy in the trailer ("grpc-retry-pushback-ms"). Only
// before the call is finished.
grpc::Status grpc_status(const base::Error& error, std::chrono::milliseconds delay,
                         grpc::CallbackServerContext& context);

}  // namespace cuzk::service
