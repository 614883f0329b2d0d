// Linux's /proc and the clock of the process's CPU time.
#include "service/process_facts.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include <time.h>
#include <unistd.h>

namespace cuzk::service {

std::uint64_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long long size = 0, resident = 0;
  const int read = std::fscanf(file, "%llu %llu", &size, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

ProcessFacts process_facts() {
  ProcessFacts facts;
  facts.resident_bytes = resident_bytes();
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
