// The REST mirror: jobs and keys over HTTP, usable with curl. docs/operate.md has the paths. They
// do what cuzk.jobs.v1 and cuzk.v1 do, with the same names of fields, over the same engine.
#pragma once

#include <vector>

#include "service/backend.h"
#include "service/config.h"
#include "service/http_message.h"
#include "service/job_waits.h"
#include "service/work_lane.h"

namespace cuzk::service {

// Borrows all three. Keys are loaded and freed in the lane `keys`, which may take minutes to stop;
// `await_max` is asked for each wait.
std::vector<HttpRoute> job_routes(const Backend& backend, JobWaits& waits, WorkLane& keys,
                                  std::function<std::chrono::milliseconds()> await_max);

// A job as JSON, with the names that cuzk.jobs.v1.Job has.
nlohmann::ordered_json job_json(const engine::JobView& job);

}  // namespace cuzk::service
