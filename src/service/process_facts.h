// What the kernel says of this process. For the metrics of the daemon itself; the proving process
// is in the engine's report.
#pragma once

#include <cstdint>

namespace cuzk::service {

struct ProcessFacts {
  std::uint64_t resident_bytes = 0;  // 0 here and below: the kernel does not tell
  std::uint64_t open_files = 0;
  double cpu_s = 0;  // of all threads, in user and kernel
};
ProcessFacts process_facts();

}  // namespace cuzk::service
