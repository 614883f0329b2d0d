// Seals are SHA-256 over an injective encoding of a row: integers as eight bytes, texts and blobs
// with their length. Two rows with one seal would be a collision of the hash.
//
// Seals are against damage and not against people: who can write the file can write a seal. What is
// derived (kept_bytes) and the number of a partition's row are left out.
#include "engine/journal_rows.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace cuzk::engine::internal {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

// What a record takes in the tables and indices besides its own texts, generously.
constexpr std::uint64_t kRecordOverheadBytes = 512;

constexpr int count_of(std::string_view text, char wanted) {
  int count = 0;
  for (const char c : text) count += c == wanted ? 1 : 0;
  return count;
}
// Columns, values and numbered places are three lists of one length, written by hand.
static_assert(count_of(kJobColumns, ',') + 1 == count_of(kInsertJob, '?'));
static_assert(count_of(kInsertJob, '?') == count_of(kUpdateJob, '?'));
static_assert(count_of(kPartitionColumns, ',') == count_of(kInsertPartition, '?'),
              "SQLite gives the number of a partition's row");

// Takes values in the order of the calls; the word in front keeps seals of the tables apart.
class Seal {
 public:
  explicit Seal(std::string_view what) { text(what); }
  Seal& integer(std::uint64_t value) {
    std::uint8_t bytes[8];
    base::store_u64_le(bytes, value);
    hash_.update(bytes);
    return *this;
  }
  Seal& blob(base::ByteSpan bytes) {
    integer(bytes.size());
    hash_.update(bytes);
    return *this;
  }
  Seal& text(std::string_view text) {
    return blob({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  hash::Digest finish() { return hash_.finish(); }

 private:
  hash::Sha256 hash_;
};

// Every member of the record, in a fixed order: another order would be another seal.
hash::Digest seal_of(const JobRecord& job) {
  Seal seal("job");
  seal.integer(job.sequence).text(job.request_id).text(job.kind).integer(job.priority);
  seal.integer(job.deadline_ms ? 1 : 0);
  seal.integer(static_cast<std::uint64_t>(job.deadline_ms.value_or(0)));
  seal.integer(job.partition_count).blob(job.input_digest).integer(job.input_bytes);
  seal.integer(static_cast<std::uint64_t>(job.state)).integer(job.attempt);
  seal.integer(job.start_count).integer(job.crash_count);
  seal.integer(static_cast<std::uint64_t>(job.accepted_ms));
  seal.integer(static_cast<std::uint64_t>(job.changed_ms)).integer(job.failure ? 1 : 0);
  if (job.failure) seal.text(base::to_string(job.failure->kind)).text(job.failure->message);
  seal.integer(job.result_bytes).blob(job.result_digest).integer(job.revision);
  return seal.finish();
}

hash::Digest seal_of(std::uint64_t job, std::uint32_t partition, std::uint32_t attempt,
                     base::ByteSpan proof) {
  return Seal("partition").integer(job).integer(partition).integer(attempt).blob(proof).finish();
}

bool equals(base::ByteSpan bytes, const hash::Digest& digest) {
  return std::equal(bytes.begin(), bytes.end(), digest.begin(), digest.end());
}

// Nothing where the blob has another length: damage.
std::optional<hash::Digest> digest_of(base::ByteSpan bytes) {
  hash::Digest digest{};
  if (bytes.size() != digest.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

// Kinds are stored by their words, so that their numbers may change.
std::optional<ErrorKind> error_kind_of(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(ErrorKind::kInternal); ++i) {
    const auto kind = static_cast<ErrorKind>(i);
    if (base::to_string(kind) == word) return kind;
  }
  return std::nullopt;
}

Error damaged(std::string_view table, std::int64_t id) {
  return Error{ErrorKind::kMalformed,
               fmt::format("row {} of the journal's table '{}' is damaged", id, table)};
}

}  // namespace

std::uint64_t kept_bytes_of(const JobRecord& job, std::uint64_t proof_bytes) {
  return kRecordOverheadBytes + job.request_id.size() + job.kind.size() + job.result_bytes +
         (job.failure ? job.failure->message.size() : 0) + proof_bytes;
}

Status write_job(Database& database, const char* sql, const JobRecord& job,
                 std::uint64_t proof_bytes) {
  // By their texts: each file that names a constant may have its own copy of them.
  const std::string_view text = sql;
  CUZK_ASSERT(text == kInsertJob || text == kUpdateJob);
  const hash::Digest seal = seal_of(job);
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  CUZK_TRY(auto row, database.prepare(sql));
  row.bind(number(job.sequence)).bind(job.request_id).bind(job.kind).bind(number(job.priority));
  row.bind(job.deadline_ms).bind(number(job.partition_count));
  row.bind(base::ByteSpan(job.input_digest)).bind(number(job.input_bytes));
  row.bind(number(static_cast<std::uint64_t>(job.state))).bind(number(job.attempt));
  row.bind(number(job.start_count)).bind(job.accepted_ms).bind(job.changed_ms);
  if (job.failure) {
    row.bind(base::to_string(job.failure->kind)).bind(job.failure->message);
  } else {
    row.bind(std::optional<std::int64_t>()).bind(std::optional<std::int64_t>());
  }
  row.bind(number(job.result_bytes)).bind(base::ByteSpan(job.result_digest));
  row.bind(number(job.revision)).bind(number(kept_bytes_of(job, proof_bytes)));
  row.bind(number(job.crash_count)).bind(base::ByteSpan(seal));
  return row.run();
}

Result<JobRecord> read_job(const Statement& row) {
  // Values first, judgement after: a number out of range is damage like any other, and the seal is
  // over what was read, so a value that was cut to fit does not pass.
  JobRecord job;
  const auto number = [&row](int column) {
    return static_cast<std::uint64_t>(row.integer(column));
  };
  const auto small = [&row](int column) { return static_cast<std::uint32_t>(row.integer(column)); };
  job.sequence = number(0);
  job.request_id = row.text(1);
  job.kind = row.text(2);
  job.priority = small(3);
  if (!row.is_null(4)) job.deadline_ms = row.integer(4);
  job.partition_count = small(5);
  const auto input_digest = digest_of(row.blob(6));
  job.input_bytes = number(7);
  const std::uint64_t state = number(8);
  job.attempt = small(9);
  job.start_count = small(10);
  job.accepted_ms = row.integer(11);
  job.changed_ms = row.integer(12);
  job.result_bytes = number(15);
  const auto result_digest = digest_of(row.blob(16));
  job.revision = number(17);
  job.crash_count = small(19);
  if (!input_digest || !result_digest || state >= kJobStateCount) {
    return damaged("job", row.integer(0));
  }
  job.input_digest = *input_digest;
  job.result_digest = *result_digest;
  job.state = static_cast<JobState>(state);
  if (!row.is_null(13)) {
    const auto kind = error_kind_of(row.text(13));
    if (!kind) return damaged("job", row.integer(0));
    job.failure = Error{*kind, std::string(row.text(14))};
  }
  if (!equals(row.blob(20), seal_of(job))) return damaged("job", row.integer(0));
  return job;
}

Status write_partition(Database& database, std::uint64_t job, std::uint32_t partition,
                       std::uint32_t attempt, base::ByteSpan proof) {
  const hash::Digest seal = seal_of(job, partition, attempt, proof);
  CUZK_TRY(auto row, database.prepare(kInsertPartition));
  row.bind(static_cast<std::int64_t>(job)).bind(std::int64_t{partition});
  row.bind(std::int64_t{attempt}).bind(proof).bind(base::ByteSpan(seal));
  return row.run();
}

Result<PartitionRow> read_partition(const Statement& row) {
  PartitionRow out;
  out.job = static_cast<std::uint64_t>(row.integer(1));
  out.proof.partition = static_cast<std::uint32_t>(row.integer(2));
  out.proof.attempt = static_cast<std::uint32_t>(row.integer(3));
  const base::ByteSpan proof = row.blob(4);
  if (!equals(row.blob(5), seal_of(out.job, out.proof.partition, out.proof.attempt, proof))) {
    return damaged("partition", row.integer(0));
  }
  out.proof.proof.assign(proof.begin(), proof.end());
  return out;
}

}  // namespace cuzk::engine::internal
