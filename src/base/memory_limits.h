// How much memory this process may use: the machine's RAM and the limits of its control groups.
//
// Read from the files that Linux shows (/proc/meminfo, /proc/self/cgroup, /proc/self/mountinfo and
// the groups' own files), for version 1, version 2 and both at once. A missing or unreadable file
// of a control group means no limit from it; a machine without /proc/meminfo is an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::base {

struct MemoryLimits {
  std::uint64_t ram_bytes = 0;        // MemTotal
  std::uint64_t available_bytes = 0;  // MemAvailable; 0 where the kernel does not tell
  std::uint64_t cgroup_bytes = 0;     // the tightest limit on the way up; 0: none
  std::string cgroup_file;            // the file that says so, for messages

  // What the process can have at most.
  std::uint64_t limit_bytes() const {
    return cgroup_bytes != 0 && cgroup_bytes < ram_bytes ? cgroup_bytes : ram_bytes;
  }
};

// `root` stands for "/" (tests give a made-up tree). Errors: kUnsupported where /proc/meminfo has
// no MemTotal.
Result<MemoryLimits> detect_memory_limits(const std::filesystem::path& root = "/");

// A budget as it stands in a configuration: "auto" is the limit less a sixteenth, and at least
// 512 MiB less, for what the ledger does not count (code, stacks, page tables, small objects);
// "none" is 0, no budget; else a size (base/byte_size.h). Errors (kInvalidArgument): another text,
// a size of zero, less than 1 MiB without a unit, a size over the limit, with both numbers.
Result<std::uint64_t> resolve_budget(std::string_view text, const MemoryLimits& limits);

}  // namespace cuzk::base
