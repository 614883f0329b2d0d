// An HTTP door over a scripted engine, and a client that can misbehave.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/grpc_test_support.h"
#include "service/http_door.h"

namespace cuzk::service::testing_support {

struct Answer {
  int status = 0;                              // 0: the connection ended without one
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
};

// One connection, as slow and as wrong as the test wants.
class RawClient {
 public:
  explicit RawClient(const Address& address) {
    if (address.kind == Address::Kind::kUnix) {
      descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un at = {};
      at.sun_family = AF_UNIX;
      address.path.native().copy(at.sun_path, sizeof at.sun_path - 1);
      connected_ = ::connect(descriptor_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
    } else {
      descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in at = {};
      at.sin_family = AF_INET;
      at.sin_port = htons(address.port);
      at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      connected_ = ::connect(descriptor_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
    }
  }
  RawClient(RawClient&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        connected_(other.connected_),
        received_(std::move(other.received_)) {}
  ~RawClient() { close(); }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  bool connected() const { return connected_; }
  bool send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t count =
          ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }
  // True: the server closed within `ms`.
  bool closes_within(int ms) {
    pollfd one = {descriptor_, POLLIN, 0};
    char byte;
    return ::poll(&one, 1, ms) > 0 && ::recv(descriptor_, &byte, 1, MSG_PEEK) == 0;
  }
  // The next answer, interim ones (100) left out.
  Answer receive(int ms = 20'000, bool has_body = true) {
    Answer answer;
    std::size_t end;
    do {
      while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
        if (!more(ms)) return {};
      }
      answer = parse_head(received_.substr(0, end));
      received_.erase(0, end + 4);
    } while (answer.status == 100);
    const auto length = answer.headers.find("content-length");
    const std::size_t size = length == answer.headers.end() || !has_body
                                 ? 0
                                 : std::strtoul(length->second.c_str(), nullptr, 10);
    while (received_.size() < size) {
      if (!more(ms)) return {};
    }
    answer.body = received_.substr(0, size);
    received_.erase(0, size);
    return answer;
  }

 private:
  bool more(int ms) {
    pollfd one = {descriptor_, POLLIN, 0};
    char piece[4096];
    if (::poll(&one, 1, ms) <= 0) return false;
    const ssize_t count = ::recv(descriptor_, piece, sizeof piece, 0);
    if (count <= 0) return false;
    received_.append(piece, static_cast<std::size_t>(count));
    return true;
  }
  static Answer parse_head(const std::string& head) {
    Answer answer;
    if (head.size() > 12) std::from_chars(head.data() + 9, head.data() + 12, answer.status);
    std::size_t line = head.find("\r\n");
    while (line != std::string::npos) {
      const std::size_t next = head.find("\r\n", line + 2);
      const std::string text = head.substr(line + 2, next - line - 2);
      std::string name = text.substr(0, text.find(':'));
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const std::size_t value = text.find_first_not_of(' ', name.size() + 1);
      answer.headers[name] = value == std::string::npos ? "" : text.substr(value);
      line = next;
    }
    return answer;
  }

  int descriptor_ = -1;
  bool connected_ = false;
  std::string received_;
};

// Engine and HTTP door.
class HttpTestDaemon {
 public:
  static Config quick_config() {
    Config config;
    config.daemon.status_listen = Address{Address::Kind::kTcp, "127.0.0.1", 0, {}};
    return config;
  }
  explicit HttpTestDaemon(Config config = quick_config(), std::uint64_t queue_max = 10'000,
                          std::function<void(int)> count = {})
      : folder_(cuzk::testing::TemporaryFolder::Place::kMemory) {
    engine::EngineOptions options = engine::testing_support::engine_options_in(folder_ / "journal");
    options.queue_max = queue_max;
    auto opened =
        engine::Engine::open(options, scripted_types(), [&](engine::ExecutorEvents& events) {
          auto executor = std::make_unique<ScriptedExecutor>(events, 2);
          executor_ = executor.get();
          return base::Result<std::unique_ptr<engine::Executor>>(std::move(executor));
        });
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message;
      return;
    }
    engine_ = std::move(opened).value();
    door_ = make_http_door(config, scripted_backend(*engine_), std::move(count));
    started_ = door_->start();
    if (!started_.ok()) return;
    address_ = parse_address(door_->addresses().at(0).substr(5)).value();
  }
  ~HttpTestDaemon() {
    if (door_) door_->stop(std::chrono::milliseconds(0));
  }

  const base::Status& started() const { return started_; }
  const Address& address() const { return address_; }
  engine::Engine& engine() { return *engine_; }
  ScriptedExecutor& executor() { return *executor_; }
  Door& door() { return *door_; }
  std::filesystem::path folder() const { return folder_.path(); }

  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& headers = "") const {
    RawClient client(address_);
    client.send(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
                (body.empty() && method == "GET"
                     ? ""
                     : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
                "\r\n" + body);
    return client.receive(20'000, method != "HEAD");
  }
  Answer get(const std::string& target, const std::string& headers = "") const {
    return ask("GET", target, "", headers);
  }
  // A circuit job's submission with the bytes of a script.
  Answer submit(const std::string& id, const base::Bytes& bytes) const {
    return ask("POST", "/api/v1/circuits/toy/jobs?request_id=" + id,
               std::string(bytes.begin(), bytes.end()));
  }

 private:
  cuzk::testing::TemporaryFolder folder_;
  ScriptedExecutor* executor_ = nullptr;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Door> door_;
  base::Status started_ = base::ok_status();
  Address address_;
};

}  // namespace cuzk::service::testing_support
