// The protocol is lines in one datagram (sd_notify(3)), so no library is needed for it. A socket is
// opened for each: there are few, and none that has gone stale.
#include "service/supervisor.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cuzk::service {
namespace {

// A variable of the process; empty where it is not set.
std::string of_process(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// A status is one line.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

}  // namespace

Supervisor::Supervisor() : Supervisor(of_process) {}

Supervisor::Supervisor(const Environment& environment) : socket_(environment("NOTIFY_SOCKET")) {
  // A path or an abstract name; anything else is no socket of systemd's.
  if (socket_.empty() || (socket_[0] != '/' && socket_[0] != '@')) socket_.clear();
  // Meant for another process when it was inherited: then nobody watches us.
  const std::string process = environment("WATCHDOG_PID");
  const bool ours = process.empty() || process == fmt::format("{}", ::getpid());
  const std::string interval = environment("WATCHDOG_USEC");
  std::int64_t interval_us = 0;
  // What is no number leaves 0, which is no watchdog.
  std::from_chars(interval.data(), interval.data() + interval.size(), interval_us);
  if (ours && interval_us > 0) watchdog_ = std::chrono::milliseconds(interval_us / 1000);
}

void Supervisor::ready(const std::string& status) const {
  send("READY=1\nSTATUS=" + one_line(status));
}

// systemd wants the time with it, to know that the "ready" that follows is a later one.
void Supervisor::reloading() const {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  send(
      fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1'000'000LL + now.tv_nsec / 1000));
}

void Supervisor::stopping(const std::string& status) const {
  send("STOPPING=1\nSTATUS=" + one_line(status));
}

// Said by the loop that waits for signals: if that hangs, so does the daemon for its operator.
void Supervisor::alive() const { send("WATCHDOG=1"); }

void Supervisor::send(const std::string& message) const {
  sockaddr_un at = {};
  // A path that is too long names no socket that there could be.
  if (socket_.empty() || socket_.size() >= sizeof at.sun_path) return;
  at.sun_family = AF_UNIX;
  socket_.copy(at.sun_path, sizeof at.sun_path - 1);
  if (socket_[0] == '@') at.sun_path[0] = '\0';  // an abstract name
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Not waited for: a manager that does not read must not stop a daemon that proves.
  ::sendto(descriptor, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&at), size);
  ::close(descriptor);
}

}  // namespace cuzk::service
