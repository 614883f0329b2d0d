// The gRPC door: cuzk.v1.ProvingEngine as public clients know it, cuzk.jobs.v1.JobService beside
// it, health and reflection. proto/ has the messages, docs/daemon.md the meaning.
#pragma once

#include <memory>

#include "service/daemon.h"

namespace cuzk::service {

// Copies what it needs of both.
std::unique_ptr<Door> make_grpc_door(const Config& config, const Backend& backend);

}  // namespace cuzk::service
