// One guard before the strict reading of sizes: a budget of 48 bytes refuses all work, with numbers
// that do not tell where the slip is.
#include "base/memory_size.h"

#include <fmt/format.h>

#include "base/byte_size.h"

namespace cuzk::base {
namespace {

constexpr std::uint64_t kBareBytesMin = std::uint64_t{1} << 20;

}  // namespace

Result<std::uint64_t> parse_memory_size(std::string_view text) {
  CUZK_TRY(const std::uint64_t bytes, parse_byte_size(text));
  const bool is_bare = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_bare || bytes == 0 || bytes >= kBareBytesMin) return bytes;
  return Error{
      ErrorKind::kInvalidArgument,
      fmt::format("{} without a unit are bytes, into which nothing fits; write for example "
                  "{}GiB",
                  text, text)};
}

}  // namespace cuzk::base
