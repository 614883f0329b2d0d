// Field by field, with the saturation that 32-bit fields ask for. Everything is told as it is now:
// nothing here remembers an earlier reply.
#include "service/wire_proving.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "service/proto/proving.pb.h"
#include "service/wire_fields.h"
#include "service/wire_text.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;

// For fields that upstream made 32 bits wide. The largest number says "at least so many", where a
// wrapped one would say something small and false.
std::uint32_t saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

// Protobuf has bytes as a string, and the engine wants them as a vector: they are copied, and the
// message's copy goes at once, so that a C1 of fifty megabytes is in memory twice for a moment
// only.
base::Bytes bytes_of(std::string* text) {
  base::Bytes bytes(text->begin(), text->end());
  std::string().swap(*text);
  return bytes;
}

// No default in this switch and the next: a value that is added to the engine's enumeration is then
// a warning of the compiler here, and not a wrong word on the wire.
v1::Acceptance acceptance_of(engine::Acceptance acceptance) {
  switch (acceptance) {
    case engine::Acceptance::kNew: return v1::ACCEPTANCE_NEW;
    case engine::Acceptance::kJoined: return v1::ACCEPTANCE_JOINED;
    case engine::Acceptance::kRetried: return v1::ACCEPTANCE_RETRIED;
  }
  return v1::ACCEPTANCE_UNSPECIFIED;
}

v1::SRSStatus::Tier tier_of(engine::KeyTier tier) {
  switch (tier) {
    case engine::KeyTier::kHot: return v1::SRSStatus::HOT;
    case engine::KeyTier::kWarm: return v1::SRSStatus::WARM;
    case engine::KeyTier::kCold: return v1::SRSStatus::COLD;
  }
  return v1::SRSStatus::COLD;
}

// Our own message of a device, the CPU among them: all that is known. A job that has ended since
// the report was made has no name any more and is left out.
void fill_device(const engine::DeviceReport& device, std::uint32_t ordinal,
                 const StatusContext& context, v1::DeviceStatus& message) {
  message.set_ordinal(ordinal);
  message.set_name(utf8(device.name));
  message.set_identifier(device.identifier);
  message.set_usable(device.usable);
  message.set_fallback_only(device.fallback_only);
  message.set_free_bytes(device.free_bytes);
  message.set_total_bytes(device.total_bytes);
  message.set_worker_count(device.worker_count);
  for (const engine::JobId id : device.running) {
    const auto found = context.running.find(id);
    if (found != context.running.end()) message.add_current_job_ids(utf8(found->second.request_id));
  }
  message.set_started_count(device.started_count);
  message.set_failure_count(device.failure_count);
  message.set_wrong_proof_count(device.wrong_proof_count);
  message.set_busy_seconds(device.busy_s);
  message.set_streamed_bytes(device.streamed_bytes);
  message.set_shared_bytes(device.shared_bytes);
}

// The Rust daemon's message of a card, which has room for one job; the first that runs is named.
void fill_gpu(const engine::DeviceReport& device, std::uint32_t ordinal,
              const StatusContext& context, v1::GPUStatus& message) {
  message.set_ordinal(ordinal);
  message.set_name(utf8(device.name));
  message.set_vram_total_bytes(device.total_bytes);
  message.set_vram_free_bytes(device.free_bytes);
  for (const engine::JobId id : device.running) {
    const auto found = context.running.find(id);
    if (found == context.running.end()) continue;
    message.set_current_job_id(utf8(found->second.request_id));
    message.set_current_proof_kind(context.public_kind_name(found->second.kind));
    return;
  }
}

// Ordinals count in the order of the report: all devices in our list, cards alone in the Rust
// daemon's, whose readers take the number for that of a card.
void fill_devices(const engine::EngineReport& report, const StatusContext& context,
                  v1::GetStatusResponse& message) {
  std::uint32_t ordinal = 0, card = 0;
  for (const engine::DeviceReport& device : report.executor.devices) {
    fill_device(device, ordinal++, context, *message.add_devices());
    if (device.identifier == "cpu") continue;
    fill_gpu(device, card++, context, *message.add_gpus());
  }
}

// A row for each kind of job; the totals are sums of the rows, so that both agree in every reply.
void fill_queues(const engine::EngineReport& report, const StatusContext& context,
                 v1::GetStatusResponse& message) {
  std::uint64_t completed = 0, failed = 0, cancelled = 0;
  for (const engine::EngineReport::Queue& queue : report.queues) {
    v1::QueueStatus& row = *message.add_queues();
    row.set_proof_kind(context.public_kind_name(queue.kind));
    row.set_pending(saturated(queue.pending));
    row.set_in_progress(saturated(queue.in_progress));
    row.set_completed(queue.completed);
    row.set_failed(queue.failed);
    row.set_cancelled(queue.cancelled);
    completed += queue.completed;
    failed += queue.failed;
    cancelled += queue.cancelled;
  }
  message.set_total_proofs_completed(completed);
  message.set_total_proofs_failed(failed);
  message.set_total_proofs_cancelled(cancelled);
}

// Budget and use are the ledger's, resident bytes the kernel's: of the proving process and of the
// daemon, which are one where proving runs inside it. Pinned memory has an account only
// where something pins.
void fill_memory(const engine::ExecutorReport& executor, const StatusContext& context,
                 v1::GetStatusResponse& message) {
  v1::MemoryStatus& memory = *message.mutable_memory();
  memory.set_budget_bytes(executor.budget_bytes);
  memory.set_used_bytes(executor.ledger.total.used_bytes);
  memory.set_peak_bytes(executor.ledger.total.peak_bytes);
  memory.set_rss_bytes(executor.rss_bytes);
  memory.set_daemon_rss_bytes(context.daemon_rss_bytes);
  for (const auto& account : executor.ledger.accounts) {
    if (account.account != base::Account::pinned()) continue;
    message.set_pinned_memory_bytes(account.use.used_bytes);
    message.set_pinned_memory_limit_bytes(account.budget_bytes);
  }
}

}  // namespace

// Only what the form of the message decides is refused here; whether the fields suit the kind of
// proof is the job's own affair, which says so with the same words over every door.
base::Result<ProofRequest> proof_request_from(v1::SubmitProofRequest& message) {
  // A kind that this daemon does not know arrives as its number: proto3 keeps it.
  const int kind = message.proof_kind();
  if (kind < v1::POREP_SEAL_COMMIT || kind > v1::WINNING_POST) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("proof_kind: found {}, expected 1 (PoRep), 2 (SnapDeals), 3 (window "
                             "PoSt) or 4 (winning PoSt)",
                             kind)};
  }
  ProofRequest request;
  CUZK_TRY(request.priority, priority_from_wire(message.priority()));
  CUZK_TRY(request.deadline_ms, deadline_from_wire(message.deadline_ms()));
  request.request_id = message.request_id();
  request.kind = static_cast<ProofKind>(kind);
  request.sector_size = message.sector_size();
  request.registered_proof = message.registered_proof();
  request.vanilla_proof = bytes_of(message.mutable_vanilla_proof());
  request.vanilla_proofs.reserve(static_cast<std::size_t>(message.vanilla_proofs_size()));
  for (std::string& proof : *message.mutable_vanilla_proofs()) {
    request.vanilla_proofs.push_back(bytes_of(&proof));
  }
  request.sector_number = message.sector_number();
  request.miner_id = message.miner_id();
  request.randomness = bytes_of(message.mutable_randomness());
  request.partition_index = message.partition_index();
  request.comm_r_old = bytes_of(message.mutable_comm_r_old());
  request.comm_r_new = bytes_of(message.mutable_comm_r_new());
  request.comm_d_new = bytes_of(message.mutable_comm_d_new());
  return request;
}

void fill(const engine::Submitted& submitted, v1::SubmitProofResponse& message) {
  message.set_job_id(utf8(submitted.request_id));
  message.set_queue_position(saturated(submitted.queue_position));
  message.set_acceptance(acceptance_of(submitted.acceptance));
}

// Of a job that is final; the states before stand here for the switch and are never asked about.
// The times go with failed and cancelled jobs too: where the time went is what one wants to know
// then.
void fill_final(const engine::JobView& job, base::Bytes result, v1::AwaitProofResponse& message) {
  message.set_job_id(utf8(job.record.request_id));
  switch (job.record.state) {
    case engine::JobState::kCompleted:
      message.set_status(v1::AwaitProofResponse::COMPLETED);
      message.set_proof(result.data(), result.size());
      break;
    case engine::JobState::kFailed:
      message.set_status(v1::AwaitProofResponse::FAILED);
      message.set_error_message(job.record.failure ? utf8(job.record.failure->message)
                                                   : std::string());
      break;
    case engine::JobState::kCancelled:
      message.set_status(v1::AwaitProofResponse::CANCELLED);
      message.set_error_message("the job was cancelled");
      break;
    case engine::JobState::kQueued:
    case engine::JobState::kRunning: message.set_status(v1::AwaitProofResponse::UNKNOWN); break;
  }
  message.set_queue_wait_ms(job.times.queue_wait_ms);
  message.set_srs_load_ms(job.times.key_load_ms);
  message.set_synthesis_ms(job.times.witness_ms);
  message.set_gpu_compute_ms(job.times.device_ms);
  message.set_finish_ms(job.times.finish_ms);
  message.set_total_ms(job.times.total_ms);
}

// An answer and not an error of the call: the interface has a status for it, and whoever waits asks
// again.
void fill_timeout(const std::string& job_id, const std::string& sentence,
                  v1::AwaitProofResponse& message) {
  message.set_job_id(utf8(job_id));
  message.set_status(v1::AwaitProofResponse::TIMEOUT);
  message.set_error_message(utf8(sentence));
}

void fill(const engine::EngineReport& report, const StatusContext& context,
          v1::GetStatusResponse& message) {
  fill_devices(report, context, message);
  for (const engine::KeyReport& key : report.executor.keys) {
    v1::SRSStatus& row = *message.add_loaded_srs();
    row.set_circuit_id(utf8(key.name));
    row.set_tier(tier_of(key.tier));
    row.set_size_bytes(key.bytes);
    row.set_ref_count(key.reference_count);
  }
  fill_queues(report, context, message);
  // A clock that was set back makes no uptime of centuries.
  message.set_uptime_seconds(
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, context.now_ms - report.started_ms)) /
      1000);
  fill_memory(report.executor, context, message);
  message.set_max_message_bytes(context.max_message_bytes);
  message.set_draining(report.draining);
  const Readiness ready = readiness(report, context.door_fault);
  message.set_ready(ready.ready);
  message.set_not_ready_reason(ready.reason);
  message.set_version(context.version);
  message.set_process_restarts(report.executor.process_restarts);
}

}  // namespace cuzk::service
