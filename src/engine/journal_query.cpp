// What the journal answers, and what it lets go of: bytes, lists, counts and retention.
//
// Bytes are compared with the digest of their record each time they are read, since a disk may lose
// them long after the journal was opened. What does not fit fails the jobs that need it, durably,
// so that nobody waits for them; the client's next submission brings the bytes again.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/journal_rows.h"
#include "engine/journal_store.h"

namespace cuzk::engine::internal {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr bool is_final_number(JobState state) { return static_cast<int>(state) >= 2; }

// Pages that one call gives back to the file system: the journal's lock is not held for long.
constexpr int kVacuumPages = 4096;

// The statements below ask for final jobs by number.
static_assert(is_final_number(JobState::kCompleted) && !is_final_number(JobState::kRunning));

// SQLite's integers are signed; sequences never come near the border.
std::int64_t id_of(const JobRecord& job) { return static_cast<std::int64_t>(job.sequence); }

base::Bytes to_bytes(base::ByteSpan span) { return {span.begin(), span.end()}; }

// Damage is met as content that does not fit its digest. Any other error is of the storage itself
// and says nothing about the job.
bool is_damage(const Error& error) { return error.kind == ErrorKind::kMalformed; }

}  // namespace

Result<base::Bytes> Store::input(std::string_view request_id, std::int64_t now_ms) {
  CUZK_TRY(const JobRecord job, find(request_id));
  if (is_final(job.state)) {
    return Error{ErrorKind::kNotFound, fmt::format("job '{}' is {}: its input is no longer kept",
                                                   request_id, to_string(job.state))};
  }
  base::Bytes content;
  {
    CUZK_TRY(auto row, database_.prepare("SELECT content FROM input WHERE digest = ?"));
    const Result<bool> step = row.bind(base::ByteSpan(job.input_digest)).step();
    if (!step.ok() && !is_damage(step.error())) return step.error();
    if (step.ok() && *step) content = to_bytes(row.blob(0));
  }
  if (hash::sha256(content) == job.input_digest) return content;
  return lose_input(job, now_ms);
}

// Returns the loss, for the caller to hand on; with what went wrong beside it where the jobs could
// not be marked. They are met again then.
Error Store::lose_input(const JobRecord& job, std::int64_t now_ms) {
  const Error loss{ErrorKind::kMalformed,
                   fmt::format("the input of job '{}' was damaged in the journal; submit it again",
                               job.request_id)};
  // All jobs that share it: the bytes are one row.
  const auto mark = [&]() -> Status {
    CUZK_TRY(auto transaction, Transaction::begin(database_));
    CUZK_TRY(auto jobs,
             list({.states = {JobState::kQueued, JobState::kRunning}, .count_max = SIZE_MAX}));
    for (JobRecord& other : jobs) {
      if (other.input_digest != job.input_digest) continue;
      other.state = JobState::kFailed;
      other.changed_ms = now_ms;
      other.failure = loss;
      CUZK_TRY_STATUS(write_changed(other));  // the last one drops the input
    }
    return transaction.commit();
  };
  const Status marked = mark();
  return marked.ok() ? loss : Error(marked.error()).within(loss.message);
}

Result<base::Bytes> Store::result(std::string_view request_id, std::int64_t now_ms) {
  CUZK_TRY(const JobRecord job, find(request_id));
  if (job.state == JobState::kFailed && job.failure) return *job.failure;
  if (job.state == JobState::kCancelled) {
    return Error{ErrorKind::kCancelled, fmt::format("job '{}' was cancelled", request_id)};
  }
  if (job.state != JobState::kCompleted) {
    return Error{ErrorKind::kUnavailable, fmt::format("job '{}' is {}: it has no result yet",
                                                      request_id, to_string(job.state))};
  }
  base::Bytes content;
  {
    CUZK_TRY(auto row, database_.prepare("SELECT content FROM result WHERE job = ?"));
    const Result<bool> step = row.bind(id_of(job)).step();
    if (!step.ok() && !is_damage(step.error())) return step.error();
    if (step.ok() && *step) content = to_bytes(row.blob(0));
  }
  if (hash::sha256(content) == job.result_digest) return content;
  return lose_result(job, now_ms);
}

// A completed job becomes a failed one here, and nowhere else: its proof is gone, so to say so is
// all that is left.
Error Store::lose_result(const JobRecord& job, std::int64_t now_ms) {
  const Error loss{ErrorKind::kMalformed,
                   fmt::format("the result of job '{}' was damaged in the journal; submit it again",
                               job.request_id)};
  const auto mark = [&]() -> Status {
    CUZK_TRY(auto transaction, Transaction::begin(database_));
    CUZK_TRY(auto remove, database_.prepare("DELETE FROM result WHERE job = ?"));
    CUZK_TRY_STATUS(remove.bind(id_of(job)).run());
    JobRecord failed = job;
    failed.state = JobState::kFailed;
    failed.changed_ms = now_ms;
    failed.failure = loss;
    failed.result_bytes = 0;
    failed.result_digest = {};
    CUZK_TRY_STATUS(write_changed(failed));
    return transaction.commit();
  };
  const Status marked = mark();
  return marked.ok() ? loss : Error(marked.error()).within(loss.message);
}

Result<std::vector<PartitionProof>> Store::partitions(std::string_view request_id) {
  CUZK_TRY(const JobRecord job, find(request_id));
  return partitions_of(job.sequence);
}

Result<std::vector<PartitionProof>> Store::partitions_of(std::uint64_t sequence) {
  CUZK_TRY(auto row,
           database_.prepare(fmt::format("SELECT {} FROM partition WHERE job = ? ORDER BY number",
                                         kPartitionColumns)));
  row.bind(static_cast<std::int64_t>(sequence));
  std::vector<PartitionProof> out;
  while (true) {
    CUZK_TRY(const bool has_row, row.step());
    if (!has_row) return out;
    CUZK_TRY(PartitionRow partition, read_partition(row));
    out.push_back(std::move(partition.proof));
  }
}

Result<std::vector<JobRecord>> Store::list(const JobQuery& query) {
  std::string condition;
  // Numbers of our own enumeration; whatever a client wrote is bound below and never pasted.
  for (const JobState state : query.states) {
    condition += fmt::format("{}{}", condition.empty() ? "" : ",", static_cast<int>(state));
  }
  if (!condition.empty()) condition = fmt::format(" AND state IN ({})", condition);
  if (!query.kind.empty()) condition += " AND kind = ?2";
  CUZK_TRY(auto row, database_.prepare(fmt::format("SELECT {} FROM job WHERE id > ?1{} ORDER BY id",
                                                   kJobColumns, condition)));
  row.bind(static_cast<std::int64_t>(query.after_sequence));
  if (!query.kind.empty()) row.bind(query.kind);
  std::vector<JobRecord> out;
  // A damaged record ends the list with its error: whoever pages must not miss one.
  while (out.size() < query.count_max) {
    CUZK_TRY(const bool has_row, row.step());
    if (!has_row) break;
    CUZK_TRY(JobRecord job, read_job(row));
    out.push_back(std::move(job));
  }
  return out;
}

// As in list(), one that cannot be read ends the answer: a job must not be missed, nor be run
// without what it has already.
Result<std::vector<UnfinishedJob>> Store::unfinished() {
  CUZK_TRY(auto jobs,
           list({.states = {JobState::kQueued, JobState::kRunning}, .count_max = SIZE_MAX}));
  std::vector<UnfinishedJob> out;
  out.reserve(jobs.size());
  for (JobRecord& job : jobs) {
    CUZK_TRY(auto partitions, partitions_of(job.sequence));
    out.push_back({std::move(job), std::move(partitions)});
  }
  return out;
}

Status Store::remove_job(std::int64_t id) {
  // All inside the caller's transaction, so no row is left without its job.
  for (const char* sql : {"DELETE FROM partition WHERE job = ?", "DELETE FROM result WHERE job = ?",
                          "DELETE FROM job WHERE id = ?"}) {
    CUZK_TRY(auto remove, database_.prepare(sql));
    CUZK_TRY_STATUS(remove.bind(id).run());
  }
  return base::ok_status();
}

// The index over ends (journal_schema.cpp) is made for sum and candidates: it has all they read.
Result<PruneReport> Store::prune(const Retention& retention, std::int64_t now_ms) {
  struct Candidate {
    std::int64_t id, changed_ms;
    std::uint64_t kept_bytes;
  };
  CUZK_TRY(auto transaction, Transaction::begin(database_));
  CUZK_TRY(const std::int64_t total,
           database_.integer("SELECT coalesce(sum(kept_bytes), 0) FROM job WHERE state >= 2"));
  // Read before anything is removed: a statement over rows that change is undefined in SQLite.
  std::vector<Candidate> candidates;
  {
    CUZK_TRY(auto row, database_.prepare("SELECT id, changed_ms, kept_bytes FROM job "
                                         "WHERE state >= 2 ORDER BY changed_ms, id LIMIT ?"));
    row.bind(static_cast<std::int64_t>(kPruneBatchJobs));
    while (true) {
      CUZK_TRY(const bool has_row, row.step());
      if (!has_row) break;
      candidates.push_back(
          {row.integer(0), row.integer(1), static_cast<std::uint64_t>(row.integer(2))});
    }
  }
  PruneReport report;
  auto left_bytes = static_cast<std::uint64_t>(total);
  for (const Candidate& job : candidates) {
    // In order of their ends, so the first that may stay ends the batch. A clock that ran back
    // makes jobs younger, never older.
    const bool is_old = now_ms - job.changed_ms > retention.age_ms_max;
    if (!is_old && left_bytes <= retention.bytes_max) break;
    CUZK_TRY_STATUS(remove_job(job.id));
    left_bytes -= std::min(left_bytes, job.kept_bytes);
    ++report.job_count;
    report.freed_bytes += job.kept_bytes;
  }
  CUZK_TRY_STATUS(transaction.commit());
  CUZK_ASSERT(report.job_count <= candidates.size() && candidates.size() <= kPruneBatchJobs);
  return report;
}

Status Store::give_room_back() {
  CUZK_TRY(const std::int64_t free_pages, database_.integer("PRAGMA freelist_count"));
  if (free_pages == 0) return base::ok_status();
  CUZK_TRY_STATUS(database_.execute(fmt::format("PRAGMA incremental_vacuum({})", kVacuumPages)));
  // The file shrinks only when the log has been moved into it.
  return empty_log();
}

Status Store::empty_log() { return database_.execute("PRAGMA wal_checkpoint(TRUNCATE)"); }

Result<JournalStatistics> Store::statistics() {
  JournalStatistics out;
  CUZK_TRY(auto states, database_.prepare("SELECT state, count(*) FROM job GROUP BY state"));
  while (true) {
    CUZK_TRY(const bool has_row, states.step());
    if (!has_row) break;
    const std::int64_t state = states.integer(0);
    // The table is not checked here; a state that is none is damage for others to report.
    if (state < 0 || state >= static_cast<std::int64_t>(kJobStateCount)) continue;
    out.job_count[state] = static_cast<std::uint64_t>(states.integer(1));
  }
  const auto read = [&](std::uint64_t& value, std::string_view sql) -> Status {
    CUZK_TRY(const std::int64_t number, database_.integer(sql));
    value = static_cast<std::uint64_t>(number);
    return base::ok_status();
  };
  std::uint64_t page_bytes = 0;
  CUZK_TRY_STATUS(read(out.input_count, "SELECT count(*) FROM input"));
  CUZK_TRY_STATUS(read(out.input_bytes, "SELECT coalesce(sum(length(content)), 0) FROM input"));
  CUZK_TRY_STATUS(read(out.partition_count, "SELECT count(*) FROM partition"));
  CUZK_TRY_STATUS(
      read(out.final_bytes, "SELECT coalesce(sum(kept_bytes), 0) FROM job WHERE state >= 2"));
  CUZK_TRY_STATUS(read(page_bytes, "PRAGMA page_size"));
  CUZK_TRY_STATUS(read(out.file_bytes, "PRAGMA page_count"));
  CUZK_TRY_STATUS(read(out.free_bytes, "PRAGMA freelist_count"));
  out.file_bytes *= page_bytes;
  out.free_bytes *= page_bytes;
  return out;
}

}  // namespace cuzk::engine::internal
