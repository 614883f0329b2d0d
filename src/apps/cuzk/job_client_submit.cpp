// Submissions from flags and files.
//
// Everything that can be told without the daemon is told before it is called: flags that exclude
// each other, hex of the wrong length, files that cannot be read. The bodies of proofs are sent as
// they are and judged by the daemon.
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cuzk/job_client.h"
#include "base/byte_size.h"
#include "base/file.h"
#include "base/input_file.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;

// What a message can carry at most (daemon.max_message goes as far).
constexpr std::uint64_t kFileBytesMax = (std::uint64_t{1} << 31) - 1;
// A witness goes in pieces.
constexpr std::uint64_t kWitnessBytesMax = std::uint64_t{1} << 36;
constexpr std::size_t kNodeBytes = 32;

base::Result<base::Bytes> node(const std::string& text, const char* flag) {
  if (text.empty()) return base::Bytes();
  return base::from_hex_sized(text, kNodeBytes, flag);
}

// From pages that the ledger counts where it comes by a stream: how long that is, is not known.
base::Result<base::Bytes> read_witness(const std::filesystem::path& path, std::stop_token stop) {
  base::StreamLimits limits;
  limits.stop = std::move(stop);
  CUZK_TRY(const auto file, base::open_input(path, limits));
  if (file->size_bytes() > kWitnessBytesMax) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: has {}, a witness has at most {}", file->name(),
                             base::format_byte_size(file->size_bytes()),
                             base::format_byte_size(kWitnessBytesMax))};
  }
  return base::Bytes(file->bytes().begin(), file->bytes().end());
}

template <class Request>
base::Status add_common(const SubmitFlags& flags, Request& request) {
  request.request_id = flags.id;
  if (!flags.priority.empty()) {
    const auto priority = engine::parse_priority(flags.priority);
    if (!priority.ok()) return Error(priority.error()).within("--priority");
    request.priority = *priority;
  }
  if (flags.deadline_s != 0) {
    constexpr std::uint64_t kDeadlineMax = std::uint64_t{100} * 365 * 24 * 3600;
    if (flags.deadline_s > kDeadlineMax) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("--deadline: found {} seconds from now, expected at most {}, which "
                               "are a hundred years",
                               flags.deadline_s, kDeadlineMax)};
    }
    const auto at = std::chrono::system_clock::now() + std::chrono::seconds(flags.deadline_s);
    request.deadline_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
  }
  return base::ok_status();
}

base::Result<service::ProofKind> kind_of(const SubmitFlags& flags) {
  if (!flags.c1.empty()) return service::ProofKind::kPorep;
  if (flags.kind == "update") return service::ProofKind::kSnapDeals;
  if (flags.kind == "window-post") return service::ProofKind::kWindowPost;
  if (flags.kind == "winning-post") return service::ProofKind::kWinningPost;
  return Error{ErrorKind::kInvalidArgument,
               "what is to be proved? --circuit with --witness, --c1, or --kind with --vanilla"};
}

base::Result<service::ProofRequest> proof_request(const SubmitFlags& flags) {
  service::ProofRequest request;
  CUZK_TRY(request.kind, kind_of(flags));
  CUZK_TRY_STATUS(add_common(flags, request));
  if (!flags.sector_size.empty()) {
    const auto size = base::parse_byte_count(flags.sector_size);
    if (!size.ok()) return Error(size.error()).within("--sector-size");
    request.sector_size = *size;
  }
  request.registered_proof = flags.registered_proof;
  request.sector_number = flags.sector_number;
  request.miner_id = flags.miner_id;
  request.partition_index = flags.partition;
  CUZK_TRY(request.randomness, node(flags.randomness, "--randomness"));
  CUZK_TRY(request.comm_r_old, node(flags.comm_r_old, "--comm-r-old"));
  CUZK_TRY(request.comm_r_new, node(flags.comm_r_new, "--comm-r-new"));
  CUZK_TRY(request.comm_d_new, node(flags.comm_d_new, "--comm-d-new"));
  if (request.kind == service::ProofKind::kPorep) {
    CUZK_TRY(request.vanilla_proof, base::read_file(flags.c1, kFileBytesMax));
    return request;
  }
  if (flags.vanilla.empty()) {
    return Error{ErrorKind::kInvalidArgument, "--vanilla is needed, once a sector or partition"};
  }
  for (const auto& path : flags.vanilla) {
    CUZK_TRY(base::Bytes bytes, base::read_file(path, kFileBytesMax));
    request.vanilla_proofs.push_back(std::move(bytes));
  }
  return request;
}

}  // namespace

base::Result<PreparedJob> prepare_job(const SubmitFlags& flags, std::stop_token stop) {
  const int asked = int{!flags.circuit.empty()} + int{!flags.c1.empty()} + int{!flags.kind.empty()};
  if (asked > 1) {
    return Error{ErrorKind::kInvalidArgument, "--circuit, --c1 and --kind exclude each other"};
  }
  PreparedJob job;
  if (flags.circuit.empty()) {
    CUZK_TRY(job.proof, proof_request(flags));
    return job;
  }
  if (flags.witness.empty()) {
    return Error{ErrorKind::kInvalidArgument, "--circuit needs --witness"};
  }
  service::CircuitRequest request;
  request.circuit = flags.circuit;
  CUZK_TRY_STATUS(add_common(flags, request));
  CUZK_TRY(request.witness, read_witness(flags.witness, std::move(stop)));
  job.circuit = std::move(request);
  return job;
}

base::Result<nlohmann::ordered_json> send_job(service::Client& client, const PreparedJob& job) {
  return job.circuit ? client.submit_circuit(*job.circuit) : client.submit_proof(*job.proof);
}

base::Result<Answer> submit_job(const SubmitFlags& flags, Session& session) {
  if (flags.files.any() && !flags.wait) {
    return Error{ErrorKind::kInvalidArgument, "an output file needs --wait"};
  }
  std::vector<std::filesystem::path> inputs = flags.vanilla;
  for (const auto& path : {flags.witness, flags.c1}) {
    if (!path.empty()) inputs.push_back(path);
  }
  CUZK_TRY_STATUS(check_result_files(flags.files, inputs));
  CUZK_TRY(const PreparedJob job, prepare_job(flags, session.stop_token()));
  CUZK_TRY(const auto client, make_client(flags.client));
  session.stage("submitting");
  CUZK_TRY(const auto reply, send_job(*client, job));
  session.end_progress();
  const std::string id = reply.value("job_id", std::string());
  if (flags.wait) return wait_for_job(*client, id, std::nullopt, flags.files, session);
  const bool joined =
      reply.value("joined", false) || reply.value("acceptance", "") == "acceptance_joined";
  Answer answer(fmt::format("{} {}", printable(id), joined ? "was there already" : "is accepted"));
  answer.add("job_id", id, "");
  answer.add("queue_position", reply.value("queue_position", std::uint64_t{0}), "jobs before it");
  answer.add("joined", joined, "");
  return answer;
}

}  // namespace cuzk::apps
