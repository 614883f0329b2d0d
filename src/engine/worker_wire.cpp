// The socket between the processes.
//
// SOCK_SEQPACKET keeps the borders of messages, so a reader never has to find where one begins, and
// an end that is gone is told from silence. A large payload goes as a file in memory whose
// descriptor travels with the message (unix(7), SCM_RIGHTS; memfd_create(2)).
#include "engine/worker_wire.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace cuzk::engine::internal {

using base::ByteSpan;
using base::Error;
using base::ErrorKind;
using base::MutexLock;
using base::Result;
using base::Status;

namespace {

// In front of each message: what it is, and how many bytes follow or lie in the file beside it.
constexpr std::uint32_t kMagic = 0x315a5543;  // "CUZ1"
constexpr std::size_t kHeaderBytes = 24;

using Header = std::array<std::uint8_t, kHeaderBytes>;
static_assert(kHeaderBytes == 4 + 1 + 1 + 2 + 8 + 8, "magic, kind, file, nothing, call, size");

// Owned; closed on every way out. -1 is none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

// kResourceExhausted where the system lacks something for now, else kUnavailable: the way is
// broken.
Error failed(std::string_view what, int code) {
  return Error{code == ENOMEM || code == ENFILE || code == EMFILE ? ErrorKind::kResourceExhausted
                                                                  : ErrorKind::kUnavailable,
               fmt::format("{}: {}", what, std::strerror(code))};
}

Status write_whole(int file, ByteSpan bytes) {
  std::size_t offset = 0;
  while (offset < bytes.size()) {
    const ssize_t count =
        ::pwrite(file, bytes.data() + offset, bytes.size() - offset, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Error{
          ErrorKind::kResourceExhausted,
          fmt::format("{} bytes for the proving process: {}", bytes.size(), std::strerror(errno))};
    }
    offset += static_cast<std::size_t>(count);
  }
  return base::ok_status();
}

// Read, not mapped: the other end may still change the file's size.
Result<base::Bytes> read_whole(int file, std::uint64_t size) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || facts.st_size < 0 ||
      static_cast<std::uint64_t>(facts.st_size) != size) {
    return Error{ErrorKind::kMalformed,
                 fmt::format("a message's file has not the {} bytes that it says", size)};
  }
  base::Bytes bytes(static_cast<std::size_t>(size));
  std::size_t offset = 0;
  while (offset < bytes.size()) {
    const ssize_t count =
        ::pread(file, bytes.data() + offset, bytes.size() - offset, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Error{ErrorKind::kMalformed, "a message's file ends early"};
    offset += static_cast<std::size_t>(count);
  }
  return bytes;
}

// The descriptor that came with a message, or -1; more than one is not sent.
int descriptor_of(msghdr& message) {
  int found = -1;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    if (part->cmsg_len == CMSG_LEN(sizeof(int))) {
      std::memcpy(&found, CMSG_DATA(part), sizeof found);
    }
  }
  return found;
}

}  // namespace

Result<std::pair<std::unique_ptr<Channel>, int>> Channel::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return failed("a socket to the proving process", errno);
  }
  return std::make_pair(std::make_unique<Channel>(ends[0]), ends[1]);
}

Channel::~Channel() { ::close(descriptor_); }

Status Channel::send(MessageKind kind, std::uint64_t call, ByteSpan payload) {
  if (payload.size() > kPayloadBytesMax) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{} bytes are too many for a message", payload.size())};
  }
  if (payload.size() <= kInlineBytesMax) {
    const MutexLock hold(mutex_);
    return send_locked(kind, call, payload, std::nullopt, 0);
  }
  // Written without the lock: a large input keeps nobody from sending.
  const Descriptor file(::memfd_create("cuzk-message", MFD_CLOEXEC));
  if (file.get() < 0) return failed("a file in memory", errno);
  CUZK_TRY_STATUS(write_whole(file.get(), payload));
  const MutexLock hold(mutex_);
  return send_locked(kind, call, payload, file.get(), 0);
}

bool Channel::try_send(MessageKind kind, std::uint64_t call) {
  // Who holds the lock may be waiting for room in the socket.
  if (!mutex_.try_lock()) return false;
  const Status sent = send_locked(kind, call, {}, std::nullopt, MSG_DONTWAIT);
  mutex_.unlock();
  return sent.ok();
}

Status Channel::send_locked(MessageKind kind, std::uint64_t call, ByteSpan payload,
                            std::optional<int> file, int flags) {
  CUZK_ASSERT(file || payload.size() <= kInlineBytesMax);
  Header header{};
  base::store_u32_le(header.data(), kMagic);
  header[4] = static_cast<std::uint8_t>(kind);
  header[5] = file ? 1 : 0;
  base::store_u64_le(header.data() + 8, call);
  base::store_u64_le(header.data() + 16, payload.size());
  iovec parts[2] = {{header.data(), header.size()},
                    {const_cast<std::uint8_t*>(payload.data()), file ? 0 : payload.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (file) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &*file, sizeof(int));
  }
  // A packet goes whole or not at all, so there is no rest to send.
  while (true) {
    if (::sendmsg(descriptor_, &message, MSG_NOSIGNAL | flags) >= 0) return base::ok_status();
    if (errno != EINTR) return failed("sending to the other process", errno);
  }
}

Result<std::optional<Message>> Channel::receive() {
  base::Bytes buffer(kHeaderBytes + kInlineBytesMax);
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t size = 0;
  do {
    size = ::recvmsg(descriptor_, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  // An end that was closed with unread messages resets the connection: gone is gone.
  if (size == 0 || (size < 0 && errno == ECONNRESET)) return std::optional<Message>();
  if (size < 0) return failed("receiving from the other process", errno);
  // Owned before anything is judged, or a bad message would leave it open.
  const Descriptor file(descriptor_of(message));
  const auto received = static_cast<std::size_t>(size);
  CUZK_ASSERT(received <= buffer.size());
  const bool is_cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  if (is_cut || received < kHeaderBytes || base::load_u32_le(buffer.data()) != kMagic) {
    return Error{ErrorKind::kMalformed, "what the other process sent is no message"};
  }
  Message out;
  // Whatever number it is: who handles messages knows which make sense.
  out.kind = static_cast<MessageKind>(buffer[4]);
  out.call = base::load_u64_le(buffer.data() + 8);
  const std::uint64_t payload_bytes = base::load_u64_le(buffer.data() + 16);
  if ((buffer[5] != 0) != (file.get() >= 0) || payload_bytes > kPayloadBytesMax ||
      (file.get() < 0 && payload_bytes != received - kHeaderBytes)) {
    return Error{ErrorKind::kMalformed, fmt::format("a message of {} bytes says that it has {}",
                                                    received - kHeaderBytes, payload_bytes)};
  }
  if (file.get() >= 0) {
    CUZK_TRY(out.payload, read_whole(file.get(), payload_bytes));
  } else {
    buffer.resize(received);
    buffer.erase(buffer.begin(), buffer.begin() + kHeaderBytes);
    out.payload = std::move(buffer);
  }
  return std::optional<Message>(std::move(out));
}

}  // namespace cuzk::engine::internal
