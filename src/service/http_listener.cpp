// One thread accepts; each connection has its own. Their number is bounded, so a thread each costs
// little, and a handler may block as it likes.
#include "service/http_listener.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "service/http_message.h"
#include "service/http_socket.h"

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kBufferBytes = 16384;
// How long a new connection waits for the one that makes room for it.
constexpr milliseconds kRoomWait{500};
// How long, and for how much, a client that still sends is listened to after its last answer.
constexpr milliseconds kLingerTime{500};
constexpr std::size_t kLingerBytesMax = std::size_t{1} << 20;
constexpr milliseconds kAcceptRest{20};  // when descriptors have run out
// When a client that found no place should come again.
constexpr milliseconds kBusyRetry{1000};

// What is left for poll(2), rounded up: rounded down it would turn for the last millisecond.
int poll_ms(std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

// The other side: whether it is on this machine, and its address for logs.
struct Peer {
  bool local = true;
  std::string text = "unix";
};

// Unknown counts as elsewhere.
Peer peer_of(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return {false, "unknown"};
  }
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {(ntohl(v4.sin_addr.s_addr) >> 24) == 127, text.data()};
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
    // A socket of IPv6 shows clients of IPv4 as ::ffff:a.b.c.d.
    const bool mapped_local = IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127;
    return {IN6_IS_ADDR_LOOPBACK(&v6) || mapped_local, text.data()};
  }
  return {};
}

}  // namespace

HttpConnection::HttpConnection(int descriptor, bool local, std::string peer,
                               const HttpLimits& limits)
    : descriptor_(descriptor),
      local_(local),
      peer_(std::move(peer)),
      limits_(limits),
      phase_since_(Clock::now().time_since_epoch().count()),
      buffer_(kBufferBytes) {
  CUZK_ASSERT(descriptor_ >= 0);
}

HttpConnection::~HttpConnection() { ::close(descriptor_); }

// Time that a signal took is not given back: the deadline is a point in time.
bool HttpConnection::wait(short events, Clock::time_point until) const {
  pollfd one = {descriptor_, events, 0};
  while (!ended_) {
    const int ready = ::poll(&one, 1, poll_ms(until));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return false;
  }
  return false;
}

bool HttpConnection::fill() {
  const ssize_t count = ::recv(descriptor_, buffer_.data(), buffer_.size(), 0);
  if (count <= 0) return false;
  begin_ = 0;
  end_ = static_cast<std::size_t>(count);
  return true;
}

// Between requests the connection is idle, and may be ended to make room; from the first byte on
// the whole request has a deadline.
bool HttpConnection::wait_request() {
  phase_ = Phase::kIdle;
  phase_since_ = Clock::now().time_since_epoch().count();
  // The first request may take as long to begin as any pause within one. Bytes that came with the
  // request before (pipelining) begin the next at once.
  const bool first = request_bytes_ == 0;
  if (begin_ == end_) {
    const auto patience = first ? limits_.read_timeout : limits_.keep_alive;
    if (!wait(POLLIN, Clock::now() + patience) || !fill()) return false;
  }
  // Everything of the request before is forgotten here, and nowhere else.
  phase_ = Phase::kReading;
  phase_since_ = Clock::now().time_since_epoch().count();
  deadline_ = Clock::now() + limits_.request_timeout;
  request_bytes_ = answer_bytes_ = 0;
  head_bytes_ = line_bytes_ = 0;
  first_line_done_ = head_done_ = false;
  fault_ = Fault::kNone;
  return !ended_;
}

// Counts a byte of the head; false when it is one too many.
bool HttpConnection::count_head(char byte) {
  if (head_done_) return true;
  ++head_bytes_;
  if (byte == '\n') {
    head_done_ = first_line_done_ && line_bytes_ == 0;
    first_line_done_ = true;
    line_bytes_ = 0;
  } else if (byte != '\r') {
    ++line_bytes_;
  }
  if (!first_line_done_ && line_bytes_ > limits_.line_bytes_max) give_up(Fault::kLineTooLong);
  if (head_bytes_ > limits_.head_bytes_max) give_up(Fault::kHeadTooLong);
  return fault_ == Fault::kNone;
}

// What is in the buffer, or what comes next; a fault is for good, until the next request.
std::size_t HttpConnection::read(char* bytes, std::size_t size) {
  if (fault_ != Fault::kNone || size == 0) return 0;
  if (begin_ == end_) {
    // Each pause is bounded, and all of them together: a byte now and then does not last for ever.
    const auto until = std::min(deadline_, Clock::now() + limits_.read_timeout);
    if (!wait(POLLIN, until)) {
      give_up(Fault::kTimeout);
      return 0;
    }
    if (!fill()) {
      give_up(Fault::kClosed);
      return 0;
    }
  }
  CUZK_ASSERT(begin_ < end_ && end_ <= buffer_.size());
  const std::size_t count = std::min(size, end_ - begin_);
  // Counted here because the library reads heads without a bound of their own.
  for (std::size_t i = 0; i < count; ++i) {
    if (!count_head(buffer_[begin_ + i])) return 0;
  }
  std::memcpy(bytes, buffer_.data() + begin_, count);
  begin_ += count;
  request_bytes_ += count;
  return count;
}

// From its first byte on the connection counts as answering, and nobody ends it to make room.
bool HttpConnection::write(const char* bytes, std::size_t size) {
  // An answer may begin before the request has ended: a refusal does.
  if (phase_ == Phase::kReading) begin_answer();
  const auto until = Clock::now() + limits_.request_timeout;
  while (size > 0) {
    const ssize_t count = ::send(descriptor_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      bytes += count;
      size -= static_cast<std::size_t>(count);
      answer_bytes_ += static_cast<std::uint64_t>(count);
      continue;
    }
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return false;
    // Who does not read its answer is as slow as one that does not send.
    if (!wait(POLLOUT, std::min(until, Clock::now() + limits_.read_timeout))) return false;
  }
  return true;
}

// A client that has closed its sending side alone looks the same, and counts as gone.
bool HttpConnection::is_gone() const {
  if (ended_) return true;
  pollfd one = {descriptor_, POLLRDHUP, 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// Closing with unread bytes makes the kernel send a reset, which may destroy the answer on its way.
// So what still comes is read and dropped for a moment.
void HttpConnection::linger() {
  ::shutdown(descriptor_, SHUT_WR);
  const auto until = Clock::now() + kLingerTime;
  std::size_t dropped_bytes = 0;
  while (dropped_bytes < kLingerBytesMax && wait(POLLIN, until) && fill()) dropped_bytes += end_;
}

// Wakes the thread that waits in poll(2); the descriptor stays open until that thread is done.
void HttpConnection::end() noexcept {
  ended_ = true;
  ::shutdown(descriptor_, SHUT_RDWR);
}

HttpListener::HttpListener(HttpLimits limits, Serve serve)
    : limits_(limits), serve_(std::move(serve)) {}

HttpListener::~HttpListener() { stop(milliseconds(0)); }

// Called once. An error leaves nothing running; what was opened is closed by the destructor.
base::Status HttpListener::start(const Address& address, std::uint32_t socket_mode) {
  CUZK_ASSERT(listening_ < 0 && !acceptor_.joinable());
  address_ = address;
  CUZK_TRY(listening_, listen_at(address_, socket_mode, place_));
  owns_path_ = address_.kind == Address::Kind::kUnix;
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) {
    return base::Error{base::ErrorKind::kIo, fmt::format("eventfd: {}", std::strerror(errno))};
  }
  acceptor_ = std::thread([this] { accept_loop(); });
  return base::ok_status();
}

std::size_t HttpListener::connection_count() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

// Sleeps without a time limit: a connection or stop() wakes it.
void HttpListener::accept_loop() {
  std::array<pollfd, 2> waited = {{{listening_, POLLIN, 0}, {wake_, POLLIN, 0}}};
  while (true) {
    // Signals go to other threads or are no reason to end.
    if (::poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return;
    // stop() writes to it; the listening socket itself is closed by stop() after this has ended.
    if (waited[1].revents != 0) return;
    const int descriptor = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) {
      take(descriptor);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // The connection stays in the kernel's queue, so poll(2) would return at once, again and
      // again.
      std::this_thread::sleep_for(kAcceptRest);
    }
  }
}

// From here on the connection owns the descriptor, so each way out closes it.
void HttpListener::take(int descriptor) {
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const Peer peer = peer_of(descriptor);
  auto connection = std::make_shared<HttpConnection>(descriptor, peer.local, peer.text, limits_);
  // Answered in this thread, since there is none for it.
  if (!make_room()) {
    const std::string busy = last_reply_text(
        error_reply({base::ErrorKind::kUnavailable, "all connections are in use"}, kBusyRetry),
        "Service Unavailable");
    // Fits any socket's buffer, so nothing waits here.
    ::send(descriptor, busy.data(), busy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    // Only this thread adds, so the place that make_room() saw is there still.
    CUZK_ASSERT(connections_.size() < limits_.connections_max);
    connections_.push_back(connection);
  }
  try {
    std::thread([this, connection] {
      serve_(*connection);
      remove(connection);
    }).detach();
  } catch (const std::system_error& error) {
    base::log(base::LogLevel::kWarning, fmt::format("http: no thread: {}", error.what()));
    remove(connection);
  }
}

// A place for one more connection, made by ending the one that has been idle or incomplete for the
// longest time. False where none went in time, as when all are being answered.
bool HttpListener::make_room() {
  std::unique_lock lock(mutex_);
  if (connections_.size() < limits_.connections_max) return true;
  // A walk through some hundred connections, and only when all places are taken.
  HttpConnection* oldest = nullptr;
  for (const auto& connection : connections_) {
    if (connection->phase_ == HttpConnection::Phase::kAnswering || connection->ended_) continue;
    if (oldest == nullptr || connection->phase_since_ < oldest->phase_since_) {
      oldest = connection.get();
    }
  }
  if (oldest != nullptr) oldest->end();
  return changed_.wait_for(lock, kRoomWait,
                           [&] { return connections_.size() < limits_.connections_max; });
}

// Frees the place; the socket closes with the last holder, which is the thread.
void HttpListener::remove(const std::shared_ptr<HttpConnection>& connection) {
  const std::lock_guard lock(mutex_);
  connections_.remove(connection);
  // Within the lock: once stop() sees an empty list the listener may be gone.
  changed_.notify_all();
}

// The acceptor first, so that none is added; then idle and half-read connections at once, those
// being answered after `grace`.
void HttpListener::stop(milliseconds grace) {
  if (acceptor_.joinable()) {
    // An event that stays: it is seen although the thread may not be in poll(2) yet.
    const std::uint64_t one = 1;
    if (::write(wake_, &one, sizeof one) < 0) return;  // cannot happen: the counter is not full
    acceptor_.join();
  }
  for (int* descriptor : {&listening_, &wake_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
  // Only ours: a failed start() has left the file of whoever listens there.
  if (owns_path_) ::unlink(address_.path.c_str());
  owns_path_ = false;
  place_.release();
  std::unique_lock lock(mutex_);
  stopping_ = true;
  for (const auto& connection : connections_) {
    if (connection->phase_ != HttpConnection::Phase::kAnswering) connection->end();
  }
  const auto empty = [this] { return connections_.empty(); };
  changed_.wait_for(lock, grace, empty);
  for (const auto& connection : connections_) connection->end();
  // However long the handlers take: their threads use this object.
  changed_.wait(lock, empty);
}

}  // namespace cuzk::service
