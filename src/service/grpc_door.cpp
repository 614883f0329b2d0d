// The server: listeners, limits, health, reflection; the calls are in grpc_proving.cpp and
// grpc_jobs.cpp.
#include "service/grpc_door.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "base/log.h"
#include "service/grpc_core.h"
#include "service/grpc_credentials.h"
#include "service/grpc_jobs.h"
#include "service/unix_socket.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;

// A dead peer is found by pings; a living one may ping us this often, also without a call.
constexpr int kKeepaliveMs = 30'000, kKeepaliveTimeoutMs = 20'000, kPingIntervalMinMs = 5'000;
// A connection that does not get to its settings in time is closed.
constexpr int kHandshakeTimeoutMs = 20'000;
constexpr int kStreamsPerConnection = 20'000;
constexpr int kMetadataBytesMax = 32 << 10;
// Room for connections and answers beside the requests that the gate lets in.
constexpr std::uint64_t kQuotaBesideGate = std::uint64_t{512} << 20;
constexpr std::chrono::milliseconds kHealthInterval{1'000};
constexpr const char* kServices[] = {"", "cuzk.v1.ProvingEngine", "cuzk.jobs.v1.JobService"};

void set_limits(grpc::ServerBuilder& builder, const Config& config, std::uint64_t gate_bytes) {
  constexpr std::uint64_t kIntMax = 0x7FFF'FFFF;
  const auto most = static_cast<int>(std::min(config.daemon.max_message_bytes, kIntMax));
  builder.SetMaxReceiveMessageSize(most);
  builder.SetMaxSendMessageSize(-1);
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

// Lines of the libraries about what clients do wrong go where ours go, and only when asked for.
void log_library_line(gpr_log_func_args* line) {
  const bool is_error = line->severity == GPR_LOG_SEVERITY_ERROR;
  base::log(is_error ? base::LogLevel::kInfo : base::LogLevel::kDebug,
            std::string("grpc: ") + line->message);
}

void quiet_libraries() {
  gpr_set_log_function(log_library_line);
  google::protobuf::SetLogHandler(nullptr);  // says what grpc_message.cpp says anyway
}

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
  base::Status read_guard(const Config& config);
  base::Status listen();
  base::Status after_listening(const std::vector<Listener>& listeners);
  void set_serving(bool serving);
  void watch_health();

  Config config_;
  GrpcCore core_;
  std::unique_ptr<grpc::Service> proving_, jobs_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> addresses_;
  std::atomic<bool> draining_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::thread health_;
};

base::Status GrpcDoor::read_guard(const Config& config) {
  std::vector<std::string> tokens;
  if (!config.auth.token_file.empty()) {
    CUZK_TRY(tokens, read_tokens(config.auth.token_file));
  }
  core_.guard.set(config.auth.required, std::move(tokens));
  return base::ok_status();
}

base::Status GrpcDoor::listen() {
  grpc::EnableDefaultHealthCheckService(true);
  if (config_.daemon.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  set_limits(builder, config_, core_.gate.bytes_max());
  CUZK_TRY(const std::shared_ptr<grpc::ServerCredentials> tcp, tcp_credentials(config_.tls));
  std::vector<Listener> listeners;
  listeners.reserve(config_.daemon.listen.size());  // the builder keeps pointers to the ports
  for (const Address& address : config_.daemon.listen) {
    const bool is_unix = address.kind == Address::Kind::kUnix;
    if (is_unix) CUZK_TRY_STATUS(clear_unix_socket(address.path));
    Listener& listener = listeners.emplace_back(Listener{address});
    builder.AddListeningPort(address.grpc_target(),
                             is_unix ? grpc::InsecureServerCredentials() : tcp, &listener.port);
  }
  proving_ = make_proving_service(core_);
  jobs_ = make_jobs_service(core_);
  builder.RegisterService(proving_.get());
  builder.RegisterService(jobs_.get());
  server_ = builder.BuildAndStart();
  return after_listening(listeners);
}

base::Status GrpcDoor::after_listening(const std::vector<Listener>& listeners) {
  for (const Listener& listener : listeners) {
    if (server_ != nullptr && listener.port > 0) continue;
    // One that failed fails all; the first without a port is the one, or the last when none has.
    if (listener.port > 0 && &listener != &listeners.back()) continue;
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

base::Status GrpcDoor::start() {
  quiet_libraries();
  CUZK_TRY_STATUS(read_guard(config_));
  CUZK_TRY_STATUS(listen());
  set_serving(readiness(core_.backend.engine->report()).ready);
  health_ = std::thread([this] { watch_health(); });
  return base::ok_status();
}

void GrpcDoor::reload(const Config& config) {
  if (const base::Status read = read_guard(config); !read.ok()) {
    base::log(base::LogLevel::kError, "the tokens stay as they were: " + read.error().message);
  }
  core_.apply(config);
  config_ = config;
}

void GrpcDoor::set_serving(bool serving) {
  if (server_ == nullptr) return;
  auto* health = server_->GetHealthCheckService();
  for (const char* service : kServices) health->SetServingStatus(service, serving);
}

void GrpcDoor::watch_health() {
  std::unique_lock lock(mutex_);
  bool before = true;
  while (!changed_.wait_for(lock, kHealthInterval, [this] { return stopped_; })) {
    lock.unlock();
    const Readiness now = readiness(core_.backend.engine->report());
    const bool serving = now.ready && !draining_;
    if (!serving && before && !draining_) {
      base::log(base::LogLevel::kError, "health: not serving: " + now.reason);
    }
    before = serving;
    set_serving(serving);
    lock.lock();
  }
}

void GrpcDoor::stop(std::chrono::milliseconds grace) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  changed_.notify_all();
  if (health_.joinable()) health_.join();
  core_.close_waits();
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_.reset();
}

}  // namespace

std::unique_ptr<Door> make_grpc_door(const Config& config, const Backend& backend,
                                     std::function<void(std::string_view code)> count) {
  return std::make_unique<GrpcDoor>(config, backend, std::move(count));
}

}  // namespace cuzk::service
