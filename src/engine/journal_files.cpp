// POSIX calls behind the journal's folder.
//
// flock() belongs to the open file and not to the process: two journals of one process exclude one
// another too, and the kernel drops it with the last descriptor, however the process ends. The file
// itself stays, since removing it would let two processes lock two files of one name.
#include "engine/journal_files.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuzk::engine::internal {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

}  // namespace

Error file_error(const std::filesystem::path& path, const char* action, int error_number) {
  const bool is_full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  return Error{is_full ? ErrorKind::kResourceExhausted : ErrorKind::kIo,
               fmt::format("{}: cannot {}: {}", path.string(), action,
                           std::generic_category().message(error_number))};
}

void sync_folder(const std::filesystem::path& folder) {
  // Some file systems have no such call; they are as durable as they are.
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);
  ::close(descriptor);
}

Result<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) == 0) return FileIdentity{found.st_dev, found.st_ino};
  const int reason = errno;
  Error error = file_error(path, "look at it", reason);
  if (reason == ENOENT || reason == ENOTDIR) error.kind = ErrorKind::kNotFound;
  return error;
}

Result<FolderLock> FolderLock::take(const JournalPaths& paths) {
  std::error_code error;
  if (!std::filesystem::exists(paths.folder, error)) {
    std::filesystem::create_directories(paths.folder.parent_path(), error);
    // For its owner only: inputs may be private. Another process may make it at this moment.
    if (::mkdir(paths.folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return file_error(paths.folder, "make the journal's folder", errno);
    }
  }
  const std::filesystem::path path = paths.lock();
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return file_error(path, "write in the journal's folder", errno);
  FolderLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return file_error(path, "lock the journal", errno);
  return Error{ErrorKind::kUnavailable,
               fmt::format("{}: the journal is in use by another process", paths.folder.string())};
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status Ballast::hold() {
  if (is_held_ || bytes_ == 0) return base::ok_status();
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return file_error(path_, "open", errno);
  // Blocks that are really the file's when they are given up; written only where the file system
  // cannot set them aside otherwise.
  const int code = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes_));
  ::close(descriptor);
  // A file system without this call has no cheap way to set room aside; results then have what
  // the disk has.
  if (code == 0 || code == EOPNOTSUPP || code == EINVAL) {
    is_held_ = true;
    return base::ok_status();
  }
  // The disk has not got it: what was taken of it goes back at once.
  ::unlink(path_.c_str());
  return file_error(path_, "set room aside for results", code);
}

bool Ballast::release() {
  if (!is_held_) return false;
  is_held_ = false;
  return ::unlink(path_.c_str()) == 0;
}

}  // namespace cuzk::engine::internal
