// The commands that talk to a daemon, as a user types them.
//
// One daemon of its own a test, with a small circuit; the commands are separate processes. What the
// daemon answers to other clients is for daemon_test.cpp and curio_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/daemon.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class ClientCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    socket_ = "unix://" + scratch_.file("cuzk.sock");
    daemon_.emplace(scratch_.path(), "[daemon]\nlisten = [\"" + socket_ +
                                         "\", \"127.0.0.1:0\"]\nstatus_listen = \"127.0.0.1:0\"\n"
                                         "[journal]\nfolder = \"" +
                                         scratch_.file("journal") + "\"\n[gpus]\ncpu = \"only\"\n" +
                                         "[[circuits]]\nname = \"mul1000\"\nzkey = \"" + kCase +
                                         "/circuit_final.zkey\"\n");
  }

  CommandResult cuzk(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, {"--addr", socket_});
    return run_program(CUZK_COMMAND, arguments);
  }
  CommandResult submit(const std::string& id, std::vector<std::string> more = {}) {
    std::vector<std::string> all = {
        "submit", "--circuit", "mul1000", "--witness", kCase + "/witness.wtns", "--id", id};
    all.insert(all.end(), more.begin(), more.end());
    return cuzk(all);
  }

  const std::string kCase = CUZK_TEST_DATA "/circom/mul1000-bn128";
  TemporaryFolder scratch_;
  std::string socket_;
  std::optional<DaemonProcess> daemon_;
};

TEST_F(ClientCommands, SubmitWaitsAndWritesAProofThatVerifies) {
  const std::string proof = scratch_.file("proof.json"), values = scratch_.file("public.json");
  const CommandResult done =
      submit("a", {"--wait", "--proof", proof, "--public", values, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_EQ(done.json()["state"], "completed");
  EXPECT_GT(done.json()["total_s"], 0);
  const CommandResult verified = run_program(
      CUZK_COMMAND,
      {"verify", "--vkey", kCase + "/verification_key.json", "--public", values, "--proof", proof});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST_F(ClientCommands, ProveByADaemonGivesTheSameFilesAsProveHere) {
  const std::string proof = scratch_.file("proof.json"), values = scratch_.file("public.json");
  const CommandResult done = cuzk({"prove", "--circuit", "mul1000", "--witness",
                                   kCase + "/witness.wtns", "--proof", proof, "--public", values});
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_EQ(Json::parse(read_text(values)), Json::parse(read_text(kCase + "/public.json")));
  EXPECT_EQ(run_program(CUZK_COMMAND, {"verify", "--vkey", kCase + "/verification_key.json",
                                       "--public", values, "--proof", proof})
                .exit_code,
            0);
  EXPECT_EQ(cuzk({"prove", "--witness", "w", "--proof", proof, "--public", values}).exit_code, 2)
      << "neither a key nor a circuit";
}

TEST_F(ClientCommands, AwaitReturnsTheSameBytesAgain) {
  ASSERT_EQ(submit("a").exit_code, 0);
  std::string before;
  for (const char* name : {"once", "twice"}) {
    const CommandResult done =
        cuzk({"await", "a", "--timeout", "60s", "--out", scratch_.file(name)});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("a is proved"));
    const std::string bytes = read_text(scratch_.file(name));
    EXPECT_TRUE(before.empty() || bytes == before);
    before = bytes;
  }
  const CommandResult again = submit("a", {"--json"});
  EXPECT_EQ(again.json()["joined"], true);
}

TEST_F(ClientCommands, JobsStatusAndTopTellOfIt) {
  ASSERT_EQ(submit("a", {"--wait"}).exit_code, 0);
  const Json jobs = cuzk({"jobs", "--json"}).json();
  ASSERT_EQ(jobs["jobs"].size(), 1U);
  EXPECT_EQ(jobs["jobs"][0]["job_id"], "a");
  EXPECT_EQ(cuzk({"jobs", "--state", "failed", "--json"}).json()["jobs"].size(), 0U);
  EXPECT_THAT(cuzk({"jobs"}).out, ContainsRegex("completed +- +[0-9]+\\.[0-9]"));
  EXPECT_EQ(cuzk({"jobs", "--kind", "circom", "--json"}).json()["jobs"].size(), 1U);
  EXPECT_EQ(cuzk({"jobs", "--kind", "porep-c2", "--json"}).json()["jobs"].size(), 0U);
  EXPECT_THAT(cuzk({"jobs", "--kind", "plonk"}).err, HasSubstr("kind 'plonk' is none of "));
  const CommandResult status = cuzk({"status"});
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_THAT(status.out, HasSubstr("ready"));
  EXPECT_EQ(cuzk({"status", "--json"}).json()["total_proofs_completed"], 1);
  EXPECT_THAT(cuzk({"top", "--once"}).out, HasSubstr("1 proved"));
}

TEST_F(ClientCommands, KeysAreLoadedAndEvicted) {
  const CommandResult loaded = cuzk({"preload", "circom:mul1000", "--json"});
  ASSERT_EQ(loaded.exit_code, 0) << loaded.out << loaded.err;
  EXPECT_EQ(loaded.json()["already_loaded"], false);
  EXPECT_EQ(cuzk({"preload", "circom:mul1000", "--json"}).json()["already_loaded"], true);
  EXPECT_EQ(cuzk({"evict", "circom:mul1000", "--json"}).json()["was_loaded"], true);
  EXPECT_EQ(cuzk({"evict", "circom:mul1000", "--json"}).json()["was_loaded"], false);
  const CommandResult unknown = cuzk({"preload", "nothing", "--json"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.json()["error"]["kind"], "not_found");
}

TEST_F(ClientCommands, ErrorsAreSentencesWithExitCodes) {
  EXPECT_EQ(cuzk({"await", "none"}).exit_code, 2);
  EXPECT_EQ(cuzk({"cancel", "none", "--json"}).json()["error"]["kind"], "not_found");
  ASSERT_EQ(submit("a", {"--wait"}).exit_code, 0);
  const CommandResult over = cuzk({"cancel", "a"});
  EXPECT_EQ(over.exit_code, 1) << "it is over";
  EXPECT_THAT(over.out, HasSubstr("completed"));
  EXPECT_EQ(cuzk({"submit", "--circuit", "other", "--witness", kCase + "/witness.wtns"}).exit_code,
            2);
  EXPECT_EQ(cuzk({"submit", "--witness", "x"}).exit_code, 2) << "nothing is said to be proved";
  EXPECT_EQ(cuzk({"submit", "--circuit", "mul1000"}).exit_code, 2);
  EXPECT_EQ(cuzk({"jobs", "--state", "ended"}).exit_code, 2);
  const auto submit_sized = [&](const std::string& size) {
    const CommandResult result =
        cuzk({"submit", "--c1", kCase + "/witness.wtns", "--sector-size", size});
    EXPECT_EQ(result.exit_code, 2) << size;
    return result.err;
  };
  for (const char* size : {"2KiB", "2048", "2048B"}) {  // that the file is no C1 comes later
    EXPECT_THAT(submit_sized(size), Not(HasSubstr("sector-size"))) << size;
  }
  EXPECT_THAT(submit_sized("2000.5B"), HasSubstr("--sector-size: '2000.5B' is not a size"));
  EXPECT_THAT(submit_sized("2.0001KiB"), HasSubstr("--sector-size: '2.0001KiB' is not a size"));
  const std::string nowhere = scratch_.file("none/proof.bin");
  EXPECT_THAT(cuzk({"await", "a", "--out", nowhere}).err, HasSubstr("there is no folder"));
  EXPECT_THAT(submit("b", {"--wait", "--proof", nowhere}).err, HasSubstr("there is no folder"));
  EXPECT_EQ(cuzk({"await", "b"}).exit_code, 2) << "it was not sent";
  const CommandResult absent =
      run_program(CUZK_COMMAND, {"status", "--addr", "unix://" + scratch_.file("none.sock")});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, HasSubstr("no daemon answers"));
  EXPECT_EQ(run_program(CUZK_COMMAND, {"status", "--addr", "nowhere"}).exit_code, 2);
  const std::string http = "127.0.0.1:" + daemon_->port_after("http 127.0.0.1:");
  const CommandResult other_door = run_program(CUZK_COMMAND, {"status", "--addr", http});
  EXPECT_EQ(other_door.exit_code, 2);
  EXPECT_THAT(other_door.err, HasSubstr(http + " speaks HTTP, not gRPC"));
}

// A server has a proxy for the world outside; a daemon on the same machine is not reached by it,
// and the token is not its to hear.
TEST_F(ClientCommands, AProxyOfTheEnvironmentIsNotAskedForThisMachine) {
  const std::string port = daemon_->port_after("listening on 127.0.0.1:");
  for (const std::string host : {"127.0.0.1:", "localhost:", ":"}) {
    const CommandResult status = run_program(
        "env", {"-u", "no_proxy", "-u", "no_grpc_proxy", "http_proxy=http://127.0.0.1:1",
                "https_proxy=http://127.0.0.1:1", "grpc_proxy=http://127.0.0.1:1", CUZK_COMMAND,
                "status", "--addr", host + port});
    EXPECT_EQ(status.exit_code, 0) << host << status.err;
  }
}

TEST_F(ClientCommands, TroubleWithTlsIsOneSentenceThatNamesTheFlag) {
  const std::string tcp = "127.0.0.1:" + daemon_->port_after("listening on 127.0.0.1:");
  const auto refused = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"status", "--addr", tcp});
    const CommandResult result = run_program(CUZK_COMMAND, flags);
    expect_one_sentence(result);
    return result.err;
  };
  EXPECT_THAT(refused({"--tls"}), HasSubstr(tcp + " does not speak TLS (--tls"));
  const std::string no_pem = scratch_.file("cuzk.toml");
  EXPECT_THAT(refused({"--tls-ca", no_pem}), HasSubstr(no_pem + ": is no PEM file"));
  const std::string broken = scratch_.file("broken.pem");
  write_text(broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  EXPECT_THAT(refused({"--tls-ca", broken}), HasSubstr("--tls-ca"));
}

// By number and by the name that needs no resolver; the certificate has both.
TEST(ClientOverTls, KnowsADaemonByItsNameOnThisMachine) {
  const TemporaryFolder scratch;
  make_certificate(scratch.path(), "server");
  DaemonProcess daemon(
      scratch.path(),
      "[daemon]\nlisten = \"127.0.0.1:0\"\nstatus_listen = \"off\"\n[journal]\n"
      "folder = \"" +
          scratch.file("journal") + "\"\n[gpus]\ncpu = \"only\"\n[tls]\ncertificate = \"" +
          scratch.file("server.crt") + "\"\nkey = \"" + scratch.file("server.key") + "\"\n");
  const std::string port = daemon.port_after("listening on 127.0.0.1:");
  for (const std::string host : {"localhost:", "127.0.0.1:"}) {
    const CommandResult status = run_program(
        CUZK_COMMAND, {"status", "--addr", host + port, "--tls-ca", scratch.file("server.crt")});
    EXPECT_EQ(status.exit_code, 0) << host << status.err;
  }
}

TEST_F(ClientCommands, LoadIsMeasuredAndCounted) {
  std::vector<std::string> load = {
      "bench",         "load",
      "--addr",        socket_,
      "--job",         "circuit=mul1000,witness=" + kCase + "/witness.wtns,weight=3",
      "--job",         "circuit=mul1000,priority=low,witness=" + kCase + "/witness.wtns",
      "--count",       "12",
      "--concurrency", "3",
      "--json"};
  const CommandResult run = run_program(CUZK_COMMAND, load);
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(run.json()["completed"], 12);
  EXPECT_GT(run.json()["proofs_per_second"], 0);
  EXPECT_LE(run.json()["latency_p50_ms"], run.json()["latency_p99_ms"]);
  EXPECT_EQ(cuzk({"status", "--json"}).json()["total_proofs_completed"], 12);
}

TEST_F(ClientCommands, TheRestMirrorWorksWithCurl) {
  if (run_program("curl", {"--version"}).exit_code != 0) GTEST_SKIP() << "needs curl";
  const std::string base =
      "http://127.0.0.1:" + daemon_->port_after("http 127.0.0.1:") + "/api/v1/";
  const CommandResult sent =
      run_program("curl", {"-sS", "--data-binary", "@" + kCase + "/witness.wtns",
                           base + "circuits/mul1000/jobs?request_id=by-curl"});
  EXPECT_EQ(sent.json()["job_id"], "by-curl") << sent.out << sent.err;
  EXPECT_EQ(run_program("curl", {"-sS", base + "jobs/by-curl/wait?timeout=1m"}).json()["state"],
            "completed");
  const Json result = run_program("curl", {"-sS", base + "jobs/by-curl/result"}).json();
  EXPECT_TRUE(result.contains("proof"));
  EXPECT_TRUE(result.contains("public"));
  EXPECT_EQ(run_program("curl", {"-sS", "-X", "DELETE", base + "jobs/by-curl"}).json()["state"],
            "completed");
}

TEST(ConfigCommand, SaysWhetherADaemonWouldStart) {
  const TemporaryFolder scratch;
  const std::string file = scratch.file("cuzk.toml");
  write_text(file, "[memory]\ntotal_budget = \"100MiB\"\npinned_budget = \"1GiB\"\n");
  const CommandResult fine = run_program(CUZK_COMMAND, {"config", "check", file, "--json"});
  ASSERT_EQ(fine.exit_code, 0) << fine.err;
  EXPECT_EQ(fine.json()["memory_budget_bytes"], 100 << 20);
  EXPECT_EQ(fine.json()["warnings"].size(), 1U);
  write_text(file, "[daemon]\nlisten = [\"127.0.0.1:1\", \"unix:///a\"]\n");
  const CommandResult both = run_program(CUZK_COMMAND, {"config", "check", file, "--json"});
  EXPECT_EQ(both.json()["listen"], nlohmann::json({"127.0.0.1:1", "unix:///a"}));
  EXPECT_THAT(run_program(CUZK_COMMAND, {"config", "check", file}).out,
              HasSubstr("gRPC at: 127.0.0.1:1, unix:///a\n"));
  write_text(file, "[memory]\ntotal_bugdet = \"100MiB\"\n");
  const CommandResult wrong = run_program(CUZK_COMMAND, {"config", "check", file});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr(":2: there is no key memory.total_bugdet; did you mean "
                                   "memory.total_budget?"));
  write_text(file, "[[circuits]]\nname = \"a\"\nzkey = \"/none.zkey\"\n");
  EXPECT_THAT(run_program(CUZK_COMMAND, {"config", "check", file}).err, HasSubstr("/none.zkey"));
  write_text(file, "[[circuits]]\nname = \"a\"\nzkey = \"" CUZK_TEST_DATA
                   "/circom/mul1000-bn128/witness.wtns\"\n");
  EXPECT_THAT(run_program(CUZK_COMMAND, {"config", "check", file}).err,
              HasSubstr("the file begins with \"wtns\", expected \"zkey\""));
  write_text(file, "[srs]\nload_at_start = [\"porep-9k\"]\n");
  const CommandResult no_key = run_program(CUZK_COMMAND, {"config", "check", file});
  EXPECT_EQ(no_key.exit_code, 0) << "the daemon starts and logs it";
  EXPECT_THAT(no_key.out, HasSubstr("srs.load_at_start: no key is named 'porep-9k'"));
  write_text(file, "[journal]\nfolder = \"" + file + "\"\n");
  const CommandResult no_folder = run_program(CUZK_COMMAND, {"config", "check", file});
  EXPECT_EQ(no_folder.exit_code, 2) << no_folder.out;
  EXPECT_THAT(no_folder.err, HasSubstr("journal.folder: " + file + ": cannot be made a folder"));
}

// What a check of a configuration says, and that the daemon says the same and ends with it.
std::string refused_by_both(const TemporaryFolder& scratch, const std::string& toml) {
  const std::string file = scratch.file("refused.toml");
  write_text(file,
             "[daemon]\nlisten = \"127.0.0.1:0\"\nstatus_listen = \"off\"\n[journal]\nfolder = \"" +
                 scratch.file("journal") + "\"\n[gpus]\ncpu = \"only\"\n" + toml);
  const CommandResult check = run_program(CUZK_COMMAND, {"config", "check", file});
  expect_one_sentence(check);
  const CommandResult daemon = run_program(CUZK_COMMAND, {"daemon", "--config", file});
  EXPECT_EQ(daemon.exit_code, 2) << daemon.err;
  EXPECT_THAT(daemon.err, ::testing::EndsWith(check.err));
  return check.err;
}

TEST(ConfigCommand, FilesOfTlsAreTriedAsTheDaemonTriesThem) {
  const TemporaryFolder scratch;
  for (const char* name : {"server", "other"}) make_certificate(scratch.path(), name);
  const auto tls = [&](const std::string& certificate, const std::string& key,
                       const std::string& more = "") {
    return "[tls]\ncertificate = \"" + scratch.file(certificate) + "\"\nkey = \"" +
           scratch.file(key) + "\"\n" + more;
  };
  write_text(scratch / "fine.toml", tls("server.crt", "server.key"));
  const CommandResult fine =
      run_program(CUZK_COMMAND, {"config", "check", scratch.file("fine.toml")});
  EXPECT_EQ(fine.exit_code, 0) << fine.err;
  EXPECT_EQ(fine.err, "");
  EXPECT_THAT(refused_by_both(scratch, tls("server.crt", "other.key")),
              HasSubstr(scratch.file("server.crt") + " and " + scratch.file("other.key") +
                        ": are no certificate and its key"));
  EXPECT_THAT(refused_by_both(scratch, tls("server.key", "server.key")),
              HasSubstr("is no PEM file, for it has no line with \"BEGIN CERTIFICATE\""));
  EXPECT_THAT(refused_by_both(scratch, tls("none.crt", "server.key")),
              HasSubstr(scratch.file("none.crt")));
  write_text(scratch / "broken.crt",
             "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  EXPECT_THAT(refused_by_both(scratch, tls("broken.crt", "server.key")),
              HasSubstr("are no certificate and its key"));
  EXPECT_THAT(refused_by_both(scratch, tls("server.crt", "server.key",
                                           "client_ca = \"" + scratch.file("none.ca") + "\"\n")),
              HasSubstr(scratch.file("none.ca")));
}

TEST(ConfigCommand, PrintsWhatADaemonWouldUse) {
  const TemporaryFolder scratch;
  const std::string file = scratch.file("cuzk.toml"), again = scratch.file("again.toml");
  write_text(file, "[http]\nmax_body = \"1MiB\"\n");
  const CommandResult few =
      run_program(CUZK_COMMAND, {"config", "print-effective", file, "--differences"});
  EXPECT_EQ(few.out, "[http]\n# Largest request body.\nmax_body = \"1MiB\"\n");
  write_text(again, run_program(CUZK_COMMAND, {"config", "print-effective", file}).out);
  EXPECT_EQ(run_program(CUZK_COMMAND, {"config", "print-effective", again}).out, read_text(again));
  for (const char* level : {"warn", "warning"}) {
    EXPECT_THAT(
        run_program(CUZK_COMMAND, {"daemon", "--log-level", level, "--print-effective"}).out,
        HasSubstr("level = \"warn\""));
  }
}

}  // namespace
}  // namespace cuzk::testing
