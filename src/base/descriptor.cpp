// Names, numbers and reasons; nothing here opens a file.
#include "base/descriptor.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace cuzk::base {
namespace {

// strerror_r in its two signatures, POSIX's and GNU's.
[[maybe_unused]] const char* message_of(int, const char* buffer) { return buffer; }
[[maybe_unused]] const char* message_of(const char* message, const char*) { return message; }

std::string describe(int error_number) {
  char buffer[256] = "unknown error";
  return message_of(strerror_r(error_number, buffer, sizeof buffer), buffer);
}

}  // namespace

Error system_error(const std::string& path, const char* action, int error_number) {
  ErrorKind kind = ErrorKind::kIo;
  if (error_number == ENOENT) kind = ErrorKind::kNotFound;
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG) {
    kind = ErrorKind::kResourceExhausted;
  }
  return Error{kind, fmt::format("{}: cannot {}: {}", path, action, describe(error_number))};
}

Descriptor::~Descriptor() {
  if (value_ >= 0) ::close(value_);
}

std::optional<int> descriptor_named_by(std::string_view name) {
  if (name == "/dev/stdin") return STDIN_FILENO;
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const std::string_view digits = name.substr(folder.size());
    int descriptor = -1;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
    if (error == std::errc() && end == digits.data() + digits.size() && descriptor >= 0) {
      return descriptor;
    }
  }
  return std::nullopt;
}

}  // namespace cuzk::base
