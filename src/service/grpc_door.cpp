// The server: listeners, limits, health, reflection; the calls are in grpc_proving.cpp and
// grpc_jobs.cpp.
#include "service/grpc_door.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "base/check.h"
#include "base/log.h"
#include "service/grpc_core.h"
#include "service/grpc_credentials.h"
#include "service/grpc_jobs.h"
#include "service/grpc_library_log.h"
#include "service/unix_socket.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;

// A dead peer is found by pings; a living one may ping us this often, also without a call.
// The answer to a ping is due before the next one.
constexpr int kKeepaliveMs = 30'000, kKeepaliveTimeoutMs = 20'000, kPingIntervalMinMs = 5'000;
static_assert(kKeepaliveTimeoutMs < kKeepaliveMs);
// A connection that does not get to its settings in time is closed.
constexpr int kHandshakeTimeoutMs = 20'000;
// A gateway sends the calls of all its clients through one connection.
constexpr int kStreamsPerConnection = 20'000;
constexpr int kMetadataBytesMax = 32 << 10;
// Room for connections and answers beside the requests that the gate lets in.
constexpr std::uint64_t kQuotaBesideGate = std::uint64_t{512} << 20;
// How old an answer of the health service may be; the names are those that it knows.
constexpr std::chrono::milliseconds kHealthInterval{1'000};
constexpr const char* kServices[] = {"", "cuzk.v1.ProvingEngine", "cuzk.jobs.v1.JobService"};

// What one client may cost: messages, metadata, streams, a connection that is dead or never begins.
void set_limits(grpc::ServerBuilder& builder, const Config& config, std::uint64_t gate_bytes) {
  constexpr std::uint64_t kIntMax = 0x7FFF'FFFF;
  const auto most = static_cast<int>(std::min(config.daemon.max_message_bytes, kIntMax));
  builder.SetMaxReceiveMessageSize(most);
  // What we send is our own, and a reply that was cut would help nobody.
  builder.SetMaxSendMessageSize(-1);
  // A second daemon at the same port is refused instead of sharing its calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  grpc::ResourceQuota quota("cuzk");
  quota.Resize(gate_bytes + kQuotaBesideGate);
  builder.SetResourceQuota(quota);
  // Health and reflection are served by threads of their own; few are enough.
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 2);
}

// The server over a GrpcCore. Its own thread looks at the engine's health once a second; all else
// happens in threads of gRPC and in the core's lanes. stopped_ is the mutex's; draining_ and the
// health service take calls from any thread.
class GrpcDoor final : public Door {
 public:
  GrpcDoor(const Config& config, const Backend& backend, GrpcCore::Count count)
      : config_(config), core_(config, backend, std::move(count)) {}
  ~GrpcDoor() override {
    stop(std::chrono::milliseconds(0));
    core_.stop_lanes();  // may wait for a key that loads, so only now
  }

  base::Status start() override;
  std::vector<std::string> addresses() const override { return addresses_; }
  void reload(const Config& config) override;
  void drain() override {
    draining_ = true;
    set_serving(false);
  }
  void stop(std::chrono::milliseconds grace) override;

 private:
  struct Listener {
    Address address;
    int port = 0;
  };
  // Reads the tokens and gives them to the guard; with an error the old ones stay.
  base::Status read_guard(const Config& config);
  // Opens all addresses of the configuration. The library opens some and says so by ports that stay
  // 0, so after_listening() looks which one failed, fills in addresses_ and sets rights of sockets.
  base::Status listen();
  base::Status after_listening(const std::vector<Listener>& listeners);
  void set_serving(bool serving);
  // Whether new work can be done, a listener that the library closed counted in.
  Readiness look();
  // The loop of health_, until stop().
  void watch_health();

  Config config_;
  GrpcCore core_;
  std::unique_ptr<grpc::Service> proving_, jobs_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<SocketPlace> places_;  // of unix sockets; the library removes those when it ends
  std::vector<std::string> addresses_;
  std::uint64_t closed_before_ = 0;  // listeners of the process, when ours were opened
  std::atomic<bool> draining_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread health_;
};

base::Status GrpcDoor::read_guard(const Config& config) {
  std::vector<std::string> tokens;
  // Read whole before the guard hears of it: a bad file changes nothing.
  if (!config.auth.token_file.empty()) {
    CUZK_TRY(tokens, read_tokens(config.auth.token_file));
  }
  core_.guard.set(config.auth.required, std::move(tokens));
  return base::ok_status();
}

base::Status GrpcDoor::listen() {
  CUZK_ASSERT(server_ == nullptr);
  grpc::EnableDefaultHealthCheckService(true);
  if (config_.daemon.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  set_limits(builder, config_, core_.gate.bytes_max());
  CUZK_TRY(const std::shared_ptr<grpc::ServerCredentials> tcp, tcp_credentials(config_.tls));
  std::vector<Listener> listeners;
  listeners.reserve(config_.daemon.listen.size());  // the builder keeps pointers to the ports
  for (const Address& address : config_.daemon.listen) {
    // Unix sockets speak no TLS: nobody is between their two ends.
    const bool is_unix = address.kind == Address::Kind::kUnix;
    if (is_unix) {
      CUZK_TRY(SocketPlace place, SocketPlace::take(address.path));
      places_.push_back(std::move(place));
    }
    CUZK_ASSERT(listeners.size() < listeners.capacity());
    Listener& listener = listeners.emplace_back(Listener{address});
    builder.AddListeningPort(address.grpc_target(),
                             is_unix ? grpc::InsecureServerCredentials() : tcp, &listener.port);
  }
  // The services outlive the server, which is stopped before they die.
  proving_ = make_proving_service(core_);
  jobs_ = make_jobs_service(core_);
  builder.RegisterService(proving_.get());
  builder.RegisterService(jobs_.get());
  server_ = builder.BuildAndStart();
  return after_listening(listeners);
}

// The library says only that something failed, so what can be the reason is named whole.
base::Status GrpcDoor::after_listening(const std::vector<Listener>& listeners) {
  for (const Listener& listener : listeners) {
    if (server_ != nullptr && listener.port > 0) continue;
    // One that failed fails all; the first without a port is the one, or the last when none has.
    if (listener.port > 0 && &listener != &listeners.back()) continue;
    // One that could not open all is none.
    server_.reset();
    return Error{ErrorKind::kUnavailable,
                 fmt::format("{}: cannot listen there: the address is in use, is not this "
                             "machine's, or needs more rights",
                             listener.address.to_string())};
  }
  for (const Listener& listener : listeners) {
    Address real = listener.address;
    if (real.kind == Address::Kind::kUnix) {
      CUZK_TRY_STATUS(set_socket_mode(real.path, config_.daemon.socket_mode));
    } else {
      real.port = static_cast<std::uint16_t>(listener.port);
    }
    addresses_.push_back(real.to_string());
  }
  return base::ok_status();
}

// Tokens before sockets: there is no moment in which anybody may call.
base::Status GrpcDoor::start() {
  take_library_lines();
  closed_before_ = closed_listener_count();
  CUZK_TRY_STATUS(read_guard(config_));
  CUZK_TRY_STATUS(listen());
  // At once and not a second later: whoever started us asks as soon as the port is open.
  set_serving(look().ready);
  CUZK_ASSERT(!health_.joinable());
  health_ = std::thread([this] { watch_health(); });
  return base::ok_status();
}

// Listeners, limits of messages and certificates' names stay as they were at the start.
void GrpcDoor::reload(const Config& config) {
  if (const base::Status read = read_guard(config); !read.ok()) {
    base::log(base::LogLevel::kError, "the tokens stay as they were: " + read.error().message);
  }
  core_.apply(config);
  config_ = config;
}

// For the server as a whole and for each service, which are the names that a prober may use.
void GrpcDoor::set_serving(bool serving) {
  if (server_ == nullptr) return;
  auto* health = server_->GetHealthCheckService();
  for (const char* service : kServices) health->SetServingStatus(service, serving);
}

// Others may be at other addresses, so it is told to all doors: HTTP and the metrics are how an
// operator hears of it.
Readiness GrpcDoor::look() {
  if (closed_listener_count() > closed_before_) {
    core_.backend.faults->note(
        "grpc listener is closed: no new connection is taken at one of its addresses; start the "
        "daemon anew, with more open files");
  }
  return readiness(core_.backend.engine->report(), core_.backend.faults->first());
}

// What changes by itself: a device that is lost, an executor that does not start again.
void GrpcDoor::watch_health() {
  std::unique_lock lock(mutex_);
  bool before = true;
  while (!changed_.wait_for(lock, kHealthInterval, [this] { return stopped_; })) {
    // A report may take its time; stop() need not wait for it to say that it wants an end.
    lock.unlock();
    const Readiness now = look();
    const bool serving = now.ready && !draining_;
    // A line for each time that it turns, not one a second.
    if (!serving && before && !draining_) {
      base::log(base::LogLevel::kError, "health: not serving: " + now.reason);
    }
    before = serving;
    set_serving(serving);
    lock.lock();
  }
}

// The lanes go on until the destructor: a key that loads there must not keep the door open.
void GrpcDoor::stop(std::chrono::milliseconds grace) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  changed_.notify_all();
  if (health_.joinable()) health_.join();
  // Waits are answered while the server still takes answers; it then gives them `grace`.
  core_.close_waits();
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_.reset();
  places_.clear();
}

}  // namespace

std::unique_ptr<Door> make_grpc_door(const Config& config, const Backend& backend,
                                     std::function<void(std::string_view code)> count) {
  return std::make_unique<GrpcDoor>(config, backend, std::move(count));
}

}  // namespace cuzk::service
