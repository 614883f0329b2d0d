// The journal: jobs, their states, proofs of finished partitions and results, on disk.
//
// What a function has returned ok for is durable: it survives a kill at any moment and, where the
// disk keeps its promises, the loss of power. What was under way is there whole or not at all. A
// restarted engine asks for unfinished() and proves only the partitions that are missing.
//
// The journal runs no threads and reads no clock of its own. docs/decisions has the reasons for
// how it stores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/result.h"
#include "engine/journal_files.h"
#include "engine/journal_record.h"

namespace cuzk::engine {

namespace internal {
class CommitQueue;
class Database;
struct PendingChange;
class Store;
}  // namespace internal

// Where and how much. The limits are promises to clients, so they change only between openings.
struct JournalOptions {
  // Holds the journal's files and nothing else; made when its parent exists and it does not.
  std::filesystem::path folder;
  // Milliseconds since the epoch. May stand still or run back: order does not depend on it.
  std::function<std::int64_t()> now_ms;
  // Of the database file; 0: whatever the disk has.
  std::uint64_t size_bytes_max = 0;
  // Room that new jobs may not take, for the results of those accepted: set aside on the disk, and
  // kept below size_bytes_max.
  std::uint64_t reserve_bytes = std::uint64_t{16} << 20;
  std::uint64_t input_bytes_max = std::uint64_t{512} << 20;
  // The name of another SQLite file layer, for tests that make files fail. Null: the system's.
  const char* file_layer = nullptr;
};

// One folder's journal. Thread-safe. Changes that arrive while others are synced to the disk share
// the next sync; each still succeeds or fails on its own. All functions may fail with
// kIo, kResourceExhausted (disk or limit full: nothing was changed) and kMalformed (damage met);
// those that name a job with kNotFound. The further errors stand at each.
class Journal {
 public:
  // Opens or creates. Jobs that ran when the last process ended are queued again. A damaged journal
  // is rebuilt from its readable parts, the damaged files stay beside it, and the report says what
  // is lost. Errors: kUnavailable (another process has the folder), kUnsupported (a newer version
  // wrote it), kMismatch or kMalformed (the file is something else), kIo (no right to write).
  static base::Result<std::unique_ptr<Journal>> open(JournalOptions options);

  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  const OpenReport& open_report() const noexcept { return report_; }
  // Whether the paths still name the files that are open. When they do not, all functions go on and
  // nothing that they write is found at the next opening. Waits for no other call. Error
  // kUnavailable, with the file that was removed or replaced.
  base::Status in_place() const;

  // Takes a job on: from here it is not lost. The same id with the same kind, input and partition
  // count joins the job that is there or, when that failed or was cancelled, queues it for one more
  // attempt, which keeps the proofs of finished partitions and takes the new priority and deadline.
  // Errors: kAlreadyExists when the id belongs to another job, with both digests or kinds;
  // kInvalidArgument for a field beyond its limits; kResourceExhausted.
  base::Result<AcceptedJob> accept(const JobSubmission& submission) CUZK_EXCLUDES(mutex_);

  // Changes of state (may_follow in journal_record.h); other ones fail with kMismatch, and so does
  // a call for an attempt that is over, so that a worker that comes late changes nothing.
  base::Result<JobRecord> start(std::string_view request_id) CUZK_EXCLUDES(mutex_);
  base::Status requeue(std::string_view request_id, std::uint32_t attempt,
                       Requeue reason = Requeue::kStopped) CUZK_EXCLUDES(mutex_);
  // Drops the partitions' proofs, which the result stands for. Again with the same result: ok.
  base::Status complete(std::string_view request_id, std::uint32_t attempt, base::ByteSpan result)
      CUZK_EXCLUDES(mutex_);
  base::Status fail(std::string_view request_id, std::uint32_t attempt, base::Error failure)
      CUZK_EXCLUDES(mutex_);
  // Returns the state after the call: kCancelled, or the final state that the job already had.
  base::Result<JobState> cancel(std::string_view request_id) CUZK_EXCLUDES(mutex_);

  // Takes back a job that could not be begun: one that never ran is gone as if never accepted, one
  // that was accepted again fails. Error kMismatch as above, and unless the job is queued.
  base::Status withdraw(std::string_view request_id, std::uint32_t attempt, base::Error failure)
      CUZK_EXCLUDES(mutex_);

  // Keeps the proof of one partition of a running job. The first one of a partition stays. Errors:
  // kMismatch as above; kInvalidArgument for a partition that the job has not, or a proof above
  // kPartitionProofBytesMax.
  base::Result<PartitionOutcome> record_partition(std::string_view request_id,
                                                  std::uint32_t attempt, std::uint32_t partition,
                                                  base::ByteSpan proof) CUZK_EXCLUDES(mutex_);
  // For proofs that turned out wrong. Errors: kMismatch for a job that is final.
  base::Status forget_partitions(std::string_view request_id, std::uint32_t attempt)
      CUZK_EXCLUDES(mutex_);

  // Makes the changes in order, with one sync where that goes well. What came of each, as its
  // function says.
  std::vector<base::Status> apply(std::span<const JournalChange> changes) CUZK_EXCLUDES(mutex_);

  base::Result<JobRecord> find(std::string_view request_id) CUZK_EXCLUDES(mutex_);
  // Checked against its digest; damage fails the job. Error kNotFound also for a final job.
  base::Result<base::Bytes> input(std::string_view request_id) CUZK_EXCLUDES(mutex_);
  // Of a completed job, likewise checked. Errors: the job's own failure, kCancelled, kUnavailable
  // while it is queued or running.
  base::Result<base::Bytes> result(std::string_view request_id) CUZK_EXCLUDES(mutex_);
  base::Result<std::vector<PartitionProof>> partitions(std::string_view request_id)
      CUZK_EXCLUDES(mutex_);

  // In order of arrival.
  base::Result<std::vector<JobRecord>> list(const JobQuery& query) CUZK_EXCLUDES(mutex_);
  base::Result<std::vector<UnfinishedJob>> unfinished() CUZK_EXCLUDES(mutex_);
  // Removes final jobs beyond the retention, in batches between which other calls are served, and
  // gives some of the free room back to the file system. Call now and then.
  base::Result<PruneReport> prune(const Retention& retention) CUZK_EXCLUDES(mutex_);
  base::Result<JournalStatistics> statistics() CUZK_EXCLUDES(mutex_);

 private:
  // What opening is made of: the lock is taken before anything in the folder is looked at.
  Journal(JournalOptions options, internal::FolderLock lock);
  // Opens, brings to this version and checks all of it.
  base::Result<internal::Database> open_database(std::int64_t now_ms) const;
  // Looks at the files without SQLite, opens or rebuilds, and queues again what ran.
  base::Status open_store() CUZK_REQUIRES(mutex_);
  // Notes which files SQLite has open.
  base::Status remember_files(const internal::JournalPaths& paths);
  // Runs a change; on a full disk once more, with the ballast's room.
  template <class Change, class Outcome = std::invoke_result_t<Change, internal::Store&>>
  Outcome with_reserve(Change change) CUZK_REQUIRES(mutex_);
  // Runs a change of an accepted job together with those of other threads, and with_reserve().
  template <class Change, class Outcome = std::invoke_result_t<Change, internal::Store&>>
  Outcome commit(Change change) CUZK_EXCLUDES(mutex_);
  // Brings changes through one commit, with those of other threads; each outcome is kept by its
  // change.
  void run_together(std::span<internal::PendingChange> own) CUZK_EXCLUDES(mutex_);
  // Each in a transaction of its own; for those that came back from a group.
  void run_alone(const std::vector<internal::PendingChange*>& changes) CUZK_REQUIRES(mutex_);
  // Gives up the ballast and empties the log. Whether it is worth trying again.
  bool make_room() CUZK_REQUIRES(mutex_);
  // One acceptance inside a group. Takes the ballast again first: without it a new job would use
  // the room in which running ones record their results.
  base::Result<AcceptedJob> accept_now(internal::Store& store, const JobSubmission& submission,
                                       const hash::Digest& digest) CUZK_REQUIRES(mutex_);
  // One change of apply(), with the limits that its own function checks.
  base::Status apply_one(internal::Store& store, const JournalChange& change) const;

  const JournalOptions options_;
  const std::unique_ptr<internal::FolderLock> lock_;
  OpenReport report_;  // constant once open() returned, and so is what was opened
  std::vector<std::pair<std::filesystem::path, internal::FileIdentity>> opened_;
  mutable base::Mutex mutex_;
  std::unique_ptr<internal::Store> store_ CUZK_PT_GUARDED_BY(mutex_);
  std::unique_ptr<internal::Ballast> ballast_ CUZK_PT_GUARDED_BY(mutex_);
  const std::unique_ptr<internal::CommitQueue> commits_;
  JournalStatistics counts_ CUZK_GUARDED_BY(mutex_);  // those since opening
};

}  // namespace cuzk::engine
