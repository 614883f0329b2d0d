// Ctrl-C and SIGTERM for a command: a stop flag, and no partial output left behind.
//
// The first signal sets the flag; work that looks at it at its stage borders ends in an orderly
// way. Work that does not look within two seconds, or a second signal, is ended from the handler:
// it removes the partial files that are registered and exits with 130.
#pragma once

#include <string_view>

namespace cuzk::base {

inline constexpr int kInterruptedExitCode = 130;

// Installs the handlers. Call once, before threads start. Not for a daemon, which drains instead.
void install_interrupt_handlers();

bool interrupted() noexcept;

// While it lives, `path` is removed if the process is ended by a signal. Paths over 4095 bytes and
// more than 16 at a time are not registered (the file then survives an abrupt end). Thread-safe.
class PartialFileGuard {
 public:
  explicit PartialFileGuard(std::string_view path) noexcept;
  PartialFileGuard(const PartialFileGuard&) = delete;
  PartialFileGuard& operator=(const PartialFileGuard&) = delete;
  ~PartialFileGuard();
  bool registered() const noexcept { return slot_ >= 0; }

 private:
  int slot_ = -1;
};

}  // namespace cuzk::base
