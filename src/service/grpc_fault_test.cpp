// What goes wrong on real sockets: bad bytes, bad clients, too many, the end of the server. Others
// are served meanwhile.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/grpc_library_log.h"
#include "service/grpc_test_support.h"
#include "service/http_test_support.h"
#include "service/proto/proving.grpc.pb.h"

namespace cuzk::service {
namespace {

using testing_support::End;
using testing_support::proof_of;
using testing_support::RawClient;
using testing_support::script;
using testing_support::TestDaemon;

constexpr char kSubmit[] = "/cuzk.v1.ProvingEngine/SubmitProof";
constexpr char kHealth[] = "/grpc.health.v1.Health/Check";

std::string text_of(const base::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

std::shared_ptr<grpc::Channel> channel_to(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

v1::SubmitProofRequest request_of(const std::string& id, const base::Bytes& input) {
  v1::SubmitProofRequest request;
  request.set_request_id(id);
  request.set_proof_kind(v1::POREP_SEAL_COMMIT);
  request.set_vanilla_proof(text_of(input));
  return request;
}

// A call with these bytes as its message.
grpc::Status raw_call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                      const std::string& bytes, std::string* reply = nullptr) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                 [&](grpc::Status status) { done.set_value(std::move(status)); });
  const grpc::Status status = done.get_future().get();
  std::vector<grpc::Slice> slices;
  if (reply != nullptr && response.Valid() && response.Dump(&slices).ok()) {
    for (const grpc::Slice& part : slices) {
      reply->append(reinterpret_cast<const char*>(part.begin()), part.size());
    }
  }
  return status;
}

// Whether a job of somebody else is taken and proved.
void expect_served(const std::string& target, const std::string& id) {
  const auto stub = v1::ProvingEngine::NewStub(channel_to(target));
  const base::Bytes input = script(1, 0, End::kProof, std::hash<std::string>()(id));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::ProveRequest request;
  *request.mutable_submit() = request_of(id, input);
  v1::ProveResponse reply;
  const grpc::Status status = stub->Prove(&context, request, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.result().proof(), text_of(proof_of(input)));
}

// Waits until `done` says yes, at most ten seconds.
template <class Done>
bool eventually(Done done) {
  for (int i = 0; i < 1000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

int connect_raw(const std::filesystem::path& path,
                int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.string().size());
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

TEST(GrpcFault, MalformedMessagesAreRefusedWithASentence) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const auto channel = channel_to(daemon.target());
  const std::string good = request_of("good", script(1, 0, End::kProof, 1)).SerializeAsString();
  std::vector<std::string> bad = {"\xFF",
                                  std::string(1000, '\xFF'),
                                  std::string("\x0A\xFF\xFF", 3),
                                  std::string("\x0A\x02\xC3\x28", 4),
                                  std::string("\x00", 1),
                                  good.substr(0, good.size() - 1)};
  for (const std::string& bytes : bad) {
    const grpc::Status status = raw_call(channel, kSubmit, bytes);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_NE(status.error_message().find("cuzk.v1.SubmitProofRequest"), std::string::npos)
        << status.error_message();
  }
  for (const char* method : {"AwaitProof", "Prove", "CancelProof", "GetStatus", "GetMetrics",
                             "PreloadSRS", "EvictSRS"}) {
    const grpc::Status status =
        raw_call(channel, "/cuzk.v1.ProvingEngine/" + std::string(method), "\xFF");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
  }
  EXPECT_EQ(raw_call(channel, "/cuzk.v1.ProvingEngine/Nonsense", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  expect_served(daemon.target(), "other");
}

// Goal: no bytes end the process or the service. Method: a good request with some bytes changed and
// cut off anywhere, of which some are still good; the seed is fixed.
TEST(GrpcFault, RandomBytesNeverHarm) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const auto channel = channel_to(daemon.target());
  std::mt19937_64 random(20260);
  std::string good = request_of("x", script(1, 0, End::kProof, 1)).SerializeAsString();
  for (int i = 0; i < 200; ++i) {
    std::string bytes = good;
    for (std::size_t flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % (bytes.size() + 1));
    const auto code = raw_call(channel, kSubmit, bytes).error_code();
    EXPECT_TRUE(code == grpc::StatusCode::OK || code == grpc::StatusCode::INVALID_ARGUMENT ||
                code == grpc::StatusCode::ALREADY_EXISTS)
        << code;
  }
  expect_served(daemon.target(), "other");
}

TEST(GrpcFault, AMessageOverTheLimitIsRefusedWithTheNumber) {
  Config config;
  config.daemon.max_message_bytes = 1 << 20;
  TestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok());
  base::Bytes large = script(1, 0, End::kProof, 1);
  large.resize(2 << 20);
  const grpc::Status status = raw_call(channel_to(daemon.target()), kSubmit,
                                       request_of("large", large).SerializeAsString());
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("1048576"), std::string::npos) << status.error_message();
  large.resize((1 << 20) - 100);
  EXPECT_TRUE(
      raw_call(channel_to(daemon.target()), kSubmit, request_of("fits", large).SerializeAsString())
          .ok());
  expect_served(daemon.target(), "other");
}

// Goal: what never becomes a call costs others nothing. Method: beginnings of HTTP/2 and of nothing
// at all on raw sockets, left open, with a byte now and then; calls beside them are answered.
TEST(GrpcFault, StrangeAndSlowConnectionsKeepNobodyWaiting) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::vector<std::string> openings = {"",
                                             "P",
                                             preface.substr(0, 10),
                                             preface,
                                             preface + std::string("\0\0\0\4\0\0\0\0\0", 9),
                                             "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                                             std::string(4096, '\0'),
                                             preface + "garbage garbage"};
  std::vector<int> sockets;
  for (int round = 0; round < 8; ++round) {
    for (const std::string& opening : openings) {
      const int socket = connect_raw(daemon.socket());
      if (!opening.empty()) {
        EXPECT_GT(::send(socket, opening.data(), opening.size(), MSG_NOSIGNAL), 0);
      }
      sockets.push_back(socket);
    }
  }
  // A byte now and then: what was begun is never finished.
  for (int i = 0; i < 5; ++i) {
    for (const int socket : sockets) {
      ::send(socket, "\0\0\0\0\0" + i, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    expect_served(daemon.target(), "other " + std::to_string(i));
  }
  for (const int socket : sockets) ::close(socket);
  expect_served(daemon.target(), "at last");
}

// Goal: a wait goes with its client. Method: sixty clients of one job that is not over leave one
// after another; the engine then counts no wait.
TEST(GrpcFault, ClientsThatGoAwayLeaveNothingBehind) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  grpc::ClientContext submit_context;
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(stub->SubmitProof(&submit_context, request_of("held", script(1, 0, End::kHold, 1)),
                                &submitted)
                  .ok());
  std::vector<std::thread> clients;
  for (int i = 0; i < 60; ++i) {
    clients.emplace_back([&, i] {
      grpc::ClientContext context;
      v1::AwaitProofRequest request;
      request.set_job_id("held");
      v1::AwaitProofResponse reply;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(5 + 3 * i));
      EXPECT_EQ(stub->AwaitProof(&context, request, &reply).error_code(),
                grpc::StatusCode::DEADLINE_EXCEEDED);
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 0; }));
  daemon.executor().release_held();
  expect_served(daemon.target(), "other");
}

// What becomes of the job of a Prove whose client goes away.
engine::JobState state_after_client_left(OnDisconnect setting) {
  Config config;
  config.daemon.on_disconnect = setting;
  TestDaemon daemon(config);
  EXPECT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  v1::ProveRequest request;
  *request.mutable_submit() = request_of("held", script(1, 0, End::kHold, 1));
  v1::ProveResponse reply;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  EXPECT_EQ(stub->Prove(&context, request, &reply).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 0; }));
  if (setting == OnDisconnect::kCancel) {
    EXPECT_TRUE(eventually([&] {
      return daemon.engine().find("held")->record.state == engine::JobState::kCancelled;
    }));
  }
  daemon.executor().release_held();
  return daemon.engine().await("held", std::chrono::seconds(10)).value()->record.state;
}

TEST(GrpcFault, AJobGoesOnOrIsCancelledWhenItsClientGoesAwayAsConfigured) {
  EXPECT_EQ(state_after_client_left(OnDisconnect::kContinue), engine::JobState::kCompleted);
  EXPECT_EQ(state_after_client_left(OnDisconnect::kCancel), engine::JobState::kCancelled);
}

// The client is gone before the daemon begins to wait for the job.
TEST(GrpcFault, AClientThatLeavesWhileItsJobIsReadLeavesNothingBehind) {
  Config config;
  config.daemon.on_disconnect = OnDisconnect::kCancel;
  TestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok());
  daemon.set_reading_ms(500);
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  v1::ProveRequest request;
  *request.mutable_submit() = request_of("held", script(1, 0, End::kHold, 1));
  v1::ProveResponse reply;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  EXPECT_EQ(stub->Prove(&context, request, &reply).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_FALSE(daemon.engine().find("held").ok());
  ASSERT_TRUE(eventually([&] { return daemon.engine().find("held").ok(); }));
  EXPECT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 0; }));
  EXPECT_TRUE(eventually(
      [&] { return daemon.engine().find("held")->record.state == engine::JobState::kCancelled; }));
}

TEST(GrpcFault, AJobThatOthersAwaitIsNotCancelled) {
  Config config;
  config.daemon.on_disconnect = OnDisconnect::kCancel;
  TestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  v1::ProveRequest request;
  *request.mutable_submit() = request_of("held", script(1, 0, End::kHold, 1));
  std::thread leaver([&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    v1::ProveResponse reply;
    EXPECT_FALSE(stub->Prove(&context, request, &reply).ok());
  });
  ASSERT_TRUE(eventually([&] { return daemon.engine().find("held").ok(); }));
  std::thread stayer([&] {
    grpc::ClientContext context;
    v1::AwaitProofRequest await;
    await.set_job_id("held");
    v1::AwaitProofResponse reply;
    EXPECT_TRUE(stub->AwaitProof(&context, await, &reply).ok());
    EXPECT_EQ(reply.status(), v1::AwaitProofResponse::COMPLETED);
  });
  leaver.join();
  ASSERT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 1; }));
  daemon.executor().release_held();
  stayer.join();
}

// The other door has its own waits, and the tally in common. Its client polls: the first wait is
// over before the client of Prove leaves.
TEST(GrpcFault, AJobThatIsAwaitedOverHttpIsNotCancelled) {
  Config config;
  config.daemon.on_disconnect = OnDisconnect::kCancel;
  TestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok());
  Config http_config;
  http_config.daemon.status_listen = Address{Address::Kind::kUnix, "", 0, daemon.folder() / "http"};
  const auto http = make_http_door(http_config, daemon.backend());
  ASSERT_TRUE(http->start().ok());
  const auto wait = [&](const char* timeout) {
    RawClient client(*http_config.daemon.status_listen);
    client.send(std::string("GET /api/v1/jobs/held/wait?timeout=") + timeout +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return client.receive(60'000).status;
  };
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  v1::ProveRequest request;
  *request.mutable_submit() = request_of("held", script(1, 0, End::kHold, 1));
  std::thread leaver([&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    v1::ProveResponse reply;
    EXPECT_FALSE(stub->Prove(&context, request, &reply).ok());
  });
  ASSERT_TRUE(eventually([&] { return daemon.engine().find("held").ok(); }));
  EXPECT_EQ(wait("5ms"), 202);
  leaver.join();
  ASSERT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 0; }));
  std::thread poller([&] { EXPECT_EQ(wait("1m"), 200); });
  ASSERT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 1; }));
  daemon.executor().release_held();
  poller.join();
  EXPECT_EQ(daemon.engine().find("held")->record.state, engine::JobState::kCompleted);
  http->stop(std::chrono::milliseconds(0));
}

// Its first client goes while another call waits for it, then that one goes too.
TEST(GrpcFault, TheLastOfSeveralClientsTakesTheJobAlong) {
  Config config;
  config.daemon.on_disconnect = OnDisconnect::kCancel;
  TestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  v1::ProveRequest request;
  *request.mutable_submit() = request_of("held", script(1, 0, End::kHold, 1));
  const auto prove_for = [&](std::chrono::milliseconds time) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + time);
    v1::ProveResponse reply;
    EXPECT_FALSE(stub->Prove(&context, request, &reply).ok());
  };
  std::thread first([&] { prove_for(std::chrono::milliseconds(1000)); });
  ASSERT_TRUE(eventually([&] { return daemon.engine().find("held").ok(); }));
  std::thread second([&] { prove_for(std::chrono::milliseconds(2000)); });
  first.join();
  ASSERT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 1; }));
  EXPECT_NE(daemon.engine().find("held")->record.state, engine::JobState::kCancelled);
  second.join();
  EXPECT_TRUE(eventually([&] {
    const auto job = daemon.engine().find("held");
    return job.ok() && job->record.state == engine::JobState::kCancelled;
  }));
}

// This process opens no file while one of these lives.
class NoFiles {
 public:
  NoFiles() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    none.rlim_cur = 3;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  NoFiles(const NoFiles&) = delete;
  NoFiles& operator=(const NoFiles&) = delete;
  ~NoFiles() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_ = {};
};

// Goal: a daemon that is deaf is not healthy. Method: the library accepts a connection when no file
// can be opened; it closes its listener then. Who was connected before is served and told.
TEST(GrpcFault, AListenerThatTheLibraryClosedIsNotHealthy) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  Config http_config;
  http_config.daemon.status_listen = Address{Address::Kind::kUnix, "", 0, daemon.folder() / "http"};
  const auto http = make_http_door(http_config, daemon.backend());
  ASSERT_TRUE(http->start().ok());
  const auto get = [&](const std::string& path) {
    RawClient client(*http_config.daemon.status_listen);
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return client.receive();
  };
  ASSERT_EQ(get("/healthz").status, 200);
  const auto before = channel_to(daemon.target());
  std::string health;
  ASSERT_TRUE(raw_call(before, kHealth, "", &health).ok());
  EXPECT_EQ(health, "\x08\x01") << "SERVING";
  const int late = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::uint64_t closed = closed_listener_count();
  {
    const NoFiles none;
    connect_raw(daemon.socket(), late);
    EXPECT_TRUE(eventually([&] { return closed_listener_count() > closed; }));
  }
  ASSERT_TRUE(eventually([&] { return !daemon.daemon().readiness().ready; }));
  for (const char* path : {"/healthz", "/readyz"}) {
    EXPECT_EQ(get(path).status, 503) << path;
    EXPECT_EQ(get(path).body.rfind("grpc listener is closed", 0), 0U) << get(path).body;
  }
  EXPECT_EQ(get("/api/v1/dashboard").json()["not_ready_reason"],
            daemon.daemon().readiness().reason);
  EXPECT_TRUE(eventually([&] {
    health.clear();
    return raw_call(before, kHealth, "", &health).ok() && health == "\x08\x02";
  })) << "NOT_SERVING";
  ::close(late);
  http->stop(std::chrono::milliseconds(0));
  TestDaemon other;
  ASSERT_TRUE(other.started().ok());
  EXPECT_TRUE(other.daemon().readiness().ready) << "what was before it does not count";
}

std::size_t thread_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

// Method: one job that is held back, a thousand asynchronous waits for it, the threads of this
// process counted while all wait, then one end for all.
TEST(GrpcFault, AThousandAwaitsCostNoThreads) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kAwaits = 100;  // each costs the sanitizer 40 ms
#else
  constexpr int kAwaits = 1000;
#endif
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  const base::Bytes input = script(1, 0, End::kHold, 1);
  grpc::ClientContext submit_context;
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(stub->SubmitProof(&submit_context, request_of("held", input), &submitted).ok());
  struct Client {
    grpc::ClientContext context;
    v1::AwaitProofRequest request;
    v1::AwaitProofResponse reply;
  };
  std::vector<Client> clients(kAwaits);
  std::mutex mutex;
  std::condition_variable changed;
  int ended = 0, right = 0;
  for (Client& client : clients) {
    client.request.set_job_id("held");
    stub->async()->AwaitProof(
        &client.context, &client.request, &client.reply, [&](const grpc::Status& status) {
          const std::lock_guard lock(mutex);
          ++ended;
          if (status.ok() && client.reply.proof() == text_of(proof_of(input))) {
            ++right;
          }
          changed.notify_all();
        });
  }
  // No early return: the clients must outlive their calls.
  EXPECT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == kAwaits; }));
  EXPECT_LT(thread_count(), 60u);
  expect_served(daemon.target(), "other");
  daemon.executor().release_held();
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return ended == kAwaits; }));
  EXPECT_EQ(right, kAwaits);
}

TEST(GrpcFault, WaitsBeyondTheLimitAreRefused) {
  Config config;
  config.daemon.awaits_max = 1;
  TestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  grpc::ClientContext submit_context, first_context, second_context;
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(stub->SubmitProof(&submit_context, request_of("held", script(1, 0, End::kHold, 1)),
                                &submitted)
                  .ok());
  v1::AwaitProofRequest request;
  request.set_job_id("held");
  v1::AwaitProofResponse first, second;
  std::thread waiter([&] { EXPECT_TRUE(stub->AwaitProof(&first_context, request, &first).ok()); });
  ASSERT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 1; }));
  EXPECT_EQ(stub->AwaitProof(&second_context, request, &second).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  daemon.executor().release_held();
  waiter.join();
}

// Method: as many loads as the lane of keys has threads, each longer than a job and a status take.
TEST(GrpcFault, StatusIsAnsweredWhileKeysLoadAndJobsRun) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  daemon.executor().set_preload_ms(1500);
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  std::atomic<bool> loaded = false;
  std::vector<std::thread> loaders;
  for (int i = 0; i < 2; ++i) {
    loaders.emplace_back([&] {
      grpc::ClientContext context;
      v1::PreloadSrsRequest request;
      request.set_circuit_id("porep-2k");
      v1::PreloadSrsResponse reply;
      EXPECT_TRUE(stub->PreloadSRS(&context, request, &reply).ok());
      loaded = true;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  expect_served(daemon.target(), "other");
  grpc::ClientContext context;
  v1::GetStatusResponse reply;
  EXPECT_TRUE(stub->GetStatus(&context, {}, &reply).ok());
  EXPECT_FALSE(loaded) << "all this went on while the keys were loading";
  for (std::thread& loader : loaders) loader.join();
}

std::string health_of(const TestDaemon& daemon) {
  std::string reply;
  const grpc::Status status = raw_call(channel_to(daemon.target()), kHealth, "", &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return reply;
}
const std::string kServing("\x08\x01", 2), kNotServing("\x08\x02", 2);

TEST(GrpcFault, DrainingRefusesNewWorkAndAnswersWhatWaits) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const auto channel = channel_to(daemon.target());
  const auto stub = v1::ProvingEngine::NewStub(channel);
  const base::Bytes input = script(1, 0, End::kHold, 1);
  grpc::ClientContext c1, c2, c3, c4;
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(stub->SubmitProof(&c1, request_of("held", input), &submitted).ok());
  EXPECT_EQ(health_of(daemon), kServing);
  daemon.daemon().drain();
  EXPECT_EQ(health_of(daemon), kNotServing);
  const grpc::Status refused =
      stub->SubmitProof(&c2, request_of("new", script(1, 0, End::kProof, 2)), &submitted);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(refused.error_details().empty()) << "says when to try again";
  v1::GetStatusResponse status;
  ASSERT_TRUE(stub->GetStatus(&c3, {}, &status).ok());
  EXPECT_TRUE(status.draining());
  EXPECT_FALSE(status.ready());
  v1::AwaitProofRequest await;
  await.set_job_id("held");
  v1::AwaitProofResponse ended;
  std::thread waiter([&] { EXPECT_TRUE(stub->AwaitProof(&c4, await, &ended).ok()); });
  ASSERT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 1; }));
  daemon.executor().release_held();
  waiter.join();
  EXPECT_EQ(ended.proof(), text_of(proof_of(input)));
}

TEST(GrpcFault, StoppingTellsThoseWhoWaitThatTheJobIsKept) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  grpc::ClientContext c1, c2;
  v1::SubmitProofResponse submitted;
  ASSERT_TRUE(
      stub->SubmitProof(&c1, request_of("held", script(1, 0, End::kHold, 1)), &submitted).ok());
  std::thread waiter([&] {
    v1::AwaitProofRequest await;
    await.set_job_id("held");
    v1::AwaitProofResponse ended;
    const grpc::Status status = stub->AwaitProof(&c2, await, &ended);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_NE(status.error_message().find("kept"), std::string::npos) << status.error_message();
  });
  ASSERT_TRUE(eventually([&] { return daemon.engine().report().waiting_calls == 1; }));
  EXPECT_FALSE(daemon.daemon().stop([] { return true; })) << "a job is left";
  waiter.join();
  EXPECT_FALSE(std::filesystem::exists(daemon.socket())) << "the socket is tidied away";
}

TEST(GrpcFault, ALostDeviceIsSeenInHealthAndRefused) {
  TestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  EXPECT_EQ(health_of(daemon), kServing);
  daemon.executor().set_devices_usable(false);
  EXPECT_TRUE(eventually([&] { return health_of(daemon) == kNotServing; }));
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  grpc::ClientContext context;
  v1::SubmitProofResponse submitted;
  EXPECT_EQ(stub->SubmitProof(&context, request_of("a", script(1, 0, End::kProof, 1)), &submitted)
                .error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

// Goal: what was accepted has its room on disk reserved. Method: a journal of one megabyte is
// filled with jobs that are held back until one is refused; then all that were accepted complete.
TEST(GrpcFault, AFullDiskRefusesNewJobsAndTheOldOnesEnd) {
  TestDaemon daemon(Config(), 2, 10'000, 1 << 20);
  ASSERT_TRUE(daemon.started().ok());
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.target()));
  std::map<std::string, base::Bytes> taken;
  grpc::Status status;
  for (std::uint64_t i = 0; i < 100 && status.ok(); ++i) {
    base::Bytes input = script(1, 0, End::kHold, i);
    input.resize(30'000, static_cast<std::uint8_t>(i));
    const std::string id = "job " + std::to_string(i);
    grpc::ClientContext context;
    v1::SubmitProofResponse reply;
    status = stub->SubmitProof(&context, request_of(id, input), &reply);
    if (status.ok()) taken[id] = input;
  }
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  EXPECT_FALSE(status.error_details().empty()) << "says when to try again";
  ASSERT_GT(taken.size(), 5u);
  grpc::ClientContext status_context;
  v1::GetStatusResponse seen;
  EXPECT_TRUE(stub->GetStatus(&status_context, {}, &seen).ok());
  daemon.executor().release_held();
  for (const auto& [id, input] : taken) {
    grpc::ClientContext context;
    v1::AwaitProofRequest await;
    await.set_job_id(id);
    v1::AwaitProofResponse ended;
    ASSERT_TRUE(stub->AwaitProof(&context, await, &ended).ok());
    EXPECT_EQ(ended.proof(), text_of(proof_of(input))) << id;
  }
}

TEST(GrpcFault, AddressesThatAreTakenAreRefusedByName) {
  Config tcp;
  tcp.daemon.listen = {{Address::Kind::kTcp, "127.0.0.1", 0, {}}};
  TestDaemon first(tcp);
  ASSERT_TRUE(first.started().ok()) << first.started().error().message;
  const std::string address = first.daemon().addresses().at(0);
  tcp.daemon.listen = {parse_address(address).value()};
  TestDaemon second(tcp);
  ASSERT_FALSE(second.started().ok());
  EXPECT_NE(second.started().error().message.find(address), std::string::npos)
      << second.started().error().message;
  expect_served(address, "still served");

  TestDaemon owner;
  ASSERT_TRUE(owner.started().ok());
  Config same;
  same.daemon.listen = {{Address::Kind::kUnix, "", 0, owner.socket()}};
  TestDaemon intruder(same);
  EXPECT_FALSE(intruder.started().ok());
  expect_served(owner.target(), "still served");
}

TEST(GrpcFault, ATokenOpensAndNothingElseDoes) {
  const cuzk::testing::TemporaryFolder folder;
  const auto tokens = folder / "tokens";
  std::ofstream(tokens) << "a-token-that-is-long\n";
  std::filesystem::permissions(tokens, std::filesystem::perms::owner_read);
  Config config;
  config.daemon.listen = {{Address::Kind::kTcp, "127.0.0.1", 0, {}}};
  config.auth.token_file = tokens;
  config.auth.required = AuthRequired::kAlways;
  TestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok()) << daemon.started().error().message;
  const auto stub = v1::ProvingEngine::NewStub(channel_to(daemon.daemon().addresses().at(0)));
  const auto status_with = [&](const std::string& authorization) {
    grpc::ClientContext context;
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
    v1::GetStatusResponse reply;
    return stub->GetStatus(&context, {}, &reply).error_code();
  };
  EXPECT_EQ(status_with(""), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status_with("Bearer wrong-token-here"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status_with("Bearer a-token-that-is-long"), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace cuzk::service
