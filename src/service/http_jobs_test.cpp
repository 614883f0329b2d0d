// The REST mirror, through real sockets.
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "service/http_test_support.h"

namespace cuzk::service {
namespace {

using namespace testing_support;

TEST(HttpJobs, SubmitWaitAndFetchTheResult) {
  const HttpTestDaemon daemon;
  ASSERT_TRUE(daemon.started().ok());
  const base::Bytes input = script(2, 1, End::kProof, 7);
  const Answer submitted = daemon.submit("job-1", input);
  EXPECT_EQ(submitted.status, 202) << submitted.body;
  EXPECT_EQ(submitted.json()["job_id"], "job-1");
  EXPECT_EQ(submitted.json()["joined"], false);
  const Answer waited = daemon.get("/api/v1/jobs/job-1/wait?timeout=20s");
  EXPECT_EQ(waited.status, 200) << waited.body;
  EXPECT_EQ(waited.json()["state"], "completed");
  EXPECT_EQ(waited.json()["kind"], "circom");
  EXPECT_EQ(waited.json()["times"]["witness_ms"], times_of(input).witness_ms);
  const Answer result = daemon.get("/api/v1/jobs/job-1/result");
  const base::Bytes proof = proof_of(input);
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.headers.at("content-type"), "application/octet-stream");
  EXPECT_EQ(result.body, std::string(proof.begin(), proof.end()));
}

// A slash of the id is escaped in a path, as any client's function for a part of a path does it;
// then nothing of the id is taken for what is asked about the job.
TEST(HttpJobs, AnIdMayEndLikeAPath) {
  const HttpTestDaemon daemon;
  const std::pair<std::string, std::string> ids[] = {
      {"a/wait", "a%2Fwait"}, {"a/result", "a%2fresult"},   {"a/cancel", "a%2Fcancel"},
      {"a", "%61"},           {"wait/wait", "wait%2Fwait"}, {"b%2Fwait", "b%252Fwait"}};
  std::uint64_t seed = 0;
  for (const auto& [id, escaped] : ids) {
    const base::Bytes input = script(1, 0, End::kProof, ++seed);
    std::string in_query = id;
    for (std::size_t at = 0; (at = in_query.find('%', at)) != in_query.npos; ++at) {
      in_query.replace(at, 1, "%25");
    }
    EXPECT_EQ(daemon.submit(in_query, input).json()["job_id"], id);
    const std::string path = "/api/v1/jobs/" + escaped;
    EXPECT_EQ(daemon.get(path + "/wait").json()["job_id"], id);
    const Answer found = daemon.get(path);
    EXPECT_EQ(found.status, 200) << id << found.body;
    EXPECT_EQ(found.json()["job_id"], id);
    const base::Bytes proof = proof_of(input);
    EXPECT_EQ(daemon.get(path + "/result").body, std::string(proof.begin(), proof.end()));
    EXPECT_EQ(daemon.ask("POST", path + "/cancel").json()["state"], "completed") << id;
    EXPECT_EQ(daemon.ask("DELETE", path).json()["state"], "completed") << id;
  }
  // Where no ending is in the way a slash may stand as it is.
  daemon.submit("x/y", script(1, 0, End::kProof, 99));
  EXPECT_EQ(daemon.get("/api/v1/jobs/x/y/wait").json()["job_id"], "x/y");
  EXPECT_EQ(daemon.get("/api/v1/jobs/x%2Fz").status, 404);
}

TEST(HttpJobs, TheSameIdJoinsAndAnotherInputIsRefused) {
  const HttpTestDaemon daemon;
  EXPECT_EQ(daemon.submit("a", script(1, 1, End::kHold, 1)).status, 202);
  const Answer joined = daemon.submit("a", script(1, 1, End::kHold, 1));
  EXPECT_EQ(joined.status, 200);
  EXPECT_EQ(joined.json()["joined"], true);
  const Answer other = daemon.submit("a", script(1, 1, End::kHold, 2));
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.json()["error"]["kind"], "already_exists");
}

TEST(HttpJobs, TakesTheJsonFormOfSubmitProofRequest) {
  const HttpTestDaemon daemon;
  // The script {1, 0, 0, 0...} in base64, under both spellings of the names.
  for (const char* body :
       {R"({"request_id":"x","proof_kind":"POREP_SEAL_COMMIT","sector_size":"2048",)"
        R"("registered_proof":5,"vanilla_proof":"AQAAAAAAAAAAAAA="})",
        R"({"requestId":"y","proofKind":1,"sectorSize":2048,"vanillaProof":"AQAAAAAAAAAAAAA="})"}) {
    const Answer answer =
        daemon.ask("POST", "/api/v1/proofs", body, "Content-Type: application/json\r\n");
    EXPECT_EQ(answer.status, 202) << answer.body;
  }
  EXPECT_EQ(daemon.get("/api/v1/jobs/x/wait").json()["kind"], "porep");
}

TEST(HttpJobs, TakesAC1FileAsItIs) {
  const HttpTestDaemon daemon;
  const base::Bytes input = script(1, 0, End::kProof, 3);
  const std::string body(input.begin(), input.end());
  // The type that curl sends unasked must not make a form of it.
  const Answer answer =
      daemon.ask("POST", "/api/v1/proofs/porep?request_id=p&sector_size=2048&miner_id=1000", body,
                 "Content-Type: application/x-www-form-urlencoded\r\n");
  EXPECT_EQ(answer.status, 202) << answer.body;
  EXPECT_EQ(daemon.get("/api/v1/jobs/p").json()["input_bytes"], input.size());
}

TEST(HttpJobs, CancelTwiceUnknownAndFinished) {
  const HttpTestDaemon daemon;
  daemon.submit("a", script(1, 0, End::kHold, 1));
  const Answer once = daemon.ask("DELETE", "/api/v1/jobs/a");
  EXPECT_EQ(once.status, 200) << once.body;
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/wait").json()["state"], "cancelled");
  EXPECT_EQ(daemon.ask("POST", "/api/v1/jobs/a/cancel").status, 200);
  EXPECT_EQ(daemon.ask("DELETE", "/api/v1/jobs/none").status, 404);
  daemon.submit("b", script(1, 0, End::kProof, 2));
  daemon.get("/api/v1/jobs/b/wait");
  const Answer over = daemon.ask("DELETE", "/api/v1/jobs/b");
  EXPECT_EQ(over.json()["state"], "completed");
  EXPECT_EQ(over.json()["was_running"], false);
}

TEST(HttpJobs, AWaitEndsWithItsTimeAndTheJobGoesOn) {
  HttpTestDaemon daemon;
  daemon.submit("a", script(1, 0, End::kHold, 1));
  const Answer early = daemon.get("/api/v1/jobs/a/wait?timeout=50ms");
  EXPECT_EQ(early.status, 202);
  EXPECT_NE(early.json()["state"], "completed");
  daemon.executor().release_held();
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/wait").json()["state"], "completed");
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/wait?timeout=5").status, 400) << "no unit";
  EXPECT_EQ(daemon.get("/api/v1/jobs/none/wait").status, 404);
}

TEST(HttpJobs, AFailedJobSaysWhyAndHasNoResult) {
  const HttpTestDaemon daemon;
  daemon.submit("a", script(1, 0, End::kFailure, 1));
  const Answer waited = daemon.get("/api/v1/jobs/a/wait");
  EXPECT_EQ(waited.json()["state"], "failed");
  EXPECT_EQ(waited.json()["error"]["message"], kFailureSentence);
  const Answer result = daemon.get("/api/v1/jobs/a/result");
  EXPECT_EQ(result.status, 422);
  EXPECT_EQ(result.json()["error"]["message"], kFailureSentence);
  EXPECT_EQ(daemon.get("/api/v1/jobs/none/result").status, 404);
}

TEST(HttpJobs, AResultAskedForTooEarlyIsNotDoneYet) {
  HttpTestDaemon daemon;
  ASSERT_EQ(daemon.submit("a", script(1, 0, End::kHold, 1)).status, 202);
  const Answer early = daemon.get("/api/v1/jobs/a/result");
  EXPECT_EQ(early.status, 409);
  EXPECT_EQ(early.json()["error"]["kind"], "not_done");
  const std::string state = early.json()["error"]["state"];
  EXPECT_TRUE(state == "queued" || state == "running") << state;
  EXPECT_NE(early.json()["error"]["message"].get<std::string>().find("the job is " + state),
            std::string::npos);
  daemon.submit("b", script(1, 0, End::kHold, 2));
  ASSERT_EQ(daemon.ask("DELETE", "/api/v1/jobs/b").status, 200);
  ASSERT_EQ(daemon.get("/api/v1/jobs/b/wait").json()["state"], "cancelled");
  const Answer cancelled = daemon.get("/api/v1/jobs/b/result");
  EXPECT_EQ(cancelled.status, 409);
  EXPECT_EQ(cancelled.json()["error"]["kind"], "cancelled");
  daemon.executor().release_held();
  ASSERT_EQ(daemon.get("/api/v1/jobs/a/wait").status, 200);
  EXPECT_EQ(daemon.get("/api/v1/jobs/a/result").status, 200);
}

TEST(HttpJobs, ParametersOfAJsonSubmissionCountAndMayNotContradictIt) {
  const HttpTestDaemon daemon;
  const auto send = [&](const std::string& query, const std::string& fields) {
    return daemon.ask("POST", "/api/v1/proofs" + query,
                      R"({"proof_kind":1,"vanilla_proof":"AQAAAAAAAAAAAAA=")" + fields + "}");
  };
  const Answer named = send("?request_id=q&priority=critical&deadline_ms=77", "");
  EXPECT_EQ(named.status, 202) << named.body;
  const auto job = daemon.get("/api/v1/jobs/q").json();
  EXPECT_EQ(job["priority"], "critical");
  EXPECT_EQ(job["deadline_ms"], 77);
  EXPECT_EQ(send("?request_id=r", R"(,"request_id":"r")").status, 202);
  const Answer other = send("?request_id=s", R"(,"request_id":"t")");
  EXPECT_EQ(other.status, 400);
  EXPECT_NE(other.body.find("parameter request_id"), std::string::npos);
  EXPECT_EQ(daemon.get("/api/v1/jobs/t").status, 404);
}

TEST(HttpJobs, ListsInPagesByStateAndKind) {
  const HttpTestDaemon daemon;
  for (int i = 0; i < 5; ++i) {
    const std::string id = "job-" + std::to_string(i);
    daemon.submit(id, script(1, 0, End::kProof, static_cast<std::uint64_t>(i)));
    daemon.get("/api/v1/jobs/" + id + "/wait");
  }
  std::size_t seen = 0;
  std::string after = "0";
  for (int page = 0; page < 5; ++page) {
    const auto body = daemon.get("/api/v1/jobs?limit=2&after=" + after).json();
    seen += body["jobs"].size();
    if (body["next_after"].is_null()) break;
    after = body["next_after"].dump();
  }
  EXPECT_EQ(seen, 5U);
  EXPECT_EQ(daemon.get("/api/v1/jobs?state=completed").json()["jobs"].size(), 5U);
  EXPECT_EQ(daemon.get("/api/v1/jobs?state=queued,failed").json()["jobs"].size(), 0U);
  EXPECT_EQ(daemon.get("/api/v1/jobs?kind=circom").json()["jobs"].size(), 5U);
  EXPECT_EQ(daemon.get("/api/v1/jobs?kind=public-circom").json()["jobs"].size(), 5U)
      << "the name that the status shows";
  EXPECT_EQ(daemon.get("/api/v1/jobs?kind=porep").json()["jobs"].size(), 0U);
  EXPECT_NE(daemon.get("/api/v1/jobs?kind=plonk").body.find("none of circom, "), std::string::npos);
  for (const char* bad : {"state=ended", "kind=plonk", "limit=0", "limit=1001", "limit=-1",
                          "after=x", "limit=99999999999999999999"}) {
    const Answer answer = daemon.get(std::string("/api/v1/jobs?") + bad);
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_NE(answer.json()["error"]["message"].get<std::string>().find("parameter"),
              std::string::npos);
  }
}

TEST(HttpJobs, NumbersAndRepeatsOfTheQueryAreRefusedWithASentence) {
  const HttpTestDaemon daemon;
  const auto sentence = [&](const std::string& path, const char* method = "GET") {
    const Answer answer = daemon.ask(method, path, std::string(method) == "POST" ? "x" : "");
    EXPECT_EQ(answer.status, 400) << path;
    return answer.json()["error"]["message"].get<std::string>();
  };
  for (const char* number :
       {"9223372036854775808", "18446744073709551616", "99999999999999999999999999"}) {
    EXPECT_EQ(sentence(fmt::format("/api/v1/jobs?after={}", number)),
              fmt::format("parameter after: {} is more than 9223372036854775807, the largest "
                          "there is",
                          number));
    EXPECT_EQ(sentence(fmt::format("/api/v1/proofs/porep?deadline_ms={}", number), "POST"),
              fmt::format("parameter deadline_ms: {} is more than 9223372036854775807, the "
                          "largest there is",
                          number));
  }
  EXPECT_EQ(daemon.get("/api/v1/jobs?after=9223372036854775807").status, 200);
  EXPECT_EQ(sentence("/api/v1/proofs/porep?miner_id=18446744073709551616", "POST"),
            "parameter miner_id: 18446744073709551616 is more than 18446744073709551615, the "
            "largest there is");
  for (const char* query : {"limit=1&limit=1", "limit=1&limit=2", "limit=1&%6cimit=1",
                            "limit&limit", "limit=1&after=0&limit=1"}) {
    EXPECT_EQ(sentence(fmt::format("/api/v1/jobs?{}", query)),
              "parameter limit: given 2 times, expected once")
        << query;
  }
  EXPECT_EQ(daemon.get("/api/v1/jobs?&limit=1&&after=0&").status, 200);
  EXPECT_EQ(daemon.get("/healthz?a=1&a=1").status, 200) << "ignored elsewhere";
}

TEST(HttpJobs, KeysAreLoadedAndEvicted) {
  const HttpTestDaemon daemon;
  EXPECT_EQ(daemon.ask("POST", "/api/v1/keys/porep-2k/preload").json()["already_loaded"], false);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/keys/porep-2k/preload").json()["already_loaded"], true);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/keys/porep-2k/evict").json()["freed_bytes"], 4096);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/keys/porep-2k/evict").json()["was_loaded"], false);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/keys/none/preload").status, 404);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/keys/in-use/evict").status, 503);
  const Answer room = daemon.ask("POST", "/api/v1/keys/no-room/preload");
  EXPECT_EQ(room.status, 429);
  EXPECT_EQ(room.headers.count("retry-after"), 1U);
  EXPECT_EQ(daemon.get("/api/v1/kinds").json()["kinds"].size(), 5U);
}

TEST(HttpJobs, BadSubmissionsAreRefusedWithASentence) {
  const HttpTestDaemon daemon;
  EXPECT_EQ(daemon.ask("POST", "/api/v1/circuits/none/jobs", "x").status, 404);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/circuits/toy/jobs", "").status, 400);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/circuits/toy/jobs", "x").status, 400);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/circuits/toy/jobs?priority=urgent", "x").status, 400);
  EXPECT_EQ(daemon.ask("POST", "/api/v1/proofs/porep?sector_size=two", "x").status, 400);
  const std::string deep(100'000, '[');
  for (const std::string& body : std::vector<std::string>{
           "", "x", "{", "[]", "null", "{\"request_id\":5}", "{\"nothing\":1}", deep,
           "{\"a\":" + deep, std::string("{\"request_id\":\"a\0b\"}", 20),
           "{\"request_id\":\"a\",}", "{'request_id':'a'}", "{\"vanilla_proof\":\"***\"}",
           "{\"proof_kind\":\"PLONK\"}", "\xff\xfe"}) {
    const Answer answer = daemon.ask("POST", "/api/v1/proofs", body);
    EXPECT_EQ(answer.status, 400) << body.substr(0, 80);
    ASSERT_FALSE(answer.json().is_discarded());
    const std::string sentence = answer.json()["error"]["message"];
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  }
  EXPECT_EQ(daemon.get("/api/v1/jobs").json()["jobs"].size(), 0U);
}

TEST(HttpJobs, AFullQueueSaysWhenToComeAgain) {
  HttpTestDaemon daemon(HttpTestDaemon::quick_config(), 1);
  ASSERT_EQ(daemon.submit("a", script(1, 0, End::kHold, 1)).status, 202);
  const Answer full = daemon.submit("b", script(1, 0, End::kHold, 2));
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(full.json()["error"]["kind"], "resource_exhausted");
  const std::int64_t hint_ms = daemon.engine().report().retry_after_ms;
  ASSERT_GT(hint_ms, 0);
  EXPECT_EQ(full.headers.at("retry-after"), std::to_string((hint_ms + 999) / 1000));
  daemon.engine().drain();
  const Answer draining = daemon.submit("c", script(1, 0, End::kHold, 2));
  EXPECT_EQ(draining.status, 503);
  EXPECT_EQ(draining.headers.at("retry-after"), "5");
}

TEST(HttpJobs, APostWithoutALengthHasNoBody) {
  HttpTestDaemon daemon;
  ASSERT_EQ(daemon.submit("a", script(1, 0, End::kHold, 1)).status, 202);
  RawClient client(daemon.address());
  // As curl -X POST sends it; the connection serves the next request too.
  client.send("POST /api/v1/jobs/a/cancel HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Answer cancelled = client.receive();
  EXPECT_EQ(cancelled.status, 200) << cancelled.body;
  EXPECT_EQ(cancelled.json()["state"], "cancelled");
  client.send("POST /api/v1/proofs HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive().status, 400) << "no request is in no body";
  client.send("GET /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
}

TEST(HttpJobs, OddIdsComeBackAsTheyWere) {
  const HttpTestDaemon daemon;
  const Answer answer =
      daemon.submit("%3Cscript%3Ealert(1)%3C%2Fscript%3E", script(1, 0, End::kProof, 1));
  ASSERT_EQ(answer.status, 202) << answer.body;
  EXPECT_EQ(answer.json()["job_id"], "<script>alert(1)</script>");
  EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(daemon.get("/api/v1/jobs/%3Cscript%3Ealert(1)%3C%2Fscript%3E").status, 200);
}

}  // namespace
}  // namespace cuzk::service
