// What systemd is told (sd_notify): ready, reloading, stopping, alive. Without it nothing happens.
// By this it knows when the daemon has started, and restarts one that says nothing for too long.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace cuzk::service {

// Stateless after construction, so usable from any thread; a message that cannot be sent is lost,
// which costs a line in systemctl or, if it stays so, a restart.
class Supervisor {
 public:
  using Environment = std::function<std::string(const char*)>;
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  Supervisor();
  explicit Supervisor(const Environment& environment);

  bool present() const { return !socket_.empty(); }
  // After all doors are open, and after a reload. `status` is shown by systemctl.
  void ready(const std::string& status) const;
  void reloading() const;
  void stopping(const std::string& status) const;
  // How often alive() is expected; nothing where there is no watchdog.
  std::optional<std::chrono::milliseconds> watchdog_interval() const { return watchdog_; }
  void alive() const;

 private:
  // One datagram. Never waits.
  void send(const std::string& message) const;

  std::string socket_;
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace cuzk::service
