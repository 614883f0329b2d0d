// A client of the daemon over gRPC, for commands and for programs that embed it.
//
// Answers come as JSON with the field names of the proto files (64-bit numbers as numbers, enums as
// lower-case words); bytes come apart. Errors keep the daemon's kind and sentence.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/result.h"
#include "service/address.h"
#include "service/backend.h"

namespace cuzk::service {

// How a daemon is reached. Tokens and certificates go together with any address; what the daemon
// does not ask for it ignores.
struct ClientOptions {
  Address address = {Address::Kind::kTcp, "127.0.0.1", 9820, {}};
  std::string token;  // empty: none is shown
  // PEM files. An authority, or a certificate of our own, makes the connection speak TLS.
  std::filesystem::path authority, certificate, key;
  bool tls = false;  // TLS with the system's authorities
  // A daemon that says nothing for so long while a call is open is asked whether it is still there,
  // and is gone when it does not answer in time. Daemons count more than a ping each 5 s as abuse.
  std::chrono::milliseconds ping_interval{30'000}, ping_timeout{20'000};
};

// For commands, before their first client: lines of the gRPC library, which say less than the
// errors here, are shown only to who asks for them by GRPC_VERBOSITY. But for what it says before
// it ends the process, which goes to standard error. Process-wide.
void quiet_client_library();

// Thread-safe. Calls share one connection and do not wait for each other. Those that only ask give
// up after half a minute, submissions after ten minutes; await, watch and preload last as long as
// the daemon lets them. Daemon gone, wrong port, missing token: the sentence says what to do about
// it.
class Client {
 public:
  using Json = nlohmann::ordered_json;
  using Milliseconds = std::chrono::milliseconds;

  // Connects with the first call. Errors: unreadable PEM files.
  static base::Result<std::unique_ptr<Client>> make(const ClientOptions& options);
  ~Client();

  // The answer has job_id and queue_position, and whether the job was joined: the same request id
  // with the same input is one job. It is durable when this returns.
  base::Result<Json> submit_proof(const ProofRequest& request);
  base::Result<Json> submit_circuit(const CircuitRequest& request);

  // How a wait ended: `job` is final unless `timed_out`.
  struct Awaited {
    Json job;
    base::Bytes result;  // of a completed job
    bool timed_out = false;
  };
  // Waits for the end of a job; no `timeout`: as long as it takes. Error kCancelled when `stop`
  // asks first.
  base::Result<Awaited> await(const std::string& job_id, std::optional<Milliseconds> timeout,
                              std::stop_token stop = {});
  // The same without an end and without a thread: `done` is called once, from a thread of the
  // library's, with the job's end or why there is none. Destroying the client ends what is open.
  void await_then(const std::string& job_id, std::function<void(base::Result<Awaited>)> done);
  // Events of a job, or of all where `job_id` is empty, until `seen` says false, the job is over or
  // `stop` asks.
  base::Status watch(const std::string& job_id, const std::function<bool(const Json&)>& seen,
                     std::stop_token stop);

  // Errors: kNotFound.
  base::Result<Json> find(const std::string& job_id);
  // A page of jobs in the order of their sequence; `next_after_sequence` of an answer begins the
  // next one. An unknown word in `states` is refused here, without a call.
  struct ListQuery {
    std::vector<std::string> states;  // "queued", ...
    std::string kind;
    std::uint64_t after_sequence = 0;
    std::uint32_t page_size = 100;
  };
  base::Result<Json> list(const ListQuery& query);
  // The answer tells the state after the call and whether the job was running before it.
  base::Result<Json> cancel(const std::string& job_id);
  // The state of the daemon as GetStatus tells it, and what kinds and keys there are.
  base::Result<Json> status();
  base::Result<Json> kinds();
  // Returns when the key is loaded, which may take minutes. `stop` ends the call alone: a load that
  // has begun goes on in the daemon.
  base::Result<Json> preload(const std::string& circuit_id, std::stop_token stop = {});
  // Errors: kNotFound for no such key, kUnavailable while it is in use.
  base::Result<Json> evict(const std::string& circuit_id);
  // The text that the daemon shows to Prometheus.
  base::Result<std::string> metrics();

 private:
  // Holds the types of gRPC, so that who includes this file does not include theirs.
  class Channel;
  explicit Client(std::unique_ptr<Channel> channel);
  std::unique_ptr<Channel> channel_;
};

}  // namespace cuzk::service
