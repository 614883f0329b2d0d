// Who wants to know what workers did: traces and measurements.
#pragma once

#include <chrono>

#include "engine/scheduler.h"

namespace cuzk::engine {

// One assignment from its beginning to its end, by the worker that ran it. Those of one worker nest
// where it ran critical work inside other work.
struct StageSpan {
  using Time = std::chrono::steady_clock::time_point;
  WorkerId worker;
  Assignment assignment;
  Time begin, end;
  bool failed = false;
};

class StageObserver {
 public:
  virtual ~StageObserver() = default;
  // Called by the worker, outside of locks. Returns quickly.
  virtual void stage_ended(const StageSpan& span) = 0;
};

}  // namespace cuzk::engine
