// Whether a socket is alive is asked by connecting to it. The file alone does not tell, since it
// outlives the process that made it; nor does the answer hold for longer than it takes to bind
// another, so all of it happens under the place's lock.
#include "service/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

std::string reason(int number) { return std::generic_category().message(number); }

// 0: somebody listens; else what connecting said. Does not wait. The path fits.
int connect_to(const std::string& path) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return errno;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  CUZK_ASSERT(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  const int answer =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0
                                                                                          : errno;
  ::close(socket);
  return answer;
}

// What can be said of a path before anything is looked for there.
base::Status check_path(const std::filesystem::path& path) {
  const std::string name = path.string();
  constexpr std::size_t kBytesMax = sizeof(sockaddr_un::sun_path) - 1;
  if (name.size() > kBytesMax) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: a socket's path may have {} bytes, this one has {}", name,
                             kBytesMax, name.size())};
  }
  // Without its folder binding would fail with a word that names no folder.
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return base::ok_status();
  return Error{ErrorKind::kNotFound,
               fmt::format("{}: there is no folder {}", name, folder.string())};
}

constexpr std::string_view kRemoveIt = "; where no daemon listens there any more, remove it";

Error another_server(const std::string& name) {
  return {ErrorKind::kAlreadyExists, name + ": another server listens there"};
}

// Whether the path still leads to the open file: whoever had the lock before may have removed it.
bool is_at(int descriptor, const std::filesystem::path& path) {
  struct stat opened = {}, named = {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// The lock file, made where there is none; -1, with errno, where it cannot be had. Made only in a
// second step, for in folders like /tmp the system may refuse O_CREAT on what another user made,
// even to root (fs.protected_regular). For its user alone: whoever may open it can hold it, and so
// keep a daemon from starting again. Does not wait for the writer of a pipe.
int open_lock(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  while (true) {
    const int found = ::open(path.c_str(), kFlags);
    if (found >= 0 || errno != ENOENT) return found;
    const int made = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
    if (made >= 0 || errno != EEXIST) return made;
    // Somebody was quicker.
  }
}

bool is_regular(int descriptor) {
  struct stat opened = {};
  return ::fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode);
}

// In doubt the file stays: a daemon that does not start is better than one that took a socket away.
base::Status clear_unix_socket(const std::filesystem::path& path) {
  const std::string name = path.string();
  struct stat found = {};
  // Not followed: a link is no socket, wherever it leads.
  if (::lstat(name.c_str(), &found) != 0) {
    if (errno == ENOENT) return base::ok_status();
    return Error{ErrorKind::kIo, name + ": " + reason(errno)};
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Error{ErrorKind::kAlreadyExists,
                 name + ": is no socket; it is kept, choose another path or remove it"};
  }
  // Refused: nobody listens. Anything else leaves the file alone.
  const int answer = connect_to(name);
  // A full backlog (EAGAIN) and a right that we lack both mean that there is a listener, or may be.
  if (answer == 0 || answer == EAGAIN) return another_server(name);
  if (answer == EACCES) {
    return Error{ErrorKind::kIo,
                 name + ": is a socket that this user may not connect to" + std::string(kRemoveIt)};
  }
  if (answer != ECONNREFUSED && answer != ENOENT) {
    return Error{ErrorKind::kIo, name + ": " + reason(answer)};
  }
  if (::unlink(name.c_str()) != 0 && errno != ENOENT) {
    return Error{ErrorKind::kIo,
                 fmt::format("{}: the old socket cannot be removed: {}", name, reason(errno))};
  }
  return base::ok_status();
}

}  // namespace

base::Result<SocketPlace> SocketPlace::take(const std::filesystem::path& path) {
  CUZK_TRY_STATUS(check_path(path));
  SocketPlace place;
  const std::filesystem::path lock_path = path.string() + ".lock";
  const auto failure = [&](const std::string& why) {
    return Error{ErrorKind::kIo, fmt::format("{}: its lock {} cannot be taken: {}", path.string(),
                                             lock_path.string(), why)};
  };
  do {
    place.release();
    place.lock_ = open_lock(lock_path.string());
    if (place.lock_ < 0) {
      const int error = errno;
      // Else it is the folder in which this user may make nothing.
      const bool is_there = error == EACCES && ::access(lock_path.c_str(), F_OK) == 0;
      return failure(reason(error) + std::string(is_there ? kRemoveIt : ""));
    }
    if (!is_regular(place.lock_)) return failure("it is no file");
    if (::flock(place.lock_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return failure(reason(errno));
      return another_server(path.string());
    }
  } while (!is_at(place.lock_, lock_path));
  place.lock_path_ = lock_path;
  CUZK_TRY_STATUS(clear_unix_socket(path));
  return Result<SocketPlace>(std::move(place));
}

// The name goes while the lock is held: later it might be that of the next holder's file.
void SocketPlace::release() noexcept {
  if (!lock_path_.empty()) ::unlink(lock_path_.c_str());
  lock_path_.clear();
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

// After binding: the process's umask has had its say by then.
base::Status set_socket_mode(const std::filesystem::path& path, unsigned mode) {
  if (::chmod(path.c_str(), mode) == 0) return base::ok_status();
  return Error{ErrorKind::kIo,
               fmt::format("{}: its rights cannot be set: {}", path.string(), reason(errno))};
}

}  // namespace cuzk::service
