// Field by field. Text that may come from outside goes through utf8(), or a foreign client refuses
// the whole message.
#include "service/wire_jobs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "service/proto/jobs.pb.h"
#include "service/wire_fields.h"
#include "service/wire_text.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;
namespace wire = jobs::v1;

// Bounded, so that one question holds the journal's lock for a bounded time.
constexpr std::size_t kPageDefault = 100, kPageMax = 1000;

// The switches over the engine's enumerations have no default: what is added there is a warning
// here. A number from the journal of a later version falls through to "unspecified".
wire::JobPriority wire_priority(std::uint32_t priority) {
  switch (static_cast<engine::Priority>(priority)) {
    case engine::Priority::kCritical: return wire::CRITICAL;
    case engine::Priority::kHigh: return wire::HIGH;
    case engine::Priority::kNormal: return wire::NORMAL;
    case engine::Priority::kLow: return wire::LOW;
  }
  return wire::JOB_PRIORITY_UNSPECIFIED;
}

// What both forms of a submission have in common.
template <class Message>
base::Result<CircuitRequest> said_of_job(const Message& message) {
  if (message.circuit().empty()) {
    return Error{ErrorKind::kInvalidArgument,
                 "circuit: found nothing, expected the name of a registered circuit"};
  }
  CircuitRequest request;
  CUZK_TRY(request.priority, priority_from_wire(message.priority()));
  CUZK_TRY(request.deadline_ms, deadline_from_wire(message.deadline_ms()));
  request.request_id = message.request_id();
  request.circuit = message.circuit();
  return request;
}

wire::JobEvent::Kind wire_kind(engine::EngineEvent::Kind kind) {
  switch (kind) {
    case engine::EngineEvent::Kind::kAccepted: return wire::JobEvent::ACCEPTED;
    case engine::EngineEvent::Kind::kStarted: return wire::JobEvent::STARTED;
    case engine::EngineEvent::Kind::kPartitionMoved: return wire::JobEvent::PARTITION_MOVED;
    case engine::EngineEvent::Kind::kEnded: return wire::JobEvent::ENDED;
  }
  return wire::JobEvent::KIND_UNSPECIFIED;
}

// Only of a job that is under way: of one that is over nothing is counted any more, and zeros would
// say that nothing of it was done.
void fill_progress(const engine::JobView& job, wire::Job& message) {
  if (!job.progress || engine::is_final(job.record.state)) return;
  const auto count = [&job](engine::PartitionState state) {
    return job.progress->partitions[static_cast<std::size_t>(state)];
  };
  wire::Job::Partitions& partitions = *message.mutable_partitions();
  partitions.set_total(job.record.partition_count);
  partitions.set_queued(count(engine::PartitionState::kQueued));
  partitions.set_witness(count(engine::PartitionState::kWitness));
  partitions.set_device_queued(count(engine::PartitionState::kDeviceQueued));
  partitions.set_device(count(engine::PartitionState::kDevice));
  partitions.set_finish_queued(count(engine::PartitionState::kFinishQueued));
  partitions.set_finish(count(engine::PartitionState::kFinish));
  partitions.set_done(count(engine::PartitionState::kDone));
}

void fill_times(const engine::JobTimes& times, wire::Job::Times& message) {
  message.set_queue_wait_ms(times.queue_wait_ms);
  message.set_key_load_ms(times.key_load_ms);
  message.set_witness_ms(times.witness_ms);
  message.set_device_ms(times.device_ms);
  message.set_finish_ms(times.finish_ms);
  message.set_total_ms(times.total_ms);
}

// Times are signed in the engine and unsigned on the wire; one before 1970 is a clock that was
// wrong.
std::uint64_t since_epoch(std::int64_t ms) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ms));
}

}  // namespace

base::Result<CircuitRequest> circuit_request_from(wire::SubmitCircuitJobRequest& message) {
  CUZK_TRY(CircuitRequest request, said_of_job(message));
  if (message.witness().empty()) {
    return Error{ErrorKind::kInvalidArgument,
                 "witness: found no bytes, expected those of a .wtns file"};
  }
  // The message's copy goes at once: a witness may take a gigabyte.
  request.witness.assign(message.witness().begin(), message.witness().end());
  std::string().swap(*message.mutable_witness());
  return request;
}

// The bytes come in the messages after it, and are held against this size as they come.
base::Result<CircuitRequest> circuit_request_from(
    const wire::StreamCircuitJobRequest_Header& message) {
  CUZK_TRY(CircuitRequest request, said_of_job(message));
  if (message.witness_bytes() == 0) {
    return Error{ErrorKind::kInvalidArgument,
                 "header.witness_bytes: found 0, expected the size of the .wtns file"};
  }
  return request;
}

// A page that is asked too large is cut and not refused: whoever follows `next` gets all the same.
base::Result<engine::JobQuery> job_query_from(const wire::ListJobsRequest& message) {
  engine::JobQuery query;
  for (const int state : message.states()) {
    if (state < wire::QUEUED || state > wire::CANCELLED) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("states: found {}, expected 1 (queued) to 5 (cancelled)", state)};
    }
    query.states.push_back(static_cast<engine::JobState>(state - wire::QUEUED));
  }
  query.kind = message.kind();
  // The journal counts with a sign; more would be taken for a negative number, before all jobs.
  if (message.after_sequence() > INT64_MAX) {
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("after_sequence: found {}, expected the next_after_sequence of a page, "
                    "which is below 2^63",
                    message.after_sequence())};
  }
  query.after_sequence = message.after_sequence();
  query.count_max = message.page_size() == 0 ? kPageDefault
                                             : std::min<std::size_t>(message.page_size(), kPageMax);
  return query;
}

int wire_state(engine::JobState state) {
  switch (state) {
    case engine::JobState::kQueued: return wire::QUEUED;
    case engine::JobState::kRunning: return wire::RUNNING;
    case engine::JobState::kCompleted: return wire::COMPLETED;
    case engine::JobState::kFailed: return wire::FAILED;
    case engine::JobState::kCancelled: return wire::CANCELLED;
  }
  return wire::JOB_STATE_UNSPECIFIED;
}

void fill(const engine::Submitted& submitted, wire::SubmitJobResponse& message) {
  message.set_job_id(utf8(submitted.request_id));
  message.set_queue_position(submitted.queue_position);
  message.set_state(static_cast<wire::JobState>(wire_state(submitted.state)));
  message.set_joined(submitted.acceptance == engine::Acceptance::kJoined);
  message.set_retried(submitted.acceptance == engine::Acceptance::kRetried);
}

void fill(const engine::JobView& job, wire::Job& message) {
  const engine::JobRecord& record = job.record;
  message.set_job_id(utf8(record.request_id));
  message.set_kind(record.kind);
  message.set_state(static_cast<wire::JobState>(wire_state(record.state)));
  message.set_priority(wire_priority(record.priority));
  if (record.deadline_ms) message.set_deadline_ms(since_epoch(*record.deadline_ms));
  message.set_sequence(record.sequence);
  message.set_attempt(record.attempt);
  message.set_start_count(record.start_count);
  message.set_accepted_ms(since_epoch(record.accepted_ms));
  message.set_changed_ms(since_epoch(record.changed_ms));
  message.set_input_bytes(record.input_bytes);
  message.set_input_sha256(base::to_hex(record.input_digest));
  // Of other states these are zeros of the record, and would read as those of an empty result.
  if (record.state == engine::JobState::kCompleted) {
    message.set_result_bytes(record.result_bytes);
    message.set_result_sha256(base::to_hex(record.result_digest));
  }
  if (record.failure) {
    message.set_error_kind(std::string(base::to_string(record.failure->kind)));
    message.set_error_message(utf8(record.failure->message));
  }
  fill_progress(job, message);
  fill_times(job.times, *message.mutable_times());
}

void fill(const engine::EngineEvent& event, wire::JobEvent& message) {
  message.set_kind(wire_kind(event.kind));
  message.set_job_id(utf8(event.request_id));
  message.set_job_kind(event.job_kind);
  message.set_state(static_cast<wire::JobState>(wire_state(event.state)));
  message.set_at_ms(since_epoch(event.at_ms));
  // The rest is of a partition, and 0 is one.
  if (event.kind != engine::EngineEvent::Kind::kPartitionMoved) return;
  message.set_partition(static_cast<std::uint32_t>(event.partition));
  message.set_partition_state(std::string(word(event.partition_state)));
  message.set_attempt(event.attempt);
  message.set_device(event.device);
}

// Kinds are all there are; keys are those of the store, in whatever tier they are now.
void fill_kinds(const engine::JobTypes& types, const engine::EngineReport& report,
                wire::ListKindsResponse& message) {
  for (const engine::JobType* type : types.all()) {
    wire::ListKindsResponse::Kind& kind = *message.add_kinds();
    kind.set_name(type->name);
    kind.set_description(type->description);
  }
  for (const engine::KeyReport& report_of_key : report.executor.keys) {
    wire::ListKindsResponse::Key& key = *message.add_keys();
    key.set_name(utf8(report_of_key.name));
    key.set_tier(std::string(engine::to_string(report_of_key.tier)));
    key.set_size_bytes(report_of_key.bytes);
    key.set_reference_count(report_of_key.reference_count);
  }
}

}  // namespace cuzk::service
