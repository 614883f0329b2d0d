// getrandom, retried when a signal or a short answer interrupts it.
#include "base/random.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/random.h>

namespace cuzk::base {

Status fill_random(std::span<std::uint8_t> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::getrandom(out.data() + filled, out.size() - filled, 0);
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      return Error{
          ErrorKind::kUnavailable,
          fmt::format("the operating system gave no randomness: {}", std::strerror(errno))};
    }
  }
  return ok_status();
}

}  // namespace cuzk::base
