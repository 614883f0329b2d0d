// Values of the engine as messages of cuzk.v1, and back. Pure functions. What the public interface
// has no field for is left to cuzk.jobs.v1 or stands in fields of ours.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "service/backend.h"

namespace cuzk::v1 {
class AwaitProofResponse;
class GetStatusResponse;
class SubmitProofRequest;
class SubmitProofResponse;
}  // namespace cuzk::v1

namespace cuzk::service {

// Takes the large fields out of the message. Errors (kInvalidArgument): a kind or priority that is
// no value of its enum, a deadline beyond what a clock holds.
base::Result<ProofRequest> proof_request_from(v1::SubmitProofRequest& message);

void fill(const engine::Submitted& submitted, v1::SubmitProofResponse& message);

// A job that is final; `result` is its result where it completed, and is moved from.
void fill_final(const engine::JobView& job, base::Bytes result, v1::AwaitProofResponse& message);
// A wait that ended before the job.
void fill_timeout(const std::string& job_id, const std::string& sentence,
                  v1::AwaitProofResponse& message);

// What GetStatus says beside the engine's report.
struct StatusContext {
  std::uint64_t max_message_bytes = 0;
  std::int64_t now_ms = 0;  // since the epoch
  std::uint64_t daemon_rss_bytes = 0;
  std::string version;
  std::string door_fault;  // DoorFaults::first
  // Kind and request id of the jobs that run, by the number that executors know them by.
  struct RunningJob {
    std::string request_id, kind;
  };
  std::map<engine::JobId, RunningJob> running;
  std::function<std::string(std::string_view)> public_kind_name;
};
void fill(const engine::EngineReport& report, const StatusContext& context,
          v1::GetStatusResponse& message);

}  // namespace cuzk::service
