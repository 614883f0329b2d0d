// getrandom, retried when a signal or a short answer interrupts it.
//
// Requests of up to 256 bytes are answered whole; longer ones may come in parts (getrandom(2)). No
// file is opened, so it also works where /dev is missing and when descriptors have run out.
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
