// One table of kinds; each with the fields that its reader takes (apps/jobs).
//
// The wire has zeros where a client said nothing, a job input has no field there; the difference is
// made here, kind by kind. Only what can be told without reading proofs is checked: that they are
// there and that commitments have their length.
#include "apps/cuzk/daemon_requests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/jobs/job_input.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using service::ProofKind;
using service::ProofRequest;

constexpr std::size_t kNodeBytes = 32;
static_assert(kNodeBytes == sizeof(filecoin::Node));

// A kind's names on both sides and how urgent it is by itself: winning PoSt has an epoch, window
// PoSt a deadline, the others time.
struct KindRow {
  ProofKind kind;
  const char* engine_name;
  const char* public_name;
  engine::Priority priority;  // when the client does not say
};
constexpr KindRow kKinds[] = {
    {ProofKind::kPorep, "porep", "porep-c2", engine::Priority::kNormal},
    {ProofKind::kSnapDeals, "update", "snap-update", engine::Priority::kNormal},
    {ProofKind::kWindowPost, "window-post", "window-post", engine::Priority::kHigh},
    {ProofKind::kWinningPost, "winning-post", "winning-post", engine::Priority::kCritical},
};
constexpr bool rows_follow_the_wire() {
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    if (static_cast<std::size_t>(kKinds[i].kind) != i + 1) return false;
  }
  return std::size(kKinds) == 4;
}
static_assert(rows_follow_the_wire());  // each kind once, but kUnspecified

// As hex, which is how a job input has them. Error with the field's name.
base::Status add_node(InputFields& fields, const char* name, const base::Bytes& bytes) {
  if (bytes.size() != kNodeBytes) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: found {} bytes, expected {}", name, bytes.size(), kNodeBytes)};
  }
  fields.emplace(name, base::to_hex(bytes));
  return base::ok_status();
}

// Zero is what the wire has for "not said".
void add_unless_zero(InputFields& fields, const char* name, std::uint64_t value) {
  if (value != 0) fields.emplace(name, value);
}

// The sentence has the field and the index that the client knows.
base::Status check_proofs(const ProofRequest& request) {
  if (request.kind == ProofKind::kPorep) {
    if (!request.vanilla_proof.empty()) return base::ok_status();
    return Error{ErrorKind::kInvalidArgument,
                 "vanilla_proof: found no bytes, expected JSON with the commit-phase-1 output"};
  }
  const char* each = request.kind == ProofKind::kSnapDeals ? "partition" : "sector";
  if (request.vanilla_proofs.empty()) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("vanilla_proofs: found none, expected one a {}", each)};
  }
  for (std::size_t i = 0; i < request.vanilla_proofs.size(); ++i) {
    if (!request.vanilla_proofs[i].empty()) continue;
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("vanilla_proofs[{}]: found no bytes, expected the proof of a {}", i, each)};
  }
  return base::ok_status();
}

// `registered_proof` is left out for PoRep where it is zero, as the C1 tells it; PoSt and update
// have no other source, so a zero is a number there and means what number 0 means.
base::Result<InputFields> fields_of(const ProofRequest& request) {
  CUZK_ASSERT(request.kind != ProofKind::kUnspecified);  // refused by proof_job()
  InputFields fields;
  add_unless_zero(fields, "sector_size", request.sector_size);
  add_unless_zero(fields, "miner_id", request.miner_id);
  switch (request.kind) {
    case ProofKind::kPorep:
      add_unless_zero(fields, "registered_proof", request.registered_proof);
      add_unless_zero(fields, "sector_number", request.sector_number);
      break;
    case ProofKind::kSnapDeals:
      fields.emplace("registered_proof", request.registered_proof);
      add_unless_zero(fields, "sector_number", request.sector_number);
      CUZK_TRY_STATUS(add_node(fields, "comm_r_old", request.comm_r_old));
      CUZK_TRY_STATUS(add_node(fields, "comm_r_new", request.comm_r_new));
      CUZK_TRY_STATUS(add_node(fields, "comm_d_new", request.comm_d_new));
      break;
      // The fields of winning PoSt, and the partition's number.
    case ProofKind::kWindowPost:
      fields.emplace("partition_index", std::uint64_t{request.partition_index});
      [[fallthrough]];
    case ProofKind::kWinningPost:
      fields.emplace("registered_proof", request.registered_proof);
      CUZK_TRY_STATUS(add_node(fields, "randomness", request.randomness));
      break;
    case ProofKind::kUnspecified: break;
  }
  return fields;
}

// `fields` and `parts` are copied into one run of bytes, so the request they come from may go.
engine::SubmitRequest job_of(std::string request_id, const char* kind,
                             std::optional<std::int64_t> deadline_ms, engine::Priority priority,
                             const InputFields& fields, const std::vector<base::ByteSpan>& parts) {
  CUZK_ASSERT(!parts.empty());
  engine::SubmitRequest job;
  job.request_id = std::move(request_id);
  job.kind = kind;
  job.priority = priority;
  job.deadline_ms = deadline_ms;
  job.input = std::make_shared<const base::Bytes>(encode_job_input(fields, parts));
  return job;
}

}  // namespace

// Kind first, then what has to be there, then the fields: the order in which a client can mend.
base::Result<engine::SubmitRequest> proof_job(ProofRequest request) {
  const auto* row = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const KindRow& each) { return each.kind == request.kind; });
  if (row == std::end(kKinds)) {
    return Error{ErrorKind::kInvalidArgument, "proof_kind: found none, expected 1 to 4"};
  }
  CUZK_TRY_STATUS(check_proofs(request));
  CUZK_TRY(const InputFields fields, fields_of(request));
  // Parts borrow from the request, which lives to the end of this function.
  std::vector<base::ByteSpan> parts;
  if (request.kind == ProofKind::kPorep) {
    parts.emplace_back(request.vanilla_proof);
  } else {
    parts.assign(request.vanilla_proofs.begin(), request.vanilla_proofs.end());
  }
  return job_of(std::move(request.request_id), row->engine_name, request.deadline_ms,
                request.priority.value_or(row->priority), fields, parts);
}

base::Result<engine::SubmitRequest> circuit_job(service::CircuitRequest request,
                                                const CircomCircuits& circuits) {
  // Asked here though the reader would ask too: the daemon knows what to advise.
  const std::vector<std::string> names = circuits.names();
  if (std::find(names.begin(), names.end(), request.circuit) == names.end()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("circuit: no circuit is named '{}', there {}", request.circuit,
                             names.empty() ? std::string("is none: register it as [[circuits]] in "
                                                         "the configuration")
                                           : fmt::format("are: {}", fmt::join(names, ", ")))};
  }
  const InputFields fields = {{"circuit", request.circuit}};
  return job_of(std::move(request.request_id), "circom", request.deadline_ms,
                request.priority.value_or(engine::Priority::kNormal), fields,
                {base::ByteSpan(request.witness)});
}

std::string public_kind_name(std::string_view engine_kind) {
  for (const KindRow& row : kKinds) {
    if (engine_kind == row.engine_name) return row.public_name;
  }
  return std::string(engine_kind);
}

}  // namespace cuzk::apps
