// The HTTP door: status, metrics, health, the REST mirror and the dashboard. What a browser, a
// monitor or curl talks to; gRPC beside it has the same jobs.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "service/daemon.h"

namespace cuzk::service {

// Copies what it needs of both. Listens at daemon.status_listen, which must be set. `count` hears
// the status of every answer.
std::unique_ptr<Door> make_http_door(const Config& config, const Backend& backend,
                                     std::function<void(int status)> count = {});

}  // namespace cuzk::service
