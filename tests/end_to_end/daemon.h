// A daemon as its own process, and the independent client against it.
//
// A test knows of the daemon what an operator knows: its log, its exit code, its signals. Waits
// look again every 50 ms and have an end, so a daemon that hangs is a failure and no hanging test.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/end_to_end/command.h"

namespace cuzk::testing {

// Starts `cuzk daemon --config` with a file of this text and waits until it listens.
class DaemonProcess {
 public:
  DaemonProcess(const fs::path& folder, const std::string& toml, std::string program = CUZK_COMMAND)
      : program_(std::move(program)), config_(folder / "cuzk.toml"), log_(folder / "daemon.log") {
    write_text(config_, toml);
    start();
  }
  ~DaemonProcess() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      ::waitpid(id_, nullptr, 0);
    }
  }

  void start() {
    fs::remove(log_);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, log_.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    std::string words[] = {program_, "daemon", "--config", config_.string()};
    char* raw[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    ASSERT_EQ(::posix_spawn(&id_, program_.c_str(), &actions, nullptr, raw, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    wait_for("listening on");
  }
  // Whether its log has the words, after at most half a minute.
  bool wait_for(const std::string& words) {
    for (int i = 0; i < 600; ++i) {
      if (log().find(words) != std::string::npos) return true;
      if (exited()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "the daemon does not say '" << words << "' but:\n" << log();
    return false;
  }
  void signal(int number) { ::kill(id_, number); }
  // Its exit code; -1 when it did not end within `seconds` or was ended by a signal.
  int wait_exit(int seconds = 60) {
    for (int i = 0; i < seconds * 20 && !exited(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return exit_code_.value_or(-1);
  }
  int stop() {
    signal(SIGTERM);
    return wait_exit();
  }
  pid_t id() const { return id_; }
  std::string log() const { return read_text(log_); }
  // The port of an address that the log names, e.g. after "127.0.0.1:".
  std::string port_after(const std::string& head) const {
    const std::string text = log();
    const auto at = text.find(head);
    if (at == std::string::npos) return "";
    const auto begin = at + head.size();
    return text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
  }

 private:
  bool exited() {
    if (id_ <= 0) return true;
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) != id_) return false;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    id_ = 0;
    return true;
  }

  const std::string program_;
  fs::path config_, log_;
  pid_t id_ = 0;
  std::optional<int> exit_code_;
};

// Folder of @grpc: CUZK_GRPCJS, or where tools/setup_grpcjs.sh puts it.
inline std::optional<std::string> find_grpcjs() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("CUZK_GRPCJS")) places.emplace_back(given);
  if (const char* home = std::getenv("HOME")) {
    places.push_back(fs::path(home) / ".cache/cuzk/grpcjs-1.14.7-0.8.1/node_modules");
  }
  for (const fs::path& place : places) {
    if (fs::exists(place / "@grpc/grpc-js")) return place.string();
  }
  return std::nullopt;
}

// Curio's proto file: CUZK_FOREIGN_PROTO, or where tools/setup_curio_proto.sh puts it; ours, which
// has the same fields and more, where neither is there. A variable that is empty is not set.
inline std::string curio_proto(const char* given = std::getenv("CUZK_FOREIGN_PROTO")) {
  if (given != nullptr && *given != '\0') return given;
  if (const char* home = std::getenv("HOME")) {
    const fs::path kept = fs::path(home) / ".cache/cuzk/curio-e0294b0f/proving.proto";
    if (fs::exists(kept)) return kept.string();
  }
  return CUZK_TEST_DATA "/../../src/service/proto/proving.proto";
}

// A certificate for this machine by name and number, made by itself, and its key. Tests call it by
// number: a bare root has no /etc/hosts.
inline void make_certificate(const fs::path& folder, const std::string& name) {
  const CommandResult made =
      run_program("openssl", {"req", "-x509", "-newkey", "ec", "-pkeyopt",
                              "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                              "/CN=" + name, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                              "-keyout", (folder / (name + ".key")).string(), "-out",
                              (folder / (name + ".crt")).string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
}

// Runs tests/end_to_end/grpc_client.mjs over a spec; what it printed as JSON.
inline nlohmann::json run_client(const fs::path& folder, const nlohmann::json& spec) {
  const fs::path file = folder / ("spec-" + spec["scenario"].get<std::string>() + ".json");
  write_text(file, spec.dump());
  const CommandResult result =
      run_program("node", {CUZK_TEST_DATA "/../end_to_end/grpc_client.mjs", file.string()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  return result.exit_code == 0 ? result.json() : nlohmann::json();
}

}  // namespace cuzk::testing

#define CUZK_GRPCJS_OR_SKIP(variable)                                                            \
  const auto variable##_found = ::cuzk::testing::find_grpcjs();                                  \
  if (!variable##_found || ::cuzk::testing::run_program("node", {"--version"}).exit_code != 0) { \
    GTEST_SKIP() << "needs node and @grpc/grpc-js (tools/setup_grpcjs.sh)";                      \
  }                                                                                              \
  const std::string variable = *variable##_found
