// What happens to a daemon in daily life, as its own process: signals, killed clients, a damaged
// journal, odd surroundings, a tight budget, nothing left to prove with.
#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "tests/end_to_end/daemon.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const std::string kCase = CUZK_TEST_DATA "/circom/mul1000-bn128";

class Operations : public ::testing::Test {
 protected:
  // Tables of a daemon with the small circuit; `more` is inside [daemon].
  std::string toml(const std::string& more = "", const std::string& tables = "") const {
    return "[daemon]\nlisten = \"unix://" + scratch_.file("cuzk.sock") +
           "\"\nstatus_listen = \"127.0.0.1:0\"\n" + more + "[journal]\nfolder = \"" +
           scratch_.file("journal") + "\"\n" + tables +
           "[[circuits]]\nname = \"mul1000\"\nzkey = \"" + kCase + "/circuit_final.zkey\"\n";
  }
  static std::string cpu_only() { return "[gpus]\ncpu = \"only\"\n"; }

  // A program that is cuzk in an environment changed by these words of env(1).
  std::string cuzk_with(const std::string& changes) const {
    const std::string program = scratch_.file("cuzk-elsewhere");
    write_text(program, "#!/bin/sh\nexec env " + changes + " " + CUZK_COMMAND + " \"$@\"\n");
    fs::permissions(program, fs::perms::owner_all);
    return program;
  }
  CommandResult cuzk(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--addr", "unix://" + scratch_.file("cuzk.sock")});
    return run_cuzk(arguments);
  }
  CommandResult submit(const std::string& id, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"submit", "--circuit", "mul1000", "--witness",
                               kCase + "/witness.wtns", "--id", id});
    return cuzk(more);
  }
  // Sends so many jobs and does not wait for them.
  void send(int count) const {
    const CommandResult sent =
        cuzk({"bench", "load", "--job", "circuit=mul1000,witness=" + kCase + "/witness.wtns",
              "--rate", "10000", "--awaits", "0", "--status-interval", "0", "--leave-open",
              "--concurrency", "8", "--count", std::to_string(count), "--json"});
    ASSERT_EQ(sent.exit_code, 0) << sent.out << sent.err;
    EXPECT_EQ(sent.json()["accepted"], count);
  }
  std::size_t jobs_in(const std::string& state) const {
    return cuzk({"jobs", "--state", state, "--limit", "1000", "--json"}).json()["jobs"].size();
  }
  // Waits until so many are proved, for at most two minutes.
  void expect_completed(std::size_t count) const {
    for (int i = 0; i < 240 && jobs_in("completed") < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    EXPECT_EQ(jobs_in("completed"), count);
    EXPECT_EQ(jobs_in("failed"), 0U);
  }
  // So many connections to the daemon's socket that say nothing.
  std::vector<int> crowd_of(int count) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = scratch_.file("cuzk.sock");
    EXPECT_LT(path.size(), sizeof(address.sun_path));
    std::copy(path.begin(), path.end(), address.sun_path);
    std::vector<int> crowd;
    for (int i = 0; i < count; ++i) {
      crowd.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(::connect(crowd.back(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    }
    return crowd;
  }
  static double metric(const DaemonProcess& daemon, const std::string& name) {
    const std::string text = run_program("curl", {"-sS", metrics_url(daemon)}).out;
    const auto at = text.find("\n" + name + " ");
    return at == text.npos ? std::nan("") : std::stod(text.substr(at + name.size() + 2));
  }

  static std::string metrics_url(const DaemonProcess& daemon) {
    return "http://127.0.0.1:" + daemon.port_after("http 127.0.0.1:") + "/metrics";
  }

  TemporaryFolder scratch_;
};

// Ends a daemon with 150 jobs, of which few are done, by the signals; then all are proved.
class OperationsSignals : public Operations {
 protected:
  void expect_nothing_lost(const std::string& grace, const std::vector<int>& signals,
                           int exit_code) {
    constexpr int kJobs = 150;
    DaemonProcess daemon(scratch_.path(), toml("shutdown_grace = \"" + grace + "\"\n", cpu_only()));
    send(kJobs);
    EXPECT_GT(jobs_in("queued") + jobs_in("running"), 0U) << "faster than they were sent";
    daemon.signal(signals[0]);
    ASSERT_TRUE(daemon.wait_for("stopping: "));
    const CommandResult refused = submit("late");
    EXPECT_EQ(refused.exit_code, 2) << refused.out;
    for (std::size_t i = 1; i < signals.size(); ++i) daemon.signal(signals[i]);
    EXPECT_EQ(daemon.wait_exit(), exit_code) << daemon.log();
    daemon.start();
    expect_completed(kJobs);
    EXPECT_EQ(cuzk({"await", "late"}).exit_code, 2) << "what was refused is not there";
    EXPECT_EQ(daemon.stop(), 0) << daemon.log();
  }
};

TEST_F(OperationsSignals, Sigterm) { expect_nothing_lost("100ms", {SIGTERM}, 0); }
TEST_F(OperationsSignals, Sigint) { expect_nothing_lost("100ms", {SIGINT}, 0); }
TEST_F(OperationsSignals, ASecondOneEndsAtOnce) {
  expect_nothing_lost("10m", {SIGTERM, SIGTERM}, 130);
}

pid_t start_program(std::vector<std::string> words) {
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  pid_t id = 0;
  EXPECT_EQ(::posix_spawn(&id, raw[0], &actions, nullptr, raw.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return id;
}

TEST_F(Operations, ClientsThatAreKilledLeaveNothingBehind) {
  if (run_program("curl", {"--version"}).exit_code != 0) GTEST_SKIP() << "needs curl";
  DaemonProcess daemon(scratch_.path(), toml("", cpu_only()));
  send(100);
  ASSERT_EQ(submit("last", {"--priority", "low"}).exit_code, 0);
  std::vector<pid_t> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(start_program(
        {CUZK_COMMAND, "await", "last", "--addr", "unix://" + scratch_.file("cuzk.sock")}));
  }
  for (int i = 0; i < 200 && metric(daemon, "cuzk_waiting_calls") < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (jobs_in("completed") < 101) {
    EXPECT_EQ(metric(daemon, "cuzk_waiting_calls"), 10);
  }
  for (const pid_t client : clients) {
    ::kill(client, SIGKILL);
    ::waitpid(client, nullptr, 0);
  }
  for (int i = 0; i < 200 && metric(daemon, "cuzk_waiting_calls") > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(metric(daemon, "cuzk_waiting_calls"), 0);
  expect_completed(101);
  EXPECT_EQ(daemon.stop(), 0);
}

TEST_F(Operations, ATornJournalIsToldAndTheRestIsThere) {
  std::optional<DaemonProcess> daemon(std::in_place, scratch_.path(), toml("", cpu_only()));
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_EQ(submit(id, {"--wait"}).exit_code, 0);
  }
  daemon->signal(SIGKILL);
  daemon->wait_exit();
  const fs::path log = scratch_ / "journal" / "journal.db-wal";
  ASSERT_GT(fs::file_size(log), 1000U) << "a kill leaves the log";
  fs::resize_file(log, fs::file_size(log) - 100);
  daemon.emplace(scratch_.path(), toml("", cpu_only()));
  EXPECT_THAT(daemon->log(), HasSubstr("journal: "));
  for (const char* id : {"a", "b"}) {
    EXPECT_THAT(cuzk({"await", id}).out, HasSubstr("is proved")) << id;
  }
  // What was torn off is the end of the last job at most: it is there, or goes on.
  EXPECT_EQ(submit("c", {"--wait"}).exit_code, 0);
  EXPECT_EQ(daemon->stop(), 0);
}

TEST_F(Operations, StartsWithoutHomeOrTemporaryFolderAndAmongForeignFiles) {
  for (const char* name : {"journal.lock", "lock", "other.db-journal", "bellman.gpu.lock"}) {
    fs::create_directories(scratch_ / "journal");
    write_text(scratch_ / "journal" / name, "of somebody else");
    ::chmod((scratch_ / "journal" / name).c_str(), 0400);
  }
  DaemonProcess daemon(scratch_.path(), toml("", cpu_only()),
                       cuzk_with("-u HOME TMPDIR=/proc/none"));
  EXPECT_EQ(submit("a", {"--wait"}).exit_code, 0) << daemon.log();
  EXPECT_EQ(daemon.stop(), 0) << daemon.log();
}

TEST_F(Operations, WhatItWritesIsItsUsersAlone) {
  DaemonProcess daemon(scratch_.path(), toml("", cpu_only()));
  EXPECT_EQ(submit("a", {"--wait"}).exit_code, 0) << daemon.log();
  for (const auto& entry : fs::recursive_directory_iterator(scratch_ / "journal")) {
    struct stat found = {};
    ASSERT_EQ(::stat(entry.path().c_str(), &found), 0) << entry.path();
    EXPECT_EQ(found.st_mode & 077, 0U) << entry.path() << ": jobs hold witnesses";
  }
  struct stat journal = {};
  ASSERT_EQ(::stat(scratch_.file("journal").c_str(), &journal), 0);
  EXPECT_EQ(journal.st_mode & 077, 0U);
  struct stat socket = {};
  ASSERT_EQ(::stat(scratch_.file("cuzk.sock").c_str(), &socket), 0);
  EXPECT_EQ(socket.st_mode & 0777, 0660U) << "daemon.socket_mode";
  EXPECT_THAT(daemon.log(), HasSubstr("journal in " + scratch_.file("journal")));
  EXPECT_EQ(daemon.stop(), 0) << daemon.log();
}

TEST_F(Operations, WithoutACardItSaysSoOrProvesOnTheCpu) {
  const std::string program = cuzk_with("CUDA_VISIBLE_DEVICES=");
  write_text(scratch_ / "never.toml", toml("", "[gpus]\ncpu = \"never\"\n"));
  const CommandResult shown = run_program(
      program, {"daemon", "--config", scratch_.file("never.toml"), "--print-effective", "--json"});
  EXPECT_THAT(shown.json()["toml"].get<std::string>(), HasSubstr("cpu = \"never\""));
  const CommandResult never =
      run_program(program, {"daemon", "--config", scratch_.file("never.toml")});
  EXPECT_EQ(never.exit_code, 2) << never.out << never.err;
  EXPECT_THAT(never.err, HasSubstr("the configuration wants a card"));
  DaemonProcess daemon(scratch_.path(), toml(), program);
  EXPECT_THAT(daemon.log(), HasSubstr("proving on the CPU"));
  EXPECT_EQ(submit("a", {"--wait"}).exit_code, 0) << daemon.log();
}

TEST_F(Operations, ManyJobsAndCallsUnderATightBudgetAreAllAnswered) {
  const std::string lite = CUZK_TEST_DATA "/circom/unirep-epochKeyLite";
  const std::string tables = cpu_only() + "[memory]\ntotal_budget = \"64MiB\"\n[scheduler]\n" +
                             "jobs_in_flight_max = 64\n[[circuits]]\n" +
                             "name = \"lite\"\nzkey = \"" + lite + "/circuit_final.zkey\"\n";
  DaemonProcess daemon(scratch_.path(), toml("", tables));
  const CommandResult load = cuzk(
      {"bench", "load", "--job", "weight=49,circuit=mul1000,witness=" + kCase + "/witness.wtns",
       "--job", "circuit=lite,witness=" + lite + "/witness.wtns", "--count", "200", "--concurrency",
       "64", "--status-interval", "10ms", "--json"});
  ASSERT_EQ(load.exit_code, 0) << load.out << load.err << daemon.log();
  EXPECT_EQ(load.json()["completed"], 200);
  EXPECT_EQ(load.json()["status_failed"], 0);
  EXPECT_GT(load.json()["status_count"], 10);
  EXPECT_LE(cuzk({"status", "--json"}).json()["memory"]["peak_bytes"], 64 << 20);
  EXPECT_EQ(daemon.stop(), 0);
}

// The only child of a daemon.
pid_t proving_process_of(const DaemonProcess& daemon) {
  const std::string task = "/proc/" + std::to_string(daemon.id()) + "/task/";
  const std::string text = read_text(task + std::to_string(daemon.id()) + "/children");
  for (const auto& entry : fs::directory_iterator(task)) {
    const std::string children = read_text(entry.path() / "children");
    if (!children.empty()) return std::stoi(children);
  }
  return 0;
}

// Every metric that the Grafana board names is in the text of a daemon that proved and failed.
void expect_board_is_served(const std::string& text) {
  const Json board =
      Json::parse(read_text(CUZK_TEST_DATA "/../../contrib/grafana/cuzk.json"), nullptr, false);
  ASSERT_TRUE(board.is_object());
  std::set<std::string> names;
  for (const Json& panel : board["panels"]) {
    for (const Json& target : panel["targets"]) {
      const std::string expression = target["expr"];
      const std::regex name("(cuzk|process)(_[a-z0-9]+)+");
      for (std::sregex_iterator at(expression.begin(), expression.end(), name), end; at != end;
           ++at) {
        names.insert(at->str());
      }
    }
  }
  EXPECT_GT(names.size(), 20U);
  for (const std::string& name : names) {
    EXPECT_TRUE(text.find("\n" + name + "{") != text.npos ||
                text.find("\n" + name + " ") != text.npos)
        << name;
  }
}

// What check_metrics.py says of two scrapes, the later one first; 77: no parser is installed.
CommandResult check_scrapes(const TemporaryFolder& scratch, const std::string& later,
                            const std::string& earlier) {
  write_text(scratch / "later", later);
  write_text(scratch / "earlier", earlier);
  return run_program("/usr/bin/python3", {CUZK_TEST_DATA "/../support/check_metrics.py",
                                          scratch.file("later"), scratch.file("earlier")});
}

TEST_F(Operations, ScrapesAreValidAndCountersOnlyRise) {
  if (run_program("curl", {"--version"}).exit_code != 0) GTEST_SKIP() << "needs curl";
  std::string broken = read_text(kCase + "/witness.wtns");
  broken[broken.size() - 20] = static_cast<char>(broken[broken.size() - 20] ^ 1);
  write_text(scratch_ / "broken.wtns", broken);
  DaemonProcess daemon(scratch_.path(), toml("", cpu_only()));
  const auto scrape = [&] { return run_program("curl", {"-sS", metrics_url(daemon)}).out; };
  const auto fail = [&] {
    return cuzk({"submit", "--circuit", "mul1000", "--witness", scratch_.file("broken.wtns"),
                 "--id", "broken", "--wait"});
  };
  std::vector<std::string> scrapes = {scrape()};
  ASSERT_EQ(submit("a", {"--wait"}).exit_code, 0);
  EXPECT_EQ(fail().exit_code, 1);
  scrapes.push_back(scrape());
  EXPECT_EQ(fail().exit_code, 1) << "tried again";
  EXPECT_EQ(submit("a", {"--wait"}).exit_code, 0) << "joined";
  scrapes.push_back(scrape());
  ::kill(proving_process_of(daemon), SIGKILL);  // the next one counts from zero
  ASSERT_EQ(submit("b", {"--wait"}).exit_code, 0);
  scrapes.push_back(scrape());
  for (std::size_t i = 1; i < scrapes.size(); ++i) {
    const CommandResult checked = check_scrapes(scratch_, scrapes[i], scrapes[i - 1]);
    if (checked.exit_code == 77) GTEST_SKIP() << checked.out;
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  }
  expect_board_is_served(scrapes.back());
}

// Shells give a program 1024 open files, and a daemon has more clients: it takes what it may have.
TEST_F(Operations, MoreConnectionsThanAShellAllowsFilesDoNotMakeItDeaf) {
  const std::string program = scratch_.file("cuzk-of-a-shell");
  write_text(program, "#!/bin/sh\nulimit -Sn 128\nexec " CUZK_COMMAND " \"$@\"\n");
  fs::permissions(program, fs::perms::owner_all);
  DaemonProcess daemon(scratch_.path(), toml("", cpu_only()), program);
  const std::vector<int> crowd = crowd_of(200);
  EXPECT_EQ(submit("among-them", {"--wait"}).exit_code, 0) << daemon.log();
  for (const int one : crowd) ::close(one);
  EXPECT_EQ(submit("after-them", {"--wait"}).exit_code, 0) << daemon.log();
  EXPECT_EQ(daemon.stop(), 0);
}

// Where even the machine allows few files the library gives up hearing, which must not be silent.
TEST_F(Operations, OneThatHearsNobodyAnyMoreSaysSo) {
  const std::string program = scratch_.file("cuzk-of-few-files");
  write_text(program, "#!/bin/sh\nulimit -n 64\nexec " CUZK_COMMAND " \"$@\"\n");
  fs::permissions(program, fs::perms::owner_all);
  DaemonProcess daemon(scratch_.path(), toml("exit_when_unhealthy = true\n", cpu_only()), program);
  const std::vector<int> crowd = crowd_of(100);
  EXPECT_TRUE(daemon.wait_for("gRPC takes no new connection any more"));
  for (const int one : crowd) ::close(one);
  EXPECT_EQ(daemon.wait_exit(), 2) << "its supervisor starts it anew";
  EXPECT_THAT(daemon.log(), HasSubstr("error: grpc listener is closed"));
  daemon.start();
  EXPECT_EQ(submit("a", {"--wait"}).exit_code, 0) << daemon.log();
  EXPECT_EQ(daemon.stop(), 0);
}

TEST_F(Operations, OneWhoseStateFolderIsRemovedTakesNoJobsAndStartsAnew) {
  DaemonProcess daemon(scratch_.path(), toml("exit_when_unhealthy = true\n", cpu_only()));
  ASSERT_EQ(submit("a", {"--wait"}).exit_code, 0);
  fs::remove_all(scratch_ / "journal");
  const CommandResult refused = submit("b");
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("was removed under the running journal"));
  EXPECT_EQ(daemon.wait_exit(), 2) << "its supervisor starts it anew";
  daemon.start();
  EXPECT_EQ(submit("b", {"--wait"}).exit_code, 0) << daemon.log();
  EXPECT_EQ(daemon.stop(), 0) << daemon.log();
}

TEST_F(Operations, IsNeverAliveAndUselessUnseen) {
  const std::string copy = scratch_.file("cuzk");
  fs::copy_file(CUZK_COMMAND, copy);
  DaemonProcess daemon(scratch_.path(), toml("exit_when_unhealthy = true\n", cpu_only()), copy);
  ASSERT_EQ(submit("a", {"--wait"}).exit_code, 0);
  const pid_t proving = proving_process_of(daemon);
  ASSERT_GT(proving, 0);
  ::chmod(copy.c_str(), 0);  // no proving process can be started any more
  ::kill(proving, SIGKILL);
  EXPECT_EQ(daemon.wait_exit(), 2) << "its supervisor starts it anew";
  EXPECT_THAT(daemon.log(), HasSubstr("error"));
  ::chmod(copy.c_str(), 0755);
  daemon.start();
  EXPECT_EQ(submit("a", {"--wait"}).exit_code, 0) << "the result is kept";
  EXPECT_EQ(daemon.stop(), 0);
}

}  // namespace
}  // namespace cuzk::testing
