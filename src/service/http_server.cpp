// The one file that includes cpp-httplib. The library reads heads, decodes paths and writes
// answers; sockets, threads and deadlines are http_listener.h.
//
// What the library would take and should not is refused before a route is looked for: bodies
// without a length, compressed bodies (a small one may unpack to any size), lists of ranges (whose
// answer may be a thousand times the file), doubled lengths.
#include "service/http_server.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <httplib.h>

#include "base/check.h"
#include "base/log.h"
#include "service/http_routes.h"

namespace cuzk::service {
namespace {

using httplib::Request;
using httplib::Response;

// So that no client keeps a place for ever, however busy it is.
constexpr std::size_t kRequestsPerConnectionMax = 10'000;
// Of what a client sent, in a sentence.
constexpr std::size_t kQuotedHostMax = 128;

// What the current thread serves. The library gives handlers its request and nothing of ours.
// t_must_close: what is on the connection after this answer cannot be told from a request.
thread_local HttpConnection* t_connection = nullptr;
thread_local bool t_must_close = false;

// A connection as the library wants it. It reads one request's bytes from it and writes one answer;
// when to wait and for how long stays with the connection.
class ConnectionStream : public httplib::Stream {
 public:
  explicit ConnectionStream(HttpConnection& connection) : connection_(connection) {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return !connection_.is_gone(); }
  ssize_t read(char* bytes, size_t size) override {
    const std::size_t count = connection_.read(bytes, size);
    return count == 0 ? -1 : static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    return connection_.write(bytes, size) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = connection_.peer();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  HttpConnection& connection_;
};

// A reply of ours as the library's.
void put(const HttpReply& reply, Response& response) {
  response.status = reply.status;
  response.set_content(reply.body, reply.content_type);
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
}

// Closes the connection after the answer: a body that was announced may still come.
void refuse(int status, std::string sentence, Response& response) {
  put(error_reply({base::ErrorKind::kInvalidArgument, std::move(sentence)}), response);
  response.status = status;
  t_must_close = true;
}

// The header Host without its port.
std::string_view host_of(std::string_view header) {
  if (header.starts_with('[')) return header.substr(0, header.find(']') + 1);
  return header.substr(0, header.find(':'));
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// A name server cannot be made to lie about a literal.
bool is_literal_address(std::string_view host) {
  return host.starts_with('[') ||
         (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

// The length that a request says its body has; nothing where it says it wrongly. Two that differ
// are how one request hides in another, so even two that agree are refused.
std::optional<std::uint64_t> body_length(const Request& request) {
  const std::size_t count = request.get_header_value_count("Content-Length");
  if (count == 0) return 0;
  const std::string text = request.get_header_value("Content-Length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (count > 1 || text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return length;
}

// All of the query: the library leaves out what is there twice with the same value.
std::multimap<std::string, std::string> query_of(const Request& request) {
  std::multimap<std::string, std::string> out;
  std::string_view rest = request.target;
  rest = rest.substr(0, rest.find('#'));
  const std::size_t begin = rest.find('?');
  rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin + 1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::string name(part.substr(0, part.find('=')));
    const std::string value(part.substr(std::min(part.size(), name.size() + 1)));
    if (name.empty()) continue;
    out.emplace(httplib::detail::decode_url(name, true), httplib::detail::decode_url(value, true));
  }
  return out;
}

// All but the body, which is read by whoever takes one.
HttpRequest to_request(const Request& request, const HttpRoutes::Found& found) {
  HttpRequest made;
  made.method = request.method;
  made.path = request.path;
  for (const std::string& capture : found.captures) {
    made.captures.push_back(httplib::detail::decode_url(capture, false));
  }
  for (const auto& [name, value] : request.params) made.query.emplace(name, value);
  made.content_type = request.get_header_value("Content-Type");
  if (HttpConnection* connection = t_connection) {
    made.peer = connection->peer();
    // Asked while the handler runs, so while the connection is there.
    made.is_gone = [connection] { return connection->is_gone(); };
  }
  return made;
}

}  // namespace

// The library with our checks in its hooks. It calls admit() before it looks for a route, and
// earlier for clients that ask first (Expect: 100-continue); explain() where an answer has no body
// yet. Const after construction but for the gate and draining_, so all threads use one.
class HttpServer::Library : public httplib::Server {
 public:
  // The gate takes two of the largest bodies, or as many small ones as fit.
  explicit Library(HttpServerSetup setup)
      : setup_(std::move(setup)), routes_(setup_.routes), gate_(2 * setup_.body_bytes_max) {
    CUZK_ASSERT(setup_.refusal != nullptr);
    set_payload_max_length(setup_.body_bytes_max);
    set_pre_routing_handler([this](const Request& request, Response& response) {
      return admit(request, response) ? HandlerResponse::Unhandled : HandlerResponse::Handled;
    });
    set_expect_100_continue_handler([this](const Request& request, Response& response) {
      return admit(request, response) ? 100 : response.status;
    });
    // Of a handler; the connection lives on.
    set_exception_handler([](const Request&, Response& response, std::exception_ptr thrown) {
      put(error_reply({base::ErrorKind::kInternal, what(thrown)}), response);
    });
    set_error_handler([](const Request& request, Response& response) {
      if (!response.body.empty()) return;
      explain(request, response);
    });
    set_default_headers({{"X-Content-Type-Options", "nosniff"},
                         {"Cache-Control", "no-store"},
                         {"X-Frame-Options", "DENY"},
                         {"Referrer-Policy", "no-referrer"}});
    set_logger([this](const Request&, const Response& response) { count(response.status); });
    // The library would match decoded paths, in which an escaped slash cannot be told from a
    // border; so it gets one route for each method, and which of ours is meant is found here.
    const char* const any_path = R"([\s\S]*)";
    const auto plain = [this](const Request& request, Response& response) {
      const HttpRoutes::Found found = find(request);
      CUZK_ASSERT(found.route != nullptr);  // admitted
      if (t_connection != nullptr) t_connection->begin_answer();
      put(found.route->answer(to_request(request, found)), response);
    };
    Get(any_path, plain);
    Delete(any_path, plain);
    // With a reader, because the library would take a body without a type for a form.
    Post(any_path, HandlerWithContentReader([this](const Request& request, Response& response,
                                                   const httplib::ContentReader& reader) {
           with_body(request, response, reader);
         }));
  }

  // One request; false: the connection is to be closed. In the connection's thread.
  bool serve_one(HttpConnection& connection) {
    ConnectionStream stream(connection);
    bool closed = false;
    t_connection = &connection;
    t_must_close = false;
    // Ranges are dropped: an answer in parts may be far larger than what it is made from.
    const bool answered = process_request(stream, draining_, closed,
                                          [](Request& request) { request.ranges.clear(); });
    t_connection = nullptr;
    // The library gives up silently where a head does not arrive.
    if (!answered) answer_fault(connection);
    if (t_must_close || !answered) connection.linger();
    // The next request is read only where this one was read whole and nobody wants an end.
    return answered && !closed && !t_must_close && !draining_;
  }

  // What is being answered is answered; no request is read after it.
  void drain() { draining_ = true; }

 private:
  // The sentence of whatever a handler threw.
  static std::string what(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      return fmt::format("unexpected: {}", error.what());
    } catch (...) {
      return "unexpected";
    }
  }

  // What the library refuses by itself, with a body as all our errors have.
  static void explain(const Request&, Response& response) {
    int status = response.status;
    base::Error error{base::ErrorKind::kInvalidArgument, "the request is not HTTP"};
    using Fault = HttpConnection::Fault;
    // The library sees only that a head has no end.
    if (status == 400 && t_connection != nullptr && t_connection->fault() == Fault::kHeadTooLong) {
      status = 431;
      error.message = "the headers are too long";
    } else if (status == 413) {
      error.message = "the body is larger than http.max_body allows";
    } else if (status == 414) {
      error.message = "the path is too long";
    }
    put(error_reply(error), response);
    response.status = status;
    t_must_close = t_must_close || status >= 400;
  }

  // What was not answered at all: a head that came too slowly or was too long.
  void answer_fault(HttpConnection& connection) const {
    // Who has half an answer would take this for its rest; who sent nothing expects none.
    if (connection.answer_bytes() > 0 || connection.request_bytes() == 0) return;
    using Fault = HttpConnection::Fault;
    struct Said {
      int status;
      const char *reason, *sentence;
    } said = {};
    switch (connection.fault()) {
      case Fault::kTimeout:
        said = {408, "Request Timeout", "the request did not arrive in time"};
        break;
      case Fault::kLineTooLong: said = {414, "URI Too Long", "the request line is too long"}; break;
      case Fault::kHeadTooLong:
        said = {431, "Request Header Fields Too Large", "the headers are too long"};
        break;
      case Fault::kNone:
      case Fault::kClosed: return;
    }
    HttpReply reply = error_reply({base::ErrorKind::kInvalidArgument, said.sentence});
    reply.status = said.status;
    const std::string answer = last_reply_text(reply, said.reason);
    connection.write(answer.data(), answer.size());
    count(said.status);
  }

  // Once for each answer, whoever has made it.
  void count(int status) const {
    if (setup_.count) setup_.count(status);
  }

  // A page of others, open in a browser on this machine, may send requests here without a token.
  // The browser says so itself, by Host (of a name that was turned to our address) and by Origin
  // (of a page that sends what changes something).
  // Nothing, or a sentence that says what to do about it: with a name that only our configuration
  // does not know, it is no such page.
  std::optional<std::string> refuse_site(const Request& request) const {
    const std::string host = request.get_header_value("Host");
    if (const std::string name = in_lower_case(host_of(host)); !is_own_name(name)) {
      return fmt::format(
          "Host \"{}\" is none of this daemon's names ({}), as with a page of another site that "
          "was "
          "given its address; http.allowed_hosts adds a name",
          name.substr(0, kQuotedHostMax), own_names());
    }
    const std::string origin = request.get_header_value("Origin");
    const bool changes = request.method != "GET" && request.method != "HEAD";
    if (!changes || origin.empty() || origin == "http://" + host || origin == "https://" + host) {
      return std::nullopt;
    }
    return fmt::format(
        "the request comes from a page of another site: Origin is \"{}\", expected \"http://{}\"",
        origin.substr(0, kQuotedHostMax), host.substr(0, kQuotedHostMax));
  }

  // Programs may leave it out; browsers never do.
  bool is_own_name(const std::string& name) const {
    const auto& more = setup_.allowed_hosts;
    return setup_.any_host || name.empty() || name == "localhost" || is_literal_address(name) ||
           std::find(more.begin(), more.end(), name) != more.end();
  }

  // For people; told to nobody who has no token where one is asked for.
  std::string own_names() const {
    std::string names = "localhost, an address in numbers";
    for (const std::string& name : setup_.allowed_hosts) names += ", " + name;
    return names;
  }

  // What comes before any route, in this order: the form of the message, then who asks, then for
  // what. So who may not ask does not learn which paths there are.
  bool admit(const Request& request, Response& response) const {
    const auto length = body_length(request);
    const HttpRoutes::Found found = find(request);
    const bool is_public = found.route != nullptr && found.route->is_public;
    if (request.has_header("Transfer-Encoding")) {
      refuse(411, "send the body with its Content-Length, not in chunks", response);
    } else if (!length) {
      refuse(400, "Content-Length is no number", response);
    } else if (*length > setup_.body_bytes_max) {
      refuse(413,
             fmt::format("a body has at most {} bytes (http.max_body), this one has {}",
                         setup_.body_bytes_max, *length),
             response);
    } else if (request.has_header("Content-Encoding")) {
      refuse(415, "send the body as it is, not compressed", response);
    } else if (const auto refused = refuse_caller(request); refused && !is_public) {
      refuse(401, *refused, response);
      response.set_header("WWW-Authenticate", "Bearer");
    } else if (const auto foreign = refuse_site(request); foreign && !is_public) {
      refuse(403, *foreign, response);
    } else if (found.route == nullptr) {
      refuse_path(request, found, response);
    } else if (const auto taken = check_parameters(*found.route, query_of(request)); !taken.ok()) {
      refuse(400, taken.error().message, response);
    } else {
      // A body that no route reads would be taken for the next request.
      t_must_close = *length > 0 && request.method != "POST";
      return true;
    }
    return false;
  }

  // 404 where nothing is, 405 with the methods where only the method is wrong.
  static void refuse_path(const Request& request, const HttpRoutes::Found& found,
                          Response& response) {
    const std::string method = request.method.substr(0, 16), path = request.path.substr(0, 128);
    if (!found.allowed.empty()) {
      refuse(405, fmt::format("{} is not done to {}, only {}", method, path, found.allowed),
             response);
      response.set_header("Allow", found.allowed);
      return;
    }
    put(error_reply({base::ErrorKind::kNotFound,
                     fmt::format("there is nothing at {}; docs/operate.md lists the paths", path)}),
        response);
    t_must_close = true;
  }

  // A proxy on this machine is not who asks: what it hands on counts as from elsewhere.
  std::optional<std::string> refuse_caller(const Request& request) const {
    const bool local = t_connection != nullptr && t_connection->is_local() &&
                       !request.has_header("X-Forwarded-For") && !request.has_header("Forwarded");
    return setup_.refusal(local, request.get_header_value("Authorization"));
  }

  // By the target as it came, and not the library's path, which is decoded.
  HttpRoutes::Found find(const Request& request) const {
    return routes_.find(request.method, path_of_target(request.target));
  }

  // A body is in memory once, in the request that the route gets; the gate holds its length until
  // the answer is made.
  void with_body(const Request& request, Response& response, const httplib::ContentReader& reader) {
    const HttpRoutes::Found found = find(request);
    CUZK_ASSERT(found.route != nullptr);  // admitted
    if (request.is_multipart_form_data()) {
      return refuse(415, "send the file itself as the body (curl --data-binary @FILE)", response);
    }
    const std::uint64_t length = body_length(request).value_or(0);
    const ByteGate::Hold hold = gate_.enter(length);
    if (!hold.holds()) {
      put(error_reply(
              {base::ErrorKind::kResourceExhausted, "too many large requests at once, try again"}),
          response);
      t_must_close = true;
      return;
    }
    HttpRequest made = to_request(request, found);
    // Grows with what arrives: a length that is only claimed costs nothing.
    // Without a length there is no body (RFC 9112, 6.3); the library would read until the client
    // closes, which one that waits for its answer does not.
    const bool whole = length == 0 || reader([&](const char* bytes, size_t size) {
                         if (made.body.size() + size > length) return false;
                         made.body.insert(made.body.end(), bytes, bytes + size);
                         return true;
                       });
    CUZK_ASSERT(made.body.size() <= length);
    if (!whole || made.body.size() != length) {
      return refuse(400, "the body ended before its Content-Length", response);
    }
    if (t_connection != nullptr) t_connection->begin_answer();
    put(found.route->answer(made), response);
  }

  const HttpServerSetup setup_;
  const HttpRoutes routes_;
  ByteGate gate_;
  std::atomic<bool> draining_{false};
};

HttpServer::HttpServer(HttpServerSetup setup)
    : library_(std::make_unique<Library>(std::move(setup))) {}

HttpServer::~HttpServer() = default;

// An exception of the library ends the connection alone: what was read of a request is unknown
// then.
void HttpServer::serve(HttpConnection& connection) {
  for (std::size_t i = 0; i < kRequestsPerConnectionMax; ++i) {
    if (!connection.wait_request()) return;
    try {
      if (!library_->serve_one(connection)) return;
    } catch (const std::exception& error) {
      base::log(base::LogLevel::kWarning,
                fmt::format("http: {}: {}", connection.peer(), error.what()));
      return;
    }
  }
}

void HttpServer::drain() { library_->drain(); }

}  // namespace cuzk::service
