// Synchronous calls on one channel; a stop request cancels the call it was given to. Errors come
// back as the kinds that the daemon made codes of (grpc_status.h). Several kinds share a code, so
// the kind that arrives is that of the code and the sentence is the daemon's own.
#include "service/client.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "base/check.h"
#include "service/client_connection.h"
#include "service/client_json.h"
#include "service/proto/jobs.grpc.pb.h"
#include "service/proto/proving.grpc.pb.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;
namespace jobs_wire = jobs::v1;

// Small enough to begin arriving at once, large enough that the frame of a piece costs nothing.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
// For calls that only ask: a daemon that is there answers far sooner.
constexpr std::chrono::seconds kAskTimeout{30};
constexpr std::chrono::minutes kSubmitTimeout{10};

// The way back of grpc_code(). Kinds of one code ask the same of a client, so one of them is
// enough.
ErrorKind kind_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED: return ErrorKind::kInvalidArgument;
    case grpc::StatusCode::NOT_FOUND: return ErrorKind::kNotFound;
    case grpc::StatusCode::ALREADY_EXISTS: return ErrorKind::kAlreadyExists;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: return ErrorKind::kResourceExhausted;
    case grpc::StatusCode::FAILED_PRECONDITION: return ErrorKind::kMismatch;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED: return ErrorKind::kUnavailable;
    case grpc::StatusCode::UNIMPLEMENTED: return ErrorKind::kUnsupported;
    case grpc::StatusCode::CANCELLED: return ErrorKind::kCancelled;
    default: return ErrorKind::kInternal;
  }
}

int wire_priority(const std::optional<engine::Priority>& priority) {
  if (!priority) return 0;
  static_assert(static_cast<int>(engine::Priority::kLow) == 4 - v1::LOW);
  static_assert(static_cast<int>(engine::Priority::kCritical) == 4 - v1::CRITICAL);
  return 4 - static_cast<int>(*priority);  // low 1 to critical 4 in both protocols
}

// The number of a state by its word, for queries.
base::Result<int> wire_state(const std::string& word) {
  // The protocol counts from 1, with 0 for "none", in the order of the engine.
  static_assert(jobs_wire::QUEUED == 1 &&
                std::size_t{jobs_wire::CANCELLED} == engine::kJobStateCount);
  for (std::size_t i = 0; i < engine::kJobStateCount; ++i) {
    const auto state = static_cast<engine::JobState>(i);
    if (engine::to_string(state) == word) return static_cast<int>(i) + 1;
  }
  return Error{ErrorKind::kInvalidArgument,
               fmt::format("state '{}' is none of queued, running, completed, failed, cancelled",
                           word.substr(0, 64))};
}

void put(const base::Bytes& bytes, std::string* field) {
  field->assign(bytes.begin(), bytes.end());
}

// Copies: the request stays the caller's, who may send it again.
v1::SubmitProofRequest proof_message(const ProofRequest& request) {
  v1::SubmitProofRequest message;
  message.set_request_id(request.request_id);
  static_assert(static_cast<int>(ProofKind::kPorep) == v1::POREP_SEAL_COMMIT);
  static_assert(static_cast<int>(ProofKind::kWinningPost) == v1::WINNING_POST);
  message.set_proof_kind(static_cast<v1::ProofKind>(request.kind));
  message.set_sector_size(request.sector_size);
  message.set_registered_proof(request.registered_proof);
  message.set_priority(static_cast<v1::Priority>(wire_priority(request.priority)));
  message.set_deadline_ms(static_cast<std::uint64_t>(request.deadline_ms.value_or(0)));
  put(request.vanilla_proof, message.mutable_vanilla_proof());
  for (const base::Bytes& proof : request.vanilla_proofs) put(proof, message.add_vanilla_proofs());
  message.set_sector_number(request.sector_number);
  message.set_miner_id(request.miner_id);
  put(request.randomness, message.mutable_randomness());
  message.set_partition_index(request.partition_index);
  put(request.comm_r_old, message.mutable_comm_r_old());
  put(request.comm_r_new, message.mutable_comm_r_new());
  put(request.comm_d_new, message.mutable_comm_d_new());
  return message;
}

// Bytes of a proof do not stand in its JSON, so they come apart.
Client::Awaited awaited_of(const jobs_wire::AwaitJobResponse& reply) {
  Client::Awaited awaited;
  awaited.job = message_json(reply.job());
  awaited.result.assign(reply.result().begin(), reply.result().end());
  awaited.timed_out = reply.timed_out();
  return awaited;
}

}  // namespace

// One connection and what is open on it. open_ has every wait of begin() from before its call is
// started until its completion has run; completions come from threads of the library, use this
// object last under mutex_, and are all over when the destructor returns.
class Client::Channel {
 public:
  Channel(const ClientOptions& options, const std::shared_ptr<grpc::ChannelCredentials>& with)
      : options_(options) {
    channel_ = grpc::CreateCustomChannel(client_target(options), with, client_arguments(options));
    proving_ = v1::ProvingEngine::NewStub(channel_);
    jobs_ = jobs_wire::JobService::NewStub(channel_);
  }

  ~Channel() {
    // Copied: a completion takes its wait off the set while this goes through it.
    std::unique_lock lock(mutex_);
    const std::set<std::shared_ptr<OpenWait>> open = open_;
    lock.unlock();  // a cancelled call may end within this one
    for (const auto& wait : open) wait->context.TryCancel();
    lock.lock();
    closed_.wait(lock, [this] { return open_.empty(); });
  }

  v1::ProvingEngine::Stub& proving() { return *proving_; }
  jobs_wire::JobService::Stub& jobs() { return *jobs_; }

  // What every call carries. Without a `timeout` a call has no deadline and lasts until it is
  // answered, cancelled or the connection breaks.
  void prepare(grpc::ClientContext& context,
               std::optional<std::chrono::milliseconds> timeout) const {
    if (timeout) context.set_deadline(std::chrono::system_clock::now() + *timeout);
    if (!options_.token.empty()) {
      context.AddMetadata("authorization", "Bearer " + options_.token);
    }
  }

  // The daemon's sentence, or for what never reached a daemon one that says what to do.
  Error error_of(const grpc::Status& status) const {
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) {
      return {kind_of(status.error_code()),
              status.error_message() + " (--token-file or CUZK_TOKEN)"};
    }
    // The same code from a daemon that drains is told apart by the connection, which is there.
    if ((status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         channel_->GetState(false) != GRPC_CHANNEL_READY) ||
        is_of_connection(status.error_message())) {
      return {ErrorKind::kUnavailable, unreachable_sentence(options_, status.error_message())};
    }
    return {kind_of(status.error_code()), status.error_message()};
  }

  // One call whose answer is shown as it is.
  template <class Request, class Reply, class Stub>
  base::Result<Json> ask(Stub& stub,
                         grpc::Status (Stub::*call)(grpc::ClientContext*, const Request&, Reply*),
                         const Request& request, std::optional<Milliseconds> timeout = kAskTimeout,
                         const std::stop_token& stop = {}) {
    grpc::ClientContext context;
    prepare(context, timeout);
    Reply reply;
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    // Blocks until the answer, the time limit or a cancellation.
    const grpc::Status status = (stub.*call)(&context, request, &reply);
    if (!status.ok()) return error_of(status);
    return message_json(reply);
  }

  // A wait that no thread of ours sits in. The wait owns what the call points to; the set and the
  // completion own the wait.
  void begin(const std::string& job_id, std::function<void(base::Result<Awaited>)> done) {
    CUZK_ASSERT(done != nullptr);
    const auto wait = std::make_shared<OpenWait>();
    prepare(wait->context, std::nullopt);
    wait->request.set_job_id(job_id);
    {
      const std::lock_guard lock(mutex_);
      open_.insert(wait);
    }
    jobs_->async()->AwaitJob(&wait->context, &wait->request, &wait->reply,
                             [this, wait, done = std::move(done)](const grpc::Status& status) {
                               if (status.ok()) {
                                 done(awaited_of(wait->reply));
                               } else {
                                 done(error_of(status));
                               }
                               const std::lock_guard lock(mutex_);
                               const std::size_t erased = open_.erase(wait);
                               CUZK_ASSERT(erased == 1);
                               // Within the lock: once it is free the object may be gone.
                               closed_.notify_all();
                             });
  }

 private:
  // What one call of begin() reads and writes while it is open.
  struct OpenWait {
    grpc::ClientContext context;
    jobs_wire::AwaitJobRequest request;
    jobs_wire::AwaitJobResponse reply;
  };

  const ClientOptions options_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ProvingEngine::Stub> proving_;
  std::unique_ptr<jobs_wire::JobService::Stub> jobs_;
  std::mutex mutex_;
  std::condition_variable closed_;
  std::set<std::shared_ptr<OpenWait>> open_;
};

Client::Client(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}
Client::~Client() = default;

// Reads files and sets up; whether a daemon is there shows with the first call.
base::Result<std::unique_ptr<Client>> Client::make(const ClientOptions& options) {
  CUZK_TRY(const auto credentials, client_credentials(options));
  return std::unique_ptr<Client>(new Client(std::make_unique<Channel>(options, credentials)));
}

base::Result<Client::Json> Client::submit_proof(const ProofRequest& request) {
  return channel_->ask(channel_->proving(), &v1::ProvingEngine::Stub::SubmitProof,
                       proof_message(request), kSubmitTimeout);
}

namespace {

// The witness within, for one that fits a piece.
jobs_wire::SubmitCircuitJobRequest circuit_message(const CircuitRequest& request) {
  jobs_wire::SubmitCircuitJobRequest message;
  message.set_request_id(request.request_id);
  message.set_circuit(request.circuit);
  message.set_priority(static_cast<jobs_wire::JobPriority>(wire_priority(request.priority)));
  message.set_deadline_ms(static_cast<std::uint64_t>(request.deadline_ms.value_or(0)));
  put(request.witness, message.mutable_witness());
  return message;
}

}  // namespace

// In pieces where it is large, so that a witness of any size fits.
base::Result<Client::Json> Client::submit_circuit(const CircuitRequest& request) {
  if (request.witness.size() <= kPieceBytes) {
    return channel_->ask(channel_->jobs(), &jobs_wire::JobService::Stub::SubmitCircuitJob,
                         circuit_message(request), kSubmitTimeout);
  }
  grpc::ClientContext context;
  channel_->prepare(context, kSubmitTimeout);
  jobs_wire::SubmitJobResponse reply;
  const auto stream = channel_->jobs().StreamCircuitJob(&context, &reply);
  jobs_wire::StreamCircuitJobRequest message;
  auto* header = message.mutable_header();
  header->set_request_id(request.request_id);
  header->set_circuit(request.circuit);
  header->set_priority(static_cast<jobs_wire::JobPriority>(wire_priority(request.priority)));
  header->set_deadline_ms(static_cast<std::uint64_t>(request.deadline_ms.value_or(0)));
  header->set_witness_bytes(request.witness.size());
  // The header alone, so that a refusal of it comes before the witness is sent.
  bool open = stream->Write(message);
  for (std::size_t at = 0; open && at < request.witness.size(); at += kPieceBytes) {
    const std::size_t size = std::min(kPieceBytes, request.witness.size() - at);
    // Takes the place of what the message held: a part is the header or a piece.
    message.set_witness(request.witness.data() + at, size);
    open = stream->Write(message);
  }
  // A write that fails means that the daemon has answered already; Finish() tells what.
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  if (!status.ok()) return channel_->error_of(status);
  return message_json(reply);
}

// The time is the daemon's to keep: it answers "not over yet" with how the job stands.
base::Result<Client::Awaited> Client::await(const std::string& job_id,
                                            std::optional<Milliseconds> timeout,
                                            std::stop_token stop) {
  grpc::ClientContext context;
  channel_->prepare(context, std::nullopt);
  jobs_wire::AwaitJobRequest request;
  request.set_job_id(job_id);
  // 0 would be without end.
  if (timeout) {
    request.set_timeout_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(1, timeout->count())));
  }
  jobs_wire::AwaitJobResponse reply;
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  const grpc::Status status = channel_->jobs().AwaitJob(&context, request, &reply);
  if (!status.ok()) return channel_->error_of(status);
  return awaited_of(reply);
}

void Client::await_then(const std::string& job_id,
                        std::function<void(base::Result<Awaited>)> done) {
  channel_->begin(job_id, std::move(done));
}

// Blocks in Read() between events; `stop` and `seen` end it by cancelling the call.
base::Status Client::watch(const std::string& job_id, const std::function<bool(const Json&)>& seen,
                           std::stop_token stop) {
  grpc::ClientContext context;
  channel_->prepare(context, std::nullopt);
  jobs_wire::WatchJobsRequest request;
  request.set_job_id(job_id);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  const auto stream = channel_->jobs().WatchJobs(&context, request);
  jobs_wire::JobEvent event;
  bool wanted = true;
  while (wanted && stream->Read(&event)) wanted = seen(message_json(event));
  // Whoever has seen enough cancels the stream, and that is no error of it.
  if (!wanted) context.TryCancel();
  const grpc::Status status = stream->Finish();
  // A job that is over ends the stream well.
  if (status.ok() || !wanted) return base::ok_status();
  return channel_->error_of(status);
}

base::Result<Client::Json> Client::find(const std::string& job_id) {
  jobs_wire::GetJobRequest request;
  request.set_job_id(job_id);
  return channel_->ask(channel_->jobs(), &jobs_wire::JobService::Stub::GetJob, request);
}

// States are words here and numbers on the wire, so that scripts need no table.
base::Result<Client::Json> Client::list(const ListQuery& query) {
  jobs_wire::ListJobsRequest request;
  for (const std::string& word : query.states) {
    CUZK_TRY(const int state, wire_state(word));
    request.add_states(static_cast<jobs_wire::JobState>(state));
  }
  request.set_kind(query.kind);
  request.set_after_sequence(query.after_sequence);
  request.set_page_size(query.page_size);
  return channel_->ask(channel_->jobs(), &jobs_wire::JobService::Stub::ListJobs, request);
}

base::Result<Client::Json> Client::cancel(const std::string& job_id) {
  jobs_wire::CancelJobRequest request;
  request.set_job_id(job_id);
  return channel_->ask(channel_->jobs(), &jobs_wire::JobService::Stub::CancelJob, request);
}

base::Result<Client::Json> Client::status() {
  return channel_->ask(channel_->proving(), &v1::ProvingEngine::Stub::GetStatus,
                       v1::GetStatusRequest());
}

base::Result<Client::Json> Client::kinds() {
  return channel_->ask(channel_->jobs(), &jobs_wire::JobService::Stub::ListKinds,
                       jobs_wire::ListKindsRequest());
}

// No time limit: a key of a large sector takes minutes.
base::Result<Client::Json> Client::preload(const std::string& circuit_id, std::stop_token stop) {
  v1::PreloadSrsRequest request;
  request.set_circuit_id(circuit_id);
  return channel_->ask(channel_->proving(), &v1::ProvingEngine::Stub::PreloadSRS, request,
                       std::nullopt, stop);
}

base::Result<Client::Json> Client::evict(const std::string& circuit_id) {
  v1::EvictSrsRequest request;
  request.set_circuit_id(circuit_id);
  return channel_->ask(channel_->proving(), &v1::ProvingEngine::Stub::EvictSRS, request);
}

// The text is the only field of the reply.
base::Result<std::string> Client::metrics() {
  CUZK_TRY(const Json reply,
           channel_->ask(channel_->proving(), &v1::ProvingEngine::Stub::GetMetrics,
                         v1::GetMetricsRequest()));
  return reply.at("prometheus_text").get<std::string>();
}

}  // namespace cuzk::service
