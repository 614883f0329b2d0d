// Lines of /proc/self/status.
//
// One read() gives a consistent text of less than 2 KiB; its lines are "Name:\tvalue kB", in an
// order and number that differ between kernels, so each is searched for by name (proc(5)).
#include "engine/resident.h"

#include <charconv>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace cuzk::engine {
namespace {

base::Result<std::uint64_t> number_of(std::string_view status, std::string_view name) {
  // With the end of the line before, or "Threads" would be found inside other names. The file
  // begins with "Name", so no line that is looked for is the first.
  const std::string line = fmt::format("\n{}:", name);
  const std::size_t found = status.find(line);
  std::uint64_t value = 0;
  if (found != std::string_view::npos) {
    std::string_view rest = status.substr(found + line.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (read.ec == std::errc()) return value;
  }
  return base::Error{base::ErrorKind::kUnsupported,
                     fmt::format("/proc/self/status: found no number for {}", name)};
}

base::Result<std::uint64_t> bytes_of(std::string_view status, std::string_view name) {
  CUZK_TRY(const std::uint64_t kib, number_of(status, name));
  return kib * 1024;
}

}  // namespace

base::Result<Resident> parse_resident(std::string_view status) {
  Resident out;
  CUZK_TRY(out.anonymous_bytes, bytes_of(status, "RssAnon"));
  CUZK_TRY(out.file_bytes, bytes_of(status, "RssFile"));
  CUZK_TRY(out.shared_bytes, bytes_of(status, "RssShmem"));
  CUZK_TRY(out.peak_bytes, bytes_of(status, "VmHWM"));
  CUZK_TRY(out.thread_count, number_of(status, "Threads"));
  return out;
}

base::Result<Resident> read_resident() {
  char text[4096];
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return base::Error{base::ErrorKind::kUnsupported, "/proc/self/status cannot be read"};
  }
  const ssize_t count = ::read(file, text, sizeof text);
  ::close(file);
  return parse_resident({text, static_cast<std::size_t>(count > 0 ? count : 0)});
}

bool reset_peak_resident() {
  const int file = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  // 5 resets VmHWM and touches no page (proc(5), clear_refs).
  const bool done = ::write(file, "5", 1) == 1;
  ::close(file);
  return done;
}

std::uint64_t open_descriptor_count() {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  std::uint64_t count = 0;
  while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.';
  ::closedir(folder);
  // "." and ".." are not counted, any descriptor begins with a digit.
  return count - 1;  // the folder's own
}

}  // namespace cuzk::engine
