// The journal's tables and how an older file comes to have them.
//
// A file of an older version is brought forward step by step when it is opened; one of a newer
// version is refused, never guessed at. There is no way back.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "engine/journal_database.h"

namespace cuzk::engine::internal {

// "cuzk" in SQLite's application id: tells our files from other programs'.
inline constexpr std::int64_t kApplicationId = 0x63757a6b;

// One step from the version before. Steps are never changed once released, only added.
struct Migration {
  std::int64_t version;  // 1, 2, ...
  const char* description;
  const char* sql;
};
std::span<const Migration> migrations();

// The file's version, 0 for an empty one; writes nothing. Errors: kUnsupported for a file of a
// newer version, kMismatch for a database of another program, kMalformed for a damaged one.
base::Result<std::int64_t> readable_version(Database& database, std::span<const Migration> steps);

// Connection settings: write-ahead log, a sync at every commit, one process only.
base::Status configure(Database& database, std::uint64_t size_bytes_max);

// Brings the file to the last of `steps`, one transaction a step, and notes each in its table
// `migration`. Errors also those of readable_version.
base::Status migrate(Database& database, std::span<const Migration> steps, std::int64_t now_ms);

// Reads all of the structure and all records: kMalformed with the first damage. Inputs and results
// are checked against their digests when they are read.
base::Status check(Database& database);

}  // namespace cuzk::engine::internal
