// The session's watcher turns the signal's flag into a stop request.
#include "apps/cuzk/session.h"

#include <sys/resource.h>

#include "base/interrupt.h"

namespace cuzk::apps {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{50};

}  // namespace

Session::Session(const CommonOptions& options)
    : options_(options),
      progress_(base::make_terminal_progress()),
      watcher_([this](const std::stop_token& ended) {
        while (!ended.stop_requested() && !base::interrupted()) {
          std::this_thread::sleep_for(kWatchInterval);
        }
        if (base::interrupted()) stop_.request_stop();
      }) {}

Session::~Session() {
  watcher_.request_stop();
  watcher_.join();
}

double Session::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Session::end_progress() { progress_ = base::make_terminal_progress(); }

std::uint64_t peak_rss_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace cuzk::apps
