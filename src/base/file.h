// Files: a read-only mapping with an identity, and a writer whose file appears whole or not at all.
//
// Keys, witnesses, circuits and proofs are read and written through here, so what can happen to a
// file (a pipe in its place, a full disk, a signal halfway, a path through links) is dealt with
// once. Errors name the path and give the system's reason.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/interrupt.h"
#include "base/result.h"

namespace cuzk::base {

// What tells one version of a file from another without reading it. Two opens with equal identities
// saw the same bytes unless somebody wrote in place and set the clock back.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size_bytes = 0;
  std::int64_t modified_ns = 0;  // since the epoch
  bool operator==(const FileIdentity&) const = default;
};

// How a mapping is about to be read, so that the kernel reads ahead or does not.
enum class FileAccess { kNormal, kSequential, kRandom };

// The bytes of a regular file, mapped and never copied; held by shared_ptr so that keys may borrow
// from it. Safe to share between threads. If another process truncates the file while it is mapped,
// reading the missing part ends this process (SIGBUS): replace key files by rename, never in place.
class MappedFile {
 public:
  // Errors: kNotFound, or kIo with the system's reason (a folder, no permission, not a regular
  // file). Commands take streams too, by base/input_file.h.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  // The same face over bytes in memory, for tests and for content that came over a wire.
  static std::shared_ptr<const MappedFile> of_bytes(Bytes bytes, std::string name);
  // The same over memory that `owner` keeps.
  static std::shared_ptr<const MappedFile> of_memory(ByteSpan bytes,
                                                     std::shared_ptr<const void> owner,
                                                     std::string name);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  ByteSpan bytes() const noexcept { return bytes_; }
  std::uint64_t size_bytes() const noexcept { return bytes_.size(); }
  // The path as it was given, for messages.
  const std::string& name() const noexcept { return name_; }
  const FileIdentity& identity() const noexcept { return identity_; }
  // Tells the kernel; nothing but speed depends on it.
  void advise(FileAccess access) const noexcept;

 private:
  MappedFile() = default;

  std::string name_;
  FileIdentity identity_;
  ByteSpan bytes_;
  // One of the two holds what bytes_ shows; neither for an empty file.
  std::shared_ptr<const void> owner_;  // of_bytes and of_memory
  void* mapping_ = nullptr;            // open only
};

// Writes a file under a temporary name in the target's folder; commit() makes it durable (fsync)
// and renames it into place. Dropped before commit(), it removes the temporary file. A reader
// therefore never sees part of a file under its final name, and an old file survives a failure; a
// signal that ends the process removes the temporary file too (base/interrupt.h). A symbolic link
// is followed: what it points at is replaced. A target that exists and is no regular file (a pipe)
// cannot be replaced and is written directly, and so is what the process has open already and is
// named by its descriptor (/dev/stdout, /dev/fd/63): there the bytes go behind those written
// before. One thread at a time.
//
// States: open (from create), then committed or dropped; both close the descriptor. After an error
// of write() or sync() part of a buffer may have been written, so the file is to be dropped.
class AtomicFile {
 public:
  // Errors: kNotFound (no such folder), or kIo with the system's reason (a folder, no permission, a
  // name that is too long), naming the target.
  static Result<AtomicFile> create(const std::filesystem::path& target);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // Appends. Errors: kResourceExhausted when the disk or a quota is full, else kIo.
  Status write(ByteSpan bytes);
  // Bytes appended so far.
  std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }
  // Brings what was appended to the disk, so that commit() has little left that can fail.
  Status sync();
  // Flushes, syncs, renames. Call once, last.
  Status commit();

 private:
  AtomicFile() = default;
  Status flush();
  Status write_through(ByteSpan bytes);
  Error failure(const char* action, int error_number) const;
  void discard() noexcept;

  std::string target_, temporary_;  // temporary_ is empty when the target is written directly
  std::unique_ptr<PartialFileGuard> guard_;  // of temporary_
  int descriptor_ = -1;
  std::uint64_t offset_bytes_ = 0;
  Bytes buffer_;  // appended and not yet written; at most kWriteBufferBytes of file.cpp
};

// The whole file in one call.
Status write_file(const std::filesystem::path& target, ByteSpan bytes);
Status write_file(const std::filesystem::path& target, std::string_view text);

// The content of a file or stream (a pipe, /dev/stdin), at most `size_bytes_max`; a longer one is
// kMalformed, with the limit. For small inputs: keys and witnesses are mapped instead.
Result<Bytes> read_file(const std::filesystem::path& path, std::uint64_t size_bytes_max);

}  // namespace cuzk::base
