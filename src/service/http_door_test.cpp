// The HTTP door against clients of every kind: slow, large, wrong, foreign.
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "service/http_test_support.h"

namespace cuzk::service {
namespace {

using namespace testing_support;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

TEST(HttpDoor, AnswersStatusMetricsAndHealth) {
  const HttpTestDaemon daemon;
  const Answer status = daemon.get("/status");
  EXPECT_EQ(status.status, 200);
  EXPECT_EQ(status.headers.at("access-control-allow-origin"), "*");
  EXPECT_TRUE(status.json().contains("gpu_workers"));
  const Answer metrics = daemon.get("/metrics");
  EXPECT_EQ(metrics.body, "cuzk_up 1\n");
  EXPECT_EQ(metrics.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(daemon.get("/healthz").body, "ok\n");
  EXPECT_EQ(daemon.get("/readyz").body, "ready\n");
}

TEST(HttpDoor, ADaemonWithoutDevicesIsNeitherHealthyNorReady) {
  HttpTestDaemon daemon;
  daemon.executor().set_devices_usable(false);
  EXPECT_EQ(daemon.get("/healthz").status, 503);
  EXPECT_EQ(daemon.get("/readyz").status, 503);
}

TEST(HttpDoor, ADaemonWhoseJournalIsGoneTakesNothingAndEndsWhatRuns) {
  HttpTestDaemon daemon;
  ASSERT_EQ(daemon.submit("a", script(1, 0, End::kHold, 1)).status, 202);
  std::filesystem::remove_all(daemon.folder() / "journal");
  const Answer refused = daemon.submit("b", script(1, 0, End::kProof, 2));
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("journal.db was removed under the running journal"),
            std::string::npos)
      << refused.body;
  for (const char* path : {"/healthz", "/readyz"}) {
    EXPECT_EQ(daemon.get(path).status, 503) << path;
    EXPECT_NE(daemon.get(path).body.find("journal.db was removed"), std::string::npos) << path;
  }
  daemon.executor().release_held();
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/wait?timeout=1m").json()["state"], "completed");
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/result").status, 200);
}

TEST(HttpDoor, WhoDrainsIsHealthyAndNotReady) {
  HttpTestDaemon daemon;
  daemon.engine().drain();
  EXPECT_EQ(daemon.get("/healthz").status, 200);
  const Answer ready = daemon.get("/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_NE(ready.body.find("draining"), std::string::npos);
  EXPECT_EQ(daemon.submit("a", script(1, 0, End::kProof, 1)).status, 503);
}

TEST(HttpDoor, ServesThePageWithoutOtherHosts) {
  const HttpTestDaemon daemon;
  const Answer page = daemon.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_NE(page.headers.at("content-security-policy").find("default-src 'none'"),
            std::string::npos);
  EXPECT_EQ(daemon.get("/dashboard.js").status, 200);
  EXPECT_EQ(daemon.get("/dashboard.css").status, 200);
  EXPECT_EQ(daemon.get("/charts.js").status, 200);
  const auto state = daemon.get("/api/v1/dashboard").json();
  EXPECT_EQ(state["devices"].size(), 3U);
  EXPECT_TRUE(state["changes"].contains("revision"));
}

TEST(HttpDoor, PathsOutsideAreNotFound) {
  const HttpTestDaemon daemon;
  for (const char* path : {"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd",
                           "/dashboard.js/../../../etc/passwd", "//etc/passwd", "/dashboard.js%00",
                           "/api/v1/../../etc/passwd", "/static/..%5c..%5c", "/index.html"}) {
    const Answer answer = daemon.get(path);
    EXPECT_TRUE(answer.status == 404 || answer.status == 400) << path << " " << answer.status;
    EXPECT_EQ(answer.body.find("root:"), std::string::npos);
  }
}

// A dot of a file's name is that dot, also where patterns of routes are regular expressions.
TEST(HttpDoor, PathsThatOnlyLookLikeFilesOfThePageAreNotFound) {
  const HttpTestDaemon daemon;
  for (const char* path : {"/dashboardXcss", "/dashboard/js", "/charts-js", "/dashboard.jss"}) {
    EXPECT_EQ(daemon.get(path).status, 404) << path;
  }
  for (const char* path : {"/", "/dashboard.css", "/dashboard.js", "/charts.js"}) {
    EXPECT_EQ(daemon.get(path).status, 200) << path;
  }
}

// Bytes that are no request at all, a proxy's, and another protocol's.
TEST(HttpDoor, WhatIsNoHttpIsRefusedAndOthersAreServed) {
  const HttpTestDaemon daemon;
  for (const std::string& bytes : std::vector<std::string>{
           "hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n",
           std::string("GET /\0 HTTP/1.1\r\n\r\n", 19), "\x16\x03\x01\x02 client hello \r\n\r\n",
           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
           "POST /api/v1/proofs HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
           "POST /api/v1/proofs HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
           "POST /api/v1/proofs HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "POST /api/v1/proofs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
    RawClient client(daemon.address());
    client.send(bytes);
    const Answer answer = client.receive(3'000);
    EXPECT_TRUE(answer.status == 0 || answer.status >= 400) << bytes << " " << answer.status;
  }
  EXPECT_EQ(daemon.get("/healthz").status, 200);
}

TEST(HttpDoor, LongLinesAndEndlessHeadersAreCutOff) {
  const HttpTestDaemon daemon;
  EXPECT_EQ(daemon.get("/" + std::string(5'000, 'a')).status, 414);
  RawClient client(daemon.address());
  client.send("GET /status HTTP/1.1\r\n");
  bool sent = true;
  for (int i = 0; i < 20'000 && sent; ++i) {
    sent = client.send("X-" + std::to_string(i) + ": " + std::string(80, 'x') + "\r\n");
  }
  const Answer answer = client.receive(3'000);
  EXPECT_TRUE(answer.status == 431 || answer.status == 0 || answer.status == 400) << answer.status;
  EXPECT_EQ(daemon.get("/healthz").status, 200);
}

TEST(HttpDoor, ABodyThatIsTooLargeIsRefusedBeforeItIsSent) {
  Config config = HttpTestDaemon::quick_config();
  config.http.body_bytes_max = 10'000;
  const HttpTestDaemon daemon(config);
  RawClient client(daemon.address());
  client.send(
      "POST /api/v1/circuits/toy/jobs HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Length: 200000000\r\nExpect: 100-continue\r\n\r\n");
  const Answer answer = client.receive(5'000);
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("10000"), std::string::npos);
  const Answer whole = daemon.ask("POST", "/api/v1/circuits/toy/jobs", std::string(20'000, 'x'));
  EXPECT_EQ(whole.status, 413);
  EXPECT_NE(whole.body.find("10000"), std::string::npos);
  // A pause for "100 Continue" is granted where the body may come.
  RawClient good(daemon.address());
  good.send(
      "POST /api/v1/circuits/toy/jobs HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(50));
  good.send("x");
  EXPECT_EQ(good.receive(5'000).status, 400) << "the script is no script";
}

TEST(HttpDoor, CompressedBodiesAndFormsAreRefused) {
  const HttpTestDaemon daemon;
  EXPECT_EQ(daemon.ask("POST", "/api/v1/proofs", "x", "Content-Encoding: gzip\r\n").status, 415);
  EXPECT_EQ(daemon
                .ask("POST", "/api/v1/proofs", "--a\r\n\r\n--a--",
                     "Content-Type: multipart/form-data; boundary=a\r\n")
                .status,
            415);
  EXPECT_EQ(daemon.get("/dashboard.js", "Range: bytes=0-0,1-1,2-2,3-3\r\n").status, 200);
}

TEST(HttpDoor, ClosesWithoutWaitingForAKeyThatLoads) {
  HttpTestDaemon daemon;
  daemon.executor().set_preload_ms(3'000);
  RawClient client(daemon.address());
  client.send(
      "POST /api/v1/keys/porep-2k/preload HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Length: 0\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(200));
  const auto begin = Clock::now();
  daemon.door().stop(milliseconds(0));
  EXPECT_LT(Clock::now() - begin, milliseconds(2'000));
  EXPECT_NE(client.receive().status, 200);
}

TEST(HttpDoor, ABodyThatEndsEarlyLeavesNoJob) {
  const HttpTestDaemon daemon;
  {
    RawClient client(daemon.address());
    client.send(
        "POST /api/v1/circuits/toy/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
        "only this");
  }
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(daemon.get("/api/v1/jobs").json()["jobs"].size(), 0U);
}

TEST(HttpDoor, SlowClientsDoNotKeepOthersOut) {
  Config config = HttpTestDaemon::quick_config();
  config.http.connections_max = 8;
  config.http.read_timeout = milliseconds(2'000);
  config.http.request_timeout = milliseconds(5'000);
  const HttpTestDaemon daemon(config);
  std::vector<RawClient> slow;
  for (int i = 0; i < 40; ++i) {
    slow.emplace_back(daemon.address());
    slow.back().send("POST /api/v1/proofs HTTP/1.1\r\nContent-Length: 1000\r\nX-A: ");
  }
  const auto begin = Clock::now();
  for (int i = 0; i < 20; ++i) {
    for (auto& client : slow) client.send("a");  // one byte each, again and again
    EXPECT_EQ(daemon.get("/healthz").status, 200) << i;
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20));
}

TEST(HttpDoor, ARequestThatTakesTooLongIsEnded) {
  Config config = HttpTestDaemon::quick_config();
  config.http.read_timeout = milliseconds(300);
  config.http.request_timeout = milliseconds(600);
  const HttpTestDaemon daemon(config);
  RawClient silent(daemon.address());
  EXPECT_TRUE(silent.closes_within(5'000));
  RawClient stopped(daemon.address());
  stopped.send("GET /status HT");
  const Answer answer = stopped.receive(5'000);
  EXPECT_EQ(answer.status, 408);
  // Bytes that keep coming renew no deadline of the whole request.
  RawClient dripping(daemon.address());
  dripping.send("GET /status HTTP/1.1\r\nX-A: ");
  const auto begin = Clock::now();
  while (dripping.send("a") && Clock::now() - begin < std::chrono::seconds(10)) {
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(8));
}

TEST(HttpDoor, ManyRequestsUseOneConnection) {
  const HttpTestDaemon daemon;
  RawClient client(daemon.address());
  for (int i = 0; i < 200; ++i) {
    client.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_EQ(client.receive().status, 200) << i;
  }
  // Two in one piece are two.
  client.send(
      "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive().body, "ready\n");
  EXPECT_EQ(client.receive().body, "ok\n");
}

TEST(HttpDoor, ABodyOfAGetIsNoSecondRequest) {
  const HttpTestDaemon daemon;
  RawClient client(daemon.address());
  const std::string inner = "DELETE /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(inner.size()) + "\r\n\r\n" + inner);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive(1'000).status, 0) << "the connection is closed";
}

TEST(HttpDoor, WaitsDoNotTakeAllConnections) {
  Config config = HttpTestDaemon::quick_config();
  config.http.connections_max = 8;
  HttpTestDaemon daemon(config);
  daemon.submit("a", script(1, 0, End::kHold, 1));
  std::vector<RawClient> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back(daemon.address());
    waiting.back().send("GET /api/v1/jobs/a/wait?timeout=1m HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/wait?timeout=1m").status, 429);
  EXPECT_EQ(daemon.get("/readyz").status, 200);
  waiting[0].close();  // who goes away makes room
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/wait?timeout=10ms").status, 202);
  daemon.executor().release_held();
  for (std::size_t i = 1; i < waiting.size(); ++i) {
    EXPECT_EQ(waiting[i].receive().json()["state"], "completed");
  }
}

TEST(HttpDoor, StoppingAnswersWhoWaits) {
  HttpTestDaemon daemon;
  daemon.submit("a", script(1, 0, End::kHold, 1));
  RawClient waiting(daemon.address());
  waiting.send("GET /api/v1/jobs/a/wait?timeout=10m HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(100));
  const auto begin = Clock::now();
  daemon.door().stop(milliseconds(5'000));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  const Answer answer = waiting.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("the job is kept"), std::string::npos);
  EXPECT_FALSE(RawClient(daemon.address()).connected());
}

TEST(HttpDoor, PagesOfOtherSitesAreRefused) {
  const HttpTestDaemon daemon;
  const auto with = [&](const std::string& method, const std::string& headers) {
    RawClient client(daemon.address());
    client.send(method + " /api/v1/jobs/a/cancel HTTP/1.1\r\nContent-Length: 0\r\n" + headers +
                "\r\n");
    return client.receive().status;
  };
  EXPECT_EQ(with("POST", "Host: localhost\r\nOrigin: http://evil.example\r\n"), 403);
  EXPECT_EQ(with("POST", "Host: evil.example\r\n"), 403) << "a name server gave our address";
  EXPECT_EQ(with("POST", "Host: evil.example\r\nOrigin: http://evil.example\r\n"), 403);
  EXPECT_EQ(with("POST", "Host: localhost:1\r\nOrigin: http://localhost:1\r\n"), 404);
  EXPECT_EQ(with("POST", "Host: 127.0.0.1:1\r\n"), 404);
  EXPECT_EQ(with("POST", "Host: [::1]:1\r\n"), 404);
}

TEST(HttpDoor, AHostThatIsNotKnownIsNamedWithTheKeyThatAddsIt) {
  Config config = HttpTestDaemon::quick_config();
  config.http.allowed_hosts = {"prover.lan", "box"};
  const HttpTestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok()) << daemon.started().error().message;
  const auto with = [&](const std::string& host, const std::string& more = "") {
    RawClient client(daemon.address());
    client.send("POST /api/v1/jobs/a/cancel HTTP/1.1\r\nContent-Length: 0\r\nHost: " + host +
                "\r\n" + more + "\r\n");
    return client.receive();
  };
  for (const char* known : {"prover.lan", "prover.lan:9821", "Prover.LAN:1", "box", "LOCALHOST"}) {
    EXPECT_EQ(with(known).status, 404) << known;
  }
  EXPECT_EQ(with("prover.lan:1", "Origin: http://prover.lan:1\r\n").status, 404);
  const Answer unknown = with("Miner.lan:9821");
  EXPECT_EQ(unknown.status, 403);
  EXPECT_EQ(unknown.json()["error"]["message"],
            "Host \"miner.lan\" is none of this daemon's names (localhost, an address in numbers, "
            "prover.lan, box), as with a page of another site that was given its address; "
            "http.allowed_hosts adds a name");
  EXPECT_EQ(with("prover.lan.evil.example").status, 403);
  EXPECT_EQ(with("x.prover.lan").status, 403);
  const Answer page = with("box", "Origin: http://evil.example\r\n");
  EXPECT_EQ(page.status, 403);
  EXPECT_EQ(page.json()["error"]["message"],
            "the request comes from a page of another site: Origin is \"http://evil.example\", "
            "expected \"http://box\"");
  EXPECT_LT(with(std::string(2000, 'a')).body.size(), 600U) << "quoted, but not whole";
}

TEST(HttpDoor, TokensAreAskedOfThoseWhoNeedThem) {
  Config config = HttpTestDaemon::quick_config();
  cuzk::testing::TemporaryFolder folder;
  config.auth.token_file = folder / "tokens";
  std::ofstream(config.auth.token_file) << "0123456789abcdef\n";
  ::chmod(config.auth.token_file.c_str(), 0600);
  HttpTestDaemon daemon(config);
  ASSERT_TRUE(daemon.started().ok()) << daemon.started().error().message;
  EXPECT_EQ(daemon.get("/status").status, 200) << "who is on this machine needs none";
  EXPECT_EQ(daemon.get("/status", "X-Forwarded-For: 1.2.3.4\r\n").status, 401);
  config.auth.required = AuthRequired::kAlways;
  daemon.door().reload(config);
  const Answer refused = daemon.get("/status");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.headers.at("www-authenticate"), "Bearer");
  EXPECT_EQ(daemon.get("/status", "Authorization: Bearer 0123456789abcdeg\r\n").status, 401);
  EXPECT_EQ(daemon.get("/status", "Authorization: Basic 0123456789abcdef\r\n").status, 401);
  EXPECT_EQ(daemon.get("/status", "Authorization: Bearer 0123456789abcdef\r\n").status, 200);
  for (const char* open : {"/healthz", "/readyz", "/", "/dashboard.js"}) {
    EXPECT_EQ(daemon.get(open).status, 200) << open;
  }
  EXPECT_EQ(daemon.ask("HEAD", "/healthz").status, 200);
  EXPECT_EQ(daemon.ask("HEAD", "/metrics").status, 401);
  for (const char* closed : {"/metrics", "/api/v1/dashboard", "/api/v1/jobs", "/api/v1/kinds"}) {
    EXPECT_EQ(daemon.get(closed).status, 401) << closed;
  }
  EXPECT_EQ(daemon.submit("a", script(1, 0, End::kProof, 1)).status, 401);
  // A new file counts after a reload; a bad one changes nothing.
  std::ofstream(config.auth.token_file) << "fedcba9876543210\n";
  daemon.door().reload(config);
  EXPECT_EQ(daemon.get("/status", "Authorization: Bearer 0123456789abcdef\r\n").status, 401);
  std::ofstream(config.auth.token_file) << "short\n";
  daemon.door().reload(config);
  EXPECT_EQ(daemon.get("/status", "Authorization: Bearer fedcba9876543210\r\n").status, 200);
}

TEST(HttpDoor, ListensOnAUnixSocketWithItsMode) {
  cuzk::testing::TemporaryFolder folder;
  Config config = HttpTestDaemon::quick_config();
  config.daemon.status_listen = Address{Address::Kind::kUnix, "", 0, folder / "http.sock"};
  config.daemon.socket_mode = 0600;
  {
    const HttpTestDaemon daemon(config);
    ASSERT_TRUE(daemon.started().ok()) << daemon.started().error().message;
    EXPECT_EQ(daemon.get("/readyz").status, 200);
    struct stat facts = {};
    ASSERT_EQ(::stat((folder / "http.sock").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600U);
    const HttpTestDaemon second(config);
    EXPECT_FALSE(second.started().ok()) << "a live one is not replaced";
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "http.sock"));
  std::ofstream(folder / "http.sock") << "a plain file";
  const HttpTestDaemon third(config);
  EXPECT_FALSE(third.started().ok()) << "a file that is no socket is kept";
  EXPECT_TRUE(std::filesystem::exists(folder / "http.sock"));
}

TEST(HttpDoor, AnAddressThatIsTakenIsNamed) {
  const HttpTestDaemon first;
  Config config = HttpTestDaemon::quick_config();
  config.daemon.status_listen = first.address();
  const HttpTestDaemon second(config);
  ASSERT_FALSE(second.started().ok());
  EXPECT_EQ(second.started().error().kind, base::ErrorKind::kAlreadyExists);
  EXPECT_NE(second.started().error().message.find(first.address().to_string()), std::string::npos);
}

TEST(HttpDoor, PollingAHundredTimesIsQuick) {
  const HttpTestDaemon daemon;
  daemon.submit("a", script(1, 0, End::kHold, 1));
  RawClient client(daemon.address());
  milliseconds worst{0};
  for (int i = 0; i < 100; ++i) {
    const auto begin = Clock::now();
    client.send("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_EQ(client.receive().status, 200);
    worst = std::max(worst, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
  }
  EXPECT_LT(worst, milliseconds(2'000)) << "nothing here waits for work";
}

}  // namespace
}  // namespace cuzk::service
