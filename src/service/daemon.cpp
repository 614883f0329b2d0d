// Doors open in order and close in reverse. The engine is stopped after them: until then a door can
// still say how a job stands.
#include "service/daemon.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace cuzk::service {
namespace {

// How soon a second interrupt is noticed while running jobs end.
constexpr std::chrono::milliseconds kLookAgain{200};
// For answers that are on their way when the doors close.
constexpr std::chrono::milliseconds kDoorGrace{5'000};

}  // namespace

Daemon::Daemon(Config config, Backend backend, std::vector<std::unique_ptr<Door>> doors)
    : config_(std::move(config)), backend_(std::move(backend)), doors_(std::move(doors)) {
  CUZK_ASSERT(backend_.engine != nullptr);
}

// Without waiting: who destroys a daemon that runs is in a hurry, and the journal keeps what is not
// over.
Daemon::~Daemon() {
  if (started_count_ > 0) stop([] { return false; });
}

base::Status Daemon::start() {
  CUZK_ASSERT(started_count_ == 0 && !stopped_);
  for (const auto& door : doors_) {
    if (const base::Status status = door->start(); !status.ok()) {
      // All or nothing: no door stays open beside one that could not be opened.
      while (started_count_ > 0) doors_[--started_count_]->stop(std::chrono::milliseconds(0));
      return status.error();
    }
    ++started_count_;
  }
  CUZK_ASSERT(started_count_ == doors_.size());
  return base::ok_status();
}

// In the order of the doors; empty before start() and after stop().
std::vector<std::string> Daemon::addresses() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < started_count_; ++i) {
    const auto some = doors_[i]->addresses();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Readiness Daemon::readiness() const {
  return service::readiness(backend_.engine->report(), backend_.faults->first());
}

// The door sees what is really in force, not what was wished for.
ReloadPlan Daemon::reload(const Config& wanted) {
  ReloadPlan plan = plan_reload(config_, wanted);
  config_ = plan.config;
  base::set_log_level(config_.logging.level);
  for (std::size_t i = 0; i < started_count_; ++i) doors_[i]->reload(config_);
  return plan;
}

// Cannot be taken back.
void Daemon::drain() {
  // The engine first: a door that says "draining" must not let one more job in.
  backend_.engine->drain();
  for (std::size_t i = 0; i < started_count_; ++i) doors_[i]->drain();
}

bool Daemon::stop(const std::function<bool()>& keep_waiting) {
  if (std::exchange(stopped_, true)) return true;
  // New work ends before the wait begins, or it might have no end.
  drain();
  const auto end = std::chrono::steady_clock::now() + config_.daemon.shutdown_grace;
  // Asked once whatever the grace, so that a daemon without work is known to be done.
  bool idle = backend_.engine->wait_idle(std::chrono::milliseconds(0));
  while (!idle && std::chrono::steady_clock::now() < end && (!keep_waiting || keep_waiting())) {
    idle = backend_.engine->wait_idle(kLookAgain);
  }
  // Whoever still waits is told that the job is kept.
  while (started_count_ > 0) doors_[--started_count_]->stop(kDoorGrace);
  backend_.engine->stop();
  return idle;
}

}  // namespace cuzk::service
