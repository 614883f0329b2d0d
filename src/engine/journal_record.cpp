// States of jobs and their transitions.
//
// Who changes a state on request asks may_follow() in the same transaction, so two callers that
// both saw an older state cannot both get their way. Only a loss of bytes fails a job without
// asking.
#include "engine/journal_record.h"

namespace cuzk::engine {

std::string_view to_string(JobState state) noexcept {
  switch (state) {
    case JobState::kQueued: return "queued";
    case JobState::kRunning: return "running";
    case JobState::kCompleted: return "completed";
    case JobState::kFailed: return "failed";
    case JobState::kCancelled: return "cancelled";
  }
  return "unknown";
}

bool is_final(JobState state) noexcept {
  return state != JobState::kQueued && state != JobState::kRunning;
}

bool may_follow(JobState from, JobState to) noexcept {
  // Completed is for ever: what a client was told stays true.
  switch (from) {
    case JobState::kQueued:
      return to == JobState::kRunning || to == JobState::kFailed || to == JobState::kCancelled;
    // A job that runs may end in any way, or go back to the queue when its process is gone.
    case JobState::kRunning: return to != JobState::kRunning;
    case JobState::kFailed:
    case JobState::kCancelled: return to == JobState::kQueued;
    case JobState::kCompleted: return false;
  }
  return false;
}

namespace {

bool same_failure(const std::optional<base::Error>& a, const std::optional<base::Error>& b) {
  if (!a || !b) return !a && !b;
  return a->kind == b->kind && a->message == b->message;
}

}  // namespace

bool JobRecord::operator==(const JobRecord& other) const {
  return sequence == other.sequence && request_id == other.request_id && kind == other.kind &&
         priority == other.priority && deadline_ms == other.deadline_ms &&
         partition_count == other.partition_count && input_digest == other.input_digest &&
         input_bytes == other.input_bytes && state == other.state && attempt == other.attempt &&
         start_count == other.start_count && crash_count == other.crash_count &&
         accepted_ms == other.accepted_ms && changed_ms == other.changed_ms &&
         same_failure(failure, other.failure) && result_bytes == other.result_bytes &&
         result_digest == other.result_digest && revision == other.revision;
}

}  // namespace cuzk::engine
