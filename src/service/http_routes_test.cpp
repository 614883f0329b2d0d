// Which request goes where, and what is refused before it is read.
#include "service/http_routes.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "service/http_test_support.h"

namespace cuzk::service {
namespace {

using namespace testing_support;

HttpRoute route(std::string method, std::string pattern) {
  return {std::move(method), std::move(pattern), [](const HttpRequest&) { return HttpReply{}; }};
}

TEST(HttpRoutes, APathBelongsToTheFirstPatternThatFits) {
  const HttpRoutes routes({route("GET", "/jobs"), route("POST", "/jobs/(.+)/cancel"),
                           route("GET", "/jobs/(.+)"), route("DELETE", "/jobs/(.+)")});
  const auto at = [&](const std::string& method, const std::string& path) -> std::string {
    const auto found = routes.find(method, path);
    return found.route == nullptr ? "not: " + found.allowed : found.route->pattern;
  };
  EXPECT_EQ(at("GET", "/jobs"), "/jobs");
  EXPECT_EQ(at("HEAD", "/jobs"), "/jobs");
  EXPECT_EQ(at("POST", "/jobs"), "not: GET, HEAD");
  EXPECT_EQ(at("DELETE", "/jobs/a"), "/jobs/(.+)");
  EXPECT_EQ(at("PUT", "/jobs/a"), "not: GET, HEAD, DELETE");
  EXPECT_EQ(at("POST", "/jobs/a/b/cancel"), "/jobs/(.+)/cancel");
  EXPECT_EQ(at("GET", "/jobs/a/cancel"), "not: POST") << "no job whose name ends so";
  EXPECT_EQ(at("GET", "/jobs/"), "not: ");
  EXPECT_EQ(at("GET", "/job"), "not: ");
  EXPECT_EQ(HttpRoutes({}).find("GET", "/").route, nullptr);
}

TEST(HttpRoutes, ParametersAreKnownAndGivenOnce) {
  HttpRoute one = route("GET", "/a");
  EXPECT_TRUE(check_parameters(one, {{"any", "1"}, {"any", "2"}}).ok()) << "it has no list";
  one.parameters = std::vector<std::string>{"state", "limit"};
  EXPECT_TRUE(check_parameters(one, {}).ok());
  EXPECT_TRUE(check_parameters(one, {{"limit", "1"}, {"state", "x"}}).ok());
  EXPECT_EQ(check_parameters(one, {{"limits", "1"}}).error().message,
            "parameter limits: not known here; this path takes state, limit");
  EXPECT_EQ(check_parameters(one, {{"", "1"}}).error().kind, base::ErrorKind::kInvalidArgument);
  EXPECT_EQ(check_parameters(one, {{"limit", "1"}, {"limit", "2"}}).error().message,
            "parameter limit: given 2 times, expected once");
  one.parameters = std::vector<std::string>{};
  EXPECT_EQ(check_parameters(one, {{"b", ""}}).error().message,
            "parameter b: not known here; this path takes none");
}

TEST(HttpRoutes, AWrongMethodSaysWhichOnesThereAre) {
  const HttpTestDaemon daemon;
  struct Case {
    const char *method, *path, *allowed;
  };
  for (const Case& c :
       {Case{"DELETE", "/status", "GET, HEAD"}, Case{"PUT", "/metrics", "GET, HEAD"},
        Case{"POST", "/healthz", "GET, HEAD"}, Case{"POST", "/", "GET, HEAD"},
        Case{"GET", "/api/v1/proofs", "POST"}, Case{"HEAD", "/api/v1/proofs/porep", "POST"},
        Case{"PATCH", "/api/v1/jobs/a", "GET, HEAD, DELETE"},
        Case{"OPTIONS", "/api/v1/jobs/a", "GET, HEAD, DELETE"},
        Case{"POST", "/api/v1/jobs/a/wait", "GET, HEAD"},
        Case{"DELETE", "/api/v1/jobs/a/result", "GET, HEAD"},
        Case{"GET", "/api/v1/jobs/a/cancel", "POST"},
        Case{"GET", "/api/v1/keys/k/evict", "POST"}}) {
    const Answer answer = daemon.ask(c.method, c.path, "");
    EXPECT_EQ(answer.status, 405) << c.method << " " << c.path;
    ASSERT_EQ(answer.headers.count("allow"), 1U) << c.method << " " << c.path;
    EXPECT_EQ(answer.headers.at("allow"), c.allowed) << c.path;
    if (std::string_view(c.method) == "HEAD") continue;
    const auto error = answer.json()["error"];
    EXPECT_EQ(error["kind"], "invalid_argument");
    EXPECT_NE(error["message"].get<std::string>().find(c.allowed), std::string::npos);
  }
  // What is nowhere stays not found, and no body of it is taken first.
  const Answer nowhere = daemon.ask("POST", "/api/v1/job", std::string(1'000, 'x'));
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_EQ(nowhere.json()["error"]["kind"], "not_found");
  EXPECT_EQ(nowhere.headers.count("allow"), 0U);
}

TEST(HttpRoutes, AParameterThatIsNotKnownIsRefusedAndNothingIsDone) {
  const HttpTestDaemon daemon;
  const Answer typo =
      daemon.ask("POST", "/api/v1/circuits/toy/jobs?request_id=a&prioritty=critical", "x");
  EXPECT_EQ(typo.status, 400);
  EXPECT_EQ(typo.json()["error"]["kind"], "invalid_argument");
  EXPECT_EQ(typo.json()["error"]["message"],
            "parameter prioritty: not known here; this path takes request_id, priority, "
            "deadline_ms");
  EXPECT_EQ(daemon.get("/api/v1/jobs").json()["jobs"].size(), 0U);
  ASSERT_EQ(daemon.submit("a", script(1, 0, End::kHold, 1)).status, 202);
  for (const char* path :
       {"/api/v1/jobs?states=queued", "/api/v1/jobs/a/wait?time=1s", "/api/v1/jobs/a?full=1",
        "/api/v1/jobs/a/result?format=hex", "/api/v1/kinds?x", "/api/v1/dashboard?revison=1",
        "/api/v1/jobs?limit=1&limit=2"}) {
    const Answer answer = daemon.get(path);
    EXPECT_EQ(answer.status, 400) << path << " " << answer.body;
    EXPECT_TRUE(answer.json()["error"]["message"].get<std::string>().starts_with("parameter "));
  }
  EXPECT_EQ(daemon.ask("DELETE", "/api/v1/jobs/a?force=1").status, 400);
  EXPECT_NE(daemon.get("/api/v1/jobs/a").json()["state"], "cancelled");
  EXPECT_EQ(daemon.get("/api/v1/dashboard?revision=0&sample_ms=0").status, 200);
  // Monitors add what keeps a cache from answering.
  for (const char* path : {"/status?t=1", "/metrics?t=1", "/healthz?t=1", "/readyz?t=1", "/?t=1"}) {
    EXPECT_EQ(daemon.get(path).status, 200) << path;
  }
}

// Goal: whoever refuses (route, checks before it, library, listener), the answer is the same kind
// of object and is counted once. Method: a request for each way to be refused, beside a list of its
// own.
TEST(HttpRoutes, EveryAnswerIsCountedAndEveryErrorHasTheSameShape) {
  std::mutex mutex;
  std::vector<int> counted;
  Config config = HttpTestDaemon::quick_config();
  config.http.body_bytes_max = 1'000;
  config.http.read_timeout = std::chrono::milliseconds(200);
  const HttpTestDaemon daemon(config, 10'000, [&](int status) {
    const std::lock_guard lock(mutex);
    counted.push_back(status);
  });
  std::vector<int> expected;
  const auto check = [&](const Answer& answer, int status) {
    EXPECT_EQ(answer.status, status) << answer.body;
    expected.push_back(status);
    if (status < 400) return;
    ASSERT_TRUE(answer.json().is_object()) << status << " " << answer.body;
    const auto error = answer.json()["error"];
    EXPECT_TRUE(error["kind"].is_string() && error["message"].is_string()) << answer.body;
    EXPECT_EQ(answer.headers.at("content-type"), "application/json") << status;
  };
  const auto raw = [&](const std::string& bytes) {
    RawClient client(daemon.address());
    client.send(bytes);
    return client.receive();
  };
  check(daemon.get("/status"), 200);
  check(daemon.get("/nothing"), 404);
  check(daemon.ask("PUT", "/status"), 405);
  check(daemon.get("/api/v1/jobs?a=1"), 400);
  check(daemon.get("/api/v1/jobs/none"), 404);
  check(daemon.ask("POST", "/api/v1/proofs", std::string(2'000, 'x')), 413);
  check(daemon.ask("POST", "/api/v1/proofs", "x", "Content-Encoding: gzip\r\n"), 415);
  check(raw("POST /api/v1/proofs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n"
            "Expect: 100-continue\r\n\r\n"),
        413);
  check(raw("POST /api/v1/proofs HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n"),
        403);
  check(raw("hello\r\n\r\n"), 400);
  check(raw("GET /status HT"), 408);
  check(daemon.get("/" + std::string(5'000, 'a')), 414);
  std::string headers;
  for (int i = 0; i < 600; ++i) headers += fmt::format("X-{}: {}\r\n", i, std::string(80, 'x'));
  check(raw("GET /status HTTP/1.1\r\n" + headers), 431);
  // An answer is counted when it has been sent.
  for (int i = 0; i < 500; ++i) {
    {
      const std::lock_guard lock(mutex);
      if (counted.size() == expected.size()) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::sort(expected.begin(), expected.end());
  const std::lock_guard lock(mutex);
  std::sort(counted.begin(), counted.end());
  EXPECT_EQ(counted, expected);
}

TEST(HttpRoutes, EscapesThatMeanNothingAreUndoneAndOthersStay) {
  EXPECT_EQ(path_of_target("/api/v1/jobs/a%2Fwait?timeout=1s"), "/api/v1/jobs/a%2Fwait");
  EXPECT_EQ(path_of_target("/%61pi/%7E%2d%2E%5f#x"), "/api/~-._");
  EXPECT_EQ(path_of_target("/a%252Fb"), "/a%252Fb");
  EXPECT_EQ(path_of_target("/a%20b%0a%ff%zz%4"), "/a%20b%0a%ff%zz%4");
  EXPECT_EQ(path_of_target("/a%"), "/a%");
  EXPECT_EQ(path_of_target("/%+1%-1% 1"), "/%+1%-1% 1");
  EXPECT_EQ(path_of_target(""), "");
}

}  // namespace
}  // namespace cuzk::service
