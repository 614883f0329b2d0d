// The soft limit is for programs of old that cannot count beyond 1024; the hard one is the
// machine's.
#include "apps/cuzk/daemon_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/log.h"

namespace cuzk::apps {

void raise_open_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  base::log(base::LogLevel::kWarning,
            fmt::format("at most {} files and connections may be open: the limit could not be "
                        "raised to {}",
                        limit.rlim_cur, limit.rlim_max));
}

}  // namespace cuzk::apps
