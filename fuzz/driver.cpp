// Runs a fuzz target without libFuzzer, with any compiler.
//
//   target --smoke [--seed N] [--seconds S]   mutations of the target's seeds for S (2) seconds
//   target FILE...                            each file once, to look at a finding again
//   target --write-seeds DIR                  the seeds as files, a first corpus for libFuzzer
//
// Equal seeds give equal sequences of inputs. A crash, a failed requirement, a run of more than
// kRunSecondsMax or memory beyond kMemoryBytesMax is a finding: its input is written to
// finding-<seed>-<run>, the line that names it is printed, and the exit status is 99.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fuzz/mutate.h"
#include "fuzz/target.h"

// In sanitized builds: called when the sanitizer is about to end the process.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace {

using cuzk::base::Bytes;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kDefaultSeed = 20;
constexpr double kDefaultSeconds = 2.0;
constexpr unsigned kRunSecondsMax = 20;
constexpr rlim_t kMemoryBytesMax = rlim_t{3} << 30;
constexpr std::size_t kInputBytesMax = std::size_t{1} << 20;
constexpr int kFindingExitCode = 99;

// What the handlers report: plain data, since they may use nothing else.
const std::uint8_t* current_data = nullptr;
std::size_t current_size = 0;
char finding_name[96] = "finding";
char finding_line[192] = "finding\n";

// write() until all is written; callable from a signal handler.
void write_all(int descriptor, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::write(descriptor, bytes, size);
    if (count <= 0) return;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
}

// Leaves the input and one line behind. Callable from a signal handler.
void report_finding() {
  const int file = ::open(finding_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0) write_all(file, current_data, current_size);
  write_all(STDERR_FILENO, finding_line, std::strlen(finding_line));
}

// The end of a run that crashed, aborted or took too long.
void on_signal(int number) {
  static constexpr char kSlow[] = "the run takes too long\n";
  if (number == SIGALRM) write_all(STDERR_FILENO, kSlow, sizeof kSlow - 1);
  report_finding();
  ::_exit(kFindingExitCode);
}

// The weak symbol is there only where a sanitizer is linked in.
bool is_sanitized() { return __sanitizer_set_death_callback != nullptr; }

void install_handlers() {
  for (const int number : {SIGABRT, SIGALRM}) std::signal(number, on_signal);
  if (is_sanitized()) {
    __sanitizer_set_death_callback(report_finding);  // it prints the cause and ends the process
    return;
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, on_signal);
  // Sanitizers reserve address space of their own; without them this catches what allocates before
  // it checks: the allocation throws, nobody catches, the process aborts.
  const rlimit limit{kMemoryBytesMax, kMemoryBytesMax};
  ::setrlimit(RLIMIT_AS, &limit);
}

// One input, with the alarm set and the handlers told what to report.
void run_one(const Bytes& input) {
  current_data = input.data();
  current_size = input.size();
  ::alarm(kRunSecondsMax);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  ::alarm(0);
}

// The seeds themselves first, since those must pass; then mutations until time is up.
int smoke(std::uint64_t seed, double seconds) {
  const std::vector<Bytes> seeds = cuzk::fuzz::seeds();
  for (const Bytes& input : seeds) {
    if (input.empty()) {
      std::fprintf(stderr, "a seed is empty: is tests/data whole?\n");
      return 1;
    }
  }
  cuzk::fuzz::Random random(seed);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t run = 0;
  for (; run < seeds.size() || Clock::now() < end; ++run) {
    Bytes input = seeds[run < seeds.size() ? run : random.below(seeds.size())];
    if (run >= seeds.size()) cuzk::fuzz::mutate(random, seeds, kInputBytesMax, input);
    std::snprintf(finding_name, sizeof finding_name, "finding-%llu-%llu",
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(run));
    std::snprintf(
        finding_line, sizeof finding_line, "finding in run %llu of seed %llu, its input is in %s\n",
        static_cast<unsigned long long>(run), static_cast<unsigned long long>(seed), finding_name);
    run_one(input);
  }
  std::printf("seed %llu: %llu runs, no finding\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(run));
  return 0;
}

// seed-0, seed-1, ... in a folder that exists.
int write_seeds(const std::string& folder) {
  std::size_t index = 0;
  for (const Bytes& input : cuzk::fuzz::seeds()) {
    const std::string path = folder + "/seed-" + std::to_string(index++);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(input.data(), 1, input.size(), file) != input.size()) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), std::strerror(errno));
      return 1;
    }
    std::fclose(file);
  }
  return 0;
}

// Each file once. A finding ends the process, so files after it are not run.
int replay(int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    std::FILE* file = std::fopen(paths[i], "rb");
    if (file == nullptr) {
      std::fprintf(stderr, "%s: %s\n", paths[i], std::strerror(errno));
      return 1;
    }
    Bytes input;
    for (int c; (c = std::fgetc(file)) != EOF;) input.push_back(static_cast<std::uint8_t>(c));
    std::fclose(file);
    std::snprintf(finding_line, sizeof finding_line, "finding again\n");
    run_one(input);
    std::printf("%s: no finding\n", paths[i]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool is_smoke = false;
  std::uint64_t seed = kDefaultSeed;
  double seconds = kDefaultSeconds;
  install_handlers();
  int first_file = 1;
  for (; first_file < argc; ++first_file) {
    const std::string option = argv[first_file];
    const bool has_value = first_file + 1 < argc;
    if (option == "--smoke") {
      is_smoke = true;
    } else if (option == "--seed" && has_value) {
      seed = std::strtoull(argv[++first_file], nullptr, 10);
    } else if (option == "--seconds" && has_value) {
      seconds = std::strtod(argv[++first_file], nullptr);
    } else if (option == "--write-seeds" && has_value) {
      return write_seeds(argv[++first_file]);
    } else {
      break;
    }
  }
  if (is_smoke) return smoke(seed, seconds);
  if (first_file < argc) return replay(argc - first_file, argv + first_file);
  std::fprintf(stderr, "usage: %s --smoke [--seed N] [--seconds S] | --write-seeds DIR | FILE...\n",
               argv[0]);
  return 2;
}
