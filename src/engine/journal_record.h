// What the journal keeps of a job, as values: states, the record itself, and what came of asking
// for it. Nothing here knows how it is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "hash/sha256.h"

namespace cuzk::engine {

// Limits of what is stored. What is larger is refused with kInvalidArgument; a longer failure
// sentence is cut.
inline constexpr std::size_t kRequestIdBytesMax = 256;
inline constexpr std::size_t kJobKindBytesMax = 64;
inline constexpr std::size_t kFailureBytesMax = 4096;
inline constexpr std::size_t kPartitionProofBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kJobResultBytesMax = std::size_t{64} << 20;
inline constexpr std::uint32_t kPartitionCountMax = 4096;
static_assert(kPartitionProofBytesMax <= kJobResultBytesMax);

// Where a job stands. The numbers are stored: append only. The words of to_string are stable.
enum class JobState : std::uint8_t {
  kQueued = 0,
  kRunning = 1,
  kCompleted = 2,
  kFailed = 3,
  kCancelled = 4,
};
inline constexpr std::size_t kJobStateCount = 5;
static_assert(kJobStateCount == static_cast<std::size_t>(JobState::kCancelled) + 1);
std::string_view to_string(JobState state) noexcept;

// Completed, failed or cancelled: no work is left.
bool is_final(JobState state) noexcept;

// Whether a job may go from one state to the other:
//   queued -> running, failed, cancelled
//   running -> queued (its worker is gone), completed, failed, cancelled
//   failed, cancelled -> queued (accepted again)
bool may_follow(JobState from, JobState to) noexcept;

// One job without its bytes. Times are milliseconds since the epoch on the journal's clock.
// A failure is there exactly in kFailed, a result's digest exactly in kCompleted. The revision
// orders two records of one job, whatever the clock says.
struct JobRecord {
  std::uint64_t sequence = 0;  // order of arrival, from 1, never reused
  std::string request_id;
  std::string kind;
  std::uint32_t priority = 0;  // the scheduler's number, not interpreted here
  std::optional<std::int64_t> deadline_ms;
  std::uint32_t partition_count = 1;
  hash::Digest input_digest{};  // SHA-256 of the input
  std::uint64_t input_bytes = 0;
  JobState state = JobState::kQueued;
  std::uint32_t attempt = 1;      // times it was accepted anew: 1, then one more for each retry
  std::uint32_t start_count = 0;  // times it began to run, over all attempts and restarts
  std::uint32_t crash_count = 0;  // crashes that it ran in since the last partition was finished
  std::int64_t accepted_ms = 0;   // of the first attempt
  std::int64_t changed_ms = 0;    // when it took its state
  std::optional<base::Error> failure;  // of a failed job
  std::uint64_t result_bytes = 0;
  hash::Digest result_digest{};  // SHA-256 of a completed job's result
  std::uint64_t revision = 1;    // one more for each change of this record

  bool operator==(const JobRecord& other) const;
};

// A job as it arrives. Borrows the input for the call.
struct JobSubmission {
  // 1 to kRequestIdBytesMax bytes without control characters; the caller's name for this job.
  std::string request_id;
  std::string kind;  // likewise, to kJobKindBytesMax
  std::uint32_t priority = 0;
  std::optional<std::int64_t> deadline_ms;
  std::uint32_t partition_count = 1;  // 1 to kPartitionCountMax
  base::ByteSpan input;
};

// What came of a submission that was not refused.
enum class Acceptance {
  kNew,
  kJoined,   // the same job is queued, running or completed: nothing was added
  kRetried,  // the same job had failed or was cancelled: it is queued again, one attempt more
};
struct AcceptedJob {
  Acceptance acceptance = Acceptance::kNew;
  JobRecord job;
};

// Why a running job is queued again. A crash counts in JobRecord::crash_count.
enum class Requeue : std::uint8_t { kStopped, kCrashed };

// The finished part of a job.
struct PartitionProof {
  std::uint32_t partition = 0;
  std::uint32_t attempt = 1;  // in which it was made
  base::Bytes proof;
};

enum class PartitionOutcome {
  kRecorded,
  kAlreadyRecorded,  // an earlier proof of this partition is kept and the new one dropped
};

// One change of a job, for Journal::apply.
struct JournalChange {
  enum class Kind : std::uint8_t { kStart, kRequeue, kPartition, kComplete, kFail };
  Kind kind = Kind::kStart;
  std::string request_id;
  std::uint32_t attempt = 1;  // not looked at by kStart
  Requeue reason = Requeue::kStopped;
  std::uint32_t partition = 0;
  base::Bytes bytes;  // a partition's proof, a job's result
  base::Error failure;
};

// A job that a restarted engine goes on with.
struct UnfinishedJob {
  JobRecord job;
  std::vector<PartitionProof> partitions;  // ascending; what need not be proved again
};

struct JobQuery {
  std::vector<JobState> states;      // empty: all
  std::string kind;                  // empty: all
  std::uint64_t after_sequence = 0;  // only later arrivals: pass the last one of the page before
  std::size_t count_max = 1000;
};

// What is kept of jobs that are final. Whatever is older, and then the oldest of what is more, is
// removed by prune(); an id that was removed is new when it comes again.
struct Retention {
  std::int64_t age_ms_max = std::int64_t{7} * 24 * 3600 * 1000;
  std::uint64_t bytes_max = std::uint64_t{1} << 30;  // results, proofs and records
};

// What one call of prune() removed.
struct PruneReport {
  std::uint64_t job_count = 0;
  std::uint64_t freed_bytes = 0;  // of results, proofs and records
};

// Counts of the tables as they are, and of calls since the journal was opened.
struct JournalStatistics {
  std::uint64_t job_count[kJobStateCount] = {};
  std::uint64_t input_count = 0;  // distinct inputs of jobs that are not final
  std::uint64_t input_bytes = 0;
  std::uint64_t partition_count = 0;
  std::uint64_t final_bytes = 0;  // what Retention::bytes_max bounds
  std::uint64_t file_bytes = 0;   // database file, without its write-ahead log
  std::uint64_t free_bytes = 0;   // inside the file
  // Since the journal was opened.
  std::uint64_t accepted_count = 0, joined_count = 0, retried_count = 0, refused_count = 0;
};

// What opening found. `losses` holds a sentence for each thing that is gone or in doubt; it is
// empty after every stop and kill that left the files alone.
struct OpenReport {
  bool created = false;
  std::uint64_t requeued_count = 0;  // jobs that ran when the process ended
  // The end of a record that was being written when the process or the power went; no caller had
  // been told that it was kept, unless the file was cut or damaged afterwards.
  std::uint64_t unfinished_log_bytes = 0;
  bool rebuilt = false;            // from the readable parts of a damaged journal
  std::string damaged_files;       // path of what was set aside then
  std::uint64_t kept_jobs = 0;     // by the rebuilding
  std::uint64_t failed_jobs = 0;   // kept, but as failed: input or result is gone
  std::uint64_t damaged_rows = 0;  // met while reading and dropped
  std::vector<std::string> losses;
};

}  // namespace cuzk::engine
