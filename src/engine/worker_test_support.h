// A proving process for tests: the test program runs itself once more and becomes one before any
// test begins. Include in one file of a program only.
#pragma once

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/engine_test_support.h"
#include "engine/worker_process.h"

namespace cuzk::engine::testing_support {

inline constexpr const char* kWorkerWord = "stand-in-worker";

// What the settings ask of the process.
enum class WorkerMood : std::uint8_t {
  kWell,
  kRefuses,
  kDiesAtOnce,
  kTalksNonsense,
  kNeverReady,
  kListsDescriptors,
  kDiesWhileFileExists,  // the file that the settings name after this
};

inline base::Result<WorkerParts> make_stand_in_worker(base::ByteSpan setup,
                                                      ExecutorEvents& events) {
  auto mood = setup.empty() ? WorkerMood::kWell : static_cast<WorkerMood>(setup[0]);
  if (mood == WorkerMood::kDiesWhileFileExists &&
      std::filesystem::exists(std::string(setup.begin() + 1, setup.end()))) {
    mood = WorkerMood::kDiesAtOnce;
  }
  if (mood == WorkerMood::kRefuses) {
    return base::Error{base::ErrorKind::kInvalidArgument, "pw: found 0, expected 1 or more"};
  }
  if (mood == WorkerMood::kDiesAtOnce) {
    std::fputs("error: no device driver\n", stderr);
    ::_exit(7);
  }
  if (mood == WorkerMood::kTalksNonsense) {
    const char nonsense[] = "nonsense that is longer than a header, by some bytes";
    (void)!::write(kWorkerDescriptor, nonsense, sizeof nonsense);
    ::pause();
  }
  if (mood == WorkerMood::kNeverReady) ::pause();
  if (mood == WorkerMood::kListsDescriptors) {
    std::string line = "warning: descriptors";
    for (int i = 0; i < 256; ++i) {
      if (::fcntl(i, F_GETFD) >= 0) line += fmt::format(" {}", i);
    }
    std::fputs((line + "\n").c_str(), stderr);
  }
  auto executor = std::make_unique<StandInExecutor>(events);
  executor->on_trouble([](StandInEnd end) {
    if (end == StandInEnd::kHang) ::raise(SIGSTOP);
    std::fputs("terminate called after throwing an instance of 'trouble'\n", stderr);
    std::signal(SIGABRT, SIG_DFL);
    ::raise(SIGABRT);
  });
  return WorkerParts{stand_in_types(), std::move(executor)};
}

// Runs before main.
inline int serve_if_asked() {
  const std::string line = [] {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  const std::string first = line.substr(0, line.find('\0'));
  if (line.compare(first.size() + 1, std::string(kWorkerWord).size(), kWorkerWord) != 0) return 0;
  ::prctl(PR_SET_DUMPABLE, 0);  // no core files of crashes that are meant
  ::_exit(serve_worker(kWorkerDescriptor, make_stand_in_worker));
}

inline WorkerProcessOptions worker_options(WorkerMood mood = WorkerMood::kWell) {
  WorkerProcessOptions options;
  options.command = {"/proc/self/exe", kWorkerWord};
  options.setup = {static_cast<std::uint8_t>(mood)};
  return options;
}

// An engine over a proving process; `worker` stays the engine's.
struct WorkerEngine {
  std::unique_ptr<Engine> engine;
  WorkerProcess* worker = nullptr;
};
inline base::Result<WorkerEngine> open_worker_engine(EngineOptions options,
                                                     WorkerProcessOptions worker) {
  WorkerEngine out;
  CUZK_TRY(out.engine,
           Engine::open(std::move(options), stand_in_types(),
                        [&](ExecutorEvents& events) -> base::Result<std::unique_ptr<Executor>> {
                          CUZK_TRY(auto made, WorkerProcess::start(std::move(worker), events));
                          out.worker = made.get();
                          return std::unique_ptr<Executor>(std::move(made));
                        }));
  return out;
}

}  // namespace cuzk::engine::testing_support
