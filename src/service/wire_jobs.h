// Values of the engine as messages of cuzk.jobs.v1, and back. Pure functions. They know neither
// calls nor threads, so each field can be tested by itself.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/engine.h"
#include "service/backend.h"

namespace cuzk::jobs::v1 {
class Job;
class JobEvent;
class ListJobsRequest;
class ListKindsResponse;
class StreamCircuitJobRequest_Header;
class SubmitCircuitJobRequest;
class SubmitJobResponse;
}  // namespace cuzk::jobs::v1

namespace cuzk::service {

// Both take what is said of the job; the first takes the witness out of the message too. Errors
// (kInvalidArgument) name the field.
base::Result<CircuitRequest> circuit_request_from(jobs::v1::SubmitCircuitJobRequest& message);
base::Result<CircuitRequest> circuit_request_from(
    const jobs::v1::StreamCircuitJobRequest_Header& message);

base::Result<engine::JobQuery> job_query_from(const jobs::v1::ListJobsRequest& message);

// A JobState of the protocol.
int wire_state(engine::JobState state);

void fill(const engine::Submitted& submitted, jobs::v1::SubmitJobResponse& message);
void fill(const engine::JobView& job, jobs::v1::Job& message);
void fill(const engine::EngineEvent& event, jobs::v1::JobEvent& message);
void fill_kinds(const engine::JobTypes& types, const engine::EngineReport& report,
                jobs::v1::ListKindsResponse& message);

}  // namespace cuzk::service
