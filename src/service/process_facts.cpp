// Linux's /proc and the clock of the process's CPU time.
#include "service/process_facts.h"

#include <filesystem>
#include <system_error>

#include <time.h>

#include "base/heap.h"

namespace cuzk::service {

ProcessFacts process_facts() {
  ProcessFacts facts;
  facts.resident_bytes = base::resident_bytes().value_or(0);
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error)) {
    ++facts.open_files;
  }
  timespec spent = {};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent) == 0) {
    facts.cpu_s = static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
  }
  return facts;
}

}  // namespace cuzk::service
