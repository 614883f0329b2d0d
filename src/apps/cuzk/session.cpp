// The session's watcher turns the signal's flag into a stop request.
//
// It looks twenty times a second, which is soon enough for a person and costs nothing; work is
// stopped at its next border anyway. The watcher is the last member, so it sees the others whole.
#include "apps/cuzk/session.h"

#include <sys/resource.h>

#include "base/input_file.h"
#include "base/interrupt.h"

namespace cuzk::apps {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{50};
static_assert(kWatchInterval < std::chrono::seconds(2));  // then the handler ends the process

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

// The watcher ends before anything that it looks at.
Session::~Session() {
  watcher_.request_stop();
  watcher_.join();
}

base::Result<std::shared_ptr<const base::MappedFile>> Session::open_input(
    const std::filesystem::path& path) const {
  base::StreamLimits limits;
  limits.stop = stop_token();
  return base::open_input(path, limits);
}

double Session::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

// The old sink wipes its line when it goes; the new one draws nothing before a stage begins.
void Session::end_progress() {
  progress_ = base::make_terminal_progress();
  CUZK_ASSERT(progress_ != nullptr);
}

// getrusage(2) tells it in KiB on Linux.
std::uint64_t peak_rss_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace cuzk::apps
