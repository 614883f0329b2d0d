// POSIX files: mmap for reading; temporary name, fsync and rename for writing.
//
// The order on commit is what makes a file whole after a power cut, too: the data reach the disk
// before the name points at them, and then the folder's entry does. A rename within a folder is
// atomic, which is why the temporary file lies beside its target and not in /tmp.
#include "base/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/descriptor.h"

namespace cuzk::base {
namespace {

constexpr std::size_t kWriteBufferBytes = std::size_t{1} << 18;
// One write() of more than about 2 GiB is cut short by Linux; smaller pieces also keep the dirty
// pages of a 44 GiB key from piling up in one call.
constexpr std::size_t kWritePieceBytes = std::size_t{1} << 24;
constexpr int kTemporaryNameTries = 100;
static_assert(kWriteBufferBytes <= kWritePieceBytes, "a buffer is flushed by one call");

// Of an open descriptor's fstat, so that it belongs to the bytes that are mapped.
FileIdentity identity_of(const struct stat& info) {
  FileIdentity identity;
  identity.device = info.st_dev;
  identity.inode = info.st_ino;
  identity.size_bytes = static_cast<std::uint64_t>(info.st_size);
  identity.modified_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  return identity;
}

// Where a write to `target` lands: through symbolic links, even ones that point at nothing yet.
std::filesystem::path resolve(std::filesystem::path target) {
  constexpr int kLinksMax = 40;  // as the kernel's own limit
  std::error_code error;
  for (int i = 0; i < kLinksMax && std::filesystem::is_symlink(target, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;  // an absolute `next` replaces the whole path
  }
  return target;
}

// A hidden name beside the target, distinct for each process and call. Cut so that no file system's
// limit of 255 bytes a name is passed.
std::string temporary_name(const std::filesystem::path& target) {
  static std::atomic<std::uint64_t> serial{0};
  const std::string stem = target.filename().string().substr(0, 200);
  const std::string name = fmt::format(".{}.{}-{}.tmp", stem, ::getpid(), ++serial);
  return (target.parent_path() / name).string();
}

// Makes a rename durable. A file system that cannot sync folders is not an error.
void sync_folder(const std::filesystem::path& target) {
  std::filesystem::path folder = target.parent_path();
  if (folder.empty()) folder = ".";
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.value() >= 0) (void)::fsync(descriptor.value());
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  const std::string name = path.string();
  // O_NONBLOCK: a pipe that nobody writes to is refused below instead of waited for.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.value() < 0) return system_error(name, "open", errno);
  struct stat info = {};
  if (::fstat(descriptor.value(), &info) != 0) return system_error(name, "stat", errno);
  if (S_ISDIR(info.st_mode)) return system_error(name, "open", EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorKind::kIo, fmt::format("{}: not a regular file, cannot be mapped", name)};
  }
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->name_ = name;
  file->identity_ = identity_of(info);
  const auto size = static_cast<std::size_t>(info.st_size);
  // The mapping keeps the file alive by itself: the descriptor closes at the end of this scope.
  if (size > 0) {  // mmap refuses a length of zero
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor.value(), 0);
    if (mapping == MAP_FAILED) return system_error(name, "map", errno);
    file->mapping_ = mapping;
    file->bytes_ = ByteSpan(static_cast<const std::uint8_t*>(mapping), size);
  }
  return std::shared_ptr<const MappedFile>(std::move(file));
}

std::shared_ptr<const MappedFile> MappedFile::of_bytes(Bytes bytes, std::string name) {
  const auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return of_memory(*owner, owner, std::move(name));
}

std::shared_ptr<const MappedFile> MappedFile::of_memory(ByteSpan bytes,
                                                        std::shared_ptr<const void> owner,
                                                        std::string name) {
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->name_ = std::move(name);
  file->owner_ = std::move(owner);
  file->bytes_ = bytes;
  file->identity_.size_bytes = bytes.size();
  return file;
}

MappedFile::~MappedFile() {
  CUZK_ASSERT(mapping_ == nullptr || owner_ == nullptr);
  if (mapping_ != nullptr) ::munmap(mapping_, bytes_.size());
}

void MappedFile::advise(FileAccess access) const noexcept {
  if (mapping_ == nullptr) return;
  int advice = MADV_NORMAL;
  if (access == FileAccess::kSequential) advice = MADV_SEQUENTIAL;
  if (access == FileAccess::kRandom) advice = MADV_RANDOM;
  (void)::madvise(mapping_, bytes_.size(), advice);  // a hint: failing changes nothing
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& target) {
  AtomicFile file;
  file.target_ = target.string();
  if (const auto open_descriptor = descriptor_named_by(file.target_)) {
    // A copy, because closing it must leave the process's own descriptor open.
    file.descriptor_ = ::fcntl(*open_descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file.descriptor_ < 0) return system_error(file.target_, "write", errno);
    return file;
  }
  struct stat info = {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  // What stands in the way now (a name too long, a circle of links) would stand in the rename's way
  // when the work is done.
  if (!exists && errno != ENOENT) return system_error(file.target_, "write", errno);
  if (exists && S_ISDIR(info.st_mode)) return system_error(file.target_, "write", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    file.descriptor_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return system_error(file.target_, "write", errno);
    return file;
  }
  file.target_ = resolve(target).string();
  // The names are ours alone, but a process of this number may have died and left one behind.
  int error_number = EEXIST;
  for (int i = 0; i < kTemporaryNameTries && error_number == EEXIST; ++i) {
    file.temporary_ = temporary_name(file.target_);
    file.descriptor_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                              exists ? info.st_mode & 0777 : 0666);
    if (file.descriptor_ >= 0) {
      CUZK_ASSERT(!file.temporary_.empty());  // which is what tells it from a stream from now on
      // The old file's mode, also what the umask took from it; some file systems have no modes.
      if (exists) (void)::fchmod(file.descriptor_, info.st_mode & 0777);
      file.guard_ = std::make_unique<PartialFileGuard>(file.temporary_);
      return file;
    }
    error_number = errno;
  }
  file.temporary_.clear();
  return system_error(file.target_, "create", error_number);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      guard_(std::move(other.guard_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      offset_bytes_(other.offset_bytes_),
      buffer_(std::move(other.buffer_)) {}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  guard_.reset();
  descriptor_ = -1;
  temporary_.clear();
}

Error AtomicFile::failure(const char* action, int error_number) const {
  return system_error(target_, action, error_number);
}

Status AtomicFile::write(ByteSpan bytes) {
  CUZK_ASSERT(descriptor_ >= 0);
  offset_bytes_ += bytes.size();
  if (buffer_.size() + bytes.size() > kWriteBufferBytes) CUZK_TRY_STATUS(flush());
  if (bytes.size() > kWriteBufferBytes) return write_through(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  CUZK_ASSERT(buffer_.size() <= kWriteBufferBytes);
  return ok_status();
}

Status AtomicFile::flush() {
  CUZK_TRY_STATUS(write_through(buffer_));
  buffer_.clear();
  return ok_status();
}

// All of the bytes, past the buffer; short writes are gone on with.
Status AtomicFile::write_through(ByteSpan bytes) {
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), kWritePieceBytes);
    const ssize_t written = ::write(descriptor_, bytes.data(), piece);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure("write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return ok_status();
}

Status AtomicFile::sync() {
  CUZK_ASSERT(descriptor_ >= 0);
  CUZK_TRY_STATUS(flush());
  // Streams (a pipe, /dev/stdout) have nothing to sync.
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) return failure("sync", errno);
  return ok_status();
}

Status AtomicFile::commit() {
  CUZK_TRY_STATUS(sync());
  CUZK_ASSERT(buffer_.empty());
  if (temporary_.empty()) {
    if (::close(std::exchange(descriptor_, -1)) != 0) return failure("write", errno);
    return ok_status();
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) return failure("write", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return failure("rename into", errno);
  // From here on the file is there: neither a signal nor discard() may remove it.
  guard_.reset();
  temporary_.clear();
  sync_folder(target_);
  return ok_status();
}

Status write_file(const std::filesystem::path& target, ByteSpan bytes) {
  CUZK_TRY(AtomicFile file, AtomicFile::create(target));
  CUZK_TRY_STATUS(file.write(bytes));
  return file.commit();
}

Status write_file(const std::filesystem::path& target, std::string_view text) {
  return write_file(target,
                    ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Result<Bytes> read_file(const std::filesystem::path& path, std::uint64_t size_bytes_max) {
  const std::string name = path.string();
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.value() < 0) return system_error(name, "open", errno);
  Bytes bytes;
  std::uint8_t piece[1 << 16];
  for (;;) {
    const ssize_t count = ::read(descriptor.value(), piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(name, "read", errno);
    if (count == 0) return bytes;
    bytes.insert(bytes.end(), piece, piece + count);
    if (bytes.size() > size_bytes_max) {
      return Error{ErrorKind::kMalformed,
                   fmt::format("{}: longer than the {} bytes allowed here", name, size_bytes_max)};
    }
  }
}

}  // namespace cuzk::base
