// Faults on purpose, for tests: a stage that is refused memory, a device that errs or computes
// wrongly, a stage that is slow. Only who makes the pipeline can pass one; nothing outside reaches
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "engine/job_type.h"
#include "engine/scheduler.h"

namespace cuzk::engine {

struct FaultInjection {
  // Where a fault may strike. `device` means something from the device stage on.
  struct Point {
    Stage stage = Stage::kWitness;
    JobId job = 0;
    std::size_t partition = 0;
    std::uint32_t attempt = 1, device = 0;
  };
  // Called by the worker before the stage; may wait, may throw (std::bad_alloc is memory that was
  // refused). An error is taken for the stage's own, which then does not run.
  std::function<base::Status(const Point&)> before;
  // Called with what the stage made; may spoil it.
  std::function<void(const Point&, Product&)> after;
};

}  // namespace cuzk::engine
