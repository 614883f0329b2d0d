// In child processes, whose streams may be closed.
#include "base/standard_streams.h"

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::base {
namespace {

// Closes the streams whose bit is set, holds them, and exits with 77 when no file gets their number
// and the closed ones are as useless as before.
[[noreturn]] void hold_with_closed(unsigned closed) {
  for (int stream = 0; stream < 3; ++stream) {
    if ((closed >> stream & 1) != 0) ::close(stream);
  }
  hold_standard_streams();
  if (::open("/dev/null", O_RDWR) < 3) std::_Exit(1);
  char byte = 0;
  if ((closed & 1) != 0 && (::read(0, &byte, 1) != -1 || errno != EBADF)) std::_Exit(2);
  for (int stream = 1; stream < 3; ++stream) {
    const bool is_closed = (closed >> stream & 1) != 0;
    if (is_closed && (::write(stream, &byte, 1) != -1 || errno != EBADF)) std::_Exit(2 + stream);
  }
  std::_Exit(77);
}

TEST(StandardStreamsDeathTest, NoFileGetsTheNumberOfAClosedOne) {
  for (unsigned closed = 0; closed < 8; ++closed) {
    EXPECT_EXIT(hold_with_closed(closed), ::testing::ExitedWithCode(77), "") << closed;
  }
}

TEST(StandardStreamsDeathTest, OpenOnesStayAsTheyAre) {
  const auto write_after = [] {
    hold_standard_streams();
    const ssize_t written = ::write(STDERR_FILENO, "still here", 10);
    std::_Exit(written == 10 ? 77 : 1);
  };
  EXPECT_EXIT(write_after(), ::testing::ExitedWithCode(77), "still here");
}

}  // namespace
}  // namespace cuzk::base
