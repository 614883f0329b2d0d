// cuzk.jobs.v1.JobService over the engine. It is ours, beside the public ProvingEngine: circuits by
// name, lists, events, keys.
#pragma once

#include <memory>

#include "service/grpc_core.h"

namespace cuzk::service {

// `core` outlives it. Streams to watchers end when the service's waits are closed.
std::unique_ptr<grpc::Service> make_jobs_service(GrpcCore& core);

}  // namespace cuzk::service
