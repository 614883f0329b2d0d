// Signals of a daemon: they only wake whoever waits for them; a second request to stop ends the
// process at once.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.h"

namespace cuzk::apps {

enum class DaemonSignal : std::uint8_t { kNone, kReload, kStop };

// Takes SIGTERM, SIGINT (stop) and SIGHUP (reload) over for the rest of the process; a broken pipe
// is an error of a write from now on. Call once. Error: kResourceExhausted when the system gives no
// descriptor; then nothing is taken over.
base::Status take_daemon_signals();

// The next of them, or kNone after `timeout`. A stop is told first, and then again each time; a
// reload once, however often it was asked for meanwhile. For one thread.
DaemonSignal wait_daemon_signal(std::chrono::milliseconds timeout);

}  // namespace cuzk::apps
