// A new journal from the readable parts of a damaged one.
//
// Rows are read one by one around the damage and taken when their seal or digest fits. Where the
// write-ahead log is damaged there are three states to read: the log up to the damage, the file
// without the log, and the file with every frame of the log; of each job the latest whole record
// counts. Nothing of the damaged files is changed before the new journal is durable.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/journal_files.h"
#include "engine/journal_log.h"
#include "engine/journal_record.h"

namespace cuzk::engine::internal {

// Writes paths.rebuilt(), durable, and adds to the report what was kept and what was lost. Errors:
// kUnsupported when the damaged journal is of a newer version; the kinds of Database otherwise.
base::Status rebuild(const JournalPaths& paths, const LogScan& log, std::int64_t now_ms,
                     OpenReport& report);

// When paths.rebuilt() exists: sets the damaged files aside, under the name that the report then
// has, and puts the rebuilt one in their place. May be called again after any interruption.
base::Status adopt_rebuilt(const JournalPaths& paths, std::int64_t now_ms, OpenReport& report);

// Removes what an interrupted rebuilding left.
void remove_leftovers(const JournalPaths& paths);

}  // namespace cuzk::engine::internal
