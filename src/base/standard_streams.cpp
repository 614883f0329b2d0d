// An open() takes the lowest free number, which is what makes this work.
//
// So the streams are visited in rising order, before anything else is opened. Nothing is reported
// when it fails: there may be nowhere to report to, and the program is no worse off than before.
#include "base/standard_streams.h"

#include <cerrno>
#include <initializer_list>

#include <fcntl.h>
#include <unistd.h>

namespace cuzk::base {

static_assert(STDIN_FILENO < STDOUT_FILENO && STDOUT_FILENO < STDERR_FILENO,
              "the loop below fills the lowest gap first");

void hold_standard_streams() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // Those below are open by now, so this one gets the number; without /dev/null it stays closed.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace cuzk::base
