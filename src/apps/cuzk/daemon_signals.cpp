// A handler may do little: count, and write to a descriptor that the main thread polls.
//
// One eventfd wakes the one thread that waits; what happened is in two atomics, so a signal that
// comes before the wait is not lost. The second request to stop ends the process in the handler:
// who asks twice does not want to wait for anything.
#include "apps/cuzk/daemon_signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/interrupt.h"

namespace cuzk::apps {
namespace {

// Written by the handler, in whatever thread a signal finds; read by the thread that waits. Stops
// only count up, a reload is taken back by whoever tells it.
std::atomic<unsigned> stop_count = 0;
std::atomic<bool> reload_asked = false;
std::atomic<int> wake_descriptor = -1;

static_assert(std::atomic<unsigned>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);  // else a handler must not touch them

// Callable from a handler, which has to leave errno as it was.
void wake() {
  const int saved = errno;
  const std::uint64_t one = 1;
  // It only fails when there is something to read already.
  [[maybe_unused]] const auto written = ::write(wake_descriptor.load(), &one, sizeof one);
  errno = saved;
}

// SIGTERM and SIGINT mean the same: whoever stops a daemon by hand means it as a supervisor does.
extern "C" void on_daemon_signal(int number) {
  if (number == SIGHUP) {
    reload_asked = true;
  } else if (stop_count.fetch_add(1) > 0) {
    // The journal is safe at every moment; nothing has to be tidied.
    ::_exit(base::kInterruptedExitCode);
  }
  wake();
}

}  // namespace

base::Status take_daemon_signals() {
  CUZK_ASSERT(wake_descriptor < 0);  // called once
  wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor < 0) {
    return base::Error{base::ErrorKind::kResourceExhausted,
                       "a descriptor for signals: " + std::generic_category().message(errno)};
  }
  struct sigaction action = {};
  action.sa_handler = on_daemon_signal;
  // Reads and writes of libraries go on where they were; only the poll below is meant to end.
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(number, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  return base::ok_status();
}

DaemonSignal wait_daemon_signal(std::chrono::milliseconds timeout) {
  CUZK_ASSERT(wake_descriptor >= 0);  // take_daemon_signals() has succeeded
  // A signal between this look and the poll has written to the descriptor, so the poll ends at
  // once.
  if (stop_count == 0 && !reload_asked) {
    pollfd wanted = {.fd = wake_descriptor, .events = POLLIN, .revents = 0};
    ::poll(&wanted, 1, static_cast<int>(timeout.count()));
  }
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(wake_descriptor, &count, sizeof count);
  if (stop_count > 0) return DaemonSignal::kStop;
  return reload_asked.exchange(false) ? DaemonSignal::kReload : DaemonSignal::kNone;
}

}  // namespace cuzk::apps
