// The client alone: what it says when there is no daemon, and that it notices when one is gone.
#include "service/client.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/client_connection.h"
#include "service/grpc_test_support.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::service {
namespace {

using cuzk::testing::TemporaryFolder;
using cuzk::testing::write_text;

// Says what a server of HTTP/2 says first, and then nothing: a machine that lost its power.
class SilentServer {
 public:
  SilentServer() {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    const auto any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listening_, any, size) != 0 || ::listen(listening_, 4) != 0 ||
        ::getsockname(listening_, any, &size) != 0) {
      ADD_FAILURE() << "no socket to listen on";
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      const int taken = ::accept(listening_, nullptr, nullptr);
      const char settings[9] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
      if (::write(taken, settings, sizeof(settings)) != sizeof(settings)) return;
      char dropped[4096];
      while (::read(taken, dropped, sizeof(dropped)) > 0) {  // until the client has had enough
      }
      ::close(taken);
    });
  }
  ~SilentServer() {
    ::shutdown(listening_, SHUT_RDWR);
    thread_.join();
    ::close(listening_);
  }
  std::uint16_t port() const { return port_; }

 private:
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST(Client, AWaitEndsWhenTheDaemonSaysNothingAnyMore) {
  const SilentServer server;
  ClientOptions options;
  options.address.port = server.port();
  options.ping_interval = options.ping_timeout = std::chrono::milliseconds(300);
  const auto client = Client::make(options);
  ASSERT_TRUE(client.ok());
  // Ends the test, not the wait, where nothing is noticed.
  std::stop_source give_up;
  std::jthread watch([&give_up](const std::stop_token& over) {
    for (int i = 0; i < 200 && !over.stop_requested(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    give_up.request_stop();
  });
  const auto waited = (*client)->await("a", std::nullopt, give_up.get_token());
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().kind, base::ErrorKind::kUnavailable);
  EXPECT_EQ(waited.error().message, options.address.to_string() +
                                        " does not answer any more; what it has accepted it "
                                        "keeps, so await it again when it is back");
}

TEST(Client, SaysWhatIsWrongWithAConnection) {
  ClientOptions plain;
  plain.address = {Address::Kind::kTcp, "prover", 9820, {}};
  ClientOptions secure = plain;
  secure.tls = true;
  const std::string head = "failed to connect to all addresses; last error: UNKNOWN: ipv4:1.2.3.4:";
  const auto said = [&](const ClientOptions& options, const std::string& words) {
    return unreachable_sentence(options, head + words);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(said(secure,
                       "Ssl handshake failed: SSL_ERROR_SSL: error:0A00010B:SSL "
                       "routines::wrong version number"),
                  "prover:9820 does not speak TLS"));
  EXPECT_TRUE(has(said(secure,
                       "Ssl handshake failed: SSL_ERROR_SSL: error:0A000086:SSL "
                       "routines::certificate verify failed"),
                  "certificate of prover:9820 is not trusted"));
  EXPECT_TRUE(has(said(plain, "Socket closed"), "prover:9820 closes the connection"));
  EXPECT_TRUE(has(said(plain, "Socket closed"), "may speak TLS (--tls"));
  EXPECT_TRUE(has(said(secure, "Socket closed"), "another certificate (--tls-cert"));
  EXPECT_TRUE(has(said(plain, "Connection refused"), "no daemon answers at prover:9820"));
  EXPECT_TRUE(has(unreachable_sentence(secure, "empty address list: "),
                  "certificate and key do not belong together"));
  // One that was there and went is no question of TLS.
  EXPECT_TRUE(has(unreachable_sentence(plain, "Socket closed"), "no daemon answers"));
  EXPECT_TRUE(has(unreachable_sentence(plain, "Trying to connect an http1.x server"),
                  "speaks HTTP, not gRPC"));
}

// Goal: the name needs no resolver. Method: a server at each of the machine's addresses alone; the
// port of the other one refuses. Others' names stay theirs to resolve.
TEST(Client, LocalhostIsThisMachineWithoutAResolver) {
  ClientOptions options;
  options.address = {Address::Kind::kTcp, "localhost", 9820, {}};
  EXPECT_EQ(client_target(options), "ipv6:[::ffff:127.0.0.1]:9820,[::1]:9820");
  options.address.host = "localhost.example";
  EXPECT_EQ(client_target(options), "localhost.example:9820");
  for (const char* host : {"127.0.0.1", "::1"}) {
    Config config;
    config.daemon.listen = {{Address::Kind::kTcp, host, 0, {}}};
    testing_support::TestDaemon daemon(config);
    if (!daemon.started().ok() && std::string(host) == "::1") continue;  // no IPv6 here
    ASSERT_TRUE(daemon.started().ok()) << daemon.started().error().message;
    options.address = parse_address(daemon.daemon().addresses().at(0)).value();
    options.address.host = "localhost";
    const auto client = Client::make(options);
    ASSERT_TRUE(client.ok()) << client.error().message;
    const auto status = client.value()->status();
    EXPECT_TRUE(status.ok()) << host << ": " << status.error().message;
  }
}

TEST(Client, FilesThatAreNoPemAreNamed) {
  const TemporaryFolder scratch;
  const std::string key = scratch.file("key"), text = scratch.file("text");
  write_text(key, "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n");
  write_text(text, "no key\n");
  ClientOptions options;
  options.authority = key;
  const auto swapped = Client::make(options);
  ASSERT_FALSE(swapped.ok());
  EXPECT_EQ(swapped.error().message,
            key + ": is no PEM file, for it has no line with \"BEGIN CERTIFICATE\"");
  options.authority.clear();
  options.tls = true;
  options.key = text;
  const auto none = Client::make(options);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message,
            text + ": is no PEM file, for it has no line with \"PRIVATE KEY\"");
}

// Goal: a command that the library ends says why, and of connections it says nothing twice.
TEST(ClientDeathTest, OfTheLibrarysLinesOnlyItsLastWordsAreShown) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the library starts threads
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::Not;
  EXPECT_DEATH(
      {
        ::unsetenv("GRPC_VERBOSITY");  // who runs the tests may have asked for all lines
        quiet_client_library();
        const auto client = Client::make({});  // lines are told from the first client on
        gpr_log(GPR_ERROR, "a connection failed");
        GPR_ASSERT(1 + 1 == 3);
      },
      AllOf(HasSubstr("assertion failed: 1 + 1 == 3"), Not(HasSubstr("a connection failed"))));
}

}  // namespace
}  // namespace cuzk::service
