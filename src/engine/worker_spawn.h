// Starting a proving process and watching its end.
//
// Hides posix_spawn, descriptors and waitpid. The child gets three things and nothing else: its
// socket, a pipe for what it writes, and an empty mask of signals.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace cuzk::engine::internal {

// A child of this process. Killed and collected when it dies with this object.
class ChildProcess {
 public:
  // Runs `command` with `socket` as its descriptor kWorkerDescriptor, standard error into a pipe
  // and no other descriptor. Closes `socket`. Error kUnavailable.
  static base::Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& command,
                                                           int socket);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  int id() const { return id_; }
  // Its standard error, not blocking.
  int error_output() const { return error_output_; }
  void kill();
  // Waits for its end and says how it was, e.g. "was killed by signal 9 (Killed)".
  std::string collect();

 private:
  ChildProcess(int id, int error_output) : id_(id), error_output_(error_output) {
    CUZK_ASSERT(id > 0 && error_output >= 0);
  }
  const int id_;
  const int error_output_;
  bool collected_ = false;
};

}  // namespace cuzk::engine::internal
