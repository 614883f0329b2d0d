// The journal's folder: names of its files, the lock that keeps a second process out, which
// file is which, and the ballast that keeps room for results when the disk is full.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include <sys/types.h>

#include "base/result.h"

namespace cuzk::engine::internal {

// Names in one place: what is written by one part is looked for by another, also after a kill.
struct JournalPaths {
  explicit JournalPaths(std::filesystem::path folder_path) : folder(std::move(folder_path)) {}
  std::filesystem::path folder;
  std::filesystem::path database() const { return folder / "journal.db"; }
  std::filesystem::path log() const { return folder / "journal.db-wal"; }
  std::filesystem::path lock() const { return folder / "journal.lock"; }
  std::filesystem::path ballast() const { return folder / "journal.ballast"; }
  // A rebuilt journal while it is written, and when it is whole and about to replace the old one.
  std::filesystem::path rebuilding() const { return folder / "journal.rebuilding"; }
  std::filesystem::path rebuilt() const { return folder / "journal.rebuilt"; }
  // Copies that a rebuilding reads.
  std::filesystem::path salvage() const { return folder / "journal.salvage"; }
};

// Makes the file system's entries of the folder durable, where it can.
void sync_folder(const std::filesystem::path& folder);

// "action: reason of errno", of kind kResourceExhausted when the disk is full, else kIo.
base::Error file_error(const std::filesystem::path& path, const char* action, int error_number);

// Which file a path names. Whoever has a file open goes on writing into it when it is removed or
// replaced, and nobody finds by the path what is written then.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
// Errors: kNotFound when the path names nothing, kIo when it cannot be looked at.
base::Result<FileIdentity> identity_of(const std::filesystem::path& path);

// Holds the folder for this process. The lock goes with the process, however it ends.
class FolderLock {
 public:
  // Makes the folder (for its owner only) when it is not there. Errors: kUnavailable when another
  // process has it, kIo when it cannot be made or written.
  static base::Result<FolderLock> take(const JournalPaths& paths);
  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) { CUZK_ASSERT(descriptor >= 0); }
  int descriptor_;
};

// A file that only takes up room. A full disk is met by new jobs first, while the ballast is in
// place; running jobs drop it to record their results. It stays when the process ends.
class Ballast {
 public:
  Ballast(std::filesystem::path path, std::uint64_t bytes)
      : path_(std::move(path)), bytes_(bytes) {}
  // Takes the room unless it is held. Error kResourceExhausted when the disk has not got it.
  base::Status hold();
  // Gives the room back. Whether there was any.
  bool release();

 private:
  std::filesystem::path path_;
  std::uint64_t bytes_;
  bool is_held_ = false;
};

}  // namespace cuzk::engine::internal
