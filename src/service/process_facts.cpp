// Linux's /proc and the clock of the process's CPU time. Where there is no /proc the files stay 0.
#include "service/process_facts.h"

#include <filesystem>
#include <system_error>

#include <time.h>

#include "base/heap.h"

namespace cuzk::service {

// Some microseconds and a read of a folder; only a scrape asks.
ProcessFacts process_facts() {
  ProcessFacts facts;
  facts.resident_bytes = base::resident_bytes().value_or(0);
  // The descriptor that reads the folder is among them.
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
