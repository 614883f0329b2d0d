// Version 1 of the tables.
//
// The tables are the sources of the rebuilding too, so their first columns and their ids are part
// of what journal_rebuild.cpp relies on. What an index is for stands in journal_query.cpp and
// journal_store.cpp: jobs by state, inputs still needed, ends in order.
#include "engine/journal_schema.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/journal_rows.h"

namespace cuzk::engine::internal {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

// Inputs are apart from jobs, so that jobs with one input share it and so that reading jobs does
// not walk over megabytes. `job.id` is the order of arrival and never reused; `kept_bytes` is what
// a final job counts for in retention. Seals: journal_rows.h.
constexpr const char* kTablesOfVersion1 = R"(
CREATE TABLE job(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  request_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  priority INTEGER NOT NULL,
  deadline_ms INTEGER,
  partition_count INTEGER NOT NULL,
  input_digest BLOB NOT NULL,
  input_bytes INTEGER NOT NULL,
  state INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  start_count INTEGER NOT NULL,
  accepted_ms INTEGER NOT NULL,
  changed_ms INTEGER NOT NULL,
  failure_kind TEXT,
  failure TEXT,
  result_bytes INTEGER NOT NULL,
  result_digest BLOB NOT NULL,
  revision INTEGER NOT NULL,
  kept_bytes INTEGER NOT NULL,
  crash_count INTEGER NOT NULL,
  seal BLOB NOT NULL);
CREATE INDEX job_by_state ON job(state);
CREATE INDEX job_by_input ON job(input_digest) WHERE state < 2;
CREATE INDEX job_by_end ON job(changed_ms, kept_bytes) WHERE state >= 2;
CREATE TABLE input(
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  content BLOB NOT NULL);
CREATE TABLE partition(
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  number INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  proof BLOB NOT NULL,
  seal BLOB NOT NULL,
  UNIQUE(job, number));
CREATE TABLE result(
  job INTEGER PRIMARY KEY,
  content BLOB NOT NULL);
)";

constexpr Migration kMigrations[] = {
    {1, "jobs, inputs, partitions and results", kTablesOfVersion1},
};

constexpr bool are_in_order() {
  std::int64_t version = 0;
  for (const Migration& step : kMigrations) {
    if (step.version != ++version) return false;
  }
  return version > 0;
}
static_assert(are_in_order(), "versions are 1, 2, ... without a gap");

constexpr const char* kMigrationTable =
    "CREATE TABLE IF NOT EXISTS migration("
    "version INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL, description TEXT NOT NULL)";

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Status configure(Database& database, std::uint64_t size_bytes_max) {
  // Exclusive locking keeps the log's index in this process's memory. auto_vacuum is a property of
  // the file and set before its first table; on an older file even setting it again is a write.
  CUZK_TRY_STATUS(database.execute("PRAGMA locking_mode = EXCLUSIVE"));
  CUZK_TRY(const std::int64_t page_count, database.integer("PRAGMA page_count"));
  if (page_count == 0) CUZK_TRY_STATUS(database.execute("PRAGMA auto_vacuum = INCREMENTAL"));
  CUZK_TRY_STATUS(
      database.execute("PRAGMA journal_mode = WAL;"
                       "PRAGMA synchronous = FULL;"
                       "PRAGMA journal_size_limit = 67108864;"
                       // In KiB. Inputs and results are read once, so a larger cache holds nothing
                       // of use: it only grows.
                       "PRAGMA cache_size = -512;"
                       "PRAGMA trusted_schema = OFF;"
                       "PRAGMA cell_size_check = ON"));
  if (size_bytes_max == 0) return base::ok_status();
  CUZK_TRY(const std::int64_t page_bytes, database.integer("PRAGMA page_size"));
  const std::uint64_t pages = size_bytes_max / static_cast<std::uint64_t>(page_bytes);
  // SQLite then answers SQLITE_FULL as on a full disk, which is met in the same way.
  return database.execute(fmt::format("PRAGMA max_page_count = {}", pages));
}

namespace {

// The version of the file, 0 for an empty one. The header's and the table's word must agree: one
// alone may be a flipped bit, and a journal is not to be refused as newer for that.
Result<std::int64_t> version_of(Database& database) {
  CUZK_TRY(const std::int64_t application, database.integer("PRAGMA application_id"));
  CUZK_TRY(const std::int64_t version, database.integer("PRAGMA user_version"));
  CUZK_TRY(const std::int64_t objects, database.integer("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && objects == 0) return std::int64_t{0};
  CUZK_TRY(const std::int64_t has_table,
           database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'migration'"));
  if (has_table == 0 && application != kApplicationId) {
    return Error{ErrorKind::kMismatch,
                 fmt::format("the file is a database of another program (application id {:#x}), "
                             "not a journal of cuzk",
                             application)};
  }
  CUZK_TRY(const std::int64_t noted, has_table == 0
                                         ? Result<std::int64_t>(0)
                                         : database.integer("SELECT max(version) FROM migration"));
  if (application == kApplicationId && noted == version) return version;
  return Error{ErrorKind::kMalformed,
               fmt::format("the journal's header is damaged: application id {:#x}, version {} "
                           "against {} in its table",
                           application, version, noted)};
}

}  // namespace

Result<std::int64_t> readable_version(Database& database, std::span<const Migration> steps) {
  CUZK_ASSERT(!steps.empty());
  CUZK_TRY_STATUS(database.execute("PRAGMA locking_mode = EXCLUSIVE"));
  CUZK_TRY(const std::int64_t version, version_of(database));
  const std::int64_t latest = steps.back().version;
  if (version <= latest) return version;
  return Error{ErrorKind::kUnsupported,
               fmt::format("the journal has schema version {}, newer than version {} of this "
                           "build; use the newer cuzk or another journal folder",
                           version, latest)};
}

Status migrate(Database& database, std::span<const Migration> steps, std::int64_t now_ms) {
  CUZK_TRY(const std::int64_t version, readable_version(database, steps));
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    // A step is whole or not there: table, note and header change together.
    CUZK_TRY(auto transaction, Transaction::begin(database));
    CUZK_TRY_STATUS(database.execute(kMigrationTable));
    CUZK_TRY_STATUS(database.execute(step.sql));
    CUZK_TRY(auto note, database.prepare("INSERT INTO migration VALUES(?,?,?)"));
    CUZK_TRY_STATUS(
        note.bind(step.version).bind(now_ms).bind(std::string_view(step.description)).run());
    CUZK_TRY_STATUS(
        database.execute(fmt::format("PRAGMA application_id = {};"
                                     "PRAGMA user_version = {}",
                                     kApplicationId, step.version)));
    CUZK_TRY_STATUS(transaction.commit());
  }
  return base::ok_status();
}

namespace {

// The text of all tables and indices.
Result<std::string> schema_text(Database& database) {
  CUZK_TRY(auto row, database.prepare("SELECT type, name, tbl_name, coalesce(sql, '') "
                                      "FROM sqlite_schema ORDER BY type, name"));
  std::string text;
  while (true) {
    CUZK_TRY(const bool has_row, row.step());
    if (!has_row) return text;
    for (int column = 0; column < 4; ++column) {
      text += row.text(column);
      text += '\n';
    }
  }
}

template <class Read>
Status check_rows(Database& database, std::string_view sql, Read read) {
  CUZK_TRY(auto row, database.prepare(sql));
  while (true) {
    CUZK_TRY(const bool has_row, row.step());
    if (!has_row) return base::ok_status();
    CUZK_TRY([[maybe_unused]] auto value, read(row));
  }
}

}  // namespace

Status check(Database& database) {
  // Definitions are compared as texts with those of a fresh journal: a flipped bit in a name would
  // only show when the column is asked for.
  CUZK_TRY(auto model, Database::open(":memory:", nullptr));
  CUZK_TRY_STATUS(migrate(model, migrations(), 0));
  CUZK_TRY(const std::string expected, schema_text(model));
  CUZK_TRY(const std::string found, schema_text(database));
  if (found != expected) {
    return Error{ErrorKind::kMalformed, "the journal's table definitions are damaged"};
  }
  CUZK_TRY(auto structure, database.prepare("PRAGMA integrity_check(1)"));
  CUZK_TRY(const bool has_row, structure.step());
  if (!has_row || structure.text(0) != "ok") {
    return Error{ErrorKind::kMalformed, fmt::format("the journal's structure is damaged: {}",
                                                    has_row ? structure.text(0) : "no answer")};
  }
  CUZK_TRY_STATUS(check_rows(database, fmt::format("SELECT {} FROM job", kJobColumns), read_job));
  return check_rows(database, fmt::format("SELECT {} FROM partition", kPartitionColumns),
                    read_partition);
}

}  // namespace cuzk::engine::internal
