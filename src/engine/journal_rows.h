// Rows of the journal's tables: their columns, and the seals that tell a damaged row from a whole
// one. SQLite notices damage to its own structure but not to values.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/journal_database.h"
#include "engine/journal_record.h"
#include "hash/sha256.h"

namespace cuzk::engine::internal {

// All columns of `job`, in the order in which bind_job binds and read_job reads them.
inline constexpr const char* kJobColumns =
    "id, request_id, kind, priority, deadline_ms, partition_count, input_digest, input_bytes, "
    "state, attempt, start_count, accepted_ms, changed_ms, failure_kind, failure, result_bytes, "
    "result_digest, revision, kept_bytes, crash_count, seal";
inline constexpr const char* kInsertJob =
    "INSERT INTO job VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
inline constexpr const char* kUpdateJob =
    "UPDATE job SET request_id=?2, kind=?3, priority=?4, deadline_ms=?5, partition_count=?6, "
    "input_digest=?7, input_bytes=?8, state=?9, attempt=?10, start_count=?11, accepted_ms=?12, "
    "changed_ms=?13, failure_kind=?14, failure=?15, result_bytes=?16, result_digest=?17, "
    "revision=?18, kept_bytes=?19, crash_count=?20, seal=?21 WHERE id=?1";

// Binds and runs kInsertJob or kUpdateJob. `proof_bytes`: of the partitions kept for the job.
base::Status write_job(Database& database, const char* sql, const JobRecord& job,
                       std::uint64_t proof_bytes);

// The row that the statement stands on, selected with kJobColumns. kMalformed when a value is out
// of range or the seal does not fit.
base::Result<JobRecord> read_job(const Statement& row);

// What a final job counts for against Retention::bytes_max.
std::uint64_t kept_bytes_of(const JobRecord& job, std::uint64_t proof_bytes);

// One row of `partition`; the job is named by its number.
struct PartitionRow {
  std::uint64_t job = 0;  // sequence
  PartitionProof proof;
};
inline constexpr const char* kPartitionColumns = "id, job, number, attempt, proof, seal";
inline constexpr const char* kInsertPartition =
    "INSERT INTO partition(job, number, attempt, proof, seal) VALUES(?,?,?,?,?)";
base::Status write_partition(Database& database, std::uint64_t job, std::uint32_t partition,
                             std::uint32_t attempt, base::ByteSpan proof);
base::Result<PartitionRow> read_partition(const Statement& row);

}  // namespace cuzk::engine::internal
