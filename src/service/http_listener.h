// Listening sockets and connections of the HTTP door: who may stay how long.
//
// The HTTP library serves one connection a thread and renews its timeout with every byte, so a few
// slow clients would hold it for ever. Here each request has a deadline as a whole, its head is
// bounded, the number of connections is bounded, and when it is reached the one that is idle or
// incomplete for the longest makes room. Who is being answered is never cut.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "service/address.h"
#include "service/unix_socket.h"

namespace cuzk::service {

struct HttpLimits {
  std::uint32_t connections_max = 128;
  std::chrono::milliseconds read_timeout{10'000};     // of silence within a request
  std::chrono::milliseconds request_timeout{60'000};  // of a whole request, and of a whole reply
  std::chrono::milliseconds keep_alive{15'000};
  std::size_t line_bytes_max = 2048;   // of the request line
  std::size_t head_bytes_max = 32768;  // of request line and headers
};

// One accepted socket. Used by its own thread; end() by any. kIdle --first byte--> kReading
// --begin_answer()--> kAnswering --wait_request()--> kIdle. Its own thread moves it; the listener
// reads phase and time from another to choose who makes room.
class HttpConnection {
 public:
  enum class Fault : std::uint8_t { kNone, kClosed, kTimeout, kLineTooLong, kHeadTooLong };

  HttpConnection(int descriptor, bool local, std::string peer, const HttpLimits& limits);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection();

  // Waits for the first byte of the next request; false: none came, or the end was asked for.
  bool wait_request();
  // Some bytes of the request, at least one; 0: no more come, fault() says why.
  std::size_t read(char* bytes, std::size_t size);
  // All or false.
  bool write(const char* bytes, std::size_t size);
  // The request has arrived; its answer is being made.
  void begin_answer() { phase_ = Phase::kAnswering; }
  // Whether the client has closed its side or the end was asked for.
  bool is_gone() const;
  // Closes in a way that lets the last answer arrive although the client still sends.
  void linger();
  void end() noexcept;

  Fault fault() const { return fault_; }
  std::uint64_t request_bytes() const { return request_bytes_; }
  std::uint64_t answer_bytes() const { return answer_bytes_; }
  bool is_local() const { return local_; }
  const std::string& peer() const { return peer_; }

 private:
  friend class HttpListener;
  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t { kIdle, kReading, kAnswering };

  // False: the time is over, or the end was asked for. True also where only an error is left to
  // be read.
  bool wait(short events, Clock::time_point until) const;
  // Reads what is there into the buffer, from its beginning; false: nothing more comes.
  bool fill();
  bool count_head(char byte);
  void give_up(Fault fault) { fault_ = fault; }

  const int descriptor_;
  const bool local_;
  const std::string peer_;
  const HttpLimits& limits_;
  std::atomic<Phase> phase_{Phase::kIdle};
  std::atomic<Clock::rep> phase_since_;
  std::atomic<bool> ended_{false};
  // Bytes received and not yet read: [begin_, end_) of the buffer. What is left of one request's
  // bytes is the beginning of the next.
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  // Of the current request.
  Clock::time_point deadline_;
  std::uint64_t request_bytes_ = 0, answer_bytes_ = 0;
  std::size_t head_bytes_ = 0, line_bytes_ = 0;
  bool first_line_done_ = false, head_done_ = false;
  Fault fault_ = Fault::kNone;
};

// Thread-safe after start(). Threads of connections are detached: each holds its connection, and
// takes it off the list as the last thing that it does here, so stop() waits for an empty list and
// nothing else.
class HttpListener {
 public:
  using Serve = std::function<void(HttpConnection&)>;

  HttpListener(HttpLimits limits, Serve serve);
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;
  ~HttpListener();  // stops

  // Errors name the address: kAlreadyExists (somebody listens there, or a file that is no socket),
  // kIo, kInvalidArgument (a host that has no address).
  base::Status start(const Address& address, std::uint32_t socket_mode);
  // Where it really listens.
  const Address& address() const { return address_; }
  std::size_t connection_count() const;
  // Nothing new; what is being answered may go on for `grace`, then all are ended.
  void stop(std::chrono::milliseconds grace);

 private:
  // accept_loop() is the acceptor's thread, and the only one that adds connections. take() owns the
  // descriptor; make_room() says whether there is a place.
  void accept_loop();
  void take(int descriptor);
  bool make_room();
  void remove(const std::shared_ptr<HttpConnection>& connection);

  const HttpLimits limits_;
  const Serve serve_;
  Address address_;
  int listening_ = -1, wake_ = -1;
  bool owns_path_ = false;
  SocketPlace place_;  // of a unix socket
  std::thread acceptor_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::list<std::shared_ptr<HttpConnection>> connections_;
};

}  // namespace cuzk::service
