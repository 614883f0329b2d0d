// The place of a unix socket: what may be taken over and what not. Both doors ask before they bind:
// a file left by a crash must not keep a daemon from starting, nor may a second daemon push the
// first one aside, not even when both start at once.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace cuzk::service {

// The right to one path, from before the look at what is there until the socket is gone. A socket
// does not tell a server that is about to listen from one that died, so the right is a lock on the
// file "<path>.lock" beside it, which ends with the process however that ends.
class SocketPlace {
 public:
  // Makes room for a socket at `path`: one that nobody listens on is removed. Errors name the path:
  // kAlreadyExists (a server listens there or is about to, or what is there is no socket: it is
  // kept), kNotFound (no such folder), kInvalidArgument (too long for a socket), kIo.
  static base::Result<SocketPlace> take(const std::filesystem::path& path);

  SocketPlace() = default;
  SocketPlace(SocketPlace&& other) noexcept { swap(other); }
  SocketPlace& operator=(SocketPlace&& other) noexcept {
    SocketPlace taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~SocketPlace() { release(); }
  // Once the socket is closed. Again, or of a place that was never taken: does nothing.
  void release() noexcept;

 private:
  void swap(SocketPlace& other) noexcept {
    std::swap(lock_, other.lock_);
    lock_path_.swap(other.lock_path_);
  }
  int lock_ = -1;  // open and locked, or none
  std::filesystem::path lock_path_;
};

// Sets the rights of the socket. Error kIo.
base::Status set_socket_mode(const std::filesystem::path& path, unsigned mode);

}  // namespace cuzk::service
