// The gRPC door: cuzk.v1.ProvingEngine as public clients know it, cuzk.jobs.v1.JobService beside
// it, health and reflection. proto/ has the messages, docs/daemon.md the meaning.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "service/daemon.h"

namespace cuzk::service {

// Copies what it needs of both. `count` hears the code of every answer to a unary call, e.g. "OK".
std::unique_ptr<Door> make_grpc_door(const Config& config, const Backend& backend,
                                     std::function<void(std::string_view code)> count = {});

}  // namespace cuzk::service
