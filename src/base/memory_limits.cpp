// Reading of the kernel's files. A limit applies from any group between the process's own and the
// mount point, so the whole way up is read and the tightest one wins.
#include "base/memory_limits.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/byte_size.h"
#include "base/check.h"
#include "base/memory_size.h"

namespace cuzk::base {
namespace {

namespace fs = std::filesystem;

// Kept back by the budget "auto", in bytes and as a share of the limit: code, heaps, page tables.
constexpr std::uint64_t kReserveBytesMin = std::uint64_t{512} << 20;
constexpr std::uint64_t kReserveShare = 16;
// Version 1 writes "no limit" as the largest multiple of a page below 2^63.
constexpr std::uint64_t kNoLimitBytes = std::uint64_t{1} << 62;
constexpr int kGroupDepthMax = 64;
static_assert(kReserveShare > 1, "a budget of nothing would be the rule");

// The content, or nothing where the file is missing or may not be read, which is common in
// containers and no error. Files under /proc and /sys have no size that can be asked, so they are
// read as streams.
std::optional<std::string> text_of(const fs::path& path) {
  std::ifstream stream(path);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::istringstream stream(text_of(path).value_or(""));
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

// The decimal number at the front; whatever follows it (a line's end, a unit) is left alone.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

// A line is "MemTotal:  16384 kB", and kB means 1024 bytes there (proc(5)). 0 without such a line.
std::uint64_t meminfo_bytes(const std::vector<std::string>& lines, std::string_view field) {
  for (const std::string& line : lines) {
    const auto words = words_of(line);
    if (words.size() < 2 || words[0] != field) continue;
    return number_of(words[1]).value_or(0) * 1024;
  }
  return 0;
}

// A mounted hierarchy of control groups that may limit memory.
struct Hierarchy {
  bool unified = false;     // version 2
  std::string group_root;   // the group that the mount point shows
  std::string mount_point;  // without the leading slash
  std::string group;        // of this process
};

// Whether a list with commas has the item as a whole: "cpu,memory" has "memory", not "mem".
bool has_item(const std::string& list, std::string_view item) {
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) {
    if (word == item) return true;
  }
  return false;
}

// mountinfo(5): "id parent dev root mount-point options [tags] - type source super-options".
std::optional<Hierarchy> hierarchy_of_mount(const std::string& line) {
  const auto words = words_of(line);
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() < 6 || words.end() - dash < 4) return std::nullopt;
  Hierarchy found;
  found.unified = dash[1] == "cgroup2";
  if (!found.unified && !(dash[1] == "cgroup" && has_item(dash[3], "memory"))) return std::nullopt;
  found.group_root = words[3];
  found.mount_point = words[4].substr(words[4].find_first_not_of('/') == std::string::npos
                                          ? words[4].size()
                                          : words[4].find_first_not_of('/'));
  return found;
}

// cgroup(5): "0::/path" for version 2, "N:controllers:/path" for version 1.
std::optional<std::string> group_of_process(const std::vector<std::string>& lines, bool unified) {
  for (const std::string& line : lines) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool fits = unified ? controllers.empty() : has_item(controllers, "memory");
    if (fits) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Where the process's group lies below the mount point. A container may see a mount of its own
// group only ("/docker/x" mounted as the root): then that part of the path is not there.
fs::path group_below_mount(const Hierarchy& hierarchy) {
  const fs::path group = fs::path(hierarchy.group).relative_path();
  const fs::path root = fs::path(hierarchy.group_root).relative_path();
  // A group outside the mount is shown as "/../x" (cgroup_namespaces(7)): only the mount is left.
  if (std::find(group.begin(), group.end(), fs::path("..")) != group.end()) return {};
  const auto [root_end, rest] = std::mismatch(root.begin(), root.end(), group.begin(), group.end());
  fs::path below;
  for (auto part = root_end == root.end() ? rest : group.begin(); part != group.end(); ++part) {
    below /= *part;
  }
  return below;
}

// Takes the limit that the file states when it is below the one found so far.
void tighten(MemoryLimits& limits, const fs::path& file) {
  const auto text = text_of(file);
  if (!text) return;
  const auto bytes = number_of(*text);  // "max" is no number
  if (!bytes || *bytes == 0 || *bytes >= kNoLimitBytes) return;
  if (limits.cgroup_bytes != 0 && limits.cgroup_bytes <= *bytes) return;
  limits.cgroup_bytes = *bytes;
  limits.cgroup_file = file.string();
  CUZK_ASSERT(limits.cgroup_bytes != 0);  // 0 stands for no limit, and was refused above
}

// The group's own folder first, then each above it up to the mount point.
void tighten_by(MemoryLimits& limits, const Hierarchy& hierarchy, const fs::path& root) {
  const fs::path mount = root / hierarchy.mount_point;
  fs::path below = group_below_mount(hierarchy);
  for (int depth = 0; depth < kGroupDepthMax; ++depth) {
    const fs::path folder = below.empty() ? mount : mount / below;
    if (hierarchy.unified) {
      tighten(limits, folder / "memory.max");
      tighten(limits, folder / "memory.high");  // above it the kernel throttles the process
    } else {
      tighten(limits, folder / "memory.limit_in_bytes");
    }
    if (below.empty()) return;
    below = below.parent_path();
  }
}

}  // namespace

Result<MemoryLimits> detect_memory_limits(const fs::path& root) {
  MemoryLimits limits;
  const auto meminfo = lines_of(root / "proc/meminfo");
  limits.ram_bytes = meminfo_bytes(meminfo, "MemTotal:");
  limits.available_bytes = meminfo_bytes(meminfo, "MemAvailable:");
  if (limits.ram_bytes == 0) {
    return Error{ErrorKind::kUnsupported,
                 fmt::format("{}: no MemTotal, so the memory of this machine is not known; give "
                             "the budget as a size",
                             (root / "proc/meminfo").string())};
  }
  const auto groups = lines_of(root / "proc/self/cgroup");
  for (const std::string& line : lines_of(root / "proc/self/mountinfo")) {
    auto hierarchy = hierarchy_of_mount(line);
    if (!hierarchy) continue;
    const auto group = group_of_process(groups, hierarchy->unified);
    if (!group) continue;
    hierarchy->group = *group;
    tighten_by(limits, *hierarchy, root);
  }
  return limits;
}

Result<std::uint64_t> resolve_budget(std::string_view text, const MemoryLimits& limits) {
  if (text == "none") return std::uint64_t{0};
  const std::uint64_t limit = limits.limit_bytes();
  if (text == "auto") {
    const std::uint64_t reserve = std::max(kReserveBytesMin, limit / kReserveShare);
    if (limit > reserve) return limit - reserve;
    return Error{ErrorKind::kResourceExhausted,
                 fmt::format("budget auto: this process may use {}, which is not more than the {} "
                             "kept for what the ledger does not count",
                             format_byte_size(limit), format_byte_size(reserve))};
  }
  auto parsed = parse_memory_size(text);
  if (!parsed.ok()) {
    return std::move(parsed).error().within("budget: neither auto nor none nor a size");
  }
  if (*parsed == 0) {
    return Error{ErrorKind::kInvalidArgument, "budget: 0 holds nothing; for no budget write none"};
  }
  if (*parsed > limit) {
    const bool grouped = limit == limits.cgroup_bytes;
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("budget: {} is more than the {} that {} allows",
                             format_byte_count(*parsed), format_byte_size(limit),
                             grouped ? limits.cgroup_file : std::string("this machine's RAM"))};
  }
  return *parsed;
}

}  // namespace cuzk::base
