// The daemon: an engine with doors. Starts all or nothing, drains, stops.
//
//   running --drain()--> draining: new work is refused, waits are answered --stop()--> stopped
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/backend.h"
#include "service/config.h"

namespace cuzk::service {

// A way in: a server of one protocol with all addresses it listens on. Calls come from one thread.
// start() once, then any number of reload() and drain(), then stop(), which may come again and then
// does nothing; destroying an open door stops it.
class Door {
 public:
  virtual ~Door() = default;
  // Listens and serves. The error names the address and what is wrong with it.
  virtual base::Status start() = 0;
  // Where it really listens, e.g. "grpc 127.0.0.1:9820", with the port that the system chose.
  virtual std::vector<std::string> addresses() const = 0;
  // Takes over what can change while it runs (tokens, certificates, limits).
  virtual void reload(const Config& config) = 0;
  // From now on health and readiness say no. Calls are still served.
  virtual void drain() = 0;
  // Answers what waits ("unavailable: the daemon stops, the job is kept") and ends within `grace`.
  virtual void stop(std::chrono::milliseconds grace) = 0;
};

// Doors [0, started_count_) are open. All calls come from one thread, the program's; doors and
// engine have threads of their own. The engine is not owned, but stopped by stop() for good.
class Daemon {
 public:
  // Borrows the engine of `backend`.
  Daemon(Config config, Backend backend, std::vector<std::unique_ptr<Door>> doors);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();  // stops

  // All doors, or none and an error. Called once. An error leaves the engine running.
  base::Status start();
  std::vector<std::string> addresses() const;
  // Whether new work can be done, by the engine and by the doors.
  Readiness readiness() const;
  // What changed and what needs a restart (plan_reload).
  ReloadPlan reload(const Config& wanted);
  void drain();
  // Waits for the end of what runs, at most the configured grace and while `keep_waiting` says
  // yes; then closes the doors and stops the engine. True when all accepted jobs are final; the
  // others stay in the journal.
  bool stop(const std::function<bool()>& keep_waiting = {});

  const Config& config() const { return config_; }

 private:
  Config config_;
  Backend backend_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::size_t started_count_ = 0;
  bool stopped_ = false;
};

}  // namespace cuzk::service
