// posix_spawn: no code of ours runs between fork and exec, where a process with threads may do
// next to nothing.
#include "engine/worker_spawn.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/worker_process.h"

extern char** environ;

namespace cuzk::engine::internal {

using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

Error cannot_start(const std::string& program, int code) {
  return Error{ErrorKind::kUnavailable, fmt::format("the proving process {} cannot be started: {}",
                                                    program, std::strerror(code))};
}

// Returns an errno, 0 when the child runs. The calls that fill the tables can only lack memory, and
// then posix_spawn itself fails.
int spawn(const std::vector<std::string>& command, int socket, int error_output, pid_t& id) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, error_output, 1);
  posix_spawn_file_actions_adddup2(&actions, error_output, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, kWorkerDescriptor);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  // Whatever a library of this process has open without its being closed on exec.
  posix_spawn_file_actions_addclosefrom_np(&actions, kWorkerDescriptor + 1);
#endif
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A group of its own: an interrupt from the terminal is for the process in front.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int code =
      ::posix_spawn(&id, command.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& command,
                                                          int socket) {
  CUZK_ASSERT(!command.empty() && socket >= 0);
  // The socket may itself be the number that the child expects, and would then be closed on exec.
  const int high_socket = ::fcntl(socket, F_DUPFD_CLOEXEC, kWorkerDescriptor + 1);
  const int socket_error = errno;
  ::close(socket);
  if (high_socket < 0) return cannot_start(command.front(), socket_error);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    const int code = errno;
    ::close(high_socket);
    return cannot_start(command.front(), code);
  }
  const int high_output = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kWorkerDescriptor + 1);
  ::close(ends[1]);
  // The reader looks for words when poll() says so, and never waits for more.
  (void)::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pid_t id = -1;
  const int code = spawn(command, high_socket, high_output, id);
  // The child has copies: kept here, its end would never be seen.
  ::close(high_socket);
  ::close(high_output);
  if (code != 0) {
    ::close(ends[0]);
    return cannot_start(command.front(), code);
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(id, ends[0]));
}

ChildProcess::~ChildProcess() {
  // A process that nobody waits for would stay in the system's table.
  if (!collected_) {
    kill();
    (void)collect();
  }
  ::close(error_output_);
}

void ChildProcess::kill() {
  if (!collected_) ::kill(id_, SIGKILL);
}

std::string ChildProcess::collect() {
  CUZK_ASSERT(!collected_);
  int status = 0;
  pid_t found = 0;
  do {
    found = ::waitpid(id_, &status, 0);
  } while (found < 0 && errno == EINTR);
  // From here on the number may belong to another process: kill() does nothing any more.
  collected_ = true;
  if (found < 0) return "ended";  // somebody else collects this process's children
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("was killed by signal {} ({})", number, ::strsignal(number));
  }
  return fmt::format("ended by itself with code {}", WEXITSTATUS(status));
}

}  // namespace cuzk::engine::internal
