// When to try again what was refused: told to clients of gRPC and of HTTP alike. Hints are rough on
// purpose: they keep clients from asking every millisecond, not from asking.
#pragma once

#include <chrono>

#include "base/result.h"

namespace cuzk::engine {
class Engine;
}

namespace cuzk::service {

// Nothing (0) where trying again does not help, as with what can never fit the budget.
std::chrono::milliseconds retry_after(const base::Error& error);

// Of a submission: a full queue has a place again when a job ends, which the engine foretells from
// the ends of late.
std::chrono::milliseconds retry_after(const base::Error& error, engine::Engine& engine);

}  // namespace cuzk::service
