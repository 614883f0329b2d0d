// The journal's operations on an open database, each one transaction. One thread at a time; the
// thread-safe face is journal.h, which has the contracts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/journal_database.h"
#include "engine/journal_record.h"
#include "hash/sha256.h"

namespace cuzk::engine::internal {

// Jobs that one transaction of prune() removes at most.
inline constexpr std::size_t kPruneBatchJobs = 256;

// Whatever fails leaves nothing of itself: each function is a transaction, or a savepoint inside
// that of together(). A row that does not fit its seal is kMalformed.
class Store {
 public:
  Store(Database database, std::uint64_t size_bytes_max, std::uint64_t reserve_bytes)
      : database_(std::move(database)),
        size_bytes_max_(size_bytes_max),
        reserve_bytes_(reserve_bytes) {}

  // `digest` is that of submission.input; the submission's fields are within their limits.
  base::Result<AcceptedJob> accept(const JobSubmission& submission, const hash::Digest& digest,
                                   std::int64_t now_ms);
  base::Result<JobRecord> start(std::string_view request_id, std::int64_t now_ms);
  base::Status requeue(std::string_view request_id, std::uint32_t attempt, Requeue reason,
                       std::int64_t now_ms);
  base::Status withdraw(std::string_view request_id, std::uint32_t attempt, base::Error failure,
                        std::int64_t now_ms);
  base::Result<PartitionOutcome> record_partition(std::string_view request_id,
                                                  std::uint32_t attempt, std::uint32_t partition,
                                                  base::ByteSpan proof);
  base::Status forget_partitions(std::string_view request_id, std::uint32_t attempt);
  base::Status complete(std::string_view request_id, std::uint32_t attempt, base::ByteSpan result,
                        std::int64_t now_ms);
  base::Status fail(std::string_view request_id, std::uint32_t attempt, base::Error failure,
                    std::int64_t now_ms);
  base::Result<JobState> cancel(std::string_view request_id, std::int64_t now_ms);

  base::Result<JobRecord> find(std::string_view request_id);
  base::Result<base::Bytes> input(std::string_view request_id, std::int64_t now_ms);
  base::Result<base::Bytes> result(std::string_view request_id, std::int64_t now_ms);
  base::Result<std::vector<PartitionProof>> partitions(std::string_view request_id);
  base::Result<std::vector<JobRecord>> list(const JobQuery& query);
  base::Result<std::vector<UnfinishedJob>> unfinished();

  // All running jobs become queued ones. Returns their number.
  base::Result<std::uint64_t> requeue_all(std::int64_t now_ms);
  // Calls each in one transaction, in order. False when nothing of it is kept: then not all were
  // called, and they may be called again.
  bool together(const std::vector<std::function<void()>>& changes);

  // One batch. There may be more to remove when it has kPruneBatchJobs.
  base::Result<PruneReport> prune(const Retention& retention, std::int64_t now_ms);
  // Gives some of the free pages back to the file system.
  base::Status give_room_back();
  base::Result<JournalStatistics> statistics();
  // Moves the write-ahead log into the database file and gives its room back.
  base::Status empty_log();

 private:
  // Reads the job, lets `edit` change it and writes it with the next revision.
  base::Result<JobRecord> change(std::string_view request_id,
                                 const std::function<base::Status(JobRecord&)>& edit);
  // Writes the record with its next revision; of a job that became final drops the input when
  // nobody else needs it.
  base::Status write_changed(JobRecord& job);
  // The two ways of accept(), inside its transaction.
  base::Result<JobRecord> accept_new(const JobSubmission& submission, const hash::Digest& digest,
                                     std::int64_t now_ms);
  base::Result<JobRecord> accept_again(JobRecord job, const JobSubmission& submission,
                                       std::int64_t now_ms);
  // Error kResourceExhausted where the limit of the file leaves no room for such an input.
  base::Status check_room(std::uint64_t input_bytes);
  // Inputs are shared by digest: stored with the first job, dropped with the last unfinished one.
  base::Status keep_input(const hash::Digest& digest, base::ByteSpan input);
  base::Status drop_unused_input(const hash::Digest& digest);
  base::Result<std::vector<PartitionProof>> partitions_of(std::uint64_t sequence);
  // What reading found damaged after opening: the jobs that need it become failed ones.
  base::Error lose_input(const JobRecord& job, std::int64_t now_ms);
  base::Error lose_result(const JobRecord& job, std::int64_t now_ms);
  base::Status remove_job(std::int64_t id);

  Database database_;
  std::uint64_t size_bytes_max_;  // 0: none
  std::uint64_t reserve_bytes_;
};

}  // namespace cuzk::engine::internal
