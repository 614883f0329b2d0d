// A program of ours that is killed at random moments, and what it said before on a pipe. Every word
// that was said is read, because a pipe outlives its writer.
#pragma once

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "hash/sha256.h"

extern char** environ;

namespace cuzk::engine::testing_support {

// What the program says once it is so. The digest is that of a result.
struct KillWord {
  enum : std::uint32_t { kOpened, kAccepted, kEnded } what;
  std::uint32_t number;
  std::uint32_t state;
  hash::Digest digest;
};
inline constexpr int kWordDescriptor = 3;
inline void say(KillWord word) {
  if (::write(kWordDescriptor, &word, sizeof word) != sizeof word) ::_exit(9);
}

// How many kills were asked for with CUZK_KILLS.
inline int kill_count(int otherwise) {
  const char* const wanted = std::getenv("CUZK_KILLS");
  if (wanted != nullptr) (void)std::from_chars(wanted, wanted + std::strlen(wanted), otherwise);
  return otherwise;
}

// This very program once more with other words, and with variables besides ours; what it prints to
// its standard output is dropped.
class KilledProgram {
 public:
  using Clock = std::chrono::steady_clock;

  explicit KilledProgram(std::vector<std::string> words, std::vector<std::string> variables = {}) {
    int ends[2];
    CUZK_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    output_ = ends[0];
    std::string program = "/proc/self/exe";
    std::vector<char*> arguments = {program.data()}, environment;
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& variable : variables) environment.push_back(variable.data());
    for (char** own = environ; *own != nullptr; ++own) environment.push_back(*own);
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kWordDescriptor);
    CUZK_ASSERT(::posix_spawn(&id_, program.c_str(), &actions, nullptr, arguments.data(),
                              environment.data()) == 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    born_ = Clock::now();
  }
  KilledProgram(const KilledProgram&) = delete;
  ~KilledProgram() { ::close(output_); }

  pid_t id() const { return id_; }
  // Waits for the first word. How long it took.
  std::chrono::milliseconds wait_until_open() {
    pollfd end{output_, POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, 60'000), 1) << "the engine did not open";
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - born_);
  }
  // Waits until so many words were said that nobody has read.
  bool wait_until_said(std::size_t count) {
    int waiting_bytes = 0;
    for (int i = 0; i < 60'000; ++i) {
      CUZK_ASSERT(::ioctl(output_, FIONREAD, &waiting_bytes) == 0);
      if (static_cast<std::size_t>(waiting_bytes) >= count * sizeof(KillWord)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  std::vector<KillWord> kill() {
    ::kill(id_, SIGKILL);
    std::vector<KillWord> words;
    KillWord word;
    while (::read(output_, &word, sizeof word) == sizeof word) words.push_back(word);
    int status = 0;
    ::waitpid(id_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself, code " << WEXITSTATUS(status);
    return words;
  }

 private:
  pid_t id_ = -1;
  int output_ = -1;
  Clock::time_point born_;
};

}  // namespace cuzk::engine::testing_support
