// The one place where a broken invariant ends the process.
//
// It writes with stdio and not through the log: the log locks and allocates, and either may be what
// is broken. It aborts instead of exiting, so that a core file shows where, and no destructor runs
// on a state that is known to be wrong.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace cuzk::base {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace cuzk::base
