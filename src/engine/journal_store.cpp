// Jobs through their states: what changes the journal.
//
// Each change reads the job, checks attempt and transition, and writes, in one transaction. The
// attempt is what makes late words harmless: a worker that was given the job before it failed or
// was cancelled names an attempt that is over.
#include "engine/journal_store.h"

#include <utility>

#include <fmt/format.h>

#include "engine/journal_rows.h"

namespace cuzk::engine::internal {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

// Pages of trees, pointers and log that an input takes besides its bytes, generously.
constexpr std::uint64_t kInputOverheadBytes = 64 << 10;
static_assert(static_cast<int>(JobState::kQueued) < 2 && static_cast<int>(JobState::kRunning) < 2,
              "the statements below ask for unfinished jobs by number");

Error not_found(std::string_view request_id) {
  return Error{ErrorKind::kNotFound, fmt::format("no job '{}' in the journal", request_id)};
}

Error wrong_state(const JobRecord& job, std::string_view wanted) {
  return Error{ErrorKind::kMismatch, fmt::format("job '{}' is {} and cannot be {}", job.request_id,
                                                 to_string(job.state), wanted)};
}

Status expect_attempt(const JobRecord& job, std::uint32_t attempt) {
  if (job.attempt == attempt) return base::ok_status();
  return Error{ErrorKind::kMismatch,
               fmt::format("job '{}' is in attempt {}, this belongs to attempt {}", job.request_id,
                           job.attempt, attempt)};
}

// Checks the transition and makes it.
Status enter(JobRecord& job, JobState state, std::int64_t now_ms) {
  if (!may_follow(job.state, state)) return wrong_state(job, to_string(state));
  job.state = state;
  job.changed_ms = now_ms;
  return base::ok_status();
}

// Why a submission under a known id is not the job of that id.
Status expect_same_job(const JobRecord& job, const JobSubmission& submission,
                       const hash::Digest& digest) {
  if (job.kind != submission.kind) {
    return Error{ErrorKind::kAlreadyExists,
                 fmt::format("request id '{}' belongs to a job of kind '{}', not '{}'",
                             job.request_id, job.kind, submission.kind)};
  }
  if (job.input_digest != digest || job.partition_count != submission.partition_count) {
    return Error{ErrorKind::kAlreadyExists,
                 fmt::format("request id '{}' belongs to a job with input {} in {} partitions, not "
                             "{} in {}",
                             job.request_id, base::to_hex(job.input_digest), job.partition_count,
                             base::to_hex(digest), submission.partition_count)};
  }
  return base::ok_status();
}

}  // namespace

Result<AcceptedJob> Store::accept(const JobSubmission& submission, const hash::Digest& digest,
                                  std::int64_t now_ms) {
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  AcceptedJob out;
  CUZK_ASSERT(submission.partition_count > 0 && !submission.request_id.empty());
  auto known = find(submission.request_id);
  if (!known.ok() && known.error().kind != ErrorKind::kNotFound) return known.error();
  if (!known.ok()) {
    CUZK_TRY(out.job, accept_new(submission, digest, now_ms));
  } else {
    CUZK_TRY_STATUS(expect_same_job(*known, submission, digest));
    if (known->state != JobState::kFailed && known->state != JobState::kCancelled) {
      // Nothing was changed, so the transaction may end as it likes.
      return AcceptedJob{Acceptance::kJoined, std::move(known).value()};
    }
    out.acceptance = Acceptance::kRetried;
    CUZK_TRY(out.job, accept_again(std::move(known).value(), submission, now_ms));
  }
  CUZK_TRY_STATUS(transaction.commit());
  return out;
}

Result<JobRecord> Store::accept_new(const JobSubmission& submission, const hash::Digest& digest,
                                    std::int64_t now_ms) {
  CUZK_TRY_STATUS(check_room(submission.input.size()));
  JobRecord job;
  // The highest number ever given, not the highest that is there: numbers of removed jobs do not
  // come again. The row below takes this one.
  CUZK_TRY(const std::int64_t last,
           database_.integer("SELECT max(seq) FROM sqlite_sequence WHERE name = 'job'"));
  job.sequence = static_cast<std::uint64_t>(last) + 1;
  job.request_id = submission.request_id;
  job.kind = submission.kind;
  job.priority = submission.priority;
  job.deadline_ms = submission.deadline_ms;
  job.partition_count = submission.partition_count;
  job.input_digest = digest;
  job.input_bytes = submission.input.size();
  job.accepted_ms = job.changed_ms = now_ms;
  CUZK_TRY_STATUS(write_job(database_, kInsertJob, job, 0));
  CUZK_TRY_STATUS(keep_input(digest, submission.input));
  return job;
}

Result<JobRecord> Store::accept_again(JobRecord job, const JobSubmission& submission,
                                      std::int64_t now_ms) {
  CUZK_TRY_STATUS(check_room(submission.input.size()));
  CUZK_TRY_STATUS(enter(job, JobState::kQueued, now_ms));
  job.priority = submission.priority;
  job.deadline_ms = submission.deadline_ms;
  job.failure.reset();
  ++job.attempt;
  job.crash_count = 0;
  // The input went with the end of the attempt before, unless another job keeps it.
  CUZK_TRY_STATUS(keep_input(job.input_digest, submission.input));
  CUZK_TRY_STATUS(write_changed(job));
  return job;
}

// Refuses a job whose input would eat the room in which running jobs record their proofs.
Status Store::check_room(std::uint64_t input_bytes) {
  if (size_bytes_max_ == 0) return base::ok_status();
  CUZK_TRY(const std::int64_t page_bytes, database_.integer("PRAGMA page_size"));
  CUZK_TRY(const std::int64_t pages, database_.integer("PRAGMA page_count"));
  CUZK_TRY(const std::int64_t free_pages, database_.integer("PRAGMA freelist_count"));
  const auto used_bytes = static_cast<std::uint64_t>((pages - free_pages) * page_bytes);
  // Bytes, a 64th for pointers between pages, and a little for the record.
  const std::uint64_t need_bytes = input_bytes + input_bytes / 64 + kInputOverheadBytes;
  if (used_bytes + need_bytes + reserve_bytes_ <= size_bytes_max_) return base::ok_status();
  return Error{ErrorKind::kResourceExhausted,
               fmt::format("the journal is full: {} bytes used, {} needed for this job and {} kept "
                           "for results make more than its limit of {} bytes",
                           used_bytes, need_bytes, reserve_bytes_, size_bytes_max_)};
}

Status Store::keep_input(const hash::Digest& digest, base::ByteSpan input) {
  CUZK_TRY(auto known, database_.prepare("SELECT 1 FROM input WHERE digest = ?"));
  CUZK_TRY(const bool is_kept, known.bind(base::ByteSpan(digest)).step());
  if (is_kept) return base::ok_status();
  CUZK_TRY(auto insert, database_.prepare("INSERT INTO input(digest, content) VALUES(?,?)"));
  return insert.bind(base::ByteSpan(digest)).bind(input).run();
}

Status Store::drop_unused_input(const hash::Digest& digest) {
  CUZK_TRY(auto remove, database_.prepare("DELETE FROM input WHERE digest = ?1 AND NOT EXISTS("
                                          "SELECT 1 FROM job WHERE input_digest = ?1 "
                                          "AND state < 2)"));
  return remove.bind(base::ByteSpan(digest)).run();
}

Status Store::write_changed(JobRecord& job) {
  std::uint64_t proof_bytes = 0;
  if (is_final(job.state)) {
    CUZK_TRY(auto sum, database_.prepare(
                           "SELECT coalesce(sum(length(proof)), 0) FROM partition WHERE job = ?"));
    CUZK_TRY(const bool has_row, sum.bind(static_cast<std::int64_t>(job.sequence)).step());
    if (has_row) proof_bytes = static_cast<std::uint64_t>(sum.integer(0));
  }
  // Proofs of finished partitions stay with failed and cancelled jobs, and count for retention.
  ++job.revision;
  CUZK_TRY_STATUS(write_job(database_, kUpdateJob, job, proof_bytes));
  return is_final(job.state) ? drop_unused_input(job.input_digest) : base::ok_status();
}

Result<JobRecord> Store::change(std::string_view request_id,
                                const std::function<Status(JobRecord&)>& edit) {
  CUZK_ASSERT(edit != nullptr);
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(JobRecord job, find(request_id));
  CUZK_TRY_STATUS(edit(job));
  CUZK_TRY_STATUS(write_changed(job));
  CUZK_TRY_STATUS(transaction.commit());
  return job;
}

Result<JobRecord> Store::start(std::string_view request_id, std::int64_t now_ms) {
  return change(request_id, [&](JobRecord& job) -> Status {
    CUZK_TRY_STATUS(enter(job, JobState::kRunning, now_ms));
    ++job.start_count;
    return base::ok_status();
  });
}

Status Store::requeue(std::string_view request_id, std::uint32_t attempt, Requeue reason,
                      std::int64_t now_ms) {
  // Only from running: a queued job that is queued again would hide a mistake of the caller.
  CUZK_TRY([[maybe_unused]] auto job, change(request_id, [&](JobRecord& changed) -> Status {
             CUZK_TRY_STATUS(expect_attempt(changed, attempt));
             if (changed.state != JobState::kRunning) return wrong_state(changed, "queued again");
             changed.crash_count += reason == Requeue::kCrashed ? 1 : 0;
             return enter(changed, JobState::kQueued, now_ms);
           }));
  return base::ok_status();
}

Result<PartitionOutcome> Store::record_partition(std::string_view request_id, std::uint32_t attempt,
                                                 std::uint32_t partition, base::ByteSpan proof) {
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(JobRecord job, find(request_id));
  CUZK_TRY_STATUS(expect_attempt(job, attempt));
  if (job.state != JobState::kRunning) return wrong_state(job, "given proofs");
  if (partition >= job.partition_count) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("job '{}' has {} partitions, there is no partition {}", request_id,
                             job.partition_count, partition)};
  }
  CUZK_TRY(auto known, database_.prepare("SELECT 1 FROM partition WHERE job = ? AND number = ?"));
  known.bind(static_cast<std::int64_t>(job.sequence)).bind(std::int64_t{partition});
  CUZK_TRY(const bool is_kept, known.step());
  // A second proof of one partition is as good as the first; what others were told stays.
  if (is_kept) return PartitionOutcome::kAlreadyRecorded;
  CUZK_TRY_STATUS(write_partition(database_, job.sequence, partition, attempt, proof));
  // The job gets on, so crashes of before are not held against it.
  if (job.crash_count > 0) {
    job.crash_count = 0;
    CUZK_TRY_STATUS(write_changed(job));
  }
  known.reset();
  CUZK_TRY_STATUS(transaction.commit());
  return PartitionOutcome::kRecorded;
}

Status Store::forget_partitions(std::string_view request_id, std::uint32_t attempt) {
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(const JobRecord job, find(request_id));
  CUZK_TRY_STATUS(expect_attempt(job, attempt));
  if (is_final(job.state)) return wrong_state(job, "proved again");
  CUZK_TRY(auto remove, database_.prepare("DELETE FROM partition WHERE job = ?"));
  CUZK_TRY_STATUS(remove.bind(static_cast<std::int64_t>(job.sequence)).run());
  return transaction.commit();
}

Status Store::complete(std::string_view request_id, std::uint32_t attempt, base::ByteSpan result,
                       std::int64_t now_ms) {
  // Before the transaction: hashing megabytes needs no lock on the file.
  const hash::Digest digest = hash::sha256(result);
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(JobRecord job, find(request_id));
  CUZK_TRY_STATUS(expect_attempt(job, attempt));
  // The answer to the first call may have been lost.
  if (job.state == JobState::kCompleted && job.result_digest == digest) return base::ok_status();
  CUZK_TRY_STATUS(enter(job, JobState::kCompleted, now_ms));
  job.result_bytes = result.size();
  job.result_digest = digest;
  const auto id = static_cast<std::int64_t>(job.sequence);
  CUZK_TRY(auto insert, database_.prepare("INSERT INTO result(job, content) VALUES(?,?)"));
  CUZK_TRY_STATUS(insert.bind(id).bind(result).run());
  CUZK_TRY(auto remove, database_.prepare("DELETE FROM partition WHERE job = ?"));
  CUZK_TRY_STATUS(remove.bind(id).run());
  CUZK_TRY_STATUS(write_changed(job));
  return transaction.commit();
}

Status Store::fail(std::string_view request_id, std::uint32_t attempt, Error failure,
                   std::int64_t now_ms) {
  CUZK_TRY([[maybe_unused]] auto job, change(request_id, [&](JobRecord& changed) -> Status {
             CUZK_TRY_STATUS(expect_attempt(changed, attempt));
             CUZK_TRY_STATUS(enter(changed, JobState::kFailed, now_ms));
             changed.failure = std::move(failure);
             return base::ok_status();
           }));
  return base::ok_status();
}

Status Store::withdraw(std::string_view request_id, std::uint32_t attempt, Error failure,
                       std::int64_t now_ms) {
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(JobRecord job, find(request_id));
  CUZK_TRY_STATUS(expect_attempt(job, attempt));
  if (job.state != JobState::kQueued) return wrong_state(job, "withdrawn");
  // Somebody may know of an earlier life, so it is not gone without a word.
  if (attempt > 1 || job.start_count > 0) {
    CUZK_TRY_STATUS(enter(job, JobState::kFailed, now_ms));
    job.failure = std::move(failure);
    CUZK_TRY_STATUS(write_changed(job));
  } else {
    CUZK_TRY_STATUS(remove_job(static_cast<std::int64_t>(job.sequence)));
    CUZK_TRY_STATUS(drop_unused_input(job.input_digest));
  }
  return transaction.commit();
}

bool Store::together(const std::vector<std::function<void()>>& changes) {
  auto transaction = Transaction::begin(database_);
  if (!transaction.ok()) return false;
  for (const auto& change : changes) {
    CUZK_ASSERT(change != nullptr);
    change();
    // A full disk may have rolled back what came before; the rest would then stand alone.
    if (!database_.in_transaction()) return false;
  }
  return transaction->commit().ok();
}

// Of any attempt: who cancels means the job and not one of its attempts.
Result<JobState> Store::cancel(std::string_view request_id, std::int64_t now_ms) {
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(JobRecord job, find(request_id));
  if (is_final(job.state)) return job.state;
  CUZK_TRY_STATUS(enter(job, JobState::kCancelled, now_ms));
  CUZK_TRY_STATUS(write_changed(job));
  CUZK_TRY_STATUS(transaction.commit());
  return job.state;
}

Result<JobRecord> Store::find(std::string_view request_id) {
  CUZK_TRY(auto row,
           database_.prepare(fmt::format("SELECT {} FROM job WHERE request_id = ?", kJobColumns)));
  CUZK_TRY(const bool is_known, row.bind(request_id).step());
  if (!is_known) return not_found(request_id);
  return read_job(row);
}

Result<std::uint64_t> Store::requeue_all(std::int64_t now_ms) {
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(std::vector<JobRecord> running,
           list({.states = {JobState::kRunning}, .count_max = SIZE_MAX}));
  // Not a crash of these jobs: whether proving code crashed is the engine's word.
  for (JobRecord& job : running) {
    CUZK_TRY_STATUS(enter(job, JobState::kQueued, now_ms));
    CUZK_TRY_STATUS(write_changed(job));
  }
  CUZK_TRY_STATUS(transaction.commit());
  return running.size();
}

}  // namespace cuzk::engine::internal
