// A proving process for tests, and an engine that can be killed whole: the test program runs itself
// once more and becomes one of them before any test begins.
#pragma once

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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
  kRefusesJobs,          // as those that never fit
  kChats,                // says a line of each level when it begins and with every job
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
  const auto chat = [] {
    base::log(base::LogLevel::kDebug, "a word for who looks closely");
    base::log(base::LogLevel::kWarning, "a word for everybody");
  };
  auto executor = std::make_unique<StandInExecutor>(events);
  if (mood == WorkerMood::kChats) {
    chat();
    executor->before_run(chat);
  }
  if (mood == WorkerMood::kRefusesJobs) {
    executor->refuse(base::Error{base::ErrorKind::kResourceExhausted, "9 GiB of 8 GiB"});
  }
  executor->on_trouble([](StandInEnd end) {
    if (end == StandInEnd::kHang) ::raise(SIGSTOP);
    std::fputs("terminate called after throwing an instance of 'trouble'\n", stderr);
    std::signal(SIGABRT, SIG_DFL);
    ::raise(SIGABRT);
  });
  return WorkerParts{stand_in_types(), std::move(executor)};
}

// Words of this program's command line.
inline std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

// Runs before main, in one file of the program. `others`: what else a word makes of the program.
using OtherPrograms = std::map<std::string, int (*)(const std::vector<std::string>& words)>;
inline int become_what_is_asked(const OtherPrograms& others) {
  const std::vector<std::string> words = own_words();
  if (words.size() < 2) return 0;
  ::prctl(PR_SET_DUMPABLE, words[1] == kWorkerWord ? 0 : 1);  // no core files of crashes on purpose
  if (words[1] == kWorkerWord) ::_exit(serve_worker(kWorkerDescriptor, make_stand_in_worker));
  const auto other = others.find(words[1]);
  if (other != others.end()) ::_exit(other->second(words));
  return 0;
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

inline WorkerEngine open_or_fail(const std::filesystem::path& folder,
                                 WorkerProcessOptions worker = worker_options()) {
  auto opened = open_worker_engine(engine_options_in(folder), std::move(worker));
  if (!opened.ok()) ADD_FAILURE() << opened.error().message;
  return std::move(opened).value();
}

// Keeps the log's lines while it lives.
class LogKeeper {
 public:
  LogKeeper() {
    base::set_log_sink([this](base::LogLevel, std::string_view line) {
      const std::lock_guard hold(mutex_);
      lines_ += std::string(line) + "\n";
    });
  }
  ~LogKeeper() { base::set_log_sink({}); }
  std::string lines() const {
    const std::lock_guard hold(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::string lines_;
};

template <class Condition>
bool comes_true(Condition condition, milliseconds patience = std::chrono::seconds(20)) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

inline std::uint32_t done_count(Engine& engine, const std::string& request_id) {
  const auto view = engine.find(request_id);
  if (!view.ok() || !view->progress) return 0;
  return view->progress->partitions[static_cast<std::size_t>(PartitionState::kDone)];
}

}  // namespace cuzk::engine::testing_support
