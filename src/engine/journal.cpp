// The thread-safe face: limits, digests, the lock, the ballast; and how a journal is opened.
//
// Opening decides between three cases: files that are whole, files that are damaged (rebuilt from
// what can be read) and files that are something else (left alone, with an error). What SQLite does
// not notice by itself is looked for before it is let near the files: a header it would open for
// reading only, and transactions of the log behind damage, which it drops without a word.
#include "engine/journal.h"

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "engine/guarded.h"
#include "engine/journal_database.h"
#include "engine/journal_files.h"
#include "engine/journal_group.h"
#include "engine/journal_log.h"
#include "engine/journal_rebuild.h"
#include "engine/journal_schema.h"
#include "engine/journal_store.h"
#include "hash/sha256.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::MutexLock;
using base::Result;
using base::Status;

// SQLite keeps values to 10^9 bytes; the rest is for their row.
constexpr std::uint64_t kInputBytesLimit = 999'000'000;
constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16);
constexpr std::size_t kMagicBytesMin = 12;  // that must fit for damage to be likelier than a mix-up
static_assert(kDatabaseMagic.size() == 16 && kMagicBytesMin <= kDatabaseMagic.size());
static_assert(kJobResultBytesMax <= kInputBytesLimit, "a result is one value too");

// Names are shown in logs and pages, so nothing in them may move a terminal's cursor.
Status check_name(std::string_view name, std::size_t bytes_max, std::string_view what) {
  if (name.empty() || name.size() > bytes_max) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{} has {} bytes, expected 1 to {}", what, name.size(), bytes_max)};
  }
  const bool has_control = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!has_control) return base::ok_status();
  return Error{ErrorKind::kInvalidArgument, fmt::format("{} has control characters", what)};
}

Status check_size(std::size_t bytes, std::uint64_t bytes_max, std::string_view what) {
  if (bytes <= bytes_max) return base::ok_status();
  return Error{ErrorKind::kInvalidArgument,
               fmt::format("{} has {} bytes, more than {}", what, bytes, bytes_max)};
}

// Everything about a submission that does not depend on what the journal holds.
Status check_submission(const JobSubmission& submission, std::uint64_t input_bytes_max) {
  CUZK_TRY_STATUS(check_name(submission.request_id, kRequestIdBytesMax, "the request id"));
  CUZK_TRY_STATUS(check_name(submission.kind, kJobKindBytesMax, "the job kind"));
  if (submission.partition_count == 0 || submission.partition_count > kPartitionCountMax) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("job '{}' has {} partitions, expected 1 to {}", submission.request_id,
                             submission.partition_count, kPartitionCountMax)};
  }
  return check_size(submission.input.size(), input_bytes_max, "the input");
}

// Refuses to touch a file that is not even nearly a database: a wrong path, not damage. A page of
// zeros is what some file systems leave after a loss of power.
Status expect_database(base::ByteSpan file, const std::string& name) {
  if (file.empty()) return base::ok_status();
  std::size_t equal = 0, zeros = 0;
  for (std::size_t i = 0; i < kDatabaseMagic.size() && i < file.size(); ++i) {
    equal += file[i] == static_cast<std::uint8_t>(kDatabaseMagic[i]) ? 1 : 0;
    zeros += file[i] == 0 ? 1 : 0;
  }
  if (equal >= kMagicBytesMin || zeros == kDatabaseMagic.size()) return base::ok_status();
  return Error{ErrorKind::kMalformed,
               fmt::format("{}: the file is no journal and no database; move it away or name "
                           "another folder",
                           name)};
}

// SQLite opens a file with an unknown format version for reading only, and says no more. The other
// fixed fields of the header stand beside it (fileformat2.html, section 1.3).
bool has_whole_header(base::ByteSpan file) {
  constexpr std::size_t kHeaderBytes = 100;
  const auto is_version = [](std::uint8_t byte) { return byte == 1 || byte == 2; };
  return file.size() >= kHeaderBytes && is_version(file[18]) && is_version(file[19]) &&
         file[21] == 64 && file[22] == 32 && file[23] == 32;
}

// Why a change was not made, for the thread that wanted it.
Error error_of(const std::exception_ptr& thrown) {
  return guarded([&]() -> Status { std::rethrow_exception(thrown); }).error();
}

// An existing path's bytes, or nothing.
Result<std::shared_ptr<const base::MappedFile>> map_if_there(const std::filesystem::path& path) {
  auto file = base::MappedFile::open(path);
  if (!file.ok() && file.error().kind == ErrorKind::kNotFound) {
    return base::MappedFile::of_bytes({}, path.string());
  }
  return file;
}

}  // namespace

Journal::Journal(JournalOptions options, internal::FolderLock lock)
    : options_(std::move(options)),
      lock_(std::make_unique<internal::FolderLock>(std::move(lock))),
      commits_(std::make_unique<internal::CommitQueue>()) {}

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::open(JournalOptions options) {
  CUZK_ASSERT(options.now_ms != nullptr);
  // A limit that could not be kept would be found out by the first job that reaches it.
  if (options.input_bytes_max > kInputBytesLimit) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("the journal keeps inputs to {} bytes, not to {}", kInputBytesLimit,
                             options.input_bytes_max)};
  }
  CUZK_TRY(auto lock, internal::FolderLock::take(internal::JournalPaths(options.folder)));
  std::unique_ptr<Journal> journal(new Journal(std::move(options), std::move(lock)));
  const MutexLock hold(journal->mutex_);
  CUZK_TRY_STATUS(journal->open_store());
  return journal;
}

Result<internal::Database> Journal::open_database(std::int64_t now_ms) const {
  CUZK_TRY(auto database,
           internal::Database::open(internal::JournalPaths(options_.folder).database(),
                                    options_.file_layer));
  // Before the first write: a file of a newer version or of another program stays as it is.
  CUZK_TRY([[maybe_unused]] const std::int64_t version,
           internal::readable_version(database, internal::migrations()));
  CUZK_TRY_STATUS(internal::configure(database, options_.size_bytes_max));
  CUZK_TRY_STATUS(internal::migrate(database, internal::migrations(), now_ms));
  CUZK_TRY_STATUS(internal::check(database));
  return database;
}

template <class Change, class Outcome>
Outcome Journal::with_reserve(Change change) {
  CUZK_ASSERT(store_ != nullptr);
  Outcome outcome = change(*store_);
  if (outcome.ok() || outcome.error().kind != ErrorKind::kResourceExhausted) return outcome;
  return make_room() ? change(*store_) : outcome;
}

// The log may hold many images of few pages; it is emptied into the room of the ballast.
bool Journal::make_room() {
  CUZK_ASSERT(ballast_ != nullptr && store_ != nullptr);
  ballast_->release();
  return store_->empty_log().ok();
}

// First the files as bytes, for what SQLite would not say of them; then SQLite; then, where either
// found damage, the rebuilding and SQLite once more. A second failure is the caller's.
Status Journal::open_store() {
  const internal::JournalPaths paths(options_.folder);
  const std::int64_t now_ms = options_.now_ms();
  // A rebuilding that was interrupted is done anew; one that was whole only has to be put in place.
  internal::remove_leftovers(paths);
  CUZK_TRY_STATUS(internal::adopt_rebuilt(paths, now_ms, report_));
  // The maps are closed before SQLite opens the files.
  internal::LogScan log;
  Result<internal::Database> database = Error{ErrorKind::kMalformed, "the header is damaged"};
  bool may_open = true;
  {
    CUZK_TRY(const auto file, map_if_there(paths.database()));
    CUZK_TRY_STATUS(expect_database(file->bytes(), file->name()));
    report_.created = file->size_bytes() == 0;
    may_open = report_.created || has_whole_header(file->bytes());
    CUZK_TRY(const auto log_file, map_if_there(paths.log()));
    log = internal::scan_log(log_file->bytes());
    report_.unfinished_log_bytes = log.unfinished_bytes;
  }
  // SQLite would open this log and keep what stands before the damage.
  if (log.lost_commits > 0) {
    may_open = false;
    database = Error{ErrorKind::kMalformed,
                     fmt::format("the write-ahead log is damaged: {} of its transactions were "
                                 "behind the damage",
                                 log.lost_commits)};
  }
  if (report_.created && !log.frames.empty()) {
    may_open = false;
    database = Error{ErrorKind::kMalformed, "the database is gone and its write-ahead log is not"};
  }
  // Opening checks everything; damage that is found here is met in the same way.
  if (may_open) database = open_database(now_ms);
  if (!database.ok() && database.error().kind == ErrorKind::kMalformed) {
    report_.losses.push_back(database.error().message);
    CUZK_TRY_STATUS(internal::rebuild(paths, log, now_ms, report_));
    CUZK_TRY_STATUS(internal::adopt_rebuilt(paths, now_ms, report_));
    database = open_database(now_ms);
  }
  if (!database.ok()) return std::move(database).error().within("cannot open the journal");
  store_ = std::make_unique<internal::Store>(std::move(database).value(), options_.size_bytes_max,
                                             options_.reserve_bytes);
  // A new file's name must be as durable as what is written into it.
  internal::sync_folder(paths.folder);
  ballast_ = std::make_unique<internal::Ballast>(paths.ballast(), options_.reserve_bytes);
  (void)ballast_->hold();  // a full disk is no reason not to finish what is there
  // The process that ran them is gone, for its lock is ours.
  CUZK_TRY(report_.requeued_count,
           with_reserve([&](auto& store) { return store.requeue_all(now_ms); }));
  return remember_files(paths);
}

// While SQLite has them open no other files can have these numbers.
Status Journal::remember_files(const internal::JournalPaths& paths) {
  CUZK_TRY(const internal::FileIdentity database, internal::identity_of(paths.database()));
  opened_.emplace_back(paths.database(), database);
  // What is committed stands in the log until it is emptied, so that one must not be lost either.
  // There is none where the file system is not good for one.
  const auto log = internal::identity_of(paths.log());
  if (log.ok()) opened_.emplace_back(paths.log(), *log);
  return base::ok_status();
}

Status Journal::in_place() const {
  for (const auto& [path, opened] : opened_) {
    const auto found = internal::identity_of(path);
    if (found.ok() && *found == opened) continue;
    // One that cannot be looked at is not known to be gone.
    if (!found.ok() && found.error().kind != ErrorKind::kNotFound) continue;
    return Error{ErrorKind::kUnavailable,
                 fmt::format("{} was {} under the running journal, so a new job would be lost at "
                             "the next start; put it back or start anew",
                             path.string(), found.ok() ? "replaced" : "removed")};
  }
  return base::ok_status();
}

template <class Change, class Outcome>
Outcome Journal::commit(Change change) {
  Outcome outcome = Error{ErrorKind::kInternal, "the change was not made"};
  internal::PendingChange pending{[&](internal::Store& store) {
                                    outcome = change(store);
                                    return outcome.ok() ||
                                           outcome.error().kind != ErrorKind::kResourceExhausted;
                                  },
                                  true};
  // The change is on this stack, which stands still until it went through.
  run_together({&pending, 1});
  if (pending.thrown != nullptr) return error_of(pending.thrown);
  return outcome;
}

// Lock order: the queue's is not held while the journal's is, nor the other way round.
void Journal::run_together(std::span<internal::PendingChange> own) {
  commits_->run(own, [this](std::vector<internal::PendingChange*>& changes) {
    const MutexLock hold(mutex_);
    internal::run_grouped(*store_, changes);
    run_alone(changes);
  });
}

void Journal::run_alone(const std::vector<internal::PendingChange*>& changes) {
  for (internal::PendingChange* pending : changes) {
    try {
      if (pending->run(*store_) || !pending->may_use_reserve) continue;
      if (make_room()) pending->run(*store_);
    } catch (...) {
      // Its transaction went back on the way out; the changes of others go on.
      pending->thrown = std::current_exception();
    }
  }
}

Result<AcceptedJob> Journal::accept(const JobSubmission& submission) {
  Status valid = check_submission(submission, options_.input_bytes_max);
  // Digest and limits before the queue, so that no other change waits for them.
  const hash::Digest digest = valid.ok() ? hash::sha256(submission.input) : hash::Digest{};
  Result<AcceptedJob> outcome = Error{ErrorKind::kInternal, "the job was not taken"};
  if (valid.ok()) {
    internal::PendingChange pending{[&](internal::Store& store) CUZK_REQUIRES(mutex_) {
                                      outcome = accept_now(store, submission, digest);
                                      return true;  // a new job may not use the reserve
                                    },
                                    false};
    run_together({&pending, 1});
    if (pending.thrown != nullptr) outcome = error_of(pending.thrown);
  } else {
    outcome = std::move(valid).error();
  }
  const MutexLock hold(mutex_);
  if (!outcome.ok()) {
    ++counts_.refused_count;
  } else {
    switch (outcome->acceptance) {
      case Acceptance::kNew: ++counts_.accepted_count; break;
      case Acceptance::kJoined: ++counts_.joined_count; break;
      case Acceptance::kRetried: ++counts_.retried_count; break;
    }
  }
  return outcome;
}

Result<AcceptedJob> Journal::accept_now(internal::Store& store, const JobSubmission& submission,
                                        const hash::Digest& digest) {
  CUZK_TRY_STATUS(ballast_->hold());
  return store.accept(submission, digest, options_.now_ms());
}

Result<JobRecord> Journal::start(std::string_view request_id) {
  return commit([&](auto& store) { return store.start(request_id, options_.now_ms()); });
}

Status Journal::requeue(std::string_view request_id, std::uint32_t attempt, Requeue reason) {
  return commit(
      [&](auto& store) { return store.requeue(request_id, attempt, reason, options_.now_ms()); });
}

Status Journal::complete(std::string_view request_id, std::uint32_t attempt,
                         base::ByteSpan result) {
  CUZK_TRY_STATUS(check_size(result.size(), kJobResultBytesMax, "the result"));
  return commit(
      [&](auto& store) { return store.complete(request_id, attempt, result, options_.now_ms()); });
}

Status Journal::fail(std::string_view request_id, std::uint32_t attempt, Error failure) {
  if (failure.message.size() > kFailureBytesMax) failure.message.resize(kFailureBytesMax);
  return commit(
      [&](auto& store) { return store.fail(request_id, attempt, failure, options_.now_ms()); });
}

Result<JobState> Journal::cancel(std::string_view request_id) {
  return commit([&](auto& store) { return store.cancel(request_id, options_.now_ms()); });
}

Status Journal::withdraw(std::string_view request_id, std::uint32_t attempt, Error failure) {
  if (failure.message.size() > kFailureBytesMax) failure.message.resize(kFailureBytesMax);
  return commit(
      [&](auto& store) { return store.withdraw(request_id, attempt, failure, options_.now_ms()); });
}

Result<PartitionOutcome> Journal::record_partition(std::string_view request_id,
                                                   std::uint32_t attempt, std::uint32_t partition,
                                                   base::ByteSpan proof) {
  CUZK_TRY_STATUS(check_size(proof.size(), kPartitionProofBytesMax, "the partition's proof"));
  return commit(
      [&](auto& store) { return store.record_partition(request_id, attempt, partition, proof); });
}

Status Journal::forget_partitions(std::string_view request_id, std::uint32_t attempt) {
  return commit([&](auto& store) { return store.forget_partitions(request_id, attempt); });
}

Status Journal::apply_one(internal::Store& store, const JournalChange& change) const {
  const std::string& id = change.request_id;
  const std::int64_t now_ms = options_.now_ms();
  switch (change.kind) {
    case JournalChange::Kind::kStart: {
      CUZK_TRY([[maybe_unused]] const auto job, store.start(id, now_ms));
      return base::ok_status();
    }
    case JournalChange::Kind::kRequeue:
      return store.requeue(id, change.attempt, change.reason, now_ms);
    case JournalChange::Kind::kPartition: {
      CUZK_TRY_STATUS(
          check_size(change.bytes.size(), kPartitionProofBytesMax, "the partition's proof"));
      CUZK_TRY([[maybe_unused]] const auto outcome,
               store.record_partition(id, change.attempt, change.partition, change.bytes));
      return base::ok_status();
    }
    case JournalChange::Kind::kComplete:
      CUZK_TRY_STATUS(check_size(change.bytes.size(), kJobResultBytesMax, "the result"));
      return store.complete(id, change.attempt, change.bytes, now_ms);
    case JournalChange::Kind::kFail: {
      Error failure = change.failure;
      if (failure.message.size() > kFailureBytesMax) failure.message.resize(kFailureBytesMax);
      return store.fail(id, change.attempt, std::move(failure), now_ms);
    }
  }
  return Error{ErrorKind::kInvalidArgument, "no such change of a job"};
}

// All of one call are neighbours in the group, so their order is that of the span.
std::vector<Status> Journal::apply(std::span<const JournalChange> changes) {
  std::vector<Status> outcomes(changes.size(), base::ok_status());
  std::vector<internal::PendingChange> pending;
  pending.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    pending.push_back({[this, &changes, &outcomes, i](internal::Store& store) {
                         outcomes[i] = apply_one(store, changes[i]);
                         return outcomes[i].ok() ||
                                outcomes[i].error().kind != ErrorKind::kResourceExhausted;
                       },
                       true});
  }
  CUZK_ASSERT(pending.size() == changes.size());
  if (!pending.empty()) run_together(pending);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (pending[i].thrown != nullptr) outcomes[i] = error_of(pending[i].thrown);
  }
  return outcomes;
}

Result<JobRecord> Journal::find(std::string_view request_id) {
  const MutexLock hold(mutex_);
  return store_->find(request_id);
}

Result<base::Bytes> Journal::input(std::string_view request_id) {
  const MutexLock hold(mutex_);
  return store_->input(request_id, options_.now_ms());
}

Result<base::Bytes> Journal::result(std::string_view request_id) {
  const MutexLock hold(mutex_);
  return store_->result(request_id, options_.now_ms());
}

Result<std::vector<PartitionProof>> Journal::partitions(std::string_view request_id) {
  const MutexLock hold(mutex_);
  return store_->partitions(request_id);
}

Result<std::vector<JobRecord>> Journal::list(const JobQuery& query) {
  const MutexLock hold(mutex_);
  return store_->list(query);
}

Result<std::vector<UnfinishedJob>> Journal::unfinished() {
  const MutexLock hold(mutex_);
  return store_->unfinished();
}

Result<PruneReport> Journal::prune(const Retention& retention) {
  PruneReport report;
  while (true) {
    // The lock goes between two batches, so nobody waits for a long pruning.
    const MutexLock hold(mutex_);
    CUZK_TRY(const PruneReport batch,
             with_reserve([&](auto& store) { return store.prune(retention, options_.now_ms()); }));
    CUZK_ASSERT(batch.job_count <= internal::kPruneBatchJobs);
    report.job_count += batch.job_count;
    report.freed_bytes += batch.freed_bytes;
    if (batch.job_count < internal::kPruneBatchJobs) break;
  }
  const MutexLock hold(mutex_);
  CUZK_TRY_STATUS(with_reserve([&](auto& store) { return store.give_room_back(); }));
  return report;
}

Result<JournalStatistics> Journal::statistics() {
  const MutexLock hold(mutex_);
  CUZK_TRY(JournalStatistics out, store_->statistics());
  out.accepted_count = counts_.accepted_count;
  out.joined_count = counts_.joined_count;
  out.retried_count = counts_.retried_count;
  out.refused_count = counts_.refused_count;
  return out;
}

}  // namespace cuzk::engine
