// Sources are copies, so that SQLite may recover and we may patch them.
//
// Order of steps, each of which may be interrupted: copy the sources, collect the latest record of
// each job, write everything into a new database, make that durable, rename it to say that it is
// whole, set the damaged files aside, rename it into place. A start that finds the whole one goes
// on there (adopt_rebuilt); one that does not begins again.
#include "engine/journal_rebuild.h"

#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/journal_database.h"
#include "engine/journal_rows.h"
#include "engine/journal_schema.h"
#include "hash/sha256.h"

namespace cuzk::engine::internal {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
namespace fs = std::filesystem;

// After an unreadable row the next ids are tried one by one, then in growing steps.
// A damaged page hides a run of rows, and ids are not dense, so neither step alone would do.
constexpr int kSingleSteps = 512;
// More jobs than any journal takes; it ends the search behind the last readable row.
constexpr std::int64_t kIdMax = std::int64_t{1} << 48;
constexpr std::size_t kHeaderBytesOfDatabase = 100;

Error system_failure(const fs::path& path, const char* action, const std::error_code& error) {
  return file_error(path, action, error.value());
}

// A file that is not there is copied as an empty one.
Status copy_whole(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return base::write_file(to, base::ByteSpan());
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) return system_failure(from, "copy", error);
  return base::ok_status();
}

fs::path log_of(const fs::path& database) { return database.string() + "-wal"; }

void remove_database(const fs::path& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-journal", "-shm"}) {
    fs::remove(path.string() + suffix, ignored);
  }
}

// All of the bytes, however often the kernel takes less.
Status write_at(const fs::path& path, int descriptor, base::ByteSpan bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error(path, "write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return base::ok_status();
}

// Writes every frame of the log into the copy of the database.
Status apply_log(const fs::path& path, base::ByteSpan log, const LogScan& scan) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return file_error(path, "open", errno);
  const auto apply = [&]() -> Status {
    std::uint64_t pages = 0;
    for (const LogFrame& frame : scan.frames) {
      if (frame.commit_pages != 0) pages = frame.commit_pages;
    }
    for (const LogFrame& frame : scan.frames) {
      // Later frames overwrite earlier ones of the same page, as in SQLite.
      if (frame.page == 0 || frame.page > pages) continue;  // a damaged or a dropped page
      const std::uint64_t offset = (std::uint64_t{frame.page} - 1) * scan.page_bytes;
      CUZK_TRY_STATUS(
          write_at(path, descriptor, log.subspan(frame.offset, scan.page_bytes), offset));
    }
    return base::ok_status();
  };
  const Status applied = apply();
  ::close(descriptor);
  return applied;
}

// Puts the first page of an empty journal over that of `path`: the page holds the file's header and
// the roots of the tables, which are the same in every journal of a version.
Status patch_first_page(const fs::path& path, const fs::path& model) {
  CUZK_TRY(const auto file, base::MappedFile::open(model));
  base::ByteSpan page = file->bytes();
  if (page.size() < kHeaderBytesOfDatabase) return base::ok_status();
  std::size_t page_bytes = std::size_t{page[16]} << 8 | page[17];
  if (page_bytes == 1) page_bytes = 65536;
  if (page.size() < page_bytes) return base::ok_status();
  base::Bytes patched(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(page_bytes));
  ++patched[24];  // unlike offset 92: SQLite then takes the file's size for its page count
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return file_error(path, "open", errno);
  const Status written = write_at(path, descriptor, patched, 0);
  ::close(descriptor);
  return written;
}

// Reads all rows of a table that can be read. `sql` selects them with id >= ? by id, id first.
// `take` says whether the row was whole. Returns the number of places that were not.
template <class Take>
std::uint64_t walk(Database& source, const std::string& sql, Take take) {
  std::uint64_t damaged = 0;
  int failures = 0;
  std::int64_t next = 1;
  while (next < kIdMax) {
    auto rows = source.prepare(sql);
    if (!rows.ok()) return damaged + 1;
    rows->bind(next);
    // A damaged page fails the statement; a new one begins behind it.
    auto step = rows->step();
    for (; step.ok() && *step; step = rows->step()) {
      next = rows->integer(0) + 1;
      failures = 0;
      if (!take(*rows)) ++damaged;
    }
    if (step.ok()) return damaged;
    if (failures == 0) ++damaged;
    ++failures;
    next += failures <= kSingleSteps ? 1 : std::int64_t{1} << std::min(failures - kSingleSteps, 40);
  }
  return damaged;
}

// One rebuilding. jobs_ is what the new journal will hold, by number, each the latest whole record
// of all sources; wanted_inputs_ and wanted_results_ are the digests that it still needs and shrink
// as sources have them. What is left in them at the end is lost, and the jobs that need it fail.
class Rebuilder {
 public:
  Rebuilder(const JournalPaths& paths, const LogScan& log, std::int64_t now_ms, OpenReport& report)
      : paths_(paths), log_(log), now_ms_(now_ms), report_(report) {}

  Status run() {
    CUZK_TRY_STATUS(create_target());
    CUZK_TRY_STATUS(collect_sources());
    for (Database& source : sources_) read_jobs(source);
    drop_replaced_jobs();
    CUZK_TRY(auto transaction, Transaction::begin(*target_));
    for (Database& source : sources_) CUZK_TRY_STATUS(read_content(source));
    CUZK_TRY_STATUS(write_jobs());
    CUZK_TRY_STATUS(transaction.commit());
    sources_.clear();
    target_.reset();
    return publish();
  }

 private:
  Status create_target() {
    remove_database(paths_.rebuilding());
    CUZK_TRY(auto target, Database::open(paths_.rebuilding(), nullptr));
    // No write-ahead log: one file to sync and to rename.
    CUZK_TRY_STATUS(target.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = FULL"));
    CUZK_TRY_STATUS(migrate(target, migrations(), now_ms_));
    target_.emplace(std::move(target));
    return base::ok_status();
  }

  // Best first, so that of equal records that of the fullest state is taken.
  Status collect_sources() {
    std::error_code error;
    const bool has_log = fs::exists(paths_.log(), error) && !log_.frames.empty();
    fs::create_directory(paths_.salvage(), error);
    if (error) return system_failure(paths_.salvage(), "make", error);
    if (has_log) {
      CUZK_TRY(const auto log, base::MappedFile::open(paths_.log()));
      const fs::path all = paths_.salvage() / "all_frames.db";
      CUZK_TRY_STATUS(copy_whole(paths_.database(), all));
      CUZK_TRY_STATUS(apply_log(all, log->bytes(), log_));
      CUZK_TRY_STATUS(add_source(all));
      // SQLite's own recovery of this copy keeps the transactions before the damage.
      const fs::path prefix = paths_.salvage() / "log_prefix.db";
      CUZK_TRY_STATUS(copy_whole(paths_.database(), prefix));
      CUZK_TRY_STATUS(copy_whole(paths_.log(), log_of(prefix)));
      CUZK_TRY_STATUS(add_source(prefix));
    }
    const fs::path plain = paths_.salvage() / "without_log.db";
    CUZK_TRY_STATUS(copy_whole(paths_.database(), plain));
    return add_source(plain);
  }

  static Result<Database> open_readable(const fs::path& path) {
    CUZK_TRY(auto source, Database::open(path, nullptr));
    CUZK_TRY_STATUS(source.execute("PRAGMA locking_mode = EXCLUSIVE"));
    for (const char* table : {"job", "input", "partition", "result"}) {
      CUZK_TRY([[maybe_unused]] auto rows,
               source.prepare(fmt::format("SELECT * FROM {} LIMIT 0", table)));
    }
    return source;
  }

  Status add_source(const fs::path& path) {
    auto source = open_readable(path);
    // With its log SQLite takes the first page from there; without, ours may be better than none.
    if (!source.ok() && !fs::exists(log_of(path))) {
      CUZK_TRY_STATUS(patch_first_page(path, paths_.rebuilding()));
      source = open_readable(path);
    }
    if (!source.ok()) {
      if (source.error().kind == ErrorKind::kResourceExhausted) return source.error();
      report_.losses.push_back(fmt::format("{} could not be read: {}", path.filename().string(),
                                           source.error().message));
      return base::ok_status();
    }
    const auto version = source->integer("SELECT max(version) FROM migration");
    if (version.ok() && *version > migrations().back().version) {
      return Error{ErrorKind::kUnsupported,
                   fmt::format("the journal is damaged and has schema version {}, newer than "
                               "version {} of this build; recover it with the newer cuzk",
                               *version, migrations().back().version)};
    }
    sources_.push_back(std::move(source).value());
    return base::ok_status();
  }

  // Adds the records of one source, or replaces older ones.
  void read_jobs(Database& source) {
    const std::string sql =
        fmt::format("SELECT {} FROM job WHERE id >= ? ORDER BY id", kJobColumns);
    report_.damaged_rows += walk(source, sql, [this](const Statement& row) {
      auto job = read_job(row);
      if (!job.ok()) return false;
      // The seal says that a record is whole, the revision which of two is later.
      const auto known = jobs_.find(job->sequence);
      if (known == jobs_.end()) {
        jobs_.emplace(job->sequence, std::move(job).value());
      } else if (known->second.revision < job->revision) {
        known->second = std::move(job).value();
      }
      return true;
    });
  }

  // An id that was pruned and came again may be twice in sources of different times.
  void drop_replaced_jobs() {
    std::map<std::string, std::uint64_t> latest;
    // jobs_ is in order of sequences, so the last one written here is the latest.
    for (const auto& [sequence, job] : jobs_) latest[job.request_id] = sequence;
    std::erase_if(
        jobs_, [&](const auto& entry) { return latest[entry.second.request_id] != entry.first; });
    for (const auto& [sequence, job] : jobs_) {
      if (!is_final(job.state)) wanted_inputs_.insert(job.input_digest);
      if (job.state == JobState::kCompleted) wanted_results_.emplace(sequence, job.result_digest);
    }
  }

  // Takes from one source the bytes that are wanted and not yet there. A failure to write ends the
  // rebuilding, a failure to read does not.
  Status read_content(Database& source) {
    Status written = base::ok_status();
    report_.damaged_rows += walk(source, "SELECT id, content FROM input WHERE id >= ? ORDER BY id",
                                 [&](const Statement& row) {
                                   const base::ByteSpan content = row.blob(1);
                                   const hash::Digest digest = hash::sha256(content);
                                   if (written.ok() && wanted_inputs_.erase(digest) == 1) {
                                     written = write_input(digest, content);
                                   }
                                   return true;  // a job that misses its input says so
                                 });
    CUZK_TRY_STATUS(written);
    report_.damaged_rows +=
        walk(source, "SELECT job, content FROM result WHERE job >= ? ORDER BY job",
             [&](const Statement& row) {
               const auto sequence = static_cast<std::uint64_t>(row.integer(0));
               const auto wanted = wanted_results_.find(sequence);
               if (!written.ok() || wanted == wanted_results_.end()) return true;
               const base::ByteSpan content = row.blob(1);
               if (hash::sha256(content) != wanted->second) return false;
               wanted_results_.erase(wanted);
               written = write_result(sequence, content);
               return true;
             });
    CUZK_TRY_STATUS(written);
    const std::string sql =
        fmt::format("SELECT {} FROM partition WHERE id >= ? ORDER BY id", kPartitionColumns);
    report_.damaged_rows += walk(source, sql, [&](const Statement& row) {
      const auto partition = read_partition(row);
      if (partition.ok() && written.ok()) written = take_partition(*partition);
      return partition.ok();
    });
    return written;
  }

  Status write_input(const hash::Digest& digest, base::ByteSpan content) {
    CUZK_TRY(auto insert, target_->prepare("INSERT INTO input(digest, content) VALUES(?,?)"));
    return insert.bind(base::ByteSpan(digest)).bind(content).run();
  }

  Status write_result(std::uint64_t sequence, base::ByteSpan content) {
    CUZK_ASSERT(target_.has_value());
    CUZK_TRY(auto insert, target_->prepare("INSERT INTO result(job, content) VALUES(?,?)"));
    return insert.bind(static_cast<std::int64_t>(sequence)).bind(content).run();
  }

  // Keeps a proof of a job that needs it, unless an earlier source had one for the same partition.
  Status take_partition(const PartitionRow& row) {
    const auto job = jobs_.find(row.job);
    if (job == jobs_.end() || job->second.state == JobState::kCompleted) return base::ok_status();
    if (!partitions_.emplace(row.job, row.proof.partition).second) return base::ok_status();
    // The first source that has it wins; a completed job needs none.
    proof_bytes_[row.job] += row.proof.proof.size();
    return write_partition(*target_, row.job, row.proof.partition, row.proof.attempt,
                           row.proof.proof);
  }

  // Last, when it is known what was found: a job whose bytes are lost is written as a failed one.
  Status write_jobs() {
    for (auto& [sequence, job] : jobs_) {
      CUZK_ASSERT(target_.has_value() && job.sequence == sequence);
      const bool lost_input = !is_final(job.state) && wanted_inputs_.count(job.input_digest) > 0;
      const bool lost_result = wanted_results_.count(sequence) > 0;
      if (lost_input || lost_result) {
        job.state = JobState::kFailed;
        job.changed_ms = now_ms_;
        job.failure = Error{ErrorKind::kMalformed,
                            fmt::format("the {} of job '{}' was lost when the journal was damaged; "
                                        "submit it again",
                                        lost_input ? "input" : "result", job.request_id)};
        job.result_bytes = 0;
        job.result_digest = {};
        ++job.revision;
        ++report_.failed_jobs;
        report_.losses.push_back(job.failure->message);
      }
      CUZK_TRY_STATUS(write_job(*target_, kInsertJob, job, proof_bytes_[sequence]));
    }
    report_.kept_jobs = jobs_.size();
    report_.losses.push_back(fmt::format(
        "the journal was damaged and rebuilt: {} jobs kept, {} of them as failed; {} unreadable or "
        "damaged places were met, and jobs or proofs that were only there are lost",
        jobs_.size(), report_.failed_jobs, report_.damaged_rows));
    return base::ok_status();
  }

  // The new name says that the file is whole: what bears it is put in place, now or by a later
  // start.
  Status publish() {
    std::error_code error;
    fs::rename(paths_.rebuilding(), paths_.rebuilt(), error);
    if (error) return system_failure(paths_.rebuilding(), "rename", error);
    fs::remove_all(paths_.salvage(), error);
    sync_folder(paths_.folder);
    return base::ok_status();
  }

  const JournalPaths& paths_;
  const LogScan& log_;
  std::int64_t now_ms_;
  OpenReport& report_;
  std::optional<Database> target_;
  std::vector<Database> sources_;
  std::map<std::uint64_t, JobRecord> jobs_;  // by sequence
  std::map<std::uint64_t, std::uint64_t> proof_bytes_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> partitions_;
  std::set<hash::Digest> wanted_inputs_;  // not yet found
  std::map<std::uint64_t, hash::Digest> wanted_results_;
};

}  // namespace

void remove_leftovers(const JournalPaths& paths) {
  std::error_code ignored;
  remove_database(paths.rebuilding());
  fs::remove_all(paths.salvage(), ignored);
}

// Leftovers go on success and on failure: a start that has to try again has the damaged files as
// they were.
Status rebuild(const JournalPaths& paths, const LogScan& log, std::int64_t now_ms,
               OpenReport& report) {
  const Status status = Rebuilder(paths, log, now_ms, report).run();
  remove_leftovers(paths);
  return status;
}

Status adopt_rebuilt(const JournalPaths& paths, std::int64_t now_ms, OpenReport& report) {
  std::error_code error;
  if (!fs::exists(paths.rebuilt(), error)) return base::ok_status();
  // Never over files that were set aside before.
  fs::path aside;
  for (int i = 0; aside.empty() || fs::exists(aside, error); ++i) {
    aside = paths.folder / fmt::format("journal.damaged-{}-{}.db", now_ms, i);
  }
  // Whatever is still there: a call that was interrupted goes on with the rest.
  for (const char* suffix : {"-wal", "-journal", "-shm", ""}) {
    const fs::path from = paths.database().string() + suffix;
    if (!fs::exists(from, error)) continue;
    fs::rename(from, aside.string() + suffix, error);
    if (error) return system_failure(from, "rename", error);
  }
  fs::rename(paths.rebuilt(), paths.database(), error);
  if (error) return system_failure(paths.rebuilt(), "rename", error);
  sync_folder(paths.folder);
  report.rebuilt = true;
  report.damaged_files = aside.string();
  return base::ok_status();
}

}  // namespace cuzk::engine::internal
