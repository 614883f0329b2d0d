// Streams: poll, read, grow.
//
// A stream is polled before each read and never read blockingly without it, so that a stop is seen
// within a tenth of a second whoever is at the other end. Pages grow by mremap(2), which moves page
// tables and not bytes: a list that doubles by copying would take three times its size meanwhile.
#include "base/input_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_size.h"
#include "base/check.h"
#include "base/descriptor.h"

namespace cuzk::base {
namespace {

constexpr int kPollMilliseconds = 100;
// Both are whole pages. Pages grow to twice their number and by at most the second, so that little
// is asked for that is not needed.
constexpr std::size_t kGrowthBytesMin = std::size_t{1} << 16,
                      kGrowthBytesMax = std::size_t{1} << 26;

// Pages that grow; what is mapped is what the ledger is charged for. A MappedFile shares them.
class GrowingPages {
 public:
  GrowingPages(Ledger& ledger, std::string owner) : ledger_(ledger), owner_(std::move(owner)) {}
  GrowingPages(const GrowingPages&) = delete;
  GrowingPages& operator=(const GrowingPages&) = delete;
  ~GrowingPages() {
    if (pages_ != nullptr) ::munmap(pages_, capacity_);
  }

  std::uint8_t* data() const { return static_cast<std::uint8_t*>(pages_); }
  std::size_t capacity() const { return capacity_; }

  // Admitted before the pages exist. Errors: the ledger's, and kResourceExhausted of the system.
  Status grow() {
    const std::size_t more = std::clamp(capacity_, kGrowthBytesMin, kGrowthBytesMax);
    auto permit = ledger_.admit(more, MemoryCategory::kInput, owner_);
    if (!permit.ok())
      return Error(permit.error()).within(owner_ + ": a stream is read into memory");
    void* const pages =
        pages_ == nullptr
            ? ::mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            : ::mremap(pages_, capacity_, capacity_ + more, MREMAP_MAYMOVE);
    if (pages == MAP_FAILED) {
      return Error{
          ErrorKind::kResourceExhausted,
          fmt::format("{}: a stream is read into memory, and the operating system has none "
                      "beyond {}",
                      owner_, format_byte_size(capacity_))};
    }
    pages_ = pages;
    capacity_ += more;
    permits_.push_back(std::move(permit).value());
    return ok_status();
  }

  // Gives back what is not needed for `size` bytes, of which there are some. What the system does
  // not take back stays counted.
  void shrink(std::size_t size) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    CUZK_ASSERT(size > 0 && size <= capacity_);
    const std::size_t kept = (size + page - 1) / page * page;
    if (kept >= capacity_ || ::mremap(pages_, capacity_, kept, 0) == MAP_FAILED) return;
    std::size_t surplus = capacity_ - kept;
    capacity_ = kept;
    for (; surplus >= permits_.back().bytes(); permits_.pop_back()) {
      surplus -= permits_.back().bytes();
    }
    if (surplus > 0) permits_.back().split(surplus);  // and lets the part go
  }

 private:
  Ledger& ledger_;
  std::string owner_;
  void* pages_ = nullptr;  // capacity_ mapped bytes, paid for by permits_
  std::size_t capacity_ = 0;
  std::vector<Permit> permits_;
};

// Until there is something to read or nobody is left who could write.
Status wait_readable(int descriptor, const std::string& name, const std::stop_token& stop) {
  for (;;) {
    if (stop.stop_requested()) {
      return Error{ErrorKind::kCancelled, name + ": stopped while it was read"};
    }
    pollfd polled = {descriptor, POLLIN, 0};
    const int count = ::poll(&polled, 1, kPollMilliseconds);
    if (count > 0) return ok_status();
    if (count < 0 && errno != EINTR) return system_error(name, "wait for", errno);
  }
}

Result<std::shared_ptr<const MappedFile>> read_stream(int descriptor, const std::string& name,
                                                      const StreamLimits& limits) {
  const auto pages = std::make_shared<GrowingPages>(*limits.ledger, name);
  std::size_t size = 0;
  for (;;) {
    CUZK_TRY_STATUS(wait_readable(descriptor, name, limits.stop));
    if (size == pages->capacity()) CUZK_TRY_STATUS(pages->grow());
    const ssize_t count = ::read(descriptor, pages->data() + size, pages->capacity() - size);
    // Somebody else may have taken what was there, or the writer comes only now.
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return system_error(name, "read", errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
    CUZK_ASSERT(size <= pages->capacity());
    if (size > limits.size_bytes_max) {
      return Error{ErrorKind::kMalformed,
                   fmt::format("{}: a stream of more than {}, the most that is read into memory; a "
                               "regular file is not",
                               name, format_byte_size(limits.size_bytes_max))};
    }
  }
  if (size > 0) pages->shrink(size);
  return MappedFile::of_memory(ByteSpan(pages->data(), size), pages, name);
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> open_input(const std::filesystem::path& path,
                                                     const StreamLimits& limits) {
  CUZK_ASSERT(limits.ledger != nullptr);
  const std::string name = path.string();
  const auto given = descriptor_named_by(name);
  struct stat info = {};
  if ((given ? ::fstat(*given, &info) : ::stat(name.c_str(), &info)) != 0) {
    return system_error(name, "open", errno);
  }
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) {
    return Error{ErrorKind::kIo,
                 fmt::format("{}: a device, expected a regular file or a pipe", name)};
  }
  if (given && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))) {
    return read_stream(*given, name, limits);
  }
  // A socket in the file system is refused by open(2).
  if (!S_ISFIFO(info.st_mode)) return MappedFile::open(path);
  // Without O_NONBLOCK the call would stand still, deaf to `stop`, until somebody writes.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.value() < 0) return system_error(name, "open", errno);
  return read_stream(descriptor.value(), name, limits);
}

}  // namespace cuzk::base
